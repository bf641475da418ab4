//! Annotations: what is cited, as which type, quoted how.

use super::texts::{Sentence, Text};
use super::words::{Dice, name};

/// The types, and how many of a hundred annotations are of each.
pub const TYPES: &[(&str, usize)] =
    &[("implementation", 45), ("test", 25), ("implication", 6), ("exception", 9), ("todo", 10), ("spec", 5)];

/// One annotation.
pub struct Annotation {
    /// The address of its specification, and `#` with its section.
    pub target: String,
    /// `rfc90001/section-2.1`: what it is about, as part of a path.
    pub place: String,
    /// Its type.
    pub kind: &'static str,
    /// The quoted text; `None` means the whole section.
    pub quote: Option<String>,
    /// Whether the quote differs from the text by one edit.
    pub edited: bool,
    /// Why, for exceptions.
    pub reason: String,
}

/// Creates `count` of them. A declared requirement (`spec`) is a sentence without keyword, each declared once.
pub fn make(dice: &mut Dice, texts: &[Text], count: usize) -> Vec<Annotation> {
    let all: Vec<(&Text, &Sentence)> =
        texts.iter().flat_map(|text| text.sentences().map(move |sentence| (text, sentence))).collect();
    let (normative, plain): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, sentence)| sentence.normative);
    let mut declared = 0;
    (0..count)
        .map(|number| {
            let kind = kind(dice);
            let (text, sentence) = match kind {
                "spec" => {
                    declared += 1;
                    plain[declared * 7 % plain.len()]
                }
                "exception" | "todo" => normative[dice.below(normative.len())],
                _ if dice.chance(75) => normative[dice.below(normative.len())],
                _ => plain[dice.below(plain.len())],
            };
            let (quote, edited) = quote(dice, kind, &sentence.text, number % 9 == 4);
            Annotation {
                target: format!("{}#{}", text.address(), sentence.section),
                place: format!("{}/{}", text.short(), sentence.section),
                kind,
                quote,
                edited,
                reason: format!("the {} of this library has no such part", name(number)),
            }
        })
        .collect()
}

fn kind(dice: &mut Dice) -> &'static str {
    let mut left = dice.below(100);
    for (kind, share) in TYPES {
        if left < *share {
            return kind;
        }
        left -= share;
    }
    TYPES[0].0
}

/// Of ten quotes seven are the sentence, two a part of it, one is omitted; `edit` requests one with an edit.
fn quote(dice: &mut Dice, kind: &str, text: &str, edit: bool) -> (Option<String>, bool) {
    let whole = matches!(kind, "spec" | "exception" | "todo");
    if !edit && !whole && dice.chance(10) {
        return (None, false);
    }
    let words: Vec<&str> = text.split(' ').collect();
    let quote = if !whole && dice.chance(22) {
        let from = dice.below(3);
        words[from..(from + 7).min(words.len())].join(" ")
    } else {
        text.to_owned()
    };
    if edit && kind != "spec" { (Some(one_edit(dice, &quote)), true) } else { (Some(quote), false) }
}

/// One letter inserted, deleted or put in place of another, in the middle of the quote.
fn one_edit(dice: &mut Dice, quote: &str) -> String {
    let letters: Vec<usize> = quote
        .char_indices()
        .filter(|(at, letter)| letter.is_ascii_lowercase() && *at > quote.len() / 4 && *at < quote.len() * 3 / 4)
        .map(|(at, _)| at)
        .collect();
    let Some(&at) = letters.get(dice.below(letters.len())) else { return quote.to_owned() };
    let (before, after) = quote.split_at(at);
    match dice.below(3) {
        0 => format!("{before}q{after}"),
        1 => format!("{before}{}", &after[1..]),
        _ => format!("{before}q{}", &after[1..]),
    }
}
