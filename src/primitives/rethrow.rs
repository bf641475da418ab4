//! `rethrow`: a caught error, thrown again as it was.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{CaughtError, Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "rethrow",
    family: Family::Outcome,
    summary: "Throws a caught `error` again, with its kind, code, data and location.",
    params: &[required(
        "error",
        &[Kind::Error, Kind::Map, Kind::Text],
        "The error from `catch (error)` or `on_error`.",
    )],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::fails(r##"try { fail("the pot is empty"); } catch (error) { error.rethrow(); }"##, "the pot is empty"),
        Example::gives(
            r##"try { try { not_found("no pot"); } catch (inner) { inner.rethrow(); } } catch (error) { return error.kind; }"##,
            r#""not-found""#,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    Err(CaughtError::from_thrown(args.value("error")))
}
