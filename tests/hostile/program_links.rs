//! Programs that a pack could write, under every kind of name that leads to them.

use crate::house::{House, command_of, copy_program, granted};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use toolsd::diagnostic::Result;
use toolsd::world::Programs;
use toolsd::world::disk::Disk;
use toolsd::world::run::{Confinement, GitAccess, ProgramCommand, ProgramGrant, ProgramOutput};

/// How a program outside of the workspace leads to `src/tool` in it: what a shell makes in the parent folder, and the
/// program.
const KINDS: &[(&str, &str, &str)] = &[
    ("itself", "", "workspace/src/tool"),
    ("a link", "ln -s ../workspace/src/tool bin/tool", "bin/tool"),
    ("a chain", "ln -s second bin/tool; ln -s ../workspace/src/tool bin/second", "bin/tool"),
    ("a link of a folder", "ln -s ../workspace/src bin/more", "bin/more/tool"),
    ("a link inside", "ln -sf /usr/bin/true workspace/src/tool; ln -s ../workspace/src/tool bin/tool", "bin/tool"),
    ("a hard link", "ln workspace/src/tool bin/tool", "bin/tool"),
    ("an interpreter", "echo '#!'$PWD/workspace/src/tool > bin/tool; chmod 755 bin/tool", "bin/tool"),
    (
        "an interpreter by env",
        "echo '#!/usr/bin/env -S '$PWD/workspace/src/tool > bin/tool; chmod 755 bin/tool",
        "bin/tool",
    ),
];

/// What the pack may write, what its program may write, and whether that has the program.
const GRANTS: &[(&str, &str, bool)] = &[
    ("out", "out", false),
    ("src", "out", true),
    ("src/*", "out", true),
    ("**", "out", true),
    ("out", "src", true),
    ("out", ".", true),
];

/// Creates a house with such a program. Returns its path.
fn made(line: &str, program: &str) -> (House, PathBuf) {
    let house = House::new();
    let make = format!("mkdir -p bin workspace/src workspace/out; cp /usr/bin/true workspace/src/tool; {line}");
    assert!(Command::new("sh").args(["-c", &make]).current_dir(house.parent()).status().unwrap().success(), "{line}");
    let program = house.parent().join(program);
    (house, program)
}

fn run(house: &House, program: &str, pack: &str, own: &str) -> Result<ProgramOutput> {
    let grant =
        ProgramGrant { program: program.to_owned(), write: Some(vec![own.to_owned()]), ..ProgramGrant::default() };
    granted(house, &[pack], GitAccess::None, grant).run(&command_of(program, &[]))
}

//= docs/spec.md#programs
//= type=test
//# A program that the pack can write MUST NOT be run, neither by name, nor through a link, nor as an
//# interpreter.
#[test]
fn no_name_leads_to_a_program_that_the_pack_writes() {
    for (kind, line, program) in KINDS {
        let (house, program) = made(line, program);
        for (pack, own, has_it) in GRANTS {
            match (has_it, run(&house, program.to_str().unwrap(), pack, own)) {
                // Without a grant for any part of it, it runs: the refusals below are due to the grant.
                (false, ran) => assert_eq!(ran.unwrap().code, 0, "{kind} {pack}"),
                (true, Err(error)) => assert!(error.message.contains("the pack may write"), "{kind}: {error}"),
                (true, Ok(_)) => panic!("{kind} {pack} {own}: a program that the pack may write ran"),
            }
        }
    }
}

//= docs/spec.md#programs
//= type=test
//# A program MUST be found in the server's own `PATH`, at a location that only root and the user can write,
//# and never by a relative path.
#[test]
fn a_program_that_everybody_could_change_is_not_run() {
    for (kind, line, program) in KINDS.iter().filter(|(kind, ..)| *kind != "a link inside") {
        let (house, program) = made(line, program);
        fs::set_permissions(house.workspace().join("src/tool"), fs::Permissions::from_mode(0o777)).unwrap();
        let error = run(&house, program.to_str().unwrap(), "out", "out").unwrap_err();
        assert!(error.message.contains("everybody on this machine can change"), "{kind}: {error}");
        assert!(error.help.unwrap().starts_with("chmod o-w "), "{kind}");
    }
}

#[test]
fn unresolved_programs_are_reported() {
    for (line, program, why) in [
        ("", "bin/tool", "`bin/tool` is not a valid name of a program"),
        ("", "no-such-program", "there is no program `no-such-program`"),
        ("echo '#!bin/sh' > bin/tool; chmod 755 bin/tool", "HERE/bin/tool", "by the relative path `bin/sh`"),
        ("echo '#!/no/such' > bin/tool; chmod 755 bin/tool", "HERE/bin/tool", "`/no/such`, which does not exist"),
        ("ln -s tool bin/tool", "HERE/bin/tool", "more than 40 symlinks"),
    ] {
        let (house, _) = made(line, "");
        let program = program.replace("HERE", house.parent().to_str().unwrap());
        let error = run(&house, &program, "out", "out").unwrap_err();
        assert!(error.message.contains(why), "{program}: {error}");
    }
}

//= docs/spec.md#programs
//= type=test
//# The file that is executed MUST be the file that was checked.
#[test]
fn a_program_that_is_another_one_by_the_time_it_starts_is_not_started() {
    let house = House::new();
    let tool = house.parent().join("tool");
    copy_program("/usr/bin/true", &tool);
    let disk = Disk::new(house.workspace().to_str().unwrap(), []).unwrap();
    let judged = disk.program(tool.to_str().unwrap()).unwrap();
    // Another program replaces it before it starts.
    copy_program("/usr/bin/false", &house.parent().join("other"));
    fs::rename(house.parent().join("other"), &tool).unwrap();
    let confinement = Confinement { judged: Some(judged), ..Confinement::default() };
    let command = ProgramCommand { confinement, ..command_of(tool.to_str().unwrap(), &[]) };
    let error = disk.run(&command).unwrap_err();
    assert!(error.message.contains("changed while it was looked at"), "{error}");
}
