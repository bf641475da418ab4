//! Layers from git that are not as they should be: moved tags, locks that do not fit, nothing to serve.

use super::sharing::{Publisher, clone, project, review, run, says};
use crate::support::home::Home;
use serde_json::json;
use std::fs;

/// The commit of a tag that is not signed.
fn commit_of(publisher: &Publisher, tag: &str) -> String {
    fs::read_to_string(publisher.packs().join(".git/refs/tags").join(tag)).unwrap().trim().to_owned()
}

#[test]
fn a_clone_gets_the_locked_commit_of_a_tag_that_was_moved_or_removed() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let home = project(&publisher);
    publisher.write("tools.d/review.toml", &review("Moved.", ""));
    publisher.publish("v1.0.0");
    let fetch = |settings: &str, lock: &str| {
        let other = clone(&home);
        other.write("toolsd.lock", lock);
        fs::write(other.user().join(".gitconfig"), settings).unwrap();
        let said = run(&other, &["trust", "--yes"]);
        (other, said)
    };
    let lock = home.read("toolsd.lock");
    // The old protocol gives only commits at the end of a branch or tag.
    for settings in ["", "[protocol]\n\tversion = 0\n"] {
        let (other, said) = fetch(settings, &lock);
        assert!(said.code == 0 && said.err.contains("the tag was moved; the locked commit was taken"), "{}", said.err);
        assert_eq!(says(&other).as_deref(), Ok("One."));
    }
    publisher.git(&["tag", "--delete", "v1.0.0"]);
    let (other, said) = fetch("", &lock);
    assert!(said.code == 0 && said.err.contains("has no tag `v1.0.0`; the locked commit was taken"), "{}", said.err);
    assert_eq!(says(&other).as_deref(), Ok("One."));
    let (start, digits) = lock.split_once("blake3:").unwrap();
    let (_, said) = fetch("", &format!("{start}blake3:{}{}", "0".repeat(64), &digits[64..]));
    assert!(said.code == 1 && said.err.contains("is not what `toolsd.lock` says"), "{}", said.err);
    // A commit that is gone.
    publisher.git(&["checkout", "--quiet", "--orphan", "new"]);
    publisher.publish("v3.0.0");
    publisher.git(&["branch", "--delete", "--force", "main"]);
    let (_, said) = fetch("[protocol]\n\tversion = 0\n", &lock);
    assert!(said.code == 1 && said.err.contains("contains commit"), "{}", said.err);
}

#[test]
fn a_lock_that_does_not_fit_is_reported_in_the_same_words_by_every_command() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let home = project(&publisher);
    let (settings, lock) = (home.read("toolsd.toml"), home.read("toolsd.lock"));
    let reports = |home: &Home, words: &str| {
        for command in [["lock", "--check"].as_slice(), &["fetch"], &["call", "say"]] {
            let said = run(home, command);
            assert!(said.err.contains(words) && said.err.contains("run `toolsd lock`"), "{command:?}: {}", said.err);
        }
    };
    home.write("toolsd.lock", lock.split("\n[[layer]]").next().unwrap());
    reports(&home, "`toolsd.lock` has no layer team");
    home.write("toolsd.lock", &lock);
    for (changed, words) in [
        (settings.replace("v1.0.0", "v1.1.0"), "has `tag v1.0.0` of layer team, and `toolsd.toml` wants `tag v1.1.0`"),
        (format!("{settings}dir = \"a\"\n"), "has `dir .` of layer team, and `toolsd.toml` wants `dir a`"),
        (settings.replace("file://", "file:///."), "of layer team, and `toolsd.toml` wants `git file:///."),
    ] {
        home.write("toolsd.toml", &changed);
        home.trust();
        reports(&home, words);
    }
}

#[test]
fn a_lock_is_checked_for_its_commits_and_signers_and_says_what_it_wrote() {
    let publisher = Publisher::new();
    let (ours, other) = (publisher.key("ours"), publisher.key("other"));
    publisher.publish("v0.9.0");
    publisher.publish("v1.0.0");
    publisher.sign("v1.0.0", "ours");
    let text = format!("[layers.team]\ngit = \"{}\"\ntag = \"v1.0.0\"\n", publisher.url());
    let home = Home::with(&[("toolsd.toml", &text)]);
    home.trust();
    let said = run(&home, &["lock", "--format", "json"]).ended(1).json();
    assert_eq!(said, json!({ "changed": ["toolsd.lock", "toolsd.surface.json"], "written": false }));
    let said = run(&home, &["lock", "--format", "json", "--yes"]).ended(0).json();
    assert_eq!(said["written"], true);
    run(&home, &["lock", "--check"]).ended(0);
    // Another commit of the same content, and one that does not exist.
    let lock = home.read("toolsd.lock");
    let commit = lock.split("commit = \"").nth(1).unwrap()[..40].to_owned();
    for wrong in [commit_of(&publisher, "v0.9.0"), "0".repeat(40)] {
        home.write("toolsd.lock", &lock.replace(&commit, &wrong));
        let said = run(&home, &["lock", "--check"]).ended(1);
        assert!(said.err.contains(&format!("is commit {commit} now, and `toolsd.lock` says {wrong}")), "{}", said.err);
    }
    home.write("toolsd.lock", &lock);
    // Two projects share what this machine has of a content.
    let second = ["add", &format!("{}@v0.9.0", publisher.url()), "--name", "team", "--yes", "--workspace", "../second"];
    fs::create_dir_all(home.workspace().join("../second")).unwrap();
    run(&home, &second).ended(0);
    run(&home, &["lock", "--check"]).ended(0);
    for (keys, words) in [
        (&[&ours][..], "has no signer of layer team, and `toolsd.toml` wants a signature"),
        (&[&other], "of layer team, and `toolsd.toml` wants another one"),
        (&[], "of layer team, and `toolsd.toml` wants no signature"),
    ] {
        let signed_by = if keys.is_empty() { String::new() } else { format!("signed_by = {keys:?}\n") };
        home.write("toolsd.toml", &format!("{text}{signed_by}"));
        home.trust();
        let said = run(&home, &["lock", "--check"]).ended(1);
        assert!(said.err.contains(words), "{}", said.err);
        let relocked = run(&home, &["lock", "--yes"]);
        assert_eq!(relocked.code, if keys == [&other] { 2 } else { 0 }, "{}", relocked.err);
    }
    run(&home, &["lock", "--check"]).ended(0);
}

#[test]
fn a_version_that_its_publisher_took_back_is_not_followed() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    publisher.write("tools.d/review.toml", &review("Two.", "read = [\"docs/**\"]"));
    publisher.publish("v1.1.0");
    let home =
        Home::with(&[("toolsd.toml", &format!("[layers.team]\ngit = \"{}\"\nversion = \"^1\"\n", publisher.url()))]);
    home.trust();
    run(&home, &["lock", "--yes"]).ended(0);
    publisher.git(&["tag", "--delete", "v1.1.0"]);
    // The lower version has the later commit: their order is that of the versions.
    publisher.write("tools.d/review.toml", &review("Three.", "read = [\"docs/**\"]"));
    publisher.publish("v1.0.1");
    let said = run(&home, &["update", "--yes"]);
    let lower = "tag v1.0.1 is lower than tag v1.1.0, which is locked";
    assert!(said.code == 2 && said.err.contains(lower), "{}", said.err);
    assert_eq!(says(&home).as_deref(), Ok("Two."));
    run(&home, &["update", "--yes", "--accept", "moved"]).ended(0);
    assert_eq!(says(&home).as_deref(), Ok("Three."));
}

#[test]
fn a_branch_is_followed_forward_and_a_rewritten_one_is_refused() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let layer = format!("[layers.team]\ngit = \"{}\"\nbranch = \"main\"\n", publisher.url());
    let home = Home::with(&[("toolsd.toml", &layer)]);
    home.trust();
    run(&home, &["lock", "--yes"]).ended(0);
    // Two commits of the same second: the history decides, and not the time.
    publisher.publish("v1.1.0");
    publisher.write("tools.d/review.toml", &review("Two.", "read = [\"docs/**\"]"));
    publisher.git(&["add", "--all"]);
    publisher.git(&["commit", "--quiet", "--message", "Two."]);
    run(&home, &["update", "--yes"]).ended(0);
    assert_eq!(says(&home).as_deref(), Ok("Two."));
    // Back by one commit, and then another history altogether; each has a later time than what is locked.
    for words in [&["reset", "--quiet", "--hard", "v1.0.0"][..], &["checkout", "--quiet", "--orphan", "new"]] {
        publisher.git(words);
        publisher.write("tools.d/review.toml", &review("Three.", "read = [\"docs/**\"]"));
        publisher.publish("v2.0.0");
        publisher.git(&["branch", "--force", "--move", "main"]);
        let said = run(&home, &["update", "--yes"]);
        assert!(said.code == 2 && said.err.contains("branch main of team was rewritten"), "{}", said.err);
        assert_eq!(says(&home).as_deref(), Ok("Two."));
    }
    run(&home, &["update", "--yes", "--accept", "moved"]).ended(0);
    assert_eq!(says(&home).as_deref(), Ok("Three."));
}

#[test]
fn the_doctor_says_where_each_layer_stands_and_what_is_next() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let home = project(&publisher);
    let commit = &commit_of(&publisher, "v1.0.0")[..12];
    let begin = format!("layer: `team`, tag v1.0.0, commit {commit}");
    let reports = |home: &Home, words: &str| {
        let said = run(home, &["doctor"]).out;
        assert!(said.contains(words), "{words}: {said}");
    };
    reports(&home, &format!("ok      {begin}: on this machine and trusted; its packs: review\n"));
    let other = clone(&home);
    reports(
        &other,
        "broken  layer: layer team is not on this machine\n        -> run `toolsd trust`, which fetches it\n",
    );
    other.trust();
    run(&other, &["trust", "--revoke", "team"]).ended(0);
    reports(
        &other,
        &format!(
            "note    {begin}: on this machine, and not trusted as it is\n        -> read it, then run `toolsd trust`\n"
        ),
    );
    fs::remove_file(home.workspace().join("toolsd.lock")).unwrap();
    reports(&home, "broken  layer: `toolsd.lock` has no layer team\n        -> run `toolsd lock`");
}

#[test]
fn outdated_shows_a_tag_that_was_moved_and_a_repository_that_is_not_reached() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let home = project(&publisher);
    publisher.publish("v1.0.0");
    let said = run(&home, &["outdated"]).ended(0);
    assert!(said.out.contains("team\tv1.0.0\tv1.0.0, moved\tv1.0.0"), "{}", said.out);
    assert!(said.err.contains("the tag was moved") && said.err.contains("--accept moved"), "{}", said.err);
    let said = run(&home, &["outdated", "--exit-code", "--format", "json"]).ended(1);
    assert_eq!(said.json()["layers"][0]["moved"], true);
    fs::rename(publisher.packs(), home.user().join("gone")).unwrap();
    for words in [["outdated"].as_slice(), &["outdated", "--exit-code"]] {
        let said = run(&home, words).ended(2);
        assert!(said.out.is_empty() && said.err.contains("the same command in your shell"), "{}{}", said.out, said.err);
    }
}

#[test]
fn what_is_added_is_named_by_a_requirement_and_served_if_it_is_to_be() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    publisher.publish("v2.0.0");
    let commit = commit_of(&publisher, "v1.0.0");
    let home = Home::with(&[("toolsd.toml", "serve = [\"own\"]\n")]);
    home.trust();
    let add = |revision: &str| run(&home, &["add", &format!("{}@{revision}", publisher.url()), "--yes"]);
    for (wrong, words) in [
        (&commit[..7], format!("all 40 digits of its hash: {commit} begins with these, and is `refs/tags/v1.0.0`")),
        ("deadbee", "`git rev-parse deadbee` in a clone shows them".to_owned()),
        ("^x", "a requirement is `^2.3`".to_owned()),
        ("^3", "the highest version is 2.0.0".to_owned()),
    ] {
        let said = add(wrong).ended(2);
        assert!(said.err.contains(&words), "{wrong}: {}", said.err);
    }
    let said = add("^1.0").ended(0);
    assert!(home.read("toolsd.toml").contains("version = \"^1.0\""), "{}", home.read("toolsd.toml"));
    assert!(home.read("toolsd.lock").contains("tag = \"v1.0.0\""));
    let line = "serve = [\"own\", \"review\"]";
    assert!(said.err.contains(&format!("not served: `review` (write `{line}`, then run")), "{}", said.err);
    assert!(says(&home).is_err());
    home.write("toolsd.toml", &home.read("toolsd.toml").replace("serve = [\"own\"]", line));
    home.trust();
    assert_eq!(says(&home).as_deref(), Ok("One."));
}

#[test]
fn each_command_shows_all_that_git_and_ssh_say() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let home = project(&publisher);
    // A user whose key the server does not take, on a machine without the layer.
    let other = clone(&home);
    let settings = other.read("toolsd.toml").replace(&publisher.url(), "ssh://git@example.org/packs");
    other.write("toolsd.toml", &settings);
    other.write("toolsd.lock", &home.read("toolsd.lock").replace(&publisher.url(), "ssh://git@example.org/packs"));
    let denied = "git@example.org: Permission denied (publickey).";
    let ssh = [("GIT_SSH_COMMAND", &*format!("echo '{denied}' >&2; exit 255; #"))];
    for words in [&["trust", "--yes"][..], &["fetch"], &["update", "--yes"], &["add", "ssh://git@example.org/more"]] {
        let said = other.run_with(words, &ssh);
        assert!(
            said.err.contains(denied) && said.err.contains("Could not read from remote"),
            "{words:?}: {}",
            said.err
        );
    }
}

#[test]
fn an_update_that_ends_before_it_is_trusted_has_written_nothing() {
    let publisher = Publisher::new();
    publisher.publish("v1.0.0");
    let home = project(&publisher);
    // A record of trust that is larger than any file may become below.
    for number in 0..200 {
        home.write(&format!(".toolsd/templates/{}{number}.txt", "long".repeat(50)), "");
    }
    home.trust();
    let before = home.read("toolsd.toml");
    publisher.publish("v1.1.0");
    let limited = "ulimit -f 32; exec \"$0\" update --yes --to v1.1.0";
    let ended = home.command_of("bash").args(["-c", limited, env!("CARGO_BIN_EXE_toolsd")]).output().unwrap();
    assert!(!ended.status.success(), "{}", String::from_utf8_lossy(&ended.stdout));
    assert_eq!(home.read("toolsd.toml"), before);
    assert_eq!(says(&home).as_deref(), Ok("One."));
    run(&home, &["update", "--yes", "--to", "v1.1.0"]).ended(0);
}

#[test]
fn errors_and_names_of_embedded_packs_are_reported_at_trust() {
    let home = Home::with(&[("toolsd.toml", "limts = 3\n"), ("team/tools.d/skills.toml", &review("One.", ""))]);
    let said = run(&home, &["trust", "--yes"]);
    assert!(said.code == 0 && said.err.contains("has no key `limts`"), "{}", said.err);
    home.write("toolsd.toml", "[layers.team]\npath = \"team\"\n");
    let said = run(&home, &["trust", "--yes"]);
    let name = "its pack `skills` has the name of a pack of toolsd";
    assert!(said.code == 0 && said.out.contains(name), "{}", said.out);
    assert!(run(&home, &["check"]).out.contains(name));
}
