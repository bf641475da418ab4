//! Conversion of values between the host and rhai: small values are copied, handles and functions are wrapped, errors
//! are thrown.

use super::execution::{Execution, current};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};
use crate::value::{CaughtError, Handle, Map, Value, with_article};
use rhai::{Array, Dynamic, EvalAltResult, FnPtr, GlobalRuntimeState, ImmutableString, NativeCallContext, Position};
use std::any::Any;
use std::sync::Arc;

/// The result of a native function for rhai.
pub(super) type RhaiResult<T = Dynamic> = std::result::Result<T, Box<EvalAltResult>>;

/// A handle as rhai holds it: one type for all kinds.
#[derive(Clone)]
pub(super) struct HandleBox(pub(super) Handle);

/// The maximum nesting depth of a value. Deeper values are mistakes, and dropping them would exhaust the stack.
const MAX_DEPTH: usize = 128;

/// The length in bytes from which the guard is consulted before a text is copied.
const MIN_GUARDED_BYTES: usize = 64 << 10;

/// The context and execution of the functions in a value. Without them, functions cannot be converted.
pub(super) type ClosureOrigin<'a, 'b> = Option<(&'a NativeCallContext<'b>, &'a Arc<Execution>)>;

/// A function pointer with everything that is needed to call it, on this thread or another one.
pub(super) struct ScriptClosure {
    pointer: FnPtr,
    /// The state of the caller, with the source set to the file of the closure, so that its errors name that file.
    pub(super) state: GlobalRuntimeState,
    position: Position,
    pub(super) execution: Arc<Execution>,
}

impl ScriptClosure {
    /// The number of its parameters without the captured ones; none for a named function, which may have several forms.
    pub(super) fn parameters(&self) -> Option<usize> {
        let all = self.execution.program.parameters_of_closure(self.pointer.fn_name());
        all.map(|all| all.saturating_sub(self.pointer.curry().len()))
    }

    pub(super) fn new(context: &NativeCallContext<'_>, pointer: &FnPtr, execution: &Arc<Execution>) -> Self {
        let mut state = context.global_runtime_state().clone();
        if let Some(path) = execution.program.path_of_closure(pointer.fn_name()) {
            state.source = Some(path.into());
        }
        let position = context.call_position();
        Self { pointer: pointer.clone(), state, position, execution: Arc::clone(execution) }
    }

    pub(super) fn pointer(&self) -> FnPtr {
        self.pointer.clone()
    }

    /// Calls it from a native verb. Errors stay rhai errors, so that their stack frames are kept.
    pub(super) fn call_raw(&self, arguments: &mut [Dynamic]) -> RhaiResult {
        self.pointer.call_raw(&self.context(), None, arguments)
    }

    /// The context of a call of the closure.
    pub(super) fn context(&self) -> NativeCallContext<'_> {
        let engine = &self.execution.program.engine;
        let source = self.state.source.as_deref();
        NativeCallContext::new_with_all_fields(engine, self.pointer.fn_name(), source, &self.state, self.position)
    }
}

/// Converts a rhai value.
///
/// # Errors
/// The value is nested too deeply, cannot be represented in the host, or the guard stopped the call.
pub(super) fn to_value(from: &Dynamic, origin: ClosureOrigin<'_, '_>) -> Result<Value> {
    convert(from, origin, MAX_DEPTH)
}

fn convert(from: &Dynamic, origin: ClosureOrigin<'_, '_>, depth: usize) -> Result<Value> {
    guard::spend(ITEM)?;
    // Type checks that need no conversion come first, because lists of many numbers pass through here.
    if from.is_int()
        && let Ok(number) = from.as_int()
    {
        return Ok(Value::Integer(number));
    }
    if from.is_unit() {
        return Ok(Value::Null);
    }
    if from.is_string()
        && let Ok(text) = from.as_immutable_string_ref()
    {
        if text.len() >= MIN_GUARDED_BYTES {
            guard::reserve_memory(text.len())?;
            guard::spend(text.len())?;
        }
        return Ok(Value::Text(Arc::from(text.as_str())));
    }
    if from.is_bool()
        && let Ok(flag) = from.as_bool()
    {
        return Ok(Value::Bool(flag));
    }
    if let Some(handle) = from.read_lock::<HandleBox>() {
        return Ok(Value::Handle(Arc::clone(&handle.0)));
    }
    if depth == 0 {
        return Err(Diagnostic::new(Code::LIMIT, format!("a value is nested more than {MAX_DEPTH} levels deep")));
    }
    if from.is_array()
        && let Ok(list) = from.as_array_ref()
    {
        if list.len() >= MIN_GUARDED_BYTES / size_of::<Value>() {
            guard::reserve_memory(list.len().saturating_mul(size_of::<Value>()))?;
        }
        let mut items = Vec::with_capacity(list.len());
        for item in list.iter() {
            items.push(convert(item, origin, depth - 1)?);
        }
        return Ok(Value::List(items));
    }
    if from.is_map()
        && let Ok(map) = from.as_map_ref()
    {
        return map
            .iter()
            .map(|(key, value)| Ok((Arc::from(key.as_str()), convert(value, origin, depth - 1)?)))
            .collect::<Result<Map>>()
            .map(Value::Map);
    }
    convert_rare(from, origin)
}

fn convert_rare(from: &Dynamic, origin: ClosureOrigin<'_, '_>) -> Result<Value> {
    if let Ok(number) = from.as_float() {
        return Ok(Value::Float(number));
    }
    if let Ok(letter) = from.as_char() {
        return Ok(Value::from(letter.to_string()));
    }
    if let Some(pointer) = from.read_lock::<FnPtr>() {
        return match origin {
            Some((context, execution)) => {
                Ok(Value::Function(Arc::new(ScriptClosure::new(context, &pointer, execution))))
            }
            None => Err(Diagnostic::new(Code::SCRIPT, "a function cannot leave its script")
                .help("return its result, not the function itself")),
        };
    }
    if from.type_name().contains("ToolNamespace") {
        return Err(Diagnostic::new(Code::SCRIPT, "`tools` is not a value").help("call a tool: `tools.name(#{ … })`"));
    }
    let message = format!("{} cannot be used here", with_article(kind_of_type(from.type_name())));
    Err(Diagnostic::new(Code::ARGUMENTS, message).help("a range can only be used in `for`"))
}

/// Converts a value to a rhai value. If the running call is over, the rest becomes `()`: see [`guard::is_over`].
pub(super) fn from_value(value: Value) -> Dynamic {
    if guard::is_over(ITEM + value.as_text().map_or(0, str::len)) {
        return Dynamic::UNIT;
    }
    match value {
        Value::Null => Dynamic::UNIT,
        Value::Function(function) => match (&*function as &dyn Any).downcast_ref::<ScriptClosure>() {
            Some(closure) => closure.pointer().into(),
            None => Dynamic::UNIT,
        },
        Value::Bool(flag) => flag.into(),
        Value::Integer(number) => number.into(),
        Value::Float(number) => number.into(),
        Value::Text(text) => ImmutableString::from(&*text).into(),
        Value::List(items) => Dynamic::from_array(items.into_iter().map(from_value).collect::<Array>()),
        Value::Map(map) => {
            Dynamic::from_map(map.into_iter().map(|(key, value)| ((&*key).into(), from_value(value))).collect())
        }
        Value::Handle(handle) => Dynamic::from(HandleBox(handle)),
    }
}

/// Converts an error of a primitive to the error that rhai throws. An error raised by a guard cannot be caught.
pub(super) fn raise(error: Box<Diagnostic>, context: &NativeCallContext<'_>) -> Box<EvalAltResult> {
    raise_at(error, context.call_source(), context.call_position())
}

/// Converts an error as [`raise`] does, for a call at a position in a script.
pub(super) fn raise_at(error: Box<Diagnostic>, source: Option<&str>, position: Position) -> Box<EvalAltResult> {
    if guard::current().is_some_and(|guard| guard.verdict().is_some()) {
        return EvalAltResult::ErrorTerminated(Dynamic::UNIT, position).into();
    }
    let error = match (&error.at, current()) {
        (None, Ok(execution)) => match execution.program.place(source.unwrap_or_default(), position) {
            Some(place) => error.at(place),
            None => error,
        },
        _ => error,
    };
    let Value::Handle(handle) = CaughtError::value(error) else { unreachable!("an error is a handle") };
    EvalAltResult::ErrorRuntime(Dynamic::from(HandleBox(handle)), position).into()
}

/// The name of a rhai type for messages.
pub(super) fn kind_of_type(name: &str) -> &str {
    match name {
        "i64" | "INT" => "integer",
        "f64" | "FLOAT" => "float",
        "array" | "Array" => "array",
        "Map" => "map",
        "Fn" | "FnPtr" => "function",
        "char" | "string" | "ImmutableString" | "&str | ImmutableString | String" => "string",
        "blob" | "Blob" => "bytes",
        name if name.contains("HandleBox") => "handle",
        name if name.contains("ToolNamespace") => "namespace of tools",
        name if name.contains("Range") || name.starts_with("range") => "range",
        name => name,
    }
}
