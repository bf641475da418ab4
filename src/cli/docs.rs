//! `toolsd docs`: the primitives that scripts can use and the keys of definitions, each from the table it is declared in.

use super::options::{Format, Shared};
use super::terminal::{Style, Terminal};
use super::{Ended, Exit};
use crate::definition::{Grammar, Key, reference};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::primitive::{Gives, Need, Param, Primitive};
use crate::primitives::ALL;
use crate::value::Json;
use clap::Args;
use serde_json::json;

/// Explain the primitives that scripts can use, and the keys of definitions.
#[derive(Args)]
pub struct Docs {
    /// A primitive, or a table such as `[[tool]]` or `tool`; `keys` is all tables [default: all primitives].
    #[arg(value_name = "PRIMITIVE | TABLE")]
    primitive: Option<String>,
}

impl Docs {
    pub(super) fn run(self, shared: &Shared, terminal: &Terminal) -> Ended {
        let json = shared.format == Format::Json;
        match self.primitive {
            Some(name) if !tables(&name).is_empty() => tell_tables(terminal, json, &tables(&name)),
            Some(name) => {
                let Some(primitive) = ALL.iter().find(|primitive| primitive.name == name) else {
                    let fault = Diagnostic::new(Code("usage"), format!("there is no primitive `{name}`"));
                    let known = ALL.iter().map(|primitive| primitive.name);
                    return Err(fault.help(did_you_mean(&name, known).unwrap_or_else(|| "run `toolsd docs`".into())));
                };
                if json { terminal.json(&as_json(primitive)) } else { explain(terminal, primitive) }
            }
            None if json => terminal.json(&ALL.iter().map(|primitive| as_json(primitive)).collect()),
            None => overview(terminal),
        }
        Ok(Exit::Well)
    }
}

/// The tables of definitions that a word names; a primitive of that name comes first.
fn tables(name: &str) -> Vec<&'static Grammar> {
    let is_primitive = ALL.iter().any(|primitive| primitive.name == name);
    let bare = |name: &str| name.trim_matches(['[', ']']).to_owned();
    let named = |grammar: &&Grammar| name == "keys" || (!is_primitive && bare(grammar.name) == bare(name));
    reference().into_iter().filter(named).collect()
}

fn tell_tables(terminal: &Terminal, as_json: bool, tables: &[&Grammar]) {
    if as_json {
        let key = |key: &Key| json!({ "name": key.name, "takes": key.shape.describe(), "required": key.required, "description": key.doc });
        let table = |table: &&Grammar| {
            let keys: Vec<Json> = table.keys.iter().map(key).collect();
            json!({ "name": table.name, "description": table.doc, "keys": keys })
        };
        terminal.json(&tables.iter().map(table).collect());
        return;
    }
    for table in tables {
        terminal.line(&terminal.styled(Style::Bold, table.name));
        terminal.line(table.doc);
        let row = |key: &Key| {
            let name = if key.required { format!("{} (required)", key.name) } else { key.name.to_owned() };
            vec![name, key.shape.describe(), key.doc.to_owned()]
        };
        terminal.table(&["key", "takes", "what it means"], table.keys.iter().map(row).collect());
    }
}

fn overview(terminal: &Terminal) {
    let mut families: Vec<_> = ALL.iter().map(|primitive| primitive.family).collect();
    families.sort_unstable();
    families.dedup();
    for family in families {
        terminal.line(&terminal.styled(Style::Bold, family.title()));
        let rows = ALL.iter().filter(|primitive| primitive.family == family);
        let rows = rows.map(|one| vec![one.signature(), one.effect.name().to_owned(), one.summary.to_owned()]);
        terminal.table(&["primitive", "effect", "what it gives"], rows.collect());
    }
}

fn explain(terminal: &Terminal, primitive: &Primitive) {
    terminal.line(&terminal.styled(Style::Bold, &primitive.signature()));
    terminal.line(&format!("{} Effect: {}.", primitive.summary, primitive.effect.name()));
    for param in primitive.params {
        terminal.line(&format!("  {}  {}  {}", written(param), kinds(param), param.doc));
    }
    for example in primitive.examples {
        terminal.line("");
        for (path, text) in example.files {
            terminal.line(&terminal.styled(Style::Dim, &format!("  // {path}: {text:?}")));
        }
        example.script.lines().for_each(|line| terminal.line(&format!("  {line}")));
        let (sign, result) = match example.gives {
            Gives::Json(json) => ("=>", json),
            Gives::Fault(message) => ("fails:", message),
        };
        terminal.line(&terminal.styled(Style::Green, &format!("  {sign} {result}")));
    }
}

fn written(param: &Param) -> String {
    match param.need {
        Need::Required => param.name.to_owned(),
        Need::Optional => format!("{}?", param.name),
        Need::Option => format!("#{{ {} }}", param.name),
    }
}

fn kinds(param: &Param) -> String {
    param.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" | ")
}

fn as_json(primitive: &Primitive) -> Json {
    let params: Vec<Json> = primitive
        .params
        .iter()
        .map(|param| {
            json!({
                "name": param.name,
                "kinds": param.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
                "required": param.need == Need::Required,
                "option": param.need == Need::Option,
                "description": param.doc,
            })
        })
        .collect();
    let examples: Vec<Json> = primitive
        .examples
        .iter()
        .map(|example| match example.gives {
            Gives::Json(gives) => json!({ "script": example.script, "gives": gives }),
            Gives::Fault(fails) => json!({ "script": example.script, "fails": fails }),
        })
        .collect();
    json!({
        "name": primitive.name,
        "signature": primitive.signature(),
        "family": primitive.family.title(),
        "summary": primitive.summary,
        "effect": primitive.effect.name(),
        "returns": primitive.returns.name(),
        "params": params,
        "examples": examples,
    })
}
