//! `data`: a table of the pack.

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "data",
    family: Family::Host,
    summary: "Returns a table of `[data]` of the pack.",
    params: &[required("name", &[Kind::Text], "The name of the table.")],
    returns: Kind::Any,
    effect: Effect::Reads,
    examples: &[
        Example::gives(r#"data("table").a[1]"#, r#"2"#),
        Example::fails(r#"data("tabel")"#, r#"there is no table `tabel`"#),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let name = args.text("name");
    context.host.data(name).ok_or_else(|| {
        let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no table `{name}` in `[data]`"));
        let names = context.host.data_names();
        match did_you_mean(name, names.iter().map(String::as_str)) {
            Some(help) => error.help(help),
            None => error,
        }
    })
}
