//! Lowers `[pack]`, `[graph]` and `limits`.

use super::{Reading, icons, programs};
use crate::definition::{
    Fields, GitAccess, Grants, GraphDefinition, LimitsOverride, Located, PackDefinition, PromptTool, Refresh, Role,
    Setting, code,
};
use crate::diagnostic::Diagnostic;
use crate::world::path;

/// Tells of grants that cover nothing, because no path leads out of its root.
fn tell_of_climbing(grants: &Fields<'_>, faults: &mut Vec<Diagnostic>) {
    for grant in ["read", "write"].into_iter().flat_map(|name| grants.located_texts(name)) {
        if path::clean(&grant.value).starts_with("..") {
            let message = format!("the grant `{}` covers nothing: no path leads out of its root by `..`", grant.value);
            let fault = Diagnostic::new(code::WRONG_VALUE, message).at(grant.at).warning();
            let help =
                "name the folder by its absolute path or `~/…`; a relative grant holds beneath each further root, too";
            faults.push(*fault.help(help));
        }
    }
}

/// `[pack]`.
pub fn pack(fields: &Fields<'_>, reading: &mut Reading) -> PackDefinition {
    let mut run_at = Vec::new();
    let grants = fields.table("grants", &mut reading.faults).map(|grants| Grants {
        read: grants.texts("read"),
        write: grants.texts("write"),
        env: grants.texts("env"),
        run: {
            let (run, places) = programs::programs(&grants, &mut reading.faults);
            run_at = places;
            run
        },
        git: match grants.text("git").as_deref() {
            Some("read") => GitAccess::Read,
            Some("write") => GitAccess::Write,
            Some("fetch") => GitAccess::Fetch,
            _ => GitAccess::None,
        },
    });
    if let Some(grants) = fields.table("grants", &mut Vec::new()) {
        tell_of_climbing(&grants, &mut reading.faults);
    }
    PackDefinition {
        title: fields.needed("title"),
        version: fields.text("version").unwrap_or_else(|| "0.0.0".to_owned()),
        when: fields.has("when").then(|| fields.texts("when")),
        root: fields.texts("root"),
        instructions: fields.located("instructions"),
        context: fields.located("context").map(|function| (function, reading.script_of(fields))),
        grants: grants.unwrap_or_default(),
        run_at,
        config: reading.schema(fields, "config", Role::Config),
        limits: limits(fields, &mut reading.faults),
        prompt_tool: fields.table("prompt_tool", &mut reading.faults).map(|tool| PromptTool {
            name: tool
                .located("name")
                .unwrap_or_else(|| Located { value: "get_prompt".to_owned(), at: tool.header.clone() }),
            meta: tool.json("meta"),
        }),
        on_error: fields.located("on_error"),
        icons: icons(fields, &mut reading.faults),
    }
}

/// `[graph]`.
pub fn graph(fields: &Fields<'_>, reading: &mut Reading) -> GraphDefinition {
    let script = fields
        .located("script")
        .unwrap_or_else(|| Located { value: reading.script.clone(), at: fields.header.clone() });
    let refresh = fields.table("refresh", &mut reading.faults).map_or(Refresh::Call, |table| Refresh::Beside {
        every_ms: setting(&table, "every_ms", table.integer("every_ms").unwrap_or(0)),
        watch: setting(&table, "watch", table.flag("watch").unwrap_or(false)),
    });
    GraphDefinition { script, refresh, limits: limits(fields, &mut reading.faults) }
}

/// What is written, or `config.KEY`.
pub fn setting<T>(fields: &Fields<'_>, name: &str, written: T) -> Setting<T> {
    fields.config_key(name).map_or(Setting::Is(written), Setting::Of)
}

/// `limits` of any table.
pub fn limits(fields: &Fields<'_>, faults: &mut Vec<Diagnostic>) -> LimitsOverride {
    let table = fields.table("limits", faults);
    table.map_or_else(LimitsOverride::default, |limits| LimitsOverride {
        time_ms: limits.integer("time_ms"),
        ticks: limits.integer("ticks"),
        memory_mb: limits.integer("memory_mb"),
        output_kb: limits.integer("output_kb"),
        depth: limits.integer("depth"),
    })
}
