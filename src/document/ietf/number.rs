//! Numbered headings: what one looks like, and whether it may stand where it does.

use super::Token;

/// What may be a numbered heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Numbered<'a> {
    /// The number as written, without dots at its end.
    number: &'a str,
    title: &'a str,
    is_appendix: bool,
    parts: Vec<Part>,
}

/// A part of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Number(u8),
    Letter(u8),
}

/// The greatest part of a number.
const GREATEST: u8 = 199;

impl<'a> Numbered<'a> {
    /// Reads a line that has the form of a numbered heading.
    pub(super) fn read(line: &'a str) -> Option<Self> {
        if !line.starts_with(|letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '.') {
            return None;
        }
        let appendix = ["Appendix ", "APPENDIX ", "Annex "].iter().find_map(|word| line.strip_prefix(word));
        let (number, title) = match appendix {
            Some(rest) => split(rest).or_else(|| split_letter(rest))?,
            None => split(line)?,
        };
        let number = number.trim_end_matches('.');
        let title = title.trim();
        let is_appendix = appendix.is_some() || !number.starts_with(|letter: char| letter.is_ascii_digit());
        let parts = parts(number)?;
        is_title(title).then_some(Self { number, title, is_appendix, parts })
    }

    /// Whether it counts after the numbered heading `last`, and after a blank line or a page break or not.
    pub(super) fn counts(&self, last: Option<&Self>, after_break: bool) -> bool {
        let is_drawing = self.title.trim_end_matches('|').contains('|');
        (after_break && !is_drawing) || self.follows(last)
    }

    fn follows(&self, last: Option<&Self>) -> bool {
        let Some(last) = last else {
            return matches!(self.number, "1" | "1.0");
        };
        let differ = last.parts.iter().zip(&self.parts).find(|(before, after)| before != after);
        match differ {
            Some((Part::Number(before), Part::Number(after))) => u16::from(*before) + 1 == u16::from(*after),
            Some((Part::Letter(before), Part::Letter(after))) => before + 1 == *after,
            Some((Part::Number(_), Part::Letter(after))) => *after == b'A',
            Some((Part::Letter(_), Part::Number(_))) => false,
            None => last.number != self.number,
        }
    }

    pub(super) fn token(&self) -> Token {
        let kind = if self.is_appendix { "appendix" } else { "section" };
        let id = format!("{kind}-{}", self.number);
        Token::Heading { id, title: self.title.to_owned(), level: self.parts.len() }
    }
}

/// `1.2. Title`, `A.1: Title`, `1.2`: the number, dots at its end included, and the title.
fn split(line: &str) -> Option<(&str, &str)> {
    let letter = usize::from(line.starts_with(|letter: char| letter.is_ascii_uppercase()));
    let digits = line[letter..].find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let end = digits.map_or(line.len(), |at| letter + at);
    if end == letter {
        return None;
    }
    let (number, rest) = line.split_at(end);
    if rest.is_empty() {
        let is_bare = letter == 0 || (number.len() > 2 && number[1..].starts_with('.'));
        return is_bare.then_some((number, ""));
    }
    let rest = rest.strip_prefix(':').unwrap_or(rest);
    rest.starts_with(char::is_whitespace).then_some((number, rest))
}

/// `A`, `A.`, `A: Title`, `A : Title`, `A - Title`, `A -- Title`, `A Title`.
fn split_letter(rest: &str) -> Option<(&str, &str)> {
    if !rest.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        return None;
    }
    let (letter, title) = rest.split_at(1);
    if title.is_empty() || title == "." {
        return Some((letter, ""));
    }
    if let Some(title) = [": ", " : ", " - ", " -- "].iter().find_map(|mark| title.strip_prefix(mark)) {
        return Some((letter, title));
    }
    title.starts_with(char::is_whitespace).then_some((letter, title))
}

fn parts(number: &str) -> Option<Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = number;
    if let Some(letter) = number.bytes().next().filter(u8::is_ascii_uppercase) {
        parts.push(Part::Letter(letter));
        rest = &number[1..];
        if rest.is_empty() {
            return Some(parts);
        }
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    for part in rest.split('.') {
        let value = part.parse::<u8>().ok().filter(|value| *value <= GREATEST)?;
        if parts.is_empty() && value == 0 {
            return None;
        }
        parts.push(Part::Number(value));
    }
    Some(parts)
}

fn is_title(title: &str) -> bool {
    let is_contents = [".....", ". . .", " . . "].iter().any(|leader| title.contains(leader));
    let is_code = title.starts_with(';') || title.ends_with(['{', '[', '(', ';']);
    !is_contents && !is_code && !title.contains("     ")
}
