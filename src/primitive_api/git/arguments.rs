//! The options of a script as command-line arguments of git: one `--name=value` for each, and nothing else.

use super::verb::{GitOption, GitVerb, OptionKind, option};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Kind, Map, Value};

/// The options of every verb, in addition to its own.
pub const COMMON: [GitOption; 3] = [
    option("cwd", OptionKind::Host(Kind::Text), "The folder it runs in (default: the root of the workspace)."),
    option("check", OptionKind::Host(Kind::Bool), "Whether an exit code other than 0 is an error (default: `true`)."),
    option(
        "lossy_utf8",
        OptionKind::Host(Kind::Bool),
        "Accepts output that is not valid UTF-8: `text` has `\u{fffd}` for wrong bytes, and `bytes` is \
         all that git printed.",
    ),
];

/// Whether an option is `true`.
pub(super) fn is_on(options: &Map, name: &str) -> bool {
    matches!(options.get(name), Some(Value::Bool(true)))
}

/// Whether a failing command is an error: option `check`.
pub(super) fn checks(options: &Map) -> bool {
    !matches!(options.get("check"), Some(Value::Bool(false)))
}

/// The arguments and the input of a command of git.
#[derive(Clone, Debug, Default)]
pub(super) struct GitArguments {
    /// Options of git, each a single argument, except for patterns and similar ones, which are two.
    pub(super) words: Vec<String>,
    /// Names of commits, branches and refs, in order.
    pub(super) names: Vec<String>,
    /// Paths, as given.
    pub(super) paths: Vec<String>,
    /// What git reads.
    pub(super) input: Vec<u8>,
    /// Files whose contents git reads: their names are its input.
    pub(super) files: Vec<String>,
    /// Variables of its environment.
    pub(super) env: Vec<(String, String)>,
    /// Its own index.
    pub(super) index: Option<String>,
}

/// An option and its value: one word if the option ends with `=`, otherwise two.
fn joined(word: &str, value: String) -> Vec<String> {
    if word.ends_with('=') { vec![format!("{word}{value}")] } else { vec![word.to_owned(), value] }
}

fn of_both(end: &str, value: &str) -> Vec<(String, String)> {
    ["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_{end}"), value.to_owned())).to_vec()
}

//= docs/spec.md#git
//# Git MUST be available only through the `git` grant, with the verbs and options of one table, and no name
//# that begins with `-`.
/// Checks the options and turns them into arguments.
pub(super) fn build_arguments(verb: &GitVerb, options: &Map) -> Result<GitArguments> {
    for (key, value) in options {
        if let Some(error) = unknown_option(verb, key).filter(|_| !value.is_null()) {
            return Err(error);
        }
    }
    let mut said =
        GitArguments { words: verb.words.iter().map(|word| (*word).to_owned()).collect(), ..GitArguments::default() };
    let given = |option: &GitOption| options.get(option.name).filter(|value| !value.is_null());
    for option in COMMON.iter().chain(verb.options()) {
        if let Some(value) = given(option) {
            OptionWriter { verb, option }.say(value, &mut said)?;
        }
    }
    if let Some(option) = verb.options().find(|option| option.is_required && given(option).is_none()) {
        let message = format!("git \"{}\" needs `{}`", verb.name, option.name);
        return Err(Diagnostic::new(Code::ARGUMENTS, message).help(option.doc));
    }
    Ok(said)
}

/// The error for an option that a verb does not have.
pub fn unknown_option(verb: &GitVerb, key: &str) -> Option<Box<Diagnostic>> {
    let names = || verb.options().chain(&COMMON).map(|option| option.name);
    if names().any(|name| name == key) {
        return None;
    }
    let takes = names().collect::<Vec<_>>().join(", ");
    let message = format!("git \"{}\" has no option \"{key}\"; it takes {takes}", verb.name);
    Some(Diagnostic::new(Code::ARGUMENTS, message).help_for(key, names(), "`toolsd docs git` and `git_read` list them"))
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
            OptionKind::Text(word) => said.words.extend(joined(word, self.text(value)?)),
            OptionKind::OneOf(word, known) => said.words.push(format!("{word}{}", self.one_of(value, known)?)),
            OptionKind::Ref(word) | OptionKind::Refs(word) => {
                let is_list = matches!(self.option.kind, OptionKind::Refs(_));
                let names = if is_list { self.texts(value)? } else { vec![self.text(value)?] };
                for name in names {
                    let name = self.name(name)?;
                    if word.is_empty() { said.names.push(name) } else { said.words.extend(joined(word, name)) }
                }
            }
            OptionKind::FullRef => said.names.push(self.full_ref(value)?),
            OptionKind::Path => said.names.push(self.name(self.text(value)?)?),
            OptionKind::Paths => said.paths = self.texts(value)?,
            OptionKind::Message => {
                said.words.extend(["-F", "-"].map(str::to_owned));
                said.input = self.text(value)?.into_bytes();
            }
            OptionKind::Lines => {
                let lines = self.texts(value)?;
                said.input = lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
            }
            OptionKind::Files => {
                said.words.push("--stdin-paths".to_owned());
                said.files = self.texts(value)?;
            }
            OptionKind::Person => said.env.extend(self.person(value)?),
            OptionKind::Date => said.env.extend(of_both("DATE", &self.text(value)?)),
            OptionKind::Index => said.index = Some(self.index(value)?),
            OptionKind::Host(kind) if value.kind() != kind => return Err(self.wrong(self.option.kind.name(), value)),
            OptionKind::Host(_) => {}
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
            true => Err(self.refused("git takes no text with a NUL".to_owned(), self.option.doc)),
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

    /// Name and address, as author and as committer.
    fn person(&self, value: &Value) -> Result<Vec<(String, String)>> {
        let author = self.text(value)?;
        let parts = author.strip_suffix('>').and_then(|author| author.split_once('<'));
        let (name, email) =
            parts.ok_or_else(|| self.refused(format!("`{author}` is not an author"), "it is `NAME <EMAIL>`"))?;
        Ok([of_both("NAME", name.trim()), of_both("EMAIL", email.trim())].concat())
    }

    fn one_of(&self, value: &Value, known: &[&str]) -> Result<String> {
        let text = self.text(value)?;
        match known.contains(&text.as_str()) {
            true => Ok(text),
            false => Err(self.refused(format!("`{text}` is not one of {}", known.join(", ")), self.option.doc)),
        }
    }

    fn name(&self, name: String) -> Result<String> {
        match name.is_empty() || name.starts_with('-') || name.contains('\n') {
            true => Err(self.refused(
                format!("`{name}` is not a name of a branch or commit"),
                "a name is not empty, and does not begin with `-`",
            )),
            false => Ok(name),
        }
    }

    fn full_ref(&self, value: &Value) -> Result<String> {
        let name = self.name(self.text(value)?)?;
        match name == "HEAD" || name.starts_with("refs/") {
            true => Ok(name),
            false => Err(self
                .refused(format!("`{name}` is not the whole name of a ref"), "`HEAD`, or such as `refs/heads/main`")),
        }
    }

    fn index(&self, value: &Value) -> Result<String> {
        let name = self.text(value)?;
        let good = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        match !name.is_empty() && name.len() <= 40 && name.chars().all(good) {
            true => Ok(name),
            false => Err(self.refused(format!("`{name}` is not a name of an index"), "letters, digits, `-` and `_`")),
        }
    }
}
