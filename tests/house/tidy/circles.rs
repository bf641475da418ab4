//! No circles between files: whoever reads a file can read what it stands on first.

use std::collections::{BTreeMap, VecDeque};

use super::imports::Imports;

/// The shortest circle through each file that lies on one; each circle once, told file by file.
pub fn circles(imports: &Imports) -> Vec<String> {
    let mut found: BTreeMap<Vec<&str>, String> = BTreeMap::new();
    for file in imports.keys() {
        if let Some(circle) = shortest(imports, file) {
            let mut key = circle.clone();
            key.sort_unstable();
            found.entry(key).or_insert_with(|| told(imports, &circle));
        }
    }
    found.into_values().collect()
}

/// The files of the shortest way from `file` back to it.
fn shortest<'a>(imports: &'a Imports, file: &'a str) -> Option<Vec<&'a str>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut next = VecDeque::from([file]);
    while let Some(here) = next.pop_front() {
        for other in imports.get(here).into_iter().flat_map(BTreeMap::keys) {
            if other == file {
                let mut way = vec![here];
                while *way.last()? != file {
                    way.push(came_from[way.last()?]);
                }
                way.reverse();
                return Some(way);
            }
            if !came_from.contains_key(other.as_str()) {
                came_from.insert(other, here);
                next.push_back(other);
            }
        }
    }
    None
}

fn told(imports: &Imports, circle: &[&str]) -> String {
    let steps = circle.iter().enumerate().map(|(at, file)| {
        let other = circle[(at + 1) % circle.len()];
        let names: Vec<&str> = imports[*file][other].iter().map(String::as_str).collect();
        format!("  src/{file} names {} of src/{other}", names.join(", "))
    });
    format!("a circle of {} files:\n{}", circle.len(), steps.collect::<Vec<_>>().join("\n"))
}
