//! Puts the files of the packs into the binary, and what `toolsd --version` says of the build.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// What a pack is made of, and where.
const FOLDERS: [&str; 3] = ["tools.d", "prompts", "templates"];

#[allow(clippy::print_stdout, reason = "this is how a build script speaks to cargo")]
fn main() -> Result<(), Box<dyn Error>> {
    let (root, out) = (PathBuf::from(env::var("CARGO_MANIFEST_DIR")?), PathBuf::from(env::var("OUT_DIR")?));
    let mut table = String::from("[\n");
    for folder in FOLDERS {
        println!("cargo:rerun-if-changed={folder}");
        for path in files(&root.join(folder))? {
            let name = path.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
            table.push_str(&format!("({name:?}, include_bytes!({path:?}) as &[u8]),\n"));
        }
    }
    table.push_str("]\n");
    fs::write(out.join("packs.rs"), table)?;
    println!("cargo:rustc-env=TOOLSD_LONG_VERSION={}", long_version(&root)?);
    Ok(())
}

/// Version, commit with its date, and target: `0.1.0 (90e8a7a5c1d2 2026-11-22, x86_64-unknown-linux-musl)`. The commit
/// comes from `TOOLSD_COMMIT`, otherwise from git, otherwise from what cargo wrote into a published crate. A debug build
/// does not ask git, because it would be built again after each commit.
fn long_version(root: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo:rerun-if-env-changed=TOOLSD_COMMIT");
    let commit = match env::var("TOOLSD_COMMIT") {
        Ok(commit) if !commit.is_empty() => Some(commit),
        _ if env::var("PROFILE")? == "release" => commit_of_git(root).or_else(|| commit_of_crate(root)),
        _ => None,
    };
    let (version, target) = (env::var("CARGO_PKG_VERSION")?, env::var("TARGET")?);
    Ok(match commit {
        Some(commit) => format!("{version} ({commit}, {target})"),
        None => format!("{version} ({target})"),
    })
}

fn commit_of_git(root: &Path) -> Option<String> {
    if !root.join(".git").exists() {
        // A repository that encloses the sources of a published crate is not theirs.
        return None;
    }
    let git = |words: &[&str]| {
        let output = Command::new("git").current_dir(root).args(words).output().ok()?;
        let line = String::from_utf8(output.stdout).ok()?.trim().to_owned();
        (output.status.success() && !line.is_empty()).then_some(line)
    };
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| root.join(log).exists()) {
        println!("cargo:rerun-if-changed={log}");
    }
    git(&["log", "-1", "--abbrev=12", "--format=%h %cs"])
}

/// The commit in `.cargo_vcs_info.json`: the first string of 40 hexadecimal digits.
fn commit_of_crate(root: &Path) -> Option<String> {
    let text = fs::read_to_string(root.join(".cargo_vcs_info.json")).ok()?;
    let hash = text.split('"').find(|word| word.len() == 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some(hash[..12].to_owned())
}

/// The files of a folder and of those in it, sorted, without hidden ones.
fn files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.extend(files(&entry.path())?);
        } else if !entry.file_name().to_string_lossy().starts_with('.') {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}
