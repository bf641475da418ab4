//! `call_tool`: the result of another tool.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required, tools_of};
use crate::value::{Kind, Map, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "call_tool",
    family: Family::Run,
    summary: "Returns the result of a served tool, of this pack or another one, by its public name: its data, otherwise its text. The tool may at most read, whatever the effect of the caller, because what it changed would stay if the caller failed; its own grants and limits count. A failure is thrown, with the name in `tool`. For functions of the same pack, call these themselves.",
    params: &[
        required("name", &[Kind::Text], "The public name of the tool."),
        optional("arguments", &[Kind::Map], "Its arguments."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[Example::fails(r##"call_tool("get_tea", #{ id: 1 })"##, "no tools can be called here")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let arguments = args.given("arguments").cloned().unwrap_or_else(|| Value::Map(Map::default()));
    tools_of(context.host)?.call(args.text("name"), arguments)
}
