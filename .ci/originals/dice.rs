//! Random choices that are the same for the same seed, everywhere.

use std::collections::BTreeSet;

/// A stream of choices.
pub struct Dice(u64);

impl Dice {
    /// The stream of a seed; seeds beside each other give streams that have nothing in common.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64: small, and good from the first number on.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() >> 33) as usize % end
    }

    /// A number from `low` up to `high`, both included.
    pub fn between(&mut self, low: usize, high: usize) -> usize {
        low + self.below(high - low + 1)
    }

    /// True once in so many times.
    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// Up to so many quirks of a project. One project in `plain` has none: what differs there, differs always.
    pub fn quirks(&mut self, plain: usize, most: usize, of: &[&str]) -> BTreeSet<String> {
        let mut quirks = BTreeSet::new();
        if !self.one_in(plain) {
            for _ in 0..self.between(1, most) {
                quirks.insert((*self.pick(of)).to_owned());
            }
        }
        quirks
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}
