//! `scan_files`: fragments of the graph from files.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Builder;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "scan_files",
    family: Family::Graph,
    summary: "Calls `function(f, doc, args)` for each file, in parallel, unless the file, the scripts and `args` are unchanged. Afterwards the graph contains what the calls added. The function can read nothing else; its errors become `errors` of the graph.",
    params: &[
        required("g", &[Kind::Builder], "The builder that `build` received."),
        required(
            "files",
            &[Kind::Text, Kind::List],
            "The paths, in the order of their nodes; or `#{ path, args }` for a path with its own `args`.",
        ),
        required("function", &[Kind::Text], "The name of the function."),
        optional(
            "args",
            &[Kind::Any],
            "Further arguments of the function. `allow_unreadable: true` includes files that cannot be read or are not UTF-8: their document is `()`, and `f.error` has the reason.",
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
        _ => builder.scan_files(&args.texts("files")?, function, shared)?,
    }
    Ok(Value::Null)
}

/// The path of a file, and the arguments of its function.
fn own(file: &Value, shared: &Value) -> Result<(String, Value)> {
    let (path, arguments) = match file {
        Value::Map(file) => (file.get("path").and_then(Value::as_text), file.get("args").unwrap_or(shared)),
        file => (file.as_text(), shared),
    };
    let Some(path) = path else {
        let error = Diagnostic::new(Code::ARGUMENTS, "a file of `scan_files` has no `path`");
        return Err(error.help("pass its path, or `#{ path, args }`"));
    };
    Ok((path.to_owned(), arguments.clone()))
}
