//! Git whose host is killed or ended while it works: what it planted, and git itself.
//!
//! Here git is a program of ours that plants whatever it can: the rules of the system alone hold it. What it can plant is
//! put right; a real one plants the same where a folder becomes a link while it works (see `git_races`).

use crate::yard::Yard;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// It plants at `tag` and at `clean`, says so, and waits for somebody to write into a pipe.
const GIT: &str = r#"case "$*" in
*version*) echo git version 2.47.3; exit;;
*" tag "*|*" clean "*) ;;
*) exit;;
esac
cd "$GIT_WORK_TREE"
for file in .git/config .git/hooks/pre-commit .git/hooks/own .git/info/attributes .git/modules/sub/config \
    toolsd.toml .toolsd/tools.d/evil.toml; do
    printf evil 2>/dev/null >> $file
done
[ -e .git/stays ] && trap '' TERM
printf index > .git/index.lock
printf '' > .git/HEAD.lock
printf $$ > .git/number
printf '' > .git/planted
read line < wait
"#;

/// What it can plant by each verb; what was there has a text.
const OF_TAG: [(&str, Option<&str>); 5] = [
    (".git/config", Some("")),
    (".git/hooks/own", Some("#!/bin/sh\n")),
    (".git/hooks/pre-commit", None),
    (".git/info/attributes", None),
    (".git/modules/sub/config", Some("[core]\n")),
];
const OF_CLEAN: [(&str, Option<&str>); 2] = [("toolsd.toml", None), (".toolsd/tools.d/evil.toml", None)];

struct Killed {
    yard: Yard,
    before: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl Killed {
    fn new(verb: &str) -> Self {
        Self::with_settings(verb, None)
    }

    /// With what a file `toolsd.toml` says that is there before.
    fn with_settings(verb: &str, settings: Option<&str>) -> Self {
        let yard = Yard::with_repository();
        if let Some(settings) = settings {
            yard.put("toolsd.toml", settings);
        }
        yard.put(".git/hooks/own", "#!/bin/sh\n");
        yard.put(".git/modules/sub/HEAD", "ref: refs/heads/main\n");
        yard.put(".git/modules/sub/config", "[core]\n");
        yard.put(".toolsd/tools.d/own.toml", "");
        let _of_the_template = fs::remove_file(yard.workspace().join(".git/info/attributes"));
        assert!(Command::new("mkfifo").arg(yard.workspace().join("wait")).status().unwrap().success());
        let bin = yard.at("bin");
        yard.program("bin/git", GIT);
        assert!(bin.join("git").exists());
        let all: Vec<_> =
            if verb == "clean" { OF_TAG.iter().chain(&OF_CLEAN).collect() } else { OF_TAG.iter().collect() };
        let before = all.iter().map(|(name, text)| {
            let at = yard.workspace().join(name);
            let bytes = fs::read(&at).ok();
            assert_eq!(bytes.is_some(), text.is_some() || (settings.is_some() && *name == "toolsd.toml"), "{name}");
            (at, bytes)
        });
        let before = before.collect();
        Self { yard, before }
    }

    fn command(&self, words: &[&str], with: &str) -> Command {
        let mut command = self.yard.command(words);
        command.env("PATH", format!("{with}{}", std::env::var("PATH").unwrap()));
        command
    }

    /// Starts a call, and waits until git has planted.
    fn begin(&self, verb: &str) -> (Child, u32) {
        let options = if verb == "tag" { json!({ "name": "x" }) } else { json!({ "paths": ["."], "folders": true }) };
        let question = json!({ "verb": verb, "options": options }).to_string();
        let with = format!("{}:", self.yard.at("bin").display());
        let mut command = self.command(&["call", "act_git", &question], &with);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_until(|| self.yard.workspace().join(".git/planted").exists(), "git does not plant");
        let number = fs::read_to_string(self.yard.workspace().join(".git/number")).unwrap();
        (child, number.parse().unwrap())
    }

    fn is_right(&self) -> Vec<String> {
        let wrong = self.before.iter().filter(|(at, bytes)| fs::read(at).ok() != *bytes);
        wrong.map(|(at, _)| at.display().to_string()).collect()
    }

    fn journals(&self) -> usize {
        fs::read_dir(self.yard.at("state/toolsd/programs")).map_or(0, Iterator::count)
    }
}

fn wait_until(mut is_so: impl FnMut() -> bool, otherwise: &str) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "{otherwise}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn is_alive(number: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &child.id().to_string()]).status().unwrap().success());
}

//= docs/spec.md#git
//= type=test
//# What git of a killed host made or changed without being asked MUST be put right before anything of a workspace is used again, and told.
//= docs/spec.md#programs
//= type=test
//# No program MUST outlive the host, nor anything that it started, however the host ends.
//= docs/spec.md#programs
//= type=test
//# A command that SIGINT or SIGTERM ends MUST end its programs, and put right what they made, before it is gone.
#[test]
fn what_git_of_an_ended_host_planted_is_put_right_whatever_the_verb() {
    for (way, verb) in [("KILL", "tag"), ("KILL", "clean"), ("TERM", "tag"), ("INT", "clean"), ("", "clean")] {
        let settings = way.is_empty().then_some("[limits]\ntime_ms = 3000\n");
        let killed = Killed::with_settings(verb, settings);
        let (mut child, git) = killed.begin(verb);
        assert_eq!(killed.is_right().len(), killed.before.len(), "void: {way} {verb}: not all is planted");
        assert!(is_alive(git) && killed.journals() == 1, "{way} {verb}");
        // Without a signal, the time of the call ends it.
        if !way.is_empty() {
            signal(&child, way);
        }
        child.wait().unwrap();
        wait_until(|| !is_alive(git), "git outlives its host");
        let is_orderly = ["TERM", "INT", ""].contains(&way);
        if is_orderly {
            assert_eq!(killed.is_right(), [""; 0], "{way} {verb}");
            assert_eq!(killed.journals(), 0, "{way} {verb}");
            continue;
        }
        let next = killed.command(&["list"], "").env("TOOLSD_LOG", "warn").output().unwrap();
        let told = String::from_utf8_lossy(&next.stderr).into_owned();
        assert_eq!(killed.is_right(), [""; 0], "{way} {verb}: {told}");
        assert_eq!(killed.journals(), 0, "{told}");
        for (at, _) in &killed.before {
            assert!(told.contains(at.to_str().unwrap()), "{way} {verb}: {} is not told: {told}", at.display());
        }
        // An empty one, too, may be another one's.
        let empty = killed.yard.workspace().join(".git/HEAD.lock");
        assert!(empty.exists() && told.contains("HEAD.lock`: if no git runs, remove it"), "{told}");
        // It is told as long as it is there, and nobody takes it away.
        let lock = killed.yard.workspace().join(".git/index.lock");
        let doctor = |killed: &Killed| {
            let output = killed.command(&["doctor"], "").output().unwrap();
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        assert!(lock.exists() && doctor(&killed).contains("index.lock"), "{told}");
        fs::remove_file(lock).unwrap();
        assert!(!doctor(&killed).contains("index.lock"));
    }
}

#[test]
fn the_next_git_of_a_living_host_starts_from_what_was_there() {
    let killed = Killed::new("clean");
    let (mut child, git) = killed.begin("clean");
    child.kill().unwrap();
    child.wait().unwrap();
    wait_until(|| !is_alive(git), "git outlives its host");
    fs::remove_file(killed.yard.workspace().join(".git/index.lock")).unwrap();
    killed.yard.act("tag", &json!({ "name": "y" }));
    assert_eq!(killed.is_right(), [""; 0]);
    assert!(Path::new(&killed.yard.at("state/toolsd/programs")).is_dir() && killed.journals() == 0);
}

#[test]
fn a_git_that_does_not_end_is_told_and_looked_at_when_it_has_ended() {
    let killed = Killed::new("tag");
    killed.yard.put(".git/stays", "");
    let (mut child, git) = killed.begin("tag");
    child.kill().unwrap();
    child.wait().unwrap();
    let next = |killed: &Killed| {
        let output = killed.command(&["list"], "").env("TOOLSD_LOG", "warn").output().unwrap();
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let told = next(&killed);
    assert!(is_alive(git) && told.contains("is at work still") && killed.journals() == 1, "{told}");
    fs::write(killed.yard.workspace().join("wait"), "on\n").unwrap();
    wait_until(|| !is_alive(git), "git does not end");
    let told = next(&killed);
    assert_eq!(killed.is_right(), [""; 0], "{told}");
    assert_eq!(killed.journals(), 0, "{told}");
}
