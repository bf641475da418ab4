//! Puts the files of the packs into the binary.

use std::error::Error;
use std::path::{Path, PathBuf};
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
    Ok(())
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
