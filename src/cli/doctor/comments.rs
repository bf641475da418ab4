//! JSON with comments and commas before closing brackets, as some clients keep it, made into plain JSON.

/// The same text with blanks in the place of comments and of such commas: everything else stands where it stood.
pub fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '"' => string(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            letter => letter.len_utf8(),
        };
        let (part, next) = rest.split_at(length);
        match part.starts_with('/') && length > 1 {
            true => plain.extend(part.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' })),
            false => plain.push_str(part),
        }
        rest = next;
    }
    without_last_commas(&plain)
}

/// The bytes of a text in quotes, both included.
fn string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

fn without_last_commas(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = if letter == '"' { string(rest) } else { letter.len_utf8() };
        let (part, next) = rest.split_at(length);
        let is_last = part == "," && next.trim_start().starts_with(['}', ']']);
        plain.push_str(if is_last { " " } else { part });
        rest = next;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_go_and_texts_stay() {
        let text = "{ // why\n \"a\": \"// no \\\" comment /*\", /* two\nlines */ \"b\": [1, 2, ], // \"x\n \"ö\": \"\\\\\", }";
        let read: Result<serde_json::Value, _> = serde_json::from_str(&without_comments(text));
        let wanted = serde_json::json!({ "a": "// no \" comment /*", "b": [1, 2], "ö": "\\" });
        assert_eq!(read.expect("it is plain"), wanted);
        for odd in ["", "/", "\"", "/*", "//", "\"\\", "/*/", ",", "ö,/"] {
            assert!(without_comments(odd).len() <= odd.len(), "{odd}");
        }
    }
}
