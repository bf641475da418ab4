//! The seccomp filter of a confined program: which system calls it is refused, compiled to a tree of their numbers.
//!
//! When a program is installed the kernel translates each step of it, and runs it for each number that a call can
//! have: 539 steps took 0.13 ms of each start. What a library makes of each rule asks for the architecture and the
//! number again.

#[cfg(test)]
mod tests;

use crate::world::run::{ChildProcesses, Confinement};
use libc::{c_int, c_long};
use seccompiler::{BpfProgram, TargetArch, sock_filter};
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

/// Calls that do nothing and say that they did: a program that left the group of its call would outlive it. Many that
/// try to leave give up where that is refused (`start_new_session` of Python, `setsid(1)`), and need no group of their
/// own.
const IGNORED: &[c_long] = &[libc::SYS_setpgid, libc::SYS_setsid];

/// Calls that set owners, which Landlock does not know of, and which argument the user is; the group follows. To give
/// a file to the user that a program runs as does nothing and says that it did: `cp -a` and `tar` of root ask for it,
/// and what they made is that user's already.
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

/// Whether a program writes, which processes it starts, whether it has the network, the version of Landlock: what the
/// filter depends on.
type FilterKind = (bool, ChildProcesses, bool, u32);

/// The filter for this confinement. It is made once for each kind.
pub(super) fn filter(confinement: &Confinement, landlock: u32) -> Result<Arc<BpfProgram>, String> {
    static MADE: Mutex<Vec<(FilterKind, Arc<BpfProgram>)>> = Mutex::new(Vec::new());
    let kind = (!confinement.write.is_empty(), confinement.processes, confinement.network, landlock);
    let mut known = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, filter)) = known.iter().find(|(of, _)| *of == kind) {
        return Ok(Arc::clone(filter));
    }
    let filter = Arc::new(compile(&rules(confinement, landlock))?);
    known.push((kind, Arc::clone(&filter)));
    Ok(filter)
}

/// The calls that are not let in unchanged, and their answers.
fn rules(confinement: &Confinement, landlock: u32) -> CallRules {
    let mut rules = refused_calls(confinement, landlock);
    let mut add = |calls: &[c_long], error| rules.extend(calls.iter().map(|call| (*call, CallRule::Error(error))));
    // The C library uses the older call where there is no `clone3`; the flags of that one cannot be seen by a filter.
    add(&[libc::SYS_clone3], libc::ENOSYS);
    if landlock < 3 {
        add(&[libc::SYS_openat2], libc::ENOSYS);
    }
    add(IGNORED, 0);
    // Programs copy attributes where a file system has them: this one has none.
    add(ATTRIBUTES, libc::EOPNOTSUPP);
    for (call, owner) in OWNERS {
        rules.insert(*call, CallRule::Where(vec![own_owner(*owner)], Some(0), Some(libc::EPERM)));
    }
    rules
}

/// The calls that are refused, and for which arguments.
fn refused_calls(confinement: &Confinement, landlock: u32) -> CallRules {
    let whole =
        |calls: &[c_long]| -> CallRules { calls.iter().map(|call| (*call, CallRule::Error(libc::EPERM))).collect() };
    let parts = |parts: Vec<Vec<ArgumentCondition>>| match parts.is_empty() {
        true => CallRule::Error(libc::EPERM),
        false => CallRule::Where(parts, Some(libc::EPERM), None),
    };
    let mut rules = whole(NEVER);
    for (call, mode) in PERMISSIONS {
        let setuid = ArgumentCondition { mask: libc::S_ISUID, ..none_of(*mode, &[0]) };
        rules.insert(*call, parts(vec![vec![setuid]]));
    }
    if confinement.write.is_empty() {
        rules.extend(whole(MARKS));
    }
    for call in OWN_PROCESS {
        rules.insert(*call, parts(vec![vec![none_of(0, &[0])]]));
    }
    // `setpriority(which, who)`: of itself alone.
    rules.insert(libc::SYS_setpriority, parts(vec![vec![none_of(1, &[0])]]));
    rules.insert(libc::SYS_clone, parts(clones(confinement.processes)));
    if confinement.processes == ChildProcesses::None {
        #[cfg(target_arch = "x86_64")]
        rules.extend(whole(&[libc::SYS_fork, libc::SYS_vfork]));
    }
    rules.insert(libc::SYS_socketpair, pairs_of_sockets(confinement));
    rules.insert(libc::SYS_socket, parts(sockets(confinement.network)));
    if landlock < 6 {
        rules.extend(whole(SIGNALS));
        // A signal can be had sent by a descriptor, too: `F_SETOWN`, `F_SETOWN_EX`.
        rules.insert(libc::SYS_fcntl, parts(vec![vec![one_of(1, &[libc::F_SETOWN, 15])]]));
    }
    if landlock < 3 {
        rules.extend(whole(&[libc::SYS_truncate]));
        rules.insert(libc::SYS_openat, parts(vec![vec![cutting(2)]]));
        #[cfg(target_arch = "x86_64")]
        rules.insert(libc::SYS_open, parts(vec![vec![cutting(1)]]));
    }
    rules
}

/// A pair is let in where the two are bound to each other for good: one that takes messages (datagrams) can send them
/// to any socket that has a name in the file system, and Landlock does not ask for that one.
fn pairs_of_sockets(confinement: &Confinement) -> CallRule {
    if !confinement.network && confinement.processes == ChildProcesses::None {
        return CallRule::Error(libc::EPERM);
    }
    // The type without its flags: `SOCK_CLOEXEC`, `SOCK_NONBLOCK`.
    let lasting = ArgumentCondition { mask: 0xf, ..one_of(1, &[libc::SOCK_STREAM, libc::SOCK_SEQPACKET]) };
    CallRule::Where(vec![vec![lasting]], None, Some(libc::EPERM))
}

/// The user of this process and its group, or none (-1), in the arguments from this one on.
fn own_owner(from: u8) -> Vec<ArgumentCondition> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let is = |argument, own: u32| ArgumentCondition { values: vec![own, u32::MAX], ..one_of(argument, &[]) };
    vec![is(from, user), is(from + 1, group)]
}

/// A new process shares no thread group with its parent.
fn clones(processes: ChildProcesses) -> Vec<Vec<ArgumentCondition>> {
    let masked = |flag: libc::c_int, condition| ArgumentCondition { mask: flag.cast_unsigned(), ..condition };
    match processes {
        ChildProcesses::None => vec![vec![masked(libc::CLONE_THREAD, one_of(0, &[0]))]],
        ChildProcesses::Any => NAMESPACES.iter().map(|flag| vec![masked(*flag, none_of(0, &[0]))]).collect(),
    }
}

/// Sockets of other families than those of the internet reach services of this machine, some of which obey anybody.
fn sockets(network: bool) -> Vec<Vec<ArgumentCondition>> {
    if !network {
        return Vec::new();
    }
    let others = vec![none_of(0, &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK])];
    // Of the kernel's own sockets, the one that tells the addresses of this machine: `NETLINK_ROUTE`, 0.
    let other_kind = vec![one_of(0, &[libc::AF_NETLINK]), none_of(2, &[0])];
    vec![others, other_kind]
}

/// To open a file with these flags, in this argument, cuts it: before its version 3 Landlock lets that be done with
/// files that may not be written.
fn cutting(argument: u8) -> ArgumentCondition {
    let mask = (libc::O_TRUNC | libc::O_ACCMODE).cast_unsigned();
    ArgumentCondition { mask, ..one_of(argument, &[libc::O_TRUNC | libc::O_RDONLY]) }
}

fn one_of(argument: u8, values: &[libc::c_int]) -> ArgumentCondition {
    let values = values.iter().map(|value| value.cast_unsigned()).collect();
    ArgumentCondition { argument, mask: u32::MAX, values, is_one: true }
}

fn none_of(argument: u8, values: &[libc::c_int]) -> ArgumentCondition {
    ArgumentCondition { is_one: false, ..one_of(argument, values) }
}

/// What a call is answered that is not let in as it is.
#[derive(Clone)]
enum CallRule {
    /// This error, which 0 is as well: nothing is done, and the caller is told that it was.
    Error(c_int),
    /// The first error where all conditions of one of these lists hold, and else the second one; without an error it
    /// is let in.
    Where(Vec<Vec<ArgumentCondition>>, Option<c_int>, Option<c_int>),
}

/// What is asked of an argument: of its lower 32 bits, which are all that the kernel takes for a number, flags, or a
/// user.
#[derive(Clone)]
struct ArgumentCondition {
    /// Which argument, from 0.
    argument: u8,
    /// The bits that count.
    mask: u32,
    values: Vec<u32>,
    /// Whether it has to be one of the values, or none of them.
    is_one: bool,
}

type CallRules = BTreeMap<c_long, CallRule>;

/// What is done for a range of call numbers.
struct CallRange {
    first: u32,
    last: u32,
    body: BpfProgram,
    /// The error, if their arguments do not count.
    error: Option<c_int>,
}

/// The program. Calls of higher numbers than [`NEWEST`] are none.
fn compile(rules: &CallRules) -> Result<BpfProgram, String> {
    let arch: TargetArch =
        std::env::consts::ARCH.try_into().map_err(|fault: seccompiler::BackendError| fault.to_string())?;
    let mut leaves: Vec<CallRange> = Vec::new();
    for (call, rule) in rules {
        let number = u32::try_from(*call).map_err(|_| format!("{call} is the number of no call"))?;
        let (body, error) = match rule {
            CallRule::Error(error) => (vec![return_error(*error)], Some(*error)),
            CallRule::Where(parts, error, otherwise) => (compile_conditions(parts, *error, *otherwise)?, None),
        };
        match leaves.last_mut() {
            Some(last) if error.is_some() && last.error == error && last.last + 1 == number => last.last = number,
            _ => leaves.push(CallRange { first: number, last: number, body, error }),
        }
    }
    let mut program = vec![
        // The second word of `struct seccomp_data` is the architecture, the first one the number of the call.
        load(4),
        jump(libc::BPF_JEQ, audit_arch(arch), 1, 0),
        return_answer(libc::SECCOMP_RET_KILL_PROCESS),
        load(0),
        jump(libc::BPF_JGT, NEWEST, 0, 1),
        return_error(libc::ENOSYS),
    ];
    program.extend(tree(&ranges(leaves)));
    Ok(program)
}

/// What to do from each number on: that of the leaves, and to let in what lies between them.
fn ranges(leaves: Vec<CallRange>) -> Vec<(u32, BpfProgram)> {
    let mut ranges: Vec<(u32, BpfProgram)> = Vec::new();
    let mut next = 0;
    for leaf in leaves {
        if leaf.first > next {
            ranges.push((next, vec![return_answer(libc::SECCOMP_RET_ALLOW)]));
        }
        next = leaf.last + 1;
        ranges.push((leaf.first, leaf.body));
    }
    ranges.push((next, vec![return_answer(libc::SECCOMP_RET_ALLOW)]));
    ranges
}

/// The instructions that search the range of a number.
fn tree(ranges: &[(u32, BpfProgram)]) -> BpfProgram {
    let (lower, upper) = ranges.split_at(ranges.len() / 2);
    let ([_, ..], [(first, _), ..]) = (lower, upper) else {
        return upper.first().map(|(_, body)| body.clone()).unwrap_or_default();
    };
    let (below, above) = (tree(lower), tree(upper));
    // A jump that depends on something reaches 255 steps, one that does not reaches them all.
    let mut program = match (u8::try_from(below.len()), u32::try_from(below.len())) {
        (Ok(near), _) => vec![jump(libc::BPF_JGE, *first, near, 0)],
        (_, far) => {
            let far = step(libc::BPF_JMP | libc::BPF_JA, far.unwrap_or(u32::MAX), 0, 0);
            vec![jump(libc::BPF_JGE, *first, 0, 1), far]
        }
    };
    program.extend(below);
    program.extend(above);
    program
}

/// The instructions that answer one call by its arguments.
fn compile_conditions(
    alternatives: &[Vec<ArgumentCondition>],
    error: Option<c_int>,
    otherwise: Option<c_int>,
) -> Result<BpfProgram, String> {
    let answer = |error: Option<c_int>| error.map_or_else(|| return_answer(libc::SECCOMP_RET_ALLOW), return_error);
    let mut program = vec![answer(otherwise)];
    for conditions in alternatives.iter().rev() {
        let mut own = vec![answer(error)];
        for condition in conditions.iter().rev() {
            own = condition.before(own)?;
        }
        own.extend(program);
        program = own;
    }
    Ok(program)
}

impl ArgumentCondition {
    /// Instructions that continue with `steps` if the condition holds, and behind them if not.
    fn before(&self, steps: BpfProgram) -> Result<BpfProgram, String> {
        // The arguments are the third to the eighth double word of `struct seccomp_data`, the lower half of each first.
        let mut program = vec![load(16 + 8 * u32::from(self.argument))];
        if self.mask != u32::MAX {
            program.push(step(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, self.mask, 0, 0));
        }
        for (at, value) in self.values.iter().enumerate() {
            let others = self.values.len() - 1 - at;
            let (hit, missed) = match (self.is_one, others) {
                (true, 0) => (0, steps.len()),
                (true, others) => (others, 0),
                (false, others) => (others + steps.len(), 0),
            };
            let reach = |steps: usize| u8::try_from(steps).map_err(|_| "a condition is too long".to_owned());
            program.push(jump(libc::BPF_JEQ, *value, reach(hit)?, reach(missed)?));
        }
        program.extend(steps);
        Ok(program)
    }
}

/// The name that the kernel has for an architecture: `AUDIT_ARCH_…` of its `audit.h`.
fn audit_arch(arch: TargetArch) -> u32 {
    match arch {
        TargetArch::x86_64 => 0xc000_003e,
        TargetArch::aarch64 => 0xc000_00b7,
        TargetArch::riscv64 => 0xc000_00f3,
    }
}

fn return_error(error: c_int) -> sock_filter {
    return_answer(libc::SECCOMP_RET_ERRNO | error.unsigned_abs())
}

fn return_answer(answer: u32) -> sock_filter {
    step(libc::BPF_RET | libc::BPF_K, answer, 0, 0)
}

fn load(from: u32) -> sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, from, 0, 0)
}

/// Passes so many steps if the comparison holds, and so many if it does not.
fn jump(comparison: u32, with: u32, if_so: u8, if_not: u8) -> sock_filter {
    step(libc::BPF_JMP | comparison | libc::BPF_K, with, if_so, if_not)
}

fn step(code: u32, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code: u16::try_from(code).unwrap_or_default(), jt, jf, k }
}
