//! `[fixture.NAME]`: a named setup of examples and cases, and how it combines with their own.

use super::code;
use super::fields::Fields;
use super::grammar::{Grammar, GrammarKey, ValueShape, optional, required};
use super::located::Located;
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::value::Json;
use crate::world::run::{ProgramOutput, ProgramStub};

/// What a case runs in: its files, its clock, its client.
#[derive(Clone, Debug)]
pub struct CaseSetup {
    /// Where the case runs: `memory`, the default, or `disk`.
    pub world: Option<String>,
    /// Whether the workspace is a repository with one commit.
    pub git: bool,
    /// Locks that another process holds.
    pub locked: Vec<String>,
    /// What programs answer, which are then not started.
    pub programs: Vec<ProgramStub>,
    /// The folder, among the files below, that is the workspace; if absent, the files are in the workspace itself.
    pub workspace: Option<String>,
    /// The folder, among the files below, that is the home folder.
    pub home: Option<String>,
    /// The files of the workspace.
    pub files: Vec<(String, String)>,
    /// Folders whose files are copied into the workspace: paths relative to the root.
    pub files_from: Vec<String>,
    /// Environment variables.
    pub env: Vec<(String, String)>,
    /// The configuration of the pack.
    pub config: Json,
    /// The clock, as RFC 3339.
    pub now: Option<String>,
    /// The capabilities of the client; if absent, those that its answers require.
    pub client: Option<Json>,
    /// What the client answers, by key: an object.
    pub answers: Json,
}

impl CaseSetup {
    /// Puts this setup on top of another one, which it overrides. Tables are merged by key, lists are not.
    fn on_top_of(self, base: &Self) -> Self {
        fn list<T: Clone>(own: Vec<T>, base: &[T]) -> Vec<T> {
            if own.is_empty() { base.to_vec() } else { own }
        }
        Self {
            world: self.world.or_else(|| base.world.clone()),
            git: self.git || base.git,
            locked: list(self.locked, &base.locked),
            programs: list(self.programs, &base.programs),
            workspace: self.workspace.or_else(|| base.workspace.clone()),
            home: self.home.or_else(|| base.home.clone()),
            files: merge_texts(self.files, &base.files),
            files_from: list(self.files_from, &base.files_from),
            env: merge_texts(self.env, &base.env),
            config: merge_objects(self.config, &base.config),
            now: self.now.or_else(|| base.now.clone()),
            client: match (self.client, &base.client) {
                (Some(own), Some(base)) => Some(merge_objects(own, base)),
                (own, base) => own.or_else(|| base.clone()),
            },
            answers: merge_objects(self.answers, &base.answers),
        }
    }
}

/// Returns the entries of both, those of the base first; an entry of `own` replaces the one of the same name.
fn merge_texts(own: Vec<(String, String)>, base: &[(String, String)]) -> Vec<(String, String)> {
    let kept = base.iter().filter(|(name, _)| !own.iter().any(|(known, _)| known == name));
    kept.cloned().chain(own.iter().cloned()).collect()
}

fn merge_objects(own: Json, base: &Json) -> Json {
    let mut merged = base.clone();
    match (merged.as_object_mut(), own) {
        (Some(entries), Json::Object(own)) => entries.extend(own),
        (_, own) => return own,
    }
    merged
}

/// A named setup.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// Its name.
    pub name: Located<String>,
    /// What it sets up.
    pub setup: CaseSetup,
}

/// The fixtures that an example or a case names.
pub(super) const FIXTURE_NAMES: GrammarKey = optional(
    "fixture",
    ValueShape::TextOrTexts,
    "Fixtures of the pack, by name. Later fixtures override earlier ones, and the keys next to `fixture` override all; tables are merged by key.",
);

pub(super) const FILES: GrammarKey = optional("files", ValueShape::TextMap, "Files of the workspace: path and text.");

pub(super) const FILES_FROM: GrammarKey = optional(
    "files_from",
    ValueShape::TextOrTexts,
    "Folders, relative to the root, whose files are copied into the workspace.",
);

pub(super) const ENV: GrammarKey = optional("env", ValueShape::TextMap, "Environment variables.");

pub(super) const CONFIG: GrammarKey = optional("config", ValueShape::Object, "The configuration of the pack.");

pub(super) const NOW: GrammarKey = optional("now", ValueShape::Text, "The clock, as RFC 3339.");

pub(super) const CLIENT: GrammarKey =
    optional("client_capabilities", ValueShape::Object, "The capabilities of the client.");

pub(super) const WORLD: GrammarKey =
    optional("filesystem", ValueShape::OneOf(&["memory", "disk"]), "Where the case runs (default: `memory`).");

pub(super) const LOCKED: GrammarKey =
    optional("held_locks", ValueShape::TextOrTexts, "Locks that another process holds.");

/// `programs` of an example, a case or a fixture.
static PROGRAM_STUB: Grammar = Grammar {
    name: "[[case.programs]]",
    doc: "What a program answers to `run` in an example or a case. It is not started, need not be installed, and changes no files; its grant is needed as always. The first table that matches answers.",
    keys: &[
        required("program", ValueShape::Text, "The program, as `run` names it."),
        optional("args", ValueShape::Texts, "Answers only calls with exactly these arguments (default: any)."),
        optional("stdout", ValueShape::Text, "Its standard output (default: empty)."),
        optional("stderr", ValueShape::Text, "Its standard error (default: empty)."),
        optional("exit_code", ValueShape::Integer(0), "Its exit code (default: 0)."),
    ],
};

pub(super) const PROGRAMS: GrammarKey = optional(
    "programs",
    ValueShape::Tables(&PROGRAM_STUB),
    "What programs answer to `run` without being started; only with `filesystem = \"memory\"`.",
);

pub(super) const GIT: GrammarKey = optional(
    "git",
    ValueShape::OneOf(&["init"]),
    "Makes the workspace a repository with one commit of its files; requires `filesystem = \"disk\"`.",
);

pub(super) const ANSWERS: GrammarKey = optional(
    "answers",
    ValueShape::Object,
    "Answers of the client, by key: a form's fields, `\"decline\"` or `\"cancel\"`; a text of the model; a list of roots; or the answer as in MCP. A case with answers runs twice: with a call that waits, and with a call that is suspended.",
);

pub(super) const WORKSPACE: GrammarKey = optional(
    "workspace",
    ValueShape::Text,
    "The folder among the files that is the workspace (default: the files are in the workspace itself).",
);

pub(super) const HOME: GrammarKey =
    optional("home", ValueShape::Text, "The folder among the files that is the home folder, `~`.");

/// `[fixture.NAME]`.
pub static FIXTURE: Grammar = Grammar {
    name: "[fixture.NAME]",
    doc: "A named setup that examples and cases of any file of the pack can use: `fixture = \"NAME\"`.",
    keys: &[WORLD, GIT, LOCKED, PROGRAMS, FILES, FILES_FROM, WORKSPACE, HOME, ENV, CONFIG, NOW, CLIENT, ANSWERS],
};

/// Reads `[fixture.NAME]`.
pub fn read_fixture(name: Located<String>, fields: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> Fixture {
    Fixture { name, setup: read_setup(fields, diagnostics) }
}

/// Reads the setup of a fixture, an example or a case.
pub fn read_setup(fields: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> CaseSetup {
    CaseSetup {
        world: fields.text("filesystem"),
        git: fields.text("git").is_some(),
        locked: fields.texts("held_locks"),
        programs: fields.tables("programs", diagnostics).iter().map(read_program_stub).collect(),
        workspace: fields.text("workspace"),
        home: fields.text("home"),
        files: fields.text_map("files"),
        files_from: fields.texts("files_from"),
        env: fields.text_map("env"),
        config: fields.object("config"),
        now: fields.text("now"),
        client: fields.json("client_capabilities"),
        answers: fields.object("answers"),
    }
}

fn read_program_stub(fields: &Fields<'_>) -> ProgramStub {
    let bytes = |key: &str| fields.text(key).unwrap_or_default().into_bytes();
    ProgramStub {
        program: fields.required("program").value,
        arguments: fields.has("args").then(|| fields.texts("args")),
        output: ProgramOutput {
            code: fields.integer("exit_code").and_then(|code| i64::try_from(code).ok()).unwrap_or(0),
            output: bytes("stdout"),
            errors: bytes("stderr"),
            notes: Vec::new(),
        },
    }
}

/// Puts a setup on top of the fixtures that it names. Reports names that the pack does not have.
//= docs/spec.md#definitions
//# Later fixtures of a case MUST override earlier ones, and the keys of the case MUST override all fixtures.
pub fn apply_fixtures(
    setup: &mut CaseSetup,
    names: &[Located<String>],
    fixtures: &[Fixture],
    diagnostics: &mut Vec<Diagnostic>,
) {
    // From the last one to the first, since values that are set are kept.
    for name in names.iter().rev() {
        match fixtures.iter().find(|fixture| fixture.name.value == name.value) {
            Some(fixture) => *setup = setup.clone().on_top_of(&fixture.setup),
            None => diagnostics.push(unknown_fixture(name, fixtures)),
        }
    }
}

fn unknown_fixture(name: &Located<String>, fixtures: &[Fixture]) -> Diagnostic {
    let known: Vec<&str> = fixtures.iter().map(|fixture| fixture.name.value.as_str()).collect();
    let help = did_you_mean(&name.value, known.iter().copied()).unwrap_or_else(|| match known.as_slice() {
        [] => format!("define it as `[fixture.{}]` in any file of the pack", name.value),
        known => format!("the pack has {}; define it as `[fixture.{}]`", known.join(", "), name.value),
    });
    let message = format!("there is no fixture `{}`", name.value);
    *Diagnostic::new(code::WRONG_VALUE, message).at(name.at.clone()).help(help)
}
