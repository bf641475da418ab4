//! From the options of a script to the words that git gets: one `--name=value` for each, and nothing else.

use super::format::{Foreign, foreign_field, foreign_key, foreign_placeholder};
use super::verb::{GitOption, OptionKind, Shape, Verb};
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

/// Whether a script has switched an option on.
pub(super) fn is_on(options: &Map, name: &str) -> bool {
    matches!(options.get(name), Some(Value::Bool(true)))
}

/// What is said to git.
#[derive(Clone, Debug, Default)]
pub(super) struct Said {
    /// Options of git, each a word of its own but for patterns and the like, which are two.
    pub(super) words: Vec<String>,
    /// Names of commits, branches and refs, in order.
    pub(super) names: Vec<String>,
    /// Paths, as given.
    pub(super) paths: Vec<String>,
    /// What git reads.
    pub(super) input: Vec<u8>,
    /// Files that git is told of by its standard input.
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
/// Checks the options and writes them down.
pub(super) fn say(verb: &Verb, options: &Map) -> Result<Said> {
    for (key, value) in options {
        if let Some(fault) = unknown(verb, key).filter(|_| !value.is_null()) {
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
    let mut said = Said { words: verb.words.iter().map(|word| (*word).to_owned()).collect(), ..Said::default() };
    let given = |option: &GitOption| options.get(option.name).filter(|value| !value.is_null());
    for option in verb.options() {
        if let Some(value) = given(option) {
            Sayer { verb, option }.say(value, &mut said)?;
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
pub fn unknown(verb: &Verb, key: &str) -> Option<Box<Diagnostic>> {
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
struct Sayer<'a> {
    verb: &'a Verb,
    option: &'a GitOption,
}

impl Sayer<'_> {
    fn say(&self, value: &Value, said: &mut Said) -> Result<()> {
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

    fn format(&self, value: &Value, foreign: fn(&str) -> Option<Foreign>) -> Result<String> {
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

    fn host(&self, value: &Value, shape: Shape) -> Result<()> {
        match shape {
            Shape::Flag => self.flag(value).map(drop),
            Shape::Text => self.text(value).map(drop),
            Shape::Float => match value {
                Value::Float(_) | Value::Integer(_) => Ok(()),
                other => Err(self.wrong("number", other)),
            },
        }
    }
}
