//! The words of a text as the index compares them: lower case, without plural endings, without words that say nothing.

/// Characters of a word that count: people do not write longer words, and identifiers of generated tools have no end.
const MAX_WORD: usize = 40;

/// Characters of a piece of a word.
pub(super) const PIECE: usize = 4;

/// Words that nearly every text has.
const EMPTY_WORDS: &[&str] = &[
    "a", "about", "an", "and", "are", "as", "at", "be", "by", "can", "could", "did", "do", "does", "for", "from",
    "how", "i", "if", "in", "is", "it", "its", "me", "my", "of", "on", "or", "our", "should", "so", "than", "that",
    "the", "then", "there", "these", "this", "those", "to", "was", "we", "were", "what", "will", "with", "would",
    "you", "your",
];

/// The words of a text, in its order. `get_requirement`, `getRequirement` and `Get requirements` have the same ones.
pub fn words(text: &str) -> Vec<String> {
    all_words(text).into_iter().filter(|word| !EMPTY_WORDS.contains(&word.as_str())).map(singular).collect()
}

/// The words of a name, in its order: all of them, since a name has no others.
pub(super) fn name_words(text: &str) -> Vec<String> {
    all_words(text).into_iter().map(singular).collect()
}

fn all_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut length = 0;
    let mut before = ' ';
    for character in text.chars() {
        let begins = character.is_uppercase() && (before.is_lowercase() || before.is_numeric());
        if begins || !character.is_alphanumeric() {
            finish(&mut word, &mut words);
            length = 0;
        }
        if character.is_alphanumeric() && length < MAX_WORD {
            word.extend(character.to_lowercase());
            length += 1;
        }
        before = character;
    }
    finish(&mut word, &mut words);
    words
}

fn finish(word: &mut String, words: &mut Vec<String>) {
    if !word.is_empty() {
        words.push(std::mem::take(word));
    }
}

/// A word without its plural ending. Other endings stay: without them different words of a domain become the same, and
/// fewer tools are found.
pub(super) fn singular(mut word: String) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    let kept = match word.len() {
        length if length > 4 && ends(&["ies"]) => {
            word.truncate(length - 3);
            word.push('y');
            return word;
        }
        length if length > 4 && ends(&["ses", "xes", "zes", "ches", "shes"]) => length - 2,
        length if length > 3 && ends(&["s"]) && !ends(&["ss", "us", "is"]) => length - 1,
        length => length,
    };
    word.truncate(kept);
    word
}

/// The pieces of a word: what `broken` and `unbroken` have in common.
pub(super) fn pieces(word: &str) -> Vec<[char; PIECE]> {
    let characters: Vec<char> = word.chars().collect();
    characters.windows(PIECE).filter_map(|piece| piece.try_into().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_compared_in_one_form() {
        for (text, expected) in [
            ("get_requirement", "get requirement"),
            ("getRequirements", "get requirement"),
            ("The boxes, the classes and the queries of the status", "box class query status"),
            ("process, is, analysis, bus", "process analysis bus"),
            ("SHA256sums of HTTPServer", "sha256sum httpserver"),
            ("Straße über Ärger", "straße über ärger"),
            ("", ""),
            ("?!", ""),
        ] {
            assert_eq!(words(text).join(" "), expected, "{text}");
        }
        assert_eq!(name_words("do_it").join(" "), "do it");
        assert_eq!(words(&"x".repeat(100_000))[0].len(), MAX_WORD);
    }
}
