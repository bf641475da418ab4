//! `new_document`: a text as a document.

use crate::diagnostic::Result;
use crate::document::Document;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "new_document",
    family: Family::Parse,
    summary: "Returns `text` as a document named `name`.",
    params: &[
        required("name", &[Kind::Text], "Its name, which errors show."),
        required("text", &[Kind::Text], "Its text."),
    ],
    returns: Kind::Document,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"new_document("a.txt", "one\ntwo").lines().len()"#, "2")],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(Document::new(args.text("name"), args.text("text"))))
}
