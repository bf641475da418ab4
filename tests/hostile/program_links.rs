//! Programs that a pack could write, under every kind of name that leads to them.

use crate::house::{House, command_of, copy_program, granted, put_program};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use toolsd::diagnostic::Result;
use toolsd::world::Programs;
use toolsd::world::run::{GitAccess, ProgramGrant, ProgramOutput};

/// How the program that is granted leads into the workspace.
const KINDS: [&str; 15] = [
    "itself",
    "link",
    "relative link",
    "chain",
    "folder link",
    "folder chain",
    "link over a link inside",
    "folder link over a link inside",
    "link and back",
    "hard link",
    "link to a hard link",
    "interpreter",
    "interpreter by a link",
    "interpreter by a hard link",
    "interpreter by env",
];

/// What the pack may write, by its own grants and by the one of the program, and whether that has the program.
const GRANTS: [(&[&str], &[&str], bool); 9] = [
    (&["out"], &["out"], false),
    (&[], &[], false),
    (&["out/**", "src/none*"], &["out"], false),
    (&["src"], &["out"], true),
    (&["src/**"], &["out"], true),
    (&["src/*"], &["out"], true),
    (&["**"], &["out"], true),
    (&["out"], &["src"], true),
    (&["out"], &["."], true),
];

/// Makes a program of this kind beside the workspace, the essence of which lies in `src` there; gives its path.
fn make(kind: &str, house: &House) -> PathBuf {
    let (bin, src) = (house.parent().join("bin"), house.workspace().join("src"));
    for folder in [&bin, &src, &house.workspace().join("out")] {
        fs::create_dir_all(folder).unwrap();
    }
    let (tool, inside) = (bin.join("tool"), src.join("tool"));
    let copy = |at: &Path| copy_program("/usr/bin/true", at);
    let script = |line: &str| put_program(&tool, &format!("#!{line}\n"));
    match kind {
        "link over a link inside" | "folder link over a link inside" | "link and back" => {}
        _ => copy(&inside),
    }
    match kind {
        "itself" => return inside,
        "link" => symlink(&inside, &tool).unwrap(),
        "relative link" => symlink("../workspace/src/tool", &tool).unwrap(),
        "chain" => {
            symlink("second", &tool).unwrap();
            symlink("third", bin.join("second")).unwrap();
            symlink(&inside, bin.join("third")).unwrap();
        }
        "folder link" => {
            symlink(&src, bin.join("more")).unwrap();
            return bin.join("more/tool");
        }
        "folder chain" => {
            symlink("more", bin.join("most")).unwrap();
            symlink("../workspace", bin.join("more")).unwrap();
            return bin.join("most/src/tool");
        }
        // What the pack writes is the link that leads out again.
        "link over a link inside" => {
            symlink("/usr/bin/true", &inside).unwrap();
            symlink(&inside, &tool).unwrap();
        }
        "folder link over a link inside" => {
            symlink("/usr/bin", src.join("folder")).unwrap();
            symlink(src.join("folder"), bin.join("more")).unwrap();
            return bin.join("more/true");
        }
        "link and back" => {
            copy(&bin.join("real"));
            symlink("../../bin/real", &inside).unwrap();
            symlink("../workspace/src/tool", &tool).unwrap();
        }
        "hard link" => fs::hard_link(&inside, &tool).unwrap(),
        "link to a hard link" => {
            fs::hard_link(&inside, bin.join("real")).unwrap();
            symlink("real", &tool).unwrap();
        }
        "interpreter" => script(inside.to_str().unwrap()),
        "interpreter by a link" => {
            symlink(&inside, bin.join("interpreter")).unwrap();
            script(bin.join("interpreter").to_str().unwrap());
        }
        "interpreter by a hard link" => {
            fs::hard_link(&inside, bin.join("interpreter")).unwrap();
            script(bin.join("interpreter").to_str().unwrap());
        }
        "interpreter by env" => script(&format!("/usr/bin/env -S {}", inside.to_str().unwrap())),
        other => panic!("there is no kind {other}"),
    }
    tool
}

fn run(house: &House, program: &Path, pack: &[&str], own: &[&str]) -> Result<ProgramOutput> {
    let texts = |list: &[&str]| list.iter().map(|at| (*at).to_owned()).collect::<Vec<_>>();
    let program = program.to_str().unwrap();
    let grant = ProgramGrant { program: program.to_owned(), write: Some(texts(own)), ..ProgramGrant::default() };
    granted(house, pack, GitAccess::None, grant).run(&command_of(program, &[]))
}

//= docs/spec.md#programs
//= type=test
//# A program that a pack could write MUST NOT be run, nor one that a link of the pack leads to, nor one that such a file interprets.
#[test]
fn no_name_leads_to_a_program_that_the_pack_writes() {
    for kind in KINDS {
        let house = House::new();
        let program = make(kind, &house);
        for (pack, own, has_it) in GRANTS {
            let ended = run(&house, &program, pack, own);
            match (has_it, ended) {
                // Where nothing of it is granted it runs: what is refused below is refused for the grant.
                (false, Ok(ran)) => {
                    assert_eq!(ran.code, 0, "{kind} {pack:?}: {}", String::from_utf8_lossy(&ran.errors))
                }
                (false, Err(fault)) => panic!("{kind} {pack:?} {own:?} is void: {fault}"),
                (true, Err(fault)) => assert!(fault.message.contains("the pack may write"), "{kind}: {fault}"),
                (true, Ok(_)) => panic!("{kind} {pack:?} {own:?}: a program that the pack may write ran"),
            }
        }
    }
}

#[test]
fn a_link_or_an_interpreter_that_others_could_change_is_not_run() {
    for kind in ["link", "chain", "folder link", "interpreter", "interpreter by a link", "interpreter by env"] {
        for at in ["src/tool", "src"] {
            let house = House::new();
            let program = make(kind, &house);
            assert!(run(&house, &program, &[], &[]).is_ok(), "{kind} is void");
            let at = house.workspace().join(at);
            fs::set_permissions(&at, fs::Permissions::from_mode(0o777)).unwrap();
            let fault = run(&house, &program, &[], &[]).unwrap_err();
            assert!(fault.message.contains("everybody can change"), "{kind}: {fault}");
        }
    }
}

#[test]
fn what_leads_nowhere_is_told() {
    let house = House::new();
    let tool = house.parent().join("tool");
    let script = |line: &str| {
        put_program(&tool, &format!("#!{line}\n"));
        run(&house, &tool, &[], &[]).unwrap_err().message
    };
    assert!(script("bin/sh").ends_with("names its interpreter by the relative path `bin/sh`"));
    assert!(script("/no/such/interpreter").ends_with("`/no/such/interpreter`, which runs it, is not there"));
    assert!(script(tool.to_str().unwrap()).contains("cannot be run"));
    fs::remove_file(&tool).unwrap();
    symlink("tool", &tool).unwrap();
    let fault = run(&house, &tool, &[], &[]).unwrap_err();
    assert!(fault.message.contains("more than 40 symlinks"), "{fault}");
}
