//! Rules for calls of the kernel as one program for seccomp: a tree of their numbers.
//!
//! When a program is installed the kernel translates each step of it, and runs it for each number that a call can have: 539
//! steps took 0.13 ms of each start. What a library makes of each rule asks for the architecture and the number again.

use super::NEWEST;
use libc::{c_int, c_long};
use seccompiler::{BpfProgram, TargetArch, sock_filter};
use std::collections::BTreeMap;

/// What a call is answered that is not let in as it is.
#[derive(Clone)]
pub(super) enum Rule {
    /// This error, which 0 is as well: nothing is done, and the caller is told that it was.
    Error(c_int),
    /// The first error where all conditions of one of these lists hold, and else the second one; without an error it is let
    /// in.
    Where(Vec<Vec<Condition>>, Option<c_int>, Option<c_int>),
}

/// What is asked of an argument: of its lower 32 bits, which are all that the kernel takes for a number, flags, or a user.
#[derive(Clone)]
pub(super) struct Condition {
    /// Which argument, from 0.
    pub argument: u8,
    /// The bits that count.
    pub mask: u32,
    pub values: Vec<u32>,
    /// Whether it has to be one of the values, or none of them.
    pub is_one: bool,
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
            Rule::Where(parts, error, otherwise) => (judged(parts, *error, *otherwise)?, None),
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
    program.extend(tree(&ranges(leaves)));
    Ok(program)
}

/// What to do from each number on: that of the leaves, and to let in what lies between them.
fn ranges(leaves: Vec<Leaf>) -> Vec<(u32, BpfProgram)> {
    let mut ranges: Vec<(u32, BpfProgram)> = Vec::new();
    let mut next = 0;
    for leaf in leaves {
        if leaf.first > next {
            ranges.push((next, vec![returned(libc::SECCOMP_RET_ALLOW)]));
        }
        next = leaf.last + 1;
        ranges.push((leaf.first, leaf.body));
    }
    ranges.push((next, vec![returned(libc::SECCOMP_RET_ALLOW)]));
    ranges
}

/// What looks for the range of a number.
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

/// What answers one call, whose arguments count.
fn judged(
    alternatives: &[Vec<Condition>],
    error: Option<c_int>,
    otherwise: Option<c_int>,
) -> Result<BpfProgram, String> {
    let answer = |error: Option<c_int>| error.map_or_else(|| returned(libc::SECCOMP_RET_ALLOW), refused);
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

impl Condition {
    /// What goes on with these steps if the condition holds, and behind them if it does not.
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
