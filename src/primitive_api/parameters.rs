//! Parameters that several primitives share, and their use: regular expressions, file searches, drawings of a graph,
//! and content blocks.

use super::declaration::{Args, Param, option, required};
use super::host::Context;
use crate::content::Content;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::{DiagramOptions, Nodes};
use crate::guard;
use crate::value::{Json, Kind, Map, Value};
use crate::world::glob::{FileSearch, FoundPaths};
use crate::world::{World, skipped_file, unreadable_folder};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The parameter `regex`.
pub const REGEX: Param = required(
    "regex",
    &[Kind::Text],
    "The regular expression, in the syntax of the Rust crate `regex`; look-around and back references are supported, too. Counts repeat a part up to 1,000 times, nested counts multiplied. With look-around or back references, a text may be at most 20 MB long, divided by the number of parts of the pattern.",
);

/// The parameter `globs` of every primitive that finds files.
pub const GLOBS: Param = required(
    "globs",
    &[Kind::Text, Kind::List],
    "A glob or several: `*`, `?`, `[a-z]`, `**` for any folders, `{a,b}`.",
);

/// The parameter `root` of every primitive that finds files.
pub const ROOT: Param = option(
    "root",
    &[Kind::Text],
    "The folder that globs are relative to; results are still relative to the root of the workspace.",
);

/// The parameter `exclude` of every primitive that finds files.
pub const EXCLUDE: Param = option("exclude", &[Kind::Text, Kind::List], "Globs of what to skip.");

/// The parameter `hidden` of every primitive that finds files.
pub const HIDDEN: Param = option(
    "hidden",
    &[Kind::Bool],
    "Whether wildcards match names that begin with a dot; a dot that the glob writes out is always matched.",
);

/// The parameter `ignore` of every primitive that finds files.
pub const IGNORE: Param = option(
    "ignore",
    &[Kind::Bool],
    "Whether to skip `.git` and what `.gitignore` and `.ignore` files name (default: `true`).",
);

/// The parameter `follow` of every primitive that finds files.
pub const FOLLOW: Param = option(
    "follow",
    &[Kind::Bool],
    "Whether to follow symlinks to what the pack may read; otherwise they are skipped.",
);

/// The parameter `max_depth` of every primitive that finds files.
pub const MAX_DEPTH: Param =
    option("max_depth", &[Kind::Integer], "Maximum depth of folders; 1 = only the folder where the wildcards begin.");

/// The maximum time to compile a byte of a glob, in nanoseconds.
const COMPILE_NS_PER_BYTE: u32 = 1_000;

/// Runs a file search. The result of the call names folders that could not be read, because an agent takes silence to
/// mean that there are none.
pub fn find_asked(
    context: &Context<'_>,
    args: &Args,
    find: impl FnOnce(&FileSearch, &dyn World) -> Result<FoundPaths>,
) -> Result<Vec<String>> {
    let found = find(&find_from_args(args)?, context.host.world().as_ref())?;
    for folder in &found.unreadable {
        context.host.tell_in_result(&unreadable_folder(folder).message);
    }
    for path in &found.skipped {
        context.host.tell_in_result(&skipped_file(path).message);
    }
    Ok(found.paths)
}

/// Reads a file search: `globs`, and the options `root`, `exclude`, `hidden`, `ignore`, `follow`, `max_depth`.
fn find_from_args(args: &Args) -> Result<FileSearch> {
    let depth = match args.integer_or("max_depth") {
        Some(depth) => Some(usize::try_from(depth).ok().filter(|depth| *depth > 0).ok_or_else(|| {
            Diagnostic::new(
                Code::ARGUMENTS,
                format!("`max_depth` of `{}` is at least 1, got {depth}", args.primitive_name()),
            )
        })?),
        None => None,
    };
    let (globs, skip) = (args.texts("globs")?, args.texts("exclude")?);
    // Each glob is compiled with the root in front.
    let root = args.path_or("root")?.unwrap_or(".");
    let bytes = globs.iter().chain(&skip).map(|glob| glob.len().saturating_add(root.len()));
    guard::require_time("a set of globs", bytes.fold(0, usize::saturating_add), COMPILE_NS_PER_BYTE)?;
    Ok(FileSearch {
        globs,
        skip,
        root: root.to_owned(),
        hidden: args.flag("hidden"),
        ignore: args.given("ignore").is_none() || args.flag("ignore"),
        follow: args.flag("follow"),
        depth,
    })
}

/// The parameters of a primitive that draws.
pub const DRAWING: &[Param] = &[
    required("nodes", &[Kind::Nodes, Kind::Node, Kind::Graph, Kind::Builder], "The nodes, or one, or all of a graph."),
    option("direction", &[Kind::Text], "`TB` (default), `BT`, `LR` or `RL`."),
    option("label", &[Kind::Text], "The field that labels a node (default: its key)."),
    option("class", &[Kind::Text], "The field with the class of a node."),
    option("edges", &[Kind::Text, Kind::List], "The kinds of edges (default: all). `parent` means containment."),
];

/// Draws the nodes that the arguments name, with their options.
pub fn draw_as_asked(args: &Args, draw: impl FnOnce(Nodes, &DiagramOptions<'_>) -> Result<String>) -> Result<String> {
    let kinds = args.texts_or("edges")?;
    let drawing = DiagramOptions {
        direction: args.text_or("direction").unwrap_or("TB"),
        label: args.text_or("label").unwrap_or("key"),
        class: args.text_or("class"),
        kinds: kinds.as_deref(),
    };
    draw(Nodes::from_value_with_edges(args.value("nodes"))?, &drawing)
}

/// The option `annotations` of every primitive that returns a block.
pub const ANNOTATIONS: Param =
    option("annotations", &[Kind::Map], "`audience`, `priority` and `last_modified`, as in MCP.");

/// The option `meta` of every primitive that returns a block.
pub const META: Param = option("meta", &[Kind::Map], "`_meta` of the block.");

/// Adds the options `annotations` and `meta` of its primitive to the content. Keys of annotations are written as in
/// scripts and sent as in MCP: `last_modified` is `lastModified`.
///
/// # Errors
/// See [`Value::json`].
pub fn annotated(mut content: Content, args: &Args) -> Result<Content> {
    let given = |name: &str| args.has_option(name).then(|| args.given(name)).flatten();
    let to_json = |value: &Value| match value {
        Value::Map(map) => annotations(map),
        other => other.json(),
    };
    content.annotations = given("annotations").map(to_json).transpose()?;
    content.meta = given("meta").map(Value::json).transpose()?;
    Ok(content)
}

fn annotations(map: &Map) -> Result<Json> {
    let named = |key: &str| if key == "last_modified" { "lastModified".to_owned() } else { key.to_owned() };
    let pairs = map.iter().map(|(key, value)| Ok((named(key), value.json()?)));
    pairs.collect::<Result<_>>().map(Json::Object)
}

/// Returns the base64 of an argument that is bytes or base64 already. Fails for any other string.
pub fn base64_from_args(args: &Args, name: &str) -> Result<String> {
    match args.value(name) {
        Value::Text(text) if BASE64_STANDARD.decode(text.as_bytes()).is_ok() => Ok(text.to_string()),
        Value::Text(_) => {
            let message = format!("`{name}` of `{}` is not base64", args.primitive_name());
            Err(Diagnostic::new(Code::ARGUMENTS, message).help("pass bytes, or `to_base64(…)` of a text"))
        }
        _ => Ok(BASE64_STANDARD.encode(args.bytes(name))),
    }
}
