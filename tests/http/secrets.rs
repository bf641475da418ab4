//! Secrets of a server: where they come from, who can read them, what happens when they change.

use crate::support::home::{Home, output_in_time};
use crate::support::http::Server;
use crate::{limit, pots, pots_limited, serve};
use serde_json::json;
use std::fs::{Permissions, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

const TOKEN: &str = "a-token-of-the-tests";
const OTHER: &str = "another-token-of-the-tests";
const KEY: &str = "0123456789abcdef0123456789abcdef";

/// A file that only its user reads, outside of the workspace.
fn secret(home: &Home, name: &str, text: &str) -> PathBuf {
    let path = home.user().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

fn status(server: &Server, token: &str) -> u16 {
    server.ask_with("tools/list", json!({}), &[("Authorization", &format!("Bearer {token}"))]).status
}

//= docs/spec.md#secrets
//= type=test
//# A secret MUST be read from a file or descriptor on the command line, otherwise from a service credential,
//# otherwise from its variable with a warning.
#[test]
fn a_token_comes_from_a_file_a_descriptor_a_credential_or_a_variable() {
    let home = pots();
    let file = secret(&home, "secrets/toolsd-token", &format!("{TOKEN}\n"));
    let (path, folder) = (file.to_str().unwrap(), file.parent().unwrap().to_str().unwrap());
    let variable = ("TOOLSD_HTTP_TOKEN", OTHER);
    let credentials = ("CREDENTIALS_DIRECTORY", folder);
    for (options, variables, token) in [
        (vec!["--token-file", path], vec![], TOKEN),
        (vec![], vec![credentials], TOKEN),
        (vec![], vec![credentials, variable], TOKEN),
        (vec![], vec![variable], OTHER),
        (vec![], vec![variable, ("CREDENTIALS_DIRECTORY", "/nowhere")], OTHER),
    ] {
        let server = serve(&home, &options, &variables);
        assert_eq!((status(&server, token), status(&server, "wrong")), (200, 401), "{options:?} {variables:?}");
    }
}

#[test]
fn a_descriptor_gives_the_token_and_is_closed() {
    let home = pots();
    let file = secret(&home, "token", TOKEN);
    let mut shell = Command::new("sh");
    let line = format!("exec 7<'{}' && exec \"$@\"", file.display());
    shell.args(["-c", &line, "sh", env!("CARGO_BIN_EXE_toolsd"), "serve", "--http", "127.0.0.1:0", "--token-fd", "7"]);
    let server = Server::from_command(&mut shell, &home, &["--dir", "packs", "--pack", "pots"]);
    assert_eq!((status(&server, TOKEN), status(&server, "wrong")), (200, 401));
    let open = std::fs::read_link(format!("/proc/{}/fd/7", server.id()));
    assert!(open.is_err() || open.is_ok_and(|open| open != file), "the descriptor is open still");
    let refused = home.run(&["serve", "--http", "127.0.0.1:0", "--token-fd", "99"]);
    assert_eq!(refused.code, 2);
    assert!(refused.err.contains("token descriptor 99 cannot be read"), "{}", refused.err);
}

//= docs/spec.md#secrets
//= type=test
//# A secret file MUST be refused unless it is a regular file of the user or of root that no one else
//# can write.
#[test]
fn files_that_others_can_change_are_refused_with_help() {
    let home = pots();
    let file = secret(&home, "token", TOKEN);
    let path = file.to_str().unwrap();
    let refused = |option: &str, path: &str, why: &str| {
        let said = home.run(&["serve", "--http", "127.0.0.1:0", option, path]);
        assert_eq!(said.code, 2, "{}", said.err);
        assert!(said.err.contains(why) && !said.err.contains(TOKEN), "{why}: {}", said.err);
    };
    refused("--token-file", "packs", "is not a regular file");
    refused("--token-file", "gone", "cannot be read");
    assert!(Command::new("mkfifo").arg(home.workspace().join("pipe")).status().unwrap().success());
    // It has no writer: opening it to read would wait.
    refused("--token-file", "pipe", "is not a regular file");
    refused("--token-file", "/dev/zero", "is not a regular file");
    for (name, text, why) in [
        ("empty", String::new(), "is empty"),
        ("two", format!("{TOKEN}\n{TOKEN}\n"), "has more than one line"),
        ("huge", TOKEN.repeat(100_000), "has more than 16384 bytes"),
    ] {
        let file = secret(&home, name, &text);
        refused("--token-file", file.to_str().unwrap(), why);
        refused("--state-key-file", file.to_str().unwrap(), why);
    }
    refused("--state-key-file", path, "shorter than 32 bytes");
    let short = secret(&home, "short", "short");
    let short = short.to_str().unwrap();
    refused("--token-file", short, &format!("the token in `{short}` is shorter than 16 bytes: it can be guessed"));
    for mode in [0o620, 0o602] {
        set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        refused("--token-file", path, &format!("chmod 600 {path}"));
        refused("--state-key-file", path, "can be changed by others");
    }
    assert_eq!(home.run(&["serve", "--token-file", path]).code, 2, "a token is for HTTP alone");
}

#[test]
fn a_mounted_secret_is_used_with_a_warning_where_others_read_it() {
    let home = pots();
    // As Kubernetes mounts it: a link to a link to a file of mode 0644; as Docker does, of mode 0444.
    let file = secret(&home, "secrets/2026/token", TOKEN);
    let folder = file.parent().unwrap().parent().unwrap();
    symlink("2026", folder.join("data")).unwrap();
    symlink("data/token", folder.join("token")).unwrap();
    let path = folder.join("token");
    for (mode, is_warned_of) in [(0o644, true), (0o440, true), (0o600, false)] {
        set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let server = serve(&home, &["--token-file", path.to_str().unwrap()], &[]);
        assert_eq!((status(&server, TOKEN), status(&server, "wrong")), (200, 401), "{mode:o}");
        drop(server);
        let mut command = home.command();
        command.args(["serve", "--http", "nowhere", "--token-file"]).arg(&path);
        let reported = String::from_utf8(output_in_time(&mut command).stderr).unwrap();
        assert_eq!(reported.contains("is readable by others"), is_warned_of, "{mode:o}: {reported}");
    }
}

//= docs/spec.md#secrets
//= type=test
//# A secret MUST be refused if it is set twice, if it is too short, or if its file is in a folder that packs
//# may be granted.
#[test]
fn a_secret_that_is_given_twice_is_refused() {
    let home = pots();
    let file = secret(&home, "token", TOKEN);
    let file = file.to_str().unwrap();
    for (option, value, variable) in [
        ("--token-file", file, "TOOLSD_HTTP_TOKEN"),
        ("--token-fd", "7", "TOOLSD_HTTP_TOKEN"),
        ("--state-key-file", file, "TOOLSD_STATE_KEY"),
        ("--state-key-fd", "7", "TOOLSD_STATE_KEY"),
    ] {
        let mut command = home.command();
        command.args(["serve", "--http", "127.0.0.1:0", option, value]).env(variable, KEY);
        let said = output_in_time(&mut command);
        let reported = String::from_utf8(said.stderr).unwrap();
        assert_eq!(said.status.code(), Some(2), "{reported}");
        assert!(reported.contains(&format!("is given twice: by `{option}` and by `{variable}`")), "{reported}");
    }
}

#[test]
fn a_secret_that_can_be_guessed_is_refused_wherever_it_comes_from() {
    let home = pots();
    let refused = |variables: &[(&str, &str)]| {
        let mut command = home.command();
        command.args(["serve", "--http", "127.0.0.1:0"]).envs(variables.iter().copied());
        let said = output_in_time(&mut command);
        assert_eq!(said.status.code(), Some(2));
        assert!(String::from_utf8(said.stderr).unwrap().contains("it can be guessed"), "{variables:?}");
    };
    refused(&[("TOOLSD_HTTP_TOKEN", "12345")]);
    refused(&[("TOOLSD_HTTP_TOKEN", &TOKEN[..15])]);
    refused(&[("TOOLSD_STATE_KEY", &KEY[..31])]);
    // The same at SIGHUP: the previous state remains.
    let file = secret(&home, "token", TOKEN);
    let server = serve(&home, &["--token-file", file.to_str().unwrap()], &[]);
    secret(&home, "token", "12345");
    server.signal("HUP");
    server.logs("it can be guessed");
    assert_eq!((status(&server, TOKEN), status(&server, "12345")), (200, 401));
}

#[test]
fn a_secret_within_the_reach_of_packs_is_refused_by_whatever_name() {
    let home = pots();
    let outside = secret(&home, "token", TOKEN);
    home.write("deep/token", TOKEN);
    let inside = home.workspace().join("deep/token");
    set_permissions(&inside, Permissions::from_mode(0o600)).unwrap();
    symlink(home.workspace(), home.user().join("way")).unwrap();
    let refused = |option: &str, path: &str, more: &[&str], why: &str| {
        let mut command = home.command();
        let dirs = ["--dir", "packs", "--pack", "pots"];
        command.args(["serve", "--http", "127.0.0.1:0", option, path]).args(dirs).args(more);
        let said = output_in_time(&mut command);
        let reported = String::from_utf8(said.stderr).unwrap();
        assert!(
            said.status.code() == Some(2) && reported.contains(why) && !reported.contains(TOKEN),
            "{path}: {reported}"
        );
    };
    let way = home.user().join("way/deep/token");
    for path in ["deep/token", "packs/../deep/token", inside.to_str().unwrap(), way.to_str().unwrap()] {
        refused("--token-file", path, &[], "where packs may be granted to read");
    }
    refused("--state-key-file", outside.to_str().unwrap(), &[], "shorter than 32 bytes");
    let user = home.user();
    let root = ["--root", user.to_str().unwrap()];
    refused("--token-file", outside.to_str().unwrap(), &root, "where packs may be granted to read");
    // A second name of the same file within the workspace.
    std::fs::hard_link(&outside, home.workspace().join("second")).unwrap();
    refused("--token-file", outside.to_str().unwrap(), &[], "has a second name");
    std::fs::remove_file(home.workspace().join("second")).unwrap();
    let server = serve(&home, &["--token-file", outside.to_str().unwrap()], &[]);
    assert_eq!(status(&server, TOKEN), 200);
}

//= docs/spec.md#http
//= type=test
//# At SIGHUP, settings and token MUST be read again, and settings that are invalid or not trusted MUST NOT
//# change a limit.
#[test]
fn a_hangup_has_settings_and_token_read_again() {
    let home = pots_limited("keep_alive_timeout_ms = 86_400_000");
    let file = secret(&home, "token", TOKEN);
    let mut server = serve(&home, &["--token-file", file.to_str().unwrap()], &[]);
    assert_eq!((status(&server, TOKEN), status(&server, OTHER)), (200, 401));
    let until = |what: &dyn Fn() -> bool| {
        let end = Instant::now() + Duration::from_secs(20);
        while !what() {
            assert!(Instant::now() < end, "nothing came of it");
        }
    };
    secret(&home, "token", OTHER);
    assert_eq!((status(&server, TOKEN), status(&server, OTHER)), (200, 401), "not before the signal");
    server.signal("HUP");
    until(&|| status(&server, OTHER) == 200);
    assert_eq!(status(&server, TOKEN), 401);
    // Limits, of connections that are opened from then on.
    limit(&home, "keep_alive_timeout_ms = 100");
    server.signal("HUP");
    until(&|| crate::raw::Raw::open(&server).closes_within(Duration::from_secs(1), |_| {}));
    server.signal("TERM");
    assert_eq!(server.wait().code(), Some(0));
}

#[test]
fn a_hangup_with_settings_that_cannot_be_used_changes_no_limit() {
    let home = pots_limited("keep_alive_timeout_ms = 300");
    let server = serve(&home, &[], &[]);
    let is_cut = || {
        let mut slow = crate::raw::Raw::saying(&server, "POST /mcp HTTP/1.1\r\n");
        assert!(slow.closes_within(Duration::from_secs(8), |_| {}), "75 s are the usual limit");
    };
    is_cut();
    for unusable in ["[http]\nidle_ms = 86_400_000\n", "[http\n"] {
        home.write("toolsd.toml", unusable);
        server.signal("HUP");
        server.logs("`[http]` stays as it was");
        is_cut();
    }
    limit(&home, "keep_alive_timeout_ms = 86_400_000");
    server.signal("HUP");
    server.logs("reloaded the settings and the token");
    let mut slow = crate::raw::Raw::saying(&server, "POST /mcp HTTP/1.1\r\n");
    assert!(!slow.closes_within(Duration::from_secs(1), |_| {}), "a void test: the limit cannot be changed");
}

//= docs/spec.md#secrets
//= type=test
//# Scripts and the programs that they start MUST NOT see a secret of the server.
#[test]
fn a_program_that_a_script_starts_gets_no_secret() {
    let pack = "[pack]\ntitle = \"A spy\"\ngrants = { read = [\".\"], env = [\"*\"], run = [\"env\"] }\n[[tool]]\nname = \"spy_env\"\n\
                description = \"Tells the variables that a program of a script gets.\"\neffect = \"runs\"\n\
                [[tool.example]]\nexpect.text_contains = \"PATH\"\n";
    let script = "fn spy_env(args) { run(\"env\", []).text }\n";
    let home = Home::with(&[("packs/tools.d/spy.toml", pack), ("packs/tools.d/spy.rhai", script)]);
    let variables = [("TOOLSD_HTTP_TOKEN", TOKEN), ("TOOLSD_STATE_KEY", KEY)];
    let server = Server::start(&home, &["--dir", "packs", "--pack", "spy"], &variables);
    let bearer = format!("Bearer {TOKEN}");
    let params = json!({ "name": "spy_env", "arguments": {} });
    let reported = server.ask_with("tools/call", params, &[("Authorization", &bearer)]).body;
    assert!(reported.contains("PATH="), "a void attack: {reported}");
    assert!(!reported.contains(TOKEN) && !reported.contains(KEY), "{reported}");
}
