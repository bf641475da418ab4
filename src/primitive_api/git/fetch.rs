//! `fetch`: which address, which branches, and their new names. The disk starts the transport itself, in a temporary
//! repository.

use super::answer::answer;
use super::arguments::GitArguments;
use super::call::{GitCall, MAX_GIT_TIMEOUT};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::value::{Map, Value};
use crate::world::path;
use crate::world::run::{GitChanges, ProgramOutput, RequiredGrant};
use std::collections::BTreeMap;
use std::time::Duration;

/// The transports that a remote may have. Git itself checks them, whatever the user's configuration makes of an address.
const TRANSPORTS: &str = "git:http:https:ssh";

/// Asks a remote.
pub(super) fn run(call: &mut GitCall<'_>, said: &GitArguments, options: &Map) -> Result<Value> {
    let remote = said.names[0].clone();
    let (url, folder) = address(call, &remote)?;
    let branches: Vec<String> = match &said.names[1..] {
        [] => vec!["*".to_owned()],
        named => named.to_vec(),
    };
    let specs = branches.iter().map(|branch| {
        let branch = branch.strip_prefix("refs/heads/").unwrap_or(branch);
        format!("+refs/heads/{branch}:refs/remotes/{remote}/{branch}")
    });
    let words = said.words.iter().cloned().chain(["--end-of-options".to_owned(), url]).chain(specs).collect();
    let listed = ["for-each-ref", "--sort=refname", "--format=%(objectname) %(refname)"];
    let before = call.ask(&listed)?.output;
    let mut command = call.step(&[], GitChanges::Repository);
    (command.arguments, command.needs, command.input) = (words, RequiredGrant::FetchGit, before.clone());
    let allowed = if folder.is_some() { "file" } else { TRANSPORTS };
    command.env.push(("GIT_ALLOW_PROTOCOL".to_owned(), allowed.to_owned()));
    command.confinement.read.extend(folder);
    command.time = match options.get("timeout_ms") {
        Some(Value::Integer(ms)) => Duration::from_millis(u64::try_from(*ms).unwrap_or(0)),
        _ => MAX_GIT_TIMEOUT,
    };
    let mut ran = call.run(&command)?;
    if ran.code == 0 {
        let after = std::mem::take(&mut ran.output);
        let moved = move_refs(call, &format!("refs/remotes/{remote}/"), &before, &after)?;
        if moved.code != 0 {
            ran = moved;
        }
    }
    command.arguments.insert(0, "--no-pager".to_owned());
    answer(call, &command, ran, options)
}

//= docs/spec.md#git
//# A remote MUST be in the repository's configuration, and MUST be reached by `https`, `http`, `ssh` or
//# `git`, or be a folder below a granted root.
/// The address of a remote, and the folder if it is one.
fn address(call: &GitCall<'_>, remote: &str) -> Result<(String, Option<String>)> {
    let remotes =
        || call.repository.settings.iter().filter_map(|one| Some((one.between("remote", "url")?, &one.value)));
    let Some((_, url)) = remotes().find(|(name, _)| *name == remote) else {
        return Err(Diagnostic::new(Code("git"), format!("there is no remote `{remote}`")).help(
            did_you_mean(remote, remotes().map(|(name, _)| name))
                .unwrap_or_else(|| "`git remote add` makes one".to_owned()),
        ));
    };
    let given = url.strip_prefix("file://").unwrap_or(url);
    // Git's own rule: a `:` before the first `/` ends the name of a host or of a transport.
    if given.split_once(':').is_some_and(|(host, _)| !host.contains('/')) {
        return Ok((url.clone(), None));
    }
    let absolute = path::join(&call.repository.top, given);
    let place = call.world.spelled(&absolute);
    if !path::is_below(&place, ".") && !call.world.granted_roots().iter().any(|root| path::is_below(&place, root)) {
        let message = format!("the remote `{remote}` is in `{place}`, outside of the root");
        return Err(Diagnostic::new(Code::WORLD, message).help(format!("start with `--root {place}`")));
    }
    // A symlink may lead out.
    call.world.stat(&place)?;
    Ok((absolute.clone(), Some(absolute)))
}

/// Moves the refs of the repository that the fetch moved.
fn move_refs(call: &GitCall<'_>, below: &str, before: &[u8], after: &[u8]) -> Result<ProgramOutput> {
    let (before, after) = (String::from_utf8_lossy(before).into_owned(), String::from_utf8_lossy(after).into_owned());
    let refs = |text: &'_ str| -> BTreeMap<String, String> {
        let pairs = text.lines().filter_map(|line| line.split_once(' ')).filter(|(_, name)| name.starts_with(below));
        pairs.map(|(hash, name)| (name.to_owned(), hash.to_owned())).collect()
    };
    let (before, after) = (refs(&before), refs(&after));
    let moved = after.iter().filter(|(name, hash)| before.get(*name) != Some(*hash));
    let mut input: String = moved.map(|(name, hash)| format!("update {name} {hash}\n")).collect();
    input.extend(before.keys().filter(|name| !after.contains_key(*name)).map(|name| format!("delete {name}\n")));
    let mut command = call.step(&["update-ref", "-m", "fetch", "--stdin"], GitChanges::Repository);
    command.input = input.into_bytes();
    call.run(&command)
}
