//! Words of other languages that newcomers try (iterators of Rust, arrays of JavaScript, Python, SQL, networkx), and how a
//! script says the same. One table serves the messages of `check`, the errors at run time and `toolsd docs`.

/// A word and what a script says instead. Names of functions are in backticks.
pub struct ForeignWord {
    /// The word, in lower case.
    pub word: &'static str,
    /// What a script says.
    pub says: &'static str,
}

const fn foreign(word: &'static str, says: &'static str) -> ForeignWord {
    ForeignWord { word, says }
}

/// Keywords and constants of other languages, sorted, and how a script writes them.
const FOREIGN_KEYWORDS: &[ForeignWord] = &[
    foreign("'", "double quotes or backticks around a text; `'a'` is one character,"),
    foreign("++", "`x += 1`"),
    foreign("--", "`x -= 1`"),
    foreign("=>", "a closure as `|x| x + 1`"),
    foreign("=~", "`text.matches(regex)`"),
    foreign("?", "`if condition { a } else { b }`, which has a value, or `a ?? b` for a missing one,"),
    foreign("and", "`&&`"),
    foreign("async", "the function alone: a call returns when it is done"),
    foreign("await", "the call alone: it returns when it is done"),
    foreign("class", "a map: `#{ name: value }`"),
    foreign("def", "`fn name(parameters) { … }`"),
    foreign("elif", "`else if`"),
    foreign("elseif", "`else if`"),
    foreign("elsif", "`else if`"),
    foreign("except", "`catch (error) { … }`"),
    foreign("export", "nothing: all scripts of a pack see its functions"),
    foreign("false", "`false`"),
    foreign("func", "`fn name(parameters) { … }`"),
    foreign("function", "`fn name(parameters) { … }`, or `|parameters| …` for a closure"),
    foreign("import", "nothing: all scripts of a pack see its functions"),
    foreign("is", "`==`"),
    foreign("lambda", "`|parameters| …`"),
    foreign("mut", "`let`: every variable can be changed"),
    foreign("new", "a map: `#{ name: value }`"),
    foreign("nil", "`()`, for a value that is missing"),
    foreign("none", "`()`, for a value that is missing"),
    foreign("not", "`!`"),
    foreign("null", "`()`, for a value that is missing"),
    foreign("or", "`||`"),
    foreign("pass", "an empty block: `{ }`"),
    foreign("pub", "`fn`: all scripts of a pack see its functions"),
    foreign("raise", "`throw \"message\"`"),
    foreign("require", "nothing: all scripts of a pack see its functions"),
    foreign("true", "`true`"),
    foreign("typeof", "`type_of(x)`"),
    foreign("undefined", "`()`, for a value that is missing"),
    foreign("use", "nothing: all scripts of a pack see its functions"),
    foreign("var", "`let`"),
];

/// What a script writes instead of a keyword of another language, as a sentence of help.
pub fn translate_keyword(word: &str) -> Option<String> {
    let says = look_up(FOREIGN_KEYWORDS, word)?;
    Some(format!("a script writes {says} instead of `{word}`"))
}

/// The same for the word or sign at which a script cannot be read any more.
pub fn translate_at(rest: &str) -> Option<String> {
    let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len());
    let signs = FOREIGN_KEYWORDS.iter().map(|keyword| keyword.word);
    let mut signs = signs.filter(|sign| !sign.starts_with(char::is_alphabetic) && rest.starts_with(sign));
    let word = if end > 0 { &rest[..end] } else { signs.next()? };
    // Constants are known in other spellings only.
    translate_keyword(word).filter(|_| !matches!(word, "true" | "false" | "import" | "export"))
}

/// The words, sorted.
pub const FOREIGN_WORDS: &[ForeignWord] = &[
    foreign("any", "`some`"),
    foreign("basename", "`path_name`"),
    foreign("capitalize", "`to_upper` of the first character, and the rest"),
    foreign("chunks", "`skip` and `take` in a loop"),
    foreign("coalesce", "the operator `??`"),
    foreign("connected_components", "`walk` in the direction \"both\", from each node that was not reached yet"),
    foreign("console.log", "`print`; the result of the function is the answer"),
    foreign("count", "`len`, or `count_by` for a count per key"),
    foreign("datetime.now", "`now`"),
    foreign("degree", "`edges_in` or `edges_out`, then `len`"),
    foreign("dirname", "`path_parent`"),
    foreign("distinct", "`unique` for arrays; `distinct` returns the values of a field of nodes"),
    foreign("dumps", "`to_json`"),
    foreign("endswith", "`ends_with`"),
    foreign("enumerate", "`for (item, index) in list`"),
    foreign("every", "`all`"),
    foreign("exec", "`run`, with a `run` grant for the program"),
    foreign("fetch", "`run` of curl, with a `run` grant for it that has `network = true`"),
    foreign("find", "`find` of arrays, `index_of` of strings, `find_all` for every match of a pattern"),
    foreign("findall", "`find_all`"),
    foreign("flat", "`flatten`"),
    foreign("flat_map", "`map`, then `flatten`"),
    foreign("flatmap", "`map`, then `flatten`"),
    foreign("float", "`parse_float` of a text, `to_float` of a number"),
    foreign("fold", "`reduce`, with the start as its last argument"),
    foreign("foreach", "`for item in list`"),
    foreign("format", "backticks around a text with values: `…${x}…`"),
    foreign("get", "`map.key`, or `map[\"key\"] ?? default`, for a value of a map"),
    foreign("getenv", "`env`"),
    foreign("glob", "`find_files`"),
    foreign("group by", "`group_by`"),
    foreign("groupby", "`group_by`"),
    foreign("has_path", "`walk`, then `contains`"),
    foreign("having", "`filter` after `group_by`"),
    foreign("http_get", "`run` of curl, with a `run` grant for it that has `network = true`"),
    foreign("includes", "`contains`, or the operator `in`"),
    foreign("indexof", "`index_of`"),
    foreign("int", "`parse_int` of a text, `to_int` of a number"),
    foreign("isdisjoint", "`intersection`, then `is_empty`"),
    foreign("join", "`join` for strings; for tables `group_by` and `map`, for graphs `neighbors`"),
    foreign("json.dumps", "`to_json`"),
    foreign("json.loads", "`parse_json`"),
    foreign("json.parse", "`parse_json`"),
    foreign("json.stringify", "`to_json`"),
    foreign("limit", "`take`, or `page` for a tool whose answers are paged"),
    foreign("listdir", "`find_files`"),
    foreign("loads", "`parse_json`"),
    foreign("lower", "`to_lower`"),
    foreign("lstrip", "`trim`"),
    foreign("match", "`captures`"),
    foreign("offset", "`skip`, or `page` for a tool whose answers are paged"),
    foreign("open", "`read_text`"),
    foreign("order by", "`sort`"),
    foreign("orderby", "`sort`"),
    foreign("partition", "`group_by` with a function"),
    foreign("position", "`index_of` with a function"),
    foreign("predecessors", "`neighbors` in the direction \"in\""),
    foreign("println", "`log`; the result of the function is the answer"),
    foreign("raise", "`throw \"message\"`"),
    foreign("re.sub", "`replace_regex`"),
    foreign("read_file", "`read_text`"),
    foreign("readfile", "`read_text`"),
    foreign("shortest_path", "`walk`, which says what can be reached, not by which path"),
    foreign("simple_cycles", "`cycles`"),
    foreign("skip_while", "`index_of` with a function, then `skip`"),
    foreign("slice", "`skip` and `take` of arrays, `text[0..3]` of strings"),
    foreign("sorted", "`sort`"),
    foreign("splitlines", "`lines`"),
    foreign("startswith", "`starts_with`"),
    foreign("str", "`to_string`"),
    foreign("strftime", "`format_time`"),
    foreign("strip", "`trim`"),
    foreign("strptime", "`parse_time`"),
    foreign("subprocess", "`run`, with a `run` grant for the program"),
    foreign("successors", "`neighbors` in the direction \"out\""),
    foreign("system", "`run`, with a `run` grant for the program"),
    foreign("take_while", "`index_of` with a function, then `take`"),
    foreign("to_str", "`to_string`"),
    foreign("to_undirected", "the direction \"both\" of `walk` and `neighbors`"),
    foreign("tolowercase", "`to_lower`"),
    foreign("topological_sort", "`dependency_order`"),
    foreign("tostring", "`to_string`"),
    foreign("touppercase", "`to_upper`"),
    foreign("typeof", "`type_of`"),
    foreign("upper", "`to_upper`"),
    foreign("walkdir", "`find_files`"),
    foreign("write_file", "`write_text`"),
    foreign("writefile", "`write_text`"),
];

/// What a script says in place of a word of another language, if it is known, as a sentence of a message.
pub fn foreign_word(name: &str) -> Option<String> {
    look_up(FOREIGN_WORDS, name).map(|says| format!("scripts say {says}"))
}

/// Upper and lower case are the same: Python has `None`, and Ruby `nil`.
fn look_up(words: &[ForeignWord], word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    words.iter().find(|known| known.word == word).map(|known| known.says)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_of_a_word_does_not_matter() {
        assert_eq!(foreign_word("flatMap").unwrap(), "scripts say `map`, then `flatten`");
        assert_eq!(foreign_word("ORDER BY").unwrap(), "scripts say `sort`");
        assert!(foreign_word("teapot").is_none());
        assert_eq!(
            translate_keyword("None").unwrap(),
            "a script writes `()`, for a value that is missing instead of `None`"
        );
        assert!(FOREIGN_KEYWORDS.windows(2).all(|pair| pair[0].word < pair[1].word), "sorted by word, each once");
    }
}
