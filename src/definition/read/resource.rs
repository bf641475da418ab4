//! Lowers `[[resource]]`.

use super::{Reading, ask, completion, icons};
use crate::definition::{Care, Completion, Fields, Located, Resource, Role, Schema, TomlNode, code, uri};
use crate::diagnostic::{Diagnostic, did_you_mean};

/// `[[resource]]`.
pub fn resource(fields: &Fields<'_>, reading: &mut Reading) -> Resource {
    let is_template = match fields.one_of(&["uri", "uri_template"], "a resource", &mut reading.faults) {
        Some(key) => key == "uri_template",
        None => {
            let help = "`uri` names one resource, `uri_template` a family of them";
            reading.missing(&fields.header, "[[resource]] has neither `uri` nor `uri_template`", help);
            false
        }
    };
    let address = fields.needed(if is_template { "uri_template" } else { "uri" });
    let variables = variables(fields, reading);
    let complete = complete(fields);
    check_address(&address, is_template, fields, reading);
    let body = reading.body(fields, "read", &["read", "template", "text", "file"], "a resource");
    Resource {
        at: fields.header.clone(),
        name: fields.needed("name"),
        title: fields.text("title"),
        description: fields.text("description"),
        uri: address,
        is_template,
        variables,
        aliases: fields.located_texts("aliases"),
        body,
        list: fields.located("list"),
        complete,
        script: reading.script_of(fields),
        questions: ask::questions(fields, reading, false),
        requires_client: ask::requires_client(fields, reading),
        mime_type: fields.text("mime_type"),
        subscribe: fields.flag("subscribe").unwrap_or(false),
        ttl_ms: fields.integer("ttl_ms"),
        cache_scope: fields.text("cache_scope"),
        with: fields.object("with"),
        icons: icons(fields, &mut reading.faults),
        annotations: fields.json("annotations"),
        meta: fields.json("meta"),
    }
}

fn variables(fields: &Fields<'_>, reading: &mut Reading) -> Option<Schema> {
    let node = fields.node("variables")?;
    if reading.care == Care::Known {
        return Some(Schema::without_places(node));
    }
    for entry in node.entries() {
        reading.schema_of(&entry.node, Role::Shared);
    }
    Some(Schema::of(node))
}

fn complete(fields: &Fields<'_>) -> Vec<(String, Completion)> {
    let entries = fields.node("complete").map(TomlNode::entries).unwrap_or_default();
    entries.iter().map(|entry| (entry.key.clone(), completion(&entry.node))).collect()
}

/// The URI, its aliases and the names of its variables.
fn check_address(address: &Located<String>, is_template: bool, fields: &Fields<'_>, reading: &mut Reading) {
    if address.value.is_empty() {
        return;
    }
    if !is_template {
        if address.value.contains(['{', '}']) {
            let fault = Diagnostic::new(code::URI_TEMPLATE, "`uri` has braces");
            reading.fault(fault.at(address.at.clone()).help("a family of resources is a `uri_template`"));
        }
        return;
    }
    let names = match uri::variables(&address.value) {
        Ok(names) => names,
        Err(message) => {
            let fault = Diagnostic::new(code::URI_TEMPLATE, message).at(address.at.clone());
            return reading.fault(fault.help("RFC 6570: `{name}`, `{+rest}`, `{?query,more}`"));
        }
    };
    for alias in fields.located_texts("aliases") {
        match uri::variables(&alias.value) {
            Ok(others) if sorted(&others) == sorted(&names) => {}
            Ok(_) => {
                let fault =
                    Diagnostic::new(code::URI_TEMPLATE, format!("the alias `{}` has other variables", alias.value));
                reading.fault(fault.at(alias.at).help(format!("its variables are {}", names.join(", "))));
            }
            Err(message) => {
                let fault = Diagnostic::new(code::URI_TEMPLATE, message).at(alias.at);
                reading.fault(fault.help("RFC 6570: `{name}`, `{+rest}`, `{?query,more}`"));
            }
        }
    }
    for key in ["variables", "complete"] {
        for entry in fields.node(key).map(TomlNode::entries).unwrap_or_default() {
            if !names.contains(&entry.key) {
                let fault =
                    Diagnostic::new(code::UNKNOWN_KEY, format!("`{}` has no variable `{}`", address.value, entry.key));
                let help = did_you_mean(&entry.key, names.iter().map(String::as_str));
                reading
                    .fault(fault.at(entry.at.clone()).help(help.unwrap_or_else(|| "it has no variables".to_owned())));
            }
        }
    }
}

fn sorted(names: &[String]) -> Vec<&str> {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    names
}
