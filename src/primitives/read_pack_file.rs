//! `read_pack_file`: an asset of the pack.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "read_pack_file",
    family: Family::Files,
    summary: "Returns a file of the pack, or its replacement in a higher layer, as `#{ text, path, origin }`. `path` is relative to the root of the layer; `origin` is `embedded`, `user`, `workspace`, or a folder.",
    params: &[required("path", &[Kind::Text], "The full path, relative to the root of the layer.")],
    returns: Kind::Map,
    effect: Effect::Reads,
    examples: &[Example::gives(r#"read_pack_file("templates/tea/pot.hbs").path"#, r#""templates/tea/pot.hbs""#)],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let file = context.host.read_pack_file(args.path("path")?)?;
    Ok(Value::map(
        [("text", file.text), ("path", file.path), ("origin", file.origin)].map(|(key, text)| (key, text.into())),
    ))
}
