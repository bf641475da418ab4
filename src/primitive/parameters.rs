//! Parameters that several primitives share, and what is made of them: of regular expressions, finders of files, drawings
//! of a graph, and blocks of content.

use super::declaration::{Args, Param, option, required};
use super::host::Context;
use crate::content::Content;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::{DiagramOptions, Nodes};
use crate::guard;
use crate::value::{Json, Kind, Map, Value};
use crate::world::glob::{FileSearch, FoundPaths};
use crate::world::{World, unreadable_folder};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// The parameter `regex`.
pub const REGEX: Param = required(
    "regex",
    &[Kind::Text],
    "The regular expression, in the syntax of the Rust crate `regex`; look-around and back references work too. Counts repeat a part up to 1,000 times, nested counts multiplied. With look-around or back references, a text may have up to 20 MB, divided by the number of parts of the pattern.",
);

/// The parameter `globs` of every primitive that finds files.
pub const GLOBS: Param = required(
    "globs",
    &[Kind::Text, Kind::List],
    "A glob or several: `*`, `?`, `[a-z]`, `**` for any folders, `{a,b}`.",
);

/// The parameter `root` of every primitive that finds files.
pub const ROOT: Param =
    option("root", &[Kind::Text], "The folder that globs begin at; results still begin at the root of the workspace.");

/// The parameter `exclude` of every primitive that finds files.
pub const EXCLUDE: Param = option("exclude", &[Kind::Text, Kind::List], "Globs of what is left out.");

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
    "Whether `.git` and what `.gitignore` and `.ignore` files name is left out; true unless told.",
);

/// The parameter `follow` of every primitive that finds files.
pub const FOLLOW: Param =
    option("follow", &[Kind::Bool], "Whether symlinks are followed to what the pack may read; else they are left out.");

/// The parameter `max_depth` of every primitive that finds files.
pub const MAX_DEPTH: Param = option(
    "max_depth",
    &[Kind::Integer],
    "How many folders deep to look, at most; 1 = no further than where the wildcards begin.",
);

/// What a byte of a glob takes to be compiled at worst, in nanoseconds.
const COMPILING: u32 = 1_000;

/// What a finder is asked for, found. The result of the call tells of folders that could not be read: an agent takes
/// silence for "there is none".
pub fn find_asked(
    context: &Context<'_>,
    args: &Args,
    find: impl FnOnce(&FileSearch, &dyn World) -> Result<FoundPaths>,
) -> Result<Vec<String>> {
    let found = find(&find_from_args(args)?, context.host.world().as_ref())?;
    for folder in &found.unreadable {
        context.host.tell_in_result(&unreadable_folder(folder).message);
    }
    Ok(found.paths)
}

/// What a finder is asked for: `globs`, and the options `root`, `exclude`, `hidden`, `ignore`, `follow`, `max_depth`.
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
    // Each glob is compiled behind the root.
    let root = args.path_or("root")?.unwrap_or(".");
    let bytes = globs.iter().chain(&skip).map(|glob| glob.len().saturating_add(root.len()));
    guard::require_time("a set of globs", bytes.fold(0, usize::saturating_add), COMPILING)?;
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
    option("direction", &[Kind::Text], "`TB`, as usual, `BT`, `LR` or `RL`."),
    option("label", &[Kind::Text], "The field to write in a node; its key if left out."),
    option("class", &[Kind::Text], "The field whose value is the node's class."),
    option("edges", &[Kind::Text, Kind::List], "The kinds of edges; all if left out; `parent` stands for containment."),
];

/// Draws what the arguments name, as they ask for it.
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

/// The option `annotations` of every primitive that makes a block.
pub const ANNOTATIONS: Param =
    option("annotations", &[Kind::Map], "`audience`, `priority`, `last_modified`, as MCP knows them.");

/// The option `meta` of every primitive that makes a block.
pub const META: Param = option("meta", &[Kind::Map], "`_meta` of the block.");

/// The content with what the options `annotations` and `meta` of its primitive say. Keys of annotations are written as in
/// scripts and sent as MCP writes them: `last_modified` is `lastModified`.
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

/// The base64 of an argument that is bytes, or base64 already. Another text is an error.
pub fn base64_from_args(args: &Args, name: &str) -> Result<String> {
    match args.value(name) {
        Value::Text(text) if BASE64_STANDARD.decode(text.as_bytes()).is_ok() => Ok(text.to_string()),
        Value::Text(_) => {
            let message = format!("`{name}` of `{}` is no base64", args.primitive_name());
            Err(Diagnostic::new(Code::ARGUMENTS, message).help("give bytes, or `to_base64(…)` of a text"))
        }
        _ => Ok(BASE64_STANDARD.encode(args.bytes(name))),
    }
}
