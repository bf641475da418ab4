//! A folder with a workspace, a secret next to it, and the built binary, which uses both.

use crate::support::Server;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use toolsd::world::GrantedAccess;
use toolsd::world::disk::Disk;
use toolsd::world::granted::GrantedWorld;
use toolsd::world::run;

/// The layer of hostile packs.
pub const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/packs");
/// What no answer may contain.
pub const SECRET: &str = "the secret of the house";
/// A parent folder that is gone when the test ends.
pub struct House {
    folder: tempfile::TempDir,
}

impl House {
    /// A workspace with every kind of trap in it, and a secret outside of it.
    pub fn new() -> Self {
        let house = Self { folder: tempfile::tempdir().unwrap() };
        let (parent, workspace) = (house.parent().to_owned(), house.workspace());
        fs::create_dir_all(workspace.join("sub")).unwrap();
        for folder in ["outside", "home", "config", "state"] {
            fs::create_dir_all(parent.join(folder)).unwrap();
        }
        fs::write(parent.join("outside/secret.txt"), SECRET).unwrap();
        fs::write(parent.join("home/secret.txt"), SECRET).unwrap();
        fs::write(workspace.join("note.txt"), "a note").unwrap();
        symlink("../outside", workspace.join("link")).unwrap();
        symlink("../outside/secret.txt", workspace.join("link.txt")).unwrap();
        symlink(parent.join("outside"), workspace.join("absolute")).unwrap();
        symlink("link", workspace.join("chain")).unwrap();
        assert!(Command::new("mkfifo").arg(workspace.join("pipe")).status().unwrap().success());
        drop(std::os::unix::net::UnixListener::bind(workspace.join("socket")).unwrap());
        house
    }

    pub fn parent(&self) -> &Path {
        self.folder.path()
    }

    pub fn workspace(&self) -> PathBuf {
        self.parent().join("workspace")
    }

    /// Writes a file below the parent folder.
    pub fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.parent().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// The binary, at home in this house.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolsd"));
        command
            .args(words)
            .current_dir(self.workspace())
            .env("HOME", self.parent().join("home"))
            .env("XDG_CONFIG_HOME", self.parent().join("config"))
            .env("XDG_STATE_HOME", self.parent().join("state"))
            .env("TOOLSD_LOG", "error");
        command
    }

    /// The output of a command on both streams, and its exit code; `None` if a signal killed it.
    pub fn run(&self, words: &[&str]) -> (Option<i32>, String, String) {
        let output = self.command(words).stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    }

    /// Every file below the parent folder and what it holds: what a hostile pack must not change.
    pub fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let kind = fs::symlink_metadata(&path).unwrap().file_type();
                let bytes = match (kind.is_file(), kind.is_symlink()) {
                    (true, _) => fs::read(&path).unwrap(),
                    (_, true) => fs::read_link(&path).unwrap().to_string_lossy().as_bytes().to_vec(),
                    _ => Vec::new(),
                };
                if kind.is_dir() {
                    walk(&path, found);
                }
                found.insert(path, bytes);
            }
        }
        let mut found = BTreeMap::new();
        walk(self.parent(), &mut found);
        found
    }

    /// Serves packs of the hostile layer.
    pub fn serve(&self, packs: &[&str]) -> Server {
        let mut words = vec!["serve", "--dir", PACKS];
        packs.iter().for_each(|pack| words.extend(["--pack", pack]));
        Server::serving(self.command(&words))
    }
}

/// Writes a program of this text, in another process: a file that this one had open to write cannot be run as long as a
/// child of another thread, which is not yet its program, has it open, too ("text file busy").
pub fn put_program(at: &Path, text: &str) {
    let line = "printf %s \"$2\" > \"$1\" && chmod 755 \"$1\"";
    assert!(Command::new("sh").args(["-c", line, "sh"]).arg(at).arg(text).status().unwrap().success());
}

/// The same as a copy of this program.
pub fn copy_program(from: &str, at: &Path) {
    assert!(Command::new("cp").arg(from).arg(at).status().unwrap().success());
}

/// A program of `run`, to be started in the root of the workspace.
pub fn command_of(program: &str, arguments: &[&str]) -> run::ProgramCommand {
    run::ProgramCommand {
        program: program.to_owned(),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        folder: ".".to_owned(),
        input: Vec::new(),
        env: Vec::new(),
        time: Duration::from_secs(60),
        most: 1 << 20,
        needs: run::RequiredGrant::Program,
        confinement: run::Confinement::default(),
        stop: || Ok(()),
    }
}

/// The workspace as a pack sees it that may read all of it, write this, and run one program.
pub fn granted(house: &House, write: &[&str], git: run::GitAccess, program: run::ProgramGrant) -> GrantedWorld {
    let disk = Disk::new(house.workspace().to_str().unwrap(), []).unwrap();
    let flags = GrantedAccess { may_read: true, may_write: true, may_run: true, ..GrantedAccess::default() };
    let write = write.iter().map(|at| (*at).to_owned()).collect();
    let allowed = GrantedAccess { read: vec![".".to_owned()], write, git, run: vec![program], ..flags };
    GrantedWorld::new(Arc::new(disk), allowed).unwrap()
}

/// The peak memory of a process, in MB; `None` if the system does not report it.
pub fn peak_memory(id: u32) -> Option<usize> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<usize>().ok()? >> 10)
}

/// The server still answers a ping, and a good call well.
#[track_caller]
pub fn is_well(server: &mut Server) {
    let pong = server.request("ping", json!({}));
    assert!(pong.get("result").is_some(), "{pong}");
    let (text, failed) = server.said("echo", json!({ "text": "tea" }));
    assert!(!failed && text.contains("tea"), "{text}");
}
