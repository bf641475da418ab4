//! Calls of the kernel that a confined program is refused: filters of seccomp.

#[cfg(test)]
mod tests;

use super::Mechanisms;
use crate::world::run::{Confinement, Processes};
use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The newest call that this list was compared with: `mseal` of Linux 6.10. What came later does not exist for a
/// program, nor does the other numbering of x86-64 (x32), which would pass by every rule.
const NEWEST: u32 = 462;

/// Calls that nothing needs which works on files: other processes, the whole machine, ways around Landlock.
const NEVER: &[c_long] = &[
    libc::SYS_add_key,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_fanotify_init,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    // It tells the names of what is made and read in folders that Landlock does not let open.
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
    // Owners: Landlock does not know of them.
    libc::SYS_fchown,
    libc::SYS_fchownat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
];

/// Attributes of files, of which Landlock does not know either.
const ATTRIBUTES: &[c_long] = &[
    libc::SYS_fremovexattr,
    libc::SYS_fsetxattr,
    libc::SYS_lremovexattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_setxattr,
];

/// Calls that do nothing and say that they did: a program that left the group of its call would outlive it. Many that try
/// to leave give up where that is refused (`start_new_session` of Python, `setsid(1)`), and need no group of their own.
const IGNORED: &[c_long] = &[libc::SYS_setpgid, libc::SYS_setsid];

/// Calls that set owners, and which argument the user is; the group follows. To give a file to the user that a program runs
/// as does nothing and says that it did: `cp -a` and `tar` of root ask for it, and what they made is that user's already.
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

/// The flags by which `clone` makes namespaces: in one of its own a program could be its own root.
const NAMESPACES: [libc::c_int; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// Whether a program writes, which processes it starts, whether it has the network, the version of Landlock: what filters
/// depend on.
type Kind = (bool, Processes, bool, u32);

/// The filters for this confinement, in the order in which they are installed. They are made once for each kind.
pub(super) fn filters(confinement: &Confinement, mechanisms: &Mechanisms) -> Result<Arc<Vec<BpfProgram>>, String> {
    static MADE: Mutex<Vec<(Kind, Arc<Vec<BpfProgram>>)>> = Mutex::new(Vec::new());
    let kind = (!confinement.write.is_empty(), confinement.processes, confinement.network, mechanisms.landlock);
    let mut known = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, filters)) = known.iter().find(|(of, _)| *of == kind) {
        return Ok(Arc::clone(filters));
    }
    let filters = Arc::new(make(confinement, mechanisms)?);
    known.push((kind, Arc::clone(&filters)));
    Ok(filters)
}

fn make(confinement: &Confinement, mechanisms: &Mechanisms) -> Result<Vec<BpfProgram>, String> {
    let sets = sets(confinement, mechanisms.landlock).map_err(|fault| fault.to_string())?;
    std::iter::once(Ok(newest())).chain(sets.into_iter().map(|(rules, error)| compiled(rules, error))).collect()
}

/// What is refused, and by which error. Each set is a filter: one filter has one answer.
fn sets(confinement: &Confinement, landlock: u32) -> Compiled<[(Rules, libc::c_int); 4]> {
    // The C library uses the older call where there is no `clone3`; the flags of that one cannot be seen by a filter.
    let mut absent: Rules = [(libc::SYS_clone3, Vec::new())].into();
    if landlock < 3 {
        absent.insert(libc::SYS_openat2, Vec::new());
    }
    let whole = |calls: &[c_long]| -> Rules { calls.iter().map(|call| (*call, Vec::new())).collect() };
    // Of equal answers the one of the filter that was installed last counts: this is not refused.
    let mut ignored = whole(IGNORED);
    for (call, owner) in OWNERS {
        ignored.insert(*call, own_owner(*owner)?);
    }
    Ok([
        (denied(confinement, landlock)?, libc::EPERM),
        (absent, libc::ENOSYS),
        (ignored, 0),
        // Programs copy attributes where a file system has them: this one has none that they may set.
        (whole(ATTRIBUTES), libc::EOPNOTSUPP),
    ])
}

fn compiled(rules: Rules, error: libc::c_int) -> Result<BpfProgram, String> {
    let arch = std::env::consts::ARCH.try_into().map_err(|fault: seccompiler::BackendError| fault.to_string())?;
    let action = SeccompAction::Errno(error.unsigned_abs());
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, action, arch);
    filter.and_then(BpfProgram::try_from).map_err(|fault| fault.to_string())
}

/// A filter by which calls of higher numbers than [`NEWEST`] are none.
fn newest() -> BpfProgram {
    let step = |code: u32, jt, k| sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf: 0, k };
    let none = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    vec![
        // The number of the call is the first word of `struct seccomp_data`.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K, 1, NEWEST),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
        step(libc::BPF_RET | libc::BPF_K, 0, none),
    ]
}

type Compiled<T> = Result<T, seccompiler::BackendError>;

/// The calls that are refused, and for which arguments.
fn denied(confinement: &Confinement, landlock: u32) -> Compiled<Rules> {
    let mut rules: Rules = NEVER.iter().map(|call| (*call, Vec::new())).collect();
    if confinement.write.is_empty() {
        rules.extend(MARKS.iter().map(|call| (*call, Vec::new())));
    }
    for call in OWN_PROCESS {
        rules.insert(*call, vec![when(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?]);
    }
    // `setpriority(which, who)`: of itself alone.
    rules.insert(libc::SYS_setpriority, vec![when(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?]);
    rules.insert(libc::SYS_clone, clones(confinement.processes)?);
    if confinement.processes == Processes::None {
        #[cfg(target_arch = "x86_64")]
        rules.extend([(libc::SYS_fork, Vec::new()), (libc::SYS_vfork, Vec::new())]);
    }
    rules.insert(libc::SYS_socketpair, pairs_of_sockets(confinement)?);
    rules.insert(libc::SYS_socket, sockets(confinement.network)?);
    if landlock < 6 {
        rules.extend(SIGNALS.iter().map(|call| (*call, Vec::new())));
        let owner = |command: libc::c_int| when(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, number(command));
        // A signal can be had sent by a descriptor, too: `F_SETOWN`, `F_SETOWN_EX`.
        rules.insert(libc::SYS_fcntl, vec![owner(libc::F_SETOWN)?, owner(15)?]);
    }
    if landlock < 3 {
        rules.extend(truncations()?);
    }
    Ok(rules)
}

/// A pair is let in where the two are bound to each other for good: one that takes messages (datagrams) can send them
/// to any socket that has a name in the file system, and Landlock does not ask for that one.
fn pairs_of_sockets(confinement: &Confinement) -> Compiled<Vec<SeccompRule>> {
    if !confinement.network && confinement.processes == Processes::None {
        return Ok(Vec::new());
    }
    // The type without its flags: `SOCK_CLOEXEC`, `SOCK_NONBLOCK`.
    let lasting = [libc::SOCK_STREAM, libc::SOCK_SEQPACKET];
    let is_other = |kind: &libc::c_int| {
        SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(0xf), number(*kind))
    };
    let others = (0..=0xf).filter(|kind| !lasting.contains(kind));
    others.map(|kind| SeccompRule::new(vec![is_other(&kind)?])).collect()
}

/// The user of this process and its group, or none (-1), in the arguments from this one on.
fn own_owner(from: u8) -> Compiled<Vec<SeccompRule>> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let is = |argument, value: u32| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, u64::from(value))
    };
    let pairs = [(user, group), (user, u32::MAX), (u32::MAX, group), (u32::MAX, u32::MAX)];
    pairs.into_iter().map(|(user, group)| SeccompRule::new(vec![is(from, user)?, is(from + 1, group)?])).collect()
}

/// A new process shares no thread group with its parent.
fn clones(processes: Processes) -> Compiled<Vec<SeccompRule>> {
    let any = |flag: libc::c_int, value| when(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(number(flag)), value);
    match processes {
        Processes::None => Ok(vec![any(libc::CLONE_THREAD, 0)?]),
        Processes::SameProgram | Processes::Any => NAMESPACES.iter().map(|flag| any(*flag, number(*flag))).collect(),
    }
}

/// Sockets of other families than those of the internet reach services of this machine, some of which obey anybody.
fn sockets(network: bool) -> Compiled<Vec<SeccompRule>> {
    if !network {
        return Ok(Vec::new());
    }
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    let others =
        families.map(|family| SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, number(family)));
    let others = others.into_iter().collect::<Compiled<Vec<_>>>()?;
    // Of the kernel's own sockets, the one that tells the addresses of this machine: `NETLINK_ROUTE`, 0.
    let netlink = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, number(libc::AF_NETLINK))?;
    let other_kind = SeccompCondition::new(2, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)?;
    Ok(vec![SeccompRule::new(others)?, SeccompRule::new(vec![netlink, other_kind])?])
}

/// Before its version 3 Landlock lets files be cut that may not be written.
fn truncations() -> Compiled<Rules> {
    let cut = libc::O_TRUNC | libc::O_ACCMODE;
    let read_only = |argument| {
        let masked = SeccompCmpOp::MaskedEq(number(cut));
        when(argument, SeccompCmpArgLen::Dword, masked, number(libc::O_TRUNC | libc::O_RDONLY))
    };
    let mut rules: Rules = [(libc::SYS_truncate, Vec::new()), (libc::SYS_openat, vec![read_only(2)?])].into();
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, vec![read_only(1)?]);
    Ok(rules)
}

fn when(argument: u8, length: SeccompCmpArgLen, compared: SeccompCmpOp, value: u64) -> Compiled<SeccompRule> {
    SeccompRule::new(vec![SeccompCondition::new(argument, length, compared, value)?])
}

/// A number as the kernel sees it in an argument.
fn number(of: libc::c_int) -> u64 {
    u64::from(of.cast_unsigned())
}
