//! Pure primitives as helpers: positional arguments as written, and options as `name=value`.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Functions;
use crate::primitive_api::{self, Effect, Family, Host, Primitive};
use crate::value::{Json, Map, Value};
use crate::world::World;
use crate::world::memory::MemoryWorld;
use handlebars::{Context, Handlebars, Helper, HelperDef, RenderContext, RenderError, RenderErrorReason, ScopedJson};
use std::sync::{Arc, LazyLock};

/// Registers every primitive that [`find`] returns.
pub fn register(engine: &mut Handlebars<'static>) {
    for primitive in helper_primitives() {
        engine.register_helper(primitive.name, Box::new(PrimitiveHelper { primitive }));
    }
}

/// The primitive with this name, if it is a helper.
pub fn find(name: &str) -> Option<&'static Primitive> {
    helper_primitives().find(|primitive| primitive.name == name)
}

/// The names of all primitives that are helpers.
pub fn names() -> impl Iterator<Item = &'static str> {
    helper_primitives().map(|primitive| primitive.name)
}

/// The pure primitives that compute values from values.
fn helper_primitives() -> impl Iterator<Item = &'static Primitive> {
    crate::primitives::ALL.iter().copied().filter(|primitive| {
        let family = matches!(
            primitive.family,
            Family::Text | Family::List | Family::Hash | Family::Path | Family::Host | Family::Render
        );
        family && primitive.effect == Effect::Pure
    })
}

struct PrimitiveHelper {
    primitive: &'static Primitive,
}

impl HelperDef for PrimitiveHelper {
    fn call_inner<'reg: 'rc, 'rc>(
        &self,
        helper: &Helper<'rc>,
        _: &'reg Handlebars<'reg>,
        context: &'rc Context,
        render: &mut RenderContext<'reg, 'rc>,
    ) -> std::result::Result<ScopedJson<'rc>, RenderError> {
        if helper.params().is_empty() && helper.hash().is_empty() {
            return evaluate_variable(self.primitive.name, context, render);
        }
        let mut values = Vec::with_capacity(helper.params().len() + 1);
        for parameter in helper.params() {
            if parameter.is_value_missing() {
                return Err(RenderError::strict_error(parameter.relative_path()));
            }
            values.push(Value::from_json(parameter.value()));
        }
        let mut options = Map::new();
        for (name, parameter) in helper.hash() {
            options.insert((*name).into(), Value::from_json(parameter.value()));
        }
        if !options.is_empty() {
            values.push(Value::Map(options));
        }
        let context = primitive_api::Context { host: &EmptyHost, functions: &NO_FUNCTIONS };
        let result = self.primitive.accept(values).and_then(|arguments| (self.primitive.run)(&context, arguments));
        match result.and_then(|value| value.json()) {
            Ok(json) => Ok(ScopedJson::Derived(json)),
            Err(error) => Err(RenderErrorReason::NestedError(error).into()),
        }
    }
}

/// Evaluates a name without arguments: it is the variable with this name, even if a primitive has the same name.
fn evaluate_variable<'rc>(
    name: &str,
    context: &'rc Context,
    render: &mut RenderContext<'_, 'rc>,
) -> std::result::Result<ScopedJson<'rc>, RenderError> {
    let found = match render.context() {
        Some(own) => render.evaluate(&own, name)?.as_json().clone(),
        None => {
            let found = render.evaluate(context, name)?;
            if found.is_missing() {
                return Err(RenderError::strict_error(Some(&name.to_owned())));
            }
            found.as_json().clone()
        }
    };
    Ok(ScopedJson::Derived(found))
}

/// A host without a graph, files or other templates. Each access to them is an error.
struct EmptyHost;

static WORLD: LazyLock<Arc<dyn World>> = LazyLock::new(|| Arc::new(MemoryWorld::new()));
static NO_FUNCTIONS: LazyLock<Arc<dyn Functions>> = LazyLock::new(|| Arc::new(NoFunctions));

impl Host for EmptyHost {
    fn world(&self) -> &Arc<dyn World> {
        &WORLD
    }

    fn unreachable(&self, what: &str) -> Box<Diagnostic> {
        let error = Diagnostic::new(Code::TEMPLATE, format!("a template cannot reach {what}"));
        error.help("use it in the `context` function")
    }

    fn render(&self, _: &str, _: &Json) -> Result<String> {
        Err(self.unreachable("other templates except by `{{> …}}`"))
    }
}

struct NoFunctions;

impl Functions for NoFunctions {
    fn call(&self, _: &str, _: Vec<Value>) -> Result<Value> {
        Err(EmptyHost.unreachable("the functions of scripts"))
    }

    fn require(&self, _: &str, _: usize) -> Result<()> {
        Ok(())
    }

    fn fingerprint(&self) -> [u8; 32] {
        [0; 32]
    }

    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..jobs).for_each(job);
    }
}
