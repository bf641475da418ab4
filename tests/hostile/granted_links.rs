//! Grants that name a place through a symlink or through `/proc`: what they cover is judged as what that leads to.

use crate::house::{House, command_of, copy_program, granted, put_program};
use std::fs;
use std::os::unix::fs::symlink;
use toolsd::world::Programs;
use toolsd::world::disk::Disk;
use toolsd::world::run::{Confinement, GitAccess, ProgramCommand, ProgramGrant};

/// What nothing lets a program change, below the workspace.
const KEPT: [&str; 5] = [".git/config", ".git/hooks/evil", ".toolsd/tools.d/p.toml", "toolsd.toml", "deep/.git/config"];

fn ready() -> House {
    let house = House::new();
    for name in KEPT {
        house.write(&format!("workspace/{name}"), "kept\n");
    }
    fs::create_dir_all(house.workspace().join("deep")).unwrap();
    symlink(house.workspace(), house.parent().join("link")).unwrap();
    symlink("link", house.parent().join("chain")).unwrap();
    symlink(house.parent(), house.parent().join("above")).unwrap();
    house
}

/// The workspace by other names.
fn names(house: &House) -> Vec<String> {
    let at = |name: &str| house.parent().join(name).to_str().unwrap().to_owned();
    let workspace = house.workspace().to_str().unwrap().to_owned();
    vec![at("link"), at("chain"), at("above/link"), at("above/workspace"), format!("{workspace}/deep/.."), workspace]
}

fn sh(line: &str) -> ProgramCommand {
    command_of("sh", &["-c", line])
}

fn of_sh() -> ProgramGrant {
    ProgramGrant { program: "sh".to_owned(), ..ProgramGrant::default() }
}

//= docs/spec.md#programs
//= type=test
//# What a grant names through a symlink MUST be judged as what that leads to.
#[test]
fn a_grant_is_judged_as_what_it_leads_to() {
    let house = House::new();
    fs::create_dir_all(house.workspace().join("deep/.git")).unwrap();
    symlink("deep/.git", house.workspace().join("to-git")).unwrap();
    let grant =
        ProgramGrant { write: Some(vec![house.workspace().join("to-git").to_str().unwrap().to_owned()]), ..of_sh() };
    let refused = granted(&house, &[], GitAccess::None, grant).run(&sh("true")).unwrap_err();
    assert!(refused.message.contains("no grant covers `.git`") || refused.message.contains("symlink"), "{refused}");
}

//= docs/spec.md#programs
//= type=test
//# What a program may start in turn MUST NOT lie where the pack itself could write, nor hold such a place.
#[test]
fn no_name_lets_a_program_start_what_the_pack_writes() {
    let house = ready();
    house.write("workspace/out/x", "");
    put_program(&house.workspace().join("out/own"), "#!/bin/sh\necho own\n");
    for of_start in names(&house) {
        for of_write in names(&house) {
            for (below, within) in [("/out", "/out"), ("", "/out"), ("/out", "")] {
                let grant = ProgramGrant { start: vec![format!("{of_start}{below}")], ..of_sh() };
                let world = granted(&house, &[&format!("{of_write}{within}")], GitAccess::None, grant);
                let ran = world.run(&sh("out/own"));
                let fault = ran.map(|ran| ran.code).expect_err(&format!("{of_start}{below}: {of_write}{within}"));
                assert!(fault.message.contains("it may start programs of"), "{fault}");
            }
        }
    }
}

/// What git of the pack writes there, and no grant covers, is no program.
#[test]
fn nothing_is_started_that_git_of_the_pack_wrote() {
    let house = ready();
    fs::create_dir_all(house.workspace().join("scripts")).unwrap();
    for (start, git, is_refused) in [
        (".git", GitAccess::None, true),
        ("deep/.git/hooks", GitAccess::None, true),
        (".", GitAccess::Read, false),
        (".", GitAccess::Write, true),
        ("deep", GitAccess::Write, true),
        ("scripts", GitAccess::Fetch, false),
    ] {
        let grant = ProgramGrant { start: vec![start.to_owned()], ..of_sh() };
        let ran = granted(&house, &[], git, grant).run(&sh("true"));
        assert_eq!(ran.is_err(), is_refused, "{start} {git:?}: {ran:?}");
    }
}

//= docs/spec.md#programs
//= type=test
//# What is executed MUST be the file that was judged.
#[test]
fn a_program_that_is_another_one_by_the_time_it_starts_is_not_started() {
    let house = ready();
    let tool = house.parent().join("tool");
    copy_program("/usr/bin/true", &tool);
    let disk = Disk::new(house.workspace().to_str().unwrap(), []).unwrap();
    let judged = disk.program(tool.to_str().unwrap()).unwrap();
    // Somebody puts another one there before it starts.
    copy_program("/usr/bin/false", &house.parent().join("other"));
    fs::rename(house.parent().join("other"), &tool).unwrap();
    let confinement = Confinement { judged: Some(judged), ..Confinement::default() };
    let command = ProgramCommand { confinement, ..command_of(tool.to_str().unwrap(), &[]) };
    let fault = disk.run(&command).unwrap_err();
    assert!(fault.message.contains("changed while it was looked at"), "{fault}");
}

//= docs/spec.md#trust
//= type=test
//# A grant to write MUST NOT cover the host's own folders: those of the user's packs, of trust and of its state.
#[test]
fn the_folders_of_the_host_are_kept_whatever_leads_to_them() {
    // The link of the user's, and what lies behind it.
    for (link, below, variable) in [
        (".config", "toolsd/tools.d/new.toml", None),
        (".config/toolsd", "tools.d/new.toml", None),
        (".local", "state/toolsd/trust.json", None),
        (".local/state/toolsd", "trust.json", None),
        ("other", "toolsd/tools.d/new.toml", Some("XDG_CONFIG_HOME")),
        ("other", "toolsd/locks/new", Some("XDG_STATE_HOME")),
    ] {
        for by_script in [true, false] {
            let house = House::new();
            let (home, real) = (house.parent().join("home"), house.parent().join("home/dots/real"));
            fs::create_dir_all(real.join(below).parent().unwrap()).unwrap();
            fs::create_dir_all(home.join(link).parent().unwrap()).unwrap();
            let _a_folder = fs::remove_dir_all(home.join(link));
            symlink(&real, home.join(link)).unwrap();
            let dots = home.join("dots");
            let dots = dots.to_str().unwrap();
            house.write(
                "layer/tools.d/writer.toml",
                format!(
                    "[pack]\ntitle = \"Writer\"\nactivate_if = []\ngrants = {{ read = [\".\", \"{dots}\"], write = [\"{dots}\"], run = [\"sh\"] }}\n\n\
                     [[tool]]\nname = \"put\"\ndescription = \"Writes a file, for the tests of grants.\"\neffect = \"runs\"\n\
                     input = {{ type = \"object\", properties = {{ at = {{ type = \"string\", description = \"The file\" }} }}, required = [\"at\"] }}\n"
                ),
            );
            let body = match by_script {
                true => "write_text(args.at, \"evil\")",
                false => "run(\"sh\", [\"-c\", `echo evil > '${args.at}'`], #{ check: false })",
            };
            house.write("layer/tools.d/writer.rhai", format!("/// Writes.\nfn put(args) {{ {body} }}\n"));
            let put = |at: &std::path::Path| {
                let arguments = serde_json::json!({ "at": at.to_str().unwrap() }).to_string();
                let mut command = house.command(&["call", "put", &arguments, "--dir", "../layer", "--pack", "writer"]);
                for name in ["XDG_CONFIG_HOME", "XDG_STATE_HOME"] {
                    command.env_remove(name);
                }
                command.envs(variable.map(|name| (name, home.join(link)))).output().unwrap()
            };
            fs::create_dir(home.join("dots/free")).unwrap();
            let free = home.join("dots/free/new");
            let beside = put(&free);
            // A program is refused where the host keeps something, wherever it writes.
            assert_eq!(free.exists(), by_script, "{}", String::from_utf8_lossy(&beside.stdout));
            let said = put(&real.join(below));
            let is_evil = fs::read_to_string(real.join(below)).is_ok_and(|text| text.contains("evil"));
            assert!(!is_evil, "{link} {variable:?}: {}", String::from_utf8_lossy(&said.stdout));
        }
    }
}
