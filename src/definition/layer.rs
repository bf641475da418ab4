//! `[layers.NAME]` of a `toolsd.toml`: packs that a project takes from a git repository or from another folder.

use super::fields::Fields;
use super::grammar::{Grammar, ValueShape, optional};
use super::located::Located;
use crate::diagnostic::{Code, Diagnostic};

/// A layer that a project names.
#[derive(Clone, Debug)]
pub struct LayerDefinition {
    /// Its name, and where it is written.
    pub name: Located<String>,
    /// Where its files come from.
    pub source: LayerSource,
    /// The folder of the repository, or below the path, in which `tools.d` is; `.` by default.
    pub dir: String,
    /// The packs that are used; `None` for all.
    pub packs: Option<Vec<Located<String>>>,
    /// The public keys of which one must have signed the tag; empty if it need not be signed.
    pub signed_by: Vec<String>,
}

/// Where the files of a layer come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LayerSource {
    /// A git repository.
    Git {
        /// Its address.
        url: String,
        /// Which commit of it.
        wanted: WantedRevision,
    },
    /// A folder, as written: relative to the workspace.
    Path(String),
}

/// Which commit of a repository a layer takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedRevision {
    /// That of this tag.
    Tag(String),
    /// That of the highest tag, `vX.Y.Z` or `X.Y.Z`, that meets this requirement, such as `^2.3`.
    Version(semver::VersionReq),
    /// The newest of this branch.
    Branch(String),
    /// This one, by its full hash.
    Commit(String),
}

impl WantedRevision {
    /// The key and the value, as a `toolsd.toml` has them.
    pub fn key_and_value(&self) -> (&'static str, String) {
        match self {
            Self::Tag(tag) => ("tag", tag.clone()),
            Self::Version(version) => ("version", version.to_string()),
            Self::Branch(branch) => ("branch", branch.clone()),
            Self::Commit(commit) => ("rev", commit.clone()),
        }
    }

    /// Describes it, as in `tag v2.3.0`. The lock file has the same words.
    pub fn describe(&self) -> String {
        let (key, value) = self.key_and_value();
        format!("{key} {value}")
    }
}

/// `[layers.NAME]`.
pub(super) static LAYER: Grammar = Grammar {
    name: "[layers.NAME]",
    doc: "A layer of packs from a git repository or another folder, below the workspace's own; the first one is the strongest. `toolsd.lock` names the content of each, `toolsd trust` allows it.",
    keys: &[
        optional(
            "git",
            ValueShape::Text,
            "Address of the repository: `https://`, `ssh://`, `file://`, or `git@host:path`.",
        ),
        optional("tag", ValueShape::Text, "The tag of the repository."),
        optional(
            "version",
            ValueShape::Text,
            "A requirement such as `^2.3`: the highest tag `vX.Y.Z` or `X.Y.Z` that meets it when `toolsd update` runs.",
        ),
        optional("branch", ValueShape::Text, "The branch whose newest commit `toolsd update` takes."),
        optional("rev", ValueShape::Text, "The full hash of a commit."),
        optional(
            "path",
            ValueShape::Text,
            "A folder relative to the workspace, in place of `git`: for drafts on one machine.",
        ),
        optional("dir", ValueShape::Text, "The folder of the repository that contains `tools.d` (default: `.`)."),
        optional("packs", ValueShape::Texts, "The packs that are used (default: all)."),
        optional(
            "signed_by",
            ValueShape::Texts,
            "SSH public keys, such as `ssh-ed25519 AAAA…`: the tag must be signed by one of them.",
        ),
    ],
};

/// The keys that choose a commit.
const REVISIONS: [&str; 4] = ["tag", "version", "branch", "rev"];

/// How addresses of repositories begin.
const SCHEMES: [&str; 3] = ["https://", "ssh://", "file://"];

/// The code of a layer that is not defined as it must be.
const LAYER_CODE: Code = Code("layer");

/// Reads `[layers]`. A layer with an error is omitted.
pub(super) fn read_layers(file: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<LayerDefinition> {
    let mut layers = Vec::new();
    for (name, table) in file.named_tables("layers", diagnostics) {
        // Of keys that exclude each other, each further one is reported, and the first one is not used.
        let before = diagnostics.len();
        let revision = table.one_of(&REVISIONS, &format!("layer `{}`", name.value), diagnostics);
        match read_layer(name, &table, revision) {
            Ok(layer) if diagnostics.len() == before => layers.push(layer),
            Ok(_) => {}
            Err(error) => diagnostics.push(*error),
        }
    }
    layers
}

/// Reads a layer whose commit is chosen by the key `revision`.
fn read_layer(
    name: Located<String>,
    table: &Fields<'_>,
    revision: Option<&'static str>,
) -> Result<LayerDefinition, Box<Diagnostic>> {
    check_name(&name)?;
    let dir = table.text("dir").unwrap_or_else(|| ".".to_owned());
    if dir.starts_with('/') || dir.split('/').any(|part| part == "..") {
        let help = "name a folder below the repository or the path, without `..`";
        return Err(refused(table, "dir", format!("`dir` is `{dir}`"), help));
    }
    for (key, means) in [
        ("packs", "name the packs that are used; without the key, all are"),
        ("signed_by", "name the keys, of which one must have signed the tag; without the key, no signature is needed"),
    ] {
        if table.has(key) && table.texts(key).is_empty() {
            return Err(refused(table, key, format!("`{key}` is empty"), means));
        }
    }
    let source = read_source(&name.value, table, revision)?;
    let signers = table.located_texts("signed_by");
    if let Some(wrong) = signers.iter().find(|key| !is_public_key(&key.value)) {
        let error = Diagnostic::new(LAYER_CODE, format!("`{}` is not an SSH public key", wrong.value));
        return Err(error.at(wrong.at.clone()).help("write it as in `id_ed25519.pub`: `ssh-ed25519 AAAA…`"));
    }
    let packs = table.has("packs").then(|| table.located_texts("packs"));
    let signed_by = signers.into_iter().map(|key| key.value).collect();
    Ok(LayerDefinition { name, source, dir, packs, signed_by })
}

/// The error of a key of a layer.
fn refused(table: &Fields<'_>, key: &str, message: String, help: &str) -> Box<Diagnostic> {
    let at = table.key_place(key).unwrap_or(&table.header).clone();
    Diagnostic::new(LAYER_CODE, message).at(at).help(help)
}

fn check_name(name: &Located<String>) -> Result<(), Box<Diagnostic>> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let refuse = |message: String, help: &str| Err(Diagnostic::new(LAYER_CODE, message).at(name.at.clone()).help(help));
    if name.value.is_empty() || !name.value.chars().all(is_plain) {
        return refuse(format!("`{}` is not a name of a layer", name.value), "use ASCII letters, digits, `-` and `_`");
    }
    match RESERVED.contains(&&*name.value) {
        true => refuse(format!("`{}` is a layer of toolsd itself", name.value), "choose another name"),
        false => Ok(()),
    }
}

fn read_source(name: &str, table: &Fields<'_>, revision: Option<&'static str>) -> Result<LayerSource, Box<Diagnostic>> {
    match (table.located("git"), table.located("path")) {
        (Some(url), None) => {
            check_url(&url.value).map_err(|error| error.at(url.at.clone()))?;
            let Some((key, value)) = revision.and_then(|key| Some((key, table.located(key)?))) else {
                let help = "add `tag = \"v1.0.0\"`, or `version`, `branch` or `rev`";
                return Err(refused(table, "git", format!("layer `{name}` does not say which commit"), help));
            };
            let wanted = WantedRevision::parse(key, &value.value).map_err(|error| error.at(value.at))?;
            Ok(LayerSource::Git { url: url.value, wanted })
        }
        (None, Some(path)) => match REVISIONS.into_iter().chain(["signed_by"]).find(|key| table.has(key)) {
            Some(key) => Err(refused(table, key, format!("`{key}` is for a layer with `git`"), "remove it, or `path`")),
            None => Ok(LayerSource::Path(path.value)),
        },
        (Some(_), Some(_)) => {
            Err(refused(table, "path", "`git` and `path` exclude each other".to_owned(), "remove one of them"))
        }
        (None, None) => {
            let help = "`git = \"https://…\"` and `tag`, or `path = \"../packs\"`";
            Err(refused(table, "git", format!("layer `{name}` needs `git` or `path`"), help))
        }
    }
}

/// Whether this is a kind of key, the key, and perhaps a comment, on one line.
fn is_public_key(text: &str) -> bool {
    let mut words = text.split(' ');
    let is_kind =
        words.next().is_some_and(|kind| ["ssh-", "ecdsa-", "sk-"].iter().any(|begin| kind.starts_with(begin)));
    let is_base64 = |letter: char| letter.is_ascii_alphanumeric() || "+/=".contains(letter);
    let has_key = words.next().is_some_and(|key| key.len() > 20 && key.chars().all(is_base64));
    is_kind && has_key && !text.contains(char::is_control)
}

/// The names of the other layers.
const RESERVED: [&str; 3] = ["workspace", "user", "embedded"];

impl WantedRevision {
    /// Reads the value of `tag`, `version`, `branch` or `rev`.
    ///
    /// # Errors
    /// It is not a requirement, or not a full hash. Names of tags and branches are looked up in the repository.
    pub fn parse(key: &str, value: &str) -> Result<Self, Box<Diagnostic>> {
        let refuse = |help: &str| Err(Diagnostic::new(LAYER_CODE, format!("`{key}` is `{value}`")).help(help));
        match key {
            "version" => match semver::VersionReq::parse(value) {
                Ok(version) => Ok(Self::Version(version)),
                Err(_) => refuse("a requirement is `^2.3`, `~2.3.1`, `=2.3.1` or `>=2.3, <2.5`"),
            },
            "rev" if value.len() == 40 && value.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                Ok(Self::Commit(value.to_lowercase()))
            }
            "rev" => refuse("name a commit by all 40 digits of its hash"),
            "branch" => Ok(Self::Branch(value.to_owned())),
            _ => Ok(Self::Tag(value.to_owned())),
        }
    }
}

/// Checks the address of a repository.
///
/// # Errors
/// It is of another kind than git is asked for here, or contains a password.
pub fn check_url(url: &str) -> Result<(), Box<Diagnostic>> {
    let refuse = |message: String, help: &str| Err(Diagnostic::new(LAYER_CODE, message).help(help));
    if url.contains(|letter: char| letter.is_control() || letter == ' ') {
        return refuse("the address of a repository has no spaces".to_owned(), "write a space as `%20`");
    }
    let Some(rest) = SCHEMES.iter().find_map(|scheme| url.strip_prefix(scheme)) else {
        let host =
            url.split_once(':').filter(|(host, path)| is_host(host) && !path.is_empty() && !path.starts_with(':'));
        return match host {
            Some(_) if !url.contains("://") => Ok(()),
            _ => refuse(
                format!("`{url}` is not the address of a git repository"),
                "use `https://…`, `ssh://…`, `file:///…` or `git@host:path`; another folder of this machine is `path`",
            ),
        };
    };
    let user = rest.split('/').next().and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
    if user.is_some_and(|user| user.contains(':')) {
        let message = "the address of a repository must not contain a password".to_owned();
        return refuse(message, "remove it: git asks its credential helper, or you");
    }
    let host = rest.split(['/', '@']).next().unwrap_or_default();
    match rest.is_empty() || host.starts_with('-') {
        true => refuse(format!("`{url}` names no repository"), "the address continues with a host and a path"),
        false => Ok(()),
    }
}

/// Whether this is a host of `git@host:path`. An option or a transport is not.
fn is_host(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "@.-_".contains(letter);
    text.len() > 1 && !text.starts_with('-') && text.contains('@') && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use crate::definition::read_workspace;
    use crate::source::Source;

    #[test]
    fn a_list_that_chooses_nothing_is_an_error_at_its_key() {
        for (key, words) in
            [("packs", "without the key, all are"), ("signed_by", "without the key, no signature is needed")]
        {
            let text = format!("[layers.a]\ngit = 'https://h.example/a'\ntag = 'v1'\n{key} = []\n");
            let (workspace, diagnostics) = read_workspace(&Source::new("toolsd.toml", text));
            assert!(workspace.layers.is_empty());
            let said: Vec<String> = diagnostics.iter().map(ToString::to_string).collect();
            assert!(
                matches!(&said[..], [one] if one.starts_with(&format!("toolsd.toml:4:1: `{key}` is empty (")) && one.contains(words)),
                "{said:?}"
            );
        }
    }
}
