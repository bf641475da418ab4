//! The only unsafe code of programs: a child process that borrows the memory of its parent until it is the program
//! (`CLONE_VFORK`).
//!
//! A fork copies the page tables: 20 ms for a process of 500 MB, where a program is started in 1 ms; starting through a
//! helper of our own doubles the time. `std` has no way to confine a child that it starts without a fork.
#![allow(unsafe_code, reason = "a child is confined between its clone and its exec: no safe interface has that")]

use super::sandbox::HostExitSignal;
use libc::{c_char, c_int, c_void};
use rustix::process::{Pid, Resource, Rlimit, setrlimit};
use seccompiler::BpfProgram;
use std::ffi::{CString, NulError};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr::{null, null_mut};
use std::sync::Arc;

/// What the child process becomes.
pub(super) struct ProcessImage {
    pub program: CString,
    pub arguments: Vec<CString>,
    pub variables: Vec<CString>,
    pub folder: OwnedFd,
    /// Standard input, output and errors.
    pub streams: [OwnedFd; 3],
    /// The rules of Landlock.
    pub ruleset: Option<OwnedFd>,
    /// The filters of seccomp, in the order in which they are installed.
    pub filters: Option<Arc<[BpfProgram]>>,
    /// Whether capabilities and privileges to come are given up.
    pub confined: bool,
    /// What ends its group when this process ends: see [`signal_on_host_exit`].
    pub tether: HostExitSignal,
    /// Limits of `setrlimit`.
    pub limits: Vec<(Resource, u64)>,
}

/// Of the capabilities of root, what it needs to work on files of others: `CAP_DAC_OVERRIDE`.
const RETAINED_CAPABILITIES: u32 = 1 << 1;

/// Which signal a descriptor sends: `F_SETSIG`.
const F_SETSIG: c_int = 10;

/// Room for the child between its clone and its exec: it calls the kernel, and no more. Of the room, only what it uses
/// is ever touched.
const STACK: usize = 64 * 1024;

/// The image as pointers, and what went wrong.
struct SpawnPlan<'a> {
    image: &'a ProcessImage,
    arguments: Vec<*const c_char>,
    variables: Vec<*const c_char>,
    filters: Vec<libc::sock_fprog>,
    mask: libc::sigset_t,
    failed: Option<(&'static str, i32)>,
}

/// `__user_cap_header_struct` and two `__user_cap_data_struct`s: effective, permitted, inheritable.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    pid: c_int,
}

/// A text without NUL.
pub(super) fn c_string(text: &str) -> Result<CString, NulError> {
    CString::new(text)
}

/// Makes the kernel signal the group of a program when this process is gone, for whatever reason.
///
/// Each end of a pipe without data signals its owner when the other end is closed (`O_ASYNC`, see `fcntl(2)`). This
/// process alone holds both: when it ends, closing one end triggers the signal of the other. The child makes its group
/// the owner before it becomes the program, so it is never without. The kernel remembers the group itself, not its
/// number, which another group may get.
//= docs/spec.md#programs
//# When the server ends, for whatever reason, its programs and everything that they started MUST end.
pub(super) fn signal_on_host_exit(signal: c_int) -> io::Result<HostExitSignal> {
    let (one, other) = io::pipe()?;
    let ends = [OwnedFd::from(one), OwnedFd::from(other)];
    for end in &ends {
        // SAFETY: calls of the kernel with numbers, on a descriptor that is ours.
        let is_set = unsafe {
            let flags = libc::fcntl(end.as_raw_fd(), libc::F_GETFL);
            libc::fcntl(end.as_raw_fd(), F_SETSIG, signal) == 0
                && libc::fcntl(end.as_raw_fd(), libc::F_SETFL, flags | libc::O_ASYNC) == 0
        };
        if !is_set {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(ends)
}

/// Starts the child, which leads a new process group. If it fails, the error has the name of the failed step.
pub(super) fn spawn(image: &ProcessImage) -> Result<Pid, (&'static str, io::Error)> {
    let pointers = |texts: &[CString]| texts.iter().map(|text| text.as_ptr()).chain([null()]).collect();
    let filter = |program: &BpfProgram| libc::sock_fprog {
        len: u16::try_from(program.len()).unwrap_or(u16::MAX),
        filter: program.as_ptr().cast_mut().cast(),
    };
    // SAFETY: a `sigset_t` is plain numbers; `sigfillset` sets all of them.
    let mut mask: libc::sigset_t = unsafe { std::mem::zeroed() };
    let mut plan = SpawnPlan {
        image,
        arguments: pointers(&image.arguments),
        variables: pointers(&image.variables),
        filters: image.filters.iter().flat_map(|filters| filters.iter()).map(filter).collect(),
        mask,
        failed: None,
    };
    let mut stack = Box::<[u128]>::new_uninit_slice(STACK / size_of::<u128>());
    // SAFETY: the child runs on a separate stack, the end of which is aligned as that of a `u128`. It shares our
    // memory, but `CLONE_VFORK` holds this thread until it has ended or is another program, so that all it borrows
    // lives on. It allocates nothing and takes no lock. No handler of a signal of ours runs in it: all are blocked
    // until it has given them up, which does not touch ours (no `CLONE_SIGHAND`).
    let pid = unsafe {
        let mut all = mask;
        libc::sigfillset(&raw mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut mask);
        libc::sigemptyset(&raw mut plan.mask);
        let top = stack.as_mut_ptr().add(stack.len()).cast::<c_void>();
        let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
        let pid = libc::clone(child, top, flags, (&raw mut plan).cast());
        let error = *libc::__errno_location();
        libc::pthread_sigmask(libc::SIG_SETMASK, &raw const mask, null_mut());
        if pid < 0 {
            return Err(("clone", io::Error::from_raw_os_error(error)));
        }
        pid
    };
    if let Some((step, error)) = plan.failed {
        // SAFETY: the child that we made ended by itself; no other thread waits for it.
        unsafe { libc::waitpid(pid, null_mut(), 0) };
        return Err((step, io::Error::from_raw_os_error(error)));
    }
    Pid::from_raw(pid).ok_or(("clone", io::ErrorKind::Other.into()))
}

extern "C" fn child(plan: *mut c_void) -> c_int {
    // SAFETY: `spawn` hands over its own plan and waits meanwhile.
    let plan = unsafe { &mut *plan.cast::<SpawnPlan<'_>>() };
    // SAFETY: as in `spawn`: only calls of the kernel, with pointers into what the plan borrows.
    let step = unsafe { become_program(plan) };
    // SAFETY: the number of the last error of this thread, ours while it waits.
    plan.failed = Some((step, unsafe { *libc::__errno_location() }));
    127
}

/// Returns only if a step fails: the name of the step.
///
/// # Safety
///
/// Runs in the child of [`spawn`].
unsafe fn become_program(plan: &SpawnPlan<'_>) -> &'static str {
    let image = plan.image;
    // SAFETY: each call is one of the kernel, with numbers and pointers to what the plan holds.
    unsafe {
        let mut default: libc::sigaction = std::mem::zeroed();
        default.sa_sigaction = libc::SIG_DFL;
        for signal in 1..=64 {
            // Two of them are the C library's, and two have no handler: failures do not matter.
            libc::sigaction(signal, &raw const default, null_mut());
        }
        if libc::setpgid(0, 0) != 0 {
            return "setpgid";
        }
        for end in &image.tether {
            if libc::fcntl(end.as_raw_fd(), libc::F_SETOWN, -libc::getpid()) != 0 {
                return "fcntl";
            }
        }
        for (number, stream) in (0..).zip(&image.streams) {
            if libc::dup2(stream.as_raw_fd(), number) < 0 {
                return "dup2";
            }
        }
        if libc::fchdir(image.folder.as_raw_fd()) != 0 {
            return "fchdir";
        }
        // Descriptors that this process inherited itself stay here.
        let kept = libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
        if kept != 0 && image.confined {
            return "close_range";
        }
        for (resource, number) in &image.limits {
            // A system call and nothing else, as everything must be between `fork` and `exec`.
            let limit = Rlimit { current: Some(*number), maximum: Some(*number) };
            if setrlimit(*resource, limit).is_err() {
                return "setrlimit";
            }
        }
        if image.confined && !give_up(plan) {
            return "confine";
        }
        libc::sigprocmask(libc::SIG_SETMASK, &raw const plan.mask, null_mut());
        libc::execve(image.program.as_ptr(), plan.arguments.as_ptr(), plan.variables.as_ptr());
        "execve"
    }
}

/// Gives up what the child must not have. Returns whether that succeeded.
///
/// # Safety
///
/// Runs in the child of [`spawn`].
unsafe fn give_up(plan: &SpawnPlan<'_>) -> bool {
    let header = CapabilityHeader { version: 0x2008_0522, pid: 0 };
    let mut capabilities = [0_u32; 6];
    // SAFETY: each call is one of the kernel, with numbers and pointers to what the plan holds.
    unsafe {
        if libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0
            || libc::syscall(libc::SYS_capget, &raw const header, capabilities.as_mut_ptr()) != 0
        {
            return false;
        }
        let kept = RETAINED_CAPABILITIES & capabilities[1];
        capabilities = [kept, kept, 0, 0, 0, 0];
        if libc::syscall(libc::SYS_capset, &raw const header, capabilities.as_ptr()) != 0 {
            return false;
        }
        if let Some(ruleset) = &plan.image.ruleset
            && libc::syscall(libc::SYS_landlock_restrict_self, ruleset.as_raw_fd(), 0) != 0
        {
            return false;
        }
        plan.filters
            .iter()
            .all(|filter| libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, std::ptr::from_ref(filter)) == 0)
    }
}
