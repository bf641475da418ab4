//! What is reported to the user, what is refused, and the profile of macOS as text.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::world::Programs;
use crate::world::disk::Disk;
use crate::world::disk::roots::Roots;
use crate::world::run::{ChildProcesses, Confinement, ExecutedFile, RequiredGrant};
use std::time::Duration;

fn command(program: &str, arguments: &[&str], needs: RequiredGrant) -> ProgramCommand {
    ProgramCommand {
        program: program.to_owned(),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        folder: ".".to_owned(),
        input: Vec::new(),
        env: Vec::new(),
        time: Duration::from_secs(60),
        most: 1 << 20,
        needs,
        confinement: Confinement::default(),
        stop: || Ok(()),
    }
}

fn status(sandbox: Sandbox, landlock: u32, lacks: Option<&str>) -> SandboxStatus {
    let mechanisms = Mechanisms { landlock, seccomp: true, seatbelt: false, lacks: lacks.map(str::to_owned) };
    SandboxStatus { sandbox, mechanisms }
}

//= docs/spec.md#programs
//= type=test
//# Where the system cannot confine programs as required, `run` and git that changes something MUST be
//# refused, unless the user allows them.
#[test]
fn without_a_mechanism_programs_are_refused_unless_the_user_allows_them() {
    let folder = tempfile::tempdir().unwrap();
    let none = Some("this kernel has no Landlock");
    let disk = |sandbox| Disk::new(folder.path().to_str().unwrap(), []).unwrap().with_sandbox(status(sandbox, 0, none));
    let refusing = disk(Sandbox::Require);
    let error = refusing.run(&command("true", &[], RequiredGrant::Program)).unwrap_err();
    assert_eq!(error.message, "this kernel has no Landlock: run is refused");
    assert!(error.help.unwrap().contains("--sandbox off"));
    let error = refusing.run(&command("git", &["--version"], RequiredGrant::WriteGit)).unwrap_err();
    assert_eq!(error.message, "this kernel has no Landlock: git that changes something is refused");
    assert_eq!(refusing.run(&command("git", &["--version"], RequiredGrant::ReadGit)).unwrap().code, 0);
    for sandbox in [Sandbox::BestEffort, Sandbox::Off] {
        let ran = disk(sandbox).run(&command("true", &[], RequiredGrant::Program)).unwrap();
        assert_eq!(ran.code, 0, "{sandbox:?}: {}", String::from_utf8_lossy(&ran.errors));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_kernel_that_has_less_than_was_asked_starts_nothing() {
    // The newest version that is known: where the kernel has it, there is nothing less to be had.
    let newest = 9;
    if system_mechanisms().landlock >= newest {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let disk = Disk::new(folder.path().to_str().unwrap(), []).unwrap();
    let error =
        disk.with_sandbox(status(Sandbox::Require, newest, None)).run(&command("true", &[], RequiredGrant::Program));
    assert!(error.unwrap_err().message.starts_with("`true` cannot be confined: "));
}

//= docs/spec.md#programs
//= type=test
//# The file that is executed MUST be the file that was checked.
#[test]
#[cfg(target_os = "linux")]
fn a_file_that_is_not_the_one_that_was_judged_is_not_executed() {
    use std::os::unix::fs::MetadataExt;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_str().unwrap();
    let roots = Roots::new(at, [], []).unwrap();
    let path = std::fs::canonicalize("/usr/bin/true").unwrap().to_str().unwrap().to_owned();
    let known = std::fs::metadata(&path).unwrap();
    for (identity, is_it) in [((known.dev(), known.ino()), true), ((known.dev(), known.ino() + 1), false)] {
        let files = [ExecutedFile { path: path.clone(), identity, names: 1 }];
        let start = ProgramStart {
            path: &path,
            files: &files,
            name: "true",
            arguments: &[],
            env: &[],
            folder: at,
            confinement: &Confinement { processes: ChildProcesses::Any, ..Confinement::default() },
            temporary: Some(at),
            is_git: false,
            roots: &roots,
        };
        match super::start(&sandbox_status(), &start, &command("true", &[], RequiredGrant::Program)) {
            Ok(started) => {
                assert!(is_it);
                let _ended = rustix::process::waitpid(Some(started.pid), rustix::process::WaitOptions::empty());
            }
            Err(error) => assert!(!is_it && error.message.contains("changed while it was looked at"), "{error}"),
        }
    }
}

#[test]
fn the_status_says_what_holds_and_what_to_do() {
    let none = Some("this kernel has no Landlock");
    let said = |sandbox, landlock, lacks| status(sandbox, landlock, lacks).to_string();
    assert_eq!(said(Sandbox::Require, 7, None), "landlock 7, seccomp; programs are confined");
    let refused = "seccomp (this kernel has no Landlock); run and git writes are refused; --sandbox off allows them";
    assert_eq!(said(Sandbox::Require, 0, none), refused);
    assert!(said(Sandbox::BestEffort, 0, none).contains("--sandbox best-effort"));
    assert_eq!(said(Sandbox::Off, 7, None), "off (--sandbox off); programs are not confined");
    assert!(status(Sandbox::BestEffort, 7, None).is_confining() && !status(Sandbox::Off, 7, None).is_confining());
}

#[test]
fn the_profile_of_macos_denies_first_and_takes_protected_names_out() {
    let confinement = Confinement {
        read: vec!["/w".into()],
        write: vec!["/w/out".into(), "/w/a\"b".into()],
        processes: ChildProcesses::None,
        ..Confinement::default()
    };
    let profile = macos::profile("/usr/bin/x", Some("/tmp/own"), &confinement);
    let line = |part: &str| profile.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("{part}"));
    assert_eq!(line("(deny default)"), 1);
    assert!(line(r#"(subpath "/w/a\"b")"#) < line(r"(deny file-write* (regex"));
    assert!(line("(allow process-exec (literal \"/usr/bin/x\"))") > line(r#"(subpath "/tmp/own")"#));
    assert!(!profile.contains("process-fork") && !profile.contains("network"));
    assert_eq!(profile.matches('(').count(), profile.matches(')').count(), "{profile}");
    let more =
        Confinement { processes: ChildProcesses::Any, network: true, write: vec!["/w/.git".into()], ..confinement };
    let profile = macos::profile("/usr/bin/x", Some("/tmp/own"), &more);
    assert!(profile.contains("(allow process-fork)") && profile.contains("(allow network-outbound (remote ip))"));
    assert!(profile.contains("(allow file-write* (subpath \"/w/.git\"))"));
}
