//! No cycles between files, nor between the modules of a folder: a reader of a file can first read what it depends on.

use std::collections::{BTreeMap, VecDeque};

use super::imports::Imports;

/// The shortest cycle through each file that is on one; each cycle once, listed file by file.
pub fn circles(imports: &Imports) -> Vec<String> {
    let mut found: BTreeMap<Vec<&str>, String> = BTreeMap::new();
    for file in imports.keys() {
        if let Some(circle) = shortest(imports, file) {
            let mut key = circle.clone();
            key.sort_unstable();
            found.entry(key).or_insert_with(|| reported(imports, &circle));
        }
    }
    found.into_values().collect()
}

/// Which modules of a folder name each other: a file and the files in the folder of its name are one module.
pub fn between_modules(imports: &Imports) -> Imports {
    let mut found = Imports::new();
    for (file, others) in imports {
        for (other, names) in others {
            let (one, two) = (file.trim_end_matches(".rs"), other.trim_end_matches(".rs"));
            let (one, two): (Vec<&str>, Vec<&str>) = (one.split('/').collect(), two.split('/').collect());
            let Some(at) = one.iter().zip(&two).position(|(one, two)| one != two) else { continue };
            let module = |parts: &[&str]| parts[..=at].join("/");
            let known = found.entry(module(&one)).or_default().entry(module(&two)).or_default();
            known.extend(names.iter().cloned());
        }
    }
    found
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

fn reported(imports: &Imports, circle: &[&str]) -> String {
    let steps = circle.iter().enumerate().map(|(at, file)| {
        let other = circle[(at + 1) % circle.len()];
        let names: Vec<&str> = imports[*file][other].iter().map(String::as_str).collect();
        format!("  src/{file} names {} of src/{other}", names.join(", "))
    });
    format!("a circle of {} files:\n{}", circle.len(), steps.collect::<Vec<_>>().join("\n"))
}
