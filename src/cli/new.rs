//! `toolsd new`: writes a skeleton that works, and that passes `check` and `test`.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use crate::definition::pack_schema;
use crate::diagnostic::{Code, Diagnostic};
use crate::world::World;
use clap::{Args, Subcommand};
use serde_json::json;

/// Write a working skeleton.
#[derive(Args)]
pub struct NewCommand {
    #[command(subcommand)]
    what: NewKind,
}

#[derive(Subcommand)]
enum NewKind {
    /// A pack with one tool.
    Pack {
        /// Its name.
        name: String,
    },
    /// A tool in a pack.
    Tool {
        /// Its name.
        name: String,
    },
    /// A prompt in a pack.
    Prompt {
        /// Its name.
        name: String,
    },
}

impl NewCommand {
    //= docs/spec.md#definitions
    //# `toolsd new` MUST create files that pass `toolsd check` and `toolsd test`.
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let files = match &self.what {
            NewKind::Pack { name } => skeleton_pack(check_name(name)?),
            NewKind::Tool { name } => skeleton_tool(&self.pack_of(context)?, check_name(name)?),
            NewKind::Prompt { name } => skeleton_prompt(&self.pack_of(context)?, check_name(name)?),
        };
        let (target, origin) = (context.target_layer()?, context.target_origin());
        for (path, _) in &files {
            if target.stat(path)?.is_some() {
                let diagnostic = Diagnostic::new(Code("usage"), format!("`{}/{path}` already exists", target.root()));
                return Err(diagnostic.help("choose another name"));
            }
        }
        for (path, text) in &files {
            target.write(path, text.as_bytes())?;
        }
        let schema = outdated_schema(target.as_ref());
        if let Some((path, text)) = &schema {
            target.write(path, text.as_bytes())?;
        }
        let paths: Vec<String> = files.into_iter().chain(schema).map(|(path, _)| path).collect();
        if context.options.format == OutputFormat::Json {
            context.terminal.json(&json!({ "folder": target.root(), "files": paths }));
        } else {
            print_written(context, target.root(), &paths);
            context.hint_at_trust(&origin);
        }
        Ok(Exit::Success)
    }

    /// Returns the pack of the new item: the one named by `--pack`, otherwise the only one of the layer.
    fn pack_of(&self, context: &CommandContext) -> Result<String, Box<Diagnostic>> {
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
            [] => wrong(
                "there is no pack to put it in".to_owned(),
                "name one by `--pack NAME`, or `toolsd new pack NAME`",
            ),
            several => wrong(format!("there are several packs: {}", several.join(", ")), "name one by `--pack NAME`"),
        }
    }
}

/// Prints the paths of written files: below the workspace as the author sees it, elsewhere in full.
pub(super) fn print_written(context: &CommandContext, root: &str, paths: &[String]) {
    let inside = root.strip_prefix(context.workspace.root()).map(|rest| rest.trim_start_matches('/'));
    let folder = inside.filter(|inside| !inside.is_empty()).unwrap_or(root);
    paths.iter().for_each(|path| context.terminal.line(&format!("wrote {folder}/{path}")));
}

/// Returns path and text of the schema for editors, unless the layer has it: an older one may exist, of an earlier
/// version of toolsd.
pub(super) fn outdated_schema(target: &dyn World) -> Option<(String, String)> {
    let schema = format!("{:#}\n", pack_schema());
    let is_current = target.read(SCHEMA_FILE).is_ok_and(|known| known == schema.as_bytes());
    (!is_current).then(|| (SCHEMA_FILE.to_owned(), schema))
}

/// The schema that definitions name for editors, relative to the folder that contains `tools.d`.
const SCHEMA_FILE: &str = "schema/pack.json";

/// A definition file. Its first line tells editors the schema.
pub(super) fn definition(path: String, text: &str) -> (String, String) {
    let up = "../".repeat(path.matches('/').count());
    (path, format!("#:schema {up}{SCHEMA_FILE}\n{text}"))
}

/// A name that can be one of a tool and of a function: a lower-case letter, then letters, digits and `_`.
pub(super) fn check_name(name: &str) -> Result<&str, Box<Diagnostic>> {
    let sound = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if sound {
        return Ok(name);
    }
    Err(Diagnostic::new(Code("usage"), format!("`{name}` cannot be a name"))
        .help("use lower-case letters, digits and `_`, a letter first"))
}

/// Path and text of each file.
type SkeletonFiles = Vec<(String, String)>;

/// A pack with one tool.
fn skeleton_pack(name: &str) -> SkeletonFiles {
    let title = title(name);
    let head = format!("[pack]\ntitle = \"{title}\"\nversion = \"0.1.0\"\n\n{}", tool_text(&format!("{name}_hello")));
    vec![
        definition(format!("tools.d/{name}.toml"), &head),
        (format!("tools.d/{name}.rhai"), script_text(&format!("{name}_hello"))),
    ]
}

/// A tool in its own file.
fn skeleton_tool(pack: &str, name: &str) -> SkeletonFiles {
    vec![
        definition(format!("tools.d/{pack}/{name}.toml"), &tool_text(name)),
        (format!("tools.d/{pack}/{name}.rhai"), script_text(name)),
    ]
}

/// A prompt in its own file.
fn skeleton_prompt(pack: &str, name: &str) -> SkeletonFiles {
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
    format!("/// Greets someone by name.\nfn {name}(args) {{\n    #{{ greeting: `Hello, ${{args.name}}!` }}\n}}\n")
}

/// `my_first_pack` as “My first pack”.
pub(super) fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
