//! Layers from git: added, locked, fetched in another clone, updated, and refused when they are not what was reviewed.

use crate::support::Server;
use crate::support::home::{Home, Said};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A repository of packs. Its commits have fixed dates, so that a later one is later.
pub(super) struct Publisher {
    folder: tempfile::TempDir,
    commits: std::cell::Cell<u64>,
}

impl Publisher {
    /// A repository with the pack `review`.
    pub(super) fn new() -> Self {
        let publisher = Self { folder: tempfile::tempdir().unwrap(), commits: std::cell::Cell::new(0) };
        publisher.git(&["init", "--quiet", "--initial-branch=main", "packs"]);
        publisher.write("tools.d/review.toml", &review("One.", "read = [\"docs/**\"]"));
        publisher.write("README.md", "not a part of the layer");
        publisher
    }

    pub(super) fn packs(&self) -> PathBuf {
        self.folder.path().join("packs")
    }

    pub(super) fn url(&self) -> String {
        format!("file://{}", self.packs().display())
    }

    pub(super) fn write(&self, path: &str, text: &str) {
        let path = self.packs().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn git(&self, words: &[&str]) {
        let folder = if self.packs().exists() { self.packs() } else { self.folder.path().to_owned() };
        let date = format!("{} +0000", 1_700_000_000 + self.commits.get() * 1_000);
        let mut command = Command::new("git");
        command.args(["-c", "user.name=p", "-c", "user.email=p@example.com", "-c", "gpg.format=ssh"]).args(words);
        command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date).env("HOME", self.folder.path());
        let ended = command.current_dir(folder).stdin(Stdio::null()).output().unwrap();
        assert!(ended.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ended.stderr));
    }

    /// Commits everything under this tag.
    pub(super) fn publish(&self, tag: &str) {
        self.commits.set(self.commits.get() + 1);
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", tag]);
        self.git(&["tag", "--force", tag]);
    }

    /// Makes a key, and returns its public part.
    pub(super) fn key(&self, name: &str) -> String {
        let path = self.folder.path().join(name);
        let made =
            Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(&path).status().unwrap();
        assert!(made.success());
        fs::read_to_string(path.with_extension("pub")).unwrap().trim().to_owned()
    }

    /// Signs a tag at the last commit with a key.
    pub(super) fn sign(&self, tag: &str, key: &str) {
        let key = format!("user.signingkey={}", self.folder.path().join(key).display());
        self.git(&["-c", &key, "tag", "--force", "--sign", "--message", tag, tag]);
    }
}

/// The pack `review`, whose tool has this description, with these grants.
pub(super) fn review(description: &str, grants: &str) -> String {
    format!(
        "[pack]\ntitle = \"Review\"\nversion = \"1.0.0\"\n[pack.grants]\n{grants}\n[[tool]]\nname = \"say\"\ndescription = \"{description}\"\neffect = \"pure\"\ntext = \"{description}\"\n"
    )
}

/// A project with the layer `team` at the tag v1.0.0.
pub(super) fn project(publisher: &Publisher) -> Home {
    let home = Home::with(&[]);
    run(&home, &["add", &format!("{}@v1.0.0", publisher.url()), "--name", "team", "--yes"]).ended(0);
    home
}

/// Runs the binary with the caches of this home.
pub(super) fn run(home: &Home, words: &[&str]) -> Said {
    home.run(words)
}

/// The files of layers on the machine of this home.
fn store(home: &Home) -> PathBuf {
    home.user().join(".local/share/toolsd/layers")
}

/// The stored content with this hash in the lock file.
fn stored(home: &Home) -> PathBuf {
    let lock = home.read("toolsd.lock");
    let hash = lock.split("blake3:").nth(1).unwrap().split('"').next().unwrap();
    store(home).join(hash)
}

/// What the tool says; the exit code if it is not served.
pub(super) fn says(home: &Home) -> Result<String, i32> {
    let said = run(home, &["call", "say"]);
    if said.code == 0 { Ok(said.out.trim().to_owned()) } else { Err(said.code) }
}

/// A clone of a project in a home of its own.
pub(super) fn clone(of: &Home) -> Home {
    let clone = Home::with(&[]);
    for file in ["toolsd.toml", "toolsd.lock", "toolsd.surface.json"] {
        clone.write(file, &of.read(file));
    }
    clone
}

fn lists(home: &Home) -> Vec<Value> {
    let mut command = home.command();
    command.args(["serve", "--locked"]);
    let mut server = Server::serving(command);
    ["tools/list", "prompts/list", "resources/list"].map(|list| server.request(list, json!({}))).to_vec()
}

fn serves_nothing(home: &Home) {
    let said = run(home, &["serve", "--locked"]).ended(2);
    assert!(said.err.contains("nothing to serve: no pack of "), "{}", said.err);
}

#[test]
fn two_clones_serve_the_same_from_one_lock_with_and_without_the_network() {
    let publisher = Publisher::new();
    // What git does to the files of a working tree, or of an archive, must not change them.
    publisher.write(".gitattributes", "*.toml eol=crlf\n*.md export-subst\ntools.d/review.toml export-ignore\n");
    publisher.publish("v1.0.0");
    let first = project(&publisher);
    assert_eq!(says(&first).as_deref(), Ok("One."));
    run(&first, &["lock", "--check"]).ended(0);
    let second = clone(&first);
    assert_eq!(says(&second), Err(2), "a stranger's `toolsd.toml` adds nothing");
    fs::write(second.user().join(".gitconfig"), "[core]\n\tautocrlf = true\n").unwrap();
    second.trust();
    run(&second, &["fetch", "--yes"]).ended(0);
    let before = lists(&first);
    assert_eq!(before[0]["result"]["tools"][0]["name"], "say");
    assert_eq!(lists(&second), before);
    fs::rename(publisher.packs(), publisher.folder.path().join("gone")).unwrap();
    assert_eq!(lists(&second), before, "without the repository");
    run(&second, &["fetch"]).ended(0);
    run(&second, &["lock", "--check"]).ended(0);
}

//= docs/spec.md#layers
//= type=test
//# A command that changes layers MUST write all of its files, or none.
#[test]
fn what_cannot_be_added_writes_nothing() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    type Spoiling<'a> = (&'a str, &'a dyn Fn(&Publisher), &'a str);
    let odd: &[Spoiling<'_>] = &[
        ("symlink", &|p| std::os::unix::fs::symlink("x", p.packs().join("tools.d/link.toml")).unwrap(), "is a symlink"),
        (
            "lfs",
            &|p| p.write("prompts/review/a.md", "version https://git-lfs.github.com/spec/v1\n"),
            "pointer of Git LFS",
        ),
        ("case", &|p| p.write("tools.d/Review.toml", ""), "letter case does not count"),
        ("name", &|p| p.write("prompts/review/a:b.md", ""), "not every system can have"),
        ("broken", &|p| p.write("tools.d/review.toml", "[pack]\n"), "the surface would lack what has errors"),
    ];
    for (name, spoil, words) in odd {
        publisher.git(&["checkout", "--quiet", "-B", "odd", "v1.0.0"]);
        spoil(&publisher);
        publisher.publish(name);
        publisher.git(&["clean", "-fdq"]);
        let home = Home::with(&[]);
        let said = run(&home, &["add", &format!("{}@{name}", publisher.url()), "--yes"]);
        assert!(said.code == 2 && said.err.contains(words), "{name}: {}", said.err);
        assert!(!home.workspace().join("toolsd.toml").exists() && !home.user().join(".local").exists(), "{name}");
    }
    let home = Home::with(&[]);
    for (address, words) in [
        (format!("{}@v9.9.9", publisher.url()), "has no tag, branch or commit `v9.9.9` (known: "),
        (format!("{}-not", publisher.url()), "the same command in your shell"),
        ("ext::sh -c touch% x".to_owned(), "the address of a repository has no spaces"),
        (format!("{}@v1.0.0", publisher.url()), "without a terminal, `--yes` agrees"),
    ] {
        let said = run(&home, &["add", &address]);
        assert!(said.code != 0 && said.err.contains(words), "{address}: {}", said.err);
        assert!(!home.workspace().join("toolsd.toml").exists());
    }
    let said = home.at_terminal(&["add", &format!("{}@v1.0.0", publisher.url()), "--name", "team"], "n");
    assert!(
        said.out.contains("layer team: file://") && said.out.contains("pack review  reads \"docs/**\""),
        "{}",
        said.out
    );
    assert!(!home.workspace().join("toolsd.toml").exists());
}

//= docs/spec.md#layers
//= type=test
//# A layer MUST serve only if a person trusted its content, or trusted its signer and it asks for no more and is not
//# older.
//= docs/spec.md#layers
//= type=test
//# While a layer cannot be used as it is locked, what served of it before MUST continue to serve, and a diagnostic MUST
//# report it.
#[test]
fn a_stored_layer_that_was_changed_is_refused_and_the_one_before_serves() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let home = project(&publisher);
    publisher.write("tools.d/review.toml", &review("Two.", "read = [\"docs/**\"]"));
    publisher.publish("v1.1.0");
    run(&home, &["update", "team", "--to", "v1.1.0", "--yes"]).ended(0);
    assert_eq!(says(&home).as_deref(), Ok("Two."));
    let file = stored(&home);
    let bytes = fs::read(&file).unwrap();
    // Anywhere in the file: a byte changed, or everything behind it gone.
    for place in (0..bytes.len()).step_by(bytes.len() / 42 + 1) {
        let mut changed = bytes.clone();
        changed[place] ^= 1;
        for tampered in [&changed[..], &bytes[..place]] {
            fs::write(&file, tampered).unwrap();
            let said = run(&home, &["call", "say"]).ended(0);
            assert_eq!(said.out, "One.\n", "{place}");
            assert!(said.err.contains("was changed") && said.err.contains("tag v1.0.0 still serves"), "{}", said.err);
        }
    }
    // With `--locked`, too: it was trusted as it was locked then.
    assert!(lists(&home)[0].to_string().contains("\"say\""));
    run(&home, &["fetch"]).ended(0);
    assert_eq!(says(&home).as_deref(), Ok("Two."));
}

#[test]
fn a_moved_lock_waits_for_trust_while_the_last_content_serves() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let (ours, theirs) = (project(&publisher), Home::with(&[]));
    for file in ["toolsd.toml", "toolsd.lock", "toolsd.surface.json"] {
        theirs.write(file, &ours.read(file));
    }
    theirs.trust();
    run(&theirs, &["fetch", "--yes"]).ended(0);
    publisher.write("tools.d/review.toml", &review("Two.", "read = [\"docs/**\"]"));
    publisher.publish("v1.1.0");
    run(&ours, &["update", "--to", "v1.1.0", "--yes"]).ended(0);
    // As `git pull` does.
    theirs.write("toolsd.lock", &ours.read("toolsd.lock"));
    let said = run(&theirs, &["call", "say"]).ended(0);
    assert_eq!(said.out, "One.\n");
    assert!(said.err.contains("wants `tag v1.0.0`") && said.err.contains("still serves"), "{}", said.err);
    theirs.write("toolsd.toml", &ours.read("toolsd.toml"));
    let said = run(&theirs, &["call", "say"]).ended(0);
    assert!(
        said.out == "One.\n" && said.err.contains("`toolsd.toml` has changed since it was trusted"),
        "{}",
        said.err
    );
    // Fetched, and not trusted yet.
    run(&theirs, &["trust"]).ended(1);
    let said = run(&theirs, &["call", "say"]).ended(0);
    assert!(said.out == "One.\n" && !said.err.contains("toolsd lock"), "{}", said.err);
    let said = run(&theirs, &["trust", "--yes"]).ended(0);
    assert!(said.out.contains("since tag v1.0.0: asks for no more"), "{}", said.out);
    assert_eq!(says(&theirs).as_deref(), Ok("Two."));
}

//= docs/spec.md#layers
//= type=test
//# A tag MUST be refused if it was moved since it was locked, or if no key of `signed_by` signed it under its own name.
#[test]
fn tags_that_were_moved_or_are_not_signed_are_refused() {
    let publisher = Publisher::new();
    let (key, _other) = (publisher.key("ours"), publisher.key("other"));
    publisher.publish("v1.0.0");
    publisher.sign("v1.0.0", "ours");
    let home = Home::with(&[]);
    let add = |home: &Home, tag: &str| {
        run(home, &["add", &format!("{}@{tag}", publisher.url()), "--name", "team", "--signed-by", &key, "--yes"])
    };
    add(&home, "v1.0.0").ended(0);
    assert!(home.read("toolsd.lock").contains("signer = \"SHA256:"));
    // Unsigned, without an object of its own, of another key, under another name.
    publisher.publish("v1.1.0");
    publisher.git(&["tag", "--annotate", "--message", "x", "v1.2.0"]);
    publisher.sign("v1.3.0", "other");
    publisher.git(&["update-ref", "refs/tags/v1.4.0", "refs/tags/v1.0.0"]);
    let refused = [
        ("v1.1.0", "is not signed by a key that git can check"),
        ("v1.2.0", "is not signed by a key that git can check"),
        ("v1.3.0", "which is not in `signed_by`"),
        ("v1.4.0", "calls itself v1.0.0"),
    ];
    for (tag, words) in refused {
        let said = run(&home, &["update", "--to", tag, "--yes"]);
        assert!(said.code == 2 && said.err.contains(words), "{tag}: {}", said.err);
        let said = add(&Home::with(&[]), tag);
        assert!(said.code == 2 && said.err.contains(words), "{tag}: {}", said.err);
    }
    assert_eq!(says(&home).as_deref(), Ok("One."));
    // The tag moves.
    publisher.write("tools.d/review.toml", &review("Moved.", "read = [\"docs/**\"]"));
    publisher.publish("later");
    publisher.sign("v1.0.0", "ours");
    for words in [["update", "team", "--yes"].as_slice(), &["update", "--yes"]] {
        let said = run(&home, words);
        assert!(said.code == 2 && said.err.contains("the tag was moved"), "{}", said.err);
    }
    let said = run(&home, &["update", "--to", "v1.0.0", "--yes"]);
    assert!(said.code == 2 && said.err.contains("the tag was moved"), "{}", said.err);
    let other = clone(&home);
    run(&other, &["trust", "--yes"]).ended(1);
    assert!(run(&other, &["fetch", "--yes"]).ended(1).err.contains("the tag was moved"));
    assert_eq!(says(&other), Err(2));
    run(&home, &["update", "--accept", "moved", "--yes"]).ended(0);
    assert_eq!(says(&home).as_deref(), Ok("Moved."));
}

#[test]
fn later_versions_of_a_trusted_signer_serve_unless_they_widen_or_are_older() {
    let publisher = Publisher::new();
    let key = publisher.key("ours");
    let tags = [("v1.0.0", "One.", "read = [\"docs/**\"]"), ("v1.1.0", "Two.", "read = [\"docs/**\"]")];
    for (tag, says, grants) in tags {
        publisher.write("tools.d/review.toml", &review(says, grants));
        publisher.publish(tag);
        publisher.sign(tag, "ours");
    }
    let wider = ["read = [\"**\"]", "write = [\"docs/**\"]", "env = [\"HOME\"]", "git = \"read\"", "run = [\"ls\"]"];
    for (index, grants) in wider.into_iter().enumerate() {
        publisher.write("tools.d/review.toml", &review("Wider.", &format!("{grants}\n")));
        publisher.publish(&format!("v2.{index}.0"));
        publisher.sign(&format!("v2.{index}.0"), "ours");
    }
    let at = |tag: &str| {
        let home = Home::with(&[]);
        run(&home, &["add", &format!("{}@{tag}", publisher.url()), "--name", "team", "--signed-by", &key, "--yes"])
            .ended(0);
        home
    };
    let theirs = at("v1.1.0");
    run(&theirs, &["trust", "--signed", "--yes"]).ended(0);
    // Another person's project moves; its files come as `git pull` brings them, and `toolsd.toml` is read and trusted.
    let pull = |tag: &str| {
        let ours = at(tag);
        ["toolsd.toml", "toolsd.lock"].iter().for_each(|file| theirs.write(file, &ours.read(file)));
        let settings = ours.read("toolsd.toml");
        let record = theirs.user().join(".local/state/toolsd/trust.json");
        let mut json: Value = serde_json::from_str(&fs::read_to_string(&record).unwrap()).unwrap();
        let workspace = json["workspaces"].as_object_mut().unwrap().values_mut().next().unwrap();
        workspace["states"][0]["toolsd.toml"]["hash"] = json!(blake3::hash(settings.as_bytes()).to_string());
        fs::write(&record, json.to_string()).unwrap();
        let _ = run(&theirs, &["fetch"]);
    };
    publisher.write("tools.d/review.toml", &review("Three.", "read = [\"docs/**\"]"));
    publisher.publish("v1.2.0");
    publisher.sign("v1.2.0", "ours");
    pull("v1.2.0");
    assert_eq!(says(&theirs).as_deref(), Ok("Three."), "signed, later, and asks for no more");
    for (tag, words) in (0..wider.len())
        .map(|index| (format!("v2.{index}.0"), "is not trusted"))
        .chain([("v1.0.0".to_owned(), "is not trusted")])
    {
        pull(&tag);
        let said = run(&theirs, &["call", "say"]).ended(0);
        assert_eq!(said.out, "Three.\n", "the last good one, {tag}: {}", said.err);
        assert!(said.err.contains(words), "{tag}: {}", said.err);
    }
    pull("v1.1.0");
    assert_eq!(says(&theirs).as_deref(), Ok("Two."), "what was confirmed by hand serves again");
}

//= docs/spec.md#layers
//= type=test
//# With `--locked`, only layers as `toolsd.lock` has them, packs that publish what `toolsd.surface.json` says, and what
//# was trusted of both before, MUST serve.
#[test]
fn a_locked_server_serves_what_was_reviewed_and_nothing_else() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let home = project(&publisher);
    home.write_user("tools.d/own.toml", &review("Own.", "").replace("\"say\"", "\"own\""));
    fs::create_dir_all(home.workspace().join(".toolsd/tools.d")).unwrap();
    home.write(".toolsd/tools.d/local.toml", &review("Local.", "").replace("\"say\"", "\"local\""));
    home.trust();
    let names = |lists: &[Value]| -> Vec<String> {
        let tools = lists[0]["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&lists(&home)), ["say"], "neither the user's nor what the surface does not have");
    assert!(run(&home, &["lock", "--check"]).ended(1).err.contains("`toolsd.surface.json` does not say"));
    run(&home, &["lock"]).ended(0);
    assert_eq!(names(&lists(&home)), ["local", "say"]);
    // A reload that would change what a pack publishes is not served.
    let mut command = home.command();
    command.args(["serve", "--locked"]);
    let mut server = Server::serving(command);
    home.write(".toolsd/tools.d/local.toml", &review("Changed.", "").replace("\"say\"", "\"local\""));
    home.trust();
    let started = std::time::Instant::now();
    let status = loop {
        let status = server.request("resources/read", json!({ "uri": "toolsd://status" })).to_string();
        if status.contains("publishes something else") || started.elapsed().as_secs() > 20 {
            break status;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    };
    assert!(status.contains("publishes something else than `toolsd.surface.json` says"), "{status}");
    assert_eq!(server.said("local", json!({})), ("Local.".to_owned(), false));
    fs::remove_file(home.workspace().join("toolsd.surface.json")).unwrap();
    drop(server);
    serves_nothing(&home);
}

#[test]
fn layers_are_moved_shown_and_removed() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    publisher.publish("v1.5.0");
    let home = Home::with(&[("toolsd.toml", "# ours\nserve = [\"review\"]\n")]);
    let said = run(&home, &["add", &publisher.url(), "--yes"]);
    assert!(said.code == 2 && said.err.contains("`toolsd.toml` is not trusted"), "{}", said.err);
    home.trust();
    run(&home, &["add", &publisher.url(), "--name", "team", "--yes"]).ended(0);
    assert!(home.read("toolsd.toml").starts_with("# ours\nserve = [\"review\"]\n\n[layers.team]\n"));
    assert!(home.read("toolsd.toml").contains("tag = \"v1.5.0\""), "the highest version");
    publisher.publish("v2.0.0");
    let outdated = run(&home, &["outdated", "--format", "json"]).ended(0).json();
    assert_eq!(
        outdated["layers"][0],
        json!({ "layer": "team", "locked": "v1.5.0", "wanted": "v1.5.0", "newest": "v2.0.0", "behind": false, "moved": false })
    );
    assert!(run(&home, &["update"]).ended(0).out.contains("the newest is v2.0.0"));
    // A requirement follows the tags that meet it.
    home.write("toolsd.toml", &home.read("toolsd.toml").replace("tag = \"v1.5.0\"", "version = \"^1.0\""));
    home.trust();
    run(&home, &["lock", "--check"]).ended(1);
    run(&home, &["lock", "--yes"]).ended(0);
    publisher.publish("v1.6.0");
    run(&home, &["outdated", "--exit-code"]).ended(1);
    run(&home, &["update", "--yes"]).ended(0);
    assert!(home.read("toolsd.lock").contains("tag = \"v1.6.0\"") && home.read("toolsd.toml").contains("^1.0"));
    run(&home, &["outdated", "--exit-code"]).ended(0);
    // What asks for more is refused unless it is accepted.
    publisher.write("tools.d/review.toml", &review("Two.", "read = [\"**\"]"));
    publisher.publish("v1.7.0");
    let said = run(&home, &["update", "--yes"]).ended(1);
    assert!(said.out.contains("widens") && said.err.contains("`--accept widens` takes it"), "{}{}", said.out, said.err);
    assert!(home.read("toolsd.lock").contains("v1.6.0"));
    run(&home, &["update", "--yes", "--accept", "widens"]).ended(0);
    assert!(run(&home, &["trust", "--list"]).ended(0).out.contains("layer team  file://"));
    run(&home, &["remove", "team"]).ended(0);
    assert_eq!(home.read("toolsd.toml"), "# ours\nserve = [\"review\"]\n");
    assert!(says(&home).is_err());
}

#[test]
fn a_folder_is_a_layer_whose_changes_need_trust() {
    let home = Home::with(&[("toolsd.toml", "[layers.draft]\npath = \"../packs\"\n")]);
    let packs = home.workspace().join("../packs");
    let write = |text: &str| {
        fs::create_dir_all(packs.join("tools.d")).unwrap();
        fs::write(packs.join("tools.d/review.toml"), text).unwrap();
    };
    write(&review("One.", ""));
    home.trust();
    assert_eq!(says(&home).as_deref(), Ok("One."));
    write(&review("Two.", ""));
    assert!(run(&home, &["call", "say"]).err.contains("layer draft (the folder) is not trusted"));
    home.trust();
    assert_eq!(says(&home).as_deref(), Ok("Two."));
    run(&home, &["lock"]).ended(0);
    serves_nothing(&home);
    let is_below = |path: &Path| path.starts_with(home.user());
    assert!(is_below(&store(&home)));
}

#[test]
fn a_change_is_judged_before_it_is_taken() {
    let publisher = Publisher::new();
    let tool = |name: &str, more: &str| {
        format!(
            "[pack]\ntitle = \"Review\"\nversion = \"1.0.0\"\n[[tool]]\nname = \"{name}\"\ndescription = \"Says it.\"\neffect = \"pure\"\n{more}\ntext = \"one\"\n[[tool.example]]\narguments = {{}}\nexpect.text_contains = \"one\"\n"
        )
    };
    publisher.write("tools.d/review.toml", &tool("say", ""));
    publisher.publish("v1.0.0");
    let home = project(&publisher);
    run(&home, &["test", "review"]).ended(0);
    home_git(&home, &["init", "--quiet"]);
    home_git(&home, &["add", "--all"]);
    home_git(&home, &["commit", "--quiet", "--message", "one"]);
    // Renamed with its old name as an alias: compatible. Without: breaking.
    publisher.write("tools.d/review.toml", &tool("tell", ""));
    publisher.publish("v1.1.0");
    publisher.write("tools.d/review.toml", &tool("tell", "aliases = [\"say\"]\ndeprecated = \"use `talk`\""));
    publisher.publish("v1.2.0");
    let said = run(&home, &["update", "--to", "v1.1.0", "--yes"]).ended(1);
    assert!(
        said.out.contains("verdict: breaking") && said.err.contains("`--accept breaking` takes it"),
        "{}",
        said.out
    );
    let said = run(&home, &["update", "--to", "v1.2.0", "--yes"]).ended(0);
    assert!(said.out.contains("verdict: compatible"), "{}", said.out);
    assert_eq!(says(&home).as_deref(), Ok("one"), "by the old name");
    let listed = run(&home, &["list"]).ended(0);
    assert!(listed.out.contains("tell (deprecated)") && !listed.out.contains("\nsay"), "{}", listed.out);
    let tools = run(&home, &["list", "--format", "json"]).ended(0).json();
    assert_eq!(tools["tools"][0]["name"], "tell");
    // Against a commit; nothing changed since the lock.
    run(&home, &["diff"]).ended(0);
    let judged = run(&home, &["diff", "--from", "HEAD", "--format", "json"]).ended(0).json();
    assert_eq!(judged["verdict"], "compatible");
    assert!(
        run(&home, &["diff", "--from", "HEAD", "--format", "markdown"])
            .ended(0)
            .out
            .starts_with("**Verdict: compatible")
    );
    assert!(run(&home, &["diff", "--from", "nothing"]).ended(2).err.contains("nothing"));
    // What a case showed holds no more: only the case shows it.
    home_git(&home, &["commit", "--quiet", "--all", "--message", "two"]);
    publisher.write(
        "tools.d/review.toml",
        &tool("tell", "aliases = [\"say\"]\ndeprecated = \"use `talk`\"")
            .replace("text = \"one\"", "text = \"two\"")
            .replace("= \"one\"", "= \"two\""),
    );
    publisher.publish("v1.3.0");
    let said = run(&home, &["update", "--to", "v1.3.0", "--cases", "--yes"]).ended(1);
    assert!(said.out.contains("old-case-failed"), "{}", said.out);
    run(&home, &["update", "--to", "v1.3.0", "--yes"]).ended(0);
    run(&home, &["diff", "--from", "HEAD"]).ended(0);
    let said = run(&home, &["diff", "--from", "HEAD", "--cases"]).ended(1);
    assert!(
        said.out.contains("old-case-failed") && said.err.contains("1 old cases were played"),
        "{}{}",
        said.out,
        said.err
    );
    run(&home, &["diff", "--from", "HEAD", "--cases", "--accept", "breaking"]).ended(0);
}

/// A clone that lacks the file, and whose configuration names a program to fetch it with.
#[test]
fn comparing_with_a_commit_starts_nothing_that_the_repository_names() {
    let (home, publisher) = (Home::with(&[]), Publisher::new());
    publisher.write("toolsd.surface.json", "{}");
    publisher.git(&["config", "uploadpack.allowFilter", "true"]);
    publisher.publish("v1");
    let words = ["clone", "--quiet", "--no-checkout", "--filter=blob:none", &publisher.url(), "."];
    home_git(&home, &words);
    let witness = home.workspace().join("started");
    home_git(&home, &["config", "remote.origin.uploadpack", &format!("touch {} #", witness.display())]);
    let said = run(&home, &["diff", "--from", "HEAD"]).ended(2);
    assert!(!witness.exists() && said.err.contains("git cat-file blob"), "{}", said.err);
    // Git itself starts it.
    let mut command = home.command_of("git");
    let _fails = command.args(["cat-file", "blob", "HEAD:toolsd.surface.json"]).current_dir(home.workspace()).output();
    assert!(witness.exists());
}

/// Runs git in the workspace of a project.
fn home_git(home: &Home, words: &[&str]) {
    let mut command = home.command_of("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]).args(words);
    let ended = command.stdin(Stdio::null()).output().unwrap();
    assert!(ended.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&ended.stderr));
}

#[test]
fn the_workflow_for_pull_requests_judges_a_change() {
    let workflow = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/review-packs.yml")).unwrap();
    let steps = workflow.split("- name: ").filter(|step| step.contains("toolsd ") && !step.starts_with("Install"));
    let lines = steps.flat_map(|step| step.split_once("run: |\n").unwrap().1.lines());
    let script: String = lines.map(|line| format!("{}\n", line.trim())).collect();
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    publisher.write("tools.d/review.toml", &review("Wider.", "read = [\"**\"]"));
    publisher.publish("v1.1.0");
    let home = project(&publisher);
    for words in [["init", "--quiet"].as_slice(), &["add", "--all"], &["commit", "--quiet", "--message", "one"]] {
        home_git(&home, words);
    }
    home_git(&home, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    for (change, refused) in [("v1.0.0", ""), ("v1.1.0", "refused=yes\n")] {
        run(&home, &["update", "--to", change, "--yes", "--accept", "widens"]).ended(0);
        let binaries = Path::new(env!("CARGO_BIN_EXE_toolsd")).parent().unwrap();
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
        let outputs = home.user().join("outputs");
        fs::write(&outputs, "").unwrap();
        let mut command = home.command_of("sh");
        command
            .args(["-e", "-c", &script])
            .env("PATH", path)
            .env("GITHUB_BASE_REF", "main")
            .env("GITHUB_OUTPUT", &outputs);
        let ended = command.stdin(Stdio::null()).output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        assert!(home.read("comment.md").starts_with("**Verdict: "), "{}", home.read("comment.md"));
        assert_eq!(fs::read_to_string(outputs).unwrap(), refused, "{change}");
    }
}

#[test]
fn a_layer_adds_nothing_to_a_pack_of_another_one() {
    let (publisher, stranger) = (Publisher::new(), Publisher::new());
    publisher.publish("v1.0.0");
    let more = "[[tool]]\nname = \"leak\"\ndescription = \"Leaks.\"\neffect = \"reads\"\n";
    stranger.git(&["rm", "-q", "-f", "--cached", "--ignore-unmatch", "tools.d/review.toml"]);
    fs::remove_file(stranger.packs().join("tools.d/review.toml")).unwrap();
    stranger.write("tools.d/review/more.toml", more);
    stranger.write("tools.d/review/more.rhai", "fn leak(args) { find_files(\"docs/**\") }\n");
    stranger.publish("v1.0.0");
    let home = project(&publisher);
    let said = run(&home, &["add", &stranger.url(), "--name", "other", "--yes"]);
    assert!(said.code == 2 && said.err.contains("layer team has a pack `review` already"), "{}", said.err);
    let settings = home.read("toolsd.toml");
    home.write("toolsd.toml", &format!("{settings}\n[layers.other]\ngit = \"{}\"\ntag = \"v1.0.0\"\n", stranger.url()));
    home.trust();
    let _ = run(&home, &["lock", "--yes"]);
    let tools = run(&home, &["list", "--format", "json"]).ended(0).json();
    let names: Vec<&str> =
        tools["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["say"]);
}

#[test]
fn a_catalogue_in_its_own_repository_is_named_by_dir() {
    let home = Home::with(&[("tools.d/review.toml", &review("One.", ""))]);
    for words in [["lock"].as_slice(), &["lock", "--check"]] {
        assert!(run(&home, words).ended(2).err.contains("add `--dir .`"));
    }
    run(&home, &["lock", "--dir", "."]).ended(0);
    home.write("tools.d/review.toml", &review("Two.", "").replace("\"say\"", "\"tell\""));
    assert!(run(&home, &["diff", "--dir", "."]).ended(1).out.contains("verdict: breaking"));
    home.write("tools.d/review.toml", "[pack]\n");
    let said = run(&home, &["lock", "--dir", "."]).ended(2);
    assert!(said.err.contains("the surface would lack what has errors"), "{}", said.err);
}

#[test]
fn an_alias_takes_no_name_from_a_tool() {
    let tool = |name: &str, more: &str| {
        format!(
            "[[tool]]\nname = \"{name}\"\ndescription = \"Does it.\"\neffect = \"pure\"\ntext = \"{name}\"\n{more}\n"
        )
    };
    let pack = format!(
        "[pack]\ntitle = \"A\"\nversion = \"1.0.0\"\n{}{}",
        tool("one", "aliases = [\"two\"]"),
        tool("two", "")
    );
    let home = Home::with(&[("dir/tools.d/a.toml", &pack)]);
    assert_eq!(run(&home, &["call", "two", "--dir", "dir"]).ended(0).out, "two\n");
    assert!(
        run(&home, &["check", "--dir", "dir"])
            .ended(1)
            .out
            .contains("the alias `two` of the tool `one` is also a name")
    );
}

#[test]
fn a_script_that_computes_what_a_model_reads_is_in_the_surface() {
    let pack = "[pack]\ntitle = \"A\"\nversion = \"1.0.0\"\n[[tool]]\nname = \"one\"\ndescribe = \"about\"\neffect = \"pure\"\n";
    let script = "fn about() { \"Use it once.\" }\nfn one(args) { 1 }\n";
    let home = Home::with(&[(".toolsd/tools.d/a.toml", pack), (".toolsd/tools.d/a.rhai", script)]);
    home.trust();
    run(&home, &["lock"]).ended(0);
    home.write(".toolsd/tools.d/a.rhai", &script.replace("once", "before all others"));
    home.trust();
    let said = run(&home, &["diff"]).ended(0);
    assert!(said.out.contains("verdict: wording") && said.out.contains("{+before all others."), "{}", said.out);
}

#[test]
fn two_commands_at_once_lose_nothing() {
    let publishers: Vec<Publisher> = (0..2).map(|_| Publisher::new()).collect();
    let home = Home::with(&[]);
    let mut children = Vec::new();
    for (index, publisher) in publishers.iter().enumerate() {
        publisher.write("tools.d/review.toml", &review("One.", "").replace("\"say\"", &format!("\"say_{index}\"")));
        publisher.git(&["add", "--all"]);
        publisher.git(&["mv", "tools.d/review.toml", &format!("tools.d/review_{index}.toml")]);
        publisher.publish("v1.0.0");
        let mut command = home.command();
        command.args(["add", &publisher.url(), "--name", &format!("team_{index}"), "--yes"]);
        children.push(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    }
    let ended: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let settings = home.read("toolsd.toml");
    for (index, ended) in ended.iter().enumerate() {
        let is_there = settings.contains(&format!("[layers.team_{index}]"));
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.success(), is_there, "{said}");
        assert!(is_there || said.contains("has changed meanwhile"), "{said}");
    }
}
