//! Titles as identifiers.

use deunicode::deunicode;

/// How a title becomes an identifier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Slug {
    /// ASCII only: other characters are transliterated, letters and digits are kept in lower case, every run
    /// of anything else becomes one `-`, none stands at the ends.
    #[default]
    Ascii,
    /// As GitHub makes anchors: lower case, letters, digits, `-` and `_` of any script are kept, every blank
    /// becomes a `-`, everything else is dropped.
    Github,
}

impl Slug {
    /// The style of that name: `ascii` or `github`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "ascii" => Some(Self::Ascii),
            "github" => Some(Self::Github),
            _ => None,
        }
    }
}

/// The identifier made of `title`; it may be empty.
pub fn slug(title: &str, style: Slug) -> String {
    match style {
        Slug::Ascii => ascii(title),
        Slug::Github => github(title),
    }
}

fn ascii(title: &str) -> String {
    let mut slug = String::with_capacity(title.len());
    for letter in deunicode(title).chars() {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

fn github(title: &str) -> String {
    let mut slug = String::with_capacity(title.len());
    for letter in title.trim().chars() {
        if letter == ' ' {
            slug.push('-');
        } else if letter.is_alphanumeric() || matches!(letter, '-' | '_') {
            slug.extend(letter.to_lowercase());
        }
    }
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ascii_keeps_letters_and_digits() {
        let cases = [
            ("4.1 A & B_c Ünï 日本", "4-1-a-b-c-uni-ri-ben"),
            ("É à ß œ – ’ x", "e-a-ss-oe-x"),
            ("Ⅳ ½ ① ²", "iv-1-2-1-2"),
            ("Author's Address", "author-s-address"),
            ("C++ & C#", "c-c"),
            (" & [link](u) x", "link-u-x"),
            ("!!!", ""),
        ];
        for (title, expected) in cases {
            assert_eq!(slug(title, Slug::Ascii), expected, "{title}");
        }
    }

    #[test]
    fn github_keeps_what_github_keeps() {
        assert_eq!(slug("4.1 A & B_c Ünï 日本!", Slug::Github), "41-a--b_c-ünï-日本");
    }
}
