//! Rules for calls of the kernel as one program for seccomp: a tree of their numbers.
//!
//! When a program is installed the kernel runs it for each number that a call can have. A list of a hundred numbers takes
//! longer for that than all else at the start of a program; a tree asks seven times.

use super::NEWEST;
use libc::{c_int, c_long};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch, sock_filter};
use std::collections::BTreeMap;

/// What a call is answered that is not let in as it is.
#[derive(Clone)]
pub(super) enum Rule {
    /// This error, which 0 is as well: nothing is done, and the caller is told that it was.
    Error(c_int),
    /// The first error where one of these holds of its arguments, and else the second one; without an error it is let in.
    Where(Vec<SeccompRule>, Option<c_int>, Option<c_int>),
}

pub(super) type Rules = BTreeMap<c_long, Rule>;

/// What is done with the numbers of some calls.
struct Leaf {
    first: u32,
    last: u32,
    body: BpfProgram,
    /// The error, if their arguments do not count.
    error: Option<c_int>,
}

/// The program. Calls of higher numbers than [`NEWEST`] are none.
pub(super) fn compiled(rules: &Rules) -> Result<BpfProgram, String> {
    let arch: TargetArch =
        std::env::consts::ARCH.try_into().map_err(|fault: seccompiler::BackendError| fault.to_string())?;
    let mut leaves: Vec<Leaf> = Vec::new();
    for (call, rule) in rules {
        let number = u32::try_from(*call).map_err(|_| format!("{call} is the number of no call"))?;
        let (body, error) = match rule {
            Rule::Error(error) => (vec![refused(*error)], Some(*error)),
            Rule::Where(parts, error, otherwise) => (judged(*call, parts, *error, *otherwise, arch)?, None),
        };
        match leaves.last_mut() {
            Some(last) if error.is_some() && last.error == error && last.last + 1 == number => last.last = number,
            _ => leaves.push(Leaf { first: number, last: number, body, error }),
        }
    }
    let mut program = vec![
        // The second word of `struct seccomp_data` is the architecture, the first one the number of the call.
        load(4),
        jump(libc::BPF_JEQ, audited(arch), 1, 0),
        returned(libc::SECCOMP_RET_KILL_PROCESS),
        load(0),
        jump(libc::BPF_JGT, NEWEST, 0, 1),
        refused(libc::ENOSYS),
    ];
    program.extend(tree(&leaves));
    Ok(program)
}

/// What looks for a number among these.
fn tree(leaves: &[Leaf]) -> BpfProgram {
    let (lower, upper) = leaves.split_at(leaves.len() / 2);
    match (lower, upper) {
        ([], []) => vec![returned(libc::SECCOMP_RET_ALLOW)],
        ([], [leaf, ..]) => {
            let mut program = vec![
                jump(libc::BPF_JGE, leaf.first, 0, 1),
                jump(libc::BPF_JGT, leaf.last, 0, 1),
                returned(libc::SECCOMP_RET_ALLOW),
            ];
            program.extend_from_slice(&leaf.body);
            program
        }
        (lower, [first, ..]) => {
            let (below, above) = (tree(lower), tree(upper));
            // A jump that depends on something reaches 255 steps, one that does not reaches them all.
            let far = u32::try_from(below.len()).unwrap_or(u32::MAX);
            let mut program =
                vec![jump(libc::BPF_JGE, first.first, 0, 1), step(libc::BPF_JMP | libc::BPF_JA, far, 0, 0)];
            program.extend(below);
            program.extend(above);
            program
        }
        (_, []) => Vec::new(),
    }
}

/// A program for one call, whose arguments count.
fn judged(
    call: c_long,
    parts: &[SeccompRule],
    error: Option<c_int>,
    otherwise: Option<c_int>,
    arch: TargetArch,
) -> Result<BpfProgram, String> {
    let answer =
        |error: Option<c_int>| error.map_or(SeccompAction::Allow, |error| SeccompAction::Errno(error.unsigned_abs()));
    let filter = SeccompFilter::new([(call, parts.to_vec())].into(), answer(otherwise), answer(error), arch);
    filter.and_then(BpfProgram::try_from).map_err(|fault| fault.to_string())
}

/// The name that the kernel has for an architecture: `AUDIT_ARCH_…` of its `audit.h`.
fn audited(arch: TargetArch) -> u32 {
    match arch {
        TargetArch::x86_64 => 0xc000_003e,
        TargetArch::aarch64 => 0xc000_00b7,
        TargetArch::riscv64 => 0xc000_00f3,
    }
}

fn refused(error: c_int) -> sock_filter {
    returned(libc::SECCOMP_RET_ERRNO | error.unsigned_abs())
}

fn returned(answer: u32) -> sock_filter {
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
