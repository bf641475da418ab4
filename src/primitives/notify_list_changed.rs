//! `notify_list_changed`: a notification that a list changed.

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::primitive_api::{Args, Context, Effect, Example, Family, ListKind, Notice, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "notify_list_changed",
    family: Family::Client,
    summary: "Notifies all subscribed clients that a list changed. toolsd does this itself when definitions change; use it for lists that a script computes.",
    params: &[required("list", &[Kind::Text], "`tools`, `prompts` or `resources`.")],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"notify_list_changed("resources")"#, "null"),
        Example::fails(r#"notify_list_changed("resource")"#, "there is no list `resource`"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let name = args.text("list");
    let Some(list) = ListKind::ALL.into_iter().find(|list| list.name() == name) else {
        let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no list `{name}`"));
        let names = ListKind::ALL.map(ListKind::name);
        return Err(error.help(did_you_mean(name, names).unwrap_or_else(|| names.join(", "))));
    };
    context.host.notify(Notice::Changed(list));
    Ok(Value::Null)
}
