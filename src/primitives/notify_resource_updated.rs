//! `notify_resource_updated`: a notification that a resource changed.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Notice, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "notify_resource_updated",
    family: Family::Client,
    summary: "Notifies all subscribed clients that the resource `uri` changed. toolsd does this itself for resources made from files; use it for all others.",
    params: &[required("uri", &[Kind::Text], "The URI of the resource.")],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"notify_resource_updated("tea://pot")"#, "null")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    context.host.notify(Notice::Updated { uri: args.text("uri").to_owned() });
    Ok(Value::Null)
}
