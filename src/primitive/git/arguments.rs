//! The options of a script as command-line arguments of git: one `--name=value` for each, and nothing else.
//!
//! Of the formats of git, only placeholders and fields that start no program are let in: `%G?` starts gpg, as
//! `%(signature)` does, and `%(describe)` another git.

use super::verb::{GitOption, GitVerb, HostOptionKind, OptionKind};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::value::{Bytes, Map, Value};

/// What every verb takes besides its own options.
pub const COMMON: [(&str, &str); 3] = [
    ("folder", "The folder it runs in; the root of the workspace if it is left out."),
    ("check", "Whether another exit code than 0 is a fault; `true` if it is left out."),
    (
        "any_bytes",
        "Lets bytes through that are no UTF-8: `text` has `\u{fffd}` for them, and `bytes` is all that git printed.",
    ),
];

/// Whether an option is `true`.
pub(super) fn is_on(options: &Map, name: &str) -> bool {
    matches!(options.get(name), Some(Value::Bool(true)))
}

/// Whether a failing command is a fault: option `check`.
pub(super) fn checks(options: &Map) -> bool {
    !matches!(options.get("check"), Some(Value::Bool(false)))
}

/// The arguments and the input of a command of git.
#[derive(Clone, Debug, Default)]
pub(super) struct GitArguments {
    /// Options of git, each a word of its own but for patterns and the like, which are two.
    pub(super) words: Vec<String>,
    /// Names of commits, branches and refs, in order.
    pub(super) names: Vec<String>,
    /// Paths, as given.
    pub(super) paths: Vec<String>,
    /// What git reads.
    pub(super) input: Vec<u8>,
    /// Files that git reads from its standard input.
    pub(super) files: Vec<String>,
    /// Whether git reads the contents of these files.
    pub(super) reads_files: bool,
    /// Variables of its environment.
    pub(super) env: Vec<(String, String)>,
    /// Its own index.
    pub(super) index: Option<String>,
}

fn of_both(end: &str, value: &str) -> Vec<(String, String)> {
    ["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_{end}"), value.to_owned())).to_vec()
}

//= docs/spec.md#git
//# Git MUST be spoken to by verbs and options of one table only; every other name MUST be refused with the nearest one.
/// Checks the options and turns them into arguments.
pub(super) fn build_arguments(verb: &GitVerb, options: &Map) -> Result<GitArguments> {
    for (key, value) in options {
        if let Some(fault) = unknown_option(verb, key).filter(|_| !value.is_null()) {
            return Err(fault);
        }
    }
    for (name, doc) in COMMON {
        let Some(value) = options.get(name).filter(|value| !value.is_null()) else { continue };
        let (takes, is_right) = match name {
            "folder" => ("text", value.as_text().is_some()),
            _ => ("flag", matches!(value, Value::Bool(_))),
        };
        if !is_right {
            let message = format!("`{name}` of git \"{}\" takes a {takes}, got {}", verb.name, value.kind().name());
            return Err(Diagnostic::new(Code::ARGUMENTS, message).help(doc));
        }
    }
    let mut said =
        GitArguments { words: verb.words.iter().map(|word| (*word).to_owned()).collect(), ..GitArguments::default() };
    let given = |option: &GitOption| options.get(option.name).filter(|value| !value.is_null());
    for option in verb.options() {
        if let Some(value) = given(option) {
            OptionWriter { verb, option }.say(value, &mut said)?;
        }
    }
    if let Some(option) = verb.options().find(|option| option.is_required && given(option).is_none()) {
        let message = format!("git \"{}\" needs `{}`", verb.name, option.name);
        return Err(Diagnostic::new(Code::ARGUMENTS, message).help(option.doc));
    }
    if said.words.len() == verb.words.len() && verb.options().any(|one| matches!(one.kind, OptionKind::Contents(_))) {
        let message = format!("git \"{}\" needs `content` or `paths`", verb.name);
        return Err(Diagnostic::new(Code::ARGUMENTS, message).help("it keeps what they give"));
    }
    Ok(said)
}

/// The fault of an option that a verb does not have.
pub fn unknown_option(verb: &GitVerb, key: &str) -> Option<Box<Diagnostic>> {
    let names = || verb.options().map(|option| option.name).chain(COMMON.iter().map(|(name, _)| *name));
    if names().any(|name| name == key) {
        return None;
    }
    let takes = names().collect::<Vec<_>>().join(", ");
    let message = format!("git \"{}\" has no option \"{key}\"; it takes {takes}", verb.name);
    let help = did_you_mean(key, names()).unwrap_or_else(|| "`toolsd docs git` and `git_read` list them".to_owned());
    Some(Diagnostic::new(Code::ARGUMENTS, message).help(help))
}

/// One option of one verb.
struct OptionWriter<'a> {
    verb: &'a GitVerb,
    option: &'a GitOption,
}

impl OptionWriter<'_> {
    fn say(&self, value: &Value, said: &mut GitArguments) -> Result<()> {
        match self.option.kind {
            OptionKind::Flag(word) => said.words.extend(self.flag(value)?.then(|| word.to_owned())),
            OptionKind::Number(word) => said.words.push(format!("{word}{}", self.number(value)?)),
            OptionKind::Text(word) | OptionKind::Date(word) => said.words.push(format!("{word}{}", self.text(value)?)),
            OptionKind::Pattern(word) => said.words.extend([word.to_owned(), self.text(value)?]),
            OptionKind::Format(word) => said.words.push(format!("{word}{}", self.format(value, foreign_placeholder)?)),
            OptionKind::RefFormat(word) => said.words.push(format!("{word}{}", self.format(value, foreign_field)?)),
            OptionKind::Sort(word) => {
                said.words.push(format!("{word}{}", self.format(value, foreign_key)?));
            }
            OptionKind::OneOf(word, known) => said.words.push(format!("{word}{}", self.one_of(value, known)?)),
            OptionKind::NewBranch(word) => {
                let name = self.name(self.text(value)?)?;
                match word.ends_with('=') {
                    true => said.words.push(format!("{word}{name}")),
                    false => said.words.extend([word.to_owned(), name]),
                }
            }
            OptionKind::RefOf(word) => said.words.push(format!("{word}{}", self.name(self.text(value)?)?)),
            OptionKind::RefsOf(word) => {
                for name in self.texts(value)? {
                    said.words.extend([word.to_owned(), self.name(name)?]);
                }
            }
            OptionKind::Ref => said.names.push(self.name(self.text(value)?)?),
            OptionKind::FullRef => said.names.push(self.full_ref(value)?),
            OptionKind::Refs | OptionKind::Names => {
                for name in self.texts(value)? {
                    said.names.push(self.name(name)?);
                }
            }
            OptionKind::Path => said.names.push(self.name(self.text(value)?)?),
            OptionKind::Paths => said.paths = self.texts(value)?,
            OptionKind::Files => said.files = self.texts(value)?,
            OptionKind::Contents(word) => {
                said.words.push(word.to_owned());
                said.files = self.texts(value)?;
                said.reads_files = true;
            }
            OptionKind::Signature => said.env.extend(self.signature(value)?),
            OptionKind::Moment => said.env.extend(of_both("DATE", &self.text(value)?)),
            OptionKind::Entry => said.names.push(format!("stash@{{{}}}", self.number(value)?)),
            OptionKind::Index => said.index = Some(self.index(value)?),
            OptionKind::Message => {
                said.words.extend(["-F".to_owned(), "-".to_owned()]);
                said.input = self.text(value)?.into_bytes();
            }
            OptionKind::Input(word) => {
                said.words.extend(word.map(str::to_owned));
                said.input = self.bytes(value)?;
            }
            OptionKind::Lines => {
                said.input = self.texts(value)?.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
            }
            OptionKind::Host(shape) => self.host(value, shape)?,
        }
        Ok(())
    }

    fn wrong(&self, takes: &str, value: &Value) -> Box<Diagnostic> {
        let (verb, name) = (self.verb.name, self.option.name);
        let message = format!("`{name}` of git \"{verb}\" takes a {takes}, got {}", value.kind().name());
        Diagnostic::new(Code::ARGUMENTS, message).help(self.option.doc)
    }

    fn refused(&self, message: String, help: impl Into<String>) -> Box<Diagnostic> {
        let message = format!("{message} (`{}` of git \"{}\")", self.option.name, self.verb.name);
        Diagnostic::new(Code::ARGUMENTS, message).help(help.into())
    }

    fn flag(&self, value: &Value) -> Result<bool> {
        match value {
            Value::Bool(flag) => Ok(*flag),
            other => Err(self.wrong("flag", other)),
        }
    }

    fn number(&self, value: &Value) -> Result<i64> {
        value.as_integer().filter(|number| *number >= 0).ok_or_else(|| self.wrong("number that is not negative", value))
    }

    fn text(&self, value: &Value) -> Result<String> {
        let text = value.as_text().ok_or_else(|| self.wrong(self.option.kind.name(), value))?;
        match text.contains('\0') {
            true => Err(self.refused("a text with a NUL is none for git".to_owned(), self.option.doc)),
            false => Ok(text.to_owned()),
        }
    }

    fn texts(&self, value: &Value) -> Result<Vec<String>> {
        let items = match value {
            Value::Text(_) => return Ok(vec![self.text(value)?]),
            Value::List(items) => items.clone(),
            Value::Handle(handle) if handle.length().is_some() => {
                (0..handle.length().unwrap_or(0)).filter_map(|at| handle.item(at)).collect()
            }
            other => return Err(self.wrong(self.option.kind.name(), other)),
        };
        items.iter().map(|item| self.text(item)).collect()
    }

    fn bytes(&self, value: &Value) -> Result<Vec<u8>> {
        match value {
            Value::Text(text) => Ok(text.as_bytes().to_vec()),
            other => {
                let bytes = other.as_object::<Bytes>().map(|bytes| bytes.0.to_vec());
                bytes.ok_or_else(|| self.wrong("text", other))
            }
        }
    }

    /// Name and address, as author and as committer.
    fn signature(&self, value: &Value) -> Result<Vec<(String, String)>> {
        let author = self.text(value)?;
        let parts = author.strip_suffix('>').and_then(|author| author.split_once('<'));
        let (name, email) =
            parts.ok_or_else(|| self.refused(format!("`{author}` is no author"), "it is `NAME <EMAIL>`"))?;
        Ok([of_both("NAME", name.trim()), of_both("EMAIL", email.trim())].concat())
    }

    fn format(&self, value: &Value, foreign: fn(&str) -> Option<ForbiddenPlaceholder>) -> Result<String> {
        let text = self.text(value)?;
        match foreign(&text) {
            Some(found) => Err(self.refused(found.message(), found.help())),
            None => Ok(text),
        }
    }

    fn one_of(&self, value: &Value, known: &[&str]) -> Result<String> {
        let text = self.text(value)?;
        match known.contains(&text.as_str()) {
            true => Ok(text),
            false => Err(self.refused(format!("`{text}` is none of {}", known.join(", ")), self.option.doc)),
        }
    }

    //= docs/spec.md#git
    //# A name of a commit, branch or file that begins with `-` MUST be refused.
    fn name(&self, name: String) -> Result<String> {
        match name.is_empty() || name.starts_with('-') || name.contains('\n') {
            true => Err(self.refused(
                format!("`{name}` is no name of a branch or commit"),
                "a name is not empty, and does not begin with `-`",
            )),
            false => Ok(name),
        }
    }

    fn full_ref(&self, value: &Value) -> Result<String> {
        let name = self.name(self.text(value)?)?;
        match name == "HEAD" || name.starts_with("refs/") {
            true => Ok(name),
            false => {
                Err(self.refused(format!("`{name}` is no whole name of a ref"), "`HEAD`, or such as `refs/heads/main`"))
            }
        }
    }

    fn index(&self, value: &Value) -> Result<String> {
        let name = self.text(value)?;
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match !name.is_empty() && name.len() <= 40 && name.chars().all(good) {
            true => Ok(name),
            false => Err(self.refused(format!("`{name}` is no name of an index"), "letters, digits, `-` and `_`")),
        }
    }

    fn host(&self, value: &Value, shape: HostOptionKind) -> Result<()> {
        match shape {
            HostOptionKind::Flag => self.flag(value).map(drop),
            HostOptionKind::Text => self.text(value).map(drop),
            HostOptionKind::Float => match value {
                Value::Float(_) | Value::Integer(_) => Ok(()),
                other => Err(self.wrong("number", other)),
            },
        }
    }
}

/// Names that start a program, wherever they stand.
const STARTING: [&str; 4] = ["G", "(describe", "(signature", "(*signature"];

/// What stands in brackets behind these letters: columns, wrapping and colours.
const MEASURED: [char; 4] = ['w', '<', '>', 'C'];

/// Longer numbers there ask for more blanks than anybody reads; older versions of git do not survive them.
const MOST_DIGITS: usize = 4;

/// A placeholder, field or name that is not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ForbiddenPlaceholder {
    name: String,
    /// What there is in its place.
    known: String,
}

impl ForbiddenPlaceholder {
    fn new(name: impl Into<String>, known: impl Into<String>) -> Self {
        Self { name: name.into(), known: known.into() }
    }

    fn starts(&self) -> bool {
        let name = self.name.trim_start_matches('%').trim_start_matches(['+', '-', ' ']);
        STARTING.iter().any(|start| name.starts_with(start))
    }

    /// What is wrong with it.
    fn message(&self) -> String {
        match self.starts() {
            true => format!("`{}` starts a program", self.name),
            false => format!("`{}` is not known for a format", self.name),
        }
    }

    /// What there is.
    fn help(&self) -> String {
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
fn foreign_placeholder(format: &str) -> Option<ForbiddenPlaceholder> {
    if NAMED.split_whitespace().any(|name| name == format) {
        return None;
    }
    let text = format.strip_prefix("format:").or_else(|| format.strip_prefix("tformat:")).unwrap_or(format);
    if !text.contains('%') {
        // Any other word is the name of a format, which a configuration may give.
        let known = || format!("{}, and texts with placeholders such as `%H`", NAMED.replace(' ', ", "));
        return (text == format && !text.is_empty()).then(|| ForbiddenPlaceholder::new(format, known()));
    }
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        match placeholder(after) {
            Ok(left) => rest = left,
            Err(name) => return Some(ForbiddenPlaceholder::new(name, placeholders())),
        }
    }
    None
}

/// What is left behind a placeholder, or its name if it is not let in.
fn placeholder(after: &str) -> std::result::Result<&str, String> {
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
fn foreign_field(format: &str) -> Option<ForbiddenPlaceholder> {
    let mut rest = format;
    while let Some((_, after)) = rest.split_once("%(") {
        let whole = after.split([')', ':', '=']).next().unwrap_or_default();
        let name = whole.trim_start_matches('*');
        if !FIELDS.split_whitespace().any(|field| field == name) {
            let fields = FIELDS.split_whitespace().map(|field| format!("%({field})")).collect::<Vec<_>>();
            return Some(ForbiddenPlaceholder::new(format!("%({whole})"), fields.join(", ")));
        }
        rest = after;
    }
    None
}

/// The key of an order of refs, if it is not let in: a field, turned round by `-`, compared as versions are.
fn foreign_key(key: &str) -> Option<ForbiddenPlaceholder> {
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
