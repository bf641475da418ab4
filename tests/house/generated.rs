//! Generated files agree with the tables in the source; `TOOLSD_BLESS=1` rewrites them.

use crate::pages::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toolsd::manual::{self, ManualEntries};

/// The error if the file has another text, unless it was just updated.
fn stale(path: &str, text: &str) -> Option<String> {
    let file = root().join(path);
    let found = fs::read_to_string(&file).unwrap_or_default();
    if found == text {
        return None;
    }
    if std::env::var_os("TOOLSD_BLESS").is_some() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        return None;
    }
    let same = found.lines().zip(text.lines()).take_while(|(one, other)| one == other).count();
    Some(format!("{path}:{}: is stale: run `just bless`", same + 1))
}

//= docs/spec.md#primitives
//= type=test
//# The signatures and the documentation of primitives MUST be generated from their declarations.
#[test]
fn pages_and_signatures_are_fresh() {
    let errors: Vec<String> = manual::files().iter().filter_map(|(path, text)| stale(path, text)).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn the_page_of_primitives_begins_with_links_to_all_families() {
    let page = fs::read_to_string(root().join("docs/primitives.md")).unwrap();
    let overview = page.split("\n## ").next().unwrap();
    let chapters: BTreeSet<&str> = page.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    let rows: Vec<&str> = overview.lines().filter(|line| line.starts_with("- [")).collect();
    assert_eq!(rows.len(), manual::families().len());
    for (row, family) in rows.into_iter().zip(manual::families()) {
        let title = family.title();
        assert!(row.starts_with(&format!("- [{title}](#")), "{title}: {row}");
        assert!(chapters.contains(title), "there is no chapter `{title}`");
        for primitive in manual::family_primitives(family) {
            assert!(row.contains(&format!("`{}`", primitive.name)), "{title} does not list {}", primitive.name);
        }
    }
}

/// Every code that the source makes, outside of tests.
fn codes_in(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            codes_in(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap_or_default();
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
        for rest in lines.flat_map(|line| ["Code(\"", "Self(\""].map(|open| line.split(open).skip(1))).flatten() {
            found.push((path.clone(), rest.split('"').next().unwrap().to_owned()));
        }
    }
}

#[test]
fn every_error_code_is_explained() {
    let mut found = Vec::new();
    codes_in(&root().join("src"), &mut found);
    assert!(found.len() > 40, "{found:?}");
    // A format follows the dot of `parse.json`: `parse` explains all of them.
    let unknown: Vec<String> = found
        .iter()
        .filter(|(_, code)| ManualEntries::named(code.split('.').next().unwrap()).is_empty())
        .map(|(path, code)| format!("{}: `{code}` is not explained in src/manual/error_codes.rs", path.display()))
        .collect();
    assert!(unknown.is_empty(), "{}", unknown.join("\n"));
}

#[test]
fn every_explained_code_is_made_somewhere() {
    let mut found = Vec::new();
    codes_in(&root().join("src"), &mut found);
    let all = ManualEntries::all();
    let codes = all.rules.iter().map(|rule| rule.code.0).chain(all.error_codes.iter().map(|error| error.code));
    let gone: Vec<&str> = codes.filter(|code| !found.iter().any(|(_, made)| made == code)).collect();
    assert!(gone.is_empty(), "nothing makes {gone:?}");
}
