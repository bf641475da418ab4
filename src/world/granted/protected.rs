//! Names that no grant to write covers, in whichever way a file system may let them be spelled.

use unicode_normalization::UnicodeNormalization;

/// History, what is trusted, and the settings of the host: in any folder.
pub(super) const PROTECTED: [&str; 3] = [".git", ".toolsd", "toolsd.toml"];

/// The protected name that some file system takes `part` of a path for: one that does not tell upper case from lower case,
/// normalizes Unicode, passes over letters that are not seen, or drops dots and blanks at the end, streams behind a `:`
/// and all but the short name. It may refuse a name that would be another one here; that is no harm.
pub fn protected_name(part: &str) -> Option<&'static str> {
    let stream = part.split(':').next().unwrap_or(part);
    let folded: String = stream
        .nfkc()
        .filter(|letter| !is_unseen(*letter))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    let folded = folded.trim_end_matches(['.', ' ']);
    let short = |name: &str| {
        let start: String = name.trim_start_matches('.').chars().take(4).collect();
        folded.split_once('~').is_some_and(|(stem, number)| {
            !stem.is_empty()
                && stem.starts_with(&start[..start.len().min(3)])
                && number.starts_with(|c: char| c.is_ascii_digit())
        })
    };
    PROTECTED.into_iter().find(|name| folded == *name || short(name))
}

/// The first part of a path that is such a name.
pub(super) fn protected_part(path: &str) -> Option<&str> {
    path.split('/').find(|part| protected_name(part).is_some())
}

/// Letters that a file system may leave out when it compares names, as HFS+ does.
fn is_unseen(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#writes
    //= type=test
    //# A grant to write MUST NOT cover `.git`, `.toolsd` or `toolsd.toml`.
    #[test]
    fn a_name_is_protected_in_every_spelling() {
        let spelled = [
            ".git",
            ".GIT",
            ".Git.",
            ".git ",
            ".git. .",
            ".g\u{200c}it",
            ".gi\u{feff}t",
            ".ｇit",
            ".git::$INDEX_ALLOCATION",
            "GIT~1",
            "git~2",
            ".toolsd",
            ".TOOLSD",
            ".toolſd",
            ".tool\u{200d}sd",
            "TOOLSD~1",
            "toolsd.toml",
            "Toolsd.TOML",
            "toolsd.toml.",
            "toolsd.toml:stream",
            "too~1.tom",
        ];
        for name in spelled {
            assert!(protected_name(name).is_some(), "{name:?}");
        }
        for name in [
            ".gitignore",
            ".github",
            "git",
            "toolsd",
            "toolsd.tom",
            "my.git",
            "a.git",
            ".gitx",
            "tool~",
            "~1",
            "a~1",
            "git~",
        ] {
            assert!(protected_name(name).is_none(), "{name:?}");
        }
    }
}
