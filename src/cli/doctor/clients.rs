//! The configurations of clients that name this server: whether the program and the workspace in them exist.

use super::checks::Finding;
use crate::cli::command_line::{CliCommand, CommandLine};
use crate::cli::context::{CommandContext, environment_variable};
use crate::cli::options::SandboxChoice;
use crate::diagnostic::Diagnostic;
use crate::registry::NO_PACK;
use crate::value::Json;
use crate::world::disk::{Disk, home_folder};
use crate::world::{Files, Programs, World, path};
use clap::Parser;
use std::sync::Arc;

/// Where clients keep their servers: in a project …
const PROJECT_CONFIGS: [(&str, &str); 5] = [
    ("Claude Code", ".mcp.json"),
    ("VS Code", ".vscode/mcp.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("Gemini CLI", ".gemini/settings.json"),
    ("Codex", ".codex/config.toml"),
];

/// … and in the home folder.
const HOME_CONFIGS: [(&str, &str); 9] = [
    ("Claude Code", ".claude.json"),
    ("Claude Desktop", ".config/Claude/claude_desktop_config.json"),
    ("Claude Desktop", "Library/Application Support/Claude/claude_desktop_config.json"),
    ("Cursor", ".cursor/mcp.json"),
    ("Windsurf", ".codeium/windsurf/mcp_config.json"),
    ("Gemini CLI", ".gemini/settings.json"),
    ("Codex", ".codex/config.toml"),
    ("VS Code", ".config/Code/User/mcp.json"),
    ("VS Code", "Library/Application Support/Code/User/mcp.json"),
];

/// Deeper tables are not servers.
const MAX_DEPTH: usize = 8;

/// Every server of ours in a configuration that is found.
pub fn clients(context: &CommandContext) -> Vec<Finding> {
    let Ok(disk) = Disk::new("/", []) else { return Vec::new() };
    let root = context.workspace.root();
    let mut places: Vec<(&str, String)> =
        PROJECT_CONFIGS.iter().map(|(client, file)| (*client, path::join(root, file))).collect();
    let home = home_folder();
    places.extend(
        home.iter().flat_map(|home| HOME_CONFIGS.iter().map(move |(client, file)| (*client, path::join(home, file)))),
    );
    let mut findings = Vec::new();
    for (client, file) in places {
        match disk.stat(&file) {
            Ok(None) => continue,
            Ok(Some(_)) => {}
            Err(diagnostic) => {
                findings.push(Finding::note("client", format!("{client}: {}", diagnostic.message)));
                continue;
            }
        }
        let read = disk.read(&file).map_err(|diagnostic| diagnostic.message.clone());
        match read.and_then(|bytes| parse_config(&file, &bytes)) {
            Ok(tree) => visit_servers(&tree, root, 0, &mut |key, name, server| {
                findings.extend(check_entry(context, &disk, (client, &file, key), name, server));
            }),
            Err(why) => findings.push(Finding::note("client", format!("{client}: `{file}` cannot be read: {why}"))),
        }
    }
    if findings.is_empty() {
        let next = "`claude mcp add toolsd -- toolsd serve`, or as the README says for other clients";
        findings.push(Finding::note("client", "no client is configured to start this server here").next(next));
    }
    findings
}

fn parse_config(file: &str, bytes: &[u8]) -> Result<Json, String> {
    let text = String::from_utf8_lossy(bytes);
    match file.ends_with(".toml") {
        true => toml::from_str(&text).map_err(|diagnostic| diagnostic.message().to_owned()),
        // These read their files so; the others do not.
        false if [".vscode/", "/Code/User/", ".gemini/"].iter().any(|part| file.contains(part)) => {
            serde_json::from_str(&strip_comments(&text)).map_err(|diagnostic| diagnostic.to_string())
        }
        false => serde_json::from_str(&text).map_err(|diagnostic| diagnostic.to_string()),
    }
}

/// Visits every entry of a table of servers, with the key of the table. Each project, named by its folder, may have its
/// own table.
fn visit_servers(tree: &Json, workspace: &str, depth: usize, visit: &mut impl FnMut(&str, &str, &Json)) {
    if depth > MAX_DEPTH {
        return;
    }
    for (key, value) in tree.as_object().into_iter().flatten() {
        if ["mcpServers", "servers", "mcp_servers"].contains(&key.as_str()) {
            value.as_object().into_iter().flatten().for_each(|(name, server)| visit(key, name, server));
        } else if !path::is_absolute(key) || path::is_below(workspace, &path::clean(key)) {
            visit_servers(value, workspace, depth + 1, visit);
        }
    }
}

/// The only key under which a client reads its servers.
fn key_of_servers(client: &str) -> &'static str {
    match client {
        "VS Code" => "servers",
        "Codex" => "mcp_servers",
        _ => "mcpServers",
    }
}

/// How an entry that is meant for toolsd starts it.
enum Start<'a> {
    /// By itself or with a runner of packages, with these arguments.
    Direct(Vec<&'a str>),
    /// With a program whose arguments are not known here, such as a shell or a container.
    Other,
}

/// How an entry starts toolsd; `None` if it is not meant for it.
fn find_start<'a>(name: &'a str, server: &'a Json) -> Option<Start<'a>> {
    let command = server.get("command")?.as_str()?;
    let words = server.get("args").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let is_package = |word: &&str| *word == "toolsd" || word.starts_with("toolsd@");
    match path::name(command) {
        "toolsd" => return Some(Start::Direct(words.collect())),
        "npx" | "uvx" if words.clone().any(|word| is_package(&word)) => {
            // The package and its program may both be named: `--package toolsd@0.1.0 toolsd`.
            let own = words.skip_while(|word| !is_package(word)).skip_while(is_package);
            return Some(Start::Direct(own.collect()));
        }
        _ => {}
    }
    // An argument that is a path may be a folder of this name, which another server serves.
    let mut mentions = words.filter(|word| !word.starts_with(['/', '~', '.'])).chain([name, command]);
    mentions.any(|word| word.contains("toolsd")).then_some(Start::Other)
}

/// The finding of an entry that is meant for toolsd.
fn check_entry(
    context: &CommandContext,
    disk: &Disk,
    (client, file, key): (&str, &str, &str),
    name: &str,
    server: &Json,
) -> Option<Finding> {
    let start = find_start(name, server)?;
    let wanted = key_of_servers(client);
    if key != wanted {
        let what = format!("{client}, `{file}`: the server `{name}` is under `{key}`, which {client} does not read");
        return Some(Finding::broken("client", what).next(format!("move it to `{wanted}`")));
    }
    Some(check_server(context, disk, &format!("{client}, `{file}`: the server `{name}`"), server, &start))
}

/// The finding of a program that a client cannot start.
fn missing_program(subject: &str, command: &str, diagnostic: &Diagnostic) -> Finding {
    let words: Vec<&str> = command.split_whitespace().collect();
    let next = match words.as_slice() {
        [program, args @ ..] if !args.is_empty() && !path::is_absolute(command) => {
            format!("`command` is the program alone: `\"command\": \"{program}\", \"args\": {}`", Json::from(args))
        }
        _ => {
            let own = diagnostic.help.as_ref().map(|help| format!("{help}; ")).unwrap_or_default();
            match path::name(command) {
                "toolsd" => {
                    format!("{own}`cargo install --path .` puts it into the `PATH`, or name it by its absolute path")
                }
                _ => format!("{own}an installed server starts with `\"command\": \"toolsd\", \"args\": [\"serve\"]`"),
            }
        }
    };
    Finding::broken("client", format!("{subject} names `{command}`: {}", diagnostic.message)).next(next)
}

fn check_server(context: &CommandContext, disk: &Disk, subject: &str, server: &Json, start: &Start<'_>) -> Finding {
    let says = |what: String| format!("{subject} {what}");
    let command = server.get("command").and_then(Json::as_str).unwrap_or_default();
    // The client searches its own `PATH`, which only the client knows.
    let program = match disk.program(command) {
        Ok(program) => program.path,
        Err(diagnostic) => return missing_program(subject, command, &diagnostic),
    };
    let Start::Direct(words) = start else {
        let next = "`\"command\": \"toolsd\", \"args\": [\"serve\"]` starts this server itself";
        return Finding::note("client", says(format!("starts `{program}`, whose arguments are not checked")))
            .next(next);
    };
    let line = match parse_arguments(words.iter().copied()) {
        Ok(line) => line,
        Err(why) => {
            return Finding::broken("client", says(format!("is not started by its arguments: {why}")))
                .next("the arguments begin with `serve`; `toolsd serve --help` lists the others");
        }
    };
    if let Some((what, next)) = find_breakage(context, disk, server, &line) {
        return Finding::broken("client", says(what)).next(next);
    }
    if let Some((what, next)) = find_weakness(server, &line) {
        return Finding::note("client", says(what)).next(next);
    }
    let folder = line.options.workspace.as_deref().or_else(|| working_folder(server));
    let place = folder.map_or("the folder that the client works in".to_owned(), |folder| format!("`{folder}`"));
    Finding::ok("client", says(format!("starts `{program}` in {place}")))
}

/// Why the server does not start or does not serve what it names, and the next step.
fn find_breakage(context: &CommandContext, disk: &Disk, server: &Json, line: &CommandLine) -> Option<(String, String)> {
    let CliCommand::Serve(serve) = &line.command else { return None };
    if let Some((option, at)) = missing_path(disk, line) {
        let next = format!("correct `{option}`: the server does not start");
        return Some((format!("names `{option} {at}`, and there is no `{at}`"), next));
    }
    if let Some(folder) = working_folder(server).filter(|folder| matches!(disk.stat(folder), Ok(None))) {
        let next = "correct `cwd`: the server does not start".to_owned();
        return Some((format!("works in `{folder}`, and there is no `{folder}`"), next));
    }
    if serve.is_over_http() {
        return Some((
            "starts a server over HTTP, and waits for its answers on standard output".to_owned(),
            "leave out `--http`; or start that server yourself, and give the client its address".to_owned(),
        ));
    }
    let own = server.get("env");
    let handed = |name: &str| own.and_then(|own| own.get(name)?.as_str()).map(str::to_owned);
    if let Some(diagnostic) = serve.secrets_diagnostic(is_absolute, handed) {
        let next = diagnostic.help.clone().unwrap_or_else(|| "the server does not start".to_owned());
        return Some((format!("is not started: {}", diagnostic.message), next));
    }
    let diagnostic = start_diagnostic(context, server, line)?;
    Some((diagnostic.message.clone(), diagnostic.help.clone().unwrap_or_else(|| "correct its arguments".to_owned())))
}

/// What is worth a look, and the next step.
fn find_weakness(server: &Json, line: &CommandLine) -> Option<(String, String)> {
    if line.options.sandbox != SandboxChoice::Require {
        return Some((
            "starts with `--sandbox` weakened: programs of packs may run unconfined".to_owned(),
            "leave out `--sandbox` to have them confined, or refused".to_owned(),
        ));
    }
    if let Some((name, value, what)) = another_home(server) {
        let next = format!("run commands with the same `{name}`, or leave it out");
        return Some((format!("sets `{name}` to `{value}`: {what}"), next));
    }
    // What a client fills in is known to it alone.
    let mut relative = named(line).filter(|(_, at)| !path::is_absolute(at) && !at.contains("${"));
    if let Some((option, at)) = relative.next() {
        let next = "name it by its absolute path: clients choose the folder in which they start servers";
        return Some((format!("names `{option} {at}`"), next.to_owned()));
    }
    is_off(server).then(|| ("is switched off".to_owned(), "the client starts it once that is gone".to_owned()))
}

/// Returns the first option that names a missing path, without which the server does not start. Paths that are relative
/// or filled in by the client are skipped, since only the client can resolve them.
fn missing_path<'a>(disk: &Disk, line: &'a CommandLine) -> Option<(&'static str, &'a str)> {
    named(line).filter(|(_, at)| is_absolute(at)).find(|(_, at)| matches!(disk.stat(at), Ok(None)))
}

/// Every folder and file that the arguments name, with its option.
fn named(line: &CommandLine) -> impl Iterator<Item = (&'static str, &str)> {
    let workspace = line.options.workspace.iter().map(|at| ("--workspace", at.as_str()));
    let secrets = match &line.command {
        CliCommand::Serve(serve) => Some(serve.secret_files()),
        _ => None,
    };
    let further = line.options.roots.iter().map(|at| ("--root", at.as_str()));
    let packs = line.options.dirs.iter().map(|at| ("--dir", at.as_str()));
    workspace.chain(further).chain(packs).chain(secrets.into_iter().flatten())
}

/// What keeps the server from starting, or from serving a pack that it names, as it would find it itself. Where folders
/// are relative or filled in by the client, it is not known.
fn start_diagnostic(context: &CommandContext, server: &Json, line: &CommandLine) -> Option<Diagnostic> {
    let mut options = line.options.clone();
    if !options.dirs.iter().chain(&options.roots).chain(&options.workspace).all(|at| is_absolute(at)) {
        return None;
    }
    options.audit = false;
    let named = options.workspace.clone().or_else(|| working_folder(server).map(str::to_owned));
    let folder = named.unwrap_or_else(|| context.workspace.root().to_owned());
    let roots: Vec<&str> = options.roots.iter().map(String::as_str).collect();
    let of_option = |diagnostic: Box<Diagnostic>| {
        Some(*diagnostic).map(|diagnostic| reported(&diagnostic, "names a folder that cannot be used"))
    };
    let workspace: Arc<dyn World> = match Disk::new(&folder, roots) {
        Ok(disk) => Arc::new(disk),
        Err(diagnostic) => return of_option(diagnostic),
    };
    let server = CommandContext {
        options,
        terminal: context.terminal,
        workspace,
        is_locked: context.is_locked,
        overrides: context.overrides.clone(),
    };
    let registry = match server.service() {
        Ok(service) => service.registry(),
        Err(diagnostic) => return of_option(diagnostic),
    };
    let unknown = registry.diagnostics.iter().find(|diagnostic| diagnostic.code == NO_PACK && diagnostic.at.is_none());
    unknown.map(|diagnostic| reported(diagnostic, "names a pack by `--pack`"))
}

/// Puts the subject before the message of a diagnostic, which follows the name of a server.
fn reported(diagnostic: &Diagnostic, what: &str) -> Diagnostic {
    Diagnostic { message: format!("{what}: {}", diagnostic.message), ..diagnostic.clone() }
}

/// Whether a path is the same for the client as for us: one that is relative, or filled in by the client, is known to
/// it alone.
fn is_absolute(at: &str) -> bool {
    path::is_absolute(at) && !at.contains("${")
}

/// Returns the folder in which a client starts it, if configured.
fn working_folder(server: &Json) -> Option<&str> {
    server.get("cwd").and_then(Json::as_str).filter(|folder| is_absolute(folder))
}

/// Whether a client has it and does not start it.
fn is_off(server: &Json) -> bool {
    let flag = |name: &str| server.get(name).and_then(Json::as_bool);
    flag("enabled") == Some(false) || flag("disabled") == Some(true)
}

/// A variable by which the server finds other files of the user's than this command, its value, and what follows.
fn another_home(server: &Json) -> Option<(&'static str, &str, &'static str)> {
    let own = server.get("env")?;
    let follows =
        [("HOME", "trust that was given here does not apply there"), ("XDG_CONFIG_HOME", "it uses other user packs")];
    let mut set = follows.into_iter().filter_map(|(name, what)| Some((name, own.get(name)?.as_str()?, what)));
    set.find(|(name, value, _)| !value.contains("${") && environment_variable(name).as_deref() != Some(*value))
}

/// Returns the command line of a client's arguments, if it serves; otherwise an error message.
fn parse_arguments<'a>(words: impl Iterator<Item = &'a str>) -> Result<CommandLine, String> {
    let read = CommandLine::try_parse_from(std::iter::once("toolsd").chain(words));
    let line = read.map_err(|error| {
        let reported = error.to_string();
        let reported = reported.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        if reported.is_empty() { "they name no command".to_owned() } else { reported }
    })?;
    match line.command {
        CliCommand::Serve(_) => Ok(line),
        _ => Err("they name another command than `serve`".to_owned()),
    }
}

/// Replaces comments and such commas by spaces, so that all other locations stay the same.
fn strip_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '"' => string_length(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            letter => letter.len_utf8(),
        };
        let (part, next) = rest.split_at(length);
        match part.starts_with('/') && length > 1 {
            true => plain.extend(part.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' })),
            false => plain.push_str(part),
        }
        rest = next;
    }
    strip_trailing_commas(&plain)
}

/// The bytes of a text in quotes, both included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let ends = *byte == b'"' && !escaped;
        escaped = *byte == b'\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

fn strip_trailing_commas(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let length = if letter == '"' { string_length(rest) } else { letter.len_utf8() };
        let (part, next) = rest.split_at(length);
        let is_last = part == "," && next.trim_start().starts_with(['}', ']']);
        plain.push_str(if is_last { " " } else { part });
        rest = next;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_server_arguments_are_reported_like_on_the_command_line() {
        let reported = |words: &[&str]| parse_arguments(words.iter().copied()).map(|line| line.options.workspace);
        assert_eq!(
            reported(&["serve", "--workspace", "${workspaceFolder}"]),
            Ok(Some("${workspaceFolder}".to_owned()))
        );
        assert_eq!(reported(&["--workspace=/x", "serve", "--http", "127.0.0.1:8000"]), Ok(Some("/x".to_owned())));
        assert!(reported(&["sreve"]).is_err_and(|why| why.contains("'sreve'")));
        assert!(reported(&["serve", "--sandbx", "off"]).is_err_and(|why| why.contains("'--sandbx'")));
        assert!(reported(&["list"]).is_err_and(|why| why.contains("another command")));
        assert!(reported(&[]).is_err());
        assert!(
            parse_arguments(["serve", "--sandbox", "off"].into_iter())
                .is_ok_and(|line| line.options.sandbox == SandboxChoice::Off)
        );
    }

    #[test]
    fn runners_of_packages_start_toolsd_with_what_follows_its_name() {
        let start = |name: &str, command: &str, args: &[&str]| {
            let server = serde_json::json!({ "command": command, "args": args });
            match find_start(name, &server) {
                Some(Start::Direct(words)) => words.join(" "),
                Some(Start::Other) => "other".to_owned(),
                None => "none".to_owned(),
            }
        };
        assert_eq!(start("t", "/usr/bin/toolsd", &["serve"]), "serve");
        assert_eq!(start("t", "uvx", &["toolsd@0.1.0", "serve"]), "serve");
        assert_eq!(start("t", "/usr/bin/npx", &["-y", "toolsd", "serve", "--dir", "x"]), "serve --dir x");
        assert_eq!(start("t", "npx", &["--package", "toolsd@0.1.0", "toolsd", "serve"]), "serve");
        assert_eq!(start("t", "npx", &["-y", "server-files", "/work/toolsd"]), "none");
        assert_eq!(start("t", "bash", &["-c", "cd x && toolsd serve"]), "other");
        assert_eq!(start("toolsd", "tools", &["serve"]), "other");
    }

    #[test]
    fn comments_go_and_texts_stay() {
        let text = "{ // why\n \"a\": \"// no \\\" comment /*\", /* two\nlines */ \"b\": [1, 2, ], // \"x\n \"ö\": \"\\\\\", }";
        let read: Result<serde_json::Value, _> = serde_json::from_str(&strip_comments(text));
        let wanted = serde_json::json!({ "a": "// no \" comment /*", "b": [1, 2], "ö": "\\" });
        assert_eq!(read.expect("it is plain"), wanted);
        for odd in ["", "/", "\"", "/*", "//", "\"\\", "/*/", ",", "ö,/"] {
            assert!(strip_comments(odd).len() <= odd.len(), "{odd}");
        }
    }
}
