//! `toolsd add`: a layer of packs from a git repository, read and trusted by the person who adds it.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::{Project, RemoteLayer};
use crate::definition::{SETTINGS_FILE, WantedRevision, check_url};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::distribution::{LAYER, LayerState, Remote};
use crate::edit::{append_table, inline_toml};
use crate::value::Json;
use clap::Args;
use serde_json::json;

/// The host of `organisation/repository`.
const DEFAULT_HOST: &str = "https://github.com";

/// Add a layer of packs from a git repository to this project.
#[derive(Args)]
pub struct AddCommand {
    /// The address of the repository, or `organisation/repository` at GitHub; with `@` a tag, branch, commit or
    /// requirement such as `^1.0` follows. Without one, the highest version among its tags is taken.
    #[arg(value_name = "URL[@TAG]")]
    repository: String,
    /// The name of the layer [default: that of the repository].
    #[arg(long)]
    name: Option<String>,
    /// Use only these packs.
    #[arg(long, value_name = "PACK,PACK", value_delimiter = ',')]
    packs: Vec<String>,
    /// The folder of the repository in which `tools.d` is.
    #[arg(long = "in", value_name = "DIR", default_value = ".")]
    folder: String,
    /// The tag must be signed by this SSH public key; repeatable.
    #[arg(long, value_name = "KEY")]
    signed_by: Vec<String>,
    /// Do not ask.
    #[arg(long)]
    yes: bool,
}

impl AddCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let before = Project::open(context)?;
        let (url, revision) = split_revision(&self.repository)?;
        let name = self.name.clone().unwrap_or_else(|| name_of(&url));
        if before.definition(&name).is_ok() {
            let error = Diagnostic::new(Code("usage"), format!("`{SETTINGS_FILE}` has a layer `{name}` already"));
            return Err(error.help(format!("`toolsd update {name}` moves it, `--name` adds another one")));
        }
        let remote = Remote::open(&url)?;
        let wanted = match &revision {
            Some(revision) => remote.resolve(revision)?,
            None => newest_version(&remote, &url)?,
        };
        let mut after = before.clone();
        after.set_settings(append_table(&before.settings, "layers", &name, &self.keys(&url, &wanted)))?;
        let definition = after.definition(&name)?.clone();
        let layer = RemoteLayer { definition, url, wanted };
        let state = after.fetch(context, &remote, &layer, false)?;
        for known in &before.definitions {
            let taken = before.state(context, known)?.packs.into_keys().find(|pack| state.packs.contains_key(pack));
            if let Some(pack) = taken {
                let message = format!("layer {} has a pack `{pack}` already; nothing was written", known.name.value);
                return Err(
                    Diagnostic::new(LAYER, message).help("`--packs` names the packs that are wanted of this one")
                );
            }
        }
        let changes = after.changes(context, &after.registry(context)?)?;
        let question = "Add this layer, and trust it as it is now? [y/N] ";
        let files = after.write_agreed(context, changes, self.yes, question)?;
        if context.options.format == OutputFormat::Json {
            context.terminal.json(&json!({
                "layer": name, "git": layer.url, "wanted": layer.wanted.describe(), "content": state.content.hash(),
                "packs": state.packs_json(), "written": files.as_deref().unwrap_or_default(),
            }));
        } else if let Some(files) = &files {
            context.terminal.line(&format!("added layer {name}; commit {}", files.join(", ")));
        }
        let unserved = after.serve.as_deref().filter(|_| files.is_some()).and_then(|serve| unserved(serve, &state));
        unserved.iter().for_each(|warning| context.terminal.diagnostic(warning));
        Ok(if files.is_some() { Exit::Success } else { Exit::Errors })
    }

    /// The keys of the layer's table.
    fn keys(&self, url: &str, wanted: &WantedRevision) -> Vec<(&'static str, Json)> {
        let (key, value) = wanted.key_and_value();
        let mut keys = vec![("git", json!(url)), (key, json!(value))];
        if self.folder != "." {
            keys.push(("dir", json!(self.folder)));
        }
        if !self.packs.is_empty() {
            keys.push(("packs", json!(self.packs)));
        }
        if !self.signed_by.is_empty() {
            keys.push(("signed_by", json!(self.signed_by)));
        }
        keys
    }
}

/// The warning for packs of a new layer that `serve` does not name.
fn unserved(serve: &[String], state: &LayerState) -> Option<Diagnostic> {
    let unserved: Vec<&String> = state.packs.keys().filter(|pack| !serve.contains(pack)).collect();
    if unserved.is_empty() {
        return None;
    }
    let line = inline_toml(&json!(serve.iter().chain(unserved.iter().copied()).collect::<Vec<_>>()))?;
    let message = format!(
        "`serve` of `{SETTINGS_FILE}` does not name all packs of this layer; not served: {}",
        unserved.iter().map(|pack| format!("`{pack}`")).collect::<Vec<_>>().join(", ")
    );
    let help = format!("write `serve = {line}`, then run `toolsd trust` and `toolsd lock`");
    Some(*Diagnostic::new(LAYER, message).warning().help(help))
}

/// The address of a repository, and what follows it behind an `@`.
fn split_revision(repository: &str) -> Result<(String, Option<String>)> {
    let text = repository.strip_prefix("git+").unwrap_or(repository);
    // The `@` of `git@host:path` and of `ssh://git@host` is in front of the path.
    let path = match text.find("://").map(|at| at + "://".len()) {
        Some(host) => text[host..].find('/').map_or(text.len(), |at| host + at),
        None => text.find(['/', ':']).unwrap_or(text.len()),
    };
    let (address, revision) = match text[path..].rsplit_once('@') {
        Some((before, revision)) => (&text[..path + before.len()], Some(revision.to_owned())),
        None => (text, None),
    };
    let is_short =
        !address.contains([':', '\\']) && !address.starts_with(['.', '/']) && address.matches('/').count() == 1;
    let url = match is_short {
        true => format!("{DEFAULT_HOST}/{}.git", address.trim_end_matches(".git")),
        false => address.to_owned(),
    };
    check_url(&url)?;
    Ok((url, revision))
}

/// The name of a repository as the name of a layer.
fn name_of(url: &str) -> String {
    let name = url.trim_end_matches('/').trim_end_matches(".git").rsplit(['/', ':']).next().unwrap_or_default();
    name.chars().map(|letter| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' }).collect()
}

fn newest_version(remote: &Remote, url: &str) -> Result<WantedRevision> {
    let versions = remote.versions();
    let stable = versions.iter().find(|(version, _)| version.pre.is_empty()).or(versions.first());
    let (_, tag) = stable.ok_or_else(|| {
        let error = Diagnostic::new(LAYER, format!("`{url}` has no tag that is a version such as `v1.2.0`"));
        error.help("name a tag, a branch or a commit: `toolsd add URL@main`")
    })?;
    WantedRevision::parse("tag", tag)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{name_of, split_revision};

    #[test]
    fn addresses_are_written_in_several_ways() {
        let cases = [
            ("acme/packs", "https://github.com/acme/packs.git", None),
            ("acme/packs@v1.2", "https://github.com/acme/packs.git", Some("v1.2")),
            ("git+https://h.example/a/b.git@v1", "https://h.example/a/b.git", Some("v1")),
            ("https://user@h.example/a/b", "https://user@h.example/a/b", None),
            ("git@h.example:a/b.git", "git@h.example:a/b.git", None),
            ("git@h.example:a/b.git@main", "git@h.example:a/b.git", Some("main")),
            ("ssh://git@h.example/a@v2", "ssh://git@h.example/a", Some("v2")),
            ("file:///srv/packs@release/1", "file:///srv/packs", Some("release/1")),
        ];
        for (written, url, revision) in cases {
            assert_eq!(split_revision(written).unwrap(), (url.to_owned(), revision.map(str::to_owned)), "{written}");
        }
        for wrong in
            ["./packs", "ext::sh -c x", "--upload-pack=x", "https://a:b@h.example/x", "ssh://-oProxyCommand=x/y"]
        {
            assert!(split_revision(wrong).is_err(), "{wrong}");
        }
        assert_eq!(name_of("https://h.example/a/my.packs.git"), "my-packs");
    }
}
