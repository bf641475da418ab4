//! The served tools as functions of a script: `name(#{ … })`, `tools.name(#{ … })`, `call_tool("name", #{ … })`, and the
//! functions that find them.

use super::super::compiled::{AD_HOC_PATH, Script};
use super::super::convert::{RhaiResult, from_value, raise_at, to_value};
use super::super::engine::known_arities;
use super::super::execution::{at_call_level, current};
use super::property_reads::PropertyReads;
use crate::diagnostic::Result;
use crate::guard;
use crate::primitive_api::{ToolAccess, tools_of};
use crate::value::{self, Value};
use rhai::{
    ASTNode, Dynamic, Engine, EvalContext, Expr, FnCallExpr, FuncRegistration, ImmutableString, Map, Module,
    NativeCallContext, Position, Stmt,
};
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

/// The constant `tools`, and one with the name of each pack: its methods are the tools.
#[derive(Clone, Copy)]
pub(super) struct ToolNamespace;

/// What the calls of a script share.
#[derive(Clone, Default)]
pub(super) struct ToolCalls(Arc<CallsOfScript>);

#[derive(Default)]
struct CallsOfScript {
    /// The tools that the script names.
    named: OnceLock<BTreeSet<String>>,
    reads: OnceLock<Arc<PropertyReads>>,
}

impl ToolCalls {
    /// Has the results of calls observed.
    pub(super) fn watch(&self, reads: &Arc<PropertyReads>) {
        let _once = self.0.reads.set(Arc::clone(reads));
    }
}

/// Adds the tools to an engine. Which ones there are is looked up when a name is called that nothing else has.
pub(super) fn register(engine: &mut Engine) -> ToolCalls {
    let calls = ToolCalls::default();
    let mut module = Module::new();
    let function = |name| FuncRegistration::new(name).with_purity(true).with_volatility(true);
    let own = calls.clone();
    function("call_tool").set_into_module(
        &mut module,
        move |context: NativeCallContext, name: &str, arguments: Map| {
            own.call(name, Some(&Dynamic::from_map(arguments)), context.call_level(), context.call_position())
        },
    );
    let own = calls.clone();
    function("call_tool").set_into_module(&mut module, move |context: NativeCallContext, name: &str| {
        own.call(name, None, context.call_level(), context.call_position())
    });
    let own = calls.clone();
    function("tools").set_into_module(&mut module, move |context: NativeCallContext, words: &str| {
        own.look_up(&context, |tools| tools.find(Some(words)))
    });
    let own = calls.clone();
    function("tools").set_into_module(&mut module, move |context: NativeCallContext| {
        own.look_up(&context, |tools| tools.find(None))
    });
    let own = calls.clone();
    function("describe").set_into_module(&mut module, move |context: NativeCallContext, name: ImmutableString| {
        own.look_up(&context, |tools| tools.describe(&name))
    });
    engine.register_global_module(module.into());
    let own = calls.clone();
    #[allow(deprecated, reason = "rhai marks its hooks as unstable, but does not remove them")]
    engine.on_missing_function(move |name, arguments, is_method, context| {
        // The hook also hears of functions that exist and failed, which must not be called twice.
        if own.0.named.get().is_some_and(|named| named.contains(name)) {
            return Ok(None);
        }
        own.call_by_name(name, arguments, is_method, &context)
    });
    calls
}

/// Adds the tools that a script names, so that their errors have a place in it.
pub(super) fn register_named(engine: &mut Engine, script: &Script, tools: &dyn ToolAccess, calls: &ToolCalls) {
    let mut module = Module::new();
    let names: BTreeSet<String> =
        calls_of(script).into_iter().map(|(name, ..)| name).filter(|name| tools.has(name)).collect();
    for name in &names {
        let known = known_arities(name);
        let function = || FuncRegistration::new(name.as_str()).with_purity(true).with_volatility(true);
        let run = |name: String| {
            let calls = calls.clone();
            move |context: &NativeCallContext<'_>, arguments: Option<Map>| {
                let arguments = arguments.map(Dynamic::from_map);
                calls.call(&name, arguments.as_ref(), context.call_level(), context.call_position())
            }
        };
        if !known.contains(&1) {
            let run = run(name.clone());
            function().set_into_module(&mut module, move |context: NativeCallContext, arguments: Map| {
                run(&context, Some(arguments))
            });
        }
        if !known.contains(&0) {
            let run = run(name.clone());
            function().set_into_module(&mut module, move |context: NativeCallContext| run(&context, None));
        }
        let run = run(name.clone());
        function().set_into_module(&mut module, move |context: NativeCallContext, _: ToolNamespace, arguments: Map| {
            run(&context, Some(arguments))
        });
    }
    engine.register_global_module(module.into());
    let _once = calls.0.named.set(names);
}

/// A call, its place, and whether it is one of a method.
pub(super) fn called<'a>(node: &ASTNode<'a>) -> Option<(&'a FnCallExpr, Position, bool)> {
    match node {
        ASTNode::Expr(Expr::FnCall(call, position)) | ASTNode::Stmt(Stmt::FnCall(call, position)) => {
            Some((call, *position, false))
        }
        ASTNode::Expr(Expr::MethodCall(call, position)) => Some((call, *position, true)),
        _ => None,
    }
}

/// The functions and methods that a script calls: the name of each, its place, and whether it is a method.
pub(super) fn calls_of(script: &Script) -> Vec<(String, Position, bool)> {
    let mut calls = Vec::new();
    script.ast.walk(&mut |path: &[ASTNode<'_>]| {
        let call = path.last().and_then(called);
        calls.extend(call.map(|(call, position, is_method)| (call.name.to_string(), position, is_method)));
        true
    });
    calls
}

impl std::fmt::Debug for ToolNamespace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("the tools")
    }
}

impl ToolCalls {
    /// Calls the tool of a name that no function has. `None` leaves the error to rhai.
    fn call_by_name(
        &self,
        name: &str,
        arguments: &mut [&mut Dynamic],
        is_method: bool,
        context: &EvalContext<'_, '_, '_, '_, '_, '_>,
    ) -> RhaiResult<Option<Dynamic>> {
        // The hook also hears of functions that exist and failed.
        if known_arities(name).contains(&arguments.len()) {
            return Ok(None);
        }
        let is_tool = current().is_ok_and(|execution| execution.host.tools().is_some_and(|tools| tools.has(name)));
        if !is_tool {
            return Ok(None);
        }
        let is_namespace = is_method && arguments.first().is_some_and(|first| first.is::<ToolNamespace>());
        let own = &arguments[usize::from(is_namespace)..];
        let level = context.call_level();
        match own {
            [] => self.call(name, None, level, Position::NONE).map(Some),
            [one] if one.is_map() && (is_namespace || !is_method) => {
                self.call(name, Some(one), level, Position::NONE).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn look_up(
        &self,
        context: &NativeCallContext<'_>,
        look: impl FnOnce(&dyn ToolAccess) -> Result<Value>,
    ) -> RhaiResult {
        let found = current().and_then(|execution| look(tools_of(&*execution.host)?));
        let found = found.inspect(|value| self.observe(value));
        found.map(from_value).map_err(|error| raise_at(error, Some(AD_HOC_PATH), context.call_position()))
    }

    fn observe(&self, value: &Value) {
        if let Some(reads) = self.0.reads.get() {
            reads.observe(value);
        }
    }

    fn call(&self, name: &str, arguments: Option<&Dynamic>, level: usize, position: Position) -> RhaiResult {
        let run = || {
            guard::check_stopped()?;
            let execution = current()?;
            let tools = tools_of(&*execution.host)?;
            let arguments =
                arguments.map_or_else(|| Ok(Value::Map(value::Map::default())), |map| to_value(map, None))?;
            let value = tools.call(name, arguments)?;
            self.observe(&value);
            guard::check()?;
            Ok(from_value(value))
        };
        at_call_level(level, run).map_err(|error| raise_at(error, Some(AD_HOC_PATH), position))
    }
}
