//! Skills where people keep them: links into a folder of dotfiles, and the folders of a monorepo.

use crate::support::home::Home;
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
