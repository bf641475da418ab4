//! The seccomp filters of a confined program: which system calls it is refused, and with which error.
//!
//! A filter of the crate has one error for all of its calls, so there is one filter for each error. The kernel asks all
//! of them, the one that was installed last first; of those that do not let a call in, the one that is asked first
//! counts. To install them takes 0.3 ms of each start.

#[cfg(test)]
mod tests;

use crate::world::run::{ChildProcesses, Confinement};
use libc::{c_int, c_long};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, sock_filter,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The newest call that this list was compared with: `mseal` of Linux 6.10. What came later does not exist for a
/// program, nor does the other numbering of x86-64 (x32), which would pass by every rule.
const NEWEST: u32 = 462;

/// Calls that a program that works on files does not need: other processes, the whole machine, ways around Landlock.
const NEVER: &[c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_fanotify_init,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    // It reveals the names of files created and read in folders that Landlock does not let a program open.
    libc::SYS_inotify_add_watch,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_ioprio_set,
    libc::SYS_kcmp,
    libc::SYS_keyctl,
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
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
    libc::SYS_request_key,
    libc::SYS_semctl,
    libc::SYS_semget,
    libc::SYS_setns,
    libc::SYS_shmctl,
    libc::SYS_shmget,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
];

/// Attributes of files, of which Landlock does not know either: they hold what anybody has put there.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_fgetxattr,
    libc::SYS_flistxattr,
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_getxattr,
    libc::SYS_lgetxattr,
    libc::SYS_listxattr,
    libc::SYS_llistxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
];

/// Calls that do nothing and report success: a program that left the group of its call would outlive it. Many programs
/// that try to leave give up if that is refused (`start_new_session` of Python, `setsid(1)`), and do not need a
/// separate group.
const IGNORED: &[c_long] = &[libc::SYS_setpgid, libc::SYS_setsid];

/// Calls that set owners, which Landlock does not know, and the index of the user argument; the group follows. Giving a
/// file to the user that a program runs as does nothing and reports success: `cp -a` and `tar` of root ask for it, and
/// their files belong to that user already.
const OWNERS: &[(c_long, u8)] = &[
    (libc::SYS_fchown, 1),
    (libc::SYS_fchownat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chown, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_lchown, 1),
];

/// Permissions and times, of which Landlock does not know either: a program that writes nothing needs none.
const MARKS: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_utimensat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
];

/// Calls that set permissions, and which argument these are: a program for everybody that runs as its owner (setuid) is
/// never made.
const PERMISSIONS: &[(c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
];

/// `fchmodat2`, which has this number on all processors.
const FCHMODAT2: c_long = 452;

/// Calls that name a process by their first argument: each for the caller alone, which is 0.
const OWN_PROCESS: &[c_long] = &[
    libc::SYS_prlimit64,
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setscheduler,
];

/// Signals, where Landlock cannot keep them within the program and what it started (before its version 6).
const SIGNALS: &[c_long] = &[
    libc::SYS_kill,
    libc::SYS_pidfd_send_signal,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_tgkill,
    libc::SYS_tkill,
];

/// The flags by which `clone` makes namespaces: in a separate one a program could be root.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Whether a program writes, which processes it starts, whether it has the network, the version of Landlock: what the
/// filter depends on.
type FilterKind = (bool, ChildProcesses, bool, u32);

/// The filters for this confinement, in the order in which they are installed. They are made once for each kind.
pub(super) fn filters(confinement: &Confinement, landlock: u32) -> Result<Arc<[BpfProgram]>, String> {
    static MADE: Mutex<Vec<(FilterKind, Arc<[BpfProgram]>)>> = Mutex::new(Vec::new());
    let kind = (!confinement.write.is_empty(), confinement.processes, confinement.network, landlock);
    let mut known = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, filters)) = known.iter().find(|(of, _)| *of == kind) {
        return Ok(Arc::clone(filters));
    }
    let made = rules(confinement, landlock).and_then(|rules| compile(&rules)).map_err(|error| error.to_string())?;
    let filters: Arc<[BpfProgram]> = made.into();
    known.push((kind, Arc::clone(&filters)));
    Ok(filters)
}

/// Calls that are answered by an error: always, or where one of these rules holds.
type CallRules = BTreeMap<c_long, Vec<SeccompRule>>;

/// The errors, and the calls that each answers. The error 0 also counts: nothing is done, and the call reports success.
/// If two have the same call, the later one counts where it holds.
fn rules(confinement: &Confinement, landlock: u32) -> Result<[(c_int, CallRules); 4], BackendError> {
    let owners = OWNERS.iter().map(|(call, _)| call);
    // The C library uses the older call where there is no `clone3`; the flags of that one cannot be seen by a filter.
    let mut absent = always(&[libc::SYS_clone3]);
    if landlock < 3 {
        absent.extend(always(&[libc::SYS_openat2]));
    }
    Ok([
        (0, always(IGNORED.iter().chain(owners))),
        (libc::ENOSYS, absent),
        // Programs copy attributes where a file system has them: this one has none.
        (libc::EOPNOTSUPP, always(ATTRIBUTES)),
        (libc::EPERM, refused_calls(confinement, landlock)?),
    ])
}

fn always<'a>(calls: impl IntoIterator<Item = &'a c_long>) -> CallRules {
    calls.into_iter().map(|call| (*call, Vec::new())).collect()
}

/// The calls that are refused, and for which arguments.
fn refused_calls(confinement: &Confinement, landlock: u32) -> Result<CallRules, BackendError> {
    let mut rules = always(NEVER);
    for (call, owner) in OWNERS {
        rules.insert(*call, other_owners(*owner)?);
    }
    for (call, mode) in PERMISSIONS {
        let setuid = libc::S_ISUID;
        rules.insert(*call, vec![all_of(&[(*mode, MaskedEq(setuid.into()), setuid)])?]);
    }
    if confinement.write.is_empty() {
        rules.extend(always(MARKS));
    }
    for call in OWN_PROCESS {
        rules.insert(*call, vec![all_of(&[(0, Ne, 0)])?]);
    }
    // `setpriority(which, who)`: of itself alone.
    rules.insert(libc::SYS_setpriority, vec![all_of(&[(1, Ne, 0)])?]);
    rules.insert(libc::SYS_clone, clones(confinement.processes)?);
    if confinement.processes == ChildProcesses::None {
        #[cfg(target_arch = "x86_64")]
        rules.extend(always(&[libc::SYS_fork, libc::SYS_vfork]));
    }
    rules.insert(libc::SYS_socketpair, pairs_of_sockets(confinement)?);
    rules.insert(libc::SYS_socket, sockets(confinement.network)?);
    if landlock < 6 {
        rules.extend(always(SIGNALS));
        // A signal can be had sent by a descriptor, too: `F_SETOWN`, `F_SETOWN_EX`.
        let owner = |value| all_of(&[(1, Eq, value)]);
        rules.insert(libc::SYS_fcntl, vec![owner(libc::F_SETOWN.cast_unsigned())?, owner(15)?]);
    }
    if landlock < 3 {
        rules.extend(always(&[libc::SYS_truncate]));
        rules.insert(libc::SYS_openat, vec![cutting(2)?]);
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, vec![cutting(1)?]);
    }
    Ok(rules)
}

/// A pair is let in where the two are bound to each other for good: one that takes messages (datagrams) can send them
/// to any socket that has a name in the file system, and Landlock does not ask for that one.
fn pairs_of_sockets(confinement: &Confinement) -> Result<Vec<SeccompRule>, BackendError> {
    if !confinement.network && confinement.processes == ChildProcesses::None {
        return Ok(Vec::new());
    }
    // The type without its flags: `SOCK_CLOEXEC`, `SOCK_NONBLOCK`.
    let lasting = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET].map(c_int::cast_unsigned);
    let others = (0..=0xf).filter(|kind| !lasting.contains(kind));
    others.map(|kind| all_of(&[(1, MaskedEq(0xf), kind)])).collect()
}

/// Another user than that of this process, or another group; -1 (no change) does not count. The user is in this
/// argument.
fn other_owners(user: u8) -> Result<Vec<SeccompRule>, BackendError> {
    let (own_user, own_group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let is_other = |argument, own| all_of(&[(argument, Ne, own), (argument, Ne, u32::MAX)]);
    Ok(vec![is_other(user, own_user)?, is_other(user + 1, own_group)?])
}

/// A new process shares no thread group with its parent.
fn clones(processes: ChildProcesses) -> Result<Vec<SeccompRule>, BackendError> {
    let flag = |flag: c_int, is_set| {
        let flag = flag.cast_unsigned();
        all_of(&[(0, MaskedEq(flag.into()), if is_set { flag } else { 0 })])
    };
    match processes {
        ChildProcesses::None => Ok(vec![flag(libc::CLONE_THREAD, false)?]),
        ChildProcesses::Any => NAMESPACES.iter().map(|space| flag(*space, true)).collect(),
    }
}

/// Sockets of other families than those of the internet reach services of this machine, some of which obey anybody.
fn sockets(network: bool) -> Result<Vec<SeccompRule>, BackendError> {
    if !network {
        return Ok(Vec::new());
    }
    let [internet, internet6, kernel] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(c_int::cast_unsigned);
    let others = all_of(&[(0, Ne, internet), (0, Ne, internet6), (0, Ne, kernel)])?;
    // Of the kernel's own sockets, the one that reveals the addresses of this machine: `NETLINK_ROUTE`, 0.
    let other_kind = all_of(&[(0, Eq, kernel), (2, Ne, 0)])?;
    Ok(vec![others, other_kind])
}

/// To open a file with these flags, in this argument, cuts it: before its version 3 Landlock lets that be done with
/// files that may not be written.
fn cutting(argument: u8) -> Result<SeccompRule, BackendError> {
    let [cuts, mode] = [libc::O_TRUNC | libc::O_RDONLY, libc::O_TRUNC | libc::O_ACCMODE].map(c_int::cast_unsigned);
    all_of(&[(argument, MaskedEq(mode.into()), cuts)])
}

/// A rule that holds where all of this holds of the arguments: of their lower 32 bits, which are all that the kernel
/// takes for a number, flags, or a user.
fn all_of(conditions: &[(u8, SeccompCmpOp, u32)]) -> Result<SeccompRule, BackendError> {
    let conditions = conditions.iter().map(|(argument, compares, value)| {
        SeccompCondition::new(*argument, SeccompCmpArgLen::Dword, compares.clone(), u64::from(*value))
    });
    SeccompRule::new(conditions.collect::<Result<_, _>>()?)
}

/// Compiles the filters. The one for calls that do not exist also covers numbers above [`NEWEST`]: the crate compares
/// numbers only for equality, so this comparison comes before its program.
fn compile(rules: &[(c_int, CallRules)]) -> Result<Vec<BpfProgram>, BackendError> {
    let arch = std::env::consts::ARCH.try_into()?;
    let mut filters = Vec::new();
    for (error, calls) in rules {
        let answer = SeccompAction::Errno(error.unsigned_abs());
        let filter = SeccompFilter::new(calls.clone(), SeccompAction::Allow, answer, arch)?;
        let mut program = BpfProgram::try_from(filter)?;
        if *error == libc::ENOSYS {
            program.splice(..0, numbers_above(NEWEST, *error));
        }
        filters.push(program);
    }
    Ok(filters)
}

/// Answers calls of higher numbers than this one by an error; others continue behind.
fn numbers_above(newest: u32, error: c_int) -> [sock_filter; 3] {
    let step = |code: u32, k, jf| sock_filter { code: u16::try_from(code).unwrap_or_default(), jt: 0, jf, k };
    [
        // The first word of `struct seccomp_data` is the number.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, newest, 1),
        step(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ERRNO | error.unsigned_abs(), 0),
    ]
}
