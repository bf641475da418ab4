//! The pages that are generated from the tables in the source, as Markdown, and single entries as JSON.

use super::error_codes::{ErrorCode, error_codes};
use crate::check::{ALL as RULES, CheckRule, DIRECTORY, diff_lines};
use crate::definition::{Grammar, GrammarKey, all_grammars, pack_schema, workspace_schema};
use crate::primitive_api::git;
use crate::primitive_api::git::verb::{GitOption, GitVerb};
use crate::primitive_api::{Family, Gives, Need, Param, Primitive};
use crate::primitives::ALL as PRIMITIVES;
use crate::script::documentation::{describe_outcome, describe_parameter};
use crate::value::Json;
use crate::world::run::RequiredGrant;
use serde_json::json;

/// The first line of each generated page.
const HEAD: &str = "<!-- Generated from the tables in the source: do not edit, run `just bless`. -->\n";

/// The chapters, in the order of the documentation.
pub fn families() -> Vec<Family> {
    let mut families: Vec<Family> = PRIMITIVES.iter().map(|primitive| primitive.family).collect();
    families.sort_unstable();
    families.dedup();
    families
}

/// The primitives of a chapter.
pub fn family_primitives(family: Family) -> impl Iterator<Item = &'static Primitive> {
    PRIMITIVES.iter().copied().filter(move |primitive| primitive.family == family)
}

/// The word by which a chapter is looked up: the first word of its title.
pub fn family_word(family: Family) -> &'static str {
    family.title().split([':', ' ']).next().unwrap_or_default()
}

/// The page of all primitives by chapter: signature, summary, parameters, examples.
pub fn primitives_page() -> String {
    let mut text = format!("{HEAD}\n# Primitives\n\n");
    text.push_str(
        "The verbs that scripts can call, as functions or as methods of the first argument: `trim(t)` is `t.trim()`.\n",
    );
    text.push_str("`toolsd docs NAME` shows one of them.\n\n");
    for family in families() {
        let names: Vec<String> = family_primitives(family).map(|primitive| format!("`{}`", primitive.name)).collect();
        text.push_str(&format!("- [{}](#{}): {}\n", family.title(), anchor(family.title()), names.join(", ")));
    }
    for family in families() {
        text.push_str(&format!("\n## {}\n", family.title()));
        family_primitives(family).for_each(|primitive| push_primitive(&mut text, primitive));
    }
    text
}

fn push_primitive(text: &mut String, primitive: &Primitive) {
    let effect = primitive.effect.name();
    text.push_str(&format!("\n### {}\n\n`{}`\n\n", primitive.name, primitive.signature()));
    text.push_str(&format!("{} Effect: {effect}.\n\n", primitive.summary));
    primitive.params.iter().for_each(|param| text.push_str(&format!("- {}\n", describe_parameter(param))));
    text.push_str(if primitive.params.is_empty() { "```rhai\n" } else { "\n```rhai\n" });
    for example in primitive.examples {
        for (path, content) in example.files {
            text.push_str(&format!("// {path}: {content:?}\n"));
        }
        text.push_str(&format!("{}\n// {}\n", example.script.trim_end(), describe_outcome(&example.gives)));
    }
    text.push_str("```\n");
    let known = verbs_of(primitive);
    if !known.is_empty() {
        push_verbs(text, known.into_iter());
    }
}

/// The verbs of a primitive that takes a verb, from their table.
pub fn verbs_of(primitive: &Primitive) -> Vec<&'static GitVerb> {
    match primitive.name {
        "git" => git::write_verbs().collect(),
        "git_read" => git::read_verbs().collect(),
        _ => Vec::new(),
    }
}

/// Describes an option of a verb in one line.
pub fn describe_option(option: &GitOption) -> String {
    let needed = if option.is_required { " (required)" } else { "" };
    format!("`{}`{needed}: {}. {}", option.name, option.kind.describe(), option.doc)
}

/// Adds the git verbs, from their table. Every verb also takes `folder` and `check`.
fn push_verbs(text: &mut String, verbs: impl Iterator<Item = &'static GitVerb>) {
    let common: Vec<String> = git::COMMON.iter().map(|option| format!("`{}`: {}", option.name, option.doc)).collect();
    text.push_str(&format!("\nEvery verb takes {}\n\n| verb | options | |\n|---|---|---|\n", common.join(" ")));
    for verb in verbs {
        let mut options: Vec<String> = verb.options().map(describe_option).collect();
        if verb.needs() == RequiredGrant::FetchGit {
            options.insert(0, "Needs `git = \"fetch\"`.".to_owned());
        }
        text.push_str(&format!(
            "| `{}` | {} | {} |\n",
            verb.name,
            table_cell(&options.join("<br>")),
            table_cell(verb.summary)
        ));
    }
}

/// The anchor of a heading on a page.
fn anchor(title: &str) -> String {
    title.chars().filter(|letter| letter.is_alphanumeric() || *letter == ' ').collect::<String>().replace(' ', "-")
}

/// The whole declaration of a primitive.
pub fn primitive_to_json(primitive: &Primitive) -> Json {
    let param = |param: &Param| {
        json!({
            "name": param.name,
            "kinds": param.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>(),
            "required": param.need == Need::Required,
            "option": param.need == Need::Option,
            "description": param.doc,
        })
    };
    let example = |example: &crate::primitive_api::Example| {
        let files: serde_json::Map<String, Json> =
            example.files.iter().map(|(path, text)| ((*path).to_owned(), Json::from(*text))).collect();
        match example.gives {
            Gives::Json(gives) => json!({ "script": example.script, "files": files, "gives": gives }),
            Gives::Error(fails) => json!({ "script": example.script, "files": files, "fails": fails }),
        }
    };
    let verb = |verb: &GitVerb| {
        json!({
            "name": verb.name,
            "summary": verb.summary,
            "options": verb.options().map(describe_option).collect::<Vec<_>>(),
        })
    };
    let mut reported = json!({
        "name": primitive.name,
        "signature": primitive.signature(),
        "family": family_word(primitive.family),
        "summary": primitive.summary,
        "effect": primitive.effect.name(),
        "returns": primitive.returns.name(),
        "params": primitive.params.iter().map(param).collect::<Vec<_>>(),
        "examples": primitive.examples.iter().map(example).collect::<Vec<_>>(),
    });
    let verbs: Vec<Json> = verbs_of(primitive).into_iter().map(verb).collect();
    if !verbs.is_empty() {
        reported["verbs"] = verbs.into();
    }
    reported
}

/// The page of all keys of all tables.
pub fn definitions_page() -> String {
    let mut text = format!("{HEAD}\n# Definitions\n\n");
    text.push_str(
        "The tables of a pack's TOML files, and of `toolsd.toml`. Where `KEY_json` is listed, the value may also be\n",
    );
    text.push_str("written as a JSON text under that key. `toolsd docs TABLE` shows one of them.\n");
    for table in all_grammars() {
        text.push_str(&format!("\n## `{}`\n\n{}\n\n", table.name, table.doc));
        text.push_str("| key | takes | what it means |\n|---|---|---|\n");
        for key in table.keys {
            let need = if key.required { " (required)" } else { "" };
            let as_json = if key.shape.has_json_form() { format!(", or `{}_json`", key.name) } else { String::new() };
            let takes = format!("{}{as_json}", table_cell(&key.shape.describe()));
            text.push_str(&format!("| `{}`{need} | {takes} | {} |\n", key.name, table_cell(key.doc)));
        }
    }
    text
}

/// The whole declaration of a table.
pub fn table_to_json(table: &Grammar) -> Json {
    let keys: Vec<Json> = table.keys.iter().map(key_to_json).collect();
    json!({ "name": table.name, "description": table.doc, "keys": keys })
}

/// The key of a table as JSON.
pub fn key_to_json(key: &GrammarKey) -> Json {
    json!({
        "name": key.name,
        "takes": key.shape.describe(),
        "required": key.required,
        "as_json": key.shape.has_json_form(),
        "description": key.doc,
    })
}

/// The page of all rules, each with its reason and an example, and of all other codes.
pub fn checks_page() -> String {
    let mut text = format!("{HEAD}\n# Checks\n\n");
    text.push_str(
        "What `toolsd check` finds: first the rules that apply to a whole pack, then all other error codes.\n",
    );
    text.push_str("`toolsd docs CODE` shows one of them.\n\n## Rules\n");
    for rule in RULES.iter().chain(DIRECTORY) {
        text.push_str(&format!("\n### {}\n\n{} {}\n\nExample:\n", rule.code, rule.summary, rule.why));
        rule.fires.iter().for_each(|file| push_fenced(&mut text, file));
        text.push_str("\nFix:\n");
        for mend in rule.mended {
            let lines: Vec<String> = diff_lines(mend).collect();
            text.push_str(&format!("\n`{}`\n\n```diff\n{}\n```\n", mend.0, lines.join("\n")));
        }
    }
    text.push_str("\n## Other codes\n\n| code | what it means |\n|---|---|\n");
    error_codes()
        .iter()
        .for_each(|error| text.push_str(&format!("| `{}` | {} |\n", error.code, table_cell(error.summary))));
    text
}

fn push_fenced(text: &mut String, (path, content): &(&str, &str)) {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    // Files may themselves contain fences, because prompts are Markdown.
    let fence = if content.contains("```") { "````" } else { "```" };
    text.push_str(&format!("\n`{path}`\n\n{fence}{extension}\n{}\n{fence}\n", content.trim_end()));
}

pub fn rule_to_json(rule: &CheckRule) -> Json {
    let files = rule.fires.iter().map(|(path, text)| ((*path).to_owned(), Json::from(*text)));
    let mended = rule.mended_files().into_iter().map(|(path, text)| (path.to_owned(), Json::from(text)));
    json!({
        "code": rule.code.0,
        "summary": rule.summary,
        "why": rule.why,
        "fires": Json::Object(files.collect()),
        "mended": Json::Object(mended.collect()),
    })
}

pub fn code_to_json(error: &ErrorCode) -> Json {
    json!({ "code": error.code, "summary": error.summary })
}

/// The generated files: the path from the root of the repository, and the text.
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("docs/primitives.d.rhai", crate::script::documentation::rhai_definitions()),
        ("docs/primitives.md", primitives_page()),
        ("docs/definitions.md", definitions_page()),
        ("docs/checks.md", checks_page()),
        ("docs/schema/pack.json", format!("{:#}\n", pack_schema())),
        ("docs/schema/workspace.json", format!("{:#}\n", workspace_schema())),
    ]
}

/// Escapes a text as a cell of a Markdown table.
fn table_cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
