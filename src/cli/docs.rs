//! `toolsd docs`: primitives, tables of definitions, rules and error codes, each from the table that declares it, and the
//! pages of the guide.

use super::options::{CommandResult, Exit, OutputFormat, SharedOptions};
use super::terminal::{Terminal, TextStyle};
use crate::check::{CheckRule, diff_lines};
use crate::definition::{Grammar, GrammarKey};
use crate::diagnostic::{Code, Diagnostic, foreign_word};
use crate::manual::{
    FoundEntry, ManualEntries, describe_option, families, family_primitives, family_word, nearest_name, nearest_word,
    search_manual, verbs_of,
};
use crate::primitive_api::{Family, Primitive};
use crate::script::documentation::{describe_outcome, describe_parameter};
use crate::script::known_arities;
use clap::Args;
use serde_json::json;

/// Explain primitives, tables of definitions, and check rules, and search them and the guide by words.
#[derive(Args)]
pub struct DocsCommand {
    /// A primitive, a family of primitives, a table such as `tool`, a key, an error code, a page such as `guide/13`, or
    /// words to search for [default: an overview].
    #[arg(value_name = "NAME | WORD")]
    words: Vec<String>,
}

impl DocsCommand {
    pub(super) fn run(self, options: &SharedOptions, terminal: &Terminal) -> CommandResult {
        let is_json = options.format == OutputFormat::Json;
        let name = self.words.join(" ");
        if name.is_empty() {
            let all = ManualEntries::all();
            if is_json {
                terminal.json(&all.to_json())
            } else {
                overview(terminal, &all)
            }
            return Ok(Exit::Success);
        }
        let entries = ManualEntries::named(&name);
        let mut found = if entries.pages.is_empty() { search_manual(&name) } else { Vec::new() };
        let is_named = !entries.is_empty() || (!is_json && explain_language_function(terminal, &name));
        if is_named {
            // Who asks for a name wants that entry; the guide shows it in use.
            found.retain(|entry| entry.name.starts_with("guide/"));
        } else if found.is_empty() || is_misspelt(&name) {
            return Err(unknown_name(&name));
        }
        if is_json {
            let found: Vec<_> = found.iter().map(|one| json!({ "name": one.name, "summary": one.line })).collect();
            let mut json = entries.to_json();
            json["found"] = found.into();
            terminal.json(&json);
            return Ok(Exit::Success);
        }
        explain_all(terminal, &entries);
        print_found(terminal, &found);
        if let Some(hint) = foreign_word(&name) {
            terminal.note(&format!("from another language? {hint}"));
        }
        Ok(Exit::Success)
    }
}

/// Whether a name is meant, since words of a language have no such signs, and one is near.
fn is_misspelt(name: &str) -> bool {
    name.contains(['_', '-', '[']) && nearest_name(name).is_some()
}

fn unknown_name(name: &str) -> Box<Diagnostic> {
    let message =
        format!("there is no primitive, family, table, key, code or page `{name}`, and no text has such words");
    let near = || nearest_name(name).map(str::to_owned).or_else(|| nearest_word(name));
    let help = foreign_word(name).or_else(|| Some(format!("did you mean `{}`?", near()?)));
    Diagnostic::new(Code("usage"), message).help(help.unwrap_or_else(|| "`toolsd docs` lists all of them".to_owned()))
}

fn print_found(terminal: &Terminal, found: &[FoundEntry]) {
    if !found.is_empty() {
        let rows = found.iter().map(|entry| vec![format!("toolsd docs {}", entry.name), entry.line.clone()]);
        terminal.table(&["see", "what it is"], rows.collect());
    }
}

fn overview(terminal: &Terminal, all: &ManualEntries) {
    let row = |family: Family| {
        let names: Vec<&str> = family_primitives(family).map(|primitive| primitive.name).collect();
        vec![family.title().to_owned(), names.join(" ")]
    };
    terminal.styled(&[(TextStyle::Bold, "Primitives")]);
    terminal.table(&["family", "primitives"], families().into_iter().map(row).collect());
    terminal.styled(&[(TextStyle::Bold, "Tables of definitions")]);
    let row = |table: &&Grammar| vec![table.name.to_owned(), table.doc.to_owned()];
    terminal.table(&["table", "what it is"], all.tables.iter().map(row).collect());
    terminal.styled(&[(TextStyle::Bold, "Rules of `toolsd check`")]);
    let row = |rule: &&CheckRule| vec![rule.code.0.to_owned(), rule.summary.to_owned()];
    terminal.table(&["code", "what it finds"], all.rules.iter().map(row).collect());
    terminal.styled(&[(TextStyle::Bold, "Other error codes")]);
    let rows = all.error_codes.iter().map(|error| vec![error.code.to_owned(), error.summary.to_owned()]);
    terminal.table(&["code", "what it means"], rows.collect());
    terminal.styled(&[(TextStyle::Bold, "The guide")]);
    let rows = all.pages.iter().map(|page| vec![page.name.clone(), page.line.clone()]);
    terminal.table(&["page", "what it is about"], rows.collect());
    terminal.note("`toolsd docs NAME` explains one of them, `toolsd docs WORD…` searches them");
}

fn explain_all(terminal: &Terminal, entries: &ManualEntries) {
    entries.primitives.iter().for_each(|primitive| explain(terminal, primitive));
    entries.families.iter().for_each(|family| print_family(terminal, *family));
    entries.tables.iter().for_each(|table| print_table(terminal, table));
    entries.keys.iter().for_each(|(table, key)| print_key(terminal, table, key));
    entries.rules.iter().for_each(|rule| print_rule(terminal, rule));
    for error in &entries.error_codes {
        terminal.styled(&[(TextStyle::Bold, error.code)]);
        terminal.line(error.summary);
    }
    entries.pages.iter().for_each(|page| terminal.text(page.text));
}

fn explain(terminal: &Terminal, primitive: &Primitive) {
    terminal.styled(&[(TextStyle::Bold, &primitive.signature())]);
    let (effect, family) = (primitive.effect.name(), family_word(primitive.family));
    terminal.line(&format!("{} Effect: {effect}. Family: {family}.", primitive.summary));
    primitive.params.iter().for_each(|param| terminal.line(&format!("  {}", describe_parameter(param))));
    for example in primitive.examples {
        terminal.line("");
        for (path, text) in example.files {
            terminal.styled(&[(TextStyle::Dim, &format!("  // {path}: {text:?}"))]);
        }
        example.script.lines().for_each(|line| terminal.line(&format!("  {line}")));
        terminal.styled(&[(TextStyle::Green, &format!("  // {}", describe_outcome(&example.gives)))]);
    }
    for verb in verbs_of(primitive) {
        terminal.line("");
        terminal.styled(&[(TextStyle::Bold, verb.name)]);
        terminal.line(&format!("  {}", verb.summary));
        verb.options().for_each(|option| terminal.line(&format!("  {}", describe_option(option))));
    }
}

fn print_family(terminal: &Terminal, family: Family) {
    terminal.styled(&[(TextStyle::Bold, family.title())]);
    let row = |one: &Primitive| vec![one.signature(), one.effect.name().to_owned(), one.summary.to_owned()];
    terminal.table(&["primitive", "effect", "what it returns or does"], family_primitives(family).map(row).collect());
}

fn print_table(terminal: &Terminal, table: &Grammar) {
    terminal.styled(&[(TextStyle::Bold, table.name)]);
    terminal.text(table.doc);
    let row = |key: &GrammarKey| {
        let name = if key.required { format!("{} (required)", key.name) } else { key.name.to_owned() };
        vec![name, key.shape.describe(), key.doc.to_owned()]
    };
    terminal.table(&["key", "takes", "what it means"], table.keys.iter().map(row).collect());
}

fn print_key(terminal: &Terminal, table: &Grammar, key: &GrammarKey) {
    terminal.styled(&[(TextStyle::Bold, &format!("{} of {}", key.name, table.name))]);
    let required = if key.required { " Required." } else { "" };
    terminal.line(&format!("{} It takes {}.{required}", key.doc, key.shape.describe()));
}

/// Names a function that the language has without toolsd; returns whether it is one.
fn explain_language_function(terminal: &Terminal, name: &str) -> bool {
    let arities = known_arities(name);
    let counts: Vec<String> = arities.iter().map(usize::to_string).collect();
    if !counts.is_empty() {
        terminal.line(&format!(
            "`{name}` is a function of rhai itself, with {} arguments, the receiver included: see https://rhai.rs/book/ref",
            counts.join(" or ")
        ));
    }
    !counts.is_empty()
}

fn print_rule(terminal: &Terminal, rule: &CheckRule) {
    terminal.styled(&[(TextStyle::Bold, rule.code.0)]);
    terminal.line(&format!("{} {}", rule.summary, rule.why));
    let file = |path: &str, lines: &mut dyn Iterator<Item = String>| {
        terminal.styled(&[(TextStyle::Dim, &format!("  # {path}"))]);
        lines.for_each(|line| terminal.line(&format!("  {line}")));
    };
    terminal.line("");
    terminal.line("Example:");
    rule.fires.iter().for_each(|(path, text)| file(path, &mut text.lines().map(str::to_owned)));
    terminal.line("");
    terminal.line("Fix:");
    rule.mended.iter().for_each(|mend| file(mend.0, &mut diff_lines(mend)));
}
