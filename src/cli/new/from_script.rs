//! `toolsd new tool NAME --from-script FILE`: a tool of a pack from a script that calls tools. It is written once it
//! returns what the script returns.

use super::skeleton::{SkeletonFiles, check_name, definition, pack_to_extend, title};
use crate::call::{Answer, CodeMode, Request, ScriptRequest, Service, Staging};
use crate::case;
use crate::cli::context::CommandContext;
use crate::cli::script::{read_input, read_script};
use crate::cli::test::case_folders;
use crate::definition::{Case, Validation};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::edit::{inline_toml, toml_key};
use crate::primitive_api::Effect;
use crate::registry::{EMBEDDED, Layer, PackChoice, Registry, merge_definitions};
use crate::script::ad_hoc::conversion::{ConvertedScript, ToolNames, convert, handles_absence};
use crate::script::default_function;
use crate::value::Json;
use crate::world::memory::MemoryWorld;
use crate::world::recorded::RecordedWorld;
use crate::world::{Files, World};
use clap::Args;
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The property of the arguments that has the input of a script, if that is not a map.
const INPUT: &str = "input";

/// The maximum number of files of an example, and of their bytes.
const MAX_FILES: usize = 500;
const MAX_FILE_BYTES: usize = 1 << 20;

/// The script that a tool is made of.
#[derive(Args)]
pub struct SourceScript {
    /// Make the tool of a script that calls tools: a file, or `-` for standard input.
    #[arg(long, value_name = "FILE | -")]
    from_script: Option<String>,
    /// The constant `input` of the script, which becomes the arguments of the example.
    #[arg(long, value_name = "JSON", requires = "from_script")]
    input: Option<String>,
}

/// What a script returned, and what it called.
struct ScriptRun {
    result: Json,
    tools: BTreeSet<String>,
}

/// A tool that is made of a script.
struct NewTool<'a> {
    context: &'a CommandContext,
    pack: String,
    /// The packs that serve.
    packs: Vec<String>,
    name: &'a str,
    /// The script as it came.
    source: &'a str,
    script: ConvertedScript,
    arguments: Json,
    run: ScriptRun,
    effect: Effect,
}

impl SourceScript {
    /// Whether a script is named.
    pub(super) fn is_given(&self) -> bool {
        self.from_script.is_some()
    }

    /// The files of the tool, and what their author should know; `None` if no script is named.
    ///
    /// # Errors
    /// The script fails or writes, it calls what packs do not have, or the tool would return something else.
    pub(super) fn tool(&self, context: &CommandContext, name: &str) -> Result<Option<(SkeletonFiles, Vec<String>)>> {
        let Some(named) = &self.from_script else { return Ok(None) };
        let (name, pack) = (check_name(name)?, pack_to_extend(context)?);
        let text = read_script(context, named)?;
        let input = self.input.as_deref().map(read_input).transpose()?;
        let mut packs = active_packs(context)?;
        let is_active = packs.contains(&pack);
        if !is_active {
            packs.push(pack.clone());
        }
        let service = open(context, &packs, None)?;
        let registry = service.registry();
        check_place(&registry, &pack, name)?;
        let is_tool = |name: &str| registry.tool(name).is_some();
        let property = input.as_ref().filter(|input| !input.is_object()).map(|_| INPUT);
        let function = default_function(name, "tool");
        let converted = convert(&text, &function, property, &ToolNames { is_tool: &is_tool, packs: packs.clone() });
        if let Ok(script) = &converted {
            check_input(script, input.as_ref())?;
        }
        let input = input.unwrap_or_else(|| json!({}));
        // Its errors are those of a script, and explained as such.
        let mut run = run_script(context, &service, &text, &input)?;
        let script = converted?;
        run.tools.extend(script.tools.iter().cloned());
        let effect = effect_of(&registry, &run.tools)?;
        let arguments = property.map_or_else(|| input.clone(), |key| json!({ key: input }));
        let recorded = record_files(context, &service, &text, &input);
        let (mut notes, named) = (script.notes(), pack.clone());
        let tool = NewTool { context, pack, packs, name, source: &text, script, arguments, run, effect };
        let (files, further) = tool.proven(recorded)?;
        notes.extend(further);
        if !is_active {
            notes.push(format!("the pack `{named}` is not active here: `--pack {named}` serves it"));
        }
        Ok(Some((files, notes)))
    }
}

impl ConvertedScript {
    /// What differs between the script and the tool, and what the tool lacks.
    fn notes(&self) -> Vec<String> {
        let parallel =
            self.is_parallel.then_some("`parallel` became `map`: a tool of a pack makes one call after another");
        let bare = self
            .description
            .is_none()
            .then_some("the script has no comment: write when to use the tool as its `description`");
        parallel.into_iter().chain(bare).map(str::to_owned).collect()
    }
}

/// Refuses a pack that does not serve, and a name that is taken.
fn check_place(registry: &Registry, pack: &str, name: &str) -> Result<()> {
    let refused = |message: String, help: &str| Err(Diagnostic::new(Code("usage"), message).help(help));
    if !registry.packs.iter().any(|served| served.name == pack) {
        let message = format!("the pack `{pack}` does not serve here, so that its new tool cannot be tried");
        return refused(message, "`toolsd check` lists its errors, `toolsd trust` trusts it");
    }
    match registry.tool(name) {
        Some(known) => refused(format!("the pack `{}` has a tool `{name}`", known.pack.name), "choose another name"),
        None => Ok(()),
    }
}

/// The effect of a tool that calls these.
fn effect_of(registry: &Registry, tools: &BTreeSet<String>) -> Result<Effect> {
    let effects = tools.iter().filter_map(|name| Some((name, registry.tool(name)?.definition.effect.value)));
    let mut strongest = Effect::Pure;
    for (name, effect) in effects {
        if effect > Effect::Reads {
            let message = format!("the script calls `{name}`, which has the effect `{}`", effect.name());
            return Err(Diagnostic::new(Code("usage"), message).help("tools of packs call only tools that read"));
        }
        strongest = strongest.max(effect);
    }
    Ok(strongest)
}

/// Refuses input that the script does not read, and a script without the input that it reads.
fn check_input(script: &ConvertedScript, input: Option<&Json>) -> Result<()> {
    let (message, help) = match (script.reads_input, input) {
        (true, None) => {
            ("the script reads `input`", "give an example of it, of which the schema is made: `--input JSON`")
        }
        (false, Some(_)) => ("the script does not read `input`", "leave `--input` out"),
        _ => return Ok(()),
    };
    Err(Diagnostic::new(Code("usage"), message).help(help))
}

/// The names of the packs that serve here.
fn active_packs(context: &CommandContext) -> Result<Vec<String>> {
    let registry = Service::open(Arc::new(context.pack_source(PackChoice::ByMarkers)?)).registry();
    Ok(registry.packs.iter().map(|pack| pack.name.clone()).collect())
}

/// Opens these packs, with a layer on top of the others.
fn open(context: &CommandContext, packs: &[String], top: Option<Layer>) -> Result<Arc<Service>> {
    let mut source = context.pack_source(PackChoice::Named(packs.to_vec()))?;
    if let Some(top) = top {
        let others = context.layers()?.into_iter().filter(|layer| layer.origin != EMBEDDED);
        source.take_all_layers(std::iter::once(top).chain(others).collect());
    }
    Ok(Service::open(Arc::new(source)))
}

fn run_script(context: &CommandContext, service: &Arc<Service>, text: &str, input: &Json) -> Result<ScriptRun> {
    let remedy = "call `toolsd script`: tools of packs call only tools that read";
    let rules = CodeMode::new(None, Some(Effect::Reads), remedy);
    let request = ScriptRequest { text: text.to_owned(), input: input.clone(), is_dry: false, rules };
    let answer = context.answer(service, Request::Script(Box::new(request)));
    let result = case::result_of(&answer);
    let Answer::Tool(outcome) = answer else { return Err(failed("the script", &result)) };
    if outcome.failed {
        return Err(failed("the script", &result));
    }
    let calls = outcome.meta.as_ref().and_then(|meta| meta["toolsd/calls"].as_array());
    let tools = calls.into_iter().flatten().filter_map(|call| call["tool"].as_str().map(str::to_owned)).collect();
    Ok(ScriptRun { result, tools })
}

fn failed(what: &str, error: &Json) -> Box<Diagnostic> {
    let text = |key: &str| error[key].as_str().map(|text| format!("{text}: ")).unwrap_or_default();
    let message =
        error["error"].as_str().or_else(|| error["message"].as_str()).map_or_else(|| error.to_string(), str::to_owned);
    let help = error["help"].as_str().unwrap_or("`toolsd script` runs a script");
    Diagnostic::new(Code("usage"), format!("{what} failed, so that no tool was written: {}{message}", text("at")))
        .help(help)
}

/// The files of an example, each with its text; why there are none.
type ExampleFiles = std::result::Result<SkeletonFiles, String>;

/// The files of the workspace that a script and its tools read, and these with the files that they found.
fn record_files(context: &CommandContext, service: &Arc<Service>, text: &str, input: &Json) -> [ExampleFiles; 2] {
    let recorded = Arc::new(RecordedWorld::new(Arc::clone(&context.workspace)));
    let world = Some(Arc::clone(&recorded) as Arc<dyn World>);
    let staged = service.staged(Staging { world, ..Staging::default() });
    if run_script(context, &staged, text, input).is_err() {
        return [Err(OUTSIDE.to_owned()), Err(OUTSIDE.to_owned())];
    }
    let reads = recorded.take();
    let read = reads.files().iter().filter(|(_, file)| file.hash().is_some()).map(|(path, _)| &**path);
    let read: BTreeSet<&str> = read.collect();
    let found = read.iter().copied().chain(reads.walked_files()).collect();
    [copy_files(context, &read), copy_files(context, &found)]
}

/// Why an example cannot have the files.
const OUTSIDE: &str = "its tools read files outside of the workspace";

fn copy_files(context: &CommandContext, paths: &BTreeSet<&str>) -> ExampleFiles {
    if paths.iter().any(|path| path.starts_with(['/', '~']) || path.starts_with("..")) {
        return Err(OUTSIDE.to_owned());
    }
    if paths.len() > MAX_FILES {
        return Err(format!("its tools read {} files, and at most {MAX_FILES} are copied", paths.len()));
    }
    let mut files = Vec::new();
    let mut bytes = 0;
    for path in paths {
        let Ok(content) = context.workspace.read(path) else { return Err(format!("`{path}` cannot be read again")) };
        bytes += content.len();
        if bytes > MAX_FILE_BYTES {
            return Err(format!("its tools read more than {} kB, which is not copied", MAX_FILE_BYTES >> 10));
        }
        match String::from_utf8(content) {
            Ok(text) => files.push(((*path).to_owned(), text)),
            Err(_) => return Err(format!("`{path}`, which its tools read, is not a text")),
        }
    }
    Ok(files)
}

/// Where an example can run, as its definition says it: in memory, and in a repository on the disk.
const STAGES: [&str; 2] = ["", "filesystem = \"disk\"\ngit = \"init\"\n"];

impl NewTool<'_> {
    /// The files of the tool, which returns what the script returned, with an example that passes, if one can.
    fn proven(&self, recorded: [ExampleFiles; 2]) -> Result<(SkeletonFiles, Vec<String>)> {
        let plain = self.files(None, &[]);
        let service = self.open(&plain)?;
        let request = Request::Call { tool: self.name.to_owned(), arguments: self.arguments.clone() };
        let answer = self.context.answer(&service, request);
        let result = case::result_of(&answer);
        if !matches!(&answer, Answer::Tool(outcome) if !outcome.failed) {
            return Err(failed("the tool that was made of the script", &result));
        }
        if let Some(differs) = case::difference(&self.run.result, &result) {
            let message = format!("the tool would return something else than the script: {differs}");
            return Err(Diagnostic::new(Code("usage"), message).help("write the function by hand"));
        }
        let mut why = "it returns something else where only the files are that its tools read".to_owned();
        for recorded in recorded {
            match recorded {
                Err(other) => why = other,
                Ok(recorded) => {
                    for stage in STAGES {
                        let files = self.files(Some(stage), &recorded);
                        if self.passes(&files)? {
                            return Ok((files, Vec::new()));
                        }
                    }
                }
            }
        }
        Ok((plain, vec![format!("the tool has no example, since {why}; write one into its definition")]))
    }

    /// Opens the packs with these files on top of the others.
    fn open(&self, files: &SkeletonFiles) -> Result<Arc<Service>> {
        let service = open(self.context, &self.packs, Some(layer_of(files)?))?;
        let registry = service.registry();
        let is_ours = |error: &&Diagnostic| {
            let path = error.at.as_ref().map(|at| at.source.path.as_str());
            error.is_error() && files.iter().any(|(known, _)| Some(known.as_str()) == path)
        };
        match registry.diagnostics.iter().find(is_ours) {
            Some(error) => {
                let message = format!("the script cannot be a tool of a pack: {}", error.message);
                let help = error.help.clone().unwrap_or_else(|| "write the function by hand".to_owned());
                Err(Diagnostic::new(Code("usage"), message).help(help))
            }
            None => Ok(service),
        }
    }

    /// Whether the example passes as `toolsd test` runs it.
    fn passes(&self, files: &SkeletonFiles) -> Result<bool> {
        let service = self.open(files)?;
        let registry = service.registry();
        let Some(pack) = registry.packs.iter().find(|pack| pack.name == self.pack) else { return Ok(false) };
        let merged = merge_definitions(&self.pack, &pack.compiled.files, Validation::Full);
        let is_example = |case: &&Case| case.example_of.as_deref() == Some(self.name);
        let Some(example) = merged.definitions.cases.iter().find(is_example) else { return Ok(false) };
        let mut folders = case_folders(self.context, &self.context.layers()?)?;
        folders.insert(0, world_of(files)?);
        Ok(case::run(&service, pack, example, &folders, false).diagnostics.is_empty())
    }

    /// The files of the tool. Its example runs on a stage, with the files that the script read.
    fn files(&self, stage: Option<&str>, recorded: &[(String, String)]) -> SkeletonFiles {
        let Self { pack, name, .. } = self;
        let folder = format!("fixtures/{pack}/{name}");
        let mut text = self.definition();
        if let Some(stage) = stage {
            text.push_str("\n[[tool.example]]\ntitle = \"what the script returned\"\n");
            text.push_str(stage);
            if !recorded.is_empty() {
                text.push_str(&format!("files_from = \"{folder}\"\n"));
            }
            text.push_str(&assignment("arguments", &self.arguments));
            text.push_str(&assignment("expect.result", &self.run.result));
        }
        let own = [
            definition(format!("tools.d/{pack}/{name}.toml"), &text),
            (format!("tools.d/{pack}/{name}.rhai"), self.script.text.clone()),
        ];
        let copied = recorded.iter().map(|(path, text)| (format!("{folder}/{path}"), text.clone()));
        own.into_iter().chain(copied).collect()
    }

    fn definition(&self) -> String {
        let called: Vec<String> = self.run.tools.iter().map(|name| format!("`{name}`")).collect();
        let described = match called.as_slice() {
            [] => "Returns what a script computes.".to_owned(),
            called => format!("Returns in one call what a script computes from {}.", called.join(", ")),
        };
        let description = self.script.description.clone().unwrap_or(described);
        let effect = if self.effect == Effect::Pure { "pure" } else { "reads" };
        let mut text = format!("[[tool]]\nname = \"{}\"\n", self.name);
        text.push_str(&assignment("title", &json!(title(self.name))));
        text.push_str(&assignment("description", &json!(description)));
        text.push_str(&format!("effect = \"{effect}\"\n"));
        let Some(arguments) = self.arguments.as_object().filter(|arguments| !arguments.is_empty()) else { return text };
        text.push_str("\n[tool.input]\ntype = \"object\"\n");
        let required = arguments.keys().filter(|key| !handles_absence(self.source, key));
        text.push_str(&assignment("required", &required.cloned().collect()));
        text.push_str("\n[tool.input.properties]\n");
        for (name, value) in arguments {
            let mut schema = schema_of(value);
            schema["description"] = json!(format!("For example {value}"));
            text.push_str(&format!("{} = {}\n", toml_key(name), inline_toml(&schema).unwrap_or_default()));
        }
        text
    }
}

/// A line of TOML; as JSON if TOML cannot say it.
fn assignment(key: &str, value: &Json) -> String {
    match inline_toml(value) {
        Some(written) => format!("{key} = {written}\n"),
        None => format!("{key}_json = {}\n", inline_toml(&json!(value.to_string())).unwrap_or_default()),
    }
}

/// The schema of which a value is an example.
fn schema_of(value: &Json) -> Json {
    match value {
        Json::Null => json!({}),
        Json::Bool(_) => json!({ "type": "boolean" }),
        Json::Number(number) if number.is_f64() => json!({ "type": "number" }),
        Json::Number(_) => json!({ "type": "integer" }),
        Json::String(_) => json!({ "type": "string" }),
        Json::Array(items) => match items.split_first() {
            Some((first, rest)) if rest.iter().all(|item| schema_of(item) == schema_of(first)) => {
                json!({ "type": "array", "items": schema_of(first) })
            }
            _ => json!({ "type": "array" }),
        },
        Json::Object(_) => json!({ "type": "object" }),
    }
}

fn world_of(files: &SkeletonFiles) -> Result<Arc<dyn World>> {
    let memory = MemoryWorld::new();
    files.iter().try_for_each(|(path, text)| memory.write(path, text.as_bytes()))?;
    Ok(Arc::new(memory))
}

fn layer_of(files: &SkeletonFiles) -> Result<Layer> {
    Ok(Layer { origin: "new".to_owned(), world: Some(world_of(files)?), trust: None, is_stored: false })
}
