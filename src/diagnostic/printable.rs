//! Escapes untrusted texts for terminals, so that no text can move the cursor, start a new line, or reverse the text
//! direction.

/// Whether a character is visible and does not change the layout.
fn is_plain(letter: char) -> bool {
    !letter.is_control()
        && !matches!(letter,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Escapes a text for a single line: invisible characters, including line ends, are escaped.
pub fn printable(text: &str) -> String {
    escaped(text, |_| false)
}

/// Escapes a multi-line text: line ends and tabs are kept.
pub fn printable_lines(text: &str) -> String {
    escaped(text, |letter| matches!(letter, '\n' | '\t'))
}

/// Escapes JSON: invisible characters in its strings become JSON escapes.
pub fn printable_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for letter in json.chars() {
        match is_plain(letter) || letter == '\n' {
            true => shown.push(letter),
            false => shown.extend(letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
        }
    }
    shown
}

/// Formats a path or a name for a sentence: it is quoted if spaces or invisible characters could make it look like
/// several words.
pub fn quoted(name: &str) -> String {
    let is_word = !name.is_empty() && name.chars().all(|letter| is_plain(letter) && !letter.is_whitespace());
    if is_word { name.to_owned() } else { format!("\"{}\"", printable(name)) }
}

/// A text as a block of Markdown: the fence is longer than those in the text, so that it cannot end the block.
pub fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}\n{fence}\n")
}

/// Replaces invisible characters of a source text with visible ones of the same byte length, so that spans stay valid.
pub(super) fn printable_source(text: &str) -> String {
    let stays = |letter: char| is_plain(letter) || matches!(letter, '\n' | '\t' | '\r');
    if text.chars().all(stays) && !text.contains('\r') {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        shown.push(match (letter, letter.len_utf8()) {
            ('\r', _) if letters.peek() == Some(&'\n') => letter,
            (letter, _) if letter != '\r' && stays(letter) => letter,
            (_, 1) => '?',
            (_, 2) => '\u{b7}',
            (_, 3) => '\u{fffd}',
            _ => '\u{1f6ab}',
        });
    }
    shown
}

fn escaped(text: &str, stays: fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            letter if is_plain(letter) || stays(letter) => shown.push(letter),
            '\n' => shown.push_str("\\n"),
            '\t' => shown.push_str("\\t"),
            '\r' => shown.push_str("\\r"),
            letter => shown.extend(letter.escape_unicode()),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_seen_is_written_out() {
        let hostile = "a\nb\r\t\u{1b}[2J\u{9b}\u{202e}\u{2028}\u{e0041}";
        assert_eq!(printable(hostile), "a\\nb\\r\\t\\u{1b}[2J\\u{9b}\\u{202e}\\u{2028}\\u{e0041}");
        assert_eq!(printable_lines("a\n\tb\u{1b}"), "a\n\tb\\u{1b}");
        assert_eq!(printable_json("{\"\u{202e}\u{e0041}\":\n1}"), "{\"\\u202e\\udb40\\udc41\":\n1}");
        assert_eq!(quoted("a b\n"), "\"a b\\n\"");
        assert_eq!(quoted("é/ü.toml"), "é/ü.toml");
        let drawn = printable_source(hostile);
        assert_eq!((drawn.len(), drawn.lines().count()), (hostile.len(), 2));
        assert!(drawn.chars().all(|letter| is_plain(letter) || matches!(letter, '\n' | '\t')), "{drawn:?}");
    }
}
