//! Programs that packs start: each attack is a line of a shell that succeeds unconfined, and fails where it is
//! confined.
#![cfg(target_os = "linux")]

use crate::house::{House, command_of, granted};
use serde::Deserialize;
use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use toolsd::diagnostic::Result;
use toolsd::world::Programs;
use toolsd::world::run::{GitAccess, ProgramGrant, ProgramOutput};

/// The lines that are run, as `programs.toml` explains.
#[derive(Deserialize)]
struct Table {
    attacks: Vec<String>,
    kept: Vec<String>,
    changes: Vec<String>,
    sockets: Vec<(String, bool)>,
    honest: Vec<(String, String)>,
}

fn table() -> Table {
    toml::from_str(include_str!("programs.toml")).unwrap()
}

/// Calls of the kernel that reach beyond files: with nothing in its arguments each is looked at, and fails in another
/// way.
const CALLS: &[libc::c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_io_uring_setup,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_open_by_handle_at,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_vm_readv,
    libc::SYS_ptrace,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// A house with a folder to write, protected names, and links that lead out.
fn ready() -> House {
    let house = House::new();
    for file in [".git/config", ".toolsd/pack.toml", "toolsd.toml", "sub/.git/config", "sub/kept"] {
        house.write(&format!("workspace/{file}"), "kept");
    }
    house.write("workspace/deep/.git/hooks/sample", "kept");
    fs::create_dir(house.workspace().join("out")).unwrap();
    symlink("../../outside/secret.txt", house.workspace().join("out/leads-out")).unwrap();
    symlink("../.git/config", house.workspace().join("out/leads-to-git")).unwrap();
    house
}

/// All that no attack may change: everything but `out`.
fn kept(house: &House) -> Vec<(PathBuf, Vec<u8>)> {
    let out = house.workspace().join("out");
    house.snapshot().into_iter().filter(|(path, _)| !path.starts_with(&out)).collect()
}

fn succeeds(house: &House, line: &str) -> bool {
    let mut plain = Command::new("sh");
    plain.args(["-c", line]).current_dir(house.workspace()).stdout(Stdio::null()).stderr(Stdio::null());
    plain.status().unwrap().success()
}

/// As `run` of a pack starts it that may write `write`.
fn run(house: &House, write: &str, network: bool, line: &str) -> Result<ProgramOutput> {
    let grant = ProgramGrant { program: "sh".to_owned(), network, ..ProgramGrant::default() };
    granted(house, &[write], GitAccess::None, grant).run(&command_of("sh", &["-c", line]))
}

/// The line succeeds unconfined, and fails and changes nothing where it is confined.
#[track_caller]
fn held(line: &str, network: bool) {
    assert!(succeeds(&ready(), line), "void: {line}");
    let house = ready();
    let before = kept(&house);
    let ran = run(&house, "out", network, line).unwrap();
    assert_ne!(ran.code, 0, "{line} succeeds: {}", String::from_utf8_lossy(&ran.output));
    assert!(before == kept(&house), "{line} changed what it may not");
}

//= docs/spec.md#programs
//= type=test
//# A program that a pack starts MUST be confined by the system to what its grants allow.
#[test]
fn no_program_reaches_beyond_its_grants() {
    let mut other = Command::new("sleep").arg("600").spawn().unwrap();
    let (host, id) = (std::process::id().to_string(), other.id().to_string());
    for line in table().attacks {
        held(&line.replace("HOST", &host).replace("OTHER", &id), false);
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

//= docs/spec.md#writes
//= type=test
//# A grant to write MUST NOT cover `.git`, `.toolsd`, `toolsd.toml` or the folders of the user's packs, trust
//# and state.
#[test]
fn no_program_changes_what_was_not_granted() {
    let table = table();
    let each = table.kept.iter().flat_map(|at| table.changes.iter().map(move |change| change.replace("AT", at)));
    for line in crate::support::sample(each.collect(), 32) {
        held(&line, false);
    }
}

#[test]
fn no_socket_leads_anywhere_without_the_network_nor_to_this_machine_with_it() {
    let door = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = door.local_addr().unwrap().port().to_string();
    let name = format!("toolsd-test-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _path = UnixListener::bind(&path).unwrap();
    for (line, is_network) in table().sockets {
        let line = line.replace("PORT", &port).replace("PATH", path.to_str().unwrap()).replace("NAME", &name);
        held(&line, false);
        match is_network {
            true => assert_eq!(run(&ready(), "out", true, &line).unwrap().code, 0, "{line}"),
            false => held(&line, true),
        }
    }
}

#[test]
fn calls_that_reach_beyond_files_are_refused() {
    let line = |call: &libc::c_long| {
        format!("perl -MErrno -e 'exit(syscall({call}, -1, 0, 0, 0, 0, 0) == -1 && ($!{{EPERM}} || $!{{ENOSYS}}))'")
    };
    // Calls that this kernel does not have, or keeps for root, are not an attack here.
    let known: Vec<String> = CALLS.iter().map(line).filter(|line| succeeds(&ready(), line)).collect();
    assert!(known.len() > CALLS.len() / 2, "only {known:?} are attacks here");
    known.iter().for_each(|line| held(line, false));
}

#[test]
fn what_is_granted_works() {
    for (write, line) in table().honest {
        let ran = run(&ready(), &write, false, &line).unwrap();
        assert_eq!((ran.code, ran.notes.len()), (0, 0), "{line}: {ran:?}");
    }
    let ran = run(&ready(), "out", false, "echo x > $TMPDIR/mine && printf %s $TMPDIR").unwrap();
    let own = String::from_utf8(ran.output).unwrap();
    assert!(own.contains("toolsd-run-") && !PathBuf::from(&own).exists(), "{own}");
}

//= docs/spec.md#programs
//= type=test
//# A program's grant MUST be checked at the target of its symlinks, and MUST NOT be reached through a symlink
//# below a root.
//= docs/spec.md#programs
//= type=test
//# A program's grant to write MUST NOT name `.git`, `.toolsd`, or a folder that holds the user's packs or
//# trust.
#[test]
fn a_grant_that_is_protected_or_behind_a_symlink_is_refused() {
    for (place, why) in [
        (".git", "it would write"),
        (".toolsd", "it would write"),
        ("deep/.git/hooks", "it would write"),
        ("leads-out", "symlink"),
        ("leads-to-git", "symlink"),
        ("leads-in/deep", "symlink"),
    ] {
        let house = ready();
        for (name, target) in [("leads-out", "../outside"), ("leads-to-git", ".git"), ("leads-in", ".")] {
            symlink(target, house.workspace().join(name)).unwrap();
        }
        let write = Some(vec![place.to_owned()]);
        let grant = ProgramGrant { program: "sh".to_owned(), write, ..ProgramGrant::default() };
        let command = command_of("sh", &["-c", "true"]);
        let refused = granted(&house, &[], GitAccess::None, grant).run(&command).unwrap_err();
        assert!(refused.message.contains(why), "{place}: {refused}");
    }
}

#[test]
fn the_folders_of_the_host_are_kept_whatever_leads_to_them() {
    // The link of the user's, and what is behind it.
    for (link, below, variable) in [
        (".config", "toolsd/tools.d/new.toml", None),
        (".config/toolsd", "tools.d/new.toml", None),
        (".local", "state/toolsd/trust.json", None),
        (".local/state/toolsd", "trust.json", None),
        ("other", "toolsd/tools.d/new.toml", Some("XDG_CONFIG_HOME")),
        ("other", "toolsd/locks/new", Some("XDG_STATE_HOME")),
        // Without a link.
        ("", ".config/toolsd/tools.d/new.toml", None),
        ("", ".local/state/toolsd/trust.json", None),
    ] {
        for by_script in [true, false] {
            let house = House::new();
            let home = house.parent().join("home");
            let (dots, real) = match link {
                "" => (home.clone(), home.clone()),
                _ => (home.join("dots"), home.join("dots/real")),
            };
            fs::create_dir_all(real.join(below).parent().unwrap()).unwrap();
            if !link.is_empty() {
                fs::create_dir_all(home.join(link).parent().unwrap()).unwrap();
                let _a_folder = fs::remove_dir_all(home.join(link));
                symlink(&real, home.join(link)).unwrap();
            }
            let free = dots.join("free/new");
            let dots = dots.to_str().unwrap();
            house.write(
                "layer/tools.d/writer.toml",
                format!(
                    "[pack]\ntitle = \"Writer\"\nactivate_if_exists = []\ngrants = {{ read = [\".\", \"{dots}\"], write = [\"{dots}\"], run = [\"sh\"] }}\n\n\
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
            fs::create_dir(free.parent().unwrap()).unwrap();
            let beside = put(&free);
            // A program is refused where toolsd keeps its own files, wherever it writes.
            assert_eq!(free.exists(), by_script, "{}", String::from_utf8_lossy(&beside.stdout));
            let said = put(&real.join(below));
            let is_evil = fs::read_to_string(real.join(below)).is_ok_and(|text| text.contains("evil"));
            assert!(!is_evil, "{link} {variable:?}: {}", String::from_utf8_lossy(&said.stdout));
        }
    }
}
