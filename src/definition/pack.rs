//! `[pack]`, `[graph]` and `[[skills]]`: when a pack serves, what it may touch, how its graph is kept, where its skills are.

use super::code;
use super::fields::{Configurable, Fields, TextOrTable};
use super::grammar::{Grammar, SCRIPT, ValueShape, optional, required};
use super::icon::{ICON, read_icons};
use super::item::{Item, ItemKind, NamedFunction};
use super::limits::{LIMITS, LimitsOverride, read_limits};
use super::located::Located;
use super::prompt::{PROMPT_TOOL, PromptTool};
use super::reader::DefinitionReader;
use super::schema::{Schema, SchemaRole};
use crate::diagnostic::Diagnostic;
use crate::source::Place;
use crate::value::Json;
use crate::world::path;
pub use crate::world::run::{GitAccess, ProgramGrant};
use crate::world::{check_grant, is_forbidden_variable};

/// `[pack]`.
#[derive(Clone, Debug)]
pub struct PackDefinition {
    /// A title for people.
    pub title: Located<String>,
    /// Its version.
    pub version: String,
    /// Served by default only where one of these paths exists; absent = always, empty = only by name.
    pub activate_if_exists: Option<Vec<String>>,
    /// The root is the nearest ancestor holding the first entry, else the second …; `.` is the workspace itself.
    pub root: Vec<String>,
    /// The path of the template that tells a model about the pack.
    pub instructions: Option<Located<String>>,
    /// The function that returns the context of the instructions, and its script.
    pub context: Option<(Located<String>, String)>,
    /// What it may touch.
    pub grants: Grants,
    /// Where each program of the grants is named.
    pub run_at: Vec<Place>,
    /// JSON Schema of `[packs.NAME]` in the workspace's `toolsd.toml`.
    pub config: Option<Schema>,
    /// The limits of its calls.
    pub limits: LimitsOverride,
    /// The tool that lists and gives its prompts.
    pub prompt_tool: Option<PromptTool>,
    /// A function that sees every fault of its calls.
    pub on_error: Option<Located<String>>,
    /// Icons.
    pub icons: Vec<Json>,
}

impl PackDefinition {
    /// The properties of its configuration that are paths (`format = "path"`) or lists of paths: name and schema.
    pub fn path_properties(&self) -> impl Iterator<Item = (&String, &Json)> {
        let is_path = |schema: &Json| schema.get("format").is_some_and(|format| format == "path");
        let holds_path = move |schema: &Json| is_path(schema) || schema.get("items").is_some_and(is_path);
        let properties = self.config.as_ref().and_then(|schema| schema.json.get("properties")?.as_object());
        properties.into_iter().flatten().filter(move |(_, schema)| holds_path(schema))
    }

    /// The paths in `written`, a configuration, and the defaults of those that it does not name. Relative ones that
    /// leave the workspace begin at `workspace`.
    pub fn config_paths(&self, written: &Json, workspace: &str) -> Vec<String> {
        let mut paths = Vec::new();
        for (key, schema) in self.path_properties() {
            let Some(value) = written.get(key).or_else(|| schema.get("default")) else { continue };
            let texts =
                value.as_str().into_iter().chain(value.as_array().into_iter().flatten().filter_map(Json::as_str));
            paths.extend(texts.map(|text| match text.starts_with("..") {
                true => path::clean(&path::join(workspace, text)),
                false => path::clean(text),
            }));
        }
        paths
    }
}

/// What a pack may touch. Globs are relative to its root; `~` and `$VAR` are filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Files it may read.
    pub read: Vec<String>,
    /// Files it may write.
    pub write: Vec<String>,
    /// Variables of the environment; `*` at the end stands for any rest.
    pub env: Vec<String>,
    /// Programs it may run.
    pub run: Vec<ProgramGrant>,
    /// How far git goes.
    pub git: GitAccess,
}

/// `[graph]`.
#[derive(Clone, Debug)]
pub struct GraphDefinition {
    /// The script that has `fn build(g, config)`.
    pub script: Located<String>,
    /// When it is refreshed.
    pub refresh: Refresh,
    /// The limits of a build.
    pub limits: LimitsOverride,
}

/// When the graph is refreshed.
#[derive(Clone, Debug)]
pub enum Refresh {
    /// Before each call.
    Call,
    /// Beside the calls, which see the last graph that was built.
    Beside {
        /// Milliseconds between two refreshes; 0 = the clock causes none.
        interval_ms: Configurable<u64>,
        /// Whether a change of a file that it was made of causes a refresh.
        watch: Configurable<bool>,
    },
}

/// Skills: folders among the files of the pack, or folders that a function finds.
#[derive(Clone, Debug)]
pub struct SkillsDefinition {
    /// Where its table begins.
    pub at: Place,
    /// Folders, from the root: each folder below them that has a `SKILL.md` is a skill.
    pub dirs: Vec<Located<String>>,
    /// A function that lists folders of the workspace, each with a `SKILL.md`.
    pub list: Option<Located<String>>,
    /// The script of `list`.
    pub script: String,
}

impl SkillsDefinition {
    /// What it consists of.
    pub fn item(&self) -> Item<'_> {
        let listed = self.list.as_ref().map(|list| NamedFunction::new(&self.script, list, 0..=0, "fn()"));
        Item { listing: listed.into_iter().collect(), ..Item::new(ItemKind::Skills, &self.at) }
    }
}

/// `[pack]`.
pub static PACK: Grammar = Grammar {
    name: "[pack]",
    doc: "When a pack serves, what it may touch, how it is configured.",
    keys: &[
        required("title", ValueShape::Text, "A title for people."),
        optional("version", ValueShape::Text, "Its version; `0.0.0` if it is left out."),
        optional(
            "activate_if_exists",
            ValueShape::Texts,
            "Served by default only where one of these paths exists; left out = always, `[]` = only by name.",
        ),
        optional(
            "root_markers",
            ValueShape::TextOrTexts,
            "The root is the nearest ancestor holding the first entry, else the second …; `.` is the workspace itself.",
        ),
        optional("instructions", ValueShape::Text, "The path of the template that tells a model about the pack."),
        optional(
            "context",
            ValueShape::Text,
            "A function of `script` that gives what the instructions are filled with, again when the graph changed.",
        ),
        SCRIPT,
        optional("grants", ValueShape::Table(&GRANTS), "What it may touch; nothing if it is left out."),
        optional(
            "config_schema",
            ValueShape::Schema,
            "JSON Schema of `[packs.NAME]` in the workspace's `toolsd.toml`.",
        ),
        optional("limits", ValueShape::Table(&LIMITS), "The limits of its calls."),
        optional(
            "prompt_tool",
            ValueShape::Table(&PROMPT_TOOL),
            "Offers the pack's prompts by a tool too, for clients without prompts: `prompt_tool = {}` is enough.",
        ),
        optional(
            "on_error",
            ValueShape::Text,
            "A function `fn(error, args)` of `lib.rhai` that sees every fault of its calls.",
        ),
        optional("icons", ValueShape::Tables(&ICON), "Icons for people."),
    ],
};

/// `[pack.grants]`.
static GRANTS: Grammar = Grammar {
    name: "[pack.grants]",
    doc: "What a pack may touch. A relative glob holds beneath the root of the pack and beneath each further root (`--root`, `roots`), so `.` is all of all of them; an absolute one, or one that begins with `~` or `$VAR`, names one place. None leads out of a root by `..`.",
    keys: &[
        optional("read", ValueShape::Texts, "Files it may read."),
        optional("write", ValueShape::Texts, "Files it may write."),
        optional("env", ValueShape::Texts, "Variables of the environment; `*` at the end stands for any rest."),
        optional(
            "run",
            ValueShape::TextsOrTables(&PROGRAM),
            "Programs it may run: names that are looked for in the host's `PATH`, or absolute paths; with more to say, tables.",
        ),
        optional(
            "git",
            ValueShape::OneOf(&["none", "read", "write", "fetch"]),
            "How far git goes, each step with those before it: `read` inspects, `write` changes repositories and files, `fetch` asks remotes; `none` if it is left out.",
        ),
    ],
};

/// A program of `run` in `[pack.grants]`.
static PROGRAM: Grammar = Grammar {
    name: "[[pack.grants.run]]",
    doc: "A program that a pack may run, and what it may touch meanwhile: the system confines it to that.",
    keys: &[
        required("program", ValueShape::Text, "Its name, or its absolute path."),
        optional("network", ValueShape::Flag, "Whether it may use the network; `false` if it is left out."),
        optional("read", ValueShape::Texts, "Files and folders it may read; what the pack may read if it is left out."),
        optional(
            "write",
            ValueShape::Texts,
            "Folders and files it may write; what the pack may write if it is left out.",
        ),
        optional(
            "execute",
            ValueShape::Texts,
            "Files and folders it may start as programs in turn, and read: `node_modules`, `scripts`; only programs of the system and itself if it is left out.",
        ),
        optional("env", ValueShape::Texts, "Variables that `env` of `run` may set for it; none if it is left out."),
    ],
};

/// `[graph]`.
pub static GRAPH: Grammar = Grammar {
    name: "[graph]",
    doc: "The graph that a pack builds from files with `fn build(g, config)`.",
    keys: &[
        optional(
            "script",
            ValueShape::Text,
            "The script that has `fn build(g, config)`; the sibling `<stem>.rhai` if it is left out.",
        ),
        optional(
            "refresh",
            ValueShape::WordOrTable(&["call"], &REFRESH),
            "When it is looked at again; `call`, as if it is left out: before each call.",
        ),
        optional("limits", ValueShape::Table(&LIMITS), "The limits of a build."),
    ],
};

/// `[graph.refresh]`.
static REFRESH: Grammar = Grammar {
    name: "[graph.refresh]",
    doc: "A graph that is looked at again beside the calls: they see the last one that was built, and never wait.",
    keys: &[
        optional(
            "interval_ms",
            ValueShape::IntegerOrKey(0),
            "So many milliseconds lie between two looks; 0, as if it is left out: no look by the clock.",
        ),
        optional(
            "watch",
            ValueShape::FlagOrKey,
            "Whether it is also looked at when a file that it was made of changes.",
        ),
    ],
};

/// `[[skills]]`.
pub static SKILLS: Grammar = Grammar {
    name: "[[skills]]",
    doc: "Skills (MCP Skills extension, SEP-2640): folders with a `SKILL.md` and whatever lies beside it; either `dirs` or `list`.",
    keys: &[
        optional(
            "dirs",
            ValueShape::Texts,
            "Folders among the pack's files, from the root: each folder below them that has a `SKILL.md` is a skill.",
        ),
        optional(
            "list",
            ValueShape::Text,
            "A function `fn()` that lists folders of the workspace, or `#{ dir, path }` of each: the skill is then `skill://PATH/SKILL.md`.",
        ),
        SCRIPT,
    ],
};

/// Reports grants that are not a glob or lie in a folder that no grant covers, and warns of those that cover nothing,
/// since no path may lead out of its root.
fn check_paths(grants: &Fields<'_>, faults: &mut Vec<Diagnostic>) {
    for grant in ["read", "write"].into_iter().flat_map(|name| grants.located_texts(name)) {
        if let Err(fault) = check_grant(&grant.value) {
            faults.push(Diagnostic { code: code::WRONG_VALUE, ..*fault.at(grant.at) });
        } else if path::clean(&grant.value).starts_with("..") {
            let message = format!("the grant `{}` covers nothing: no path leads out of its root by `..`", grant.value);
            let fault = Diagnostic::new(code::WRONG_VALUE, message).at(grant.at).warning();
            let help =
                "name the folder by its absolute path or `~/…`; a relative grant holds beneath each further root, too";
            faults.push(*fault.help(help));
        }
    }
}

/// `[pack]`.
pub fn read_pack(fields: &Fields<'_>, reader: &mut DefinitionReader) -> PackDefinition {
    let mut run_at = Vec::new();
    let grants = fields.table("grants", &mut reader.faults).map(|grants| Grants {
        read: grants.texts("read"),
        write: grants.texts("write"),
        env: grants.texts("env"),
        run: {
            let (run, places) = read_programs(&grants, &mut reader.faults);
            run_at = places;
            run
        },
        git: match grants.text("git").as_deref() {
            Some("read") => GitAccess::Read,
            Some("write") => GitAccess::Write,
            Some("fetch") => GitAccess::Fetch,
            _ => GitAccess::None,
        },
    });
    if let Some(grants) = fields.table("grants", &mut Vec::new()) {
        check_paths(&grants, &mut reader.faults);
    }
    PackDefinition {
        title: fields.required("title"),
        version: fields.text("version").unwrap_or_else(|| "0.0.0".to_owned()),
        activate_if_exists: fields.has("activate_if_exists").then(|| fields.texts("activate_if_exists")),
        root: fields.texts("root_markers"),
        instructions: fields.located("instructions"),
        context: fields.located("context").map(|function| (function, reader.script_of(fields))),
        grants: grants.unwrap_or_default(),
        run_at,
        config: reader.schema(fields, "config_schema", SchemaRole::Config),
        limits: read_limits(fields, &mut reader.faults),
        prompt_tool: fields.table("prompt_tool", &mut reader.faults).map(|tool| PromptTool {
            name: tool
                .located("name")
                .unwrap_or_else(|| Located { value: "get_prompt".to_owned(), at: tool.header.clone() }),
            meta: tool.json("meta"),
        }),
        on_error: fields.located("on_error"),
        icons: read_icons(fields, &mut reader.faults),
    }
}

/// `[graph]`.
pub fn read_graph(fields: &Fields<'_>, reader: &mut DefinitionReader) -> GraphDefinition {
    let script =
        fields.located("script").unwrap_or_else(|| Located { value: reader.script.clone(), at: fields.header.clone() });
    let refresh = fields.table("refresh", &mut reader.faults).map_or(Refresh::Call, |table| Refresh::Beside {
        interval_ms: table.setting("interval_ms", table.integer("interval_ms").unwrap_or(0)),
        watch: table.setting("watch", table.flag("watch").unwrap_or(false)),
    });
    GraphDefinition { script, refresh, limits: read_limits(fields, &mut reader.faults) }
}

/// Reads the granted programs, each once, with the place where each is named. Programs that cannot be granted are reported.
pub fn read_programs(grants: &Fields<'_>, faults: &mut Vec<Diagnostic>) -> (Vec<ProgramGrant>, Vec<Place>) {
    let (mut found, mut places): (Vec<ProgramGrant>, _) = (Vec::new(), Vec::new());
    for item in grants.texts_or_tables("run", faults) {
        let (program, grant) = match item {
            TextOrTable::Text(program) => {
                let grant = ProgramGrant { program: program.value.clone(), ..ProgramGrant::default() };
                (program, grant)
            }
            TextOrTable::Table(table) => (table.required("program"), read_program(&table, faults)),
        };
        if let Some(fault) = check_program(&program, &found) {
            faults.push(*fault.at(program.at));
        } else if !program.value.is_empty() {
            found.push(grant);
            places.push(program.at);
        }
    }
    (found, places)
}

fn read_program(table: &Fields<'_>, faults: &mut Vec<Diagnostic>) -> ProgramGrant {
    for name in table.located_texts("env") {
        if is_forbidden_variable(&name.value) {
            let message = format!("`env` cannot have `{}`", name.value);
            let fault = Diagnostic::new(code::WRONG_VALUE, message).at(name.at);
            faults.push(*fault.help("it chooses other programs or code: name variables that only say how to work"));
        } else if !is_variable(&name.value) {
            let message = format!("`{}` of `env` is no name of a variable", name.value);
            let fault = Diagnostic::new(code::WRONG_VALUE, message).at(name.at);
            faults.push(*fault.help("name each variable: letters, digits and `_`, no digit first"));
        }
    }
    let list = |name| table.has(name).then(|| table.texts(name));
    ProgramGrant {
        program: table.required("program").value,
        network: table.flag("network").unwrap_or(false),
        read: list("read"),
        write: list("write"),
        start: table.texts("execute"),
        env: table.texts("env"),
    }
}

/// Whether a text is the name of a variable (POSIX.1-2017, 8.1): a shell takes functions from others.
fn is_variable(name: &str) -> bool {
    !name.starts_with(|letter: char| letter.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The fault of a program that cannot be granted.
//= docs/spec.md#programs
//# A program MUST be found in the server's own `PATH`, at a location that only root and the user can write,
//# and never by a relative path.
fn check_program(program: &Located<String>, others: &[ProgramGrant]) -> Option<Box<Diagnostic>> {
    let name = program.value.as_str();
    let wrong = |message: String| Diagnostic::new(code::WRONG_VALUE, message);
    if name.contains('/') && !path::is_clean_absolute(name) {
        let help = "a program is a name that is looked for in the host's `PATH`, or an absolute path";
        return Some(wrong(format!("`{name}` is no program that can be granted")).help(help));
    }
    //= docs/spec.md#git
    //# Git MUST be available only through the `git` grant, with the verbs and options of one table, and no
    //# name that begins with `-`.
    if path::name(name) == "git" {
        let help = "use `git = \"read\"`, `\"write\"` or `\"fetch\"`: its verbs are typed, and each file they change is checked";
        return Some(wrong(format!("`{name}` cannot be granted by `run`")).help(help));
    }
    if others.iter().any(|other| other.program == name) {
        return Some(wrong(format!("`{name}` is granted twice")).help("say in one place what it may do"));
    }
    None
}

pub fn read_skills(fields: &Fields<'_>, reader: &mut DefinitionReader) -> SkillsDefinition {
    if fields.one_of(&["dirs", "list"], "[[skills]]", &mut reader.faults).is_none() {
        reader.missing(&fields.header, "[[skills]] has neither `dirs` nor `list`", "say where skills are found");
    }
    SkillsDefinition {
        at: fields.header.clone(),
        dirs: fields.located_texts("dirs"),
        list: fields.located("list"),
        script: fields.text("script").unwrap_or_else(|| reader.script.clone()),
    }
}
