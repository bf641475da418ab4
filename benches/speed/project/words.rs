//! Dice that always fall alike, and sentences made with them.

/// A small generator of pseudo-random numbers (splitmix64).
pub struct Dice(u64);

impl Dice {
    /// Those of a seed.
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % end).unwrap_or_default()
    }

    /// True `percent` times of a hundred.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of them; the list must not be empty.
    pub fn one<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

const ADJECTIVES: &[&str] = &[
    "idle",
    "pending",
    "final",
    "reliable",
    "encoded",
    "initial",
    "remote",
    "buffered",
    "stale",
    "negotiated",
    "reserved",
    "compressed",
    "unidirectional",
    "acknowledged",
    "oversized",
    "truncated",
];
const NOUNS: &[&str] = &[
    "endpoint",
    "frame",
    "stream",
    "packet",
    "timer",
    "window",
    "token",
    "header",
    "handshake",
    "identifier",
    "receiver",
    "sender",
    "payload",
    "session",
    "cookie",
    "checksum",
    "fragment",
    "cache",
];
const VERBS: &[&str] = &[
    "discard",
    "acknowledge",
    "retransmit",
    "validate",
    "encode",
    "close",
    "buffer",
    "ignore",
    "report",
    "limit",
    "authenticate",
    "reset",
    "forward",
    "advertise",
    "probe",
    "reject",
];
const TAILS: &[&str] = &[
    "before it sends the next frame",
    "unless the peer has closed the stream",
    "when the timer expires",
    "as described in Section 3.2",
    "(see Section 4.1 for the exact layout)",
    "if the length is larger than 1,200 octets",
    "with the error code 0x1d",
    "until all of its data have been acknowledged",
    "even when no path to the peer has been validated; this includes paths that were abandoned",
    "in the order in which they were received, \"first come, first served\"",
];
const KEYWORDS: &[&str] = &[
    "MUST",
    "MUST",
    "MUST",
    "MUST NOT",
    "MUST NOT",
    "SHALL",
    "SHOULD",
    "SHOULD",
    "SHOULD NOT",
    "RECOMMENDED",
    "MAY",
    "MAY",
    "is REQUIRED to",
];
const PLAIN: &[&str] = &["will usually", "can", "is expected to", "does not need to", "might", "has to"];

/// A name of syllables that belongs to this number alone.
pub fn name(number: usize) -> String {
    const SYLLABLES: &[&str] = &["ka", "lo", "mi", "re", "su", "ta", "ve", "no", "pi", "du", "fe", "go", "ha", "ji"];
    let mut left = number;
    let mut name = String::new();
    for _ in 0..4 {
        name.push_str(SYLLABLES[left % SYLLABLES.len()]);
        left /= SYLLABLES.len();
    }
    name
}

/// A title of two words.
pub fn title(dice: &mut Dice) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    format!("{} {}s", capital(dice.one(ADJECTIVES)), capital(dice.one(NOUNS)))
}

/// A sentence about the thing of this number, with a keyword of RFC 2119 or without.
pub fn sentence(dice: &mut Dice, number: usize, normative: bool) -> String {
    let keyword = match dice.one(if normative { KEYWORDS } else { PLAIN }) {
        "RECOMMENDED" => "is RECOMMENDED to",
        other => other,
    };
    let article = dice.one(&["The", "Each", "A", "Any", "This"]);
    let (adjective, noun, verb, object) = (dice.one(ADJECTIVES), dice.one(NOUNS), dice.one(VERBS), dice.one(NOUNS));
    let second = match (normative, dice.chance(6)) {
        (true, true) => format!(" and SHOULD {} the {}", dice.one(VERBS), dice.one(NOUNS)),
        _ => String::new(),
    };
    let tail = dice.one(TAILS);
    format!("{article} {adjective} {noun} {keyword} {verb} the {} {object}{second} {tail}.", name(number))
}
