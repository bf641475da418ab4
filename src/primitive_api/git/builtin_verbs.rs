//! Verbs that toolsd answers itself, from what it knows of the repository: `config` and `repository`.

use super::arguments::{checks, is_on};
use super::call::GitCall;
use super::verb::GitVerb;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::pattern::Pattern;
use crate::value::{Map, Value};
use crate::world::disk::is_reported;
use crate::world::repository::{GitSetting, normalize_key};

/// The answer, as git would give it.
pub(super) fn answer(call: &GitCall<'_>, verb: &GitVerb, options: &Map) -> Result<Value> {
    let reported = if verb.name == "repository" { Some(place(call, options)?) } else { config(call, options)? };
    let code = i64::from(reported.is_none());
    if code != 0 && checks(options) {
        return Err(Diagnostic::new(Code("git"), "no key of the configuration is meant")
            .author_help("use `check: false` to get the code instead"));
    }
    let reported = reported.unwrap_or_default();
    let line = reported.lines().next().unwrap_or_default().to_owned();
    Ok(Value::map([
        ("code", Value::Integer(code)),
        ("text", reported.into()),
        ("line", line.into()),
        ("errors", String::new().into()),
        ("notices", Value::list([])),
    ]))
}

fn text<'a>(options: &'a Map, name: &str) -> Option<&'a str> {
    options.get(name).and_then(Value::as_text)
}

fn place(call: &GitCall<'_>, options: &Map) -> Result<String> {
    let repository = &call.repository;
    let known = [
        ("top", repository.top.clone()),
        ("prefix", repository.prefix()),
        ("git_dir", repository.git_dir.clone()),
        ("common_dir", repository.common_dir.clone()),
    ];
    let asked = text(options, "show").unwrap_or_default();
    match known.iter().find(|(name, _)| *name == asked) {
        Some((_, place)) => Ok(format!("{place}\n")),
        None => {
            let names = known.map(|(name, _)| name);
            Err(Diagnostic::new(Code::ARGUMENTS, format!("git \"repository\" does not show `{asked}`"))
                .help(did_you_mean(asked, names).unwrap_or_else(|| names.join(", "))))
        }
    }
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
