//! The pages of the primitives.

use super::{HEAD, cell, families, members, word_of};
use crate::primitive::git;
use crate::primitive::git::verb::{GitOption, GitVerb};
use crate::primitive::{Gives, Need, Param, Primitive};
use crate::script::documentation::{outcome, parameter};
use crate::value::Json;
use crate::world::run::Needs;
use serde_json::json;

/// Every primitive by chapter: signature, summary, parameters, examples.
pub fn page() -> String {
    let mut text = format!("{HEAD}\n# Primitives\n\n");
    text.push_str(
        "The verbs that scripts call, as functions or as methods of their first argument: `trim(t)` is `t.trim()`.\n",
    );
    text.push_str("`toolsd docs NAME` shows one of them.\n\n");
    for family in families() {
        let names: Vec<String> = members(family).map(|primitive| format!("`{}`", primitive.name)).collect();
        text.push_str(&format!("- [{}](#{}): {}\n", family.title(), anchor(family.title()), names.join(", ")));
    }
    for family in families() {
        text.push_str(&format!("\n## {}\n", family.title()));
        members(family).for_each(|primitive| entry(&mut text, primitive));
    }
    text
}

fn entry(text: &mut String, primitive: &Primitive) {
    let effect = primitive.effect.name();
    text.push_str(&format!("\n### {}\n\n`{}`\n\n", primitive.name, primitive.signature()));
    text.push_str(&format!("{} Effect: {effect}.\n\n", primitive.summary));
    primitive.params.iter().for_each(|param| text.push_str(&format!("- {}\n", parameter(param))));
    text.push_str(if primitive.params.is_empty() { "```rhai\n" } else { "\n```rhai\n" });
    for example in primitive.examples {
        for (path, content) in example.files {
            text.push_str(&format!("// {path}: {content:?}\n"));
        }
        text.push_str(&format!("{}\n// {}\n", example.script.trim_end(), outcome(&example.gives)));
    }
    text.push_str("```\n");
    let known = verbs_of(primitive);
    if !known.is_empty() {
        verbs(text, known.into_iter());
    }
}

/// The verbs of a primitive that takes one, from their table.
pub fn verbs_of(primitive: &Primitive) -> Vec<&'static GitVerb> {
    match primitive.name {
        "git" => git::write_verbs().collect(),
        "git_read" => git::read_verbs().collect(),
        _ => Vec::new(),
    }
}

/// What an option of a verb is, in one line.
pub fn told_option(option: &GitOption) -> String {
    let needed = if option.is_required { " (required)" } else { "" };
    format!("`{}`{needed}: {}. {}", option.name, option.kind.describe(), option.doc)
}

/// The verbs of git, from their table. Every one takes `folder` and `check`, too.
fn verbs(text: &mut String, verbs: impl Iterator<Item = &'static GitVerb>) {
    let common: Vec<String> = git::COMMON.iter().map(|(name, doc)| format!("`{name}`: {doc}")).collect();
    text.push_str(&format!("\nEvery verb takes {}\n\n| verb | options | |\n|---|---|---|\n", common.join(" ")));
    for verb in verbs {
        let mut options: Vec<String> = verb.options().map(told_option).collect();
        if verb.needs == Needs::FetchGit {
            options.insert(0, "Needs `git = \"fetch\"`.".to_owned());
        }
        text.push_str(&format!("| `{}` | {} | {} |\n", verb.name, cell(&options.join("<br>")), cell(verb.summary)));
    }
}

/// The address that a heading gets on a page.
fn anchor(title: &str) -> String {
    title.chars().filter(|letter| letter.is_alphanumeric() || *letter == ' ').collect::<String>().replace(' ', "-")
}

/// Each chapter and the names of its primitives.
pub fn names_table() -> String {
    let mut text = String::from("| family | primitives |\n|---|---|\n");
    for family in families() {
        let names: Vec<String> = members(family).map(|primitive| format!("`{}`", primitive.name)).collect();
        text.push_str(&format!("| {} | {} |\n", word_of(family), cell(&names.join(" "))));
    }
    text
}

/// All of its declaration.
pub fn to_json(primitive: &Primitive) -> Json {
    let param = |param: &Param| {
        json!({
            "name": param.name,
            "kinds": param.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
            "required": param.need == Need::Required,
            "option": param.need == Need::Option,
            "description": param.doc,
        })
    };
    let example = |example: &crate::primitive::Example| {
        let files: serde_json::Map<String, Json> =
            example.files.iter().map(|(path, text)| ((*path).to_owned(), Json::from(*text))).collect();
        match example.gives {
            Gives::Json(gives) => json!({ "script": example.script, "files": files, "gives": gives }),
            Gives::Fault(fails) => json!({ "script": example.script, "files": files, "fails": fails }),
        }
    };
    let verb = |verb: &GitVerb| {
        json!({
            "name": verb.name,
            "summary": verb.summary,
            "options": verb.options().map(told_option).collect::<Vec<_>>(),
        })
    };
    let mut told = json!({
        "name": primitive.name,
        "signature": primitive.signature(),
        "family": word_of(primitive.family),
        "summary": primitive.summary,
        "effect": primitive.effect.name(),
        "returns": primitive.returns.name(),
        "params": primitive.params.iter().map(param).collect::<Vec<_>>(),
        "examples": primitive.examples.iter().map(example).collect::<Vec<_>>(),
    });
    let verbs: Vec<Json> = verbs_of(primitive).into_iter().map(verb).collect();
    if !verbs.is_empty() {
        told["verbs"] = verbs.into();
    }
    told
}
