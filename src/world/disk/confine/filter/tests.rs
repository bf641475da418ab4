//! Each rule of the filters, by a table of its own: what the kernel would answer to calls; and that the table misses
//! none of the rules, each of which is taken out once.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use libc::*;
use seccompiler::sock_filter;

const ALLOWED: u32 = SECCOMP_RET_ALLOW;
const REFUSED: u32 = SECCOMP_RET_ERRNO | 1;
const ABSENT: u32 = SECCOMP_RET_ERRNO | 38;
const IGNORED: u32 = SECCOMP_RET_ERRNO;
const UNSUPPORTED: u32 = SECCOMP_RET_ERRNO | 95;

/// The answer of all filters to a call: that of the highest precedence, of several the first one that is asked, which
/// was installed last.
fn answer(filters: &[BpfProgram], call: c_long, arguments: [u64; 6]) -> u32 {
    let answers = filters.iter().rev().map(|filter| answer_of_one(filter, call, arguments));
    answers.min_by_key(|answer| answer & SECCOMP_RET_ACTION_FULL).unwrap()
}

/// The answer of a filter to a call, as the kernel works it out.
fn answer_of_one(filter: &[sock_filter], call: c_long, arguments: [u64; 6]) -> u32 {
    let mut data = Vec::new();
    data.extend(u32::try_from(call).unwrap().to_ne_bytes());
    data.extend(if cfg!(target_arch = "x86_64") { 0xc000_003e_u32 } else { 0xc000_00b7 }.to_ne_bytes());
    data.extend(0_u64.to_ne_bytes());
    arguments.iter().for_each(|argument| data.extend(argument.to_ne_bytes()));
    let (mut at, mut held) = (0_usize, 0_u32);
    loop {
        let step = &filter[at];
        at += 1;
        let jump = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
        match u32::from(step.code) {
            code if code == BPF_LD | BPF_W | BPF_ABS => {
                let from = step.k as usize;
                held = u32::from_ne_bytes(data[from..from + 4].try_into().unwrap());
            }
            code if code == BPF_ALU | BPF_AND | BPF_K => held &= step.k,
            code if code == BPF_JMP | BPF_JA => at += step.k as usize,
            code if code == BPF_JMP | BPF_JEQ | BPF_K => at += jump(held == step.k),
            code if code == BPF_JMP | BPF_JGT | BPF_K => at += jump(held > step.k),
            code if code == BPF_JMP | BPF_JGE | BPF_K => at += jump(held >= step.k),
            code if code == BPF_RET | BPF_K => return step.k,
            other => panic!("the instruction {other:#x} is not known here"),
        }
    }
}

/// A program that writes or not, which processes it starts, its network, the version of Landlock.
fn kinds() -> Vec<(Confinement, u32)> {
    let mut kinds = Vec::new();
    for write in [vec![], vec!["/out".to_owned()]] {
        for processes in [ChildProcesses::None, ChildProcesses::Any] {
            for network in [false, true] {
                for landlock in [0, 2, 5, 7] {
                    kinds.push((
                        Confinement { write: write.clone(), processes, network, ..Confinement::default() },
                        landlock,
                    ));
                }
            }
        }
    }
    kinds
}

type Probe = (c_long, [u64; 6], u32);

fn with(call: c_long, at: usize, value: i64, answer: u32) -> Probe {
    let mut arguments = [0; 6];
    arguments[at] = value.cast_unsigned();
    (call, arguments, answer)
}

/// Calls that no program may make, whatever it was granted.
const NEVER_ANSWERED: &[c_long] = &[
    SYS_add_key,
    SYS_bpf,
    SYS_chroot,
    SYS_fanotify_init,
    SYS_inotify_add_watch,
    SYS_fsconfig,
    SYS_fsmount,
    SYS_fsopen,
    SYS_fspick,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_io_uring_setup,
    SYS_ioprio_set,
    SYS_kcmp,
    SYS_keyctl,
    SYS_memfd_create,
    SYS_memfd_secret,
    SYS_migrate_pages,
    SYS_mount,
    SYS_mount_setattr,
    SYS_move_mount,
    SYS_move_pages,
    SYS_mq_open,
    SYS_mq_unlink,
    SYS_msgctl,
    SYS_msgget,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_open_tree,
    SYS_perf_event_open,
    SYS_pidfd_getfd,
    SYS_pidfd_open,
    SYS_pivot_root,
    SYS_process_madvise,
    SYS_process_mrelease,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_ptrace,
    SYS_request_key,
    SYS_semctl,
    SYS_semget,
    SYS_setns,
    SYS_shmctl,
    SYS_shmget,
    SYS_umount2,
    SYS_unshare,
    SYS_userfaultfd,
];

/// What each call is answered, for a program of this kind.
fn probes(confinement: &Confinement, landlock: u32) -> Vec<Probe> {
    let mut probes: Vec<Probe> = NEVER_ANSWERED.iter().map(|call| (*call, [0; 6], REFUSED)).collect();
    probes.extend([SYS_setpgid, SYS_setsid].map(|call| (call, [0; 6], IGNORED)));
    let attributes = [SYS_fremovexattr, SYS_fsetxattr, SYS_lremovexattr, SYS_lsetxattr, SYS_removexattr, SYS_setxattr];
    probes.extend(attributes.map(|call| (call, [0; 6], UNSUPPORTED)));
    let attributes = [SYS_fgetxattr, SYS_flistxattr, SYS_getxattr, SYS_lgetxattr, SYS_listxattr, SYS_llistxattr];
    probes.extend(attributes.map(|call| (call, [0; 6], UNSUPPORTED)));
    let marks = if confinement.write.is_empty() { REFUSED } else { ALLOWED };
    probes.extend([SYS_fchmod, SYS_fchmodat, 452, SYS_utimensat].map(|call| (call, [0; 6], marks)));
    // A file that runs as its owner is never made.
    let setuid = [(SYS_fchmod, 1), (SYS_fchmodat, 2), (452, 2)];
    probes.extend(setuid.into_iter().flat_map(|(call, at)| {
        [with(call, at, 0o4755, REFUSED), with(call, at, 0o2755, marks), with(call, at, 0o755, marks)]
    }));
    #[cfg(target_arch = "x86_64")]
    probes.extend([with(SYS_chmod, 1, 0o4755, REFUSED), with(SYS_chmod, 1, 0o755, marks)]);
    probes.extend([(SYS_fchown, 1), (SYS_fchownat, 2)].into_iter().flat_map(|(call, from)| owners(call, from)));
    #[cfg(target_arch = "x86_64")]
    {
        probes.extend([SYS_chown, SYS_lchown].into_iter().flat_map(|call| owners(call, 1)));
        probes.extend([SYS_chmod, SYS_futimesat, SYS_utime, SYS_utimes].map(|call| (call, [0; 6], marks)));
    }
    for call in [SYS_prlimit64, SYS_sched_setaffinity, SYS_sched_setattr, SYS_sched_setparam, SYS_sched_setscheduler] {
        probes.extend([with(call, 0, 0, ALLOWED), with(call, 0, 1, REFUSED)]);
    }
    probes.extend([with(SYS_setpriority, 1, 0, ALLOWED), with(SYS_setpriority, 1, 1, REFUSED)]);
    probes.extend([(SYS_read, [0; 6], ALLOWED), (SYS_clone3, [0; 6], ABSENT), (463, [0; 6], ABSENT)]);
    probes.push((SYS_read | 0x4000_0000, [0; 6], ABSENT));
    let fork = if confinement.processes == ChildProcesses::None { REFUSED } else { ALLOWED };
    probes.extend([
        with(SYS_clone, 0, SIGCHLD.into(), fork),
        with(SYS_clone, 0, (CLONE_THREAD | CLONE_VM).into(), ALLOWED),
    ]);
    if confinement.processes != ChildProcesses::None {
        let spaces =
            [CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS];
        probes.extend(spaces.map(|space| with(SYS_clone, 0, (space | SIGCHLD).into(), REFUSED)));
    }
    #[cfg(target_arch = "x86_64")]
    probes.extend([(SYS_fork, [0; 6], fork), (SYS_vfork, [0; 6], fork)]);
    let pair = if confinement.processes == ChildProcesses::None && !confinement.network { REFUSED } else { ALLOWED };
    // With and without flags; only streams and messages in order are bound to each other for good.
    probes.extend((0..=0xf_u64).flat_map(|kind| {
        let answer = if [1, 5].contains(&kind) { pair } else { REFUSED };
        [0, libc::SOCK_CLOEXEC, libc::SOCK_NONBLOCK].map(|flags| {
            let flags = u64::from(flags.cast_unsigned());
            (SYS_socketpair, [1, kind | flags, 0, 0, 0, 0], answer)
        })
    }));
    probes.extend(sockets_of(confinement.network));
    probes.extend(by_landlock(landlock));
    probes
}

/// Only what a file has anyway: its user is that of the program.
fn owners(call: c_long, from: usize) -> Vec<Probe> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let others = [(user + 1, group), (user, group + 1), (u32::MAX, group + 1), (user + 1, u32::MAX)];
    let own = [(user, group), (user, u32::MAX), (u32::MAX, group), (u32::MAX, u32::MAX)];
    let probe = |(user, group): (u32, u32), answer| {
        let mut arguments = [0; 6];
        arguments[from] = user.into();
        arguments[from + 1] = group.into();
        (call, arguments, answer)
    };
    own.map(|ids| probe(ids, IGNORED)).into_iter().chain(others.map(|ids| probe(ids, REFUSED))).collect()
}

fn sockets_of(network: bool) -> Vec<Probe> {
    let net = if network { ALLOWED } else { REFUSED };
    vec![
        with(SYS_socket, 0, AF_INET.into(), net),
        with(SYS_socket, 0, AF_INET6.into(), net),
        with(SYS_socket, 0, AF_NETLINK.into(), net),
        with(SYS_socket, 0, AF_UNIX.into(), REFUSED),
        with(SYS_socket, 0, AF_VSOCK.into(), REFUSED),
        (SYS_socket, [AF_NETLINK.unsigned_abs().into(), 0, 9, 0, 0, 0], REFUSED),
        (SYS_socket, [AF_INET.unsigned_abs().into(), 1, 6, 0, 0, 0], net),
    ]
}

/// What filters replace where Landlock is older.
fn by_landlock(landlock: u32) -> Vec<Probe> {
    let signals = if landlock < 6 { REFUSED } else { ALLOWED };
    let calls = [SYS_kill, SYS_pidfd_send_signal, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_tgkill, SYS_tkill];
    let mut probes: Vec<Probe> = calls.map(|call| (call, [0; 6], signals)).to_vec();
    probes.extend([F_SETOWN, 15].map(|owner| with(SYS_fcntl, 1, owner.into(), signals)));
    probes.push(with(SYS_fcntl, 1, F_GETFD.into(), ALLOWED));
    let cuts = if landlock < 3 { REFUSED } else { ALLOWED };
    probes.extend([
        (SYS_truncate, [0; 6], cuts),
        with(SYS_openat, 2, O_TRUNC.into(), cuts),
        with(SYS_openat, 2, (O_TRUNC | O_WRONLY).into(), ALLOWED),
        (SYS_openat2, [0; 6], if landlock < 3 { ABSENT } else { ALLOWED }),
    ]);
    #[cfg(target_arch = "x86_64")]
    probes.extend([with(SYS_open, 1, O_TRUNC.into(), cuts), with(SYS_open, 1, O_RDONLY.into(), ALLOWED)]);
    probes
}

/// The probes that are answered otherwise than they should.
fn wrong(filters: &[BpfProgram], probes: &[Probe]) -> Vec<(c_long, u32)> {
    let answers = probes.iter().map(|(call, arguments, _)| (*call, answer(filters, *call, *arguments)));
    answers.zip(probes).filter(|((_, answer), (_, _, wanted))| answer != wanted).map(|(answer, _)| answer).collect()
}

//= docs/spec.md#programs
//= type=test
//# A program that a pack starts MUST be confined by the system to what its grants allow.
#[test]
fn each_rule_of_the_filters_is_held() {
    for (confinement, landlock) in kinds() {
        let probes = probes(&confinement, landlock);
        let wrong_now = wrong(&filters(&confinement, landlock).unwrap(), &probes);
        assert!(wrong_now.is_empty(), "{confinement:?} {landlock}: {wrong_now:?}");
    }
}

#[test]
fn a_rule_that_is_taken_out_is_missed() {
    let mut taken = 0;
    // Each version of Landlock once, with all that a kind can have and lack among them.
    for (confinement, landlock) in kinds().into_iter().step_by(13) {
        let probes = probes(&confinement, landlock);
        let whole = rules(&confinement, landlock).unwrap();
        let mut check = |less: &[(c_int, CallRules)], what: &str| {
            let found = wrong(&compile(less).unwrap(), &probes);
            assert!(!found.is_empty(), "{confinement:?} {landlock}: {what}");
            taken += 1;
        };
        for (at, (error, calls)) in whole.iter().enumerate() {
            for (call, alternatives) in calls {
                let mut less = whole.clone();
                less[at].1.remove(call);
                check(&less, &format!("{call} without {error}"));
                for number in (0..alternatives.len()).filter(|_| alternatives.len() > 1) {
                    let mut less = whole.clone();
                    less[at].1.get_mut(call).unwrap().remove(number);
                    check(&less, &format!("{call} without rule {number} for {error}"));
                }
            }
        }
    }
    assert!(taken > 250, "only {taken} rules were taken out");
}
