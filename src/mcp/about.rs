//! Who we are and what we can do, as each revision wants to hear it.

use super::{Revision, STATUS, Settings};
use crate::definition::TaskSupport;
use crate::diagnostic::Diagnostic;
use crate::registry::{NAME_CLASH, NO_PACK, PackPart, Registry, is_withheld};
use crate::value::Json;
use crate::world::ownership::NOT_OWNED;
use rmcp::model::{SKILLS_EXTENSION_ID, ServerConfig, TASKS_EXTENSION_ID};
use serde_json::{Map, json};

/// What a client is told first.
pub(crate) fn config(settings: &Settings, registry: &Registry, revision: Revision) -> ServerConfig {
    let mut config = json!({
        "protocolVersion": revision.name(),
        "capabilities": capabilities(registry, revision),
        "serverInfo": implementation(settings, registry, revision),
    });
    if let Some(instructions) = instructions(registry) {
        config["instructions"] = json!(instructions);
    }
    // What comes from a definition was checked when it was loaded; the rest is ours.
    serde_json::from_value(config).unwrap_or_else(|error| {
        tracing::error!(%error, "the protocol does not take what we say of ourselves");
        ServerConfig::default()
    })
}

fn capabilities(registry: &Registry, revision: Revision) -> Json {
    let mut capabilities = json!({
        "logging": {},
        "tools": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "prompts": { "listChanged": true },
    });
    if revision.has_hints() {
        capabilities["completions"] = json!({});
    }
    let mut extensions = Map::new();
    if registry.has_skills() {
        extensions.insert(SKILLS_EXTENSION_ID.to_owned(), json!({ "directoryRead": true }));
    }
    let has_tasks = registry.tools.iter().any(|served| served.tool.task_policy.task != TaskSupport::Never);
    if has_tasks && revision.is_stateless() {
        extensions.insert(TASKS_EXTENSION_ID.to_owned(), json!({}));
    }
    if !extensions.is_empty() {
        capabilities["extensions"] = Json::Object(extensions);
    }
    capabilities
}

/// Name, version and looks.
pub(crate) fn implementation(settings: &Settings, registry: &Registry, revision: Revision) -> Json {
    let mut info = Map::new();
    info.insert("name".to_owned(), json!(settings.name));
    if revision.has_structured() {
        let only = match registry.packs.as_slice() {
            [pack] => Some(pack.definition.title.value.clone()),
            _ => None,
        };
        if let Some(title) = settings.title.clone().or(only) {
            info.insert("title".to_owned(), json!(title));
        }
    }
    info.insert("version".to_owned(), json!(settings.version));
    if revision.has_icons() {
        if !settings.icons.is_empty() {
            info.insert("icons".to_owned(), json!(settings.icons));
        }
        if let Some(url) = &settings.website_url {
            info.insert("websiteUrl".to_owned(), json!(url));
        }
    }
    Json::Object(info)
}

/// Each served pack's instructions, under its title; if none serves, what each pack looked for.
fn instructions(registry: &Registry) -> Option<String> {
    let mut parts: Vec<String> = Vec::new();
    for pack in &registry.packs {
        let computed = registry.instructions.get(&pack.name).map(String::as_str);
        let text = computed.or(pack.instructions.as_deref()).map(str::trim);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            parts.push(format!("# {}\n\n{text}", pack.definition.title.value));
        }
    }
    parts.extend(absent(registry));
    if registry.packs.is_empty() && !registry.dormant.is_empty() {
        let mut text = String::from("No pack serves in this workspace. Each looked for one of these paths:\n");
        for (name, markers) in &registry.dormant {
            let markers: Vec<String> = markers.iter().map(|marker| format!("`{marker}`")).collect();
            let markers = if markers.is_empty() { "served only by name".to_owned() } else { markers.join(", ") };
            text.push_str(&format!("\n- {name}: {markers}"));
        }
        parts.push(text);
    }
    parts.extend(not_served(registry));
    (!parts.is_empty()).then(|| parts.join("\n\n"))
}

/// What was named on the command line, or by a file that a person trusted, and is not there: it is why nothing serves, or not
/// all. What another file names may be anybody's words.
fn absent(registry: &Registry) -> impl Iterator<Item = String> {
    let is_named = |fault: &&Diagnostic| fault.at.is_none() || registry.settings.trusted && fault.is_error();
    let absent = registry.faults.iter().filter(|fault| fault.code == NO_PACK).filter(is_named);
    absent.map(|fault| format!("The server was started for a pack that it does not have: {fault}"))
}

/// So many refusals are told one by one; `toolsd://status` has them all.
const MOST_TOLD: usize = 8;

/// What is broken or withheld, why, and what the user can do. Names that nobody trusted are told only if they are plain:
/// whoever prepared the workspace chose them, and a model reads this.
//= docs/spec.md#reload
//# A client MUST be told in the instructions, and in `toolsd://status`, what is withheld or refused, why, and what to do.
fn not_served(registry: &Registry) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    let is_whole = |pack: &str| registry.refusal(PackPart::Pack, pack).is_some();
    let told = registry.refused.iter().filter(|refused| refused.part == PackPart::Pack || !is_whole(&refused.pack));
    // What is withheld is told below.
    for refused in told.filter(|refused| !is_withheld(&refused.why)) {
        let of =
            if refused.part == PackPart::Pack { String::new() } else { format!(" of the pack `{}`", refused.pack) };
        lines.push(format!("the {} `{}`{of} is broken: {}", refused.part.name(), refused.name, refused.why));
    }
    let clashes = registry.faults.iter().filter(|fault| fault.code == NAME_CLASH);
    let clashes = clashes.filter(|fault| registry.refused.iter().all(|refused| refused.why != **fault));
    lines.extend(clashes.map(|fault| format!("{}: the first one has it", fault.message)));
    let left = lines.len().saturating_sub(MOST_TOLD);
    lines.truncate(MOST_TOLD);
    if left > 0 {
        lines.push(format!("{left} more are not served"));
    }
    let (changeable, untrusted): (Vec<_>, Vec<_>) = registry.withheld().partition(|fault| fault.code == NOT_OWNED);
    if !untrusted.is_empty() {
        let mut names: Vec<&str> = untrusted.iter().filter_map(|fault| named_pack(fault)).collect();
        names.dedup();
        let of = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
        lines.push(format!(
            "files of this workspace are not trusted{of}: the user can read them and run `toolsd trust` in a terminal"
        ));
    }
    if !changeable.is_empty() {
        lines.push(
            "files of packs can be changed by others: the user can run `toolsd doctor`, which tells how to mend that"
                .to_owned(),
        );
    }
    if lines.is_empty() {
        return None;
    }
    let list: String = lines.iter().map(|line| format!("\n- {line}")).collect();
    Some(format!("# Not served\n\nSome of what this workspace has is not served; `{STATUS}` says more.\n{list}"))
}

/// The pack of a file that is withheld, if its name is one that a person could have chosen for a tool.
fn named_pack(fault: &Diagnostic) -> Option<&str> {
    let path = fault.at.as_ref()?.source.path.as_str();
    let rest = path.strip_prefix(".toolsd/tools.d/")?;
    let name = rest.split(['/', '.']).next()?;
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    (name.len() <= 40 && name.chars().all(is_plain)).then_some(name)
}

/// How the resource that says what is wrong is listed.
pub(crate) fn status() -> Json {
    json!({
        "uri": STATUS,
        "name": "status",
        "title": "Status of this server",
        "description": "The packs that serve and those that do not, and what is wrong with their files at present.",
    })
}
