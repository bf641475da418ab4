//! `resource_link`: a link to a resource.

use crate::content::{Content, ContentBody};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, parameters, option};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "resource_link",
    family: Family::Content,
    summary: "Returns a link to a resource, whose contents the client can read.",
    params: &[
        option("uri", &[Kind::Text], "Its URI; required."),
        option("name", &[Kind::Text], "Its name; required."),
        option("title", &[Kind::Text], "A title for people."),
        option("description", &[Kind::Text], "A description of its contents."),
        option("mime_type", &[Kind::Text], "Its MIME type."),
        option("size", &[Kind::Integer], "Its size in bytes."),
        parameters::ANNOTATIONS,
        parameters::META,
    ],
    returns: Kind::Content,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"resource_link(#{ uri: "tea://pot", name: "pot", mime_type: "text/plain" })"##,
            r#"{ "type": "resource_link", "uri": "tea://pot", "name": "pot", "mimeType": "text/plain" }"#,
        ),
        Example::fails(r##"resource_link(#{ uri: "tea://pot" })"##, "`resource_link` needs a `uri` and a `name`"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    if args.text_or("uri").is_none() || args.text_or("name").is_none() {
        return Err(Diagnostic::new(Code::ARGUMENTS, "`resource_link` needs a `uri` and a `name`"));
    }
    let mut link = serde_json::Map::new();
    for name in ["uri", "name", "title", "description", "mime_type", "size"] {
        if let Some(value) = args.given(name) {
            let key = if name == "mime_type" { "mimeType" } else { name };
            link.insert(key.to_owned(), value.json()?);
        }
    }
    Ok(Value::handle(parameters::annotated(Content::new(ContentBody::Link(link.into())), &args)?))
}
