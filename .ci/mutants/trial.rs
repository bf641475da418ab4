//! Builds the scratch tree and runs its tests: once without a mutant, then once for each.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How much memory a mutant may map: one that grows without end fails in place of the machine.
const MEMORY_KB: u64 = 12_000_000;

/// How cargo and the tests are started.
pub struct Runner {
    /// The scratch tree.
    pub folder: PathBuf,
    /// The target folder, kept between runs.
    pub target: PathBuf,
    /// A command through which every heavy one runs, such as `nice`.
    pub through: Option<String>,
}

/// A mistake of a build: where it is, and what rustc says.
pub struct Mistake {
    /// The file, from the root of the tree.
    pub file: PathBuf,
    /// The byte at which it begins.
    pub byte: usize,
    /// The message.
    pub message: String,
}

/// One executable of tests.
pub struct Suite {
    /// `lib`, or the name of a file in `tests`.
    pub name: String,
    /// The executable.
    pub executable: PathBuf,
    /// The mutants that it reaches.
    pub reached: BTreeSet<usize>,
    /// Tests that fail without a mutant as well; they judge nothing.
    pub failing: Vec<String>,
    /// How long it took without a mutant.
    pub took: Duration,
}

/// How a run of tests ended.
#[derive(PartialEq, Eq)]
pub enum Ended {
    /// All of them passed.
    Passed,
    /// This one failed first.
    Failed(String),
    /// The process died.
    Died,
    /// They did not end in time.
    TimedOut,
}

impl Runner {
    fn command(&self, words: &[String]) -> Command {
        let mut all: Vec<String> =
            self.through.iter().flat_map(|words| words.split_whitespace()).map(str::to_owned).collect();
        all.extend(words.iter().cloned());
        let (program, rest) = all.split_first().expect("a command has a first word");
        let mut command = Command::new(program);
        command.args(rest).current_dir(&self.folder).env("CARGO_TARGET_DIR", &self.target).stdin(Stdio::null());
        command
    }

    fn cargo(&self, words: &[&str]) -> io::Result<(bool, Vec<Value>)> {
        let mut all = vec!["cargo".to_owned()];
        all.extend(words.iter().map(|word| (*word).to_owned()));
        all.push("--message-format=json".to_owned());
        let output = self.command(&all).stderr(Stdio::null()).output()?;
        let messages =
            output.stdout.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect();
        Ok((output.status.success(), messages))
    }

    /// What rustc refuses in the library.
    pub fn check(&self) -> io::Result<Vec<Mistake>> {
        let (good, messages) = self.cargo(&["check", "--lib"])?;
        let mistakes: Vec<Mistake> = messages.iter().filter_map(mistake).collect();
        if !good && mistakes.is_empty() {
            return Err(io::Error::other(format!(
                "`cargo check --lib` failed in {} and named no place",
                self.folder.display()
            )));
        }
        Ok(mistakes)
    }

    /// The executables of the named tests.
    pub fn build(&self, names: &[String]) -> io::Result<Vec<Suite>> {
        let mut words = vec!["test", "--no-run"];
        for name in names {
            match name.as_str() {
                "lib" => words.push("--lib"),
                name => words.extend(["--test", name]),
            }
        }
        let (good, messages) = self.cargo(&words)?;
        if !good {
            let mistakes: Vec<String> = messages.iter().filter_map(mistake).map(|mistake| mistake.message).collect();
            return Err(io::Error::other(format!(
                "the tests do not build in {}: {}",
                self.folder.display(),
                mistakes.join("; ")
            )));
        }
        let suites = messages.iter().filter_map(|message| {
            let executable = message.get("executable")?.as_str()?;
            message.get("profile")?.get("test")?.as_bool().filter(|test| *test)?;
            let name = message.get("target")?.get("name")?.as_str()?;
            let kind = message.get("target")?.get("kind")?.get(0)?.as_str()?;
            Some(Suite {
                name: if kind == "test" { name.to_owned() } else { "lib".to_owned() },
                executable: executable.into(),
                reached: BTreeSet::new(),
                failing: Vec::new(),
                took: Duration::ZERO,
            })
        });
        let mut suites: Vec<Suite> = suites.collect();
        suites.sort_by_key(|suite| names.iter().position(|name| *name == suite.name));
        Ok(suites)
    }

    /// The run without a mutant: which mutants the tests reach, which tests fail anyway, and how long they take.
    pub fn without_mutant(&self, suite: &mut Suite, reached: &Path) -> io::Result<()> {
        drop(fs::remove_dir_all(reached));
        fs::create_dir_all(reached)?;
        let start = Instant::now();
        let mut command = self.command(&[suite.executable.display().to_string()]);
        let output = command.env("MUTANTS_REACHED", reached).stderr(Stdio::null()).output()?;
        suite.took = start.elapsed();
        let reported = String::from_utf8_lossy(&output.stdout);
        suite.failing = reported.lines().filter_map(failed_test).map(str::to_owned).collect();
        if !output.status.success() && suite.failing.is_empty() {
            return Err(io::Error::other(format!("`{}` fails without a mutant, and names no test", suite.name)));
        }
        for entry in fs::read_dir(reached)? {
            suite.reached.extend(entry?.file_name().to_str().and_then(|name| name.parse::<usize>().ok()));
        }
        Ok(())
    }

    /// The run with one mutant, until the first test fails; `filter` names some of the tests. A test that fails among
    /// others and not alone says something about the load of the machine, and nothing about the mutant: the run is
    /// repeated without it.
    pub fn with_mutant(&self, suite: &Suite, number: usize, filter: Option<&str>) -> io::Result<Ended> {
        let mut skipped = suite.failing.clone();
        loop {
            let skip = skipped.iter().flat_map(|test| ["--skip", test]);
            match self.run(suite, number, &filter.into_iter().chain(skip).collect::<Vec<_>>())? {
                Ended::Failed(test) if self.run(suite, number, &[&test, "--exact"])? == Ended::Passed => {
                    skipped.push(test);
                }
                end => return Ok(end),
            }
        }
    }

    fn run(&self, suite: &Suite, number: usize, arguments: &[&str]) -> io::Result<Ended> {
        let limited = format!("ulimit -v {MEMORY_KB}; exec \"$@\"");
        let mut words: Vec<String> = ["sh", "-c", &limited, "sh"].map(str::to_owned).to_vec();
        words.push(suite.executable.display().to_string());
        words.extend(arguments.iter().map(|word| (*word).to_owned()));
        let mut command = self.command(&words);
        command.env("MUTANT", number.to_string()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
        let mut child = command.spawn()?;
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("the tests have no standard output"))?;
        let (send, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let ended = follow(&lines, suite.took * 3 + Duration::from_secs(30));
        if !matches!(ended, Some(Ended::Passed)) {
            let group = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw);
            if let Some(group) = group {
                // It may have ended by itself meanwhile.
                rustix::process::kill_process_group(group, rustix::process::Signal::KILL).ok();
            }
        }
        let status = child.wait()?;
        Ok(match ended {
            Some(Ended::Passed) if !status.success() => Ended::Died,
            Some(ended) => ended,
            None => Ended::Died,
        })
    }
}

/// Reads what libtest says. The time runs from its first line, since a command may wait for its turn.
fn follow(lines: &mpsc::Receiver<String>, limit: Duration) -> Option<Ended> {
    let mut until: Option<Instant> = None;
    loop {
        let line = match until {
            None => lines.recv().ok()?,
            Some(until) => match lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => line,
                Err(mpsc::RecvTimeoutError::Timeout) => return Some(Ended::TimedOut),
                Err(mpsc::RecvTimeoutError::Disconnected) => return None,
            },
        };
        until.get_or_insert_with(|| Instant::now() + limit);
        if let Some(test) = failed_test(&line) {
            return Some(Ended::Failed(test.to_owned()));
        }
        if line.starts_with("test result: ok") {
            return Some(Ended::Passed);
        }
    }
}

fn failed_test(line: &str) -> Option<&str> {
    line.strip_prefix("test ")?.strip_suffix(" ... FAILED")
}

fn mistake(message: &Value) -> Option<Mistake> {
    let message = message.get("message")?;
    message.get("level")?.as_str().filter(|level| *level == "error")?;
    let span = message.get("spans")?.as_array()?.iter().find(|span| span["is_primary"] == true)?;
    Some(Mistake {
        file: span.get("file_name")?.as_str()?.into(),
        byte: usize::try_from(span.get("byte_start")?.as_u64()?).ok()?,
        message: message.get("message")?.as_str()?.to_owned(),
    })
}
