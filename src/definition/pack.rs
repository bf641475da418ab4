//! `[pack]`, `[graph]` and `[[skills]]`: when a pack is active, its grants, the refresh of its graph, its skills.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::code;
use super::fields::{Configurable, Fields, TextOrTable};
use super::grammar::{Grammar, SCRIPT, ValueShape, optional, required};
use super::icon::{ICON, read_icons};
use super::item::{Item, ItemKind, NamedFunction};
use super::limits::{LIMITS, LimitsOverride, read_limits};
use super::located::Located;
use super::prompt::{PROMPT_TOOL, PromptTool};
use super::reader::{DefinitionReader, Validation};
use super::schema::{Schema, SchemaRole};
use crate::diagnostic::Diagnostic;
use crate::source::Place;
use crate::value::Json;
use crate::world::path;
pub use crate::world::run::{GitAccess, ProgramGrant};
use crate::world::{VariableGrant, check_grant, is_forbidden_variable};

/// `[pack]`.
#[derive(Clone, Debug)]
pub struct PackDefinition {
    /// A title for people.
    pub title: Located<String>,
    pub version: String,
    /// Active by default only if one of these paths exists. `None`: always; empty: only by name.
    pub activate_if_exists: Option<Vec<String>>,
    /// The root is the nearest ancestor that contains the first entry, otherwise the second, and so on; `.` is the
    /// workspace itself.
    pub root: Vec<String>,
    /// The path of the template that describes the pack to a model.
    pub instructions: Option<Located<String>>,
    /// The function that returns the context of the instructions, and its script.
    pub context: Option<(Located<String>, String)>,
    /// What it may access.
    pub grants: Grants,
    /// Where each program of the grants is named.
    pub run_at: Vec<Place>,
    /// JSON Schema of `[packs.NAME]` in the workspace's `toolsd.toml`.
    pub config: Option<Schema>,
    /// The limits of its calls.
    pub limits: LimitsOverride,
    /// The tool that lists and returns its prompts.
    pub prompt_tool: Option<PromptTool>,
    /// A function that receives every error of its calls.
    pub on_error: Option<Located<String>>,
    pub icons: Vec<Json>,
}

impl PackDefinition {
    /// Returns the configuration properties that are paths (`format = "path"`) or arrays of paths: name and schema.
    pub fn path_properties(&self) -> impl Iterator<Item = (&String, &Json)> {
        let is_path = |schema: &Json| schema.get("format").is_some_and(|format| format == "path");
        let holds_path = move |schema: &Json| is_path(schema) || schema.get("items").is_some_and(is_path);
        let properties = self.config.as_ref().and_then(|schema| schema.json.get("properties")?.as_object());
        properties.into_iter().flatten().filter(move |(_, schema)| holds_path(schema))
    }

    /// Returns the paths in `written`, a configuration, and the defaults of those that it does not set. Relative paths
    /// that leave the workspace are joined to `workspace`.
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

/// What a pack may access. Globs are relative to its root; `~` and `$VAR` are expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants {
    /// Files it may read.
    pub read: Vec<String>,
    /// Files it may write.
    pub write: Vec<String>,
    pub env: Vec<VariableGrant>,
    /// Programs it may run.
    pub run: Vec<ProgramGrant>,
    /// The level of git access.
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
    /// In the background; calls use the last graph that was built.
    Background {
        /// Interval between refreshes in milliseconds; 0: no periodic refresh.
        interval_ms: Configurable<u64>,
        /// Whether a change of an input file causes a refresh.
        watch: Configurable<bool>,
    },
}

/// Skills: folders among the files of the pack, or folders that a function finds.
#[derive(Clone, Debug)]
pub struct SkillsDefinition {
    /// Where its table begins.
    pub at: Place,
    /// Folders, relative to the root: each folder under them that contains a `SKILL.md` is a skill.
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
    doc: "When a pack is active, what it may access, how it is configured.",
    keys: &[
        required("title", ValueShape::Text, "A title for people."),
        optional("version", ValueShape::Text, "Version of the pack (default: `0.0.0`)."),
        optional(
            "activate_if_exists",
            ValueShape::Texts,
            "Active only if one of these paths exists, or if named (default: always; `[]`: only if named). `.../PATH` is sought in each folder up to that of the repository.",
        ),
        optional(
            "root_markers",
            ValueShape::TextOrTexts,
            "The root is the nearest ancestor that contains the first entry, otherwise the second, and so on; `.` is the workspace itself.",
        ),
        optional("instructions", ValueShape::Text, "Path of the template that describes the pack to a model."),
        optional(
            "context",
            ValueShape::Text,
            "A function of `script` that returns the data for the instructions; called again when the graph has changed.",
        ),
        SCRIPT,
        optional("grants", ValueShape::Table(&GRANTS), "What the pack may access (default: nothing)."),
        optional(
            "config_schema",
            ValueShape::Schema,
            "The JSON Schema of `[packs.NAME]` in the workspace's `toolsd.toml`.",
        ),
        optional("limits", ValueShape::Table(&LIMITS), "Limits of the pack's calls."),
        optional(
            "prompt_tool",
            ValueShape::Table(&PROMPT_TOOL),
            "Also serves the pack's prompts as a tool, for clients without prompts: `prompt_tool = {}` is enough.",
        ),
        optional(
            "on_error",
            ValueShape::Text,
            "A function `fn(error, args)` of `lib.rhai` that receives every error of the pack's calls.",
        ),
        optional("icons", ValueShape::Tables(&ICON), "Icons for people."),
    ],
};

/// `[pack.grants]`.
static GRANTS: Grammar = Grammar {
    name: "[pack.grants]",
    doc: "What a pack may access. Relative globs apply to the pack's root and to each additional root (`--root`, `roots`), so `.` grants all of them; a glob that is absolute, or begins with `~` or `$VAR`, applies once. Globs cannot leave a root with `..`.",
    keys: &[
        optional(
            "read",
            ValueShape::Texts,
            "Files it may read. `.../PATH` is that path in each folder from the workspace up to that of its repository; `PATH@` is also what a folder and the links directly in it lead to when the pack is loaded.",
        ),
        optional("write", ValueShape::Texts, "Files it may write."),
        optional(
            "env",
            ValueShape::TextsOrTables(&VARIABLE),
            "Environment variables it may read; a `*` at the end matches any suffix; tables to set whether a value is secret.",
        ),
        optional(
            "run",
            ValueShape::TextsOrTables(&PROGRAM),
            "Programs it may run: names that are searched for in the `PATH` of toolsd, or absolute paths; tables to set more.",
        ),
        optional(
            "git",
            ValueShape::OneOf(&["none", "read", "write", "fetch"]),
            "Level of git access, each including the previous ones: `read` inspects, `write` changes repositories and files, `fetch` contacts remotes (default: `none`).",
        ),
    ],
};

/// A variable of `env` in `[pack.grants]`.
static VARIABLE: Grammar = Grammar {
    name: "[[pack.grants.env]]",
    doc: "A variable that a pack may read. Secret values of six bytes or more are replaced by `[secret NAME]` in everything that leaves toolsd, and refused in the arguments of programs.",
    keys: &[
        required("name", ValueShape::Text, "Its name; a `*` at the end matches any suffix."),
        optional(
            "secret",
            ValueShape::Flag,
            "Whether its value is secret (default: whether its name contains `TOKEN`, `SECRET`, `PASSWORD` or `KEY`).",
        ),
    ],
};

/// A program of `run` in `[pack.grants]`.
static PROGRAM: Grammar = Grammar {
    name: "[[pack.grants.run]]",
    doc: "A program that a pack may run, and what the program may access; the system confines it.",
    keys: &[
        required("program", ValueShape::Text, "Its name, or its absolute path."),
        optional("network", ValueShape::Flag, "Whether it may use the network (default: `false`)."),
        optional("read", ValueShape::Texts, "Files and folders it may read (default: what the pack may read)."),
        optional(
            "write",
            ValueShape::Texts,
            "Folders and files it may write (default: what the pack may write). A folder of the workspace that does not exist is created: a name without a suffix is one.",
        ),
        optional(
            "execute",
            ValueShape::Texts,
            "Files and folders that it may read and start as programs, such as `node_modules` (default: only itself and programs of the system).",
        ),
        optional("env", ValueShape::Texts, "Variables that `env` of `run` may set for it (default: none)."),
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
            "The script that contains `fn build(g, config)` (default: `<stem>.rhai` next to the definition file).",
        ),
        optional(
            "refresh",
            ValueShape::WordOrTable(&["call"], &REFRESH),
            "When the graph is refreshed (default: `call`, before each call).",
        ),
        optional("limits", ValueShape::Table(&LIMITS), "Limits of a build."),
    ],
};

/// `[graph.refresh]`.
static REFRESH: Grammar = Grammar {
    name: "[graph.refresh]",
    doc: "Refreshes the graph in the background. Calls use the last graph that was built, and never wait.",
    keys: &[
        optional(
            "interval_ms",
            ValueShape::IntegerOrKey(0),
            "Interval between refreshes in milliseconds (default: 0, no periodic refresh).",
        ),
        optional(
            "watch",
            ValueShape::FlagOrKey,
            "Whether a change of an input file also causes a refresh (default: `false`).",
        ),
    ],
};

/// `[[skills]]`.
pub static SKILLS: Grammar = Grammar {
    name: "[[skills]]",
    doc: "Skills (MCP Skills extension, SEP-2640): folders that contain a `SKILL.md` and other files; either `dirs` or `list`.",
    keys: &[
        optional(
            "dirs",
            ValueShape::Texts,
            "Folders among the pack's files, relative to the root: each folder under them that contains a `SKILL.md` is a skill.",
        ),
        optional(
            "list",
            ValueShape::Text,
            "A function `fn()` that returns folders of the workspace, or `#{ dir, path }` for each, whose skill is then `skill://PATH/SKILL.md`.",
        ),
        SCRIPT,
    ],
};

/// Reports grants that are not names of variables or not valid globs or that are in a forbidden folder, and warns about those that match nothing
/// because they leave their root with `..`.
fn check_grants(grants: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for (grant, at) in read_variables(grants, &mut Vec::new()) {
        let name = grant.name.strip_suffix('*').unwrap_or(&grant.name);
        if grant.name.is_empty() || name.contains(['*', '=', '?', ' ']) {
            let message = format!("`{}` is not a variable of the environment", grant.name);
            let diagnostic = Diagnostic::new(code::WRONG_VALUE, message).at(at);
            diagnostics.push(*diagnostic.help("write its name, such as `HOME`, or the beginning of several: `TEA_*`"));
        }
    }
    for grant in ["read", "write"].into_iter().flat_map(|name| grants.located_texts(name)) {
        if grant.value.trim().is_empty() {
            let diagnostic = Diagnostic::new(code::WRONG_VALUE, "an empty grant would cover everything").at(grant.at);
            diagnostics.push(*diagnostic.help("write `.` for the whole root, or the folders that the pack needs"));
            continue;
        }
        if let Err(diagnostic) = check_grant(&grant.value) {
            diagnostics.push(Diagnostic { code: code::WRONG_VALUE, ..*diagnostic.at(grant.at) });
        } else if path::clean(&grant.value).split('/').next() == Some("..") {
            let message = format!("the grant `{}` covers nothing: no path leads out of its root by `..`", grant.value);
            let diagnostic = Diagnostic::new(code::WRONG_VALUE, message).at(grant.at).warning();
            let help =
                "name the folder by its absolute path or `~/…`; a relative grant applies to each additional root, too";
            diagnostics.push(*diagnostic.help(help));
        }
    }
}

/// Reads `[pack]`.
pub fn read_pack(fields: &Fields<'_>, reader: &mut DefinitionReader) -> PackDefinition {
    let mut run_at = Vec::new();
    let grants = fields.table("grants", &mut reader.diagnostics).map(|grants| Grants {
        read: grants.texts("read"),
        write: grants.texts("write"),
        env: read_variables(&grants, &mut reader.diagnostics).into_iter().map(|(grant, _)| grant).collect(),
        run: {
            let (run, places) = read_programs(&grants, &mut reader.diagnostics);
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
    if let Some(version) =
        fields.located("version").filter(|version| version.value.starts_with(|one: char| !one.is_ascii_digit()))
    {
        let message = format!("`version` is not a version: `{}`", version.value);
        let help = "write numbers, such as `version = \"1.0.0\"`";
        reader.diagnostic(Diagnostic::new(code::WRONG_VALUE, message).at(version.at).help(help));
    }
    // A start does not compile the globs of packs that are known to be valid.
    if reader.validation == Validation::Full
        && let Some(grants) = fields.table("grants", &mut Vec::new())
    {
        check_grants(&grants, &mut reader.diagnostics);
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
        limits: read_limits(fields, &mut reader.diagnostics),
        prompt_tool: fields.table("prompt_tool", &mut reader.diagnostics).map(|tool| PromptTool {
            name: tool
                .located("name")
                .unwrap_or_else(|| Located { value: "get_prompt".to_owned(), at: tool.header.clone() }),
            meta: tool.json("meta"),
        }),
        on_error: fields.located("on_error"),
        icons: read_icons(fields, &mut reader.diagnostics),
    }
}

/// Reads `[graph]`.
pub fn read_graph(fields: &Fields<'_>, reader: &mut DefinitionReader) -> GraphDefinition {
    let script =
        fields.located("script").unwrap_or_else(|| Located { value: reader.script.clone(), at: fields.header.clone() });
    let refresh = fields.table("refresh", &mut reader.diagnostics).map_or(Refresh::Call, |table| Refresh::Background {
        interval_ms: table.setting("interval_ms", table.integer("interval_ms").unwrap_or(0)),
        watch: table.setting("watch", table.flag("watch").unwrap_or(false)),
    });
    GraphDefinition { script, refresh, limits: read_limits(fields, &mut reader.diagnostics) }
}

/// Reads the granted variables, with their locations.
fn read_variables(grants: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<(VariableGrant, Place)> {
    let items = grants.texts_or_tables("env", diagnostics).into_iter();
    let read = |item| match item {
        TextOrTable::Text(name) => (name.value.as_str().into(), name.at),
        TextOrTable::Table(table) => {
            let name = table.required("name");
            (VariableGrant { name: name.value, secret: table.flag("secret") }, name.at)
        }
    };
    items.map(read).collect()
}

/// Reads the granted programs, each once, with their locations. Reports programs that cannot be granted.
pub fn read_programs(grants: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> (Vec<ProgramGrant>, Vec<Place>) {
    let (mut found, mut places): (Vec<ProgramGrant>, _) = (Vec::new(), Vec::new());
    for item in grants.texts_or_tables("run", diagnostics) {
        let (program, grant) = match item {
            TextOrTable::Text(program) => {
                let grant = ProgramGrant { program: program.value.clone(), ..ProgramGrant::default() };
                (program, grant)
            }
            TextOrTable::Table(table) => (table.required("program"), read_program(&table, diagnostics)),
        };
        if let Some(diagnostic) = check_program(&program, &found) {
            diagnostics.push(*diagnostic.at(program.at));
        } else if !program.value.is_empty() {
            found.push(grant);
            places.push(program.at);
        }
    }
    (found, places)
}

fn read_program(table: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> ProgramGrant {
    for name in table.located_texts("env") {
        if is_forbidden_variable(&name.value) {
            let message = format!("`env` cannot have `{}`", name.value);
            let diagnostic = Diagnostic::new(code::WRONG_VALUE, message).at(name.at);
            diagnostics
                .push(*diagnostic.help("it chooses other programs or code: name variables that only say how to work"));
        } else if !is_variable(&name.value) {
            let message = format!("`{}` of `env` is not a variable name", name.value);
            let diagnostic = Diagnostic::new(code::WRONG_VALUE, message).at(name.at);
            diagnostics.push(*diagnostic.help("name each variable: letters, digits and `_`, no digit first"));
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

/// Returns whether `name` is a valid variable name (POSIX.1-2017, 8.1): shells import functions from others.
fn is_variable(name: &str) -> bool {
    !name.starts_with(|letter: char| letter.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the error for a program that cannot be granted.
//= docs/spec.md#programs
//# A program MUST be found in the server's own `PATH`, at a location that only root and the user can write,
//# and never by a relative path.
fn check_program(program: &Located<String>, others: &[ProgramGrant]) -> Option<Box<Diagnostic>> {
    let name = program.value.as_str();
    let wrong = |message: String| Diagnostic::new(code::WRONG_VALUE, message);
    if name.contains('/') && !path::is_clean_absolute(name) {
        let help = "a program is a name that is looked for in the host's `PATH`, or an absolute path";
        return Some(wrong(format!("`{name}` is not a program that can be granted")).help(help));
    }
    //= docs/spec.md#git
    //# Git MUST be available only through the `git` grant, with the verbs and options of one table, and no
    //# name that begins with `-`.
    if path::name(name) == "git" {
        let help = "use `git = \"read\"`, `\"write\"` or `\"fetch\"`: its verbs are typed, and each file they change is checked";
        return Some(wrong(format!("`{name}` cannot be granted by `run`")).help(help));
    }
    if others.iter().any(|other| other.program == name) {
        return Some(wrong(format!("`{name}` is granted twice")).help("merge the two grants"));
    }
    None
}

pub fn read_skills(fields: &Fields<'_>, reader: &mut DefinitionReader) -> SkillsDefinition {
    fields.one_of(&["dirs", "list"], "[[skills]]", &mut reader.diagnostics);
    if fields.lacks(&["dirs", "list"]) {
        reader.missing(&fields.header, "[[skills]] has neither `dirs` nor `list`", "say where skills are found");
    }
    SkillsDefinition {
        at: fields.header.clone(),
        dirs: fields.located_texts("dirs"),
        list: fields.located("list"),
        script: fields.text("script").unwrap_or_else(|| reader.script.clone()),
    }
}
