//! `docs/specman.md` is walked through: its files are written, its commands run, what they print compared.

use crate::support::toolsd;
use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn the_path_of_a_newcomer_can_be_walked() {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/specman.md")).unwrap();
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("tea");
    fs::create_dir(&root).unwrap();
    let blocks: Vec<&str> = text.split("\n```").collect();
    assert!(blocks.len() % 2 == 1 && blocks.len() > 8, "a fence is not closed");
    for block in blocks.iter().skip(1).step_by(2) {
        let (head, body) = block.split_once('\n').unwrap();
        match head.split_once(' ') {
            Some((_, path)) => {
                let path = root.join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, format!("{body}\n")).unwrap();
            }
            None => walk(place.path(), &root, &format!("{body}\n")),
        }
    }
}

fn walk(home: &Path, root: &Path, text: &str) {
    let binary = Path::new(env!("CARGO_BIN_EXE_toolsd"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    for part in text.split("$ ").skip(1) {
        let (command, wanted) = part.split_once('\n').unwrap();
        let mut shell = Command::new("sh");
        let prepared = toolsd(home);
        shell.envs(prepared.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let output = shell
            .args(["-c", command])
            .env("PATH", &path)
            .env("TOOLSD_LOG", "error")
            .current_dir(root)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "$ {command}\n{said}\n{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(said.trim_end(), wanted.trim_end(), "$ {command}");
    }
}
