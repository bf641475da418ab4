//! The files that `toolsd new` writes: which pack they belong to, and their text.

use crate::cli::context::CommandContext;
use crate::definition::pack_schema;
use crate::diagnostic::{Code, Diagnostic};
use crate::script::default_function;
use crate::world::World;

/// Returns the pack of the new item: the one named by `--pack`, otherwise the only one of the layer.
pub(super) fn pack_to_extend(context: &CommandContext) -> Result<String, Box<Diagnostic>> {
    let wrong = |message: String, help: &str| Err(Diagnostic::new(Code("usage"), message).help(help));
    match context.options.packs.as_slice() {
        [one] => return check_name(one).map(str::to_owned),
        [] => {}
        _ => return wrong("one pack is needed".to_owned(), "name it by `--pack NAME`, once"),
    }
    if !context.has_target_layer()? {
        return wrong("there is no pack to put it in".to_owned(), "begin with `toolsd new pack NAME`");
    }
    let (target, origin) = (context.target_layer()?, context.target_origin());
    let layer = crate::registry::Layer { origin, world: Some(target), trust: None, is_stored: false };
    match crate::registry::PackFiles::collect(&[layer]).0.packs().as_slice() {
        [one] => Ok(one.clone()),
        [] => wrong("there is no pack to put it in".to_owned(), "name one by `--pack NAME`, or `toolsd new pack NAME`"),
        several => wrong(format!("there are several packs: {}", several.join(", ")), "name one by `--pack NAME`"),
    }
}

/// Prints the paths of written files: below the workspace as the author sees it, elsewhere in full.
pub(in crate::cli) fn print_written(context: &CommandContext, root: &str, paths: &[String]) {
    let inside = root.strip_prefix(context.workspace.root()).map(|rest| rest.trim_start_matches('/'));
    let folder = inside.filter(|inside| !inside.is_empty()).unwrap_or(root);
    paths.iter().for_each(|path| context.terminal.line(&format!("wrote {folder}/{path}")));
}

/// Returns path and text of the schema for editors, unless the layer has it: an older one may exist, of an earlier
/// version of toolsd.
pub(in crate::cli) fn outdated_schema(target: &dyn World) -> Option<(String, String)> {
    let schema = format!("{:#}\n", pack_schema());
    let is_current = target.read(SCHEMA_FILE).is_ok_and(|known| known == schema.as_bytes());
    (!is_current).then(|| (SCHEMA_FILE.to_owned(), schema))
}

/// The schema that definitions name for editors, relative to the folder that contains `tools.d`.
const SCHEMA_FILE: &str = "schema/pack.json";

/// A definition file. Its first line tells editors the schema.
pub(in crate::cli) fn definition(path: String, text: &str) -> (String, String) {
    let up = "../".repeat(path.matches('/').count());
    (path, format!("#:schema {up}{SCHEMA_FILE}\n{text}"))
}

/// A name that can be one of a tool and of a function: a lower-case letter, then letters, digits and `_`.
pub(in crate::cli) fn check_name(name: &str) -> Result<&str, Box<Diagnostic>> {
    let sound = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if sound {
        return Ok(name);
    }
    Err(Diagnostic::new(Code("usage"), format!("`{name}` cannot be a name"))
        .help("use lower-case letters, digits and `_`, a letter first"))
}

/// Path and text of each file.
pub(super) type SkeletonFiles = Vec<(String, String)>;

/// A pack with one tool.
pub(super) fn skeleton_pack(name: &str) -> SkeletonFiles {
    let title = title(name);
    let head = format!("[pack]\ntitle = \"{title}\"\nversion = \"0.1.0\"\n\n{}", tool_text(&format!("{name}_hello")));
    vec![
        definition(format!("tools.d/{name}.toml"), &head),
        (format!("tools.d/{name}.rhai"), script_text(&format!("{name}_hello"))),
    ]
}

/// A tool in its own file.
pub(super) fn skeleton_tool(pack: &str, name: &str) -> SkeletonFiles {
    vec![
        definition(format!("tools.d/{pack}/{name}.toml"), &tool_text(name)),
        (format!("tools.d/{pack}/{name}.rhai"), script_text(name)),
    ]
}

/// A prompt in its own file.
pub(super) fn skeleton_prompt(pack: &str, name: &str) -> SkeletonFiles {
    let title = title(name);
    let text = format!(
        r#"[[prompt]]
name = "{name}"
title = "{title}"
description = "Asks for a greeting. Use it to see that prompts work."
argument = [{{ name = "name", required = true, description = "Who is greeted", complete = ["World", "Ada"] }}]
template = "prompts/{pack}/{name}.md"

[[prompt.example]]
title = "a greeting"
arguments = {{ name = "Ada" }}
expect.text_contains = "Ada"
"#
    );
    vec![
        definition(format!("tools.d/{pack}/{name}.toml"), &text),
        (format!("prompts/{pack}/{name}.md"), "Please write a short greeting to {{name}}.\n".to_owned()),
    ]
}

fn tool_text(name: &str) -> String {
    let title = title(name);
    format!(
        r#"[[tool]]
name = "{name}"
title = "{title}"
description = "Greets someone by name. Use it to see that the pack works; returns one sentence."
effect = "pure"

[tool.input]
type = "object"
required = ["name"]
properties.name = {{ type = "string", minLength = 1, description = "Who is greeted" }}

[tool.output]
type = "object"
required = ["greeting"]
properties.greeting = {{ type = "string", description = "The sentence" }}

[[tool.example]]
title = "a greeting"
arguments = {{ name = "Ada" }}
expect.result = {{ greeting = "Hello, Ada!" }}
"#
    )
}

fn script_text(name: &str) -> String {
    let function = default_function(name, "tool");
    format!("/// Greets someone by name.\nfn {function}(args) {{\n    #{{ greeting: `Hello, ${{args.name}}!` }}\n}}\n")
}

/// `my_first_pack` as “My first pack”.
pub(in crate::cli) fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
