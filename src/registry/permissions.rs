//! What one file asks for: grants, effects, limits, packs and roots, so that a later version of it that asks for more is
//! noticed.

#[cfg(test)]
mod tests;

use crate::definition::{
    CodeModeDefinition, Definitions, DiscoverDefinition, Grants, HttpOverride, LayerDefinition, LayerSource,
    LimitsOverride, PackDefinition, ProgramGrant, ServerDefinition, Tool, Validation, WorkspaceDefinition,
    read_definitions, read_workspace,
};
use crate::guard::Limits;
use crate::primitive_api::Effect;
use crate::source::Source;
use crate::value::Json;
use crate::world::path;
use crate::world::run::GitAccess;
use crate::world::{VariableGrant, is_secret_name};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a file asks for: each permission in a fixed spelling, and how far it goes. A larger number is wider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permissions(BTreeMap<String, u64>);

/// The kinds whose permissions are values: the word that a permission begins with, and the words for people.
const LISTS: [(&str, &str); 13] = [
    ("read ", "reads"),
    ("write ", "writes"),
    ("env ", "environment:"),
    ("run ", "runs:"),
    ("root-marker ", "works in the folder above that has"),
    ("pack ", "packs:"),
    ("layer ", "layers:"),
    ("root ", "roots:"),
    ("path ", "paths:"),
    ("prefix ", "names begin with:"),
    ("server ", "tells clients of the server:"),
    ("code_mode ", "scripts of clients may call tools:"),
    ("discover ", "clients find tools by words:"),
];

/// What single programs may do: the name of the program follows, and behind a tab what it may.
const PROGRAM_NETWORK: &str = "run-network ";

const PROGRAM_READS: &str = "run-read ";

const PROGRAM_WRITES: &str = "run-write ";

const PROGRAM_STARTS: &str = "run-start ";

const PROGRAM_VARIABLES: &str = "run-env ";

const GIT: &str = "git";

/// That there is a graph: its limits count, written or not.
const HAS_GRAPH: &str = "graph";

const EFFECT: &str = "effect ";

const EFFECTS: [&str; 5] = ["pure", "reads", "edits_graph", "writes", "runs"];

const LIMIT: &str = "limit ";

/// Who has the limits of a build; no tool has such a name.
const GRAPH: &str = "[graph]";

/// A layer, and everything that chooses its files.
fn describe_layer(layer: &LayerDefinition) -> String {
    // Every field is named: a new one is to be shown too.
    let LayerDefinition { name, source, dir, packs, signed_by } = layer;
    let source = match source {
        LayerSource::Git { url, wanted } => format!("{url} {}", wanted.describe()),
        LayerSource::Path(path) => path.clone(),
    };
    let dir = if dir == "." { String::new() } else { format!(" dir {dir}") };
    let packs = packs.iter().map(|packs| packs.iter().map(|pack| &*pack.value).collect::<Vec<_>>().join(" "));
    let packs: String = packs.map(|packs| format!(" packs {packs}")).collect();
    let signers: String = signed_by.iter().map(|key| format!(" signed by {key}")).collect();
    format!("{} = {source}{dir}{packs}{signers}", name.value)
}

/// Default time limit of a graph build, in milliseconds.
const BUILD_MS: u64 = 60_000;

/// What scripts of clients may do, a line each.
fn describe_code_mode(code_mode: &CodeModeDefinition) -> Vec<String> {
    // Every field is named: a new one is to be shown too.
    let CodeModeDefinition { allow, tools, without, calls, parallel, limits: _ } = code_mode;
    let mut lines = vec![format!("allow = {}", allow.unwrap_or(Effect::Reads).name())];
    lines.extend(tools.iter().flatten().map(|tool| format!("tool {tool}")));
    lines.extend(without.iter().map(|tool| format!("without {tool}")));
    lines.extend(calls.iter().map(|calls| format!("calls = {calls}")));
    lines.extend(parallel.iter().map(|parallel| format!("parallel = {parallel}")));
    lines
}

/// How tools are found, a line each.
fn describe_discover(discover: &DiscoverDefinition) -> Vec<String> {
    // Every field is named: a new one is to be shown too.
    // `toolsd check` judges by the budget; no client sees it.
    let DiscoverDefinition { pin, limit, budget: _ } = discover;
    let mut lines = vec![format!("limit = {}", limit.map_or_else(|| "default".to_owned(), |limit| limit.to_string()))];
    lines.extend(pin.iter().map(|pin| format!("pin {pin}")));
    lines
}

impl Permissions {
    /// Returns what a file of a pack requests. Only definitions request something, and only those without an error that
    /// prevents them from being served.
    pub fn from_file(path: &str, bytes: &[u8]) -> Self {
        Self::from_served_file(path, bytes).unwrap_or_default()
    }

    /// The same; `None` if nothing of the pack can be served with this file, whatever it asks for.
    pub fn from_served_file(path: &str, bytes: &[u8]) -> Option<Self> {
        if !path.ends_with(".toml") {
            return Some(Self::default());
        }
        let source = Source::new(path, String::from_utf8_lossy(bytes));
        let (definitions, diagnostics) = read_definitions(&source, Validation::Full);
        Some(Self::from_definitions(&definitions.sound(&diagnostics)?))
    }

    /// Adds what something else asks for; of a permission that both have, the wider one counts.
    pub fn add(&mut self, other: &Self) {
        for (key, level) in &other.0 {
            let known = self.0.entry(key.clone()).or_default();
            *known = (*known).max(*level);
        }
    }

    /// Returns what definitions request.
    pub fn from_definitions(definitions: &Definitions) -> Self {
        let mut asked = Self::default();
        if let Some(definition) = &definitions.pack {
            asked.add_pack(definition);
        }
        for tool in &definitions.tools {
            asked.add_tool(tool);
        }
        if let Some(graph) = &definitions.graph {
            asked.0.insert(HAS_GRAPH.to_owned(), 1);
            asked.add_limits(GRAPH, &graph.limits);
        }
        asked
    }

    /// Returns what the `[pack]` of a pack requests.
    pub fn from_pack(pack: &PackDefinition) -> Self {
        let mut asked = Self::default();
        asked.add_pack(pack);
        asked
    }

    /// What a pack that serves may do, in the words in which trust is asked for: its grants, its limits, the effects of
    /// its tools.
    pub fn from_served<'a>(pack: &PackDefinition, tools: impl Iterator<Item = &'a Tool>) -> Self {
        let mut asked = Self::from_pack(pack);
        tools.for_each(|tool| asked.add_tool(tool));
        asked
    }

    /// Returns what a `toolsd.toml` requests.
    pub fn from_settings(source: &Arc<Source>) -> Self {
        let mut asked = Self::default();
        // Every field is named: a new one has to say whether it lets packs do more.
        let WorkspaceDefinition { serve, packs, prefixes, roots, limits, server, http, layers, code_mode, discover } =
            read_workspace(source).0;
        asked.extend("prefix ", prefixes.iter().map(|(name, prefix)| format!("{} = {prefix}", name.value)));
        asked.add_http(&http);
        asked.extend("discover ", discover.iter().flat_map(describe_discover));
        asked.extend("code_mode ", code_mode.iter().flat_map(describe_code_mode));
        asked.add_server(&server);
        asked.extend("pack ", serve.iter().flatten().map(|name| name.value.clone()));
        asked.extend("layer ", layers.iter().map(describe_layer));
        asked.extend("root ", roots.iter().map(|root| root.value.clone()));
        for (name, written) in &packs {
            let values = written.json.as_object().into_iter().flatten();
            asked.extend("path ", values.map(|(key, value)| format!("{}.{key} = {value}", name.value)));
        }
        if let Some(code_mode) = &code_mode {
            asked.add_limits("code_mode ", &code_mode.limits);
        }
        asked.add_limits("", &limits);
        asked
    }

    fn add_server(&mut self, server: &ServerDefinition) {
        // Every field is named: a new one is to be shown too.
        let ServerDefinition {
            name,
            title,
            website_url,
            icons,
            page_size,
            lists_ttl_ms,
            lists,
            result_text,
            // `toolsd check` judges by it; no client sees it.
            budget: _,
        } = server;
        let icons = (!icons.is_empty()).then(|| icons.len().to_string());
        let all = [
            ("name", name.clone()),
            ("title", title.clone()),
            ("website_url", website_url.clone()),
            ("icons", icons),
            ("page_size", page_size.map(|size| size.to_string())),
            ("lists_ttl_ms", lists_ttl_ms.map(|time| time.to_string())),
            ("lists", lists.clone()),
            ("result_text", result_text.clone()),
        ];
        self.extend("server ", all.into_iter().filter_map(|(key, value)| Some(format!("{key} = {}", value?))));
    }

    fn add_http(&mut self, http: &HttpOverride) {
        // Every field is named: a new one is to be shown too.
        let HttpOverride { connections, body_ms, write_ms, idle_ms, sessions } = http;
        let all = [
            ("max_connections", connections),
            ("body_timeout_ms", body_ms),
            ("write_timeout_ms", write_ms),
            ("keep_alive_timeout_ms", idle_ms),
            ("max_sessions", sessions),
        ];
        self.0.extend(all.into_iter().filter_map(|(name, value)| Some((format!("{LIMIT}[http] {name}"), (*value)?))));
    }

    fn extend(&mut self, kind: &str, values: impl IntoIterator<Item = String>) {
        self.0.extend(values.into_iter().map(|value| (format!("{kind}{value}"), 1)));
    }

    fn add_pack(&mut self, pack: &PackDefinition) {
        // Every field is named: a new one has to say whether it lets the pack do more.
        let PackDefinition {
            title: _,
            version: _,
            activate_if_exists: _,
            root,
            instructions: _,
            context: _,
            grants,
            run_at: _,
            config: _,
            limits,
            prompt_tool: _,
            on_error: _,
            icons: _,
        } = pack;
        let Grants { read, write, env, run, git } = grants;
        self.extend("read ", read.iter().cloned().chain(pack.config_paths(&Json::Null, "")));
        self.extend("write ", write.iter().cloned());
        self.extend("env ", env.iter().map(spell_variable));
        run.iter().for_each(|grant| self.add_program(grant, read, write));
        self.extend("root-marker ", root.iter().filter(|marker| *marker != ".").cloned());
        match git {
            GitAccess::None => {}
            GitAccess::Read => drop(self.0.insert(GIT.to_owned(), 1)),
            GitAccess::Write => drop(self.0.insert(GIT.to_owned(), 2)),
            GitAccess::Fetch => drop(self.0.insert(GIT.to_owned(), 3)),
        }
        self.add_limits("", limits);
    }

    /// A program, and what it may touch: what the pack may where its grant does not say.
    fn add_program(&mut self, grant: &ProgramGrant, pack_reads: &[String], pack_writes: &[String]) {
        // Every field is named: a new one has to say what it lets the program do.
        let ProgramGrant { program, network, read, write, start, env } = grant;
        self.extend("run ", [program.clone()]);
        self.extend(PROGRAM_NETWORK, network.then(|| program.clone()));
        let of = |values: &[String]| values.iter().map(|value| format!("{program}\t{value}")).collect::<Vec<_>>();
        self.extend(PROGRAM_READS, of(read.as_deref().unwrap_or(pack_reads)));
        self.extend(PROGRAM_WRITES, of(write.as_deref().unwrap_or(pack_writes)));
        self.extend(PROGRAM_STARTS, of(start));
        self.extend(PROGRAM_VARIABLES, of(env));
    }

    fn add_tool(&mut self, tool: &Tool) {
        let name = &tool.name.value;
        self.0.insert(format!("{EFFECT}{name}"), tool.effect.value as u64);
        self.add_limits(name, &tool.limits);
        for operation in tool.dispatch.iter().flat_map(|dispatch| &dispatch.operations) {
            let name = format!("{name}.{}", operation.name.value);
            self.0.insert(format!("{EFFECT}{name}"), operation.effect.value as u64);
            self.add_limits(&name, &operation.limits);
        }
    }

    fn add_limits(&mut self, owner: &str, limits: &LimitsOverride) {
        for (name, of, _) in LIMITS {
            self.0.extend(of(limits).map(|value| (limit_key(owner, name), value)));
        }
    }

    /// How far a permission goes, whether it is written or not: a limit that is not written is that of the pack, or the
    /// usual one.
    fn level(&self, key: &str) -> u64 {
        if let Some(reach) = self.0.get(key) {
            return *reach;
        }
        if key.starts_with(EFFECT) {
            // A tool that is new may do what the others of its file do already.
            let effects = self.0.iter().filter(|(known, _)| known.starts_with(EFFECT));
            return effects.map(|(_, effect)| *effect).max().unwrap_or(0);
        }
        let Some(name) = key.strip_prefix(LIMIT).map(|rest| rest.rsplit(' ').next().unwrap_or(rest)) else { return 0 };
        let usual = LIMITS.iter().find(|(known, ..)| *known == name).map_or(0, |(.., usual)| usual());
        match key == limit_key(GRAPH, name) {
            true if name == "time_ms" => BUILD_MS,
            true => usual,
            false => self.0.get(&limit_key("", name)).copied().unwrap_or(usual),
        }
    }

    /// The permissions that exceed those of `before`: new ones, and wider ones.
    //= docs/spec.md#trust
    //# A trusted edit MUST be used without confirmation if and only if it requests no further grant, effect
    //# or limit.
    pub fn exceeding(&self, before: &Self) -> Self {
        let limits = before.0.keys().filter(|key| key.starts_with(LIMIT) && self.has_owner(key));
        let keys: BTreeSet<&String> = self.0.keys().filter(|key| *key != HAS_GRAPH).chain(limits).collect();
        let wider = keys.into_iter().filter(|key| self.level(key) > before.level(key) && !before.covers(key));
        Self(wider.map(|key| (key.clone(), self.level(key))).collect())
    }

    /// Returns whether the owner of a limit still exists: a removed tool or graph uses nothing.
    pub fn has_owner(&self, limit: &str) -> bool {
        match limit.strip_prefix(LIMIT).and_then(|limit| limit.rsplit_once(' ')) {
            None => true,
            Some((GRAPH, _)) => self.0.contains_key(HAS_GRAPH),
            Some((owner, _)) => self.0.contains_key(&format!("{EFFECT}{owner}")),
        }
    }

    /// Whether a wider grant of the same kind covers a permission.
    fn covers(&self, key: &str) -> bool {
        let any = |kind: &str, covers: fn(&str, &str) -> bool| {
            let after = key.strip_prefix(kind)?;
            Some(self.0.keys().filter_map(|known| known.strip_prefix(kind)).any(|before| covers(before, after)))
        };
        any("read ", covers_glob)
            .or_else(|| any("write ", covers_glob))
            .or_else(|| any("env ", covers_variable))
            .or_else(|| any(PROGRAM_READS, covers_program))
            .or_else(|| any(PROGRAM_WRITES, covers_program))
            .or_else(|| any(PROGRAM_STARTS, covers_program))
            .unwrap_or(false)
    }

    /// The fixed spelling of each.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// How far one of them goes, if it is asked for.
    pub fn get(&self, key: &str) -> Option<u64> {
        self.0.get(key).copied()
    }

    /// One of them alone.
    pub fn only(&self, key: &str) -> Self {
        Self(self.0.get_key_value(key).map(|(key, level)| (key.clone(), *level)).into_iter().collect())
    }

    /// Whether nothing is asked for.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Describes what a program may do. Includes what it may read and write only if that differs from the whole pack.
    fn describe_program(&self, program: &str, whole: &Self) -> String {
        let of = |kind: &str| -> Vec<&str> {
            let values = self.0.keys().filter_map(|key| key.strip_prefix(kind)?.split_once('\t'));
            values.filter(|(name, _)| *name == program).map(|(_, value)| value).collect()
        };
        let pack = |kind: &str| whole.0.keys().filter_map(|key| key.strip_prefix(kind)).collect::<Vec<_>>();
        let mut more = Vec::new();
        more.extend(self.0.contains_key(&format!("{PROGRAM_NETWORK}{program}")).then(|| "with the network".to_owned()));
        for (kind, of_pack, word) in [(PROGRAM_READS, "read ", "reads"), (PROGRAM_WRITES, "write ", "writes")] {
            let own = of(kind);
            // For a program that was granted before, only new permissions are here; an empty list then means nothing.
            let is_whole = self.0.contains_key(&format!("run {program}"));
            if own != pack(of_pack) && (is_whole || !own.is_empty()) {
                more.push(if own.is_empty() {
                    format!("{word} nothing")
                } else {
                    format!("{word} {}", quoted_list(&own))
                });
            }
        }
        let starts = of(PROGRAM_STARTS);
        more.extend((!starts.is_empty()).then(|| format!("starts {}", quoted_list(&starts))));
        let variables = of(PROGRAM_VARIABLES);
        more.extend((!variables.is_empty()).then(|| format!("environment: {}", quoted_list(&variables))));
        if more.is_empty() { String::new() } else { format!(" ({})", more.join("; ")) }
    }

    /// The programs of which only something is here that they may, as in what an edit asks for beyond what it did.
    fn grown_programs(&self, whole: &Self) -> Vec<String> {
        let kinds = [PROGRAM_NETWORK, PROGRAM_READS, PROGRAM_WRITES, PROGRAM_STARTS, PROGRAM_VARIABLES];
        // What the pack itself may beyond what it did, its programs may with it.
        let is_of_pack = |key: &String| {
            [(PROGRAM_READS, "read "), (PROGRAM_WRITES, "write ")].iter().any(|(kind, of_pack)| {
                let value = key.strip_prefix(kind).and_then(|rest| rest.split_once('\t'));
                value.is_some_and(|(_, value)| self.0.contains_key(&format!("{of_pack}{value}")))
            })
        };
        let of = |key: &String| {
            let rest = kinds.iter().find_map(|kind| key.strip_prefix(kind))?;
            Some(rest.split_once('\t').map_or(rest, |(program, _)| program).to_owned())
        };
        let programs: BTreeSet<String> = self.0.keys().filter(|key| !is_of_pack(key)).filter_map(of).collect();
        let here = programs.into_iter().filter(|program| !self.0.contains_key(&format!("run {program}")));
        here.map(|program| format!("{program:?}{}", self.describe_program(&program, whole))).collect()
    }

    /// Describes them as text, one entry for each kind: `reads "."`, `git: write`.
    pub fn describe(&self) -> Vec<String> {
        self.describe_within(self)
    }

    /// The same for a part of the permissions `whole`: what a program may touch is described relative to what its pack
    /// may.
    pub fn describe_within(&self, whole: &Self) -> Vec<String> {
        let mut words = Vec::new();
        for (kind, word) in LISTS {
            let named = |value: &str| match kind {
                "run " => format!("{value:?}{}", self.describe_program(value, whole)),
                "env " => describe_variable(value),
                _ => format!("{value:?}"),
            };
            let mut values: Vec<String> = self.0.keys().filter_map(|key| key.strip_prefix(kind)).map(named).collect();
            if kind == "run " {
                values.extend(self.grown_programs(whole));
            }
            if !values.is_empty() {
                words.push(format!("{word} {}", values.join(", ")));
            }
        }
        words.extend(
            self.0.get(GIT).map(|reach| format!("git: {}", ["none", "read", "write", "fetch"][*reach as usize & 3])),
        );
        let effects: Vec<String> = self
            .0
            .iter()
            .filter_map(|(key, effect)| {
                let effect = usize::try_from(*effect).ok().and_then(|at| EFFECTS.get(at))?;
                Some(format!("{} ({effect})", key.strip_prefix(EFFECT)?))
            })
            .collect();
        if !effects.is_empty() {
            words.push(format!("tools: {}", effects.join(", ")));
        }
        words.extend(self.0.iter().filter_map(|(key, value)| Some(format!("{} = {value}", key.strip_prefix(LIMIT)?))));
        words
    }
}

/// Whether a grant of a program covers another one: of the same program.
fn covers_program(before: &str, after: &str) -> bool {
    match (before.split_once('\t'), after.split_once('\t')) {
        (Some((one, before)), Some((other, after))) => one == other && covers_glob(before, after),
        _ => false,
    }
}

fn quoted_list(values: &[&str]) -> String {
    values.iter().map(|value| format!("{value:?}")).collect::<Vec<_>>().join(", ")
}

fn limit_key(owner: &str, name: &str) -> String {
    if owner.is_empty() { format!("{LIMIT}{name}") } else { format!("{LIMIT}{owner} {name}") }
}

type LimitKind = (&'static str, fn(&LimitsOverride) -> Option<u64>, fn() -> u64);

/// Each limit: its key, its value, and its default.
const LIMITS: [LimitKind; 5] = [
    ("time_ms", |limits| limits.time_ms, || u64::try_from(Limits::default().time.as_millis()).unwrap_or(u64::MAX)),
    ("steps", |limits| limits.steps, || Limits::default().ticks),
    ("memory_mb", |limits| limits.memory_mb, || Limits::default().memory as u64 >> 20),
    ("output_kb", |limits| limits.output_kb, || Limits::default().output as u64 >> 10),
    ("call_depth", |limits| limits.depth, || Limits::default().depth as u64),
];

/// The characters that make a part of a glob more than a name.
const SPECIAL: [char; 5] = ['*', '?', '[', '{', '\\'];

/// Returns whether the glob `before` covers everything that `after` covers; `false` if their texts do not show it.
fn covers_glob(before: &str, after: &str) -> bool {
    // Braces of `${NAME}` are not those of a glob.
    let (before, after) = (normalize_glob(before), normalize_glob(after));
    if before == after {
        return true;
    }
    let (folder, only_below) = match before.as_str() {
        "**" => (".", false),
        before => before.strip_suffix("/**").map_or((before, false), |folder| (folder, true)),
    };
    // A `..` may lead anywhere, and so may a first part that is not known.
    if folder.contains(SPECIAL) || after.contains("..") || after.starts_with(['{', '[', '\\']) {
        return false;
    }
    let names: Vec<&str> = after.split('/').take_while(|name| !name.contains(SPECIAL)).collect();
    let is_glob = names.len() < after.split('/').count();
    let start = if names.is_empty() { ".".to_owned() } else { names.join("/") };
    let is_within = match folder {
        "." => !start.starts_with(['/', '~', '$']),
        folder => path::is_below(&start, folder),
    };
    // `a/**` covers everything under `a`, but not `a` itself.
    is_within && (is_glob || !only_below || start != folder)
}

/// Whether all variables that `after` covers are covered by `before`: `*` at the end stands for any rest. What shows the
/// values of more variables is wider.
fn covers_variable(before: &str, after: &str) -> bool {
    let parts = |value| str::split_once(value, '\t').unwrap_or((value, ""));
    let ((before, shown_before), (after, shown_after)) = (parts(before), parts(after));
    let reach = |mark: &str| [SECRET, "", NOT_SECRET].iter().position(|known| *known == mark);
    let is_within = match before.strip_suffix('*') {
        Some(start) => after.strip_suffix('*').unwrap_or(after).starts_with(start),
        None => before == after,
    };
    is_within && reach(shown_before) >= reach(shown_after)
}

/// The marks of variables, behind a tab, where their names would not say the same.
const SECRET: &str = "secret";

const NOT_SECRET: &str = "not secret";

fn spell_variable(grant: &VariableGrant) -> String {
    let name = &grant.name;
    match grant.secret {
        Some(secret) if name.ends_with('*') || secret != is_secret_name(name) => {
            format!("{name}\t{}", if secret { SECRET } else { NOT_SECRET })
        }
        _ => name.clone(),
    }
}

fn describe_variable(value: &str) -> String {
    match value.split_once('\t') {
        Some((name, mark)) => format!("{name:?} ({mark})"),
        None if !value.ends_with('*') && is_secret_name(value) => format!("{value:?} ({SECRET})"),
        None => format!("{value:?}"),
    }
}

fn normalize_glob(glob: &str) -> String {
    let clean = match glob.starts_with("./") || glob.ends_with('/') {
        true => path::clean(glob),
        false => glob.to_owned(),
    };
    let mut shown = String::new();
    let mut rest = clean.as_str();
    while let Some((before, after)) = rest.split_once("${") {
        let (name, next) = after.split_once('}').unwrap_or((after, ""));
        shown.push_str(&format!("{before}${name}"));
        rest = next;
    }
    shown + rest
}

#[cfg(test)]
mod properties {
    use super::*;
    use proptest::prelude::*;

    fn of(text: &str) -> Permissions {
        Permissions::from_file("tools.d/a.toml", text.as_bytes())
    }

    /// The grants of a pack: which of a few globs, how far git goes, the time of a call.
    fn written(read: &BTreeSet<u8>, run: &BTreeSet<u8>, git: u8, time: Option<u16>) -> String {
        let list =
            |names: &BTreeSet<u8>| format!("{:?}", names.iter().map(|name| format!("p{name}")).collect::<Vec<_>>());
        let git = match git {
            0 => String::new(),
            1 => ", git = \"read\"".to_owned(),
            _ => ", git = \"write\"".to_owned(),
        };
        let limits =
            time.map_or_else(String::new, |time| format!("[pack.limits]\ntime_ms = {}\n", u32::from(time) + 1));
        format!(
            "[pack]\ntitle = \"A\"\nversion = \"1.0.0\"\ngrants = {{ read = {}, run = {}{git} }}\n{limits}",
            list(read),
            list(run)
        )
    }

    proptest! {
        //= docs/spec.md#trust
        //= type=test
        //# A trusted edit MUST be used without confirmation if and only if it requests no further grant,
        //# effect or limit.
        #[test]
        fn a_file_asks_for_more_exactly_if_one_permission_is_new_or_wider(
            before in (proptest::collection::btree_set(0..4_u8, 0..4), proptest::collection::btree_set(0..3_u8, 0..3), 0..3_u8, proptest::option::of(any::<u16>())),
            after in (proptest::collection::btree_set(0..4_u8, 0..4), proptest::collection::btree_set(0..3_u8, 0..3), 0..3_u8, proptest::option::of(any::<u16>())),
        ) {
            let time = |time: Option<u16>| time.map_or(10_000, |time| u32::from(time) + 1);
            let wider = !after.0.is_subset(&before.0)
                || !after.1.is_subset(&before.1)
                || after.2 > before.2
                || time(after.3) > time(before.3);
            let [one, other] = [&before, &after].map(|(read, run, git, time)| of(&written(read, run, *git, *time)));
            prop_assert_eq!(!other.exceeding(&one).is_empty(), wider, "{:?} after {:?}", other.describe(), one.describe());
            prop_assert!(one.exceeding(&one).is_empty());
        }
    }

    #[test]
    fn effects_and_limits_of_tools_count_each_for_itself() {
        let tool = |name: &str, rest: &str| {
            format!("[[tool]]\nname = \"{name}\"\ndescription = \"x\"\n{rest}\ntext = \"x\"\n")
        };
        let a = tool("a", "effect = \"reads\"");
        let b = "effect = \"pure\"\nlimits = { time_ms = 50 }";
        let before = of(&format!("{a}{}", tool("b", b)));
        for (name, rest, beyond) in [
            ("b", b, ""),
            ("b", "effect = \"pure\"\nlimits = { time_ms = 49 }", ""),
            ("b", "effect = \"reads\"\nlimits = { time_ms = 50 }", "tools: b (reads)"),
            ("b", "effect = \"pure\"\nlimits = { time_ms = 51 }", "b time_ms = 51"),
            ("b", "effect = \"pure\"", "b time_ms = 10000"),
            ("b", "effect = \"pure\"\nlimits = { time_ms = 50, call_depth = 65 }", "b call_depth = 65"),
        ] {
            let after = of(&format!("{a}{}", tool(name, rest)));
            assert_eq!(after.exceeding(&before).describe().join("; "), beyond, "{rest}");
        }
        let with = |effect: &str| of(&format!("{a}{}{}", tool("b", b), tool("c", &format!("effect = \"{effect}\""))));
        assert!(with("reads").exceeding(&before).is_empty(), "a new tool may do what the others of its file do");
        assert_eq!(with("writes").exceeding(&before).describe(), ["tools: c (writes)"]);
    }
}
