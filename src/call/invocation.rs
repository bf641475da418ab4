//! A running call of a pack: its host, its guard, and the body that answers it.

use super::host::{CallHost, CallSetup};
use crate::definition::Body;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean, foreign_word};
use crate::graph::{Functions, Graph};
use crate::guard::{self, Guard, Limits};
use crate::primitive_api::{Context, Host, Need, Primitive};
use crate::primitives;
use crate::registry::Pack;
use crate::script::{WatchedGuard, register_seal, watch_guard};
use crate::value::{Json, Map, Value};
use std::sync::{Arc, Weak};

/// A running call of a pack: its host and its limits.
pub struct Invocation {
    /// What its scripts can reach.
    pub host: Arc<CallHost>,
    /// Its limits.
    pub guard: Arc<Guard>,
    /// Has the watchdog look at that guard.
    _watched: WatchedGuard,
}

impl Invocation {
    pub fn begin(setup: CallSetup<'_>) -> Result<Self> {
        let guard = Guard::new(setup.limits, setup.cancel.clone());
        let host = CallHost::new(setup)?;
        if let Some(staged) = host.world().staged() {
            register_seal(staged.seal());
        }
        Ok(Self { host, _watched: watch_guard(&guard), guard })
    }

    /// The same call with the same limits, unused: for `on_error`.
    pub fn with_fresh_limits(&self) -> Self {
        self.with_limits(*self.guard.limits())
    }

    /// The same call with other limits, unused: for another part of it.
    pub fn with_limits(&self, limits: Limits) -> Self {
        let guard = Guard::new(limits, self.host.cancel.clone());
        Self { host: Arc::clone(&self.host), _watched: watch_guard(&guard), guard }
    }

    pub fn pack(&self) -> &Arc<Pack> {
        &self.host.pack
    }

    /// Whether this is the graph that the call sees.
    pub fn sees_graph(&self, graph: &Weak<Graph>) -> bool {
        let _guarded = self.guard.enter();
        self.host.graph().is_ok_and(|now| std::ptr::eq(graph.as_ptr(), Arc::as_ptr(&now)))
    }

    /// Calls a function of a script with as many of the arguments as it takes.
    pub fn function(&self, script: &str, function: &str, arguments: Vec<Value>) -> Result<Value> {
        self.function_of(Arc::clone(&self.host) as Arc<dyn Host>, script, function, arguments)
    }

    /// Returns the same invocation with another host.
    pub fn function_of(
        &self,
        host: Arc<dyn Host>,
        script: &str,
        function: &str,
        mut arguments: Vec<Value>,
    ) -> Result<Value> {
        let program = &self.pack().compiled.program;
        let known = program.functions(script).iter().find(|known| known.name == function);
        if let Some(known) = known {
            arguments.truncate(known.arity);
        }
        program.run(script, function, arguments, host, Arc::clone(&self.guard))
    }

    /// Calls a function of a script with exactly these arguments.
    fn call(&self, script: &str, function: &str, arguments: Vec<Value>) -> Result<Value> {
        let host = Arc::clone(&self.host) as Arc<dyn Host>;
        self.pack().compiled.program.run(script, function, arguments, host, Arc::clone(&self.guard))
    }

    /// Runs `work`, which checks, shows or converts a value, within the limits of the call.
    ///
    /// # Errors
    /// The error of `work`, or what stopped the call meanwhile.
    pub fn guarded<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let guarded = self.guard.enter();
        let done = work();
        let stopped = guard::check();
        drop(guarded);
        self.guard.verdict().map_or_else(|| stopped.and(done), Err)
    }

    //= docs/spec.md#calls
    //# Arguments MUST be validated before the script runs, within the limits of the call.
    /// Converts arguments to values of scripts.
    pub fn value(&self, arguments: &Json) -> Result<Value> {
        self.guarded(|| Ok(Value::from_json(arguments)))
    }

    /// Runs a body. `declared` are the names of the arguments: omitted ones are null in a template.
    pub fn body(&self, body: &Body, arguments: &Json, declared: &[&str]) -> Result<Value> {
        match body {
            Body::Script { script, function } => self.call(script, function, vec![self.value(arguments)?]),
            Body::Template { template, context } => {
                let context = self.context(context.as_ref(), arguments, declared)?;
                self.template(template, &context).map(Value::from)
            }
            Body::Inline { text, context } => {
                let context = self.context(context.as_ref(), arguments, declared)?;
                self.inline(text, &context).map(Value::from)
            }
            Body::Primitive(name) => self.primitive(name, arguments),
            Body::Text(text) => Ok(text.as_str().into()),
            Body::Prompts => Err(Diagnostic::new(Code::INTERNAL, "prompts are not available here")),
            Body::Operations { .. } => Err(Diagnostic::new(Code::INTERNAL, "no operation was chosen")),
            Body::File(path) => self.host.read_pack_file(path).map(|file| file.text.into()),
        }
    }

    /// Returns the context of templates: the result of the function, otherwise the arguments.
    pub fn context(&self, function: Option<&(String, String)>, arguments: &Json, declared: &[&str]) -> Result<Json> {
        if let Some((function, script)) = function {
            let context = self.function(script, function, vec![self.value(arguments)?])?;
            return self.guarded(|| context.json());
        }
        let mut context = arguments.clone();
        if let Some(map) = context.as_object_mut() {
            for name in declared {
                map.entry(*name).or_insert(Json::Null);
            }
        }
        Ok(context)
    }

    /// Fills a template, named by its path from the root.
    pub fn template(&self, path: &str, context: &Json) -> Result<String> {
        let _guarded = self.guard.enter();
        let filled = self.pack().compiled.templates.render(path, context)?;
        guard::check()?;
        Ok(filled)
    }

    /// Fills a template written in a definition.
    pub fn inline(&self, text: &str, context: &Json) -> Result<String> {
        let _guarded = self.guard.enter();
        self.pack().compiled.templates.render_text(text, context)
    }

    fn primitive(&self, name: &str, arguments: &Json) -> Result<Value> {
        let Some(primitive) = primitives::find(name) else {
            let error = Diagnostic::new(Code::SCRIPT, format!("there is no primitive `{name}`"));
            let known = primitives::ALL.iter().map(|primitive| primitive.name);
            let help = foreign_word(name).or_else(|| did_you_mean(name, known));
            return Err(error.help(help.unwrap_or_else(|| "run `toolsd docs`".to_owned())));
        };
        let _guarded = self.guard.enter();
        let functions: Arc<dyn Functions> = self.pack().compiled.program.functions_seen_by("");
        let context = Context { host: self.host.as_ref(), functions: &functions };
        let value = (primitive.run)(&context, primitive.accept(order_arguments(primitive, arguments))?)?;
        guard::reserve_memory(0)?;
        Ok(value)
    }
}

/// Whether a body is a template that is filled with the arguments themselves.
pub fn takes_arguments(body: &Body) -> bool {
    matches!(body, Body::Template { context: None, .. } | Body::Inline { context: None, .. })
}

/// Named arguments in the order of the declaration; those of the options map as a map at the end.
fn order_arguments(primitive: &Primitive, arguments: &Json) -> Vec<Value> {
    let value = |name: &str| arguments.get(name).map_or(Value::Null, Value::from_json);
    let mut values: Vec<Value> = primitive.positional().map(|param| value(param.name)).collect();
    let options: Map = primitive
        .options()
        .filter(|param| arguments.get(param.name).is_some())
        .map(|param| (param.name.into(), value(param.name)))
        .collect();
    if options.is_empty() {
        let needed = primitive.positional().filter(|param| param.need == Need::Required).count();
        while values.len() > needed && values.last().is_some_and(Value::is_null) {
            values.pop();
        }
    } else {
        values.push(Value::Map(options));
    }
    values
}
