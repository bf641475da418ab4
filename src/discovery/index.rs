//! An index over all served tools, which ranks them for a question in words.
//!
//! The rank of a tool is BM25 over its words, by the weight of the text that has them, plus a part for common pieces of
//! words: `coverage` and `uncovered` share some. A related word is a lesser occurrence of the word itself, not a word of
//! its own: otherwise a text that has several of a group would be ahead of one that has the very word.

use super::related_words::related;
use super::summary::first_sentence;
use super::words::{PIECE, name_words, pieces, words};
use crate::registry::{Registry, ServedTool};
use crate::value::Json;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

/// Characters of a query that count.
const MAX_QUERY: usize = 1_000;
/// Different words of a query that count.
const MAX_QUERY_WORDS: usize = 64;
/// How deep in a schema its words count.
const MAX_SCHEMA_DEPTH: usize = 12;

/// The weights of the words of a tool, by where they are. Those of its arguments weigh 1.
const NAME_WEIGHT: f64 = 3.0;
const TITLE_WEIGHT: f64 = 2.0;
const KEYWORDS_WEIGHT: f64 = 2.0;
/// In addition to the weight in the description.
const FIRST_SENTENCE_WEIGHT: f64 = 2.0;

/// How soon more occurrences of a word count no more (`k1` of BM25).
const SATURATION: f64 = 1.5;
/// How much long texts are held back (`b` of BM25).
const LENGTH_PART: f64 = 0.75;
/// What an occurrence of a related word counts.
const RELATED: f64 = 0.5;
/// The rarity of a word that no tool has, compared with one that a single tool has: related words of it count by that.
const UNKNOWN: f64 = 0.5;
/// What a word counts in addition if the name, the title or the keywords of the tool have it; the half for a related one.
const IN_HEADING: f64 = 0.75;
/// What a piece of a word counts.
const PIECE_PART: f64 = 0.2;
/// Tools with a smaller part of the best score are not found: they share a piece of a word.
const FAINT: f64 = 0.1;

/// An index over the tools of one registry.
pub struct ToolIndex {
    tools: Vec<IndexedTool>,
    /// The tools that have a word.
    postings: HashMap<String, Vec<Posting>>,
    /// The words that have a piece.
    pieces: HashMap<[char; PIECE], Vec<String>>,
}

/// What a search found.
pub struct Found {
    /// The tools, the best first.
    pub tools: Vec<Arc<ServedTool>>,
    /// How many there are without the limit.
    pub total: usize,
}

struct IndexedTool {
    served: Arc<ServedTool>,
    /// The words of its name and of its former names.
    names: Vec<Vec<String>>,
    /// How long its texts are, and how many pieces they have: 1 is the average.
    length: f64,
    piece_count: f64,
}

/// That a tool has a word.
struct Posting {
    tool: usize,
    weight: f64,
    in_heading: bool,
}

/// The words of a tool with their weights, and whether a heading has them.
type WeightedWords = HashMap<String, (f64, bool)>;

impl ToolIndex {
    /// An index over the tools that a registry serves.
    pub fn new(registry: &Registry) -> Self {
        let mut index = Self { tools: Vec::new(), postings: HashMap::new(), pieces: HashMap::new() };
        for (tool, served) in registry.tools.iter().filter(|served| !served.definition.is_hidden).enumerate() {
            let (mut length, mut piece_count) = (0.0, 0.0);
            for (word, (weight, in_heading)) in weighted_words(served) {
                length += weight;
                piece_count += weight * pieces(&word).len() as f64;
                index.postings.entry(word).or_default().push(Posting { tool, weight, in_heading });
            }
            let names = std::iter::once(served.name.clone()).chain(served.aliases());
            let names = names.map(|name| name_words(&name)).collect();
            index.tools.push(IndexedTool { served: Arc::clone(served), names, length, piece_count });
        }
        index.relate_lengths();
        for word in index.postings.keys() {
            for piece in pieces(word) {
                index.pieces.entry(piece).or_default().push(word.clone());
            }
        }
        index
    }

    /// Turns lengths into what they hold back.
    fn relate_lengths(&mut self) {
        let average = |total: f64| (total / self.tools.len().max(1) as f64).max(1.0);
        let length = average(self.tools.iter().map(|tool| tool.length).sum());
        let piece_count = average(self.tools.iter().map(|tool| tool.piece_count).sum());
        for tool in &mut self.tools {
            tool.length = 1.0 - LENGTH_PART + LENGTH_PART * tool.length / length;
            tool.piece_count = 1.0 - LENGTH_PART + LENGTH_PART * tool.piece_count / piece_count;
        }
    }

    /// The tools that fit a query best, of one pack or of all: at most `limit`, the best first, equals by name. A query
    /// that is the name of a tool finds it first.
    pub fn search(&self, query: &str, pack: Option<&str>, limit: usize) -> Found {
        let query: String = query.trim().chars().take(MAX_QUERY).collect();
        let mut asked: Vec<String> = Vec::new();
        for word in words(&query) {
            if asked.len() < MAX_QUERY_WORDS && !asked.contains(&word) {
                asked.push(word);
            }
        }
        let mut scores = vec![0.0; self.tools.len()];
        for word in &asked {
            self.add_word(word, &mut scores);
            self.add_pieces(word, &mut scores);
        }
        let name = name_words(&query);
        let of_pack = |tool: &IndexedTool| pack.is_none_or(|pack| tool.served.pack.name == pack);
        let scored = self.tools.iter().zip(scores).filter(|(tool, _)| of_pack(tool));
        let scored: Vec<(u8, f64, &IndexedTool)> =
            scored.map(|(tool, score)| (tool.named(&query, &name), score, tool)).collect();
        let best = scored.iter().map(|(_, score, _)| *score).fold(0.0, f64::max);
        let is_found = |(named, score, _): &(u8, f64, &IndexedTool)| *named > 0 || *score > best * FAINT;
        let mut found: Vec<(u8, f64, &IndexedTool)> = scored.into_iter().filter(is_found).collect();
        found.sort_by(|one, other| {
            let (by_name, by_score) = (Reverse(one.0).cmp(&Reverse(other.0)), other.1.total_cmp(&one.1));
            by_name.then(by_score).then_with(|| one.2.served.name.cmp(&other.2.served.name))
        });
        let total = found.len();
        let tools = found.into_iter().take(limit).map(|(_, _, tool)| Arc::clone(&tool.served)).collect();
        Found { tools, total }
    }

    /// Adds what a word and its related ones count.
    fn add_word(&self, word: &str, scores: &mut [f64]) {
        // For each tool: the weight of the word, that of related ones, and whether a heading has either.
        let mut matches = vec![(0.0_f64, 0.0_f64, 0.0_f64); self.tools.len()];
        let direct = self.postings_of(word);
        for posting in related(word).iter().flat_map(|related| self.postings_of(related)) {
            let (_, weight, heading) = &mut matches[posting.tool];
            *weight = weight.max(posting.weight);
            *heading = if posting.in_heading { 0.5 } else { *heading };
        }
        for posting in direct {
            let (weight, _, heading) = &mut matches[posting.tool];
            *weight = posting.weight;
            *heading = if posting.in_heading { 1.0 } else { *heading };
        }
        let rarity = match direct.len() {
            0 => UNKNOWN * self.rarity(1),
            tools => self.rarity(tools),
        };
        for ((score, tool), (direct, related, heading)) in scores.iter_mut().zip(&self.tools).zip(matches) {
            *score += rarity * (saturated(direct + RELATED * related, tool.length) + IN_HEADING * heading);
        }
    }

    /// Adds what the pieces of a word count.
    fn add_pieces(&self, word: &str, scores: &mut [f64]) {
        for piece in pieces(word) {
            let mut weights = vec![0.0; self.tools.len()];
            for word in self.pieces.get(&piece).into_iter().flatten() {
                self.postings_of(word).iter().for_each(|posting| weights[posting.tool] += posting.weight);
            }
            let rarity = self.rarity(weights.iter().filter(|weight| **weight > 0.0).count());
            for ((score, tool), weight) in scores.iter_mut().zip(&self.tools).zip(weights) {
                *score += PIECE_PART * rarity * saturated(weight, tool.piece_count);
            }
        }
    }

    fn postings_of(&self, word: &str) -> &[Posting] {
        self.postings.get(word).map_or(&[], Vec::as_slice)
    }

    /// How much it says that a tool is one of `count` tools that have something.
    fn rarity(&self, count: usize) -> f64 {
        let (all, count) = (self.tools.len() as f64, count as f64);
        ((all - count + 0.5) / (count + 0.5)).ln_1p()
    }
}

/// What a weight counts in a text of this length.
fn saturated(weight: f64, length: f64) -> f64 {
    if weight > 0.0 { weight * (SATURATION + 1.0) / (weight + SATURATION * length) } else { 0.0 }
}

impl IndexedTool {
    /// Whether a query is its name: 2 as it is written, 1 in another spelling or a former one.
    fn named(&self, query: &str, words: &[String]) -> u8 {
        if self.served.name == query {
            return 2;
        }
        u8::from(!words.is_empty() && self.names.iter().any(|name| name == words))
    }
}

fn weighted_words(served: &ServedTool) -> WeightedWords {
    let tool = &served.definition;
    let mut all = WeightedWords::new();
    let mut add = |text: &str, weight: f64, in_heading: bool| {
        for word in words(text) {
            let known = all.entry(word).or_default();
            known.0 += weight;
            known.1 |= in_heading;
        }
    };
    add(&served.name, NAME_WEIGHT, true);
    add(tool.title.as_deref().unwrap_or_default(), TITLE_WEIGHT, true);
    add(tool.discovery.keywords.as_deref().unwrap_or_default(), KEYWORDS_WEIGHT, true);
    served.aliases().for_each(|alias| add(&alias, TITLE_WEIGHT, false));
    add(first_sentence(&tool.description.value), FIRST_SENTENCE_WEIGHT, false);
    add(&tool.description.value, 1.0, false);
    for (keyword, part) in served.contract.schema.iter().filter(|(keyword, _)| *keyword != "description") {
        add_keyword(keyword, part, 0, &mut |text| add(text, 1.0, false));
    }
    all
}

/// Names, titles, descriptions and choices in a schema.
fn add_schema(schema: &Json, depth: usize, add: &mut dyn FnMut(&str)) {
    match schema {
        _ if depth > MAX_SCHEMA_DEPTH => {}
        Json::Object(keywords) => keywords.iter().for_each(|(keyword, part)| add_keyword(keyword, part, depth, add)),
        Json::Array(parts) => parts.iter().for_each(|part| add_schema(part, depth + 1, add)),
        _ => {}
    }
}

fn add_keyword(keyword: &str, part: &Json, depth: usize, add: &mut dyn FnMut(&str)) {
    match (keyword, part) {
        ("title" | "description" | "const", Json::String(text)) => add(text),
        ("enum", Json::Array(choices)) => choices.iter().filter_map(Json::as_str).for_each(add),
        ("default" | "examples" | "required" | "const", _) => {}
        ("properties" | "$defs", Json::Object(named)) => {
            for (name, schema) in named {
                if keyword == "properties" {
                    add(name);
                }
                add_schema(schema, depth + 1, add);
            }
        }
        _ => add_schema(part, depth + 1, add),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::test_registry::registry;
    use proptest::prelude::*;
    use std::fmt::Write as _;

    fn definitions(tools: &[(String, String)]) -> String {
        tools.iter().fold(String::new(), |mut text, (name, description)| {
            let described = serde_json::to_string(description).unwrap();
            _ = write!(text, "[[tool]]\nname = \"{name}\"\ntext = \"x\"\ndescription = {described}\n");
            text
        })
    }

    fn names(found: &Found) -> Vec<&str> {
        found.tools.iter().map(|tool| tool.name.as_str()).collect()
    }

    const TOOLS: &str = r#"
[[tool]]
name = "delete_note"
description = "Takes a note out. It is gone then."
text = "x"
aliases = ["wipe"]
[[tool]]
name = "list_notes"
title = "All notes"
description = "Shows every note of a topic."
text = "x"
input = { type = "object", properties = { topic = { type = "string", description = "Such as cooking" } } }
[[tool]]
name = "add_note"
keywords = "jot scribble"
description = "Makes a note about a topic."
text = "x"
"#;

    #[test]
    fn tools_are_found_by_any_of_their_texts() {
        let registry = registry(&[
            ("notes", TOOLS),
            ("b", "[[tool]]\nname = \"list_notes_b\"\ndescription = \"Shows notes.\"\ntext = \"x\"\n"),
        ]);
        let index = ToolIndex::new(&registry);
        for (query, pack, expected) in [
            ("delete_note", None, "delete_note"),
            ("Delete Notes", None, "delete_note"),
            ("remove a note", None, "delete_note"),
            ("wipe", None, "delete_note"),
            ("something about cooking", None, "list_notes"),
            ("create", None, "add_note"),
            ("scribbles", None, "add_note"),
            ("notes", Some("b"), "list_notes_b"),
        ] {
            let found = index.search(query, pack, 3);
            assert_eq!(names(&found).first(), Some(&expected), "{query}: {:?}", names(&found));
        }
        for query in ["", "?", "zebra", "the of and"] {
            let found = index.search(query, None, 3);
            assert_eq!((found.tools.len(), found.total), (0, 0), "{query}");
        }
        assert!(index.search("notes", Some("none"), 3).tools.is_empty());
        let found = index.search("note", None, 1);
        assert_eq!((found.tools.len(), found.total), (1, 4));
        assert_eq!(ToolIndex::new(&Registry::default()).search("note", None, 5).total, 0);
    }

    #[test]
    fn equals_are_in_the_order_of_their_names() {
        let tools = ["c", "a", "b"].map(|name| (format!("{name}_x"), "Same.".to_owned()));
        let index = ToolIndex::new(&registry(&[("p", &definitions(&tools))]));
        assert_eq!(names(&index.search("same", None, 9)), ["a_x", "b_x", "c_x"]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn any_query_is_answered_in_the_same_way(
            tools in prop::collection::btree_map("[A-Za-z0-9_.-]{1,12}", "\\PC{1,80}", 1..12),
            query in "\\PC{0,60}",
            repeats in prop::sample::select(vec![1_usize, 1, 5_000]),
            limit in 0_usize..15,
        ) {
            let tools: Vec<(String, String)> = tools.into_iter().collect();
            let registry = registry(&[("p", &definitions(&tools))]);
            let (index, again) = (ToolIndex::new(&registry), ToolIndex::new(&registry));
            let query = query.repeat(repeats);
            let found = index.search(&query, None, limit);
            prop_assert!(found.tools.len() == found.total.min(limit));
            let repeated = again.search(&query, None, limit);
            prop_assert_eq!(names(&found), names(&repeated));
            for tool in &registry.tools {
                let found = index.search(&tool.name, None, 1);
                prop_assert_eq!(names(&found), [tool.name.as_str()]);
            }
        }
    }
}
