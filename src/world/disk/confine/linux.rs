//! Confinement on Linux: Landlock for files, seccomp for processes, sockets and signals.

use super::Mechanisms;
use super::filter::filters;
use super::sandbox::{ProgramStart, StartedProgram, start_error};
use super::spawn::{self, ProcessImage};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::disk::program;
use crate::world::disk::system::reason;
use crate::world::path;
use crate::world::run::{ChildProcesses, Confinement, ExecutedFile};
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};
use seccompiler::BpfProgram;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

/// Where programs and libraries of the system are.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"];

/// System files that programs other than git read in addition: no secrets, and nothing of other processes.
const READABLE: &[&str] = &[
    "/etc/bash.bashrc",
    // Certificates are public, and read by much that asks for nothing.
    "/etc/ca-certificates",
    "/etc/debian_version",
    "/etc/fonts",
    "/etc/inputrc",
    // What Debian links to from the folders of programs.
    "/etc/java-11-openjdk",
    "/etc/java-17-openjdk",
    "/etc/java-21-openjdk",
    "/etc/java-25-openjdk",
    "/etc/java-8-openjdk",
    "/etc/lsb-release",
    "/etc/magic",
    "/etc/manpath.config",
    // The other one of these may hold passwords.
    "/etc/maven/logging",
    "/etc/maven/m2.conf",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/perl",
    "/etc/pki/ca-trust",
    "/etc/pki/tls/certs",
    "/etc/python3",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/sys/kernel/osrelease",
    "/proc/uptime",
    "/proc/version",
];

/// System files that every program reads in addition. Each of these costs time at each start: git that works on a
/// repository alone gets no more.
const FOR_ALL: &[&str] = &[
    "/dev/random",
    "/dev/urandom",
    "/dev/zero",
    "/etc/group",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/timezone",
    "/proc/stat",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system/cpu",
];

/// What names of other machines are found with, and who they are.
const FOR_NETWORK: [&str; 6] =
    ["/etc/gai.conf", "/etc/host.conf", "/etc/hosts", "/etc/protocols", "/etc/resolv.conf", "/etc/services"];

/// The largest file that a program may write: 4 GiB.
const MAX_FILE_BYTES: u64 = 4 << 30;
/// The maximum memory of a process of a program, 4 GiB; of a git, which reads files of commits whole, 1 GiB.
const MAX_MEMORY: u64 = 4 << 30;
const MAX_MEMORY_OF_GIT: u64 = 1 << 30;
/// How many processes and threads a program may start, in addition to those that exist. Root has no such limit.
const MAX_PROCESSES: u64 = 1_024;
/// How many descriptors a program may have open.
const MAX_OPEN_FILES: u64 = 4096;

/// Tries out the mechanisms on a thread of its own.
pub(super) fn mechanisms() -> Mechanisms {
    let tried = std::thread::spawn(|| {
        let ruleset = Ruleset::default().handle_access(AccessFs::from_all(ABI::V1)).and_then(Ruleset::create);
        let landlock = match ruleset.and_then(RulesetCreated::restrict_self) {
            Ok(status) => match (status.landlock, status.ruleset) {
                (LandlockStatus::Available { effective_abi, kernel_abi }, RulesetStatus::FullyEnforced) => {
                    Ok(kernel_abi.and_then(|abi| u32::try_from(abi).ok()).unwrap_or(effective_abi as u32))
                }
                (LandlockStatus::NotEnabled, _) => Err("Landlock is not enabled in this kernel".to_owned()),
                (LandlockStatus::NotImplemented, _) => Err("this kernel has no Landlock".to_owned()),
                _ => Err("Landlock cannot be used here in full".to_owned()),
            },
            Err(error) => Err(format!("Landlock cannot be used here: {error}")),
        };
        let install = |filter: &BpfProgram| seccompiler::apply_filter(filter).map_err(|error| error.to_string());
        let made = filters(&Confinement::default(), u32::MAX);
        let seccomp = made.and_then(|filters| filters.iter().try_for_each(install));
        let seccomp = seccomp.map_err(|error| format!("seccomp cannot be used here: {error}"));
        let (abi, works) = (landlock.clone().unwrap_or(0), seccomp.is_ok());
        Mechanisms { landlock: abi, seccomp: works, seatbelt: false, lacks: landlock.err().or(seccomp.err()) }
    });
    let none = |_| Mechanisms { landlock: 0, seccomp: false, seatbelt: false, lacks: Some("no thread".to_owned()) };
    tried.join().unwrap_or_else(none)
}

/// Starts a program, confined by these mechanisms.
pub(super) fn start(start: &ProgramStart<'_>, confines: Option<&Mechanisms>) -> Result<StartedProgram> {
    let mut absent = Vec::new();
    let nul = |_| Diagnostic::new(Code::ARGUMENTS, format!("an argument or a variable of `{}` has a NUL", start.name));
    let wrong = |error: io::Error| start_error(start, &error);
    let ruleset = match confines.filter(|mechanisms| mechanisms.landlock > 0) {
        Some(mechanisms) => Some(ruleset(start, mechanisms, &mut absent)?),
        None => None,
    };
    let filters = match confines.filter(|mechanisms| mechanisms.seccomp) {
        Some(mechanisms) => Some(filters(start.confinement, mechanisms.landlock).map_err(|diagnostic| {
            Diagnostic::new(Code::INTERNAL, format!("no filter of calls could be made: {diagnostic}"))
        })?),
        None => None,
    };
    // Git removes its locks when it is asked to end; a lock that remains is reported (`git/guard`).
    let orphaned = if start.is_git { libc::SIGTERM } else { libc::SIGKILL };
    let tether = spawn::signal_on_host_exit(orphaned).map_err(wrong)?;
    let (to_read, input) = io::pipe().map_err(wrong)?;
    let (output, to_print) = io::pipe().map_err(wrong)?;
    let (errors, to_complain) = io::pipe().map_err(wrong)?;
    let variables = start.env.iter().map(|(name, value)| spawn::c_string(&format!("{name}={value}")));
    let words = std::iter::once(start.name).chain(start.arguments.iter().map(String::as_str));
    let image = ProcessImage {
        program: spawn::c_string(start.path).map_err(nul)?,
        arguments: words.map(spawn::c_string).collect::<std::result::Result<_, _>>().map_err(nul)?,
        variables: variables.collect::<std::result::Result<_, _>>().map_err(nul)?,
        folder: File::open(start.folder).map_err(wrong)?.into(),
        streams: [
            above_standard_streams(to_read.into())?,
            above_standard_streams(to_print.into())?,
            above_standard_streams(to_complain.into())?,
        ],
        ruleset,
        filters,
        confined: confines.is_some(),
        tether,
        limits: limits(start.is_git),
    };
    let pid = spawn::spawn(&image).map_err(|(step, error)| match step {
        "execve" => start_error(start, &error),
        step => start_error(start, &error).help(format!("its start failed at {step}")),
    })?;
    let tether = Some(image.tether);
    Ok(StartedProgram { pid, input: input.into(), output: output.into(), errors: errors.into(), absent, tether })
}

//= docs/spec.md#programs
//# A program MUST have limits of memory, file size, number of processes and output.
/// Resources and their limits; none is above what this process has itself.
fn limits(is_git: bool) -> Vec<(Resource, u64)> {
    let most = |of: Resource, most: u64| getrlimit(of).maximum.unwrap_or(u64::MAX).min(most);
    let mut limits = vec![
        // One byte: that no core is written, and, unlike 0, none is piped to a program of the system.
        (Resource::Core, most(Resource::Core, 1)),
        (Resource::Data, most(Resource::Data, if is_git { MAX_MEMORY_OF_GIT } else { MAX_MEMORY })),
        (Resource::Fsize, most(Resource::Fsize, MAX_FILE_BYTES)),
        (Resource::Nofile, most(Resource::Nofile, MAX_OPEN_FILES)),
    ];
    let processes = running_processes().map(|running| most(Resource::Nproc, running + MAX_PROCESSES));
    limits.extend(processes.map(|max| (Resource::Nproc, max)));
    limits
}

/// How many processes and threads there are on this machine: the system counts those of the user against the limit.
fn running_processes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// The message of an error of Landlock, with that of the system error behind it, if there is one.
fn reason_of(diagnostic: &(dyn std::error::Error + 'static)) -> String {
    if let Some(error) = diagnostic.downcast_ref::<io::Error>() {
        return reason(error);
    }
    let causes = std::iter::successors(diagnostic.source(), |diagnostic| diagnostic.source());
    let of_system = causes.filter_map(|diagnostic| diagnostic.downcast_ref::<io::Error>()).next();
    of_system.map_or_else(|| diagnostic.to_string(), |error| format!("{diagnostic}: {}", reason(error)))
}

/// A descriptor that is none of the three that every program has.
fn above_standard_streams(stream: OwnedFd) -> Result<OwnedFd> {
    rustix::io::fcntl_dupfd_cloexec(&stream, 3)
        .map_err(|error| Diagnostic::new(Code::WORLD, format!("a program has no streams: {}", reason(&error.into()))))
}

/// What a rule of Landlock permits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LandlockGrant {
    /// The entries of folders, and of no file what it holds.
    List,
    Read,
    Execute,
    Write,
    /// `/dev/null`: written to, and no more.
    Sink,
}

impl LandlockGrant {
    fn rights(self) -> BitFlags<AccessFs> {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        match self {
            Self::List => AccessFs::ReadDir.into(),
            Self::Read => read,
            Self::Execute => read | AccessFs::Execute,
            Self::Sink => AccessFs::ReadFile | AccessFs::WriteFile,
            // No program of its own making is started unless `start` names its path, and no device, pipe or socket is
            // made.
            Self::Write => {
                let change = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::RemoveDir | AccessFs::RemoveFile;
                read | change | AccessFs::MakeDir | AccessFs::MakeReg | AccessFs::MakeSym | AccessFs::Refer
            }
        }
    }
}

/// What is refused unless a rule grants it: all that this version of Landlock knows, except for TCP where that is
/// granted.
fn handled_rights(abi: ABI, network: bool) -> (BitFlags<AccessFs>, BitFlags<AccessNet>, BitFlags<Scope>) {
    let net = if network { BitFlags::empty() } else { AccessNet::from_all(abi) };
    (AccessFs::from_all(abi), net, Scope::from_all(abi))
}

/// The rules of Landlock: whatever they do not name is refused.
fn ruleset(start: &ProgramStart<'_>, mechanisms: &Mechanisms, absent: &mut Vec<String>) -> Result<OwnedFd> {
    let unusable = |error: &(dyn std::error::Error + 'static)| {
        let error = reason_of(error);
        Diagnostic::new(Code::WORLD, format!("`{}` cannot be confined: {error}", start.name))
    };
    let abi = ABI::from(i32::try_from(mechanisms.landlock).unwrap_or(i32::MAX));
    let confinement = start.confinement;
    //= docs/spec.md#programs
    //# Where the system cannot confine programs as required, `run` and git that changes something MUST be
    //# refused, unless the user allows them.
    let (files, net, scopes) = handled_rights(abi, confinement.network);
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(files)
        .map_err(|error| unusable(&error))?;
    if !net.is_empty() {
        rules = rules.handle_access(net).map_err(|error| unusable(&error))?;
    }
    if !scopes.is_empty() {
        rules = rules.scope(scopes).map_err(|error| unusable(&error))?;
    }
    let mut created = rules.create().map_err(|error| unusable(&error))?;
    for (at, grant) in system_grants(start) {
        if let Ok(opened) = open(at, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            created = add_rule(created, opened, grant, abi).map_err(|error| unusable(&*error))?;
        }
    }
    for file in start.files {
        let opened = open_judged(start, file)?;
        created = add_rule(created, opened, LandlockGrant::Execute, abi).map_err(|error| unusable(&*error))?;
    }
    if let Some(folder) = start.temporary {
        let temporary = PathFd::new(folder).map_err(|error| unusable(&error))?;
        created = add_rule(created, temporary, LandlockGrant::Write, abi).map_err(|error| unusable(&*error))?;
    }
    let read = confinement.read.iter().map(|at| (at, LandlockGrant::Read));
    let read = confinement.list.iter().map(|at| (at, LandlockGrant::List)).chain(read);
    let read = confinement.start.iter().map(|at| (at, LandlockGrant::Execute)).chain(read);
    for (at, grant) in read.chain(confinement.write.iter().map(|at| (at, LandlockGrant::Write))) {
        match open_granted(start, at, grant)? {
            Some(opened) => created = add_rule(created, opened, grant, abi).map_err(|error| unusable(&*error))?,
            None => absent.push(at.clone()),
        }
    }
    let opened: Option<OwnedFd> = created.into();
    opened.ok_or_else(|| unusable(&io::Error::other("there is no Landlock")))
}

fn add_rule(
    created: RulesetCreated,
    opened: impl AsFd,
    grant: LandlockGrant,
    abi: ABI,
) -> std::result::Result<RulesetCreated, Box<dyn std::error::Error>> {
    let is_folder = FileType::from_raw_mode(fstat(&opened)?.st_mode) == FileType::Directory;
    let of_kind = if is_folder { AccessFs::from_all(abi) } else { AccessFs::from_file(abi) };
    Ok(created.add_rule(PathBeneath::new(opened, grant.rights() & of_kind))?)
}

/// What every program of this kind may touch, whatever it was granted.
fn system_grants(start: &ProgramStart<'_>) -> impl Iterator<Item = (&'static str, LandlockGrant)> {
    static SHARED: OnceLock<Vec<String>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| {
        let real = |at: &&str| std::fs::canonicalize(at).ok()?.into_os_string().into_string().ok();
        let mut found: Vec<String> = SYSTEM.iter().filter_map(real).collect();
        found.sort();
        found.dedup_by(|later, earlier| path::is_below(later, earlier));
        found
    });
    let confinement = start.confinement;
    let programs =
        if confinement.processes == ChildProcesses::Any { LandlockGrant::Execute } else { LandlockGrant::Read };
    let rules = shared.iter().map(move |at| (at.as_str(), programs));
    let more = if start.is_git && !confinement.network { &[] } else { READABLE };
    let for_network = if confinement.network { &FOR_NETWORK[..] } else { &[] };
    let read = FOR_ALL.iter().chain(more).chain(for_network).map(|at| (*at, LandlockGrant::Read));
    rules.chain(read).chain([("/dev/null", LandlockGrant::Sink)])
}

/// A file that is executed, open: the very one that was judged.
//= docs/spec.md#programs
//# The file that is executed MUST be the file that was checked.
fn open_judged(start: &ProgramStart<'_>, file: &ExecutedFile) -> Result<OwnedFd> {
    let lost = || {
        let message = format!("`{}` is not run: `{}` changed while it was looked at", start.name, file.path);
        Diagnostic::new(Code::WORLD, message).help("call again")
    };
    let opened = open(&file.path, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty());
    let opened = opened.map_err(|error| match error {
        Errno::NOENT | Errno::NOTDIR | Errno::LOOP => lost(),
        error => program::unreadable_error(start.name, &file.path, &error.into()),
    })?;
    let known = fstat(&opened).map_err(|_| lost())?;
    if (known.st_dev, known.st_ino) == file.identity { Ok(opened) } else { Err(lost()) }
}

/// Opens a granted path; `None` if it does not exist. Below a root no symlink is followed.
//= docs/spec.md#programs
//# A program's grant MUST be checked at the target of its symlinks, and MUST NOT be reached through a symlink
//# below a root.
fn open_granted(start: &ProgramStart<'_>, at: &str, grant: LandlockGrant) -> Result<Option<OwnedFd>> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = match start.roots.start(at) {
        Ok(None) => return Ok(None),
        Ok(Some(found)) => {
            let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            openat2(found.dir, found.within, flags, Mode::empty(), beneath)
        }
        // For git, toolsd names paths outside of all roots. What a grant names was judged by its real path.
        Err(_) if start.is_git => open(at, flags, Mode::empty()),
        Err(_) => openat2(CWD, at, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS),
    };
    match opened {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        // Git reads a link itself, which nothing restricts, and not what it leads to.
        Err(Errno::LOOP | Errno::XDEV) if start.is_git && grant == LandlockGrant::Read => Ok(None),
        Err(Errno::LOOP | Errno::XDEV) => {
            let message = format!("`{}` cannot be run: `{at}` is a symlink or behind one", start.name);
            Err(Diagnostic::new(Code::WORLD, message).help("grant the folder that it leads to"))
        }
        Err(error) => Err(start_error(start, &error.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each right of each grant, and no other one: what nothing grants is refused, for all rights are handled.
    #[test]
    fn grants_have_their_rights_and_no_more() {
        use AccessFs as A;
        let all = [
            (A::Execute, [false, false, true, false, false]),
            (A::WriteFile, [false, false, false, true, true]),
            (A::ReadFile, [false, true, true, true, true]),
            (A::ReadDir, [true, true, true, true, false]),
            (A::RemoveDir, [false, false, false, true, false]),
            (A::RemoveFile, [false, false, false, true, false]),
            (A::MakeChar, [false, false, false, false, false]),
            (A::MakeDir, [false, false, false, true, false]),
            (A::MakeReg, [false, false, false, true, false]),
            (A::MakeSock, [false, false, false, false, false]),
            (A::MakeFifo, [false, false, false, false, false]),
            (A::MakeBlock, [false, false, false, false, false]),
            (A::MakeSym, [false, false, false, true, false]),
            (A::Refer, [false, false, false, true, false]),
            (A::Truncate, [false, false, false, true, false]),
            (A::IoctlDev, [false, false, false, false, false]),
        ];
        for (right, has) in all {
            for (grant, has) in [
                LandlockGrant::List,
                LandlockGrant::Read,
                LandlockGrant::Execute,
                LandlockGrant::Write,
                LandlockGrant::Sink,
            ]
            .into_iter()
            .zip(has)
            {
                assert_eq!(grant.rights().contains(right), has, "{right:?}");
            }
        }
    }

    /// Each right that is refused, and since which version of Landlock.
    #[test]
    fn each_right_is_handled_as_soon_as_landlock_knows_of_it() {
        use AccessFs as A;
        let old = [
            A::Execute,
            A::WriteFile,
            A::ReadFile,
            A::ReadDir,
            A::RemoveDir,
            A::RemoveFile,
            A::MakeChar,
            A::MakeDir,
            A::MakeReg,
            A::MakeSock,
            A::MakeFifo,
            A::MakeBlock,
            A::MakeSym,
        ];
        let newer = [(A::Refer, 2), (A::Truncate, 3), (A::IoctlDev, 5)];
        for version in 1..=7 {
            for network in [false, true] {
                let (files, net, scopes) = handled_rights(ABI::from(version), network);
                let rights = old.iter().map(|right| (*right, 1)).chain(newer);
                rights.for_each(|(right, since)| assert_eq!(files.contains(right), version >= since, "{right:?}"));
                for right in [AccessNet::BindTcp, AccessNet::ConnectTcp] {
                    assert_eq!(net.contains(right), version >= 4 && !network, "{right:?} of {version}");
                }
                for scope in [Scope::AbstractUnixSocket, Scope::Signal] {
                    assert_eq!(scopes.contains(scope), version >= 6, "{scope:?} of {version}");
                }
            }
        }
    }

    //= docs/spec.md#programs
    //= type=test
    //# A program MUST have limits of memory, file size, number of processes and output.
    #[test]
    fn each_resource_has_its_limit_and_none_above_our_own() {
        for (is_git, memory) in [(true, 1 << 30), (false, 4 << 30)] {
            let all =
                [(Resource::Core, 1), (Resource::Data, memory), (Resource::Fsize, 4 << 30), (Resource::Nofile, 4096)];
            let expected = all.map(|(of, most)| (of, getrlimit(of).maximum.unwrap_or(u64::MAX).min(most)));
            let limits = limits(is_git);
            assert_eq!(limits[..4], expected);
            let running = running_processes().unwrap();
            assert!(limits[4].0 == Resource::Nproc && limits[4].1 <= running + MAX_PROCESSES + 500);
        }
    }
}
