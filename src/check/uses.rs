//! Who uses a file of a pack: definitions, scripts and templates, directly or through others.

use super::subject::Subject;
use crate::registry::PackParts;
use crate::source::Place;
use std::collections::BTreeMap;

/// A place that names a file.
#[derive(Clone, Debug)]
pub struct FileUse {
    /// The path of the file that is named.
    pub path: String,
    /// Where it is named.
    pub at: Place,
    /// The files between this place and the file that was asked for, the nearest to the place first.
    pub through: Vec<String>,
}

/// Every place in a pack that leads to a file, the direct ones first.
pub fn uses_of(parts: &PackParts, path: &str) -> Vec<FileUse> {
    let subject = Subject::new(parts, &[]);
    let mut by_path: BTreeMap<&str, Vec<&Place>> = BTreeMap::new();
    let named = subject.named_files().into_iter().chain(subject.asked_files());
    let named = named.map(|(_, path, at)| (path, at)).chain(subject.templates.inclusions());
    named.for_each(|(path, at)| by_path.entry(path).or_default().push(at));
    let mut found: Vec<FileUse> = Vec::new();
    let mut open = vec![(path.to_owned(), Vec::new())];
    let mut seen = vec![path.to_owned()];
    while let Some((path, through)) = open.pop() {
        for at in by_path.get(path.as_str()).into_iter().flatten() {
            let user = &at.source.path;
            found.push(FileUse { path: path.clone(), at: (*at).clone(), through: through.clone() });
            // A definition is where a client begins.
            if !user.ends_with(".toml") && !seen.contains(user) {
                seen.push(user.clone());
                open.push((user.clone(), [std::slice::from_ref(user), through.as_slice()].concat()));
            }
        }
    }
    found.sort_by_key(|one| (one.through.len(), one.at.source.path.clone(), one.at.span.start));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::read_packs;

    #[test]
    fn a_partial_is_used_through_others() {
        let tool = "[pack]\ntitle = \"A\"\nversion = \"1.0.0\"\n[[tool]]\nname = \"t\"\ndescription = \"Does it.\"\neffect = \"pure\"\ntemplate = \"templates/pack/page.hbs\"\n";
        let files = [
            ("tools.d/pack.toml", tool),
            ("templates/pack/page.hbs", "{{> templates/pack/row}}"),
            ("templates/pack/row.hbs", "{{> templates/pack/cell}} {{> templates/pack/cell}}"),
            ("templates/pack/cell.hbs", "c"),
            ("templates/pack/other.hbs", "o"),
        ];
        let (parts, _) = read_packs(&files);
        let shown = |path: &str| -> Vec<String> {
            let uses = uses_of(&parts, path);
            uses.iter().map(|one| format!("{} through {}", one.at, one.through.join(", "))).collect()
        };
        assert_eq!(
            shown("templates/pack/cell.hbs"),
            [
                "templates/pack/row.hbs:1:5 through ",
                "templates/pack/row.hbs:1:31 through ",
                "templates/pack/page.hbs:1:5 through templates/pack/row.hbs",
                "tools.d/pack.toml:8:12 through templates/pack/page.hbs, templates/pack/row.hbs",
            ]
        );
        assert!(shown("templates/pack/other.hbs").is_empty());
    }
}
