//! The blocks `if`, `unless`, `each` and `with`, which fail on a missing parameter and accept null.

use super::error::HELPER;
use super::pure;
use crate::diagnostic::{Diagnostic, nearest};
use crate::guard;
use handlebars::{
    BlockContext, BlockParams, Context, Handlebars, Helper, HelperDef, HelperResult, JsonTruthy, Output, PathAndJson,
    RenderContext, RenderError, RenderErrorReason, Renderable,
};
use serde_json::Value as Json;

const BLOCKS: [&str; 5] = ["if", "unless", "each", "with", "raw"];

/// The helpers of handlebars itself that are not primitives.
const INLINE: [&str; 11] = ["lookup", "len", "eq", "ne", "gt", "gte", "lt", "lte", "and", "or", "not"];

/// Registers them in place of the blocks of handlebars.
pub fn register(engine: &mut Handlebars<'static>) {
    engine.register_helper("if", Box::new(ConditionalBlock { positive: true }));
    engine.register_helper("unless", Box::new(ConditionalBlock { positive: false }));
    engine.register_helper("each", Box::new(ScopedBlock { name: "each" }));
    engine.register_helper("with", Box::new(ScopedBlock { name: "with" }));
}

/// The error in the use of a helper, if there is one.
pub fn check_helper(name: &str, block: bool, arguments: usize) -> Option<Box<Diagnostic>> {
    if block && BLOCKS.contains(&name) {
        let error = || Diagnostic::new(HELPER, format!("`{name}` takes one argument, got {arguments}"));
        return (arguments != 1 && name != "raw").then(|| error().help(format!("`{{{{#{name} variable}}}}`")));
    }
    if !block && (INLINE.contains(&name) || pure::find(name).is_some()) {
        return None;
    }
    let known: Vec<&str> = if block { BLOCKS.to_vec() } else { INLINE.iter().copied().chain(pure::names()).collect() };
    let message = match (block, BLOCKS.contains(&name)) {
        (true, _) => format!("there is no block `{name}`"),
        (false, true) => format!("`{name}` is a block"),
        (false, false) => format!("there is no helper `{name}`"),
    };
    let help = match nearest(name, known.iter().copied()) {
        _ if !block && BLOCKS.contains(&name) => format!("`{{{{#{name} …}}}} … {{{{/{name}}}}}`"),
        Some(near) => format!("did you mean `{near}`?"),
        None if block => format!("to loop over a list: `{{{{#each {name}}}}}`; to test a value: `{{{{#if {name}}}}}`"),
        None => "pure primitives are helpers: `toolsd docs`".to_owned(),
    };
    Some(Diagnostic::new(HELPER, message).help(help))
}

/// The first parameter, which must be present; null counts as present.
fn required_param<'a, 'rc>(helper: &'a Helper<'rc>) -> Result<&'a Json, RenderError> {
    let parameter = helper.param(0).ok_or(RenderErrorReason::ParamNotFoundForIndex("block", 0))?;
    if parameter.is_value_missing() {
        return Err(RenderError::strict_error(parameter.relative_path()));
    }
    Ok(parameter.value())
}

struct ConditionalBlock {
    positive: bool,
}

impl HelperDef for ConditionalBlock {
    fn call<'reg: 'rc, 'rc>(
        &self,
        helper: &Helper<'rc>,
        engine: &'reg Handlebars<'reg>,
        context: &'rc Context,
        render: &mut RenderContext<'reg, 'rc>,
        out: &mut dyn Output,
    ) -> HelperResult {
        let include_zero = helper.hash_get("includeZero").and_then(|flag| flag.value().as_bool()).unwrap_or(false);
        let holds = required_param(helper)?.is_truthy(include_zero) == self.positive;
        match if holds { helper.template() } else { helper.inverse() } {
            Some(template) => template.render(engine, context, render, out),
            None => Ok(()),
        }
    }
}

struct ScopedBlock {
    name: &'static str,
}

impl HelperDef for ScopedBlock {
    fn call<'reg: 'rc, 'rc>(
        &self,
        helper: &Helper<'rc>,
        engine: &'reg Handlebars<'reg>,
        context: &'rc Context,
        render: &mut RenderContext<'reg, 'rc>,
        out: &mut dyn Output,
    ) -> HelperResult {
        let value = required_param(helper)?;
        let Some(template) = helper.template().filter(|_| value.is_truthy(true)) else {
            return match helper.inverse() {
                Some(template) => template.render(engine, context, render, out),
                None => Ok(()),
            };
        };
        for block in self.blocks(helper, value, render)? {
            // Nested lists multiply the work, so each iteration counts towards the limits of the call.
            guard::check().map_err(|stop| RenderErrorReason::NestedError(stop))?;
            render.push_block(block);
            let rendered = template.render(engine, context, render, out);
            render.pop_block();
            rendered?;
        }
        Ok(())
    }
}

impl ScopedBlock {
    /// The contexts of all iterations: one for `with`, one per item for `each`.
    fn blocks<'rc>(
        &self,
        helper: &Helper<'rc>,
        value: &Json,
        render: &RenderContext<'_, 'rc>,
    ) -> Result<Vec<BlockContext<'rc>>, RenderError> {
        if self.name == "with" {
            let mut block = block_context(helper, None, value, None)?;
            if let Some(around) = render.block() {
                block.local_variables_mut().clone_from(around.local_variables());
            }
            return Ok(vec![block]);
        }
        let items: Vec<(String, Json, &Json)> = match value {
            Json::Array(items) => {
                items.iter().enumerate().map(|(at, item)| (at.to_string(), Json::from(at), item)).collect()
            }
            Json::Object(map) => map.iter().map(|(key, item)| (key.clone(), Json::from(key.as_str()), item)).collect(),
            _ => {
                let error = Diagnostic::new(HELPER, "`each` takes a list or a map").help("`if` tests a single value");
                return Err(RenderErrorReason::NestedError(error).into());
            }
        };
        let last = items.len() - 1;
        items
            .into_iter()
            .enumerate()
            .map(|(at, (segment, key, item))| {
                let mut block = block_context(helper, Some(segment), item, Some(key.clone()))?;
                block.set_local_var("first", Json::from(at == 0));
                block.set_local_var("last", Json::from(at == last));
                block.set_local_var("index", Json::from(at));
                if value.is_object() {
                    block.set_local_var("key", key);
                }
                Ok(block)
            })
            .collect()
    }
}

/// The context of one iteration: a path if the value has one, so that `../` works; otherwise the value itself.
fn block_context<'rc>(
    helper: &Helper<'rc>,
    segment: Option<String>,
    value: &Json,
    key: Option<Json>,
) -> Result<BlockContext<'rc>, RenderError> {
    let mut block = BlockContext::new();
    let path = helper.param(0).and_then(PathAndJson::context_path);
    match path {
        Some(path) => *block.base_path_mut() = path.iter().cloned().chain(segment).collect(),
        None => block.set_base_value(value.clone()),
    }
    let mut names = BlockParams::new();
    let pair = helper.block_param_pair();
    if let Some(name) = helper.block_param().or(pair.map(|(name, _)| name)) {
        match path {
            Some(_) => names.add_path(name, Vec::new())?,
            None => names.add_value(name, value.clone())?,
        }
    }
    if let (Some((_, name)), Some(key)) = (pair, key) {
        names.add_value(name, key)?;
    }
    block.set_block_params(names);
    Ok(block)
}
