//! Verbs that toolsd answers itself, from what it knows of the repository: `config` and `repository`.

use super::arguments::is_on;
use super::call::GitCall;
use super::verb::GitVerb;
use crate::diagnostic::Result;
use crate::pattern::Pattern;
use crate::value::{Map, Value};
use crate::world::disk::is_reported;
use crate::world::repository::{GitSetting, normalize_key};
use crate::world::run::{GitChanges, ProgramOutput};

/// The answer, as git would give it.
pub(super) fn answer(call: &mut GitCall<'_>, verb: &GitVerb, options: &Map) -> Result<Value> {
    let reported = if verb.name == "repository" { Some(place(call, options)) } else { config(call, options)? };
    let code = i64::from(reported.is_none());
    let ran = ProgramOutput { code, output: reported.unwrap_or_default().into_bytes(), ..ProgramOutput::default() };
    let asked = ["name", "pattern"].iter().find_map(|name| text(options, name));
    let shown = call.step(&[&[verb.name][..], asked.as_slice()].concat(), GitChanges::Nothing);
    super::answer::answer(call, &shown, ran, options)
}

fn text<'a>(options: &'a Map, name: &str) -> Option<&'a str> {
    options.get(name).and_then(Value::as_text)
}

fn place(call: &GitCall<'_>, options: &Map) -> String {
    let repository = &call.repository;
    let place = match text(options, "show") {
        Some("top") => &repository.top,
        Some("prefix") => &repository.prefix(),
        Some("git_dir") => &repository.git_dir,
        _ => &repository.common_dir,
    };
    format!("{place}\n")
}

/// Lines as `git config --get` and `--get-regexp` write them.
fn config(call: &GitCall<'_>, options: &Map) -> Result<Option<String>> {
    let shows_scope = is_on(options, "show_scope");
    let scope = |setting: &GitSetting| if shows_scope { format!("{}\t", setting.scope) } else { String::new() };
    let all = call.repository.settings.iter().filter(|setting| setting.is_of_repository() || is_reported(setting));
    if let Some(name) = text(options, "name") {
        let key = normalize_key(name);
        return Ok(all.rev().find(|setting| setting.key == key).map(|one| format!("{}{}\n", scope(one), one.value)));
    }
    let pattern = text(options, "pattern").map(Pattern::compile_cached).transpose()?;
    let mut reported = String::new();
    for setting in all {
        if pattern.as_ref().map_or(Ok(true), |pattern| pattern.is_match(&setting.key))? {
            reported.push_str(&format!("{}{} {}\n", scope(setting), setting.key, setting.value));
        }
    }
    Ok((!reported.is_empty()).then_some(reported))
}
