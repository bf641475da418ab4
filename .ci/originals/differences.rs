//! What two answers differ in, in classes; and the classes that are known, each with its reason.

use crate::Outcome;
use crate::project::Project;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// One difference between the two answers to a question.
#[derive(Clone)]
pub struct Difference {
    /// The question, whose first word is its kind: that of a tool, for instance.
    pub question: String,
    /// Where in the answer, without the names of list items.
    pub at: String,
    /// What kind of difference.
    pub kind: Kind,
    /// The difference in words.
    pub reported: String,
}

/// How two answers can differ.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Another value.
    Value,
    /// An item that the pack alone has, or has more often.
    OnlyHere,
    /// An item that the original alone has, or has more often.
    OnlyThere,
    /// The same items in another order.
    Order,
}

/// What differences have in common: the kind of question, the place, the kind of difference.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Class(String, String, Kind);

impl Difference {
    /// The class that it belongs to.
    pub fn class(&self) -> Class {
        Class(self.subject().to_owned(), self.at.clone(), self.kind)
    }

    fn subject(&self) -> &str {
        self.question.split(' ').next().unwrap_or_default()
    }
}

impl fmt::Display for Class {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.2 {
            Kind::Value => "another value",
            Kind::OnlyHere => "only in the pack",
            Kind::OnlyThere => "only in the original",
            Kind::Order => "another order",
        };
        write!(formatter, "{} {}: {kind}", self.0, self.1)
    }
}

/// Compares answers to one question: every field that the original answers with. Fields that the pack adds are no
/// differences.
pub fn compare(question: &str, here: &Value, there: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare_at(question, "", here, there, &mut found);
    found
}

fn compare_at(question: &str, at: &str, here: &Value, there: &Value, found: &mut Vec<Difference>) {
    match (here, there) {
        // One is refused and the other is not: their fields have nothing in common.
        (Value::Object(ours), Value::Object(theirs)) if is_refused(ours) != is_refused(theirs) => {
            let kind = if is_refused(ours) { Kind::OnlyThere } else { Kind::OnlyHere };
            let reported = if is_refused(ours) { here.to_string() } else { there.to_string() };
            found.push(Difference { question: question.to_owned(), at: format!("{at}/answered"), kind, reported });
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            for (key, value) in theirs {
                compare_at(question, &format!("{at}/{key}"), ours.get(key).unwrap_or(&Value::Null), value, found);
            }
        }
        (Value::Array(ours), Value::Array(theirs)) => compare_lists(question, at, ours, theirs, found),
        (Value::Number(a), Value::Number(b))
            if a.as_f64().zip(b.as_f64()).is_some_and(|(a, b)| (a - b).abs() < 0.05) => {}
        _ if here == there => {}
        _ => {
            let reported = format!("here {here}, there {there}");
            found.push(Difference { question: question.to_owned(), at: at.to_owned(), kind: Kind::Value, reported });
        }
    }
}

fn is_refused(answer: &serde_json::Map<String, Value>) -> bool {
    ["error", "raised"].iter().any(|field| answer.get(*field).is_some_and(|reported| !reported.is_null()))
}

fn compare_lists(question: &str, at: &str, here: &[Value], there: &[Value], found: &mut Vec<Difference>) {
    let at = format!("{at}[]");
    let mut add = |kind, reported| {
        found.push(Difference { question: question.to_owned(), at: at.clone(), kind, reported });
    };
    let (ours, theirs) = (named(here), named(there));
    for (name, _) in ours.iter().filter(|(name, _)| !theirs.iter().any(|(other, _)| other == name)) {
        add(Kind::OnlyHere, name.clone());
    }
    for (name, _) in theirs.iter().filter(|(name, _)| !ours.iter().any(|(other, _)| other == name)) {
        add(Kind::OnlyThere, name.clone());
    }
    let shared = |all: &[(String, Value)], others: &[(String, Value)]| -> Vec<String> {
        all.iter().map(|(name, _)| name.clone()).filter(|name| others.iter().any(|(other, _)| other == name)).collect()
    };
    let (in_our_order, in_their_order) = (shared(&ours, &theirs), shared(&theirs, &ours));
    if in_our_order != in_their_order {
        add(Kind::Order, format!("here {}, there {}", in_our_order.join(", "), in_their_order.join(", ")));
    }
    for (name, value) in &theirs {
        if let Some((_, own)) = ours.iter().find(|(other, _)| other == name) {
            compare_at(question, &at, own, value, found);
        }
    }
}

/// The items of a list with what tells them apart; a name that comes again is counted.
fn named(list: &[Value]) -> Vec<(String, Value)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let name = |item: &Value| match (&item["id"], &item["source_id"], &item["target_id"]) {
        (Value::String(id), _, _) => id.clone(),
        (_, Value::String(source), Value::String(target)) => format!("{source} -> {target}"),
        _ => item.to_string(),
    };
    let mut found = Vec::new();
    for item in list {
        let name = name(item);
        let count = seen.entry(name.clone()).or_default();
        *count += 1;
        found.push((if *count == 1 { name } else { format!("{name} (number {count})") }, item.clone()));
    }
    found
}

/// A class of differences that is known, and why it is there.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reason {
    /// Kinds of questions; of all, if there are none.
    #[serde(default)]
    of: Vec<String>,
    /// A pattern for the place in the answer.
    at: Option<String>,
    /// Kinds of differences; all, if there are none.
    #[serde(default)]
    kinds: Vec<Kind>,
    /// A pattern for the difference in words.
    reported: Option<String>,
    /// The project must have one of these quirks; any project will do, if there are none.
    #[serde(default)]
    quirks: Vec<String>,
    /// Why the two differ, and why that is right.
    why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    differs: Vec<Reason>,
    /// Faults of the pack that are not mended yet; they are no failures of a run, and it says them.
    #[serde(default)]
    errors: Vec<Reason>,
}

struct Known {
    reason: Reason,
    is_error: bool,
    at: Option<regex::Regex>,
    reported: Option<regex::Regex>,
    count: usize,
}

/// The reasons of an original, with how often each was needed.
pub struct Reasons(Vec<Known>);

impl Reasons {
    /// Reads the table of an original.
    pub fn read(text: &str) -> Outcome<Self> {
        let table: Table = toml::from_str(text)?;
        let mut known = Vec::new();
        let differs = table.differs.into_iter().map(|reason| (reason, false));
        for (reason, is_error) in differs.chain(table.errors.into_iter().map(|reason| (reason, true))) {
            let pattern = |text: &Option<String>| text.as_deref().map(regex::Regex::new).transpose();
            let (at, reported) = (pattern(&reason.at)?, pattern(&reason.reported)?);
            known.push(Known { reason, is_error, at, reported, count: 0 });
        }
        Ok(Self(known))
    }

    /// Whether a difference has a reason; the first one that fits is counted.
    pub fn explain(&mut self, difference: &Difference, project: &Project) -> bool {
        let found = self.0.iter_mut().find(|known| known.fits(difference, project));
        found.map(|known| known.count += 1).is_some()
    }

    /// How often each reason was needed: its words, its number.
    pub fn counts(&self) -> impl Iterator<Item = (String, usize)> {
        let mark = |known: &Known| if known.is_error { "FAULT OF THE PACK " } else { "" };
        self.0.iter().map(move |known| (format!("{}{}", mark(known), known.reason.told_of()), known.count))
    }
}

impl Known {
    fn fits(&self, difference: &Difference, project: &Project) -> bool {
        let reason = &self.reason;
        (reason.of.is_empty() || reason.of.iter().any(|of| of == difference.subject()))
            && (reason.kinds.is_empty() || reason.kinds.contains(&difference.kind))
            && (reason.quirks.is_empty() || reason.quirks.iter().any(|quirk| project.has(quirk)))
            && self.at.as_ref().is_none_or(|at| at.is_match(&difference.at))
            && self.reported.as_ref().is_none_or(|reported| reported.is_match(&difference.reported))
    }
}

impl Reason {
    fn told_of(&self) -> String {
        let of = if self.of.is_empty() { "any question".to_owned() } else { self.of.join(", ") };
        let quirks = if self.quirks.is_empty() { String::new() } else { format!(" with {}", self.quirks.join(" or ")) };
        format!("{of} {}{quirks}: {}", self.at.as_deref().unwrap_or("anywhere"), self.why)
    }
}
