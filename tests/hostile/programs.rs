//! Programs that packs start: each attack as it is, where it must succeed, and confined, by all layers and by each alone.
#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "a descriptor that is handed on, as a client may hand one to the host")]

use crate::attacker::{ARGUMENTS, Attack, SUCCESS, left_behind};
use crate::house::House;
use std::fs;
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Command as Plain, Stdio};
use std::sync::Arc;
use std::time::Duration;
use toolsd::world::GrantedAccess;
use toolsd::world::Programs;
use toolsd::world::disk::{Disk, Mechanisms, Sandbox, SandboxStatus, system_mechanisms};
use toolsd::world::granted::GrantedWorld;
use toolsd::world::run::{ChildProcesses, Confinement, ProgramCommand, ProgramGrant, ProgramOutput, RequiredGrant};

/// What confines a program.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Layer {
    /// All that this system has.
    All,
    /// Landlock alone, and what needs neither: capabilities, limits, descriptors.
    Landlock,
    /// Filters of calls alone.
    Seccomp,
    /// The filters of a kernel whose Landlock is of version 2: they stand in for what it lacks.
    Old,
}

use Layer::{All, Landlock, Old, Seccomp};

impl Layer {
    fn status(self) -> SandboxStatus {
        let own = system_mechanisms().clone();
        assert_eq!(own.lacks, None, "this system cannot confine programs: these tests say nothing here");
        let mechanisms = match self {
            All => own,
            Landlock => Mechanisms { seccomp: false, ..own },
            Seccomp => Mechanisms { landlock: 0, ..own },
            Old => Mechanisms { landlock: 2, ..own },
        };
        SandboxStatus { sandbox: Sandbox::BestEffort, mechanisms }
    }
}

/// A house with a folder to write, protected names, and files beside it all.
fn ready() -> House {
    let house = House::new();
    let workspace = house.workspace();
    for folder in ["out", "sub/.git/hooks", ".git/empty", ".toolsd/empty", "deep/a/b/.git"] {
        fs::create_dir_all(workspace.join(folder)).unwrap();
    }
    for file in
        [".git/config", "sub/.git/config", "deep/a/b/.git/config", ".toolsd/pack.toml", "toolsd.toml", "sub/kept"]
    {
        fs::write(workspace.join(file), "kept").unwrap();
    }
    fs::create_dir_all(house.parent().join("outside/empty")).unwrap();
    symlink("../../outside/secret.txt", workspace.join("out/leads-out")).unwrap();
    symlink("../.git/config", workspace.join("out/leads-to-git")).unwrap();
    house
}

fn program() -> String {
    std::env::current_exe().unwrap().to_str().unwrap().to_owned()
}

fn plain(house: &House, attack: &Attack) -> String {
    let mut child = Plain::new(program())
        .args(ARGUMENTS)
        .current_dir(house.workspace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(&attack.input()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

fn command(attack: &Attack, needs: RequiredGrant, confinement: Confinement) -> ProgramCommand {
    ProgramCommand {
        program: program(),
        arguments: ARGUMENTS.map(str::to_owned).to_vec(),
        folder: ".".to_owned(),
        input: attack.input(),
        env: Vec::new(),
        time: Duration::from_secs(60),
        most: 1 << 20,
        needs,
        confinement,
        stop: || Ok(()),
    }
}

fn disk(house: &House, layer: Layer) -> Disk {
    Disk::new(house.workspace().to_str().unwrap(), []).unwrap().with_sandbox(layer.status())
}

/// As `run` of a pack with these grants starts it.
fn granted(
    house: &House,
    layer: Layer,
    attack: &Attack,
    write: &[&str],
    network: bool,
) -> toolsd::diagnostic::Result<ProgramOutput> {
    let write = Some(write.iter().map(|at| (*at).to_owned()).collect());
    let grant = ProgramGrant { program: program(), network, write, ..ProgramGrant::default() };
    let read = vec![".".to_owned()];
    let allowed = GrantedAccess {
        read,
        run: vec![grant],
        may_read: true,
        may_write: true,
        may_run: true,
        ..GrantedAccess::default()
    };
    let world = GrantedWorld::new(Arc::new(disk(house, layer)), allowed).unwrap();
    world.run(&command(attack, RequiredGrant::Program, Confinement::default()))
}

/// As git is started, which may start these processes.
fn as_git(house: &House, layer: Layer, attack: &Attack, processes: ChildProcesses) -> ProgramOutput {
    let path = |name: &str| house.workspace().join(name).to_str().unwrap().to_owned();
    let confinement =
        Confinement { read: vec![path(".")], write: vec![path("out")], processes, ..Confinement::default() };
    disk(house, layer).run(&command(attack, RequiredGrant::WriteGit, confinement)).unwrap()
}

fn text(ran: &ProgramOutput) -> String {
    String::from_utf8_lossy(&ran.output).into_owned()
}

/// Runs attacks as they are, then confined by each of these layers.
#[track_caller]
fn held(layers: &[Layer], make: impl Fn(&House) -> Vec<Attack>, ours: impl Fn(&House, Layer, &Attack) -> String) {
    for number in 0..make(&ready()).len() {
        let house = ready();
        let attack = make(&house).swap_remove(number);
        let said = plain(&house, &attack);
        assert!(said.contains(SUCCESS), "{attack:?} is void: {said}");
        for layer in layers {
            let house = ready();
            let attack = make(&house).swap_remove(number);
            let before = kept(&house);
            let said = ours(&house, *layer, &attack);
            assert!(said.contains("the attack failed"), "{layer:?} lets through {attack:?}: {said}");
            assert_eq!(before, kept(&house), "{layer:?}: {attack:?} changed what it may not");
        }
    }
}

/// All that no attack may change: everything but `out`.
fn kept(house: &House) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let out = house.workspace().join("out");
    house.snapshot().into_iter().filter(|(path, _)| !path.starts_with(&out)).collect()
}

fn run_of(house: &House, layer: Layer, attack: &Attack) -> String {
    granted(house, layer, attack, &["out"], false).map_or_else(|fault| fault.to_string(), |ran| text(&ran))
}

//= docs/spec.md#programs
//= type=test
//# A program that a pack starts MUST be confined by the system to what its grants say.
#[test]
fn nothing_outside_is_read() {
    held(
        &[All, Landlock, Old],
        |house| {
            let (parent, workspace) = (house.parent(), house.workspace());
            let host = std::process::id();
            let secret = ["outside/secret.txt", "home/secret.txt"].map(|at| parent.join(at));
            let ways =
                [workspace.join("link/secret.txt"), workspace.join("link.txt"), workspace.join("chain/secret.txt")];
            let more = ["../outside/secret.txt", "out/../../outside/secret.txt", "out/leads-out"].map(Into::into);
            let others = ["environ", "cmdline", "maps", "status"].map(|at| format!("/proc/{host}/{at}").into());
            let of_host = ["/etc/hostname", "/proc/1/status", "/proc/self/environ", "/etc/hosts"].map(Into::into);
            let reads = secret.into_iter().chain(ways).chain(more).chain(others).chain(of_host);
            let mut attacks: Vec<Attack> =
                reads.filter(|at: &std::path::PathBuf| at.exists()).map(|at| Attack::new("read", at, 0)).collect();
            attacks.extend(
                [parent.join("outside"), format!("/proc/{host}/fd").into(), "/tmp".into(), "/".into()]
                    .map(|at: std::path::PathBuf| Attack::new("list", at, 0)),
            );
            attacks
        },
        run_of,
    );
}

/// Each way to change a file or its folder.
const CHANGES: [&str; 14] = [
    "write",
    "append",
    "cut",
    "cut reading",
    "truncate",
    "remove",
    "move away",
    "move over",
    "link",
    "make file",
    "make folder",
    "make link",
    "make pipe",
    "make device",
];

//= docs/spec.md#writes
//= type=test
//# A grant to write MUST NOT cover `.git`, `.toolsd` or `toolsd.toml`.
#[test]
fn nothing_outside_and_no_protected_name_is_changed() {
    held(
        &[All, Landlock],
        |house| {
            let secret = house.parent().join("outside/secret.txt");
            let files = [secret, house.workspace().join(".git/config"), house.workspace().join(".toolsd/pack.toml")];
            let mut attacks: Vec<Attack> = files
                .iter()
                .flat_map(|at| CHANGES.iter().chain(&["remove folder"]).map(move |act| Attack::new(act, at, 0)))
                .collect();
            for at in ["toolsd.toml", "sub/.git/config", "out/leads-to-git", "out/leads-out"] {
                let whole = ["write", "append", "cut", "truncate", "cut reading"].map(|act| Attack::new(act, at, 0));
                attacks.extend(whole);
            }
            attacks
        },
        |house, layer, attack| {
            granted(house, layer, attack, &["out"], false).map_or_else(|fault| fault.to_string(), |ran| text(&ran))
        },
    );
}

#[test]
fn a_kernel_that_cannot_keep_files_from_being_cut_is_helped_by_filters() {
    held(
        &[Old, Seccomp],
        |house| {
            let at = house.parent().join("outside/secret.txt");
            // Only root gives files away.
            let is_root = rustix::process::geteuid().is_root();
            let acts = ["truncate", "cut reading", "own"].into_iter().filter(|act| is_root || *act != "own");
            acts.map(|act| Attack::new(act, &at, 0)).collect()
        },
        run_of,
    );
}

#[test]
fn what_is_granted_works() {
    let house = ready();
    let works = |act: &'static str, at: &str| {
        let ran = granted(&house, All, &Attack::new(act, at, 0), &["out"], false).unwrap();
        assert!(text(&ran).contains(SUCCESS), "{act} {at}: {}", text(&ran));
    };
    fs::write(house.workspace().join("out/mine"), "x").unwrap();
    for act in ["write", "append", "cut", "truncate", "make file", "move away", "make link"] {
        works(act, "out/mine");
        fs::write(house.workspace().join("out/mine"), "x").unwrap();
        let _ = fs::remove_file(house.workspace().join("out/new"));
    }
    works("make folder", "out/mine");
    works("read", "note.txt");
    works("thread", ".");
    works("start", "/usr/bin/true");
}

#[test]
fn devices_pipes_and_sockets_are_made_nowhere() {
    held(
        &[All, Landlock],
        |_| {
            let own = |act| Attack::new(act, "out/x", 0);
            let bind = Attack::new("unix bind", "out/socket", 0);
            vec![own("make pipe"), own("make device"), own("make disk"), bind]
        },
        run_of,
    );
    held(&[All, Landlock], |_| vec![Attack::new("device call", "/dev/null", 0)], run_of);
}

#[test]
fn only_programs_of_the_system_are_started() {
    held(&[All, Landlock], |_| vec![Attack::new("start copy", "/usr/bin/true", 0)], run_of);
}

#[test]
fn a_program_that_may_start_none_starts_none() {
    held(
        &[All, Seccomp, Old],
        |_| {
            let acts = ["fork", "clone", "clone3", "socketpair"].map(|act| Attack::new(act, ".", 0));
            acts.into_iter().chain([Attack::new("start", program(), 0)]).collect()
        },
        |house, layer, attack| text(&as_git(house, layer, attack, ChildProcesses::None)),
    );
    let house = ready();
    assert!(text(&as_git(&house, All, &Attack::new("thread", ".", 0), ChildProcesses::None)).contains(SUCCESS));
}

#[test]
fn no_socket_leads_anywhere() {
    let door = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = i64::from(door.local_addr().unwrap().port());
    let name = format!("toolsd-test-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let _path = UnixListener::bind(&path).unwrap();
    let sockets = |_: &House| {
        let families = [libc::AF_INET, libc::AF_INET6, libc::AF_UNIX].map(|family| Attack::new("socket", ".", family));
        let ways = [
            Attack::new("tcp", ".", port),
            Attack::new("udp", ".", 0),
            Attack::new("unix", &path, 0),
            Attack::new("abstract", &name, 0),
            Attack::new("audit socket", ".", 0),
        ];
        ways.into_iter().chain(families).collect::<Vec<_>>()
    };
    held(&[All, Seccomp, Old], sockets, run_of);
    // Landlock alone knows of TCP and of abstract names.
    let known = |_: &House| {
        let addresses = [("tcp", ".", port), ("tcp bind", ".", 0), ("abstract", &*name, 0)];
        addresses.map(|(act, at, number)| Attack::new(act, at, number)).to_vec()
    };
    held(&[Landlock], known, run_of);
    let net = |house: &House, layer, attack: &Attack| text(&granted(house, layer, attack, &["out"], true).unwrap());
    let local = |_: &House| {
        vec![Attack::new("unix", &path, 0), Attack::new("abstract", &name, 0), Attack::new("audit socket", ".", 0)]
    };
    held(&[All, Seccomp], local, net);
    for attack in [Attack::new("tcp", ".", port), Attack::new("udp", ".", 0)] {
        assert!(net(&ready(), All, &attack).contains(SUCCESS), "{attack:?}");
    }
}

#[test]
fn other_processes_are_left_alone() {
    let mut bystander = Plain::new("sleep").arg("600").spawn().unwrap();
    let others = [i64::from(bystander.id()), i64::from(std::process::id())];
    let of = |acts: &'static [&'static str]| {
        move |_: &House| {
            let each = others.iter().flat_map(|pid| acts.iter().map(move |act| Attack::new(act, ".", *pid)));
            each.collect::<Vec<_>>()
        }
    };
    held(&[All, Landlock, Old, Seccomp], of(&["kill", "tgkill"]), run_of);
    let looks = of(&["limit of another", "priority of another", "affinity of another"]);
    held(&[All, Seccomp], looks, run_of);
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

//= docs/spec.md#programs
//= type=test
//# No process that a program started MUST be left when its call ends.
#[test]
fn nothing_outlives_the_call() {
    for act in ["daemon", "daemon setsid", "daemon setpgid"] {
        let house = ready();
        let attack = Attack::new(act, ".", 0);
        assert!(plain(&house, &attack).contains(SUCCESS) && left_behind(&house.workspace()), "{act} is void");
        for layer in [All, Seccomp] {
            let house = ready();
            let _started_or_not = run_of(&house, layer, &attack);
            assert!(!left_behind(&house.workspace()), "{layer:?}: {act} outlived its call");
        }
    }
}

#[test]
fn descriptors_of_the_host_stay_there() {
    let secret = ready();
    let path = std::ffi::CString::new(secret.parent().join("outside/secret.txt").to_str().unwrap()).unwrap();
    // SAFETY: a path that ends with NUL; the descriptor is ours until the end of the test.
    let descriptor = unsafe { libc::open(path.as_ptr(), libc::O_RDONLY) };
    assert!(descriptor > 2);
    held(&[All, Landlock, Seccomp], |_| vec![Attack::new("descriptor", ".", descriptor)], run_of);
    // SAFETY: opened above, used by nobody else.
    unsafe { libc::close(descriptor) };
}

#[test]
fn limits_and_capabilities_are_given_up() {
    held(
        &[All],
        |_| {
            let mut attacks = vec![Attack::new("large file", ".", 0)];
            let hard = rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum;
            attacks.extend((hard.unwrap_or(u64::MAX) > 4_300).then(|| Attack::new("many open", ".", 4_200)));
            let core = rustix::process::getrlimit(rustix::process::Resource::Core).maximum;
            attacks.extend((core.unwrap_or(u64::MAX) > 1).then(|| Attack::new("core", ".", 0)));
            attacks.extend(rustix::process::geteuid().is_root().then(|| Attack::new("host name", ".", 0)));
            attacks
        },
        run_of,
    );
}

#[test]
fn privileges_are_given_up_by_each_layer() {
    held(
        &[All, Landlock, Seccomp, Old],
        |house| {
            let is_root = rustix::process::geteuid().is_root();
            let acts = ["privileges", "capabilities"].into_iter().filter(|act| is_root || *act != "capabilities");
            let attacks = acts.map(|act| Attack::new(act, ".", 0));
            // Where all of this runs without, it is no attack.
            attacks.filter(|attack| plain(house, attack).contains(SUCCESS)).collect()
        },
        run_of,
    );
}

/// Calls that reach beyond files: with nothing in their arguments each is looked at by the kernel, and fails in another way.
const NEVER: &[libc::c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_ioprio_set,
    libc::SYS_getxattr,
    libc::SYS_keyctl,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_memfd_create,
    libc::SYS_migrate_pages,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_move_pages,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_msgctl,
    libc::SYS_msgget,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_open,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_mrelease,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_removexattr,
    libc::SYS_request_key,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_setns,
    libc::SYS_setxattr,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_kcmp,
];

#[test]
fn calls_that_reach_beyond_files_are_refused() {
    let house = ready();
    // What this kernel does not have, or keeps for root, is no attack here: that is most of it elsewhere, too.
    let known = |call: &&libc::c_long| plain(&house, &Attack::new("call", ".", **call)).contains(SUCCESS);
    let known: Vec<i64> = NEVER.iter().filter(known).copied().collect();
    assert!(known.len() > NEVER.len() / 2, "only {known:?} are attacks here");
    held(&[All, Seccomp], |_| known.iter().map(|call| Attack::new("call", ".", *call)).collect(), run_of);
    // A call that came later than the list: `setxattrat` of Linux 6.13.
    if plain(&house, &Attack::new("call", ".", 463)).contains(SUCCESS) {
        held(&[All, Seccomp], |_| vec![Attack::new("call", ".", 463)], run_of);
    }
    if rustix::process::geteuid().is_root() {
        let flags =
            [libc::CLONE_NEWUSER, libc::CLONE_NEWNS, libc::CLONE_NEWPID, libc::CLONE_NEWNET, libc::CLONE_NEWIPC];
        held(&[All, Seccomp], |_| flags.map(|flag| Attack::new("namespace", ".", flag)).to_vec(), run_of);
    }
}

#[test]
fn few_variables_and_a_temporary_folder_of_the_call() {
    held(&[All], |_| vec![Attack::new("variable", "CARGO_MANIFEST_DIR", 0)], run_of);
    let house = ready();
    let said = run_of(&house, All, &Attack::new("temporary", ".", 0));
    let own =
        said.lines().find_map(|line| line.strip_prefix(&format!("{SUCCESS}: "))).unwrap_or_else(|| panic!("{said}"));
    assert!(own.contains("toolsd-run-") && !std::path::Path::new(own).exists(), "{own}");
}

//= docs/spec.md#programs
//= type=test
//# A program MUST NOT be let write in a folder of git, in `.toolsd`, or where the host keeps packs and trust.
#[test]
fn a_grant_that_names_what_is_not_granted_is_refused() {
    for place in [".git", ".toolsd/tools.d", "deep/.git/hooks"] {
        let house = ready();
        let refused = granted(&house, All, &Attack::new("write", "x", 0), &[place], false).unwrap_err();
        assert!(refused.message.contains("is not run: it would write"), "{place}: {refused}");
    }
}

/// Programs that people use: formatters, builds, editors that save by a rename.
#[test]
fn a_program_may_change_all_of_a_project() {
    for act in ["write", "make file", "make folder", "move over", "remove"] {
        let house = ready();
        let at = if act.starts_with("make") { "new" } else { "sub/a.md" };
        house.write("workspace/sub/a.md", "a\n");
        house.write("workspace/.toolsd/tools.d/x.toml", "");
        let ran = granted(&house, All, &Attack::new(act, at, 0), &["."], false).unwrap();
        assert!(text(&ran).contains(SUCCESS), "{act}: {}", text(&ran));
        assert_eq!(ran.notes, [""; 0], "{act}");
    }
}

/// A pack whose script runs any line, and may write everything below the roots.
const SHELL: &str = r#"
[pack]
title = "Shell"
version = "1.0.0"
activate_if = []
grants = { read = ["."], write = ["."], run = ["sh"] }

[[tool]]
name = "run_line"
description = "Runs a line of a shell, for the tests of programs. Gives what it printed."
effect = "runs"
input = { type = "object", properties = { line = { type = "string", description = "The line" }, at = { type = "string", description = "The folder" } }, required = ["line", "at"] }
"#;

/// A record of trust that trusts nothing.
const TRUST: &str = r#"{ "format": 1, "workspaces": {} }"#;

//= docs/spec.md#programs
//= type=test
//# A program MUST NOT be let write in a folder of git, in `.toolsd`, or where the host keeps packs and trust.
#[test]
fn the_folders_of_the_host_are_kept_from_programs() {
    let lines = [
        "echo changed > .config/toolsd/tools.d/mine.toml",
        "echo changed > .config/toolsd/tools.d/new.toml",
        "echo changed > .local/state/toolsd/trust.json",
        "rm -r .config/toolsd",
        "mv .config elsewhere",
        "mv .local/state/toolsd .local/state/other",
        "ln -s .config/toolsd linked && echo changed > linked/tools.d/mine.toml",
    ];
    for line in lines {
        for is_plain in [true, false] {
            let house = House::new();
            house.write("layer/tools.d/shell.toml", SHELL);
            house.write(
                "layer/tools.d/shell.rhai",
                "/// Runs a line.\nfn run_line(args) { run(\"sh\", [\"-c\", args.line], #{ folder: args.at, check: false }).text }\n",
            );
            house.write("home/.config/toolsd/tools.d/mine.toml", "kept");
            house.write("home/.local/state/toolsd/trust.json", TRUST);
            let home = house.parent().join("home");
            let whole = |house: &House| {
                let kept = |name: &str| fs::read_to_string(house.parent().join("home").join(name)).unwrap_or_default();
                kept(".config/toolsd/tools.d/mine.toml") == "kept"
                    && kept(".local/state/toolsd/trust.json") == TRUST
                    && !house.parent().join("home/.config/toolsd/tools.d/new.toml").exists()
            };
            if is_plain {
                Plain::new("sh").args(["-c", line]).current_dir(&home).stderr(Stdio::null()).status().unwrap();
                assert!(!whole(&house), "void: {line}");
                continue;
            }
            let arguments = serde_json::json!({ "line": line, "at": home.to_str().unwrap() }).to_string();
            let words = ["call", "run_line", &arguments, "--dir", "../layer", "--pack", "shell", "--root"];
            let output = house
                .command(&words)
                .arg(&home)
                .env_remove("XDG_CONFIG_HOME")
                .env_remove("XDG_STATE_HOME")
                .output()
                .unwrap();
            let told = [output.stdout, output.stderr].map(|told| String::from_utf8_lossy(&told).into_owned()).concat();
            assert!(whole(&house), "{line}: {told}");
            assert!(told.contains("the host keeps packs and trust there"), "{line}: {told}");
        }
    }
}

//= docs/spec.md#programs
//= type=test
//# What a program was granted MUST NOT be reached through a symlink below a root.
#[test]
fn a_grant_that_a_symlink_leads_elsewhere_is_refused() {
    for target in ["../outside", ".git", "sub"] {
        let house = ready();
        symlink(target, house.workspace().join("given")).unwrap();
        let attack = Attack::new("nothing", ".", 0);
        let fault = granted(&house, All, &attack, &["given"], false).unwrap_err();
        assert!(fault.message.contains("symlink"), "{fault}");
        let fault = granted(&house, All, &attack, &["given/empty"], false).unwrap_err();
        assert!(fault.message.contains("symlink"), "{fault}");
    }
}

//= docs/spec.md#programs
//= type=test
//# A program that a pack could write MUST NOT be run.
//= docs/spec.md#programs
//= type=test
//# A program MUST be found in the `PATH` of the host itself, in a place where only root and the user of the host can put one.
//= docs/spec.md#programs
//= type=test
//# A program that is named by a relative path MUST be refused.
#[test]
fn a_program_that_others_could_have_put_there_is_not_run() {
    use std::os::unix::fs::PermissionsExt;
    let house = House::new();
    let file = house.workspace().join("bin/tool");
    fs::create_dir(file.parent().unwrap()).unwrap();
    crate::house::copy_program("/usr/bin/true", &file);
    let name = fs::canonicalize(&file).unwrap().to_str().unwrap().to_owned();
    let run = |program: &str, write: &[&str]| {
        let write = write.iter().map(|at| (*at).to_owned()).collect();
        let run = vec![ProgramGrant { program: program.to_owned(), ..ProgramGrant::default() }];
        let flags = GrantedAccess { may_read: true, may_write: true, may_run: true, ..GrantedAccess::default() };
        let allowed = GrantedAccess { read: vec![".".into()], write, run, ..flags };
        let command = command(&Attack::new("nothing", ".", 0), RequiredGrant::Program, Confinement::default());
        let world = GrantedWorld::new(Arc::new(disk(&house, All)), allowed).unwrap();
        world.run(&ProgramCommand { program: program.to_owned(), arguments: Vec::new(), input: Vec::new(), ..command })
    };
    assert_eq!(run(&name, &["out"]).unwrap().code, 0);
    for write in [".", "bin", "**", "bin/tool"] {
        let fault = run(&name, &[write]).unwrap_err();
        assert!(fault.message.contains("the pack may write"), "{fault}");
    }
    for at in [file.clone(), house.workspace().join("bin"), house.workspace()] {
        for (mode, who) in [(0o757, "everybody"), (0o777, "everybody")] {
            fs::set_permissions(&at, fs::Permissions::from_mode(mode)).unwrap();
            let fault = run(&name, &["out"]).unwrap_err();
            assert!(fault.message.contains(&format!("{who} can change")), "{fault}");
            assert!(fault.help.unwrap().starts_with("chmod o-w "));
        }
        fs::set_permissions(&at, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (program, message) in [
        ("bin/tool", "`bin/tool` is no name of a program"),
        ("./bin/tool", "`./bin/tool` is no name of a program"),
        ("no-such-program", "there is no program `no-such-program`"),
    ] {
        assert_eq!(run(program, &[]).unwrap_err().message, message);
    }
}
