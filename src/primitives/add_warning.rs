//! `add_warning`: what people should know of a file, though the graph is as it should be.

use crate::diagnostic::Result;
use crate::graph::record_into;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "add_warning",
    family: Family::Graph,
    summary: "Tells people something about a file, in `toolsd://status`, by `toolsd doctor` and in the log; no result speaks of it. What makes results incomplete is a fault: `throw` in the function that scans the file.",
    params: &[
        required("f", &[Kind::Fragment, Kind::Builder], "The fragment of a file, or the builder."),
        required("message", &[Kind::Text], "What is to be known, and what to do about it."),
        optional("path", &[Kind::Text], "The file; if left out, the one that is scanned."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_warning("`b.md` has the same title: rename one", "a.md"); g.snapshot().errors"##,
        "[]",
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let path = args.given("path").and_then(Value::as_text);
    record_into(args.value("f"), |recording| {
        recording.warn(path, args.text("message"));
        Ok(Value::Null)
    })
}
