//! `keyword_sentences`: sentences that contain a keyword, such as those of RFC 2119.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::{Keywords, Lines, keyword_sentences};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Map, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "keyword_sentences",
    family: Family::Parse,
    summary: "Returns the sentences of `lines` that contain a keyword of `table`, in order, as `#{ text, level, words, line, end_line }`. A sentence ends with a `.` before a space, a tab or the end of the line, before an empty line, and at the edge of a list item; no other mark ends it, and abbreviations are not recognized. It begins after the last `.` before the keyword that ends a sentence or, if that dot ends none, after the first one before it that does; otherwise on the lines above by the same rule, up to an empty line, the edge of an item or the top. `text` is its part of each line, trimmed, joined by line feeds. Sentences that differ only in whitespace are merged, with the strongest level.",
    params: &[
        required("lines", &[Kind::Lines], "The lines to search, for example those of a section."),
        required(
            "table",
            &[Kind::Map],
            "The words of each level, as a map of arrays. A word matches only between characters that are not letters, digits or `_`; the longest match wins.",
        ),
        option("levels", &[Kind::List], "The levels, strongest first; required if the table has more than one."),
        option(
            "definitions",
            &[Kind::Text, Kind::List],
            "Texts that, directly after a word, mark it as a definition, which does not count (default: the double quote).",
        ),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"lines("Tea. A pot MUST brew,\n  and SHOULD\nnot leak. It MAY sing.").keyword_sentences(#{ MUST: ["MUST"], MAY: ["MAY", "SHOULD"] }, #{ levels: ["MUST", "MAY"] })"#,
            r#"[{"end_line": 3, "level": "MUST", "line": 1, "text": "A pot MUST brew,\nand SHOULD\nnot leak.", "words": ["MUST", "SHOULD"]}, {"end_line": 3, "level": "MAY", "line": 3, "text": "It MAY sing.", "words": ["MAY"]}]"#,
        ),
        Example::gives(
            r#"lines("\"MUST\" is a word. MUST_NOT is none.").keyword_sentences(#{ MUST: ["MUST"] })"#,
            "[]",
        ),
        Example::fails(r#"lines("a").keyword_sentences(#{ A: ["A"], B: ["B"] })"#, "needs `levels`"),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(lines) = args.object::<Lines>("lines") else { return Ok(Value::Null) };
    let table = args.map("table")?;
    let names = levels(&table, args.texts_or("levels")?)?;
    let words = |name: &String| texts(table.get(name.as_str()).unwrap_or(&Value::Null), name);
    let keywords = Keywords {
        levels: names.iter().map(words).collect::<Result<_>>()?,
        definitions: args.texts_or("definitions")?.unwrap_or_else(|| vec!["\"".to_owned()]),
    };
    let sentences = keyword_sentences(lines, &keywords)?.into_iter().map(|sentence| {
        Value::map([
            ("text", sentence.text.into()),
            ("level", names.get(sentence.level).map(String::as_str).into()),
            ("words", Value::list(sentence.words.into_iter().map(Value::from))),
            ("line", sentence.line.into()),
            ("end_line", sentence.end_line.into()),
        ])
    });
    Ok(Value::list(sentences))
}

/// The names of the levels, strongest first: each level of the table once.
fn levels(table: &Map, given: Option<Vec<String>>) -> Result<Vec<String>> {
    let names = table.keys().map(|name| name.to_string());
    let levels = match given {
        Some(levels) => levels,
        None if table.len() <= 1 => names.clone().collect(),
        None => {
            let error = Diagnostic::new(Code::ARGUMENTS, "`keyword_sentences` needs `levels`: which level is stronger");
            let list = names.collect::<Vec<_>>().join("\", \"");
            return Err(error.help(format!("name them strongest first: `#{{ levels: [\"{list}\"] }}`")));
        }
    };
    let sorted = |mut names: Vec<String>| {
        names.sort_unstable();
        names
    };
    if sorted(levels.clone()) == names.clone().collect::<Vec<_>>() {
        return Ok(levels);
    }
    let error = Diagnostic::new(Code::ARGUMENTS, "`levels` of `keyword_sentences` are not the keys of the table");
    Err(error.help(format!("the table has `{}`", names.collect::<Vec<_>>().join("`, `"))))
}

fn texts(words: &Value, level: &str) -> Result<Vec<String>> {
    let text = |word: &Value| word.as_text().filter(|word| !word.is_empty()).map(str::to_owned);
    let words = match words {
        Value::List(words) => words.iter().map(text).collect(),
        other => text(other).map(|word| vec![word]),
    };
    words.ok_or_else(|| {
        Diagnostic::new(Code::ARGUMENTS, format!("the words of level `{level}` are not a list of texts"))
    })
}
