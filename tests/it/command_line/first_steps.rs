//! What new authors of packs meet first: the folder of `--dir`, the warnings of a call, packs that are not trusted.

use crate::support::home::Home;
use toolsd::script::default_function;

const PACK: &str = "[pack]\ntitle = \"A\"\n[[tool]]\nname = \"say\"\ndescription = \"Says it.\"\neffect = \"pure\"\ntext = \"hello\"\n";

#[test]
fn folders_without_packs_are_reported_with_the_right_one() {
    let home = Home::with(&[("dir/tools.d/a/b.toml", PACK), ("other/.toolsd/tools.d/a.toml", PACK), ("bare/x", "")]);
    for (given, used) in [("dir/tools.d", "dir`"), ("dir/tools.d/a", "dir`"), ("other", "other/.toolsd`")] {
        let reported = home.run(&["check", "--dir", given]).ended(0);
        assert!(
            reported.out.contains("has no packs: `--dir` names the folder that contains `tools.d`"),
            "{}",
            reported.out
        );
        let help = reported.out.lines().find(|line| line.contains("use `--dir /")).unwrap_or_default();
        assert!(help.ends_with(used), "{}", reported.out);
    }
    let reported = home.run(&["call", "say", "--dir", "bare"]).ended(2);
    assert!(reported.err.contains("bare/tools.d`; `toolsd new pack NAME --dir"), "{}", reported.err);
    assert!(!home.run(&["check", "--dir", "dir"]).ended(0).out.contains("has no packs"));
}

#[test]
fn a_call_leaves_the_warnings_of_rules_to_check() {
    let home = Home::with(&[]);
    home.write_user("tools.d/a.toml", PACK);
    assert!(home.run(&["check"]).ended(0).out.contains("warning[tool-example]"));
    let reported = home.run(&["call", "say"]).ended(0);
    assert_eq!((reported.out.as_str(), reported.err.as_str()), ("hello\n", ""));
    home.write_user("tools.d/b.toml", "[pack]\ntitle = 3\n");
    assert!(home.run(&["call", "say"]).ended(0).err.contains("b.toml:2:9"));
}

#[test]
fn untrusted_packs_are_reported_as_unchecked() {
    let home = Home::with(&[(".toolsd/tools.d/a.toml", PACK)]);
    let reported = home.run(&["check"]).ended(1).out;
    assert!(reported.contains("the pack `a` is not used as its files are now, and so was not looked at"), "{reported}");
    assert!(reported.contains("run `toolsd trust`"), "{reported}");
}

#[test]
fn a_function_that_two_packs_contain_is_found() {
    let script = "fn say(args) {\n    let words = [];\n    for word in args.words {\n        words.push(word);\n    }\n    words.join(\" \")\n}\n";
    let home = Home::with(&[]);
    for pack in ["a", "b"] {
        home.write_user(
            &format!("tools.d/{pack}.toml"),
            &PACK.replace("text = \"hello\"\n", "").replace("say", &format!("say_{pack}")),
        );
        home.write_user(&format!("tools.d/{pack}.rhai"), &script.replace("say", &format!("say_{pack}")));
    }
    let reported = home.run(&["check"]).out;
    assert!(reported.contains("warning[copied-function]"), "{reported}");
}

#[test]
fn a_prompt_that_a_function_lists_has_known_keys_only() {
    let home = Home::with(&[]);
    home.write_user("tools.d/a.toml", "[pack]\ntitle = \"A\"\n[[prompt]]\nname = \"greet\"\ndescription = \"Greets.\"\nlist = \"greetings\"\ntext = \"Hello {{name}}\"\n");
    for (key, help) in [("bindd", "did you mean `bind`?"), ("bind", "")] {
        home.write_user(
            "tools.d/a.rhai",
            &format!("fn greetings() {{ [#{{ name: \"greet_ada\", {key}: #{{ name: \"Ada\" }} }}] }}"),
        );
        let listed = home.run(&["list"]);
        let all = format!("{}{}", listed.out, listed.err);
        if help.is_empty() {
            assert!(all.contains("greet_ada") && !all.contains("with a key"), "{all}");
        } else {
            assert!(all.contains(&format!("returns the prompt `greet_ada` with a key `{key}`")), "{all}");
            assert!(all.contains(help), "{all}");
        }
    }
}

#[test]
fn without_any_pack_the_next_step_is_named() {
    let home = Home::with(&[]);
    assert!(home.run(&["call", "say"]).ended(2).err.contains("`toolsd new pack NAME` writes one"));
    assert!(home.run(&["trust"]).err.contains("`toolsd new pack NAME` writes a pack"));
    // A script without the definition of its pack is the likely reason.
    home.write_user("tools.d/a.rhai", "fn say(args) { 1 }\n");
    assert!(home.run(&["call", "say"]).ended(2).err.contains("`tools.d/a.rhai` belongs to no pack"));
}

#[test]
fn what_only_follows_from_untrusted_files_is_not_reported() {
    let home = Home::with(&[
        (".toolsd/tools.d/a.toml", &PACK.replace("text = \"hello\"\n", "")),
        (".toolsd/tools.d/a.rhai", "fn say(args) { 1 }\n"),
    ]);
    home.trust();
    home.write(".toolsd/tools.d/a.rhai", "fn say(args) { 2 }\n");
    let reported = home.run(&["check"]).ended(1).out;
    assert!(reported.contains("a.rhai` has changed") && !reported.contains("missing-file"), "{reported}");
}

const RESOURCE: &str =
    "[[resource]]\nname = \"cup\"\nuri_template = \"cup:///{name}\"\ndescription = \"A cup.\"\ntext = 3\n";

#[test]
fn a_broken_template_of_resources_and_an_unknown_prompt_are_answered_with_the_reason() {
    let home = Home::with(&[]);
    home.write_user("tools.d/a.toml", &format!("{PACK}{RESOURCE}"));
    let reported = home.run(&["read", "cup:///blue"]).err;
    assert!(reported.contains("resource `cup:///{name}` is unavailable"), "{reported}");
}

#[test]
fn a_content_that_was_trusted_stays_trusted_when_another_branch_is_visited() {
    let home = Home::with(&[]);
    home.run(&["new", "pack", "notes"]).ended(0);
    home.trust();
    let path = ".toolsd/tools.d/notes.rhai";
    let first = home.read(path);
    let second = first.replace("Hello", "Good day");
    home.write(path, &second);
    let said = home.run(&["call", "notes_hello", "name=Ada"]).ended(0);
    assert!(said.out.contains("Hello") && said.err.contains("changed since it was trusted"), "{}", said.err);
    home.trust();
    for (text, expected) in [(&first, "Hello, Ada!"), (&second, "Good day, Ada!"), (&first, "Hello, Ada!")] {
        home.write(path, text);
        let said = home.run(&["call", "notes_hello", "name=Ada", "--format", "json"]).ended(0);
        assert_eq!(said.json()["greeting"], expected);
    }
    home.write(path, &first.replace("Hello", "Bye"));
    assert!(home.run(&["call", "notes_hello", "name=Ada"]).ended(0).out.contains("Good day"), "what was trusted last");
    home.run(&["trust", "--revoke", "all"]).ended(0);
    for text in [&first, &second] {
        home.write(path, text);
        home.run(&["call", "notes_hello", "name=Ada"]).ended(2);
    }
}

/// Names that authors give to tools; many are primitives, or words of rhai.
const NATURAL_NAMES: &str = "add all analyze append apply ask assert await build bump call case chunk clean clear \
    close commit compare contains copy count create data debug default delete describe diff do download drop echo edit \
    end env eval exit explain export extract fetch files filter find fix for format get glob global graph grep hash \
    help import in index info insert is join keys len lines list lint load lock log map match max merge min module \
    move new next now open package parse parallel plan plot print private push put query random range read reduce \
    remove rename render replace report reset resolve return review run save scan script search select send set \
    shared show sort spawn split start status stop sum switch sync take test this thread throw trim try update upload \
    use validate values var verify watch while with write yield";

#[test]
fn tools_may_have_the_names_of_primitives_and_of_words_of_rhai() {
    let (mut tools, mut script) = ("[pack]\ntitle = \"A\"\n".to_owned(), String::new());
    for name in NATURAL_NAMES.split_whitespace() {
        tools.push_str(&format!("[[tool]]\nname = \"{name}\"\ndescription = \"Says it.\"\neffect = \"pure\"\n"));
        script.push_str(&format!("fn {}(args) {{ \"{name}\" }}\n", default_function(name, "tool")));
    }
    let home = Home::with(&[("packs/tools.d/a.toml", &tools), ("packs/tools.d/a.rhai", &script)]);
    let run = |words: &[&str]| home.run(&[words, &["--dir", "packs"]].concat());
    assert!(!run(&["check"]).out.contains("error["), "{}", run(&["check"]).out);
    for name in ["search", "new", "call", "run"] {
        assert_eq!(run(&["call", name]).ended(0).out, format!("{name}\n"));
        home.write("packs/tools.d/b.toml", "[pack]\ntitle = \"B\"\n");
        run(&["new", "tool", name, "--pack", "b"]).ended(0);
    }
    run(&["test", "--pack", "b"]).ended(0);
    home.write("packs/tools.d/c.toml", OTHER_DEFAULTS);
    home.write("packs/tools.d/c.rhai", "fn steep_it(args) { 1 }\nfn get_operation(args) { 2 }");
    let reported = run(&["check", "--pack", "c"]).out;
    assert!(reported.contains("has no function `find_resource`"), "{reported}");
    assert!(reported.contains("write `fn find_resource(variables) { … }`; known: `steep_it`"), "{reported}");
    assert_eq!(reported.matches("error[").count(), 1, "{reported}");
    assert_eq!(run(&["call", "steep-it"]).ended(0).out, "1\n");
    assert_eq!(run(&["call", "pot", "action=get"]).ended(0).out, "2\n");
}

const OTHER_DEFAULTS: &str = "[pack]\ntitle = \"C\"\n[[resource]]\nname = \"find\"\nuri = \"a:///find\"\n\
    [[tool]]\nname = \"steep-it\"\ndescription = \"Steeps a pot of tea, and says how.\"\neffect = \"pure\"\n\
    [[tool]]\nname = \"pot\"\ndescription = \"Says what is in a pot of tea.\"\ndispatch = \"action\"\n\
    [tool.operations.get]\ndescription = \"Returns it.\"\neffect = \"pure\"\n";
