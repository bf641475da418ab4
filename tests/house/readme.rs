//! README.md, docs/http.md and docs/security.md tell the truth: commands are run, blocks are used, tables name what
//! exists.

use crate::pages::{blocks, page, root};
use crate::support::home::Home;
use crate::support::http;
use crate::support::server::Server;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Stdio;
use toolsd::primitives;

/// The pages, and how many lines each may have.
const PAGES: [(&str, usize); 3] = [("README.md", 110), ("docs/http.md", 130), ("docs/security.md", 155)];

/// How many words README.md may have.
const MAX_WORDS: usize = 900;

/// A file of the workspace that README.md describes by its output only.
const FILES: [(&str, &str); 1] = [("src/main.rs", "fn main() {\n    // TODO: parse the arguments\n}\n")];

/// Commands of a console that are not run here, and why.
const EXEMPT: &[(&str, &str)] = &[("cargo test", "it is what runs this test")];

/// Commands in the text that are not run here, and why.
const EXEMPT_IN_TEXT: &[(&str, &str)] = &[("cargo install --path .", "it would build the release profile")];

/// The beginnings of the commands of clients, which are not installed here: the server that they name is started.
const CLIENTS: &[&str] = &["claude ", "gemini "];

/// The address in docs/http.md. The server of a test listens at a free port of it.
const ADDRESS: &str = "127.0.0.1:8000";

fn readme() -> String {
    page("README.md")
}

/// The text of a page outside of fenced blocks.
fn prose(text: &str) -> String {
    text.split("\n```").step_by(2).collect::<Vec<_>>().join("\n")
}

/// The text in backticks outside of fenced blocks.
fn spans(text: &str) -> Vec<String> {
    let mut spans = Vec::new();
    for line in prose(text).lines() {
        assert!(line.matches('`').count().is_multiple_of(2), "a backtick of this line is not closed: {line}");
        spans.extend(line.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    spans
}

/// The section below a heading.
fn section(text: &str, heading: &str) -> String {
    let section = text.split(&format!("## {heading}\n")).nth(1).unwrap_or_else(|| panic!("no section `{heading}`"));
    section.split("\n## ").next().unwrap().to_owned()
}

/// The commands of a console block, and what each prints.
fn console(text: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((_, output))) => output.push_str(&format!("{line}\n")),
            (None, None) => panic!("a console begins with a command, not with `{line}`"),
        }
    }
    commands
}

/// Runs a page from its beginning to its end, in one home.
struct PageRun {
    name: &'static str,
    home: Home,
    http: Option<http::Server>,
}

impl PageRun {
    fn all(name: &'static str) {
        let mut run = Self { name, home: Home::with(&FILES), http: None };
        for (info, text) in blocks(name) {
            match (info.as_str(), info.split_once(' ')) {
                ("console", _) => console(&text).iter().for_each(|(command, output)| run.command(command, output)),
                ("ini", _) => run.unit(&text),
                ("json", _) => run.client_configuration(&text),
                (_, Some(("json", call))) => run.call(call, &text),
                (_, Some(("toml", "toolsd.toml"))) => run.settings(&text),
                (_, Some(("toml" | "rhai", path))) => run.home.write(path, &text),
                _ => panic!("{name}: no test knows what to do with a block of `{info}`"),
            }
        }
        run.end_http();
    }

    fn end_http(&mut self) {
        if let Some(server) = self.http.take() {
            Self::end(server);
        }
    }

    /// Ends a server as a service manager does.
    fn end(mut server: http::Server) {
        server.signal("TERM");
        assert_eq!(server.wait().code(), Some(0));
    }

    /// Starts the server of a page at a free port.
    fn serve(&self, words: &[String], variables: &[(&str, &str)]) -> http::Server {
        assert!(words.iter().any(|word| word == ADDRESS), "the page serves {ADDRESS}, not {words:?}");
        let mut command = self.home.command();
        command.args(words.iter().map(|word| word.replace(ADDRESS, "127.0.0.1:0"))).envs(variables.iter().copied());
        http::Server::from_command(&mut command, &self.home, &[])
    }

    /// The words of a command; `~` is the home folder.
    fn words(&self, command: &str) -> Vec<String> {
        let user = self.home.user();
        let expanded = |word: &str| match word.strip_prefix("~/") {
            Some(rest) => user.join(rest).to_str().unwrap().to_owned(),
            None => word.to_owned(),
        };
        command.split_whitespace().map(expanded).collect()
    }

    /// Runs a command of a console and compares what it prints with the page.
    fn command(&mut self, command: &str, expected: &str) {
        if EXEMPT.iter().any(|(exempt, _)| *exempt == command) {
            return;
        }
        if let Some(arguments) = command.strip_prefix("cargo run -- ") {
            let output = self.home.command().args(self.words(arguments)).current_dir(root()).output().unwrap();
            let rows = String::from_utf8(output.stdout).unwrap().lines().count();
            assert!(output.status.success() && rows > 20, "`{command}` prints {rows} rows");
            return;
        }
        let Some(arguments) = command.strip_prefix("toolsd ") else { return self.shell(command, expected) };
        let words = self.words(arguments);
        if arguments.starts_with("serve --http ") {
            self.end_http();
            self.http = Some(self.serve(&words, &[]));
            return;
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let asks = words[0] == "trust" && !words.contains(&"--revoke");
        // It asks, and a person answers at a terminal.
        let said = if asks { self.home.at_terminal(&words, "y") } else { self.home.run(&words) };
        let code = i32::from(expected.starts_with("{\"error\":"));
        assert_eq!((said.code, said.out.as_str()), (code, expected), "{}: $ {command}\n{}", self.name, said.err);
    }

    /// Runs a line of a shell against the server that the page started last.
    fn shell(&self, command: &str, expected: &str) {
        let address = self.http.as_ref().map_or_else(|| ADDRESS.to_owned(), |server| server.address.to_string());
        let line = command.replace(ADDRESS, &address);
        let output = self.home.command_of("sh").args(["-c", &line]).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: $ {line}\n{errors}", self.name);
        assert_eq!(String::from_utf8(output.stdout).unwrap().trim_end(), expected.trim_end(), "$ {line}\n{errors}");
    }

    /// Sends a request as a client does, such as `tools/call list_todos`, and compares its result with the page.
    fn call(&self, call: &str, expected: &str) {
        let tool = call.strip_prefix("tools/call ").unwrap();
        let mut server = Server::start(&self.home, &[]);
        let answer = server.ask("tools/call", &json!({ "name": tool, "arguments": {} }));
        server.end();
        assert_eq!(answer["result"], serde_json::from_str::<Value>(expected).unwrap());
    }

    /// Checks the configuration of a client that connects over HTTP.
    fn client_configuration(&self, text: &str) {
        let config: Value = serde_json::from_str(text).unwrap();
        let server = &config["mcpServers"]["toolsd"];
        assert_eq!(server["url"], json!(format!("http://{ADDRESS}/mcp")));
        assert_eq!(server["headers"]["Authorization"], json!("Bearer TOKEN"));
    }

    /// Writes the settings of the workspace; what they ask for is shown.
    fn settings(&self, text: &str) {
        self.home.write("toolsd.toml", text);
        let shown = self.home.run(&["trust", "--yes"]).ended(0).out;
        let mut table = "";
        for line in text.lines() {
            match line.starts_with('[') {
                true => table = line,
                false => assert!(shown.contains(&format!("{table} {line}")), "`{line}` is not used: {shown}"),
            }
        }
    }

    /// Starts the service of a unit with its credential, reloads it, and ends it.
    fn unit(&mut self, text: &str) {
        self.end_http();
        let keys = text.lines().filter_map(|line| line.split_once('=')).collect::<Vec<_>>();
        let value = |key: &str| keys.iter().find(|(name, _)| *name == key).unwrap_or_else(|| panic!("no `{key}`")).1;
        let credentials = self.home.user().join("credentials");
        fs::create_dir_all(&credentials).unwrap();
        let credential = credentials.join(value("LoadCredential").split(':').next().unwrap());
        fs::copy(self.home.user().join("toolsd-token"), credential).unwrap();
        let (program, arguments) = value("ExecStart").split_once(' ').unwrap();
        assert!(program.ends_with("/toolsd"));
        let variables = [("CREDENTIALS_DIRECTORY", credentials.to_str().unwrap())];
        let server = self.serve(&self.words(arguments), &variables);
        let refused = format!("curl -s http://{}/mcp -d {{}}", server.address);
        self.shell(&refused, "Unauthorized: send the bearer token of this server");
        assert_eq!(value("ExecReload"), "/bin/kill -HUP $MAINPID");
        server.signal("HUP");
        server.logs("reloaded the settings and the token");
        Self::end(server);
    }
}

// The tests are all that there is of this promise, so they stand for both.
//= docs/spec.md#traceability
//= type=implication
//# Every command, snippet and quotation of the README and the guide MUST be checked by a test.
//= docs/spec.md#traceability
//= type=test
//# Every command, snippet and quotation of the README and the guide MUST be checked by a test.
#[test]
fn the_blocks_of_the_readme_do_what_they_show() {
    PageRun::all("README.md");
}

#[test]
fn the_blocks_of_the_http_page_do_what_they_show() {
    PageRun::all("docs/http.md");
}

#[test]
fn the_blocks_of_the_security_page_do_what_they_show() {
    PageRun::all("docs/security.md");
}

#[test]
fn the_pages_stay_short() {
    for (name, max) in PAGES {
        let lines = page(name).lines().count();
        assert!(lines <= max, "{name} has {lines} lines, at most {max}");
    }
    let words = readme().split_whitespace().count();
    assert!(words <= MAX_WORDS, "README.md has {words} words, at most {MAX_WORDS}");
}

/// Every server that a configuration names: the arguments of `toolsd`.
fn servers(config: &Value, found: &mut Vec<Vec<String>>) {
    if config["command"] == json!("toolsd") {
        let arguments = config["args"].as_array().expect("a server has `args`");
        found.push(arguments.iter().map(|word| word.as_str().unwrap().to_owned()).collect());
    }
    config.as_object().into_iter().flat_map(|map| map.values()).for_each(|inner| servers(inner, found));
}

#[test]
fn the_servers_of_all_client_configurations_start() {
    let mut found = Vec::new();
    let rows = section(&readme(), "Install");
    for row in rows.lines().filter(|line| line.starts_with("| ")) {
        let spans = spans(row);
        let is_toml = |span: &&str| span.starts_with('[') || span.contains(" = ");
        let lines: Vec<&str> = spans.iter().map(String::as_str).filter(is_toml).collect();
        servers(&toml::from_str(&lines.join("\n")).unwrap(), &mut found);
        for span in &spans {
            if span.starts_with('{') {
                servers(&serde_json::from_str(span).unwrap_or_else(|error| panic!("{span}: {error}")), &mut found);
            } else if CLIENTS.iter().any(|client| span.starts_with(client)) {
                let arguments = span.rsplit_once("toolsd ").unwrap().1;
                found.push(arguments.split(' ').map(str::to_owned).collect());
            }
        }
    }
    assert_eq!(found.len(), 5, "{found:?}");
    let home = Home::with(&[]);
    let workspace = home.workspace();
    for arguments in found {
        let place = |word: &String| word.replace("/path/to/project", workspace.to_str().unwrap());
        let output = home.command().args(arguments.iter().map(place)).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The subcommands of the binary.
fn commands(home: &Home) -> BTreeSet<String> {
    let help = home.run(&["--help"]).ended(0).out;
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).filter(|name| name != "help").collect()
}

#[test]
fn every_command_and_option_in_the_text_exists() {
    let home = Home::with(&[]);
    let options = |text: &str| -> BTreeSet<String> {
        let words = text.split(|letter: char| !(letter.is_ascii_lowercase() || letter == '-'));
        words.filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_owned).collect()
    };
    let mut known = BTreeMap::new();
    for command in commands(&home) {
        let own = options(&home.run(&[command.as_str(), "--help"]).ended(0).out);
        known.insert(command, own);
    }
    for (name, _) in PAGES {
        for span in spans(&page(name)) {
            let named = options(&span);
            if let Some(words) = span.strip_prefix("toolsd ") {
                let command = words.split(' ').next().unwrap();
                let own = known.get(command).unwrap_or_else(|| panic!("{name}: `{span}`: there is no such command"));
                assert!(named.is_subset(own), "{name}: `{span}`: there is no such option");
            } else if span.starts_with("cargo ") {
                assert!(EXEMPT_IN_TEXT.iter().any(|(exempt, _)| *exempt == span), "{name}: `{span}` is not run");
            } else if span.starts_with("--") {
                assert!(known.values().any(|own| named.is_subset(own)), "{name}: `{span}`: there is no such option");
            }
        }
    }
}

#[test]
fn every_link_of_the_pages_resolves() {
    for (name, _) in PAGES {
        let folder = root().join(name).parent().unwrap().to_owned();
        let text = prose(&page(name));
        let links = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
        for link in links.filter(|link| !link.starts_with("https://")) {
            let path = link.split('#').next().unwrap();
            assert!(folder.join(path).exists(), "{name} links to {link}");
        }
    }
}

#[test]
fn the_table_of_packs_is_that_of_the_binary() {
    let section = section(&readme(), "Packs in the binary");
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| `")).collect();
    let mut packs = BTreeSet::new();
    let mut markers = 0;
    for entry in fs::read_dir(root().join("tools.d")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let pack: Value = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            let row = rows.iter().find(|row| row.starts_with(&format!("| `{name}` "))).copied().unwrap_or_default();
            let active_if = pack["pack"]["activate_if_exists"]
                .as_array()
                .unwrap_or_else(|| panic!("{name}: no `activate_if_exists`"));
            for marker in active_if.iter().map(|marker| marker.as_str().unwrap()) {
                assert!(row.contains(&format!("`{marker}`")), "the row of `{name}` does not name `{marker}`");
                markers += 1;
            }
            if active_if.is_empty() {
                assert!(row.contains(&format!("`--pack {name}`")), "the row of `{name}` does not say how to serve it");
            }
            packs.insert(name);
        }
    }
    assert!(markers >= packs.len() - 1, "{markers} markers of {packs:?}");
    assert_eq!(rows.iter().map(|row| row.split('`').nth(1).unwrap().to_owned()).collect::<BTreeSet<_>>(), packs);
}

#[test]
fn the_revisions_are_those_that_the_server_has() {
    let text = readme();
    let row = text.lines().find(|line| line.starts_with("| MCP revisions |")).expect("a row of revisions");
    let is_date = |word: &&str| word.len() == 10 && word.starts_with("20");
    let named: Vec<&str> = row.split([' ', ',']).filter(is_date).collect();
    let home = Home::with(&[]);
    let mut server = Server::start_modern(&home, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let answer = server.ask("server/discover", &json!({ "_meta": meta }));
    assert_eq!(answer["result"]["supportedVersions"], json!(named));
    server.end();
}

#[test]
fn the_version_of_rust_is_the_one_that_is_needed() {
    let manifest: Value = toml::from_str(&fs::read_to_string(root().join("Cargo.toml")).unwrap()).unwrap();
    let version = manifest["package"]["rust-version"].as_str().unwrap();
    assert!(readme().contains(&format!("Rust {version} or later")), "README.md does not ask for Rust {version}");
}

#[test]
fn primitives_are_counted_and_their_table_is_elsewhere() {
    let text = readme();
    assert!(text.contains(&format!("{} [primitives](docs/primitives.md)", primitives::ALL.len())));
    assert!(!text.contains("<!-- primitives -->") && !text.contains("| family |"));
}
