//! `scan_files`: files to fragments.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Builder;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "scan_files",
    family: Family::Graph,
    summary: "Calls `function(f, doc, args)` for each file, in parallel, unless neither the file nor the scripts nor `args` changed; afterwards what they added can be read. The function reads nothing else; its faults become `faults` of the graph.",
    params: &[
        required("g", &[Kind::Builder], "The builder that `build` got."),
        required(
            "files",
            &[Kind::Text, Kind::List],
            "The paths, in the order in which their nodes shall stand; or `#{ path, args }` of each, for `args` of its own.",
        ),
        required("function", &[Kind::Text], "The name of the function."),
        optional(
            "args",
            &[Kind::Any],
            "What the function gets besides; `allow_unreadable: true` lets files through that cannot be read or are no UTF-8, with `()` as the document, and `f.error` says why.",
        ),
    ],
    returns: Kind::Null,
    effect: Effect::Reads,
    examples: &[Example::fails(
        r##"new_graph().scan_files(["a.md"], "read_file")"##,
        r##"only the graph of `build` can scan files"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(builder) = args.object::<Builder>("g") else { return Ok(Value::Null) };
    let (function, shared) = (args.text("function"), args.value("args"));
    match args.value("files") {
        Value::List(files) if files.iter().any(|file| matches!(file, Value::Map(_))) => {
            let each = files.iter().map(|file| own(file, shared)).collect::<Result<Vec<_>>>()?;
            let (paths, arguments): (Vec<String>, Vec<Value>) = each.into_iter().unzip();
            builder.scan_each(&paths, function, &arguments)?;
        }
        _ => builder.scan(&args.texts("files")?, function, shared)?,
    }
    Ok(Value::Null)
}

/// The path of a file, and what its function gets.
fn own(file: &Value, shared: &Value) -> Result<(String, Value)> {
    let (path, arguments) = match file {
        Value::Map(file) => (file.get("path").and_then(Value::as_text), file.get("args").unwrap_or(shared)),
        file => (file.as_text(), shared),
    };
    let Some(path) = path else {
        let fault = Diagnostic::new(Code::ARGUMENTS, "a file of `scan` has no `path`");
        return Err(fault.help("name it by its path, or by `#{ path, args }`"));
    };
    Ok((path.to_owned(), arguments.clone()))
}
