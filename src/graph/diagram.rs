//! Diagrams: Mermaid flowcharts and Graphviz dot. Labels are escaped so that they cannot break out of their quotes.

use super::nodes::Nodes;
use super::snapshot::NONE;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, CheckedIterator, ITEM};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// The units of work for a line, without its label.
const LINE_COST: usize = 4 * ITEM;

/// The options of a diagram of a set of nodes.
pub struct DiagramOptions<'a> {
    /// `TB`, `BT`, `LR` or `RL`.
    pub direction: &'a str,
    /// The field that labels a node.
    pub label: &'a str,
    /// The field whose value is the node's class, for colours.
    pub class: Option<&'a str>,
    /// The kinds of edges; all of them if `None`. `parent` stands for containment and is not included in "all".
    pub kinds: Option<&'a [String]>,
}

/// The nodes and edges of a diagram.
struct Diagram {
    /// Label and class.
    nodes: Vec<(String, Option<String>)>,
    /// From, to, kind.
    edges: Vec<(usize, usize, String)>,
}

impl Nodes {
    /// A Mermaid flowchart of these nodes and the unbroken edges between them.
    pub fn to_mermaid(&self, drawing: &DiagramOptions<'_>) -> Result<String> {
        let diagram = self.diagram(drawing)?;
        let mut text = format!("flowchart {}\n", drawing.direction);
        for (at, (label, class)) in diagram.nodes.iter().enumerate() {
            guard::spend(LINE_COST + label.len())?;
            let class = class.as_ref().map_or_else(String::new, |class| format!(":::{class}"));
            let _ = writeln!(text, "    n{at}[\"{}\"]{class}", escape_mermaid(label));
        }
        for (from, to, kind) in &diagram.edges {
            guard::spend(LINE_COST + kind.len())?;
            let _ = writeln!(text, "    n{from} -->|\"{}\"| n{to}", escape_mermaid(kind));
        }
        Ok(text)
    }

    /// A Graphviz digraph of these nodes and the unbroken edges between them.
    pub fn to_dot(&self, drawing: &DiagramOptions<'_>) -> Result<String> {
        let diagram = self.diagram(drawing)?;
        let mut text = format!("digraph {{\n    rankdir={};\n", drawing.direction);
        for (at, (label, class)) in diagram.nodes.iter().enumerate() {
            guard::spend(LINE_COST + label.len())?;
            let class = class.as_ref().map_or_else(String::new, |class| format!(", class=\"{class}\""));
            let _ = writeln!(text, "    n{at} [label=\"{}\"{class}];", escape_dot(label));
        }
        for (from, to, kind) in &diagram.edges {
            guard::spend(LINE_COST + kind.len())?;
            let _ = writeln!(text, "    n{from} -> n{to} [label=\"{}\"];", escape_dot(kind));
        }
        text.push_str("}\n");
        Ok(text)
    }

    fn diagram(&self, drawing: &DiagramOptions<'_>) -> Result<Diagram> {
        if !["TB", "BT", "LR", "RL"].contains(&drawing.direction) {
            let error = Diagnostic::new(Code::ARGUMENTS, format!("`{}` is not a direction", drawing.direction));
            return Err(error.help("known: `TB`, `BT`, `LR`, `RL`"));
        }
        let text = |value: &crate::value::Value| match value.as_text() {
            Some(text) => text.to_owned(),
            None if value.is_null() => String::new(),
            None => value.number_text(),
        };
        let labels = self.column(drawing.label)?;
        let classes = drawing.class.map(|class| self.column(class)).transpose()?;
        let class = |at: usize| {
            classes.as_ref().map(|classes| class_name(&text(&classes[at]))).filter(|class| !class.is_empty())
        };
        let nodes = labels.iter().enumerate().map(|(at, label)| (text(label), class(at))).collect_checked()?;
        Ok(Diagram { nodes, edges: self.diagram_edges(drawing.kinds)? })
    }

    fn diagram_edges(&self, kinds: Option<&[String]>) -> Result<Vec<(usize, usize, String)>> {
        let place: FxHashMap<u32, usize> =
            self.ids().iter().enumerate().map(|(at, node)| (*node, at)).collect_checked()?;
        let data = &self.graph().data;
        let wanted = kinds.map(|kinds| self.graph().edge_kinds(kinds));
        let containment = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == "parent"));
        let mut edges = Vec::new();
        for (at, node) in self.ids().iter().enumerate() {
            guard::spend(ITEM)?;
            for edge in data.outward.items_of(*node) {
                guard::spend(ITEM)?;
                let edge = &data.edges[*edge as usize];
                if let Some(to) =
                    place.get(&edge.to).filter(|_| wanted.as_ref().is_none_or(|kinds| kinds.contains(&edge.kind)))
                {
                    edges.push((at, *to, data.edge_kinds[usize::from(edge.kind)].to_string()));
                }
            }
            let parent = data.parents[*node as usize];
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

/// Converts a text to a class name: characters other than ASCII letters, digits and `_` become `_`.
fn class_name(text: &str) -> String {
    text.chars().map(|character| if character.is_ascii_alphanumeric() { character } else { '_' }).collect()
}

/// Escapes, with Mermaid's entity codes, all characters that could end a label or start markup.
fn escape_mermaid(text: &str) -> String {
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

/// Escapes a quoted dot string, in which only the quote and the backslash are special.
fn escape_dot(text: &str) -> String {
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
