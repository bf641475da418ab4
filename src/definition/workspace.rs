//! Reads `toolsd.toml`: what a workspace says about the packs that serve it.

use super::{Dates, Fields, LimitsOverride, Located, Schema, TomlNode, WORKSPACE, icons, limits, parse};
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::value::Json;
use std::sync::Arc;

/// `toolsd.toml`.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// The packs that serve, exactly these; nothing = those whose `when` fits.
    pub serve: Option<Vec<Located<String>>>,
    /// `[packs.NAME]`: the configuration of each pack, checked by whoever knows its schema.
    pub packs: Vec<(Located<String>, Written)>,
    /// What is put before the names of a pack's tools, resources and prompts.
    pub prefixes: Vec<(Located<String>, String)>,
    /// Further folders that packs may be granted.
    pub roots: Vec<Located<String>>,
    /// The limits of every call.
    pub limits: LimitsOverride,
    /// What the server says of itself.
    pub server: Server,
    /// What connections over HTTP may use.
    pub http: HttpOverride,
}

/// JSON that was written in TOML, and the place of each part.
pub type Written = Schema;

/// `[server]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Server {
    /// Its name.
    pub name: Option<String>,
    /// A title for people.
    pub title: Option<String>,
    /// Where to read about it.
    pub website_url: Option<String>,
    /// Icons.
    pub icons: Vec<Json>,
    /// How many entries a page of a list has; nothing = all.
    pub page_size: Option<u64>,
    /// For how long a client may keep the lists, in milliseconds.
    pub lists_ttl_ms: Option<u64>,
}

/// `[http]`: what is nothing stays as it usually is. Times are in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HttpOverride {
    /// Connections that have not shown the token yet.
    pub unproven: Option<u64>,
    /// Of these, connections from one address.
    pub unproven_per_address: Option<u64>,
    /// How long a connection may take to show the token.
    pub unproven_ms: Option<u64>,
    /// Connections that have shown the token.
    pub connections: Option<u64>,
    /// How long a head may take.
    pub head_ms: Option<u64>,
    /// How long a body may take.
    pub body_ms: Option<u64>,
    /// How long a body may pause.
    pub body_pause_ms: Option<u64>,
    /// How long a client may take nothing.
    pub write_ms: Option<u64>,
    /// How long a connection may be silent between requests.
    pub idle_ms: Option<u64>,
    /// Megabytes of bodies and answers that wait.
    pub pending_mb: Option<u64>,
    /// Sessions.
    pub sessions: Option<u64>,
}

/// Reads a `toolsd.toml` to its end. What could be read is returned, whatever else is wrong with it.
pub fn read_workspace(source: &Arc<Source>) -> (Workspace, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let tree = parse(source, Dates::Refused, &mut faults);
    let file = Fields::open(&tree, &WORKSPACE, &mut faults);
    let mut workspace = Workspace {
        serve: file.has("serve").then(|| file.located_texts("serve")),
        roots: file.located_texts("roots"),
        limits: limits(&file, &mut faults),
        server: server(&file, &mut faults),
        http: http(&file, &mut faults),
        ..Workspace::default()
    };
    for entry in file.node("packs").map(TomlNode::entries).unwrap_or_default() {
        let name = Located { value: entry.key.clone(), at: entry.at.clone() };
        workspace.packs.push((name, Schema::of(&entry.node)));
    }
    for entry in file.node("prefixes").map(TomlNode::entries).unwrap_or_default() {
        let name = Located { value: entry.key.clone(), at: entry.at.clone() };
        workspace.prefixes.push((name, entry.node.text().unwrap_or_default().to_owned()));
    }
    faults.sort_by_key(|fault| fault.at.as_ref().map_or(0, |at| at.span.start));
    (workspace, faults)
}

fn server(file: &Fields<'_>, faults: &mut Vec<Diagnostic>) -> Server {
    let Some(server) = file.table("server", faults) else { return Server::default() };
    Server {
        name: server.text("name"),
        title: server.text("title"),
        website_url: server.text("website_url"),
        icons: icons(&server, faults),
        page_size: server.integer("page_size"),
        lists_ttl_ms: server.integer("lists_ttl_ms"),
    }
}

fn http(file: &Fields<'_>, faults: &mut Vec<Diagnostic>) -> HttpOverride {
    let Some(http) = file.table("http", faults) else { return HttpOverride::default() };
    HttpOverride {
        unproven: http.integer("unproven"),
        unproven_per_address: http.integer("unproven_per_address"),
        unproven_ms: http.integer("unproven_ms"),
        connections: http.integer("connections"),
        head_ms: http.integer("head_ms"),
        body_ms: http.integer("body_ms"),
        body_pause_ms: http.integer("body_pause_ms"),
        write_ms: http.integer("write_ms"),
        idle_ms: http.integer("idle_ms"),
        pending_mb: http.integer("pending_mb"),
        sessions: http.integer("sessions"),
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
        let (workspace, faults) = read("[http]\nconnections = 9\nidle_ms = 86_400_000\n");
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!((workspace.http.connections, workspace.http.idle_ms), (Some(9), Some(86_400_000)));
        for wrong in ["connections = 0", "connections = 65_537", "write_ms = 86_400_001", "pending_mb = -1"] {
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
