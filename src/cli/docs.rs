//! `toolsd docs`: the primitives that scripts can use, from the one table they are declared in.

use super::options::{Format, Shared};
use super::terminal::{Style, Terminal};
use super::{Ended, Exit};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::primitive::{Gives, Need, Param, Primitive};
use crate::primitives::ALL;
use crate::value::Json;
use clap::Args;
use serde_json::json;

/// Explain the primitives that scripts can use.
#[derive(Args)]
pub struct Docs {
    /// Explain this one in full.
    primitive: Option<String>,
}

impl Docs {
    pub(super) fn run(self, shared: &Shared, terminal: &Terminal) -> Ended {
        let json = shared.format == Format::Json;
        match self.primitive {
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
