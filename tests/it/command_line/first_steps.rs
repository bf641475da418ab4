//! What new authors of packs meet first: the folder of `--dir`, the warnings of a call, packs that are not trusted.

use crate::support::home::Home;

const PACK: &str = "[pack]\ntitle = \"A\"\n[[tool]]\nname = \"say\"\ndescription = \"Says it.\"\neffect = \"pure\"\ntext = \"hello\"\n";

#[test]
fn a_folder_that_holds_no_packs_is_told_with_the_one_that_does() {
    let home = Home::with(&[("dir/tools.d/a/b.toml", PACK), ("other/.toolsd/tools.d/a.toml", PACK), ("bare/x", "")]);
    for (given, used) in [("dir/tools.d", "dir`"), ("dir/tools.d/a", "dir`"), ("other", "other/.toolsd`")] {
        let told = home.run(&["check", "--dir", given]).ended(0);
        assert!(told.out.contains("has no packs: `--dir` names the folder that contains `tools.d`"), "{}", told.out);
        let help = told.out.lines().find(|line| line.contains("use `--dir /")).unwrap_or_default();
        assert!(help.ends_with(used), "{}", told.out);
    }
    let told = home.run(&["call", "say", "--dir", "bare"]).ended(2);
    assert!(told.err.contains("bare/tools.d`; `toolsd new pack NAME --dir"), "{}", told.err);
    assert!(!home.run(&["check", "--dir", "dir"]).ended(0).out.contains("has no packs"));
}

#[test]
fn a_call_leaves_the_warnings_of_rules_to_check() {
    let home = Home::with(&[]);
    home.write_user("tools.d/a.toml", PACK);
    assert!(home.run(&["check"]).ended(0).out.contains("warning[tool-example]"));
    let told = home.run(&["call", "say"]).ended(0);
    assert_eq!((told.out.as_str(), told.err.as_str()), ("hello\n", ""));
    home.write_user("tools.d/b.toml", "[pack]\ntitle = 3\n");
    assert!(home.run(&["call", "say"]).ended(0).err.contains("b.toml:2:9"));
}

#[test]
fn a_pack_that_is_not_trusted_is_told_not_to_be_checked() {
    let home = Home::with(&[(".toolsd/tools.d/a.toml", PACK)]);
    let told = home.run(&["check"]).ended(1).out;
    assert!(told.contains("the pack `a` is not used as its files are now, and so was not looked at"), "{told}");
    assert!(told.contains("run `toolsd trust`"), "{told}");
}
