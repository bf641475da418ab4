//! The house rules that a machine can see: layers, purposes, sizes, fences.

mod circles;
mod imports;
mod map;
pub mod packs;
mod wording;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Words that stand for a third-party crate or an effect, and the rooms that may contain them.
const FENCES: &[(&str, &[&str])] = &[
    ("rhai::", &["script"]),
    ("handlebars::", &["template"]),
    ("jsonschema::", &["definition"]),
    ("rmcp::", &["mcp"]),
    ("hyper::", &["mcp"]),
    ("hyper_util::", &["mcp"]),
    ("http_body_util::", &["mcp"]),
    ("notify::", &["watch"]),
    ("std::fs", &["world/disk"]),
    ("std::process", &["world/disk", "main.rs"]),
    ("std::env", &["world/disk"]),
    ("SystemTime", &["world/disk"]),
    // The ways in and out of the protocol: what was handed to the process, and the door that it listens at.
    ("tokio::net", &["platform", "mcp/http"]),
    ("std::net", &["mcp/http"]),
    // What only some systems have.
    ("rustix::", &["platform", "world/disk"]),
    ("libc::", &["platform", "world/disk"]),
    ("std::os::", &["platform", "world/disk"]),
    ("tokio::signal", &["platform"]),
    // Who asks which system it is: Linux or macOS.
    ("target_family", &[]),
    ("target_os", &["platform", "world/disk/confine", "world/disk/kernel.rs"]),
];

/// What reaches out to a network: in no source, whatever the room.
const NETWORK: &[&str] =
    &["TcpStream::connect", "UdpSocket", "TcpSocket", "ToSocketAddrs", "lookup_host", "hyper::client", "core::net"];

/// Clients of a network that a dependency could bring along.
const CLIENTS: &[&str] = &[
    "reqwest",
    "hyper-tls",
    "hyper-rustls",
    "ureq",
    "curl",
    "isahc",
    "rustls",
    "native-tls",
    "openssl",
    "h2",
    "quinn",
    "trust-dns-resolver",
];

const FILE_LINES: usize = 700;
const FUNCTION_LINES: usize = 60;

/// Adds a file with one of these extensions, or all such files below a folder.
fn collect(path: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|entry| collect(&entry.unwrap().path(), extensions, found));
    } else if path.extension().is_some_and(|extension| extensions.iter().any(|of| extension == *of)) {
        found.push(path.to_owned());
    }
}

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    collect(&root, &["rs"], &mut found);
    found.sort();
    found
        .into_iter()
        .map(|path| {
            (path.strip_prefix(&root).unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap())
        })
        .collect()
}

/// The code of a line: without comments and string literals, roughly.
fn code(line: &str) -> &str {
    let trimmed = line.trim_start();
    if trimmed.starts_with("//") { "" } else { line.split(" // ").next().unwrap_or(line) }
}

fn room(file: &str) -> &str {
    file.split(['/', '.']).next().unwrap()
}

#[test]
fn a_module_names_only_modules_above_it() {
    let list = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let order: BTreeMap<&str, usize> = list
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .enumerate()
        .map(|(at, name)| (name, at))
        .collect();
    let mut errors = Vec::new();
    for (file, text) in sources() {
        let Some(own) = order.get(room(&file)) else { continue };
        for (number, line) in text.lines().enumerate() {
            for named in code(line).split("crate::").skip(1) {
                let name: String = named.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if order.get(name.as_str()).is_some_and(|other| other > own) {
                    errors.push(format!("src/{file}:{}: names `{name}`, which comes after it in lib.rs", number + 1));
                }
            }
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn no_files_stand_in_a_circle() {
    let found = imports::imports(&sources().into_iter().collect());
    assert!(found.len() > 100, "only {} files name another: the sources are not read as they are written", found.len());
    let circles = circles::circles(&found);
    assert!(circles.is_empty(), "{}", circles.join("\n"));
    let circles = circles::circles(&circles::between_modules(&found));
    assert!(circles.is_empty(), "{}", circles.join("\n"));
}

#[test]
fn every_file_says_its_purpose_and_stays_small() {
    let mut errors = Vec::new();
    for (file, text) in sources() {
        if !text.starts_with("//! ") {
            errors.push(format!("src/{file}:1: begins without `//! ` and one sentence of purpose"));
        }
        let lines = text.lines().count();
        if lines > FILE_LINES {
            errors.push(format!("src/{file}: has {lines} lines, of {FILE_LINES} at most"));
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn functions_stay_small() {
    let mut errors = Vec::new();
    for (file, text) in sources() {
        let mut open: Option<(usize, String, String)> = None;
        for (number, line) in text.lines().enumerate() {
            let indent: String = line.chars().take_while(|c| *c == ' ').collect();
            let rest = line.trim_start();
            let begins = [
                "fn ",
                "pub fn ",
                "async fn ",
                "pub async fn ",
                "pub(crate) fn ",
                "pub(super) fn ",
                "const fn ",
                "pub const fn ",
            ];
            if open.is_none() && begins.iter().any(|word| rest.starts_with(word)) && !rest.ends_with(['}', ';']) {
                open = Some((number, indent, rest.to_owned()));
            } else if let Some((start, outer, head)) = &open
                && rest == "}"
                && indent == *outer
            {
                let lines = number - start + 1;
                let limit = if file == "main.rs" && head.starts_with("fn main") { 15 } else { FUNCTION_LINES };
                if lines > limit {
                    errors.push(format!("src/{file}:{}: `{head}` has {lines} lines, of {limit} at most", start + 1));
                }
                open = None;
            }
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn third_parties_and_effects_stay_in_their_rooms() {
    let mut errors = Vec::new();
    for (file, text) in sources() {
        let body = text.split("\nmod tests {").next().unwrap();
        for (word, rooms) in FENCES {
            if rooms.iter().any(|allowed| file.starts_with(allowed)) {
                continue;
            }
            for (number, line) in body.lines().enumerate() {
                if code(line).contains(word) {
                    errors.push(format!("src/{file}:{}: names `{word}`; only {} may", number + 1, rooms.join(", ")));
                }
            }
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

/// Packs whose name is a word of the field, and what else has it: of these only the files may not be named.
const WORDS_OF_THE_FIELD: &[(&str, &str)] = &[("skills", "an extension of MCP, and a table of definitions")];

#[test]
fn the_host_never_names_a_pack() {
    let packs: Vec<String> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tools.d"))
        .map(|entries| {
            entries.filter_map(|entry| entry.unwrap().path().file_stem()?.to_str().map(str::to_owned)).collect()
        })
        .unwrap_or_default();
    let mut errors = Vec::new();
    for (file, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            let line = line.to_lowercase();
            let names = |pack: &&String| match WORDS_OF_THE_FIELD.iter().any(|(word, _)| word == pack) {
                true => ["tools.d", "prompts", "templates"].iter().any(|at| line.contains(&format!("{at}/{pack}"))),
                false => line.contains(pack.as_str()),
            };
            for pack in packs.iter().filter(names) {
                errors.push(format!("src/{file}:{}: names the pack `{pack}`", number + 1));
            }
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn every_dependency_says_why_it_is_here() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let mut inside = false;
    let mut errors = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.contains("dependencies]");
        } else if inside && line.contains('=') && !line.starts_with('#') && !line.contains(" # ") {
            errors.push(line.to_owned());
        }
    }
    assert!(errors.is_empty(), "dependencies without a reason:\n{}", errors.join("\n"));
}

//= docs/spec.md#traceability
//= type=test
//# The traceability pack MUST answer from the files of the project, never from the network.
#[test]
fn nothing_here_can_reach_a_network() {
    let mut wrong = Vec::new();
    for (file, text) in sources() {
        // The tests of a server are its clients.
        let product = text.lines().take_while(|line| *line != "mod tests {");
        for (number, line) in product.enumerate() {
            for word in NETWORK.iter().filter(|word| code(line).contains(**word)) {
                wrong.push(format!("{file}:{}: {word}", number + 1));
            }
        }
    }
    let lock = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.lock")).unwrap();
    let packages: Vec<&str> = lock.lines().filter_map(|line| line.strip_prefix("name = ")).collect();
    assert!(packages.contains(&"\"tokio\""), "the lock file is not read as it is written");
    let clients = CLIENTS.iter().filter(|client| packages.contains(&format!("\"{client}\"").as_str()));
    wrong.extend(clients.map(|client| format!("Cargo.lock: {client}")));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
