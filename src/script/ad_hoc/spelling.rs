//! Spellings of other languages that have exactly one meaning in a script. They are accepted while the script is read:
//! `null`, `None`, `True`, `===`, `var`, `'text'`, `{ key: value }` where only a map can stand, and reserved words as
//! keys of maps and as properties.

pub(super) mod parts;

use parts::{Part, parts};
use rhai::{Engine, LexError, Token};
use std::borrow::Cow;
use std::sync::{Mutex, PoisonError};

/// Rewrites what rhai's reader stops at, before it can be translated: an empty text in single quotes. Nothing moves,
/// except that a byte order mark at the start is dropped.
pub(super) fn normalize(text: &str) -> Cow<'_, str> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if !text.contains("''") {
        return Cow::Borrowed(text);
    }
    let rewritten = parts(text).into_iter().map(|(part, range)| match (part, &text[range]) {
        (Part::Text(_), "''") => "\"\"",
        (_, unchanged) => unchanged,
    });
    Cow::Owned(rewritten.collect())
}

/// Makes an engine accept the spellings, for one script: the reader remembers the brackets that are open.
pub(super) fn accept_other_spellings(engine: &mut Engine) {
    let reader = Mutex::new(SpellingReader::default());
    #[allow(deprecated, reason = "rhai marks its hooks as unstable, but does not remove them")]
    engine.on_parse_token(move |token, _, _| reader.lock().unwrap_or_else(PoisonError::into_inner).read(token));
}

/// What the tokens so far say about the next one.
#[derive(Default)]
pub(super) struct SpellingReader {
    /// For each open bracket: whether it is that of a map.
    open: Vec<bool>,
    /// Whether a `{` begins a map here, because a block cannot stand here.
    is_before_value: bool,
    /// Whether the key of a map stands here.
    is_before_key: bool,
    /// Whether the name of a property or a method stands here.
    is_before_property: bool,
    /// Whether a value has ended, so that a sign is an operator. Rhai decides this by the tokens before they are
    /// translated.
    is_after_value: bool,
}

impl SpellingReader {
    /// Whether the name of a property or a method comes next.
    pub(super) fn is_before_property(&self) -> bool {
        self.is_before_property
    }

    /// Returns the token that one stands for.
    pub(super) fn read(&mut self, token: Token) -> Token {
        let token = match token {
            Token::UnaryPlus if self.is_after_value => Token::Plus,
            Token::UnaryMinus if self.is_after_value => Token::Minus,
            Token::LeftBrace if self.is_before_value => Token::MapStart,
            token if self.is_before_property => property(token),
            Token::Reserved(word) if self.is_before_key => Token::StringConstant(Box::new(word.as_str().into())),
            token if self.is_before_key && token.is_standard_keyword() => {
                Token::StringConstant(Box::new(token.literal_syntax().into()))
            }
            token => translate(token),
        };
        match &token {
            Token::MapStart => self.open.push(true),
            Token::LeftBrace | Token::LeftParen | Token::LeftBracket => self.open.push(false),
            Token::RightBrace | Token::RightParen | Token::RightBracket => drop(self.open.pop()),
            _ => {}
        }
        let is_in_map = self.open.last().copied().unwrap_or(false);
        self.is_before_key = token == Token::MapStart || is_in_map && token == Token::Comma;
        self.is_before_property = matches!(token, Token::Period | Token::Elvis);
        self.is_after_value =
            matches!(token, Token::StringConstant(_) | Token::Identifier(_) | Token::Unit | Token::True | Token::False);
        self.is_before_value = matches!(
            token,
            Token::LeftParen | Token::Comma | Token::Colon | Token::LeftBracket | Token::Equals | Token::Return
        );
        token
    }
}

/// A reserved word after a dot is a name. `await` is left for the error that explains it, and rhai handles the others.
fn property(token: Token) -> Token {
    const HANDLED: &[&str] = &["call", "curry", "type_of", "is_shared", "await"];
    match &token {
        Token::Reserved(word) if !HANDLED.contains(&word.as_str()) && word.starts_with(char::is_alphabetic) => {
            Token::Identifier(word.clone())
        }
        token if token.is_standard_keyword() => Token::Identifier(Box::new(token.literal_syntax().into())),
        _ => token,
    }
}

/// Rhai reads some of these words as names, and the others as reserved ones.
fn translate(token: Token) -> Token {
    let word = match &token {
        Token::Reserved(word) | Token::Identifier(word) => word.as_str(),
        Token::CharConstant(letter) => return Token::StringConstant(Box::new(letter.to_string().into())),
        Token::LexError(error) => {
            return match &**error {
                LexError::MalformedChar(text) => Token::StringConstant(Box::new(text.as_str().into())),
                LexError::ImproperSymbol(symbol, _) if symbol == "===" => Token::EqualsTo,
                LexError::ImproperSymbol(symbol, _) if symbol == "!==" => Token::NotEqualsTo,
                _ => token,
            };
        }
        _ => return token,
    };
    match word {
        "null" | "nil" | "undefined" | "None" => Token::Unit,
        "True" => Token::True,
        "False" => Token::False,
        "===" => Token::EqualsTo,
        "!==" => Token::NotEqualsTo,
        "var" => Token::Let,
        _ => token,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_texts_in_single_quotes_are_rewritten_and_nothing_moves() {
        for (script, expected) in [
            ("let t = '';", "let t = \"\";"),
            ("\u{feff}f('', 'it''s')", "f(\"\", 'it''s')"),
            ("\"it''s\" + '' // don''t", "\"it''s\" + \"\" // don''t"),
            ("`''${g('', #{ a: '' })}''` + ''", "`''${g(\"\", #{ a: \"\" })}''` + \"\""),
            ("'a''' + ''", "'a''' + \"\""),
            ("/* '' /* '' */ '' */ ''", "/* '' /* '' */ '' */ \"\""),
            ("#\"''\"# + '\\'' + ''", "#\"''\"# + '\\'' + \"\""),
            ("'open\n''", "'open\n\"\""),
        ] {
            assert_eq!(normalize(script), expected, "{script}");
        }
    }
}
