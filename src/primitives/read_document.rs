//! `read_document`: a file as a document.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::Document;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "read_document",
    family: Family::Parse,
    summary: "Returns the file at `path` as a document, with the fields `text` and `path`. Fails with `utf8` if the file is not UTF-8.",
    params: &[required("path", &[Kind::Text], "The path of the file.")],
    returns: Kind::Document,
    effect: Effect::Reads,
    examples: &[
        Example::gives(r#"read_document("a.txt").text"#, r#""tea""#).with(&[("a.txt", "tea")]),
        Example::gives(r#"read_document("a.txt").path"#, r#""a.txt""#).with(&[("a.txt", "tea")]),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let path = args.path("path")?;
    let text = String::from_utf8(context.host.world().read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Diagnostic::new(Code::UTF8, format!("`{path}` is not valid UTF-8 at byte {at}"))
    })?;
    Ok(Value::handle(Document::new(path, text)))
}
