//! Slugs: the part of an address that is derived from a title.

use crate::diagnostic::Result;
use crate::guard;
use crate::letters;
use std::collections::{HashMap, HashSet};
use unicode_normalization::UnicodeNormalization;

/// A slug of ASCII letters and digits. Other scripts are transliterated, letters are converted to lower case, and every
/// other run of characters becomes one `separator`, except at the ends. `4.1 A & B` becomes `4-1-a-b`.
pub fn ascii_slug(text: &str, separator: &str) -> Result<String> {
    let mut slug = String::with_capacity(text.len());
    let mut gap = false;
    let mut push = |character: char| {
        if !character.is_ascii_alphanumeric() {
            gap = true;
            return;
        }
        if gap && !slug.is_empty() {
            slug.push_str(separator);
        }
        gap = false;
        slug.push(character.to_ascii_lowercase());
    };
    for piece in guard::pieces(text) {
        for character in piece?.chars() {
            if character.is_ascii() {
                push(character);
            } else {
                let spelled = deunicode::deunicode_char(character).unwrap_or(" ");
                guard::spend(spelled.len())?;
                spelled.chars().for_each(&mut push);
            }
        }
    }
    Ok(slug)
}

/// The slug that GitHub makes of a heading. Letters are converted to lower case, each space becomes a `separator`, `-`
/// and `_` are kept, other punctuation is removed, and letters of all scripts are kept. `4.1 A & B` becomes `41-a--b`.
pub fn github_slug(text: &str, separator: &str) -> Result<String> {
    let mut slug = String::with_capacity(text.len());
    for piece in guard::pieces(text.trim()) {
        for character in piece?.chars().flat_map(char::to_lowercase) {
            match character {
                ' ' => slug.push_str(separator),
                '-' | '_' => slug.push(character),
                _ if character.is_alphanumeric() || is_mark(character) => slug.push(character),
                _ => {}
            }
        }
    }
    Ok(slug)
}

/// A slug of letters and numbers of all scripts. Compatibility forms are decomposed (NFKD) and their marks dropped,
/// case is folded, spaces become a `separator`, hyphens are kept, and other characters are removed. There are no
/// separators at the ends and no repeated ones. `4.1 A & Größe` becomes `41-a-grosse`.
pub fn unicode_slug(text: &str, separator: &str) -> Result<String> {
    let mut slug = String::with_capacity(text.len());
    let mut gap = false;
    for piece in letters::pieces_at_starters(text) {
        for character in piece?.nfkd().flat_map(folded) {
            guard::spend(guard::BYTE)?;
            if character.is_whitespace() || character == '-' {
                gap = true;
            } else if character.is_alphabetic() && !is_mark(character) || character.is_numeric() {
                if gap && !slug.is_empty() {
                    slug.push_str(separator);
                }
                gap = false;
                slug.push(character);
            }
        }
    }
    Ok(slug)
}

/// Case folding by way of lower and upper case, the closest approximation in the standard library: the capital ẞ has a
/// lower case, and only that has the upper case SS. The dotless i cannot be mapped back.
fn folded(character: char) -> impl Iterator<Item = char> {
    let lower = (character != 'ı').then(|| character.to_lowercase());
    let kept = lower.is_none().then_some(character);
    lower.into_iter().flatten().flat_map(char::to_uppercase).flat_map(char::to_lowercase).chain(kept)
}

/// Slugs that are unique within one document. The second `setup` becomes `setup-1`, the third `setup-2`. A number that
/// is taken is skipped.
#[derive(Debug, Default)]
pub struct Slugs {
    taken: HashSet<String>,
    /// The next number to try for a slug that was repeated, so that thousands of equal titles take linear time.
    next: HashMap<String, u64>,
}

impl Slugs {
    /// Takes the first free one of `slug`, `slug-1`, `slug-2`, … and returns it.
    pub fn unique(&mut self, slug: String) -> String {
        if self.taken.insert(slug.clone()) {
            return slug;
        }
        let mut number = self.next.get(&slug).copied().unwrap_or(1);
        while !self.taken.insert(format!("{slug}-{number}")) {
            number += 1;
        }
        let free = format!("{slug}-{number}");
        self.next.insert(slug, number + 1);
        free
    }
}

/// Whether a character is a combining mark, which belongs to the letter before it.
fn is_mark(character: char) -> bool {
    unicode_normalization::char::is_combining_mark(character)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_ascii_slug_is_letters_digits_and_single_separators() {
        assert_eq!(ascii_slug("4.1 A & B", "-").unwrap(), "4-1-a-b");
        assert_eq!(ascii_slug("  snake_case  ", "-").unwrap(), "snake-case");
        assert_eq!(ascii_slug("Über die Größe", "-").unwrap(), "uber-die-grosse");
        assert_eq!(ascii_slug("北京", "_").unwrap(), "bei_jing");
        assert_eq!(ascii_slug("…", "-").unwrap(), "");
    }

    #[test]
    fn a_github_slug_keeps_letters_of_all_scripts() {
        assert_eq!(github_slug("4.1 A & B", "-").unwrap(), "41-a--b");
        assert_eq!(github_slug("Über `die` Größe_1", "-").unwrap(), "über-die-größe_1");
    }

    #[test]
    fn a_unicode_slug_keeps_letters_and_numbers_and_no_double_hyphen() {
        assert_eq!(
            unicode_slug("Concept: Workspace & Data Governance", "-").unwrap(),
            "concept-workspace-data-governance"
        );
        assert_eq!(unicode_slug(" café -- Straße ² ẞ ", "-").unwrap(), "cafe-strasse-2-ss");
        assert_eq!(unicode_slug("snake_case\u{a0}и北京ı", "-").unwrap(), "snakecase-и北京ı");
        assert_eq!(unicode_slug("…", "-").unwrap(), "");
    }

    #[test]
    fn repeated_slugs_get_the_first_free_number() {
        let mut slugs = Slugs::default();
        let made: Vec<String> =
            ["a", "a-1", "a", "a", "b"].iter().map(|slug| slugs.unique((*slug).to_owned())).collect();
        assert_eq!(made, ["a", "a-1", "a-2", "a-3", "b"]);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_clean_slug(text in "\\PC*") {
            let slug = ascii_slug(&text, "-").unwrap();
            prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
            prop_assert!(slug.bytes().all(|byte| byte == b'-' || byte.is_ascii_lowercase() || byte.is_ascii_digit()));
            prop_assert!(!github_slug(&text, "-").unwrap().contains(' '));
            let slug = unicode_slug(&text, "-").unwrap();
            prop_assert!(!slug.starts_with('-') && !slug.ends_with('-') && !slug.contains("--"));
            prop_assert_eq!(unicode_slug(&slug, "-").unwrap(), slug);
        }
    }
}
