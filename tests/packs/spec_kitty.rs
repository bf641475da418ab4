//! The pack for Spec Kitty projects against its statements, recorded runs of the command line, and real projects.

mod crowd;
mod golden;
mod network;
mod play;

use play::Stage;
use std::collections::BTreeSet;

fn statements() -> toml::Table {
    include_str!("spec_kitty/statements.toml").parse().unwrap()
}

fn tables(table: &toml::Table, name: &str) -> Vec<toml::Table> {
    let all = table.get(name).and_then(toml::Value::as_array).cloned().unwrap_or_default();
    all.into_iter().map(|one| one.as_table().unwrap().clone()).collect()
}

fn names(table: &toml::Table, key: &str) -> Vec<String> {
    play::strings(&play::as_json(&table[key]))
}

/// Runs the checks of the table, on a project of the corpus or on others.
fn play_checks(on_corpus: bool) {
    let needs_corpus = |check: &toml::Table| check.get("project").is_some_and(|name| name.as_str() != Some("none"));
    let all = tables(&statements(), "check");
    let mut checks: Vec<_> = all.into_iter().filter(|check| needs_corpus(check) == on_corpus).collect();
    // Each has a project and a server of its own: two run at a time.
    let others = checks.split_off(checks.len() / 2);
    let failed: usize = std::thread::scope(|scope| {
        let played =
            [checks, others].map(|checks| scope.spawn(move || checks.iter().filter(|check| !is_held(check)).count()));
        played.into_iter().map(|played| played.join().unwrap()).sum()
    });
    assert_eq!(failed, 0, "checks failed, see above");
}

/// Runs a check and prints what fails.
fn is_held(check: &toml::Table) -> bool {
    let title = format!("{} {}", names(check, "of").join(" "), check["title"].as_str().unwrap());
    let mut stage = Stage::set(check);
    let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        for (at, step) in tables(check, "step").iter().enumerate() {
            stage.step(step, &format!("{title}, step {}", at + 1));
        }
    }));
    played.is_ok()
}

#[test]
fn checks_of_statements_hold() {
    play_checks(false);
}

#[test]
#[ignore = "real projects: `just corpora`"]
fn checks_of_statements_hold_on_real_projects() {
    play_checks(true);
}

/// Each statement has a check over the protocol, one in code, or a reason why it has none.
#[test]
fn every_statement_has_a_check() {
    let table = statements();
    let mut covered = BTreeSet::new();
    for check in tables(&table, "check") {
        let steps = tables(&check, "step");
        let requests = steps.iter().any(|step| ["call", "read", "request"].iter().any(|key| step.contains_key(*key)));
        let asserts = steps.iter().any(|step| {
            ["matches", "gives", "fits", "contains", "lacks", "keys"].iter().any(|key| step.contains_key(*key))
        });
        assert!(requests && asserts, "{} asks nothing, or expects nothing", names(&check, "title")[0]);
        covered.extend(names(&check, "of"));
    }
    for check in tables(&table, "code") {
        let function = check["test"].as_str().unwrap();
        let sources = [
            include_str!("spec_kitty.rs"),
            include_str!("spec_kitty/crowd.rs"),
            include_str!("spec_kitty/network.rs"),
            include_str!("spec_kitty/golden.rs"),
        ];
        assert!(sources.iter().any(|text| text.contains(&format!("fn {function}()"))), "there is no test {function}");
        covered.extend(names(&check, "of"));
    }
    for none in tables(&table, "untested") {
        assert!(none["why"].as_str().unwrap().len() > 20, "{none:?} needs a reason");
        covered.extend(names(&none, "of"));
    }
    let missing: Vec<String> =
        (1..=46).map(|number| format!("A{number}")).filter(|name| !covered.contains(name)).collect();
    assert!(missing.is_empty(), "no check for {}", missing.join(", "));
}

/// Real features are listed, reported and validated; the known errors are in the data, not ours.
#[test]
#[ignore = "real projects: `just corpora`"]
fn real_projects_are_read() {
    let (_folder, root) = play::project("real", true);
    let mut server = crate::support::Server::start(root.parent().unwrap(), "spec-kitty");
    let path = root.to_str().unwrap();
    let mut packages = 0;
    for entry in std::fs::read_dir(root.join("kitty-specs")).unwrap() {
        let slug = entry.unwrap().file_name().into_string().unwrap();
        let arguments =
            |operation: &str| serde_json::json!({ "project_path": path, "operation": operation, "feature_slug": slug });
        let listed = server.well("task_operations", arguments("list_tasks"));
        assert_eq!(listed["success"], true, "{slug}: {listed}");
        packages += listed["data"]["count"].as_u64().unwrap();
        let status = server.well("task_operations", arguments("query_status"));
        assert_eq!(status["data"]["total_wps"], listed["data"]["count"], "{slug}: {status}");
        for task in listed["data"]["tasks"].as_array().unwrap() {
            assert!(!task["title"].as_str().unwrap().is_empty(), "{slug}: {task}");
        }
    }
    let files = crate::support::git(&root, &["ls-files", "kitty-specs/*/tasks/WP*.md"]).lines().count() as u64;
    assert_eq!(packages, files, "every work package is listed");
    let valid =
        server.well("system_operations", serde_json::json!({ "project_path": path, "operation": "validate_project" }));
    assert_eq!(valid["success"], true, "{valid}");
    let warnings = play::strings(&valid["warnings"]);
    let known = [
        "the last line of the log says",
        "depends on",
        "circular dependencies",
        ".kittify/missions is missing",
        "and has no file in tasks/",
    ];
    let strange: Vec<&String> = warnings.iter().filter(|one| !known.iter().any(|known| one.contains(known))).collect();
    assert!(strange.is_empty(), "{strange:#?}");
    assert!(packages > 100, "{packages} work packages");
    // As the command line reads them, so many logs end in another lane than the front matter has.
    assert_eq!(warnings.iter().filter(|one| one.contains("the last line of the log says")).count(), 14);
}

/// A work package that is a link out of the project, or whose name is odd, is one that cannot be read: the others work.
#[cfg(target_os = "linux")]
#[test]
fn work_packages_that_cannot_be_opened_are_named() {
    use std::os::unix::ffi::OsStrExt;
    let home = crate::support::home::Home::with(&[("../outside.md", "---\nwork_package_id: WP08\n---\n")]);
    let sample = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tools.d/spec-kitty/sample");
    crate::support::copy(&sample, &home.workspace());
    let tasks = home.workspace().join("kitty-specs/001-pots/tasks");
    std::os::unix::fs::symlink("../../../../outside.md", tasks.join("WP08-out.md")).unwrap();
    std::fs::write(tasks.join(std::ffi::OsStr::from_bytes(b"WP06-\xff.md")), "x").unwrap();
    let listed = home.run(&[
        "--pack",
        "spec-kitty",
        "call",
        "system_operations",
        "operation=validate_project",
        &format!("project_path={}", home.workspace().display()),
    ]);
    assert!(
        listed.out.contains("WP08-out.md") && listed.out.contains("WP06-\u{fffd}.md"),
        "{}{}",
        listed.out,
        listed.err
    );
}
