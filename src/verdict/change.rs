//! One change between two surfaces, and the word that judges it.

use serde::Serialize;

/// What a change means for a caller. The order is that of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing that a caller or a model sees.
    None,
    /// A text that a model reads.
    Wording,
    /// Every call that worked still works and means the same.
    Compatible,
    /// A call that worked may fail, or means something else.
    Breaking,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        ["none", "wording", "compatible", "breaking"][self as usize]
    }
}

/// A change between two surfaces.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Change {
    /// The name of the pack.
    pub pack: String,
    /// What changed, such as "tool `review`, argument `path`".
    pub what: String,
    /// A stable code, such as `argument-removed`.
    pub kind: &'static str,
    /// What it means for a caller.
    pub verdict: Verdict,
    /// Whether the pack may touch or use more than before.
    pub widens: bool,
    /// What changed and what it means, as a sentence.
    pub message: String,
    /// The text that a model read before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The text that a model reads now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

impl Change {
    /// A change that widens nothing and has no texts.
    pub fn new(
        pack: &str,
        what: impl Into<String>,
        kind: &'static str,
        verdict: Verdict,
        message: impl Into<String>,
    ) -> Self {
        let (pack, what, message) = (pack.to_owned(), what.into(), message.into());
        Self { pack, what, kind, verdict, widens: false, message, before: None, after: None }
    }

    /// The same change, which lets the pack do more.
    pub(super) fn widening(mut self, widens: bool) -> Self {
        self.widens = widens;
        self
    }
}
