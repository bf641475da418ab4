//! `toolsd.toml`: what a workspace says about the packs that serve it, its keys, and how it is read.

use super::fields::Fields;
use super::grammar::{Grammar, ValueShape, optional};
use super::icon::{ICON, read_icons};
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
    /// The packs that serve, exactly these; if absent, those whose `activate_if_exists` fits.
    pub serve: Option<Vec<Located<String>>>,
    /// `[packs.NAME]`: the configuration of each pack. The registry checks it by the schema of the pack.
    pub packs: Vec<(Located<String>, Schema)>,
    /// What is put before the names of a pack's tools, resources and prompts.
    pub prefixes: Vec<(Located<String>, String)>,
    /// Further folders that packs may be granted.
    pub roots: Vec<Located<String>>,
    /// The limits of every call.
    pub limits: LimitsOverride,
    /// What the server says of itself.
    pub server: ServerDefinition,
    /// What connections over HTTP may use.
    pub http: HttpOverride,
}

/// `[server]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerDefinition {
    /// Its name.
    pub name: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// Where to read about it.
    pub website_url: Option<String>,
    /// Icons.
    pub icons: Vec<Json>,
    /// How many entries a page of a list has; if absent, all.
    pub page_size: Option<u64>,
    /// For how long a client may keep the lists, in milliseconds.
    pub lists_ttl_ms: Option<u64>,
    /// `full` or `lean`: what the list of tools says of each.
    pub lists: Option<String>,
    /// `whole` or `short`: how much of data a result repeats as text.
    pub result_text: Option<String>,
}

/// `[http]`: an absent value leaves the default. Times are in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpOverride {
    /// Connections.
    pub connections: Option<u64>,
    /// How long a body may take.
    pub body_ms: Option<u64>,
    /// How long a client may take nothing.
    pub write_ms: Option<u64>,
    /// How long a connection may take for the head of its next request.
    pub idle_ms: Option<u64>,
    /// Sessions.
    pub sessions: Option<u64>,
}

/// `toolsd.toml`.
pub static WORKSPACE: Grammar = Grammar {
    name: "toolsd.toml",
    doc: "What a workspace says about the packs that serve it. Until `toolsd trust` has shown it to a person, only `packs` and `limits` count, and these not in full.",
    keys: &[
        optional(
            "serve",
            ValueShape::Texts,
            "The packs that serve, exactly these; left out = those whose `activate_if_exists` fits. Not used before the file is trusted.",
        ),
        optional(
            "packs",
            ValueShape::Named,
            "The configuration of each pack: `[packs.NAME]`, checked by the pack's schema. Paths (`format = \"path\"`) are not used before the file is trusted.",
        ),
        optional(
            "prefixes",
            ValueShape::TextMap,
            "What is put before the names of a pack's tools, resources and prompts. Not used before the file is trusted.",
        ),
        optional(
            "roots",
            ValueShape::Texts,
            "Further folders that packs may be granted. Not used before the file is trusted.",
        ),
        optional(
            "limits",
            ValueShape::Table(&LIMITS),
            "The limits of every call. Before the file is trusted they only lower what holds without it.",
        ),
        optional(
            "server",
            ValueShape::Table(&SERVER),
            "What the server says of itself. Not used before the file is trusted.",
        ),
        optional(
            "http",
            ValueShape::Table(&HTTP),
            "What connections over HTTP may use. Not used before the file is trusted.",
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
    doc: "What connections over HTTP may use; read from a trusted file, and again at SIGHUP.",
    keys: &[
        optional("max_connections", COUNT, "Connections that are open; 1,024 if it is left out."),
        optional("body_timeout_ms", TIME, "How long the body of a request may take; 60,000 if it is left out."),
        optional(
            "write_timeout_ms",
            TIME,
            "How long a client may take nothing of what is sent to it; 20,000 if it is left out.",
        ),
        optional(
            "keep_alive_timeout_ms",
            TIME,
            "How long a connection may take for the head of its next request, silence included; 75,000 if it is left out.",
        ),
        optional(
            "max_sessions",
            COUNT,
            "Sessions of clients of the revisions that have them; 1,000 if it is left out.",
        ),
    ],
};

/// The value of `lists` that leaves out what a model does not need.
const LEAN: &str = "lean";

/// The value of `result_text` that cuts the text of data.
const SHORT: &str = "short";

impl ServerDefinition {
    /// Whether the list of tools leaves out what a model does not need.
    pub fn has_lean_lists(&self) -> bool {
        self.lists.as_deref() == Some(LEAN)
    }

    /// Whether a result repeats only the beginning of its data as text.
    pub fn has_short_text(&self) -> bool {
        self.result_text.as_deref() == Some(SHORT)
    }
}

/// `[server]`.
static SERVER: Grammar = Grammar {
    name: "[server]",
    doc: "What the server says of itself.",
    keys: &[
        optional("name", ValueShape::Text, "Its name; `toolsd` if it is left out."),
        optional("title", ValueShape::Text, "A title for people; the pack's if one serves."),
        optional("website_url", ValueShape::Text, "Where to read about it."),
        optional("icons", ValueShape::Tables(&ICON), "Icons for people."),
        optional(
            "page_size",
            ValueShape::Integer(1),
            "How many entries a page of a list has; left out = 100 resources or skills, all others.",
        ),
        optional("lists_ttl_ms", ValueShape::Integer(0), "For how long a client may keep the lists, in milliseconds."),
        optional(
            "lists",
            ValueShape::OneOf(&["full", LEAN]),
            "`lean` lists tools without titles, output schemas, `_meta`, `additionalProperties: false`, and of annotations only that a tool reads or destroys nothing; `full` if it is left out; `toolsd cost` shows what either takes.",
        ),
        optional(
            "result_text",
            ValueShape::OneOf(&["whole", SHORT]),
            "`short` repeats only the first 50 lines of `structuredContent` as text, for clients that show both to the model; `whole` if it is left out.",
        ),
    ],
};

/// Reads a `toolsd.toml` to its end. Returns what could be read, and every fault.
pub fn read_workspace(source: &Arc<Source>) -> (WorkspaceDefinition, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let tree = parse(source, Dates::Refused, &mut faults);
    let file = Fields::open(&tree, &WORKSPACE, &mut faults);
    let mut workspace = WorkspaceDefinition {
        serve: file.has("serve").then(|| file.located_texts("serve")),
        roots: file.located_texts("roots"),
        limits: read_limits(&file, &mut faults),
        server: read_server(&file, &mut faults),
        http: read_http(&file, &mut faults),
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
    faults.sort_by_key(|fault| fault.at.as_ref().map_or(0, |at| at.span.start));
    (workspace, faults)
}

fn read_server(file: &Fields<'_>, faults: &mut Vec<Diagnostic>) -> ServerDefinition {
    let Some(server) = file.table("server", faults) else { return ServerDefinition::default() };
    ServerDefinition {
        name: server.text("name"),
        title: server.text("title"),
        website_url: server.text("website_url"),
        icons: read_icons(&server, faults),
        page_size: server.integer("page_size"),
        lists_ttl_ms: server.integer("lists_ttl_ms"),
        lists: server.text("lists"),
        result_text: server.text("result_text"),
    }
}

fn read_http(file: &Fields<'_>, faults: &mut Vec<Diagnostic>) -> HttpOverride {
    let Some(http) = file.table("http", faults) else { return HttpOverride::default() };
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
        let (workspace, faults) = read_workspace(&Source::new("toolsd.toml", text));
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(workspace.serve.unwrap()[0].value, "a");
        assert_eq!(*workspace.packs[0].1.json, serde_json::json!({ "level": 1 }));
        assert_eq!(workspace.packs[0].1.place("/level").unwrap().to_string(), "toolsd.toml:4:9");
        assert_eq!(workspace.prefixes[0].1, "a_");
        assert_eq!((workspace.limits.time_ms, workspace.server.page_size), (Some(5), Some(3)));
    }

    #[test]
    fn limits_of_connections_have_ranges() {
        let read = |text: &str| read_workspace(&Source::new("toolsd.toml", text));
        let (workspace, faults) = read("[http]\nmax_connections = 9\nkeep_alive_timeout_ms = 86_400_000\n");
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!((workspace.http.connections, workspace.http.idle_ms), (Some(9), Some(86_400_000)));
        for wrong in
            ["max_connections = 0", "max_connections = 65_537", "write_timeout_ms = 86_400_001", "body_timeout_ms = -1"]
        {
            let (workspace, faults) = read(&format!("[http]\n{wrong}\n"));
            assert!(faults[0].to_string().contains("(an integer from 1 to "), "{wrong}: {faults:?}");
            assert_eq!(workspace.http, HttpOverride::default(), "{wrong}");
        }
    }

    #[test]
    fn its_faults_have_places() {
        let (_, faults) = read_workspace(&Source::new("toolsd.toml", "[servr]\n[limits]\ntime_ms = 0\n"));
        let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
        assert_eq!(said[0], "toolsd.toml:1:2: toolsd.toml has no key `servr` (did you mean `serve`?)");
        assert_eq!(said[1], "toolsd.toml:3:11: `time_ms` cannot be 0 (an integer, 1 or more)");
    }
}
