//! `xml_attribute`: an attribute of an element.

use crate::diagnostic::Result;
use crate::parse::Xml;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "xml_attribute",
    family: Family::Parse,
    summary: "The value of the attribute `name` of `xml`, or () if it has none.",
    params: &[
        required("xml", &[Kind::Xml], "The element."),
        required("name", &[Kind::Text], "The name, without prefix."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r#"let x = parse_xml("<a n='1'/>"); [x.xml_attribute("n"), xml_attribute(x, "m")]"#,
        r#"["1", null]"#,
    )],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    Ok(args.object::<Xml>("xml").and_then(|xml| xml.attribute(args.text("name"))).into())
}
