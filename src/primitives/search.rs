//! `search`: the items that match a query, the best first.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Nodes;
use crate::guard::{self, BYTE, CheckedIterator, ITEM, checked};
use crate::letters;
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};
use memchr::memmem::Finder;
use std::cmp::Reverse;
use std::collections::HashSet;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "search",
    family: Family::Text,
    summary: "Returns the items of `list` that match `query`, ignoring case: first those with the whole phrase, then those with all its words, each in the order of the list. Nodes remain nodes.",
    params: &[
        required("list", sequence::KINDS, "Strings, maps, nodes or rows."),
        required("query", &[Kind::Text], "Words, or a \"phrase\" in double quotes, which matches only as a whole."),
        option("fields", &[Kind::List], "The names of the fields to search (default: all strings of an item)."),
        option("limit", &[Kind::Integer], "Maximum number of items."),
        option("any", &[Kind::Bool], "Whether items with some of the words follow, those with more of them first."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"["Tea and pot", "A pot MUST brew", "brew the pot"].search("pot must")"#,
            r#"["A pot MUST brew"]"#,
        ),
        Example::gives(r#"["brew a pot", "x", "pot  brew"].search("pot brew")"#, r#"["pot  brew", "brew a pot"]"#),
        Example::gives(
            r#"[#{ id: "pot", t: "x" }, #{ id: "b", t: "pot" }].search("pot", #{ fields: ["t"] }).map(|x| x.id)"#,
            r#"["b"]"#,
        ),
        Example::gives(r#"["brew a pot", "pot"].search("\"a pot\"")"#, r#"["brew a pot"]"#),
        Example::gives(
            r#"["tea", "pot", "pot tea"].search("pot tea", #{ any: true, limit: 2 })"#,
            r#"["pot tea", "tea"]"#,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ note: "dark leaf" }); g.add_node("tea", "sencha", #{ note: "green leaf" }); g.nodes("tea").search("leaf green", #{ fields: ["note"] }).column("key")"##,
            r#"["sencha"]"#,
        ),
        Example::fails(r#"["a"].search(" ")"#, "the query is empty"),
    ],
    run,
};

/// Maximum length of a query, in bytes.
const MAX_QUERY_BYTES: usize = 64 << 10;

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    if let Some(answer) = sequence::perform_on_receiver(&args, "search", "list", &["query", "fields", "limit", "any"]) {
        return answer;
    }
    let query = Query::read(args.text("query"), args.flag("any"))?;
    let fields = args.given("fields").map(|_| args.texts("fields")).transpose()?;
    let limit = args.integer_or("limit").map(|limit| usize::try_from(limit).unwrap_or(0));
    if let Some(nodes) = args.object::<Nodes>("list") {
        return Ok(Value::handle(among_nodes(nodes, &query, fields.as_deref(), limit)?));
    }
    let mut ranked = Vec::new();
    for (place, item) in sequence::items(&mut args, "list")?.into_iter().enumerate() {
        guard::spend(ITEM)?;
        let texts = read(&item, fields.as_deref())?;
        if let Some(rank) = query.rank(|part| has(&texts, part))? {
            ranked.push((rank, place, item));
        }
    }
    ranked.sort_by_key(|(rank, place, _)| (*rank, *place));
    ranked.truncate(limit.unwrap_or(usize::MAX));
    ranked.into_iter().map(|(_, _, item)| item).collect_checked().map(Value::List)
}

/// The nodes that match, as nodes. A field is looked up once, not once per node.
fn among_nodes(nodes: &Nodes, query: &Query, fields: Option<&[String]>, limit: Option<usize>) -> Result<Nodes> {
    let columns = fields.map(|fields| fields.iter().map(|name| nodes.folded(name, folded)).collect::<Result<Vec<_>>>());
    let columns = columns.transpose()?;
    let mut ranked = Vec::new();
    for place in 0..nodes.len() {
        guard::spend(ITEM)?;
        let rank = match &columns {
            Some(columns) => query.rank(|part| any(columns.iter().map(|column| has(&column[place], part))))?,
            None => {
                let texts = nodes.at(place).map_or_else(|| Ok(Vec::new()), |node| folded(&Value::handle(node)))?;
                query.rank(|part| has(&texts, part))?
            }
        };
        ranked.extend(rank.map(|rank| (rank, place)));
    }
    ranked.sort_unstable();
    ranked.truncate(limit.unwrap_or(usize::MAX));
    let places: Vec<usize> = ranked.into_iter().map(|(_, place)| place).collect();
    nodes.at_places(&places)
}

/// A query, in lower case.
struct Query {
    phrase: Finder<'static>,
    /// Each word once; empty if only the phrase counts.
    words: Vec<Finder<'static>>,
    /// Whether some of the words are sufficient.
    any: bool,
}

/// The rank of an item; the lowest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SearchRank {
    Phrase,
    AllWords,
    SomeWords(Reverse<usize>),
}

impl Query {
    fn read(query: &str, any: bool) -> Result<Self> {
        if query.len() > MAX_QUERY_BYTES {
            let (bytes, most) = (query.len().div_ceil(1 << 10), MAX_QUERY_BYTES >> 10);
            let message = format!("the query has {bytes} kB; `search` takes up to {most} kB");
            return Err(Diagnostic::new(Code::LIMIT, message).help("give some words"));
        }
        let query = letters::to_lower(query.trim())?;
        let quoted = query.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
        let phrase = letters::collapse_whitespace(quoted.unwrap_or(&query))?;
        if phrase.is_empty() {
            return Err(Diagnostic::new(Code::ARGUMENTS, "the query is empty").help("pass a word, or a \"phrase\""));
        }
        let mut words: Vec<&str> = Vec::new();
        if quoted.is_none() {
            let mut seen = HashSet::new();
            for word in checked(phrase.split(' ')) {
                let word = word?;
                if seen.insert(word) {
                    words.push(word);
                }
            }
        }
        let finder = |part: &str| Finder::new(part).into_owned();
        Ok(Self { words: words.into_iter().map(finder).collect(), phrase: finder(&phrase), any })
    }

    fn rank(&self, has: impl Fn(&Finder<'_>) -> Result<bool>) -> Result<Option<SearchRank>> {
        if has(&self.phrase)? {
            return Ok(Some(SearchRank::Phrase));
        }
        let mut hits = 0;
        for word in &self.words {
            hits += usize::from(has(word)?);
        }
        Ok(match hits {
            0 => None,
            _ if hits == self.words.len() => Some(SearchRank::AllWords),
            _ => self.any.then_some(SearchRank::SomeWords(Reverse(hits))),
        })
    }
}

/// The strings of an item to search, in lower case and with whitespace collapsed, so that line breaks do not matter.
fn read(item: &Value, fields: Option<&[String]>) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    match (item, fields) {
        (Value::Text(_), _) | (_, None) => gather(item, &mut texts)?,
        (_, Some(fields)) => {
            for name in fields {
                gather(&sequence::field(item, name)?, &mut texts)?;
            }
        }
    }
    Ok(texts)
}

fn has(texts: &[String], part: &Finder<'_>) -> Result<bool> {
    for text in texts {
        guard::spend(ITEM + text.len() * BYTE)?;
        if part.find(text.as_bytes()).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether one of the answers is true; later ones are not evaluated.
fn any(mut answers: impl Iterator<Item = Result<bool>>) -> Result<bool> {
    answers.find(|answer| !matches!(answer, Ok(false))).unwrap_or(Ok(false))
}

fn folded(value: &Value) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    gather(value, &mut texts)?;
    Ok(texts)
}

fn gather(value: &Value, texts: &mut Vec<String>) -> Result<()> {
    guard::spend(ITEM)?;
    match value {
        Value::List(items) => items.iter().try_for_each(|item| gather(item, texts)),
        Value::Map(map) => map.values().try_for_each(|value| gather(value, texts)),
        Value::Handle(handle) => gather(&Value::from_json(&handle.to_json()), texts),
        plain => {
            if let Some(word) = sequence::scalar_text(plain) {
                texts.push(letters::collapse_whitespace(&letters::to_lower(&word)?)?);
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(query: &str, any: bool, text: &str) -> Option<SearchRank> {
        let query = Query::read(query, any).expect("not empty");
        let texts = read(&text.into(), None).expect("a text can be read");
        query.rank(|part| has(&texts, part)).expect("nothing stops it")
    }

    #[test]
    fn the_phrase_comes_before_the_words() {
        assert_eq!(rank("Pot must", false, "a POT\n MUST"), Some(SearchRank::Phrase));
        assert_eq!(rank("must pot", false, "a POT MUST"), Some(SearchRank::AllWords));
        assert_eq!(rank("must x", false, "a POT MUST"), None);
        assert_eq!(rank("must x", true, "a POT MUST"), Some(SearchRank::SomeWords(Reverse(1))));
        assert_eq!(rank("\"must pot\"", true, "a POT MUST"), None);
        assert!(SearchRank::SomeWords(Reverse(2)) < SearchRank::SomeWords(Reverse(1)));
        assert!(Query::read("\"\"", false).is_err());
    }
}
