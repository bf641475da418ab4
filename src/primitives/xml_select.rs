//! `xml_select`: the XML elements at a path.

use crate::diagnostic::Result;
use crate::parse::Xml;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "xml_select",
    family: Family::Parse,
    summary: "Returns the descendants of `xml` that `path` selects, in document order.",
    params: &[
        required("xml", &[Kind::Xml], "The element to start from."),
        required(
            "path",
            &[Kind::Text],
            "Names separated by `/`; `*` matches any element, `**` any number of elements, including none.",
        ),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"parse_xml("<a><b><c/></b><c n='1'/></a>").xml_select("**/c").map(|c| c.attributes)"#,
            r#"[{}, {"n": "1"}]"#,
        ),
        Example::gives(r#"parse_xml("<a><b><c/></b><c/></a>").xml_select("b/c").len()"#, "1"),
        Example::fails(r#"parse_xml("<a/>").xml_select("/a")"#, "it has an empty step"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let xml = args.object::<Xml>("xml");
    xml.map_or_else(|| Ok(Vec::new()), |xml| xml.select(args.path("path")?)).map(Value::List)
}
