//! `scan`: files to fragments.

use crate::diagnostic::Result;
use crate::graph::Builder;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "scan",
    family: Family::Graph,
    summary: "Calls `function(f, doc, args)` for each file, in parallel, unless neither the file nor the scripts nor `args` changed; afterwards what they added can be read. The function reads nothing else; its faults become `faults` of the graph.",
    params: &[
        required("g", &[Kind::Builder], "The builder that `build` got."),
        required("files", &[Kind::Text, Kind::List], "The paths, in the order in which their nodes shall stand."),
        required("function", &[Kind::Text], "The name of the function."),
        optional(
            "args",
            &[Kind::Any],
            "What the function gets besides; `any_bytes: true` lets files that are no UTF-8 through, with `()` as the document.",
        ),
    ],
    returns: Kind::Null,
    effect: Effect::Reads,
    examples: &[Example::fails(
        r##"new_graph().scan(["a.md"], "read_file")"##,
        r##"only the graph of `build` scans files"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    if let Some(builder) = args.object::<Builder>("g") {
        builder.scan(&args.texts("files")?, args.text("function"), args.value("args"))?;
    }
    Ok(Value::Null)
}
