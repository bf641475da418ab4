//! Where a path really lies, free of symlinks.

use crate::world::path;

/// The path without symlinks, as far as it is there.
pub(super) fn real_path(given: &str) -> String {
    let mut rest = String::new();
    let mut folder = path::clean(given);
    loop {
        let found = std::fs::canonicalize(&folder).ok().and_then(|found| found.into_os_string().into_string().ok());
        match found {
            Some(found) if rest.is_empty() => return found,
            Some(found) => return path::join(&found, &rest),
            None if folder.len() <= 1 => return path::clean(given),
            None => {
                let name = path::name(&folder).to_owned();
                rest = if rest.is_empty() { name } else { path::join(&name, &rest) };
                folder = match path::folder(&folder) {
                    "" | "." => "/".to_owned(),
                    above => above.to_owned(),
                };
            }
        }
    }
}
