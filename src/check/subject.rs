//! What the rules look at: one pack, read and compiled, and everything that its definitions and scripts name.

use crate::definition::{Body, Completion, Definitions, Located, MessagePart, Operation, Resource, Schema, Tool};
use crate::primitive::Effect;
use crate::registry::{PackFiles, PackParts, WorkspaceSettings};
use crate::script::survey::CallSite;
use crate::script::{Program, survey};
use crate::source::{Place, Source};
use crate::template::Templates;
use crate::value::Json;
use crate::world::run::RequiredGrant;
use std::collections::HashSet;
use std::sync::Arc;

/// One pack, read and compiled.
pub struct Subject<'a> {
    /// The definitions of all its files.
    pub definitions: &'a Definitions,
    /// Its scripts.
    pub program: &'a Program,
    /// Its templates.
    pub templates: &'a Templates,
    /// The texts it is made of: definitions, scripts, templates, other texts.
    pub texts: Vec<&'a Arc<Source>>,
    /// The names and the scripts of the other packs, where they are known.
    pub others: Vec<(&'a str, &'a Program)>,
    /// The paths of all its files from the root, binary files included.
    pub paths: Vec<&'a str>,
}

impl<'a> Subject<'a> {
    /// The subject for a pack; `others` are the other packs.
    pub fn new(parts: &'a PackParts, others: &[&'a PackParts]) -> Self {
        Self {
            definitions: &parts.definitions,
            program: &parts.program,
            templates: &parts.templates,
            others: others.iter().map(|other| (other.name.as_str(), &other.program)).collect(),
            texts: parts.files.texts("", "").collect(),
            paths: parts.files.by_path.keys().map(String::as_str).collect(),
        }
    }

    /// Whether every script compiles whose functions the others see: only then is it known what is missing.
    pub fn libraries_are_whole(&self) -> bool {
        let scripts: Vec<&str> = self.program.scripts().collect();
        let library = |path: &&str| path.ends_with("/lib.rhai") || path.ends_with("/graph.rhai");
        self.paths.iter().copied().filter(library).all(|path| scripts.contains(&path))
    }

    /// Whether a file of that path belongs to the pack.
    pub fn has(&self, path: &str) -> bool {
        self.paths.contains(&path)
    }

    /// Every schema of a pack, with a word for what it is of.
    pub(super) fn schemas(&self) -> Vec<(String, &Schema)> {
        let definitions = self.definitions;
        let mut all: Vec<(String, &Schema)> = Vec::new();
        all.extend(definitions.defs.iter().map(|(name, schema)| (format!("`[defs.{}]`", name.value), schema)));
        all.extend(
            definitions.pack.iter().filter_map(|pack| Some(("the configuration".to_owned(), pack.config.as_ref()?))),
        );
        for tool in &definitions.tools {
            all.push((format!("the arguments of `{}`", tool.name.value), &tool.input));
            all.extend(tool.output.iter().map(|schema| (format!("the result of `{}`", tool.name.value), schema)));
        }
        for prompt in &definitions.prompts {
            let of = |name: &Located<String>| format!("the argument `{}` of `{}`", name.value, prompt.name.value);
            all.extend(prompt.arguments.iter().filter_map(|one| Some((of(&one.name), one.schema.as_ref()?))));
        }
        all
    }

    /// Every function that a definition names, but the handlers of faults.
    pub(super) fn named_functions(&self) -> Vec<NamedFunction<'_>> {
        let definitions = self.definitions;
        let mut all = Vec::new();
        for tool in &definitions.tools {
            tool_bodies(tool).iter().for_each(|one| add_body(one.body, "fn(args)", &mut all));
            if let (Some(describe), Body::Script { script, .. } | Body::Operations { script }) =
                (&tool.describe, &tool.body.value)
            {
                let (function, at) = (describe.value.as_str(), &describe.at);
                all.push(NamedFunction { script, function, at, parameters: 0..=0, form: "fn()" });
            }
        }
        for resource in &definitions.resources {
            add_body(&resource.body, "fn(variables)", &mut all);
            add_resource(resource, &mut all);
        }
        for prompt in &definitions.prompts {
            let script = prompt.script.as_str();
            if let Some(list) = &prompt.list {
                let (function, at) = (list.value.as_str(), &list.at);
                all.push(NamedFunction { script, function, at, parameters: 0..=0, form: "fn()" });
            }
            let at = &prompt.name.at;
            if let Some((function, script)) = &prompt.context {
                all.push(NamedFunction { script, function, at, parameters: 0..=1, form: "fn(args)" });
            }
            for message in &prompt.messages {
                if let MessagePart::Function(function) = &message.part.value {
                    let at = &message.part.at;
                    all.push(NamedFunction { script, function, at, parameters: 0..=1, form: "fn(args)" });
                }
            }
            let completions = prompt.arguments.iter().filter_map(|argument| argument.complete.as_ref());
            all.extend(completions.filter_map(|completion| completion_function(script, completion)));
        }
        if let Some((context, script)) = definitions.pack.as_ref().and_then(|pack| pack.context.as_ref()) {
            let (function, at) = (context.value.as_str(), &context.at);
            all.push(NamedFunction { script, function, at, parameters: 0..=0, form: "fn()" });
        }
        for skills in &definitions.skills {
            if let Some(list) = &skills.list {
                let (script, function, at) = (skills.script.as_str(), list.value.as_str(), &list.at);
                all.push(NamedFunction { script, function, at, parameters: 0..=0, form: "fn()" });
            }
        }
        if let Some(graph) = &definitions.graph {
            let (script, at) = (graph.script.value.as_str(), &graph.script.at);
            all.push(NamedFunction { script, function: "build", at, parameters: 1..=2, form: "fn build(g, config)" });
        }
        all
    }

    /// The functions that a script can call: its own, and those of the libraries.
    pub(super) fn visible_functions(&self, script: &str) -> Vec<&survey::FunctionDefinition> {
        let seen = self.program.surveys().iter().filter(|survey| {
            let path = survey.source.path.as_str();
            path == script || path.ends_with("/lib.rhai") || path.ends_with("/graph.rhai")
        });
        seen.flat_map(|survey| &survey.functions).collect()
    }

    /// Every name that a script can call.
    pub(super) fn callable_names<'s>(&'s self, script: &str) -> HashSet<&'s str> {
        let mut names: HashSet<&'s str> = HashSet::from(["call", "curry"]);
        names.extend(self.visible_functions(script).into_iter().map(|function| function.name.as_str()));
        names.extend(crate::primitives::ALL.iter().map(|primitive| -> &'s str { primitive.name }));
        names.extend(crate::script::known_names().map(|name| -> &'s str { name }));
        names
    }

    /// Every file that a definition names: what it is, its path, where it is named.
    pub(super) fn named_files(&self) -> Vec<(&'static str, &str, &Place)> {
        let definitions = self.definitions;
        let mut files: Vec<(&'static str, &str, &Place)> =
            self.named_functions().into_iter().map(|named| ("script", named.script, named.at)).collect();
        let bodies = definitions.tools.iter().map(|tool| &tool.body);
        for body in bodies.chain(definitions.resources.iter().map(|resource| &resource.body)) {
            match &body.value {
                Body::Template { template, .. } => files.push(("template", template, &body.at)),
                Body::File(path) => files.push(("file", path, &body.at)),
                _ => {}
            }
        }
        for message in definitions.prompts.iter().flat_map(|prompt| &prompt.messages) {
            match &message.part.value {
                MessagePart::Template(path) => files.push(("template", path, &message.part.at)),
                MessagePart::Image { file, .. } => files.push(("picture", file, &message.part.at)),
                _ => {}
            }
        }
        let instructions = definitions.pack.as_ref().and_then(|pack| pack.instructions.as_ref());
        files.extend(instructions.map(|path| ("template", path.value.as_str(), &path.at)));
        files
    }
}

/// What answers a call of a tool: its body, or the function of one of its operations.
pub(super) struct ToolBody<'a> {
    /// The name of the tool, or of the operation.
    pub(super) name: &'a str,
    /// What it does at most.
    pub(super) effect: &'a Located<Effect>,
    /// What it does.
    pub(super) body: &'a Located<Body>,
    /// The schema of its arguments.
    pub(super) input: &'a Schema,
    /// Constants merged into them.
    pub(super) bind: Vec<&'a Json>,
}

/// All that may answer a call of a tool.
pub(super) fn tool_bodies(tool: &Tool) -> Vec<ToolBody<'_>> {
    let Some(dispatch) = &tool.dispatch else {
        let Tool { name, effect, body, input, bind, .. } = tool;
        return vec![ToolBody { name: &name.value, effect, body, input, bind: vec![bind] }];
    };
    let operations = dispatch.operations.iter().map(|operation| {
        let Operation { name, effect, body, input, bind, .. } = operation;
        ToolBody { name: &name.value, effect, body, input, bind: vec![&tool.bind, bind] }
    });
    operations.collect()
}

/// Every function that a definition names.
pub(super) struct NamedFunction<'a> {
    /// The path of its script.
    pub(super) script: &'a str,
    /// Its name.
    pub(super) function: &'a str,
    /// Where it is named.
    pub(super) at: &'a Place,
    /// How many parameters it may have.
    pub(super) parameters: std::ops::RangeInclusive<usize>,
    /// What they are, for the help line.
    pub(super) form: &'static str,
}

fn add_body<'a>(body: &'a Located<Body>, form: &'static str, all: &mut Vec<NamedFunction<'a>>) {
    let at = &body.at;
    match &body.value {
        Body::Script { script, function } => {
            all.push(NamedFunction { script, function, at, parameters: 1..=1, form });
        }
        Body::Template { context: Some((function, script)), .. }
        | Body::Inline { context: Some((function, script)), .. } => {
            all.push(NamedFunction { script, function, at, parameters: 0..=1, form });
        }
        _ => {}
    }
}

fn add_resource<'a>(resource: &'a Resource, all: &mut Vec<NamedFunction<'a>>) {
    let script = resource.script.as_str();
    if let Some(list) = &resource.list {
        let (function, at) = (list.value.as_str(), &list.at);
        all.push(NamedFunction { script, function, at, parameters: 0..=1, form: "fn(with)" });
    }
    all.extend(resource.complete.iter().filter_map(|(_, completion)| completion_function(script, completion)));
}

fn completion_function<'a>(script: &'a str, completion: &'a Completion) -> Option<NamedFunction<'a>> {
    let Completion::Function(function) = completion else { return None };
    let (function, at) = (function.value.as_str(), &function.at);
    Some(NamedFunction { script, function, at, parameters: 0..=2, form: "fn(prefix, args)" })
}

/// What a call of git says as a literal: its primitive, its verb.
pub(super) fn git_verb(call: &CallSite) -> Option<(RequiredGrant, &str)> {
    let needs = match call.name.as_str() {
        "git" => RequiredGrant::WriteGit,
        "git_read" => RequiredGrant::ReadGit,
        _ => return None,
    };
    call.texts.iter().find(|(index, _)| *index == 0).map(|(_, verb)| (needs, verb.as_str()))
}

/// Reads and compiles the packs of an example in memory: what lies below `other/` is another pack, if there is any.
pub fn read_packs<P: AsRef<str>, T: AsRef<str>>(files: &[(P, T)]) -> (PackParts, Option<PackParts>) {
    let (mut own, mut others) = (Vec::new(), Vec::new());
    for (path, text) in files {
        match path.as_ref().strip_prefix("other/") {
            Some(path) => others.push((path, text.as_ref())),
            None => own.push((path.as_ref(), text.as_ref())),
        }
    }
    let named = |name: &str, files: Vec<(&str, &str)>| {
        PackParts::read(name, [0; 32], PackFiles::from_texts(files), &WorkspaceSettings::default())
    };
    let other = (!others.is_empty()).then(|| named("other", others));
    (named("pack", own), other)
}
