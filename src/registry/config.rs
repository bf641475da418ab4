//! The configuration of a pack: what the workspace says, checked by the pack's schema, defaults filled in.

use super::{SETTINGS, Settings};
use crate::definition::{Care, Checker, Located, PackDefinition, Schema, published};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::value::Json;
use crate::world::path;
use serde_json::json;

/// The configuration, its checker, and what is wrong with it. Of an untrusted file nothing that is a path (`format = "path"`) is used.
pub fn configure(
    name: &str,
    pack: &PackDefinition,
    defs: &[(Located<String>, Schema)],
    settings: &Settings,
    care: Care,
    faults: &mut Vec<Diagnostic>,
) -> (Json, Option<Checker>) {
    let mut config = settings.config(name);
    let written = settings.workspace.packs.iter().find(|(pack, _)| pack.value == name);
    let Some(schema) = &pack.config else {
        if let (Some((at, _)), Some(first)) = (written, config.as_object().and_then(|map| map.keys().next())) {
            let message = format!("the pack `{name}` has no configuration, so no `{first}`");
            faults.push(*Diagnostic::new(Code("config"), message).at(at.at.clone()).help("remove the table"));
        }
        return (json!({}), None);
    };
    let checker = match published(schema, defs).map(Checker::later) {
        // Known to be sound, and known to need nothing: a configuration that is not written has no fault.
        Ok(checker) if care == Care::Known && written.is_none() => {
            checker.fill_defaults(&mut config);
            return (config, Some(checker));
        }
        Ok(checker) => checker,
        Err(fault) => {
            let place = schema.place("").cloned();
            faults.push(*match place {
                Some(place) => fault.at(place),
                None => fault,
            });
            return (config, None);
        }
    };
    if !settings.trusted {
        without_paths(name, &mut config, schema, faults);
    }
    for problem in checker.check(&config) {
        let fault = Diagnostic::new(Code("config"), format!("`[packs.{name}]` of `{SETTINGS}`: {}", problem.message));
        let fault = match problem.help {
            Some(help) => fault.help(help),
            None => fault,
        };
        let place = written.and_then(|(_, written)| written.place(&problem.pointer));
        faults.push(*match place.or(written.map(|(name, _)| &name.at)) {
            Some(place) => fault.at(place.clone()),
            None => fault,
        });
    }
    checker.fill_defaults(&mut config);
    (config, Some(checker))
}

/// The paths that the configuration of a pack names (`format = "path"`): a person who writes one grants it. Of an
/// untrusted file only the defaults count. Relative ones begin at `workspace`.
pub fn granted_paths(name: &str, pack: &PackDefinition, settings: &Settings, workspace: &str) -> Vec<String> {
    let written = if settings.trusted { settings.config(name) } else { json!({}) };
    let properties = pack.config.as_ref().and_then(|schema| schema.json.get("properties")).and_then(Json::as_object);
    let mut paths = Vec::new();
    for (key, schema) in properties.into_iter().flatten().filter(|(_, schema)| holds_path(schema)) {
        let Some(value) = written.get(key).or_else(|| schema.get("default")) else { continue };
        let texts = value.as_str().into_iter().chain(value.as_array().into_iter().flatten().filter_map(Json::as_str));
        paths.extend(texts.map(|text| match text.starts_with("..") {
            true => path::clean(&path::join(workspace, text)),
            false => path::clean(text),
        }));
    }
    paths
}

/// The paths that the configuration of a pack names where nobody writes one.
pub fn default_paths(name: &str, pack: &PackDefinition) -> Vec<String> {
    granted_paths(name, pack, &Settings::default(), "")
}

fn holds_path(schema: &Json) -> bool {
    let is_path = |schema: &Json| schema.get("format").is_some_and(|format| format == "path");
    is_path(schema) || schema.get("items").is_some_and(is_path)
}

fn without_paths(pack: &str, config: &mut Json, schema: &Schema, faults: &mut Vec<Diagnostic>) {
    let Some(map) = config.as_object_mut() else { return };
    let properties = schema.json.get("properties").and_then(Json::as_object);
    let paths = properties.into_iter().flatten().filter(|(_, schema)| holds_path(schema));
    for (name, _) in paths {
        if map.shift_remove(name).is_some() {
            let message =
                format!("`{name}` of `[packs.{pack}]` is not used: it is a path, and `{SETTINGS}` is not trusted");
            faults
                .push(*Diagnostic::new(Code("untrusted"), message).warning().help("read it, then run `toolsd trust`"));
        }
    }
}

/// The code of the fault below.
pub const NO_PACK: Code = Code("unknown-pack");

/// The fault of a pack that `toolsd.toml`, or the command line, names and that is not there.
pub fn no_pack(name: &str, known: &[String]) -> Box<Diagnostic> {
    let fault = Diagnostic::new(NO_PACK, format!("there is no pack `{name}`"));
    match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(help) => fault.help(help),
        None => fault.help("run `toolsd list --where`"),
    }
}
