//! Skills where people keep them: links into a folder of dotfiles, and the folders of a monorepo.

use crate::support::home::Home;
use crate::support::server::Server;
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: About {name}.\n---\nBody of {name}.\n")
}

//= docs/spec.md#definitions
//= type=test
//# A grant to read `.../PATH` MUST cover that path in each folder from the workspace up to that of its repository, and
//# `PATH@` also what the path and the links directly in it lead to.
#[test]
fn skills_are_found_behind_links_of_the_user_and_in_the_folders_above() {
    let files = [("packages/web/.claude/skills/paint/SKILL.md", "paint"), (".claude/skills/deploy/SKILL.md", "deploy")];
    let texts = files.map(|(path, name)| (path, skill(name)));
    for whole in [true, false] {
        let home = Home::with(&texts.each_ref().map(|(path, text)| (*path, text.as_str())));
        let kept = home.user().join("dotfiles/skills");
        fs::create_dir_all(kept.join("tea")).unwrap();
        fs::write(kept.join("tea/SKILL.md"), skill("tea")).unwrap();
        let skills = home.user().join(".claude/skills");
        fs::create_dir_all(if whole { skills.parent().unwrap() } else { &skills }).unwrap();
        match whole {
            true => symlink(kept, skills).unwrap(),
            false => symlink(kept.join("tea"), skills.join("tea")).unwrap(),
        }
        fs::create_dir_all(home.workspace().join(".git")).unwrap();
        fs::create_dir_all(home.workspace().join("packages/web/src")).unwrap();
        for (folder, found, absent) in
            [("packages/web/src", &["paint", "deploy", "tea"][..], None), (".", &["deploy", "tea"], Some("paint"))]
        {
            let load = |name: &str| {
                let mut command = home.command();
                command.current_dir(home.workspace().join(folder)).args(["call", "skill", &format!("name={name}")]);
                String::from_utf8(command.output().unwrap().stdout).unwrap()
            };
            for name in found {
                assert!(load(name).contains(&format!("Body of {name}.")), "{folder}: {}", load(name));
            }
            assert!(absent.is_none_or(|name| !load(name).contains("Body of")), "{folder}");
        }
        // Beyond the repository there is nothing of the project.
        fs::remove_dir(home.workspace().join(".git")).unwrap();
        let mut command = home.command();
        command.current_dir(home.workspace().join("packages/web")).args(["call", "skill", "name=deploy"]);
        assert!(!String::from_utf8(command.output().unwrap().stdout).unwrap().contains("Body of"));
    }
}

/// A workspace with 150 skills, in the order of their numbers.
fn many() -> Home {
    let home = Home::with(&[]);
    for number in 0..150 {
        let name = format!("skill-{number:03}");
        home.write(&format!(".claude/skills/{name}/SKILL.md"), &skill(&name));
    }
    home
}

/// Each page would otherwise search all folders again, so that long lists would take quadratic time.
#[test]
fn the_pages_of_a_list_continue_in_what_was_found_for_the_first() {
    for (method, key) in [("skills/list", "skills"), ("resources/list", "resources")] {
        let home = many();
        let mut server = Server::start(&home, &["--pack", "skills"]);
        let first = server.ask(method, &json!({}))["result"].clone();
        std::fs::remove_file(home.workspace().join(".claude/skills/skill-140/SKILL.md")).unwrap();
        let next = server.ask(method, &json!({ "cursor": first["nextCursor"] }))["result"].clone();
        assert!(next[key].to_string().contains("skill-140"), "{next}");
        let again = server.ask(method, &json!({}))["result"].clone();
        let last = server.ask(method, &json!({ "cursor": again["nextCursor"] }))["result"].clone();
        assert!(!last[key].to_string().contains("skill-140"), "{last}");
        server.end();
    }
}

#[test]
fn a_second_tool_is_listed_only_while_the_list_of_skills_is_cut() {
    for (settings, is_cut) in [("", false), ("[packs.skills]\nbudget_tokens = 100\n", true)] {
        let home = many();
        home.write("toolsd.toml", settings);
        home.trust();
        let mut server = Server::start(&home, &["--pack", "skills"]);
        let listed = server.ask("tools/list", &json!({}))["result"]["tools"].clone();
        let names: Vec<&str> = listed.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        let wanted: &[&str] = if is_cut { &["skill", "find_skill"] } else { &["skill"] };
        assert_eq!(names, wanted);
        let text = listed[0]["description"].as_str().unwrap();
        let head = "Load a skill by name to get specialized instructions.\n\nAvailable skills:\n- skill-000: About";
        assert!(text.starts_with(head), "{text}");
        let last = "more; `find_skill` finds skills by words, and lists all)";
        assert_eq!(text.lines().last().unwrap().ends_with(last), is_cut, "{text}");
        server.end();
    }
}

#[test]
fn a_text_with_nul_is_sent_as_bytes() {
    let home = Home::with(&[(".claude/skills/tea/SKILL.md", &skill("tea")), (".claude/skills/tea/a.txt", "a\0b")]);
    let mut server = Server::start(&home, &["--pack", "skills"]);
    let read = server.ask("resources/read", &json!({ "uri": "skill://tea/a.txt" }))["result"]["contents"][0].clone();
    assert_eq!((&read["blob"], &read["text"]), (&json!("YQBi"), &json!(null)));
    server.end();
}

/// Each message names a folder; naming it in either way that the message describes lets the skill be loaded.
#[test]
fn the_remedies_that_messages_name_work() {
    let layouts: [(&str, &str, &str); 4] = [
        // What is a link, where it leads to, and the skill.
        (".claude/skills/tea", "tea", "tea"),
        (".claude/skills/tea/SKILL.md", "tea/SKILL.md", "tea"),
        (".claude/skills", "", "tea"),
        // An installed plugin that is somewhere else.
        ("", "", "brewer:tea"),
    ];
    for (link, target, name) in layouts {
        let home = Home::with(&[(".claude/skills/other/SKILL.md", &skill("other"))]);
        let kept = home.workspace().parent().unwrap().join("kept");
        fs::create_dir_all(kept.join("tea")).unwrap();
        fs::write(kept.join("tea/SKILL.md"), skill("tea")).unwrap();
        let link = home.workspace().join(link);
        if link.ends_with("skills") {
            fs::remove_dir_all(&link).unwrap();
        }
        if name == "brewer:tea" {
            let plugins = json!({ "plugins": { "brewer@shop": [{ "installPath": kept }] } });
            let file = home.user().join(".claude/plugins/installed_plugins.json");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, plugins.to_string()).unwrap();
        } else {
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(kept.join(target), &link).unwrap();
        }
        let name = format!("name={name}");
        let load = |words: &[&str]| home.run(&[words, &["--pack", "skills", "call", "skill", &name]].concat());
        let refused = load(&[]);
        let message = format!("{}{}", refused.out, refused.err);
        assert!(!message.contains("Body of tea"), "{message}");
        let (_, rest) = message.split_once("`--root ").unwrap_or_else(|| panic!("no remedy: {message}"));
        let (folder, rest) = rest.split_once('`').unwrap();
        let loaded = load(&["--root", folder]);
        assert!(loaded.out.contains("Body of tea"), "--root {folder}: {}", loaded.out);
        assert!(rest.contains("`also_read` of `[packs.skills]`") && rest.contains("`toolsd trust`"), "{rest}");
        home.write("toolsd.toml", &format!("[packs.skills]\nalso_read = [{folder:?}]\n"));
        home.trust();
        let loaded = load(&[]);
        assert!(loaded.out.contains("Body of tea"), "also_read {folder}: {}", loaded.out);
    }
}

#[test]
fn a_file_that_is_a_link_is_refused_with_a_remedy() {
    let home = Home::with(&[
        (".claude/skills/tea/SKILL.md", &skill("tea")),
        ("kept/a.md", "Kept."),
        ("toolsd.toml", "[packs.skills]\nfiles = true\n"),
    ]);
    home.trust();
    symlink(home.workspace().join("kept/a.md"), home.workspace().join(".claude/skills/tea/a.md")).unwrap();
    symlink(home.workspace().join("kept"), home.workspace().join(".claude/skills/tea/kept")).unwrap();
    for path in ["a.md", "kept/a.md"] {
        let said = home.run(&["call", "read_skill_file", "name=tea", &format!("path={path}")]).ended(1);
        assert!(said.out.contains("are not followed. Replace it by a copy"), "{path}: {}", said.out);
    }
    // As the message says.
    fs::remove_file(home.workspace().join(".claude/skills/tea/a.md")).unwrap();
    fs::copy(home.workspace().join("kept/a.md"), home.workspace().join(".claude/skills/tea/a.md")).unwrap();
    let said = home.run(&["call", "read_skill_file", "name=tea", "path=a.md"]).ended(0);
    assert_eq!(said.out.trim(), "Kept.");
}
