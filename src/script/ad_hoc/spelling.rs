//! Spellings of other languages that have exactly one meaning in a script. They are accepted while the script is read:
//! `null`, `None`, `True`, `===`, `var`, `'text'`, `{ key: value }` where only a map can stand, and reserved words as
//! keys of maps.

use rhai::{Engine, LexError, Token};
use std::sync::{Mutex, PoisonError};

/// Makes an engine accept the spellings, for one script: the reader remembers the brackets that are open.
pub(super) fn accept_other_spellings(engine: &mut Engine) {
    let reader = Mutex::new(SpellingReader::default());
    #[allow(deprecated, reason = "rhai marks its hooks as unstable, but does not remove them")]
    engine.on_parse_token(move |token, _, _| reader.lock().unwrap_or_else(PoisonError::into_inner).read(token));
}

/// What the tokens so far say about the next one.
#[derive(Default)]
struct SpellingReader {
    /// For each open bracket: whether it is that of a map.
    open: Vec<bool>,
    /// Whether a `{` begins a map here, because a block cannot stand here.
    is_before_value: bool,
    /// Whether the key of a map stands here.
    is_before_key: bool,
}

impl SpellingReader {
    fn read(&mut self, token: Token) -> Token {
        let token = match token {
            Token::LeftBrace if self.is_before_value => Token::MapStart,
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
        self.is_before_value = matches!(
            token,
            Token::LeftParen | Token::Comma | Token::Colon | Token::LeftBracket | Token::Equals | Token::Return
        );
        token
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
