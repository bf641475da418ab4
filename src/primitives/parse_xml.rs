//! `parse_xml`: an XML text as a tree of elements.

use crate::diagnostic::Result;
use crate::parse::{ParserInput, TEXT_KINDS, Xml};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_xml",
    family: Family::Parse,
    summary: "Parses XML and returns its root element. An element has `name`, `text` (of itself and all descendants), `line` and `attributes`, with names without prefix; its items are its child elements. Fails with `parse.xml` if the text is not well-formed, or declares entities or attributes.",
    params: &[required("text", TEXT_KINDS, "The text, or a document, whose path appears in errors.")],
    returns: Kind::Xml,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"let x = parse_xml("<a n='1'>\n<b>x</b><b/></a>"); [x.name, x.attributes.n, x.len(), x[0].text, x[0].line]"#,
            r#"["a", "1", 2, "x", 2]"#,
        ),
        Example::fails(r#"parse_xml("<a><b></a>")"#, "expected 'b' tag, not 'a'"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    Xml::parse(&ParserInput::from_value(args.value("text")))
}
