//! The keys of `[pack]` and `[graph]`.

use super::{Grammar, Key, Shape, optional, required};

/// `[pack]`.
pub static PACK: Grammar = Grammar {
    name: "[pack]",
    doc: "When a pack serves, what it may touch, how it is configured.",
    keys: &[
        required("title", Shape::Text, "A title for people."),
        optional("version", Shape::Text, "Its version; `0.0.0` if it is left out."),
        optional(
            "when",
            Shape::Texts,
            "Served by default only where one of these paths exists; left out = always, `[]` = only by name.",
        ),
        optional(
            "root",
            Shape::TextOrTexts,
            "The root is the nearest ancestor holding the first entry, else the second …; `.` is the workspace itself.",
        ),
        optional("instructions", Shape::Text, "The path of the template that tells a model about the pack."),
        optional(
            "context",
            Shape::Text,
            "A function of `script` that gives what the instructions are filled with, again when the graph changed.",
        ),
        SCRIPT,
        optional("grants", Shape::Table(&GRANTS), "What it may touch; nothing if it is left out."),
        optional("config", Shape::Schema, "JSON Schema of `[packs.NAME]` in the workspace's `toolsd.toml`."),
        optional("limits", Shape::Table(&LIMITS), "The limits of its calls."),
        optional(
            "prompt_tool",
            Shape::Table(&PROMPT_TOOL),
            "Offers the pack's prompts by a tool too, for clients without prompts: `prompt_tool = {}` is enough.",
        ),
        optional(
            "on_error",
            Shape::Text,
            "A function `fn(error, args)` of `lib.rhai` that sees every fault of its calls.",
        ),
        optional("icons", Shape::Tables(&ICON), "Icons for people."),
    ],
};

/// `[pack.grants]`.
static GRANTS: Grammar = Grammar {
    name: "[pack.grants]",
    doc: "What a pack may touch. A relative glob holds beneath the root of the pack and beneath each further root (`--root`, `roots`), so `.` is all of all of them; an absolute one, or one that begins with `~` or `$VAR`, names one place. None leads out of a root by `..`.",
    keys: &[
        optional("read", Shape::Texts, "Files it may read."),
        optional("write", Shape::Texts, "Files it may write."),
        optional("env", Shape::Texts, "Variables of the environment; `*` at the end stands for any rest."),
        optional(
            "run",
            Shape::TextsOrTables(&PROGRAM),
            "Programs it may run: names that are looked for in the host's `PATH`, or absolute paths; with more to say, tables.",
        ),
        optional(
            "git",
            Shape::OneOf(&["none", "read", "write", "fetch"]),
            "How far git goes, each step with those before it: `read` inspects, `write` changes repositories and files, `fetch` asks remotes; `none` if it is left out.",
        ),
    ],
};

/// A program of `run` in `[pack.grants]`.
static PROGRAM: Grammar = Grammar {
    name: "[[pack.grants.run]]",
    doc: "A program that a pack may run, and what it may touch meanwhile: the system confines it to that.",
    keys: &[
        required("program", Shape::Text, "Its name, or its absolute path."),
        optional("network", Shape::Flag, "Whether it may use the network; `false` if it is left out."),
        optional("read", Shape::Texts, "Files and folders it may read; what the pack may read if it is left out."),
        optional("write", Shape::Texts, "Folders and files it may write; what the pack may write if it is left out."),
        optional(
            "start",
            Shape::Texts,
            "Files and folders it may start as programs in turn, and read: `node_modules`, `scripts`; only programs of the system and itself if it is left out.",
        ),
        optional("env", Shape::Texts, "Variables that `env` of `run` may set for it; none if it is left out."),
    ],
};

/// `[pack.prompt_tool]`.
static PROMPT_TOOL: Grammar = Grammar {
    name: "[pack.prompt_tool]",
    doc: "One tool that lists the prompts of the pack and gives the messages of each; it is made from them.",
    keys: &[optional("name", Shape::Text, "Its name; `get_prompt` if it is left out."), META],
};

/// `limits` of a pack, a tool, a graph or a workspace.
pub static LIMITS: Grammar = Grammar {
    name: "limits",
    doc: "What a call, or a build of the graph, may use; what is left out is as above it.",
    keys: &[
        optional("time_ms", Shape::Integer(1), "Wall time in milliseconds."),
        optional("ticks", Shape::Integer(1), "Steps of the scripts."),
        optional("memory_mb", Shape::Integer(1), "Memory in MB."),
        optional("output_kb", Shape::Integer(1), "Size of the result in kB."),
        optional("depth", Shape::Integer(1), "Calls of functions within functions."),
    ],
};

/// `[graph]`.
pub static GRAPH: Grammar = Grammar {
    name: "[graph]",
    doc: "The graph that a pack builds from files with `fn build(g, config)`.",
    keys: &[
        optional(
            "script",
            Shape::Text,
            "The script that has `fn build(g, config)`; the sibling `<stem>.rhai` if it is left out.",
        ),
        optional(
            "refresh",
            Shape::WordOrTable(&["call"], &REFRESH),
            "When it is looked at again; `call`, as if it is left out: before each call.",
        ),
        optional("limits", Shape::Table(&LIMITS), "The limits of a build."),
    ],
};

/// `[graph.refresh]`.
static REFRESH: Grammar = Grammar {
    name: "[graph.refresh]",
    doc: "A graph that is looked at again beside the calls: they see the last one that was built, and never wait.",
    keys: &[
        optional(
            "every_ms",
            Shape::IntegerOrKey(0),
            "So many milliseconds lie between two looks; 0, as if it is left out: no look by the clock.",
        ),
        optional("watch", Shape::FlagOrKey, "Whether it is also looked at when a file that it was made of changes."),
    ],
};

/// The keys that a tool, a resource, a prompt and a pack share for their icons.
pub static ICON: Grammar = Grammar {
    name: "icons",
    doc: "A picture for people.",
    keys: &[
        optional("src", Shape::Text, "An `https:` or `data:` URI."),
        optional("file", Shape::Text, "A file of the pack, from the root; it is sent as a `data:` URI."),
        optional("mime_type", Shape::Text, "Its MIME type."),
        optional("sizes", Shape::Texts, "Its sizes, such as `48x48` or `any`."),
        optional("theme", Shape::OneOf(&["light", "dark"]), "The background it is made for."),
    ],
};

/// A constant that several kinds of definitions share.
pub const META: Key = optional("meta", Shape::Object, "`_meta`, passed through.");

/// The constants of a definition.
pub const WITH: Key =
    optional("with", Shape::Object, "Constants merged into the arguments, so several definitions share one function.");

/// Whether a definition is served.
pub const ENABLED: Key = optional("enabled", Shape::FlagOrKey, "Whether it is served; `true` if it is left out.");

/// The icons of a definition.
pub const ICONS: Key = optional("icons", Shape::Tables(&ICON), "Icons for people.");

/// The script of a definition.
pub const SCRIPT: Key =
    optional("script", Shape::Text, "The script, from the root; the sibling `<stem>.rhai` if it is left out.");
