//! `add_warning`: a warning about a file, for people.

use crate::diagnostic::Result;
use crate::graph::record_into;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "add_warning",
    family: Family::Graph,
    summary: "Adds a warning about a file, which appears in `toolsd://status`, in `toolsd doctor` and in the log, but not in results. If results are incomplete without the file, `throw` an error in the function that scans it instead.",
    params: &[
        required("f", &[Kind::Fragment, Kind::Builder], "The fragment of a file, or the builder."),
        required("message", &[Kind::Text], "The problem, and how to fix it."),
        optional("path", &[Kind::Text], "The file (default: the file that is being scanned)."),
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
