//! Functions, methods, properties and objects of other languages, and what a script writes.

use crate::primitives;

/// What a script writes in place of a word of another language, as a sentence of help.
pub(super) fn verb(name: &str) -> Option<String> {
    let says = VERBS.iter().find(|(words, _)| words.contains(&name))?.1;
    Some(if says.starts_with('`') { format!("write {says}") } else { says.to_owned() })
}

/// The same, for an object whose member follows in the code: `Math.max(…)` is the function `max`.
pub(super) fn object(name: &str, rest: &str) -> Option<String> {
    let member = rest.strip_prefix(name)?.strip_prefix('.')?;
    let member = member.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next()?;
    let is_same = primitives::find(member).is_some() || is_of_rhai(member);
    (is_same && matches!(name, "Math" | "math")).then(|| format!("write `{member}(…)`, without `{name}.`"))
}

/// The functions of rhai that have the names of `Math`.
fn is_of_rhai(member: &str) -> bool {
    matches!(member, "abs" | "floor" | "sqrt" | "sin" | "cos" | "tan" | "log" | "exp")
}

const SORT: &str = "`sort(\"field\")`, `sort(\"-field\")`, or `sort(|x| key)`";
const PAIRS: &str = "`for key in map.keys() { … map[key] … }`";
const TEMPLATE: &str = "`` `…${x}…` `` for a text with values";
const FIND_ALL: &str = "`find_all(text, \"regex\")`, or `matches(text, \"regex\")`";
const JSON: &str = "`to_json()` and `parse_json(…)`";
const WAIT: &str = "calls wait by themselves: use the result; `try { … } catch (e) { … }` catches errors";
const MODULE: &str = "tools are functions already: leave the module out; `tools(\"words\")` finds a tool";

const VERBS: &[(&[&str], &str)] = &[
    (&["length", "size", "count"], "`len()`"),
    (&["find_tools", "search_tools", "list_tools"], "`tools(\"words\")`"),
    (&["run_script", "run_writing_script"], "write the calls themselves: this is the script"),
    (&["parallel"], "`parallel(list, |item| …)`: a list, and a function of one item"),
    (&["includes", "has", "hasOwnProperty", "has_key"], "`contains(…)`, or `x in list`"),
    (&["any"], "`some(|x| …)`"),
    (&["every"], "`all(|x| …)`"),
    (&["flat_map", "flatMap"], "`map(|x| …).flatten()`"),
    (&["sort_by", "sortBy", "sort_by_key", "sorted", "orderBy"], SORT),
    (&["forEach", "for_each"], "`for x in list { … }`"),
    (&["enumerate"], "`for (r, i) in rows { … }`: the item comes first"),
    (&["stringify", "dumps"], "`to_json()`"),
    (&["loads"], "`parse_json(…)`"),
    (&["JSON", "json"], JSON),
    (&["toLowerCase", "lower"], "`to_lower()`"),
    (&["toUpperCase", "upper"], "`to_upper()`"),
    (&["strip", "lstrip", "rstrip"], "`trim()`"),
    (&["items", "entries", "iteritems"], PAIRS),
    (&["Object"], "`map.keys()` and `map.values()`"),
    (&["append"], "`push(x)`, or `list + [x]`"),
    (&["concat", "extend"], "`a + b`"),
    (&["str", "String"], "`to_string()`"),
    (&["int", "Number", "i64"], "`to_int()` of a number, or `parse_int(text)`"),
    (&["float", "parseFloat", "f64"], "`to_float()` of a number, or `parse_float(text)`"),
    (&["toFixed", "to_fixed"], "`round(2)`, with the number of digits"),
    (&["format", "sprintf"], TEMPLATE),
    (&["get", "setdefault"], "`map[\"b\"] ?? 7`, which is 7 if there is no such key, or `list[0]`"),
    (&["delete", "del"], "`map.remove(\"key\")`"),
    (&["slice"], "`skip(2).take(5)`"),
    (&["at"], "`list[0]`, or `list[-1]` for the last"),
    (&["zip"], "`for (row, i) in rows { … others[i] … }`"),
    (&["substring", "substr", "charAt"], "`text[0..3]`, or `text[0]`"),
    (&["set"], "`map[\"key\"] = value`, or `to_set(list)`"),
    (&["empty", "isEmpty"], "`is_empty()`"),
    (&["head", "limit"], "`take(5)`"),
    (&["startsWith", "startswith"], "`starts_with(…)`"),
    (&["endsWith", "endswith"], "`ends_with(…)`"),
    (&["match", "matchAll", "findall", "test", "exec", "re", "RegExp"], FIND_ALL),
    (&["console", "println", "eprintln", "printf"], "`print(…)`, whose lines come back if there is no value"),
    (&["Math", "math"], "`max(a, b)`, `round(x)`, and others by their own names"),
    (&["Promise", "asyncio", "gather"], "`parallel(list, |x| …)`, which calls at the same time"),
    (&["then", "catch", "finally"], WAIT),
    (
        &["typeof", "isinstance", "instanceof", "isArray"],
        "`type_of(x) == \"string\"`: `i64`, `f64`, `array`, `map`, `bool`",
    ),
    (&["Array"], "`[…]`; `type_of(x) == \"array\"` tests for a list"),
    (&["raise", "panic", "fail", "Error"], "`throw \"message\"`"),
    (&["require", "include"], MODULE),
    (
        &[
            "open",
            "readFile",
            "writeFile",
            "readFileSync",
            "writeFileSync",
            "getenv",
            "glob",
            "listdir",
            "fetch",
            "requests",
            "axios",
            "fs",
            "os",
        ],
        "a script reaches tools, and nothing else: `tools(\"words\")` finds the tool that does it",
    ),
    (
        &["unwrap", "expect", "unwrap_or", "unwrap_or_default", "ok"],
        "leave `unwrap` out: a value is there or `()`, and `x ?? default` replaces `()`",
    ),
    (
        &["iter", "into_iter", "collect", "to_vec", "cloned", "clone"],
        "leave `iter`, `collect` and `clone` out: lists have `map`, `filter`, `find`, and are copied by `=`",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn each_word_is_in_the_table_once() {
        let words: Vec<&str> = VERBS.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
        assert_eq!(verb("JSON").unwrap(), "write `to_json()` and `parse_json(…)`");
        assert_eq!(object("Math", "Math.max(1, 2)").unwrap(), "write `max(…)`, without `Math.`");
        assert_eq!(object("Math", "Math.teapot(1, 2)"), None);
    }
}
