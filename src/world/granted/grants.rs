//! Grants as globs: `~` and variables filled in, relative ones once for each root.

use crate::diagnostic::Result as Checked;
use crate::world::glob::Globs;
use crate::world::{World, path};

/// A name that nobody has thought of: what covers it covers all of a folder.
pub(super) const ALL_BELOW: &str = "\u{1}/\u{1}";

/// An absolute path below the root as seen from there; any other stays what it is.
pub(super) fn below_root(root: &str, path: String) -> String {
    match path.strip_prefix(root) {
        Some("") => ".".to_owned(),
        Some(rest) if rest.starts_with('/') && path::is_absolute(&path) => rest[1..].to_owned(),
        _ => path,
    }
}

/// The globs of grants; one without wildcards covers what lies below, too. A relative one holds beneath each root.
//= docs/spec.md#roots
//# A relative grant MUST hold beneath the root of the pack and beneath every root that the user granted, and nowhere else.
pub(super) fn compile(world: &dyn World, grants: &[String], roots: &[String]) -> Checked<Globs> {
    let mut globs = Vec::new();
    for grant in grants {
        let Some(filled) = fill(world, grant, globset::escape) else { continue };
        let clean = below_root(world.root(), path::clean(&filled));
        let is_glob = grant.replace("${", "").contains(['*', '?', '[', '{', '\\']);
        let mut everywhere = vec![clean];
        if path::is_below(&everywhere[0], ".") {
            let elsewhere = |root: &String| path::join(&globset::escape(root), &everywhere[0]);
            everywhere.extend(roots.iter().map(elsewhere).collect::<Vec<_>>());
        }
        for glob in everywhere {
            globs.extend((!is_glob).then(|| format!("{glob}/**")));
            globs.push(glob);
        }
    }
    Globs::new(&globs, ".")
}

/// What a grant names, as files and folders that all of it lies in and nothing else: absolute, beneath each root. A glob
/// that is narrower gives the smallest folder that it lies in, as it would be written in its place.
pub(super) fn folders(world: &dyn World, grant: &str, roots: &[String]) -> Result<Vec<String>, String> {
    let is_glob = |part: &str| part.contains(['*', '?', '[', '{', '\\']);
    let whole = match grant {
        "**" => ".",
        _ => grant.strip_suffix("/**").unwrap_or(grant),
    };
    // The braces of a variable are none of a glob.
    if is_glob(&whole.replace("${", "$")) {
        let plain: Vec<&str> = grant.split('/').take_while(|part| !is_glob(&part.replace("${", "$"))).collect();
        return Err(if plain.is_empty() { ".".to_owned() } else { plain.join("/") });
    }
    let Some(filled) = fill(world, whole, str::to_owned) else { return Ok(Vec::new()) };
    let clean = below_root(world.root(), path::clean(&filled));
    if !path::is_below(&clean, ".") {
        return Ok(vec![clean]);
    }
    let roots = std::iter::once(world.root()).chain(roots.iter().map(String::as_str));
    Ok(roots.map(|root| path::join(root, &clean)).collect())
}

/// The smallest folders and files, absolute, that hold all of a folder which grants cover.
pub(super) fn enclosing_folders(world: &dyn World, grants: &[String], roots: &[String], within: &str) -> Vec<String> {
    let mut found = Vec::new();
    for grant in grants {
        let Some(filled) = fill(world, grant, globset::escape) else { continue };
        let named = match filled.find(['*', '?', '[', '{', '\\']) {
            Some(at) => {
                filled[..at].rsplit_once('/').map_or(".", |(folder, _)| if folder.is_empty() { "/" } else { folder })
            }
            None => filled.as_str(),
        };
        let bases = std::iter::once(world.root()).chain(roots.iter().map(String::as_str));
        for base in bases {
            let absolute = path::join(base, named);
            if path::is_below(within, &absolute) {
                found.push(within.to_owned());
            } else if path::is_below(&absolute, within) {
                found.push(absolute);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// The grant with `~` and variables filled in, written as `literal` says; nothing if a variable is not set, or empty.
fn fill(world: &dyn World, grant: &str, literal: fn(&str) -> String) -> Option<String> {
    let mut filled = String::new();
    let mut rest = grant;
    if let (Some(below), Some(home)) = (grant.strip_prefix('~'), world.env("HOME"))
        && (below.is_empty() || below.starts_with('/'))
    {
        filled = literal(&home);
        rest = below;
    }
    while let Some(at) = rest.find('$') {
        filled.push_str(&rest[..at]);
        let after = &rest[at + 1..];
        let (name, next) = match after.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            Some(braced) => braced,
            None => {
                let end = after.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(after.len());
                after.split_at(end)
            }
        };
        // An empty one would leave the root of the disk.
        filled.push_str(&literal(&world.env(name).filter(|value| !value.is_empty())?));
        rest = next;
    }
    filled.push_str(rest);
    Some(filled)
}
