//! A workspace next to a secret, with git as a person runs it and a pack that may use git.

use crate::support;
use serde_json::{Value, json};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/git");

/// A home folder with a workspace, a secret next to it, and a folder where programs leave their marks.
pub struct Yard {
    pub home: tempfile::TempDir,
    /// Where programs are, if not where this process finds them.
    path: Option<OsString>,
}

impl Yard {
    /// The same, with the git of a folder.
    #[must_use]
    pub fn with_git_of(mut self, folder: &Path) -> Self {
        let others = std::env::var_os("PATH").unwrap();
        let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&others));
        self.path = Some(std::env::join_paths(folders).unwrap());
        self
    }

    /// A command with this home, and these programs.
    pub fn at_home(&self, mut command: Command) -> Command {
        command.env("HOME", self.home.path());
        if let Some(path) = &self.path {
            command.env("PATH", path);
        }
        command
    }

    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("workspace")).unwrap();
        fs::create_dir(home.path().join("marks")).unwrap();
        fs::write(home.path().join("secret"), "the secret\n").unwrap();
        fs::write(
            home.path().join(".gitconfig"),
            "[user]\nname = a\nemail = a@example.org\n[init]\ndefaultBranch = main\n[protocol \"ext\"]\nallow = always\n",
        )
        .unwrap();
        let yard = Self { home, path: None };
        yard.program("program", &format!(": > {}/$1\nexec /bin/cat\n", yard.at("marks").display()));
        yard.program("toucher", &format!(": > {}/$1\n", yard.at("marks").display()));
        yard
    }

    /// One whose workspace is a repository with a commit of `a.txt`.
    pub fn with_repository() -> Self {
        let yard = Self::new();
        yard.git(&["init", "-q"]);
        yard.put("a.txt", "one\ntwo\n");
        yard.commit("one");
        yard
    }

    pub fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    pub fn workspace(&self) -> PathBuf {
        self.at("workspace")
    }

    /// Writes a file of the workspace.
    pub fn put(&self, path: &str, text: &str) {
        let path = self.workspace().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn program(&self, name: &str, text: &str) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        support::write_program(&path, text);
        path
    }

    /// Git as a person runs it, in the workspace; it must end well.
    pub fn git(&self, words: &[&str]) -> String {
        self.git_in(&self.workspace(), words)
    }

    pub fn git_in(&self, folder: &Path, words: &[&str]) -> String {
        let output = self.plain(folder, words);
        assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The same, without a check of the exit code.
    pub fn plain(&self, folder: &Path, words: &[&str]) -> Output {
        self.at_home(Command::new("git")).args(words).current_dir(folder).output().unwrap()
    }

    pub fn commit(&self, message: &str) {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
    }

    /// A further line of the repository's configuration.
    pub fn configure(&self, text: &str) {
        let file = self.workspace().join(".git/config");
        let before = fs::read_to_string(&file).unwrap();
        fs::write(file, before + text).unwrap();
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = self.at_home(support::toolsd(self.home.path()));
        command.args(words);
        command.args(["--pack", "keeper", "--dir", PACKS, "--format", "json", "--workspace"]).arg(self.workspace());
        command
    }

    pub fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.call_of("keeper", tool, arguments)
    }

    /// A tool of another pack.
    pub fn call_of(&self, pack: &str, tool: &str, arguments: &Value) -> Value {
        self.call_at(&self.workspace(), pack, tool, arguments)
    }

    /// The same, with another folder as workspace.
    pub fn call_at(&self, workspace: &Path, pack: &str, tool: &str, arguments: &Value) -> Value {
        let mut command = self.at_home(support::toolsd(self.home.path()));
        command.args(["call", tool, &arguments.to_string()]);
        command.args(["--pack", pack, "--dir", PACKS, "--format", "json", "--workspace"]).arg(workspace);
        let output = command.output().unwrap();
        let reported = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {reported}"))
    }

    /// A verb of `git_read`.
    pub fn look(&self, verb: &str, options: &Value) -> Value {
        self.call("look_git", &json!({ "verb": verb, "options": options }))
    }

    /// A verb of `git`.
    pub fn act(&self, verb: &str, options: &Value) -> Value {
        self.call("act_git", &json!({ "verb": verb, "options": options }))
    }

    /// Returns and removes the marks that programs left.
    pub fn take_marks(&self) -> Vec<String> {
        let entries = fs::read_dir(self.at("marks")).unwrap();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names.iter().for_each(|name| fs::remove_file(self.at("marks").join(name)).unwrap());
        names
    }
}
