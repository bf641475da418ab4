//! A Pike VM that consults the guard while it runs, for texts on which the faster engines give up. It is leftmost-first
//! and supports groups. It follows the rules of `PikeVM` in `regex-automata`, which cannot be interrupted.

use super::cost;
use crate::diagnostic::Result;
use regex_automata::nfa::thompson::{NFA, State};
use regex_automata::util::primitives::StateID;
use std::ops::Range;

/// The number of steps between two reports to the guard.
const REPORT: u64 = 4_096;

/// The byte offsets of all groups, two slots each.
pub type Slots = Vec<Option<usize>>;

/// The state of one search.
struct Machine<'a> {
    nfa: &'a NFA,
    text: &'a str,
    /// The number of slots of a thread; 0 if only the existence of a match is requested.
    width: usize,
    /// The states still to be explored. The memory is reused.
    stack: Vec<Frame>,
    /// The slots of the current thread.
    slots: Slots,
    /// The steps that are not yet reported.
    steps: u64,
}

enum Frame {
    Explore(StateID),
    /// Everything after a capture was explored, so its slot gets its old value back.
    Restore(usize, Option<usize>),
}

/// The threads at one position of the text, in order of preference, with the slots of each.
struct Threads {
    order: Vec<StateID>,
    /// The position of each state in `order`, if it is there: a sparse set.
    place: Vec<usize>,
    table: Slots,
}

impl Threads {
    fn new(states: usize, width: usize) -> Self {
        Self { order: Vec::with_capacity(states), place: vec![0; states], table: vec![None; states * width] }
    }

    fn contains(&self, state: StateID) -> bool {
        self.order.get(self.place[state.as_usize()]) == Some(&state)
    }

    fn insert(&mut self, state: StateID) -> bool {
        if self.contains(state) {
            return false;
        }
        self.place[state.as_usize()] = self.order.len();
        self.order.push(state);
        true
    }
}

/// The first match within `span`, whose surroundings count for assertions. If `anchored`, the match must begin at the
/// start of the span. `width` is the number of requested slots; 0 only asks whether there is a match.
///
/// # Errors
/// The running call was stopped.
pub fn search(nfa: &NFA, text: &str, span: Range<usize>, anchored: bool, width: usize) -> Result<Option<Slots>> {
    let states = nfa.states().len();
    crate::guard::reserve_memory(2 * states * (width + 2) * size_of::<usize>())?;
    let mut machine = Machine { nfa, text, width, stack: Vec::new(), slots: vec![None; width], steps: 0 };
    let (mut now, mut next) = (Threads::new(states, width), Threads::new(states, width));
    let mut found = None;
    let anchored = anchored || nfa.is_always_start_anchored();
    for at in span.start..=span.end {
        if now.order.is_empty() && (found.is_some() || (anchored && at > span.start)) {
            break;
        }
        // No match begins within a character: only an empty match could, and it would split the character.
        if found.is_none() && (!anchored || at == span.start) && text.is_char_boundary(at) {
            machine.slots.fill(None);
            machine.follow(&mut now, nfa.start_anchored(), at);
        }
        if let Some(slots) = machine.step(&now, &mut next, at, at < span.end) {
            found = Some(slots);
            if width == 0 {
                break;
            }
        }
        std::mem::swap(&mut now, &mut next);
        next.order.clear();
        machine.steps += 1;
        if machine.steps >= REPORT {
            cost::spend(std::mem::take(&mut machine.steps))?;
        }
    }
    cost::spend(machine.steps)?;
    Ok(found)
}

impl Machine<'_> {
    /// Moves all threads over the byte at `at`, if there is one. Returns the slots of a thread that has reached a
    /// match. The threads after it are dropped, because it is preferred.
    fn step(&mut self, now: &Threads, next: &mut Threads, at: usize, has_byte: bool) -> Option<Slots> {
        let text = self.text.as_bytes();
        for state in &now.order {
            self.steps += 1;
            let to = match self.nfa.state(*state) {
                State::Match { .. } => return Some(self.row(now, *state).to_vec()),
                State::ByteRange { trans } if has_byte => trans.matches(text, at).then_some(trans.next),
                State::Sparse(sparse) if has_byte => sparse.matches(text, at),
                State::Dense(dense) if has_byte => dense.matches(text, at),
                _ => None,
            };
            if let Some(to) = to {
                let row = state.as_usize() * self.width;
                self.slots.copy_from_slice(&now.table[row..row + self.width]);
                self.follow(next, to, at + 1);
            }
        }
        None
    }

    fn row<'t>(&self, threads: &'t Threads, state: StateID) -> &'t [Option<usize>] {
        let row = state.as_usize() * self.width;
        &threads.table[row..row + self.width]
    }

    /// Adds all states that are reached from `state` without consuming a byte, in order of preference.
    fn follow(&mut self, threads: &mut Threads, state: StateID, at: usize) {
        self.stack.push(Frame::Explore(state));
        while let Some(frame) = self.stack.pop() {
            self.steps += 1;
            match frame {
                Frame::Restore(slot, old) => self.slots[slot] = old,
                Frame::Explore(state) => self.explore(threads, state, at),
            }
        }
    }

    fn explore(&mut self, threads: &mut Threads, mut state: StateID, at: usize) {
        while threads.insert(state) {
            self.steps += 1;
            state = match self.nfa.state(state) {
                State::ByteRange { .. } | State::Sparse(_) | State::Dense(_) | State::Match { .. } => {
                    let row = state.as_usize() * self.width;
                    threads.table[row..row + self.width].copy_from_slice(&self.slots);
                    return;
                }
                State::Fail => return,
                State::Look { look, next } => {
                    if !self.nfa.look_matcher().matches(*look, self.text.as_bytes(), at) {
                        return;
                    }
                    *next
                }
                State::Union { alternates } => {
                    let Some((first, rest)) = alternates.split_first() else { return };
                    self.stack.extend(rest.iter().rev().map(|state| Frame::Explore(*state)));
                    *first
                }
                State::BinaryUnion { alt1, alt2 } => {
                    self.stack.push(Frame::Explore(*alt2));
                    *alt1
                }
                State::Capture { next, slot, .. } => {
                    let slot = slot.as_usize();
                    if slot < self.width {
                        self.stack.push(Frame::Restore(slot, self.slots[slot]));
                        self.slots[slot] = Some(at);
                    }
                    *next
                }
            };
        }
    }
}
