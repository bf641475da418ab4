//! Makes a project smaller, as long as the two programs still differ in it.

use crate::Outcome;
use crate::project::Project;

/// No project is worth more attempts.
const MAX_ATTEMPTS: usize = 400;

/// The smallest project that was found for which `differs` still says yes: without files and links that do not matter, then
/// without lines that do not.
pub fn smallest(project: &Project, mut differs: impl FnMut(&Project) -> Outcome<bool>) -> Outcome<Project> {
    let mut best = project.clone();
    let mut left = MAX_ATTEMPTS;
    let mut attempt = |candidate: Project, best: &mut Project| -> Outcome<bool> {
        if left == 0 {
            return Ok(false);
        }
        left -= 1;
        let smaller = differs(&candidate)?;
        if smaller {
            *best = candidate;
        }
        Ok(smaller)
    };
    if best.committed {
        let candidate = Project { committed: false, ..best.clone() };
        attempt(candidate, &mut best)?;
    }
    for path in project.files.keys().chain(project.links.keys()) {
        let mut candidate = best.clone();
        candidate.files.remove(path);
        candidate.links.remove(path);
        attempt(candidate, &mut best)?;
    }
    for path in best.files.keys().cloned().collect::<Vec<_>>() {
        let mut size = best.files[&path].split_inclusive('\n').count().div_ceil(2);
        while size > 0 {
            let mut from = 0;
            while from < best.files[&path].split_inclusive('\n').count() {
                let mut candidate = best.clone();
                candidate.files.insert(path.clone(), without(&best.files[&path], from, size));
                if !attempt(candidate, &mut best)? {
                    from += size;
                }
            }
            size /= 2;
        }
    }
    Ok(best)
}

/// A text without some of its lines.
fn without(text: &str, from: usize, count: usize) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    lines.filter(|(at, _)| *at < from || *at >= from + count).map(|(_, line)| line).collect()
}
