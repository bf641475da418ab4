//! `toolsd.toml`: the settings of a workspace for its packs, its keys, and its reader.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::code_mode::{CODE_MODE, CodeModeDefinition, read_code_mode};
use super::discover::{CALL_TOOL, DISCOVER, DiscoverDefinition, FIND_TOOLS, read_discover};
use super::fields::Fields;
use super::grammar::{Grammar, ValueShape, optional};
use super::icon::{ICON, read_icons};
use super::layer::{LAYER, LayerDefinition, read_layers};
use super::limits::{LIMITS, LimitsOverride, read_limits};
use super::located::Located;
use super::schema::Schema;
use crate::diagnostic::Diagnostic;
use crate::parse::toml::{Dates, TomlNode, parse};
use crate::source::Source;
use crate::value::Json;
use std::sync::Arc;

/// The name of the file.
pub const SETTINGS_FILE: &str = "toolsd.toml";

/// `toolsd.toml`.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceDefinition {
    /// The packs that are active, exactly these; if absent, those whose `activate_if_exists` matches.
    pub serve: Option<Vec<Located<String>>>,
    /// `[packs.NAME]`: the configuration of each pack. The registry validates it with the schema of the pack.
    pub packs: Vec<(Located<String>, Schema)>,
    /// Prefixes for the names of a pack's tools, resources and prompts.
    pub prefixes: Vec<(Located<String>, String)>,
    /// Additional folders that packs may be granted.
    pub roots: Vec<Located<String>>,
    /// The limits of every call.
    pub limits: LimitsOverride,
    /// How the server describes itself.
    pub server: ServerDefinition,
    /// Limits of HTTP connections.
    pub http: HttpOverride,
    /// The layers of the project, the strongest first.
    pub layers: Vec<LayerDefinition>,
    /// What scripts of clients may do; `None` if there are none.
    pub code_mode: Option<CodeModeDefinition>,
    /// How tools are found that the list lacks; `None` if it lists all.
    pub discover: Option<DiscoverDefinition>,
}

impl WorkspaceDefinition {
    /// The names of the tools of the host itself, which no tool of a pack can have.
    pub fn host_tools(&self) -> Vec<&'static str> {
        let scripts = self.code_mode.iter().flat_map(CodeModeDefinition::tool_names);
        let found: &[&str] = if self.discover.is_some() { &[FIND_TOOLS, CALL_TOOL] } else { &[] };
        scripts.chain(found.iter().copied()).collect()
    }
}

/// `[server]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerDefinition {
    pub name: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// Where to read about it.
    pub website_url: Option<String>,
    pub icons: Vec<Json>,
    /// Number of entries on a page of a list; if absent, all.
    pub page_size: Option<u64>,
    /// How long a client may cache the lists, in milliseconds.
    pub lists_ttl_ms: Option<u64>,
    /// `full` or `lean`: how much the list of tools contains of each.
    pub lists: Option<String>,
    /// `whole` or `short`: how much of its data a result repeats as text.
    pub result_text: Option<String>,
    /// The tokens that the lists of tools of all packs together may have.
    pub budget: Option<Located<u64>>,
}

/// `[http]`: an absent value means the default. Times are in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpOverride {
    pub connections: Option<u64>,
    /// How long a body may take.
    pub body_ms: Option<u64>,
    /// How long a client may read nothing.
    pub write_ms: Option<u64>,
    /// How long a connection may take until the head of its next request is complete.
    pub idle_ms: Option<u64>,
    pub sessions: Option<u64>,
}

/// `toolsd.toml`.
pub static WORKSPACE: Grammar = Grammar {
    name: "toolsd.toml",
    doc: "Settings of a workspace for its packs. Until a user confirms the file with `toolsd trust`, only `packs` and `limits` are used, and these in part.",
    keys: &[
        optional(
            "serve",
            ValueShape::Texts,
            "The packs that are active, exactly these (default: those whose `activate_if_exists` matches). Not used before the file is trusted.",
        ),
        optional(
            "packs",
            ValueShape::Named,
            "The configuration of each pack: `[packs.NAME]`, validated with the pack's schema. Paths (`format = \"path\"`) are not used before the file is trusted.",
        ),
        optional(
            "prefixes",
            ValueShape::TextMap,
            "Prefixes for the names of a pack's tools, resources and prompts. Not used before the file is trusted.",
        ),
        optional(
            "roots",
            ValueShape::Texts,
            "Additional folders that packs may be granted. Not used before the file is trusted.",
        ),
        optional(
            "limits",
            ValueShape::Table(&LIMITS),
            "Limits of every call. Before the file is trusted, they can only lower the limits.",
        ),
        optional(
            "server",
            ValueShape::Table(&SERVER),
            "How the server describes itself. Not used before the file is trusted.",
        ),
        optional("http", ValueShape::Table(&HTTP), "Limits of HTTP connections. Not used before the file is trusted."),
        optional(
            "code_mode",
            ValueShape::Table(&CODE_MODE),
            "Scripts of clients that call tools. Not used before the file is trusted.",
        ),
        optional(
            "discover",
            ValueShape::Table(&DISCOVER),
            "A short list of tools, in which the others are found by words. Not used before the file is trusted.",
        ),
        optional(
            "layers",
            ValueShape::NamedTables(&LAYER),
            "Layers of packs from git repositories: `[layers.NAME]`, the strongest first. Not used before the file is trusted.",
        ),
    ],
};

/// A number of connections or of sessions.
const COUNT: ValueShape = ValueShape::IntegerWithin(1, 65_536);

/// Milliseconds, up to a day.
const TIME: ValueShape = ValueShape::IntegerWithin(1, 86_400_000);

/// `[http]`.
static HTTP: Grammar = Grammar {
    name: "[http]",
    doc: "Limits of HTTP connections; read from a trusted file, and again on SIGHUP.",
    keys: &[
        optional("max_connections", COUNT, "Maximum number of open connections (default: 1,024)."),
        optional("body_timeout_ms", TIME, "How long the body of a request may take (default: 60,000)."),
        optional("write_timeout_ms", TIME, "How long a client may read nothing of a response (default: 20,000)."),
        optional(
            "keep_alive_timeout_ms",
            TIME,
            "How long a connection may take until the head of its next request is complete, idle time included (default: 75,000).",
        ),
        optional(
            "max_sessions",
            COUNT,
            "Maximum number of sessions, which only clients of older revisions have (default: 1,000).",
        ),
    ],
};

/// The value of `lists` that omits what a model does not need.
const LEAN: &str = "lean";

/// The value of `result_text` that cuts the text of data.
const RESULT_TEXT_SHORT: &str = "short";

impl ServerDefinition {
    /// Returns whether the list of tools omits what a model does not need.
    pub fn has_lean_lists(&self) -> bool {
        self.lists.as_deref() == Some(LEAN)
    }

    /// Returns whether a result repeats only the beginning of its data as text.
    pub fn has_short_text(&self) -> bool {
        self.result_text.as_deref() == Some(RESULT_TEXT_SHORT)
    }
}

/// `[server]`.
static SERVER: Grammar = Grammar {
    name: "[server]",
    doc: "How the server describes itself.",
    keys: &[
        optional("name", ValueShape::Text, "Name of the server (default: `toolsd`)."),
        optional("title", ValueShape::Text, "A title for people (default: the pack's if one pack is active)."),
        optional("website_url", ValueShape::Text, "Address of a page about the server."),
        optional("icons", ValueShape::Tables(&ICON), "Icons for people."),
        optional(
            "page_size",
            ValueShape::Integer(1),
            "Number of entries on a page of a list (default: 100 for resources and skills, otherwise all).",
        ),
        optional("lists_ttl_ms", ValueShape::Integer(0), "How long a client may cache the lists, in milliseconds."),
        optional(
            "lists",
            ValueShape::OneOf(&["full", LEAN]),
            "`lean` lists tools without titles, output schemas, `_meta` other than that of `pinned` and `max_result_chars`, `additionalProperties: false`, and with only the annotations that a tool is read-only or not destructive (default: `full`). `toolsd cost` compares both.",
        ),
        optional(
            "result_text",
            ValueShape::OneOf(&["whole", RESULT_TEXT_SHORT]),
            "`short` repeats only the first 50 lines of `structuredContent` as text, for clients that show both to the model (default: `whole`).",
        ),
        optional(
            "budget",
            ValueShape::Integer(1),
            "Tokens of four bytes that the tool lists of all packs together may have; more is an error of `toolsd check` (default: not judged).",
        ),
    ],
};

/// Reads a `toolsd.toml` to its end. Returns what could be read, and all errors.
pub fn read_workspace(source: &Arc<Source>) -> (WorkspaceDefinition, Vec<Diagnostic>) {
    let mut diagnostics = Vec::new();
    let tree = parse(source, Dates::Refused, &mut diagnostics);
    let file = Fields::open(&tree, &WORKSPACE, &mut diagnostics);
    let mut workspace = WorkspaceDefinition {
        serve: file.has("serve").then(|| file.located_texts("serve")),
        roots: file.located_texts("roots"),
        limits: read_limits(&file, &mut diagnostics),
        server: read_server(&file, &mut diagnostics),
        http: read_http(&file, &mut diagnostics),
        layers: read_layers(&file, &mut diagnostics),
        code_mode: read_code_mode(&file, &mut diagnostics),
        discover: read_discover(&file, &mut diagnostics),
        ..WorkspaceDefinition::default()
    };
    for entry in file.node("packs").map(TomlNode::entries).unwrap_or_default() {
        let name = Located { value: entry.key.clone(), at: entry.at.clone() };
        workspace.packs.push((name, Schema::from_node(&entry.node)));
    }
    for entry in file.node("prefixes").map(TomlNode::entries).unwrap_or_default() {
        let name = Located { value: entry.key.clone(), at: entry.at.clone() };
        workspace.prefixes.push((name, entry.node.text().unwrap_or_default().to_owned()));
    }
    diagnostics.sort_by_key(|diagnostic| diagnostic.at.as_ref().map_or(0, |at| at.span.start));
    (workspace, diagnostics)
}

fn read_server(file: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> ServerDefinition {
    let Some(server) = file.table("server", diagnostics) else { return ServerDefinition::default() };
    ServerDefinition {
        name: server.text("name"),
        title: server.text("title"),
        website_url: server.text("website_url"),
        icons: read_icons(&server, diagnostics),
        page_size: server.integer("page_size"),
        lists_ttl_ms: server.integer("lists_ttl_ms"),
        lists: server.text("lists"),
        result_text: server.text("result_text"),
        budget: server.located_integer("budget"),
    }
}

fn read_http(file: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> HttpOverride {
    let Some(http) = file.table("http", diagnostics) else { return HttpOverride::default() };
    HttpOverride {
        connections: http.integer("max_connections"),
        body_ms: http.integer("body_timeout_ms"),
        write_ms: http.integer("write_timeout_ms"),
        idle_ms: http.integer("keep_alive_timeout_ms"),
        sessions: http.integer("max_sessions"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_in_full() {
        let text = "serve = ['a']\nroots = ['~/x']\n[packs.a]\nlevel = 1\n[prefixes]\na = 'a_'\n[limits]\ntime_ms = 5\n[server]\nname = 'n'\npage_size = 3\n";
        let (workspace, diagnostics) = read_workspace(&Source::new("toolsd.toml", text));
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert_eq!(workspace.serve.unwrap()[0].value, "a");
        assert_eq!(*workspace.packs[0].1.json, serde_json::json!({ "level": 1 }));
        assert_eq!(workspace.packs[0].1.place("/level").unwrap().to_string(), "toolsd.toml:4:9");
        assert_eq!(workspace.prefixes[0].1, "a_");
        assert_eq!((workspace.limits.time_ms, workspace.server.page_size), (Some(5), Some(3)));
    }

    #[test]
    fn limits_of_connections_have_ranges() {
        let read = |text: &str| read_workspace(&Source::new("toolsd.toml", text));
        let (workspace, diagnostics) = read("[http]\nmax_connections = 9\nkeep_alive_timeout_ms = 86_400_000\n");
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert_eq!((workspace.http.connections, workspace.http.idle_ms), (Some(9), Some(86_400_000)));
        for wrong in
            ["max_connections = 0", "max_connections = 65_537", "write_timeout_ms = 86_400_001", "body_timeout_ms = -1"]
        {
            let (workspace, diagnostics) = read(&format!("[http]\n{wrong}\n"));
            assert!(diagnostics[0].to_string().contains("(an integer from 1 to "), "{wrong}: {diagnostics:?}");
            assert_eq!(workspace.http, HttpOverride::default(), "{wrong}");
        }
    }

    #[test]
    fn its_diagnostics_have_locations() {
        let (_, diagnostics) = read_workspace(&Source::new("toolsd.toml", "[servr]\n[limits]\ntime_ms = 0\n"));
        let said: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(said[0], "toolsd.toml:1:2: toolsd.toml has no key `servr` (did you mean `serve`?)");
        assert_eq!(said[1], "toolsd.toml:3:11: `time_ms` cannot be 0 (an integer, 1 or more)");
    }
}
