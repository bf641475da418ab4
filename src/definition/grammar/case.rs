//! The keys of `[[case]]`, its steps, and the examples of tools, resources and prompts.

use super::{Grammar, Key, Shape, optional, required};

const FILES: Key = optional("files", Shape::TextMap, "Files of the workspace: path and text.");
const FILES_FROM: Key =
    optional("files_from", Shape::TextOrTexts, "Folders, from the root, whose files are laid into the workspace.");
const ENV: Key = optional("env", Shape::TextMap, "Variables of the environment.");
const CONFIG: Key = optional("config", Shape::Object, "The configuration of the pack.");
const NOW: Key = optional("now", Shape::Text, "The clock, as RFC 3339.");
const CLIENT: Key = optional("client", Shape::Object, "The capabilities of the client.");
const WORLD: Key = optional("world", Shape::OneOf(&["memory", "disk"]), "Where it plays; `memory` if it is left out.");
const LOCKED: Key = optional("locked", Shape::TextOrTexts, "Locks that somebody else holds.");
const GIT: Key = optional(
    "git",
    Shape::OneOf(&["init"]),
    "The workspace is a repository whose one commit holds its files; needs `world = \"disk\"`.",
);
const GIVES: Key = optional("gives", Shape::Any, "Exactly this result.");
const MATCHES: Key =
    optional("matches", Shape::Any, "A part of the result: maps may have more keys, lists are compared item by item.");
const FAILS: Key =
    optional("fails", Shape::Object, "A failure: `code`, `message` (a part of it), `data` (a part of it).");
const CONTAINS: Key = optional("contains", Shape::TextOrTexts, "Texts in the result.");
const LEAVES: Key =
    optional("leaves", Shape::Object, "Exactly these files changed: path and text, `false` where one is gone.");
const NOTIFIED: Key = optional("notified", Shape::Any, "The notices that were sent, in order.");
const ANSWERS: Key = optional(
    "answers",
    Shape::Object,
    "What the client answers, by key: a form's fields, or `\"decline\"` or `\"cancel\"`; a text of the model; a list of roots; or the answer as MCP writes it. A case with answers is played twice, as a call that waits and as one that is suspended.",
);
const ASKS: Key = optional(
    "asks",
    Shape::Any,
    "The questions that were asked, in order: keys, or tables with a part of `key`, `message`, `schema`, `url`.",
);
const ARGUMENTS: Key = optional("arguments", Shape::Object, "The arguments.");

const WORKSPACE: Key = optional(
    "workspace",
    Shape::Text,
    "The folder among the files that is the workspace; without it they lie in the workspace themselves.",
);
const HOME: Key = optional("home", Shape::Text, "The folder among the files that is the home folder, `~`.");

/// `[[tool.example]]`.
pub static TOOL_EXAMPLE: Grammar = Grammar {
    name: "[[tool.example]]",
    doc: "A call and what comes out of it.",
    keys: &[
        optional("title", Shape::Text, "What it shows."),
        WORLD,
        GIT,
        LOCKED,
        FILES,
        FILES_FROM,
        WORKSPACE,
        HOME,
        ENV,
        CONFIG,
        NOW,
        CLIENT,
        ANSWERS,
        ARGUMENTS,
        GIVES,
        MATCHES,
        FAILS,
        CONTAINS,
        LEAVES,
        NOTIFIED,
        ASKS,
    ],
};

/// `[[resource.example]]`.
pub static RESOURCE_EXAMPLE: Grammar = Grammar {
    name: "[[resource.example]]",
    doc: "A read and what comes out of it.",
    keys: &[
        optional("title", Shape::Text, "What it shows."),
        optional("uri", Shape::Text, "What is read; needed where the resource is a template."),
        WORLD,
        GIT,
        LOCKED,
        FILES,
        FILES_FROM,
        WORKSPACE,
        HOME,
        ENV,
        CONFIG,
        NOW,
        CLIENT,
        ANSWERS,
        GIVES,
        MATCHES,
        FAILS,
        CONTAINS,
        LEAVES,
        NOTIFIED,
        ASKS,
    ],
};

/// `[[prompt.example]]`.
pub static PROMPT_EXAMPLE: Grammar = Grammar {
    name: "[[prompt.example]]",
    doc: "A prompt and what it says.",
    keys: &[
        optional("title", Shape::Text, "What it shows."),
        WORLD,
        GIT,
        LOCKED,
        FILES,
        FILES_FROM,
        WORKSPACE,
        HOME,
        ENV,
        CONFIG,
        NOW,
        CLIENT,
        ANSWERS,
        ARGUMENTS,
        GIVES,
        MATCHES,
        FAILS,
        CONTAINS,
        LEAVES,
        NOTIFIED,
        ASKS,
    ],
};

/// `[[case]]`.
pub static CASE: Grammar = Grammar {
    name: "[[case]]",
    doc: "A test of one or several steps. A case of one step may hold the step's keys itself.",
    keys: &[
        required("title", Shape::Text, "What it shows."),
        WORLD,
        GIT,
        LOCKED,
        FILES,
        FILES_FROM,
        WORKSPACE,
        HOME,
        ENV,
        CONFIG,
        NOW,
        CLIENT,
        ANSWERS,
        optional("step", Shape::Tables(&STEP), "What happens, in order."),
        CALL,
        READ,
        PROMPT,
        ARGUMENTS,
        WRITE,
        ADVANCE,
        RESTART,
        GIVES,
        MATCHES,
        FAILS,
        CONTAINS,
        LEAVES,
        NOTIFIED,
        ASKS,
        KEEP,
    ],
};

const CALL: Key = optional("call", Shape::Text, "The tool that is called.");
const READ: Key = optional("read", Shape::Text, "The URI that is read.");
const PROMPT: Key = optional("prompt", Shape::Text, "The prompt that is got.");
const WRITE: Key =
    optional("write", Shape::TextMap, "Files that are written first: path and text; an empty text removes.");
const ADVANCE: Key = optional("advance_ms", Shape::Integer(0), "Moves the clock on first, by so many milliseconds.");
const RESTART: Key = optional("restart", Shape::Flag, "Forgets first what is kept in memory.");
const KEEP: Key = optional(
    "keep",
    Shape::TextMap,
    "Names for later steps, `$NAME` in their arguments: name and JSON pointer into the result.",
);

/// `[[case.step]]`.
static STEP: Grammar = Grammar {
    name: "[[case.step]]",
    doc: "One step: `restart`, `advance_ms` and `write` come first, then one of `call`, `read`, `prompt`.",
    keys: &[
        CALL, READ, PROMPT, ARGUMENTS, WRITE, ADVANCE, RESTART, GIVES, MATCHES, FAILS, CONTAINS, LEAVES, NOTIFIED,
        ASKS, KEEP,
    ],
};
