//! Ordinary programs in ordinary uses: confined, with a fitting grant, each does what it does without. Otherwise the
//! difference is reported.

use crate::house::{House, command_of, granted};
use serde::Deserialize;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command as Plain, Stdio};
use std::time::Duration;
use toolsd::world::Programs;
use toolsd::world::run::{GitAccess, ProgramCommand, ProgramGrant, ProgramOutput};

/// The lines that are run.
#[derive(Deserialize)]
struct Table {
    lines: Vec<String>,
    of_bash: Vec<String>,
    more: Vec<Line>,
    started: Vec<Line>,
}

/// A line that needs a program, what it may start, and its output.
#[derive(Deserialize)]
struct Line {
    program: String,
    line: String,
    #[serde(default)]
    start: Vec<String>,
    #[serde(default)]
    says: String,
}

fn table() -> Table {
    toml::from_str(include_str!("ordinary.toml")).unwrap()
}

fn fill(house: &House) {
    let mut shell = Plain::new("sh");
    assert!(shell.args(["-c", include_str!("ordinary.sh")]).current_dir(house.workspace()).status().unwrap().success());
}

/// The output of a line, and what it left in `out`: names, modes and bytes.
type Effects = (i64, String, String, Vec<(String, u32, Vec<u8>)>);

fn left(folder: &Path) -> Vec<(String, u32, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let known = fs::symlink_metadata(entry.path()).unwrap();
        let name = entry.file_name().into_string().unwrap();
        // Archives and databases hold times.
        let bytes = if known.is_file() && !name.contains(".t") && !name.contains(".gz") && name != "d" && name != "m" {
            fs::read(entry.path()).unwrap()
        } else {
            Vec::new()
        };
        found.push((name, known.mode(), bytes));
        if known.is_dir() {
            found.extend(left(&entry.path()));
        }
    }
    found.sort();
    found
}

fn plain(house: &House, program: &str, line: &str) -> Effects {
    fill(house);
    let output =
        Plain::new(program).args(["-c", line]).current_dir(house.workspace()).stdin(Stdio::null()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().or(output.status.signal().map(|signal| 128 + signal)).map_or(-1, i64::from);
    (code, text(&output.stdout), text(&output.stderr), left(&house.workspace().join("out")))
}

fn run(house: &House, program: &str, line: &str) -> ProgramOutput {
    try_run(house, program, line).unwrap()
}

fn try_run(house: &House, program: &str, line: &str) -> toolsd::diagnostic::Result<ProgramOutput> {
    try_run_with(house, ProgramGrant { program: program.to_owned(), ..ProgramGrant::default() }, line)
}

fn try_run_with(house: &House, grant: ProgramGrant, line: &str) -> toolsd::diagnostic::Result<ProgramOutput> {
    let time = Duration::from_secs(120);
    let command = ProgramCommand { time, ..command_of(&grant.program, &["-c", line]) };
    granted(house, &["out"], GitAccess::None, grant).run(&command)
}

fn confined(house: &House, program: &str, line: &str) -> Effects {
    fill(house);
    let ran = run(house, program, line);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (ran.code, text(&ran.output), text(&ran.errors), left(&house.workspace().join("out")))
}

/// Whether a program is installed, and as one of the system: a program that a user installed needs separate grants.
fn is_there(name: &str) -> bool {
    let found = Plain::new("which").arg(name).output().unwrap();
    let real = fs::canonicalize(String::from_utf8_lossy(&found.stdout).trim());
    let is_systems = real.is_ok_and(|real| real.starts_with("/usr"));
    if !is_systems {
        eprintln!("skipped: `{name}` is not installed in `/usr`");
    }
    is_systems
}

#[test]
fn ordinary_programs_do_what_they_do() {
    let house = House::new();
    let table = table();
    let more = table.more.iter().filter(|more| is_there(&more.program)).map(|more| ("sh", &more.line));
    let of_bash = table.of_bash.iter().map(|line| ("bash", line));
    let lines: Vec<(&str, &String)> = table.lines.iter().map(|line| ("sh", line)).chain(of_bash).chain(more).collect();
    let mut differ = Vec::new();
    for (program, line) in crate::support::sample(lines, 15) {
        let (plain, confined) = (plain(&house, program, line), confined(&house, program, line));
        if plain != confined {
            differ.push(format!("{line}\n  plain:    {plain:?}\n  confined: {confined:?}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

//= docs/spec.md#programs
//= type=test
//# A program MUST NOT be granted to start programs from a folder where the pack can write.
#[test]
fn programs_start_those_that_their_grant_names() {
    let house = House::new();
    fill(&house);
    fs::create_dir_all(house.workspace().join("made")).unwrap();
    let texts = |list: &[&str]| list.iter().map(|at| (*at).to_owned()).collect::<Vec<_>>();
    let grant = |start: &[&str]| ProgramGrant {
        program: "sh".to_owned(),
        start: texts(start),
        write: Some(texts(&["made"])),
        ..ProgramGrant::default()
    };
    for Line { line, start, says, .. } in table().started.iter().filter(|one| is_there(&one.program)) {
        let start: Vec<&str> = start.iter().map(String::as_str).collect();
        let ran = try_run_with(&house, grant(&start), line).unwrap();
        let errors = String::from_utf8_lossy(&ran.errors);
        assert_eq!((ran.code, String::from_utf8_lossy(&ran.output).trim()), (0, says.as_str()), "{line}: {errors}");
        let ran = try_run_with(&house, grant(&["nothing"]), line).unwrap();
        assert_ne!(ran.code, 0, "{line} is started by everybody");
    }
    // The pack itself may write `out`.
    for start in ["out", ".", "out/deep", "**"] {
        let error = try_run_with(&house, grant(&[start]), "true").unwrap_err();
        assert!(error.message.contains("and the pack may write `out`"), "{start}: {error}");
    }
}

//= docs/spec.md#programs
//= type=test
//# A program that fails because of its confinement MUST be reported with what it may access and the grant
//# that allows it.
#[test]
fn refusals_are_reported_once_with_the_grants() {
    let house = House::new();
    fill(&house);
    for line in [
        "echo x > elsewhere",
        "cat /etc/shadow",
        "cp /usr/bin/true out/t; out/t",
        "no-such-program",
        "mktemp -p /tmp x.XXX",
        "exit 1",
    ] {
        let ran = run(&house, "sh", line);
        let reported: Vec<&String> = ran.notes.iter().filter(|note| note.contains("ran confined")).collect();
        assert_eq!(reported.len(), 1, "{line}: {:?} {}", ran.notes, String::from_utf8_lossy(&ran.errors));
        for part in ["read `.`", "wrote `out`", "had no network", "run = [{ program = \"sh\""] {
            assert!(reported[0].contains(part), "{line}: {}", reported[0]);
        }
        let mut once = ran.notes.clone();
        once.dedup();
        assert_eq!(once.len(), ran.notes.len(), "{:?}", ran.notes);
    }
    assert_eq!(run(&house, "sh", "cat a.txt").notes, [""; 0]);
}

//= docs/spec.md#programs
//= type=test
//# A program MUST have limits of memory, file size, number of processes and output.
#[test]
fn a_program_that_prints_without_end_is_ended_when_it_printed_too_much() {
    let house = House::new();
    for line in ["yes", "yes >&2", "yes & yes"] {
        let error = try_run(&house, "sh", line).unwrap_err();
        assert!(error.message.contains("printed more than 1024 kB and was stopped"), "{line}: {error}");
    }
}

//= docs/spec.md#robustness
//= type=test
//# The folders that toolsd creates for itself MUST be accessible only to the user, whatever the umask is.
#[test]
fn programs_and_git_work_with_any_umask() {
    for umask in ["000", "002", "077"] {
        let house = House::new();
        house.write(
            "layer/tools.d/both.toml",
            "[pack]\ntitle = \"Both\"\nversion = \"1.0.0\"\ngrants = { read = [\".\"], write = [\"out\"], run = [\"sh\"], git = \"write\" }\n\
             [[tool]]\nname = \"both\"\ndescription = \"Runs a program, commits, and takes a lock.\"\neffect = \"runs\"\n",
        );
        house.write(
            "layer/tools.d/both.rhai",
            "fn both(args) {\n    let said = run(\"sh\", [\"-c\", \"echo ran\"]).line;\n    \
             git(\"branch\", #{ name: `b${now_ms()}` });\n    with_lock(\"one\", |left| said)\n}\n",
        );
        house.write("workspace/out/kept", "");
        let git = |words: &[&str]| {
            let done = Plain::new("git").args(words).current_dir(house.workspace()).output().unwrap();
            assert!(done.status.success(), "{done:?}");
        };
        git(&["init", "-q"]);
        git(&["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "--allow-empty", "-m", "a"]);
        // A later call, with another umask too, finds what the first one made.
        for (number, umask) in [umask, umask, "022"].iter().enumerate() {
            let plain = house.command(&["call", "both", "--dir", "../layer"]);
            let mut command = Plain::new("sh");
            command.args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")]).arg(plain.get_program());
            command.args(plain.get_args()).current_dir(house.workspace());
            command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let done = command.output().unwrap();
            let reported = String::from_utf8_lossy(&done.stderr).into_owned();
            assert_eq!(String::from_utf8_lossy(&done.stdout).trim(), "ran", "{umask}, {number}: {reported}");
        }
    }
}

//= docs/spec.md#programs
//= type=test
//# A program MUST be able to read and start what belongs to its installation.
#[test]
fn a_program_has_its_own_installation() {
    // As `pyenv`, `nvm` and `npm` lay them out: a link in one `bin` leads to another one.
    let house = House::new();
    let at = |name: &str| house.parent().join(name);
    house.write("tools/node/lib/helper.sh", "echo helped\n");
    house.write("tools/node/secret-of-others", "");
    fs::create_dir_all(at("tools/node/bin")).unwrap();
    fs::create_dir_all(at("home/.local/bin")).unwrap();
    fs::create_dir_all(at("home/.local/share")).unwrap();
    house.write("home/.local/share/keyring", "the secret\n");
    let own = at("tools/node");
    let line = format!(
        "#!/bin/sh\n. {0}/lib/helper.sh\n{0}/bin/other\ncat {1}\n",
        own.display(),
        at("home/.local/share/keyring").display()
    );
    crate::house::put_program(&at("tools/node/bin/tool"), &line);
    crate::house::put_program(&at("tools/node/bin/other"), "#!/bin/sh\necho started\n");
    let link = at("home/.local/bin/tool");
    std::os::unix::fs::symlink(at("tools/node/bin/tool"), &link).unwrap();
    let grant = ProgramGrant { program: link.to_str().unwrap().to_owned(), ..ProgramGrant::default() };
    let command = ProgramCommand { program: grant.program.clone(), ..crate::house::command_of("sh", &[]) };
    let ran = granted(&house, &["out"], GitAccess::None, grant).run(&command).unwrap();
    let said = String::from_utf8_lossy(&ran.output).into_owned();
    assert!(said.contains("helped") && said.contains("started") && !said.contains("the secret"), "{said} {ran:?}");
}
