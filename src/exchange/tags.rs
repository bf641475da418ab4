//! The tags of a handlebars template, with their locations: which helpers, variables and partials each one names.

use std::ops::Range;

/// A tag `{{…}}`; comments and escaped braces are none.
#[derive(Debug)]
pub struct Tag {
    /// Where it is, braces included.
    pub span: Range<usize>,
    /// Its words; a string is one word, and so is each parenthesis. The first begins with the sign of the tag, such as
    /// `#` or `>`.
    pub words: Vec<String>,
}

impl Tag {
    /// Its first word, with the sign.
    pub fn name(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The variable that it prints, if it is one: a name or a path.
    pub fn variable(&self) -> Option<&str> {
        let is_plain = self.words.len() == 1 && !self.name().starts_with(SIGNS) && self.name() != "else";
        is_plain.then(|| self.name())
    }

    /// The partial that it includes.
    pub fn partial(&self) -> Option<&str> {
        let name = self.name().strip_prefix('>')?;
        Some(name.trim_matches(['"', '\'']))
    }

    /// The helpers that it calls, blocks with their `#`.
    pub fn helpers(&self) -> Vec<&str> {
        let first = match self.name() {
            "else" => self.words.get(1).map(String::as_str),
            name if name.starts_with('#') => Some(name),
            name if name.starts_with(SIGNS) => None,
            name => (self.words.len() > 1).then_some(name),
        };
        let inner = self.words.windows(2).filter(|pair| pair[0] == "(").map(|pair| pair[1].as_str());
        first.into_iter().chain(inner).collect()
    }

    /// The variables of its own, such as `@index`, without the `@`.
    pub fn locals(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(|word| {
            let word = word.rsplit('=').next().unwrap_or(word);
            word.strip_prefix('@')?.split(['.', '/']).next()
        })
    }
}

/// The signs that a tag other than a variable begins with.
const SIGNS: [char; 5] = ['#', '/', '>', '^', '*'];

/// The tags of a text, in its order; a tag without an end is omitted.
pub fn find_tags(text: &str) -> Vec<Tag> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = text[at..].find("{{").map(|offset| at + offset) {
        let rest = &text[start..];
        let is_escaped = text[at..start].ends_with('\\') && !text[at..start].ends_with("\\\\");
        let (close, braces) = match () {
            () if rest.starts_with("{{!--") || rest.starts_with("{{~!--") => ("--}}", 2),
            () if rest.starts_with("{{{{") => ("}}}}", 4),
            () if rest.starts_with("{{{") => ("}}}", 3),
            () => ("}}", 2),
        };
        if is_escaped {
            at = start + if braces == 4 { 4 } else { 2 };
            continue;
        }
        let Some(end) = rest.find(close).map(|offset| start + offset + close.len()) else { break };
        let inner = rest[braces..end - start].trim_end_matches('}').trim_matches('~').trim();
        if !inner.starts_with('!') {
            let mut words = split_words(inner.trim_start_matches('&'));
            // A sign may stand apart: `{{# if x}}`.
            if words.len() > 1 && words[0].len() == 1 && words[0].starts_with(SIGNS) {
                let sign = words.remove(0);
                words[0].insert_str(0, &sign);
            }
            if braces == 4 && !inner.starts_with('/') {
                words.insert(0, "#raw".to_owned());
            }
            found.push(Tag { span: start..end, words });
        }
        at = end;
    }
    found
}

fn split_words(inner: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in inner.chars() {
        match (quote, letter) {
            (Some(open), _) => {
                word.push(letter);
                quote = (open != letter).then_some(open);
            }
            (None, '"' | '\'') => {
                word.push(letter);
                quote = Some(letter);
            }
            (None, '(' | ')') => {
                words.extend([std::mem::take(&mut word), letter.to_string()]);
            }
            (None, _) if letter.is_whitespace() => words.push(std::mem::take(&mut word)),
            (None, _) => word.push(letter),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}
