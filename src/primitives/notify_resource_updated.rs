//! `notify_resource_updated`: a resource holds something else now.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Notice, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "notify_resource_updated",
    family: Family::Client,
    summary: "Tells every client that subscribed to it that the resource `uri` changed. The host does so by itself for what is made of files; this is for anything else.",
    params: &[required("uri", &[Kind::Text], "The resource.")],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"notify_resource_updated("tea://pot")"#, "null")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    context.host.notify(Notice::Updated { uri: args.text("uri").to_owned() });
    Ok(Value::Null)
}
