//! Formats of git: the placeholders and fields that start no program. `%G?` starts gpg, as `%(signature)` does, and
//! `%(describe)` another git.

/// Letters that may stand behind `%` in a format of `git log`, with the letters that follow some of them.
const PLACEHOLDERS: [(char, &str); 23] = [
    ('%', ""),
    ('n', ""),
    ('m', ""),
    ('H', ""),
    ('h', ""),
    ('T', ""),
    ('t', ""),
    ('P', ""),
    ('p', ""),
    ('a', "nNeElLdDrtiIsh"),
    ('c', "nNeElLdDrtiIsh"),
    ('g', "DdnNeEs"),
    ('d', ""),
    ('D', ""),
    ('S', ""),
    ('e', ""),
    ('s', ""),
    ('f', ""),
    ('b', ""),
    ('B', ""),
    ('N', ""),
    ('x', "0123456789abcdefABCDEF"),
    ('C', "r"),
];

/// What may stand in `%(…)` of a format of `git log`.
const EXTRAS: [&str; 2] = ["decorate", "trailers"];

/// What may stand in `%(…)` of a format of `git for-each-ref`, before a `:`.
const FIELDS: &str = "HEAD align author authordate authoremail authorname body committer committerdate committeremail \
    committername contents creator creatordate deltabase else end if numparent object objectname objectsize \
    objecttype parent push refname subject symref tag tagger taggerdate taggeremail taggername then trailers tree type \
    upstream ahead-behind is-base";

/// Named formats of `git log`.
const NAMED: &str = "oneline short medium full fuller reference email raw";

//= docs/spec.md#git
//# A format MUST NOT hold a placeholder that starts a program.
/// The first placeholder of a format of `git log` that is not let in.
pub(super) fn foreign_placeholder(format: &str) -> Option<String> {
    if NAMED.split_whitespace().any(|name| name == format) {
        return None;
    }
    let text = format.strip_prefix("format:").or_else(|| format.strip_prefix("tformat:")).unwrap_or(format);
    if !text.contains('%') {
        // Any other word is the name of a format, which a configuration may give.
        return (text == format && !text.is_empty()).then(|| format.to_owned());
    }
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        let after = after.trim_start_matches(['+', '-', ' ']);
        let Some(letter) = after.chars().next() else { return Some("%".to_owned()) };
        rest = &after[letter.len_utf8()..];
        if letter == '(' {
            let name = rest.split([')', ':', ',']).next().unwrap_or_default();
            if !EXTRAS.contains(&name) {
                return Some(format!("%({name})"));
            }
            continue;
        }
        let Some((_, more)) = PLACEHOLDERS.iter().find(|(known, _)| *known == letter) else {
            return Some(format!("%{letter}"));
        };
        if !more.is_empty() {
            let Some(next) = rest.chars().next().filter(|next| more.contains(*next)) else {
                return Some(format!("%{letter}{}", rest.chars().next().map(String::from).unwrap_or_default()));
            };
            rest = &rest[next.len_utf8()..];
        }
    }
    None
}

/// The first field of a format of `git for-each-ref` that is not let in.
pub(super) fn foreign_field(format: &str) -> Option<String> {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once("%(") {
        let name = after.split([')', ':', '=']).next().unwrap_or_default().trim_start_matches('*');
        if !FIELDS.split_whitespace().any(|field| field == name) {
            return Some(format!("%({name})"));
        }
        rest = after;
    }
    None
}

/// The key of an order of refs, if it is not let in: a field, turned round by `-`, compared as versions are.
pub(super) fn foreign_key(key: &str) -> Option<String> {
    let key = key.strip_prefix('-').unwrap_or(key);
    let field = key.strip_prefix("version:").or_else(|| key.strip_prefix("v:")).unwrap_or(key);
    foreign_field(&format!("%({field})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#git
    //= type=test
    //# A format MUST NOT hold a placeholder that starts a program.
    #[test]
    fn formats_that_start_nothing_are_let_in() {
        for format in ["%H%x09%s", "%cI", "format:%an <%ae>%n%b", "oneline", "%(trailers:key=Refs,valueonly)%+d", "%%G"]
        {
            assert_eq!(foreign_placeholder(format), None, "{format}");
        }
        for format in [
            "%G?",
            "%GK",
            "%+GK",
            "%h %- G?",
            "%(signature)",
            "%(describe)",
            "%h%(describe:tags)",
            "%",
            "%xGG",
            "%aG",
            "mine",
            "%(trailers)%G?",
            "%%%G?",
            "%w(1)",
        ] {
            assert!(foreign_placeholder(format).is_some(), "{format}");
        }
        assert_eq!(foreign_field("%(refname:lstrip=2) %(*objectname)%(if:equals=a)%(HEAD)%(then)x%(end)"), None);
        for format in ["%(signature)", "%(signature:key)", "%(refname)%(*signature:grade)", "%(rest)"] {
            assert!(foreign_field(format).is_some(), "{format}");
        }
    }
}
