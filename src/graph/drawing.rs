//! Diagrams: Mermaid flowcharts and Graphviz dot. Whatever a label holds, it cannot leave its quotes.

use super::{NONE, Nodes};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM, Work};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// The work of a line that is drawn, its label left out.
const LINE: usize = 4 * ITEM;

/// What to draw of a set of nodes.
pub struct Drawing<'a> {
    /// `TB`, `BT`, `LR` or `RL`.
    pub direction: &'a str,
    /// The field written in a node.
    pub label: &'a str,
    /// The field whose value is the node's class, for colours.
    pub class: Option<&'a str>,
    /// The kinds of edges; all of them if `None`. `parent` stands for containment, and is not among all.
    pub kinds: Option<&'a [String]>,
}

/// One line of a drawing.
struct Drawn {
    nodes: Vec<(String, Option<String>)>,
    /// From, to, kind.
    edges: Vec<(usize, usize, String)>,
}

impl Nodes {
    /// A Mermaid flowchart of these nodes and the whole edges between them.
    pub fn to_mermaid(&self, drawing: &Drawing<'_>) -> Result<String> {
        let drawn = self.drawn(drawing)?;
        let mut text = format!("flowchart {}\n", drawing.direction);
        for (at, (label, class)) in drawn.nodes.iter().enumerate() {
            guard::spend(LINE + label.len())?;
            let class = class.as_ref().map_or_else(String::new, |class| format!(":::{class}"));
            let _ = writeln!(text, "    n{at}[\"{}\"]{class}", mermaid(label));
        }
        for (from, to, kind) in &drawn.edges {
            guard::spend(LINE + kind.len())?;
            let _ = writeln!(text, "    n{from} -->|\"{}\"| n{to}", mermaid(kind));
        }
        Ok(text)
    }

    /// A Graphviz digraph of these nodes and the whole edges between them.
    pub fn to_dot(&self, drawing: &Drawing<'_>) -> Result<String> {
        let drawn = self.drawn(drawing)?;
        let mut text = format!("digraph {{\n    rankdir={};\n", drawing.direction);
        for (at, (label, class)) in drawn.nodes.iter().enumerate() {
            guard::spend(LINE + label.len())?;
            let class = class.as_ref().map_or_else(String::new, |class| format!(", class=\"{class}\""));
            let _ = writeln!(text, "    n{at} [label=\"{}\"{class}];", dot(label));
        }
        for (from, to, kind) in &drawn.edges {
            guard::spend(LINE + kind.len())?;
            let _ = writeln!(text, "    n{from} -> n{to} [label=\"{}\"];", dot(kind));
        }
        text.push_str("}\n");
        Ok(text)
    }

    fn drawn(&self, drawing: &Drawing<'_>) -> Result<Drawn> {
        if !["TB", "BT", "LR", "RL"].contains(&drawing.direction) {
            let fault = Diagnostic::new(Code::ARGUMENTS, format!("`{}` is no direction", drawing.direction));
            return Err(fault.help("known: `TB`, `BT`, `LR`, `RL`"));
        }
        let text = |value: &crate::value::Value| match value.as_text() {
            Some(text) => text.to_owned(),
            None if value.is_null() => String::new(),
            None => value.number_text(),
        };
        let labels = self.column(drawing.label)?;
        let classes = drawing.class.map(|class| self.column(class)).transpose()?;
        let class =
            |at: usize| classes.as_ref().map(|classes| word(&text(&classes[at]))).filter(|class| !class.is_empty());
        let nodes = labels.iter().enumerate().map(|(at, label)| (text(label), class(at))).collect_checked()?;
        Ok(Drawn { nodes, edges: self.drawn_edges(drawing.kinds)? })
    }

    fn drawn_edges(&self, kinds: Option<&[String]>) -> Result<Vec<(usize, usize, String)>> {
        let place: FxHashMap<u32, usize> =
            self.ids().iter().enumerate().map(|(at, node)| (*node, at)).collect_checked()?;
        let parts = &self.graph().parts;
        let wanted = kinds.map(|kinds| self.graph().edge_kinds(kinds));
        let containment = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "parent"));
        let mut edges = Vec::new();
        for (at, node) in self.ids().iter().enumerate() {
            guard::spend(ITEM)?;
            for edge in parts.outward.of(*node) {
                guard::spend(ITEM)?;
                let edge = &parts.edges[*edge as usize];
                if let Some(to) =
                    place.get(&edge.to).filter(|_| wanted.as_ref().is_none_or(|kinds| kinds.contains(&edge.kind)))
                {
                    edges.push((at, *to, parts.edge_kinds[usize::from(edge.kind)].to_string()));
                }
            }
            let parent = parts.parents[*node as usize];
            if containment
                && parent != NONE
                && let Some(to) = place.get(&parent)
            {
                edges.push((at, *to, "parent".to_owned()));
            }
        }
        Ok(edges)
    }
}

/// A class is a word: what is not a letter of ASCII, a digit or `_` becomes `_`.
fn word(text: &str) -> String {
    text.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect()
}

/// Mermaid's entity codes for all that could end a label or begin markup.
fn mermaid(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' | '\t' => escaped.push(' '),
            '"' | '#' | '&' | '<' | '>' | '`' | '\\' | '|' | ';' | '[' | ']' | '{' | '}' | '(' | ')' => {
                let _ = write!(escaped, "#{};", u32::from(character));
            }
            other => escaped.push(other),
        }
    }
    escaped
}

/// Within quotes of dot only the quote and the backslash are special.
fn dot(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '"' | '\\' => escaped.extend(['\\', character]),
            '\n' => escaped.push_str("\\n"),
            '\r' => {}
            other => escaped.push(other),
        }
    }
    escaped
}
