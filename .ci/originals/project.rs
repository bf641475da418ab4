//! A project that both programs look at: files and links, with the quirks that it has; kept as a case in one TOML file.

use crate::Outcome;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What is written to a folder, and what is asked of it.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Project {
    /// What a reason may ask for: ways in which the project is not plain.
    #[serde(default)]
    pub quirks: BTreeSet<String>,
    /// The folder that is served, from the root; the root itself if it is empty.
    #[serde(default)]
    pub folder: String,
    /// The ids that questions are asked about, whether anything has them or not.
    #[serde(default)]
    pub ids: BTreeSet<String>,
    /// Whether the root is a git repository in which everything is committed.
    #[serde(default)]
    pub committed: bool,
    /// Symbolic links from the root, and where they lead.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// Texts of files by their path from the root.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

impl Project {
    /// Whether it has this quirk.
    pub fn has(&self, quirk: &str) -> bool {
        self.quirks.contains(quirk)
    }

    /// Makes each text and each source of one project in four a long one, with a character that is not ASCII: what takes
    /// files by their size, or searches them otherwise, shows here.
    pub fn enlarge(&mut self, seed: u64) {
        if seed % 4 != 2 {
            return;
        }
        self.quirks.insert("large files".to_owned());
        for (path, text) in &mut self.files {
            let mark = match path.rsplit_once('.').map_or("", |(_, extension)| extension) {
                "md" => "",
                "py" => "# ",
                "rs" | "c" | "go" | "js" | "ts" => "// ",
                _ => continue,
            };
            let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
            *text += &format!("{end}{mark}A kettle – and a pot.{end}");
            *text += &format!("{mark}A kettle and a pot.{end}").repeat(3_000);
        }
    }

    /// Adds a file below the served folder.
    pub fn add(&mut self, path: &str, text: String) {
        self.files.insert(self.place(path), text);
    }

    /// The path from the root of what lies below the served folder.
    pub fn place(&self, path: &str) -> String {
        if self.folder.is_empty() { path.to_owned() } else { format!("{}/{path}", self.folder) }
    }

    /// Writes it into an empty folder.
    pub fn write(&self, root: &Path) -> Outcome<()> {
        fs::create_dir_all(root.join(&self.folder))?;
        for (path, text) in &self.files {
            let place = root.join(path);
            fs::create_dir_all(place.parent().ok_or("a file has no folder")?)?;
            fs::write(place, text)?;
        }
        for (path, to) in &self.links {
            let place = root.join(path);
            fs::create_dir_all(place.parent().ok_or("a link has no folder")?)?;
            std::os::unix::fs::symlink(to, place)?;
        }
        if self.committed {
            for words in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "all"]] {
                git(root, words)?;
            }
        }
        Ok(())
    }

    /// As the text of a case, with the lines of its files as lines.
    pub fn text(&self) -> String {
        let list = |items: &BTreeSet<String>| items.iter().map(|item| quoted(item)).collect::<Vec<_>>().join(", ");
        let mut text = format!("quirks = [{}]\nids = [{}]\n", list(&self.quirks), list(&self.ids));
        text += &format!("folder = {}\ncommitted = {}\n\n[links]\n", quoted(&self.folder), self.committed);
        for (path, to) in &self.links {
            text += &format!("{} = {}\n", quoted(path), quoted(to));
        }
        text += "\n[files]\n";
        for (path, content) in &self.files {
            let lines: Vec<String> = content.split('\n').map(escaped).collect();
            text += &format!("{} = \"\"\"\n{}\"\"\"\n", quoted(path), lines.join("\n"));
        }
        text
    }

    /// A case that was kept.
    pub fn read(path: &Path) -> Outcome<Self> {
        let text = fs::read_to_string(path)?;
        Ok(toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?)
    }
}

/// What JSON escapes, TOML escapes in the same way. A byte order mark would not be seen.
fn escaped(text: &str) -> String {
    let json = serde_json::Value::from(text).to_string();
    json[1..json.len() - 1].replace('\u{feff}', "\\uFEFF")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn git(root: &Path, words: &[&str]) -> Outcome<()> {
    let who = ["-c", "user.name=rig", "-c", "user.email=rig@localhost", "-c", "commit.gpgsign=false"];
    let ended = Command::new("git").args(who).args(words).current_dir(root).output()?;
    if ended.status.success() {
        return Ok(());
    }
    Err(format!("git {}: {}", words.join(" "), String::from_utf8_lossy(&ended.stderr)).into())
}
