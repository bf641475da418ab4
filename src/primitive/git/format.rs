//! Formats of git: the placeholders and fields that start no program. `%G?` starts gpg, as `%(signature)` does, and
//! `%(describe)` another git.

/// Names that start a program, wherever they stand.
const STARTING: [&str; 4] = ["G", "(describe", "(signature", "(*signature"];

/// What stands in brackets behind these letters: columns, wrapping and colours.
const MEASURED: [char; 4] = ['w', '<', '>', 'C'];

/// Longer numbers there ask for more blanks than anybody reads; older versions of git do not survive them.
const MOST_DIGITS: usize = 4;

/// A placeholder, field or name that is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Foreign {
    name: String,
    /// What there is in its place.
    known: String,
}

impl Foreign {
    fn new(name: impl Into<String>, known: impl Into<String>) -> Self {
        Self { name: name.into(), known: known.into() }
    }

    fn starts(&self) -> bool {
        let name = self.name.trim_start_matches('%').trim_start_matches(['+', '-', ' ']);
        STARTING.iter().any(|start| name.starts_with(start))
    }

    /// What is wrong with it.
    pub(super) fn message(&self) -> String {
        match self.starts() {
            true => format!("`{}` starts a program", self.name),
            false => format!("`{}` is not known for a format", self.name),
        }
    }

    /// What there is.
    pub(super) fn help(&self) -> String {
        match self.starts() {
            true => format!("no placeholder of a format may; there are {}", self.known),
            false => format!("there are {}", self.known),
        }
    }
}

/// All placeholders of `git log`, for people.
fn placeholders() -> String {
    let plain = PLACEHOLDERS.iter().map(|(letter, more)| match (*letter, more.is_empty()) {
        (letter, true) => format!("%{letter}"),
        ('x', false) => "%x and two hexadecimal digits".to_owned(),
        ('C', false) => "%Cred %Cgreen %Cblue %Creset".to_owned(),
        (letter, false) => format!("%{letter} with one of {more}"),
    });
    let measured = MEASURED.iter().map(|letter| format!("%{letter}(…)"));
    let extras = EXTRAS.iter().map(|name| format!("%({name})"));
    plain.chain(measured).chain(extras).collect::<Vec<_>>().join(", ")
}

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
    ('C', "rgb"),
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
pub(super) fn foreign_placeholder(format: &str) -> Option<Foreign> {
    if NAMED.split_whitespace().any(|name| name == format) {
        return None;
    }
    let text = format.strip_prefix("format:").or_else(|| format.strip_prefix("tformat:")).unwrap_or(format);
    if !text.contains('%') {
        // Any other word is the name of a format, which a configuration may give.
        let known = || format!("{}, and texts with placeholders such as `%H`", NAMED.replace(' ', ", "));
        return (text == format && !text.is_empty()).then(|| Foreign::new(format, known()));
    }
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        match placeholder(after) {
            Ok(left) => rest = left,
            Err(name) => return Some(Foreign::new(name, placeholders())),
        }
    }
    None
}

/// What is left behind a placeholder, or its name if it is not let in.
fn placeholder(after: &str) -> Result<&str, String> {
    let whole = after;
    let after = whole.trim_start_matches(['+', '-', ' ']);
    if after.starts_with('%') && after.len() < whole.len() {
        // To git a sign before `%` is none of a placeholder, and what follows begins one.
        return Err(format!("%{}%", &whole[..whole.len() - after.len()]));
    }
    let Some(letter) = after.chars().next() else { return Err("%".to_owned()) };
    let rest = &after[letter.len_utf8()..];
    if letter == '(' {
        let name = rest.split([')', ':', ',']).next().unwrap_or_default();
        return if EXTRAS.contains(&name) { Ok(rest) } else { Err(format!("%({name})")) };
    }
    if MEASURED.contains(&letter)
        && let Some((size, left)) = measure(rest)
    {
        let is_long = size.split(|c: char| !c.is_ascii_digit()).any(|number| number.len() > MOST_DIGITS);
        let is_plain = size.chars().all(|c| c.is_ascii_alphanumeric() || " ,#-".contains(c));
        return if is_plain && (letter == 'C' || !is_long) { Ok(left) } else { Err(format!("%{letter}({size})")) };
    }
    let Some((_, more)) = PLACEHOLDERS.iter().find(|(known, _)| *known == letter) else {
        return Err(format!("%{letter}"));
    };
    let next = rest.chars().next();
    match next.filter(|next| more.contains(*next)) {
        _ if more.is_empty() => Ok(rest),
        Some(next) => Ok(&rest[next.len_utf8()..]),
        None => Err(format!("%{letter}{}", next.map(String::from).unwrap_or_default())),
    }
}

/// What stands in the brackets behind `%w`, `%C`, and `%<` and the like with their second sign, and what follows.
fn measure(rest: &str) -> Option<(&str, &str)> {
    rest.trim_start_matches(['<', '>', '|']).strip_prefix('(')?.split_once(')')
}

/// The first field of a format of `git for-each-ref` that is not let in.
pub(super) fn foreign_field(format: &str) -> Option<Foreign> {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once("%(") {
        let whole = after.split([')', ':', '=']).next().unwrap_or_default();
        let name = whole.trim_start_matches('*');
        if !FIELDS.split_whitespace().any(|field| field == name) {
            let fields = FIELDS.split_whitespace().map(|field| format!("%({field})")).collect::<Vec<_>>();
            return Some(Foreign::new(format!("%({whole})"), fields.join(", ")));
        }
        rest = after;
    }
    None
}

/// The key of an order of refs, if it is not let in: a field, turned round by `-`, compared as versions are.
pub(super) fn foreign_key(key: &str) -> Option<Foreign> {
    let key = key.strip_prefix('-').unwrap_or(key);
    let field = key.strip_prefix("version:").or_else(|| key.strip_prefix("v:")).unwrap_or(key);
    foreign_field(&format!("%({field})"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests may panic")]
mod tests {
    use super::*;

    //= docs/spec.md#git
    //= type=test
    //# A format MUST NOT hold a placeholder that starts a program.
    #[test]
    fn formats_that_start_nothing_are_let_in() {
        for format in [
            "%H%x09%s",
            "%cI",
            "format:%an <%ae>%n%b",
            "oneline",
            "%(trailers:key=Refs,valueonly)%+d",
            "%%G",
            "%w(20,2,4)%B",
            "%<(20,trunc)%s%>>(9)%h%<|(30)%an",
            "%C(auto)%h%C(bold #00ff00)%s%Creset%Cred",
        ] {
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
            "%w(99999)",
            "%<(123456789)%s",
            "%w(%G?)",
            "%C(%G?)",
            "%<(1%G?)",
            "%w(1",
            "%Cx",
            "%+%G?",
            "%- %%G?",
        ] {
            let foreign = foreign_placeholder(format).unwrap();
            let starts = format.contains("G?") && !format.contains(['(', '+', '-']);
            assert!(!starts || foreign.message().contains("starts a program"), "{format}: {}", foreign.message());
            assert!(foreign.help().contains("%H"), "{format}: {}", foreign.help());
        }
        assert_eq!(foreign_field("%(refname:lstrip=2) %(*objectname)%(if:equals=a)%(HEAD)%(then)x%(end)"), None);
        for format in ["%(signature)", "%(signature:key)", "%(refname)%(*signature:grade)", "%(rest)"] {
            assert!(foreign_field(format).is_some(), "{format}");
        }
    }
}
