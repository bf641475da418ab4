//! `serve`: an edit of a pack is served without a new start, and a broken one is not.

use crate::support::home::Home;
use crate::support::http;
use crate::support::server::Server;
use serde_json::{Value, json};
use std::time::Duration;

const RESOURCES_CHANGED: &str = "notifications/resources/list_changed";

const HEAD: &str = "[pack]\ntitle = \"A\"\nversion = \"1.0.0\"\n";

fn tool(name: &str) -> String {
    format!("[[tool]]\nname = \"{name}\"\ndescription = \"Says it.\"\neffect = \"reads\"\n")
}

//= docs/spec.md#reload
//= type=test
//# An edit of any file of a pack MUST take effect without a restart.
//= docs/spec.md#reload
//= type=test
//# A pack MUST be replaced as a whole, and its last valid version MUST stay active while it has an error.
//= docs/spec.md#reload
//= type=test
//# Errors of packs MUST be listed with their location in `toolsd://status` and in the log.
//= docs/spec.md#reload
//= type=test
//# Clients MUST be notified of a list when it has changed, and only then.
//= docs/spec.md#protocol
//= type=test
//# While the server runs, it MUST NOT write anything but protocol messages to standard output.
#[test]
fn every_part_of_a_pack_is_reloaded_and_a_broken_one_keeps_its_last_good_state() {
    let home = Home::with(&[]);
    home.write("layer/tools.d/a.toml", &format!("{HEAD}{}", tool("say")));
    home.write("layer/tools.d/a.rhai", "fn say(args) { print(`a stray line`); \"one\" }");
    let mut server = Server::start(&home, &["--dir", "layer"]);
    assert_eq!(server.said("say", &json!({})), "one");
    home.write("layer/tools.d/a.rhai", "fn say(args) { part() }");
    home.write("layer/tools.d/a/lib.rhai", "fn part() { render(\"templates/a/t.hbs\", #{}) }");
    home.write("layer/templates/a/t.hbs", "two");
    server.says_at_last("say", &json!({}), "two");
    home.write("layer/templates/a/t.hbs", "{{#if}");
    let status = status_when(&mut server, "its last good state serves");
    assert_eq!(server.said("say", &json!({})), "two");
    assert!(status["errors"][0]["at"].as_str().unwrap().starts_with("templates/a/t.hbs:1"), "{status}");
    home.write("layer/templates/a/t.hbs", "three");
    server.says_at_last("say", &json!({}), "three");
    let reported = |message: &&Value| {
        message["method"] == json!("notifications/message")
            && message["params"]["level"] == json!("error")
            && message["params"]["data"].to_string().contains("templates/a/t.hbs:1")
    };
    if !server.heard.iter().any(|message| reported(&message)) {
        server.wait(|message| reported(&message));
    }
    let log = std::fs::read_to_string(home.log()).unwrap();
    assert!(log.lines().any(|line| line.contains("ERROR") && line.contains("templates/a/t.hbs:1")), "{log}");
    assert_eq!(server.lists_changed(), [0, 0, 0], "bodies changed, no list did");
    home.write("layer/tools.d/a.toml", &format!("{HEAD}{}{}text = \"x\"\n", tool("say"), tool("more")));
    server.wait(|message| message["method"] == json!("notifications/tools/list_changed"));
    let listed = server.ask("tools/list", &json!({}));
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(server.lists_changed(), [1, 0, 0]);
    let prompt = "[[prompt]]\nname = \"greet\"\ntext = \"hello\"\n";
    home.write("layer/tools.d/a.toml", &format!("{HEAD}{}{}text = \"x\"\n{prompt}", tool("say"), tool("more")));
    server.wait(|message| message["method"] == json!("notifications/prompts/list_changed"));
    server.says_at_last("say", &json!({}), "three");
    assert_eq!(server.lists_changed(), [1, 1, 0]);
    let described = "[[prompt]]\nname = \"greet\"\ndescription = \"Greets.\"\ntext = \"hello\"\n";
    home.write("layer/tools.d/a.toml", &format!("{HEAD}{}{}text = \"x\"\n{described}", tool("say"), tool("more")));
    server.wait(|message| message["method"] == json!("notifications/prompts/list_changed"));
    assert_eq!(server.lists_changed(), [1, 2, 0]);
    assert_eq!(server.heard.iter().filter(reported).count(), 1, "{:#?}", server.heard);
    server.end();
}

/// What the server says of itself.
fn status(server: &mut Server) -> Value {
    let status = server.ask("resources/read", &json!({ "uri": "toolsd://status" }));
    serde_json::from_str(status["result"]["contents"][0]["text"].as_str().unwrap()).unwrap()
}

/// What it says once its only pack is in this state.
fn status_when(server: &mut Server, state: &str) -> Value {
    for _ in 0..1_200 {
        let status = status(server);
        if status["packs"][0]["state"] == json!(state) {
            return status;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("it is never so: {state}");
}

#[test]
fn subscribed_resources_are_updated_when_inputs_change() {
    let home = Home::with(&[("a.plant", "rose north"), ("b.plant", "mint north")]);
    let mut server = Server::start(&home, &["--dir", crate::support::home::SAMPLE, "--pack", "sample"]);
    let uri = json!({ "uri": "sample:///plants/rose" });
    server.ask("resources/subscribe", &uri);
    home.write("a.plant", "rose south");
    let reported = server.wait(|message| message["method"] == json!("notifications/resources/updated"));
    assert_eq!(reported["params"]["uri"], uri["uri"]);
    let read = server.ask("resources/read", &uri);
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("south"), "{read}");
    server.end();
}

//= docs/spec.md#protocol
//= type=test
//# A subscription to a resource that does not allow it MUST be refused.
#[test]
fn a_resource_that_does_not_allow_it_is_not_subscribed_to() {
    let home = Home::with(&[("a.plant", "rose north")]);
    let options = ["--dir", crate::support::home::SAMPLE, "--pack", "sample"];
    let mut server = Server::start(&home, &options);
    let refused = server.ask("resources/subscribe", &json!({ "uri": "sample:///note" }));
    assert_eq!(refused["error"]["code"], json!(-32602), "{refused}");
    assert_eq!(refused["error"]["data"]["uri"], json!("sample:///note"));
    let honoured = server.ask("resources/subscribe", &json!({ "uri": "/plants/rose" }));
    assert_eq!(honoured["result"], json!({}), "{honoured}");
    server.end();
    let mut server = Server::start_modern(&home, &options);
    let uris = ["sample:///note", "sample:///plants/rose", "sample:///rows/a"];
    server.listen(&json!({ "resourceSubscriptions": uris }));
    let honoured = server.wait(|message| message["method"] == json!("notifications/subscriptions/acknowledged"));
    assert_eq!(honoured["params"]["notifications"]["resourceSubscriptions"], json!(["sample:///plants/rose"]));
    server.end();
}

//= docs/spec.md#reload
//= type=test
//# A computed description MUST be computed again when the graph of its pack changes.
/// The folder is outside of the workspace, where nothing is watched: a call finds that the graph changed.
#[test]
fn a_description_follows_its_graph() {
    let home = Home::with(&[]);
    std::fs::create_dir_all(home.user().join("teas")).unwrap();
    std::fs::write(home.user().join("teas/assam"), "").unwrap();
    let described = tool("count").replace("description = \"Says it.\"", "describe = \"how_many\"");
    let graph = "grants = { read = [\"~/teas\"] }\n[graph]\n";
    home.write(".toolsd/tools.d/a.toml", &format!("{HEAD}{graph}{described}"));
    home.write(
        ".toolsd/tools.d/a.rhai",
        "fn build(g, config) { for path in find_files(\"~/teas/*\") { g.add_node(\"tea\", path, #{}); } }\n\
         fn how_many() { `There are ${graph().nodes(\"tea\").len()} teas to choose from.` }\n\
         fn count(args) { graph().nodes(\"tea\").len() }\n",
    );
    home.trust();
    let mut server = Server::start(&home, &[]);
    let described =
        |server: &mut Server| server.ask("tools/list", &json!({}))["result"]["tools"][0]["description"].clone();
    assert_eq!(described(&mut server), "There are 1 teas to choose from.");
    assert_eq!(server.said("count", &json!({})), "1");
    std::fs::write(home.user().join("teas/sencha"), "").unwrap();
    assert_eq!(server.said("count", &json!({})), "2");
    server.hears("notifications/tools/list_changed");
    assert_eq!(described(&mut server), "There are 2 teas to choose from.");
    assert_eq!(server.said("count", &json!({})), "2");
    server.ask("ping", &json!({}));
    assert_eq!(server.lists_changed(), [1, 0, 0]);
    server.end();
}

#[test]
fn a_skill_that_a_refresh_finds_is_announced_as_a_resource_and_nothing_else_is() {
    let home = Home::with(&[]);
    home.write("skills/tea/SKILL.md", "---\nname: tea\ndescription: How to make tea\n---\nBoil water.\n");
    home.write("skills/mud/SKILL.md", "no front matter");
    let graph = "grants = { read = [\"skills\"] }\n[graph]\nrefresh = { interval_ms = 100 }\n[[skills]]\nlist = \"found\"\n\
        [[prompt]]\nname = \"brew\"\nlist = \"brews\"\ntext = \"Brew.\"\n";
    home.write(".toolsd/tools.d/a.toml", &format!("{HEAD}{graph}"));
    home.write(
        ".toolsd/tools.d/a.rhai",
        "fn build(g, config) { for path in find_files(\"skills/*/SKILL.md\") { g.add_node(\"skill\", path, #{}); } }\n\
         fn found() { find_files(\"skills/*/SKILL.md\").map(|path| path_parent(path)) }\n\
         fn brews() { [#{ name: if found().is_empty() { \"water\" } else { \"any-tea\" }, description: \"Brews.\" }] }\n",
    );
    home.trust();
    let mut server = Server::start(&home, &[]);
    let listed = |server: &mut Server| server.ask("resources/list", &json!({}))["result"]["resources"].to_string();
    assert!(!listed(&mut server).contains("skill://coffee/"));
    home.write("skills/coffee/SKILL.md", "---\nname: coffee\ndescription: How to make coffee\n---\nGrind.\n");
    server.hears("notifications/resources/list_changed");
    assert!(listed(&mut server).contains("skill://coffee/SKILL.md"));
    assert!(server.ask("prompts/list", &json!({})).to_string().contains("any-tea"));
    assert_eq!(server.lists_changed(), [0, 0, 1], "the prompts were listed again, and are the same");
    let log = std::fs::read_to_string(home.log()).unwrap();
    let errors: Vec<&str> = log.lines().filter(|line| line.contains("skills/mud/SKILL.md")).collect();
    assert_eq!(errors.len(), 1, "each error is logged once: {errors:#?}");
    server.end();
}

#[test]
fn a_case_in_which_time_passes_refreshes_the_graph() {
    let graph = "grants = { read = [\"*.md\"] }\n[graph]\nrefresh = { interval_ms = 100 }\n";
    let case = "[[case]]\ntitle = \"a note counts after the refresh\"\nfiles.\"a.md\" = \"x\"\n\
        [[case.step]]\ncall = \"say\"\nexpect.text_contains = \"1 note\"\n\
        [[case.step]]\nwrite_files.\"b.md\" = \"x\"\ncall = \"say\"\nexpect.text_contains = \"1 note\"\n\
        [[case.step]]\nadvance_ms = 100\ncall = \"say\"\nexpect.text_contains = \"2 note\"\n";
    let script = "fn build(g, config) { for path in find_files(\"*.md\") { g.add_node(\"note\", path, #{}); } }\n\
        fn say(args) { `${graph().nodes(\"note\").len()} note` }\n";
    let definition = format!("{HEAD}{graph}{}{case}", tool("say"));
    let home = Home::with(&[("dir/tools.d/a.toml", &definition), ("dir/tools.d/a.rhai", script)]);
    let said = home.run(&["test", "--dir", "dir", "--pack", "a"]);
    assert!(said.out.contains("1 case passed, 0 failed"), "{}{}", said.out, said.err);
}

#[test]
fn a_file_that_is_written_again_as_it_was_makes_no_new_generation() {
    let home = Home::with(&[]);
    let definition = format!("{HEAD}{}", tool("say"));
    home.write("layer/tools.d/a.toml", &definition);
    home.write("layer/tools.d/a.rhai", "fn say(args) { \"one\" }");
    let mut server = Server::start(&home, &["--dir", "layer"]);
    home.write("layer/tools.d/a.rhai", "fn say(args) { \"two\" }");
    server.says_at_last("say", &json!({}), "two");
    let before = status(&mut server);
    assert!(before["errors"].to_string().contains("tool-example"), "{before}");
    // In one step, so that no reload sees half of it.
    home.write("copy", &definition);
    std::fs::rename(home.workspace().join("copy"), home.workspace().join("layer/tools.d/a.toml")).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(status(&mut server), before);
    server.end();
}

const EDITED_GRAPH: &str = include_str!("reload/pots.toml");

const EDITED_GRAPH_SCRIPT: &str = include_str!("reload/pots.rhai");

#[test]
fn subscribed_resources_are_updated_when_a_call_changes_the_graph() {
    let files =
        [("layer/tools.d/a.toml", EDITED_GRAPH), ("layer/tools.d/a.rhai", EDITED_GRAPH_SCRIPT), ("a.pot", "blue")];
    let home = Home::with(&files);
    let mut server = Server::start(&home, &["--dir", "layer"]);
    let uri = json!({ "uri": "pots:///pot" });
    assert_eq!(server.ask("resources/read", &uri)["result"]["contents"][0]["text"], "blue");
    server.ask("resources/subscribe", &uri);
    assert_eq!(server.said("rename_pot", &json!({ "title": "red" })), "renamed");
    server.hears("notifications/resources/updated");
    assert_eq!(server.ask("resources/read", &uri)["result"]["contents"][0]["text"], "red");
    server.end();
}

//= docs/spec.md#reload
//= type=test
//# Over standard streams, this notification MUST NOT be sent before an answer with the list as it was.
/// A client that has asked for the list when it hears that it changed would take the old answer for the new list.
#[test]
fn a_list_that_is_asked_for_while_it_changes_is_announced_after_the_answer() {
    let resources = "[[resource]]\nname = \"note\"\ntitle = \"Note\"\ndescription = \"A note.\"\n\
        uri_template = \"note:///{name}\"\nlist = \"notes\"\n";
    let home = Home::with(&[]);
    home.write("layer/tools.d/a.toml", &format!("{HEAD}{resources}"));
    home.write("layer/tools.d/a.rhai", "fn note(v) { v.name }\nfn notes() { sleep_ms(1500); [] }");
    let mut server = Server::start(&home, &["--dir", "layer"]);
    std::thread::sleep(Duration::from_millis(500));
    let listing = server.tell("resources/list", &json!({}));
    let another = "[[resource]]\nname = \"more\"\ntitle = \"More\"\ndescription = \"More.\"\nuri = \"more:///\"\n\
        text = \"x\"\n";
    home.write("layer/tools.d/a.toml", &format!("{HEAD}{resources}{another}"));
    let first = server.wait(|message| message["id"] == listing || message["method"] == RESOURCES_CHANGED);
    assert_eq!(first["id"], listing, "{first}");
    server.hears(RESOURCES_CHANGED);
    assert!(server.ask("resources/list", &json!({})).to_string().contains("more:///"));
    server.end();
}

#[test]
fn a_list_of_resources_that_is_another_one_is_announced() {
    let note = "[[resource]]\nname = \"note\"\ntitle = \"Note\"\ndescription = \"A note.\"\n\
        uri_template = \"note:///{name}\"\nlist = \"notes\"\n";
    let home = Home::with(&[("notes/a.md", "one")]);
    home.write("layer/tools.d/a.toml", &format!("{HEAD}grants = {{ read = [\"notes\"] }}\n{note}"));
    let script =
        "fn note(v) { v.name }\nfn notes() { find_files(\"notes/*.md\").map(|path| `note:///${path.path_stem()}`) }";
    home.write("layer/tools.d/a.rhai", script);
    let mut server = Server::start(&home, &["--dir", "layer"]);
    assert!(!server.ask("resources/list", &json!({})).to_string().contains("note:///b"));
    home.write("notes/b.md", "two");
    server.hears(RESOURCES_CHANGED);
    assert!(server.ask("resources/list", &json!({})).to_string().contains("note:///b"));
    home.write("notes/b.md", "three");
    std::thread::sleep(Duration::from_secs(1));
    server.ask("ping", &json!({}));
    assert_eq!(server.lists_changed(), [0, 0, 1], "the list is the same");
    std::fs::remove_file(home.workspace().join("notes/b.md")).unwrap();
    server.wait(|message| message["method"] == RESOURCES_CHANGED);
    server.end();
}

/// Git ignores the folder, and the graph is made of it all the same.
#[test]
fn a_graph_is_refreshed_when_an_ignored_folder_that_it_scans_changes() {
    let home = Home::with(&[(".gitignore", "cache/\n"), ("cache/deep/a.pot", "blue")]);
    let graph = "grants = { read = [\"cache\"] }\n[graph]\nrefresh = { watch = true }\n";
    let described = tool("count").replace("description = \"Says it.\"", "describe = \"how_many\"");
    home.write("layer/tools.d/a.toml", &format!("{HEAD}{graph}{described}"));
    home.write(
        "layer/tools.d/a.rhai",
        "fn build(g, config) { for path in find_files(\"cache/**/*.pot\", #{ ignore: false }) { g.add_node(\"pot\", path, #{}); } }\n\
         fn how_many() { `There are ${graph().nodes(\"pot\").len()} pots to choose from.` }\n\
         fn count(args) { 0 }\n",
    );
    let mut server = Server::start(&home, &["--dir", "layer"]);
    std::thread::sleep(Duration::from_secs(1));
    assert!(server.ask("tools/list", &json!({})).to_string().contains("There are 1 pots"));
    home.write("cache/deep/b.pot", "red");
    server.hears("notifications/tools/list_changed");
    assert!(server.ask("tools/list", &json!({})).to_string().contains("There are 2 pots"));
    server.end();
}

//= docs/spec.md#definitions
//= type=test
//# A pack MUST be active by default only where one of its `activate_if_exists` paths exists.
#[test]
fn the_first_file_that_activates_a_pack_is_noticed() {
    // The workspace itself, a folder above it up to that of the repository, and the home folder.
    for (marker, first) in [
        (".pots/kinds/pot.toml", "workspace/.pots/kinds/pot.toml"),
        (".../.pots", "workspace/.pots/pot.toml"),
        (".../.pots", ".pots/pot.toml"),
        ("~/.pots", "home/.pots/pot.toml"),
    ] {
        let home = Home::with(&[]);
        let above = home.workspace().parent().unwrap().to_owned();
        std::fs::create_dir(above.join(".git")).unwrap();
        let marked = HEAD
            .replace("[pack]", &format!("[pack]\nactivate_if_exists = [\"{marker}\"]\ngrants.read = [\"{marker}\"]"));
        home.write("layer/tools.d/a.toml", &format!("{marked}{}text = \"x\"\n", tool("say")));
        let mut server = Server::start(&home, &["--dir", "layer"]);
        std::thread::sleep(Duration::from_secs(1));
        assert!(!server.ask("tools/list", &json!({})).to_string().contains("say"), "{marker}");
        let first = above.join(first);
        std::fs::create_dir_all(first.parent().unwrap()).unwrap();
        std::fs::write(first, "").unwrap();
        server.hears("notifications/tools/list_changed");
        assert!(server.ask("tools/list", &json!({})).to_string().contains("say"), "{marker}");
        server.end();
    }
}

/// Other programs of the user may hold all watches of the system.
#[test]
fn without_watches_changes_are_found_and_that_is_told() {
    let limited = |home: &Home, limit: &str, words: &str| {
        let mut command = home.command_of("unshare");
        let script = format!("echo {limit} && exec \"$0\" {words}");
        command.args(["--user", "--map-root-user", "sh", "-c", &script, env!("CARGO_BIN_EXE_toolsd")]);
        command
    };
    let none = "0 > /proc/sys/user/max_inotify_watches";
    for limit in ["3 > /proc/sys/user/max_inotify_watches", "0 > /proc/sys/user/max_inotify_instances"] {
        let home = Home::with(&[]);
        if !limited(&home, limit, "--version").output().is_ok_and(|said| said.status.success()) {
            eprintln!("not tried: no user namespaces here");
            return;
        }
        home.write("layer/tools.d/a.toml", &format!("{HEAD}{}", tool("say")));
        home.write("layer/tools.d/a.rhai", "fn say(args) { \"one\" }");
        let mut server = crate::support::Server::serving(limited(&home, limit, "--dir layer serve"));
        assert_eq!(server.said("say", json!({})).0, "one");
        std::thread::sleep(Duration::from_secs(1));
        assert!(server.read("toolsd://status")["errors"].to_string().contains("fs.inotify"));
        home.write("layer/tools.d/a.rhai", "fn say(args) { \"two\" }");
        let seen = (0..600).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            server.said("say", json!({})).0 == "two"
        });
        assert!(seen, "{limit}: the edit is not served");
    }
    let home = Home::with(&[]);
    let doctor = limited(&home, none, "doctor").output();
    assert!(String::from_utf8_lossy(&doctor.unwrap().stdout).contains("fs.inotify"));
}

/// A stateless client that does not listen learns of an edit when the lists and contents that it cached expire.
#[test]
fn a_client_that_does_not_listen_sees_an_edit_when_its_cache_expires() {
    let packed = "[[resource]]\nname = \"packed\"\ntitle = \"Packed\"\ndescription = \"A file of the pack.\"\n\
        uri = \"a:///packed\"\nfile = \"templates/a/t.txt\"\n";
    let home = Home::with(&[("layer/templates/a/t.txt", "one")]);
    let definition = |more: &str| format!("{HEAD}{}text = \"x\"\n{packed}{more}", tool("say"));
    home.write("layer/tools.d/a.toml", &definition(""));
    let http = http::Server::start(&home, &["--dir", "layer"], &[]);
    let mut streams = Server::start_modern(&home, &["--dir", "layer"]);
    let mut ask = |is_http: bool, method: &str, params: Value| match is_http {
        true => http.ask(method, params).answer()["result"].clone(),
        false => streams.ask(method, &http::stateless(method, params)["params"])["result"].clone(),
    };
    let read = json!({ "uri": "a:///packed" });
    let mut ttl_ms = 0;
    for is_http in [true, false] {
        let listed = ask(is_http, "tools/list", json!({}));
        ttl_ms = listed["ttlMs"].as_u64().unwrap();
        assert!((1..=5_000).contains(&ttl_ms) && !listed.to_string().contains("more"), "{listed}");
        let contents = ask(is_http, "resources/read", read.clone());
        assert_eq!((&contents["ttlMs"], &contents["contents"][0]["text"]), (&json!(0), &json!("one")), "{contents}");
    }
    home.write("layer/tools.d/a.toml", &definition(&format!("{}text = \"x\"\n", tool("more"))));
    home.write("layer/templates/a/t.txt", "two");
    std::thread::sleep(Duration::from_millis(ttl_ms));
    for is_http in [true, false] {
        assert!(ask(is_http, "tools/list", json!({})).to_string().contains("more"), "HTTP: {is_http}");
        assert_eq!(ask(is_http, "resources/read", read.clone())["contents"][0]["text"], "two", "HTTP: {is_http}");
    }
}

/// A clone that is made again at the same path is another folder: each call reports that, and no tool is missing.
#[test]
fn a_workspace_that_is_replaced_is_named_by_each_call() {
    let home = Home::with(&[]);
    let write = || {
        home.write(".toolsd/tools.d/a.toml", &format!("{HEAD}grants = {{ read = [\".\"] }}\n{}", tool("say")));
        home.write(".toolsd/tools.d/a.rhai", "fn say(args) { read_text(\"a.txt\") }");
        home.write("a.txt", "one");
    };
    write();
    home.trust();
    let mut server = Server::start(&home, &[]);
    assert_eq!(server.said("say", &json!({})), "one");
    std::fs::remove_dir_all(home.workspace()).unwrap();
    write();
    // Longer than the watcher waits for an edit to end.
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(1500));
        let answer = server.ask("tools/call", &json!({ "name": "say", "arguments": {} }));
        assert!(answer.to_string().contains("no longer the folder that was opened"), "{answer}");
    }
}
