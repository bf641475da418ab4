//! `edit_section`: a section of a Markdown text appended to, replaced or created.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::edit::{self, SectionEdit};
use crate::parse::{ParserInput, TEXT_KINDS};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "edit_section",
    family: Family::Edit,
    summary: "Returns `text` with one section extended or replaced. A section ends before the next heading of its level or above, without blank lines and `---` rules at its end; headings in code, quotes and lists do not count. Line endings and all other text are kept. Fails if the section does not exist, unless `create` is set.",
    params: &[
        required("text", TEXT_KINDS, "The Markdown text, or a document, whose path appears in errors."),
        required(
            "heading",
            &[Kind::Text],
            "The title without markup; with leading `#` the level must match, too. The first such heading is used.",
        ),
        option("append", &[Kind::Text], "Lines to add after the last one; begin with a line break for a blank line."),
        option("replace", &[Kind::Text], "Lines that replace all lines of the section."),
        option(
            "create",
            &[Kind::Bool],
            "Whether to create a missing section at the end, at level 2 unless `heading` has a level.",
        ),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r###"edit_section("# Tea\n\n## Log\n- boiled\n\n---\n\n## Notes\n", "Log", #{ append: "- poured" })"###,
            r###""# Tea\n\n## Log\n- boiled\n- poured\n\n---\n\n## Notes\n""###,
        ),
        Example::gives(
            r###"edit_section("## Log\n\n- boiled\n", "## Log", #{ replace: "Nothing." })"###,
            r###""## Log\n\nNothing.\n""###,
        ),
        Example::gives(
            r###"edit_section("# Tea\n", "Log", #{ append: "- boiled", create: true })"###,
            r###""# Tea\n\n## Log\n\n- boiled\n""###,
        ),
        Example::fails(r###"edit_section("## Log\n", "Lag", #{ append: "x" })"###, "the text has no section `Lag`"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let edit = match (args.text_or("append"), args.text_or("replace")) {
        (Some(text), None) => SectionEdit::Append(text),
        (None, Some(text)) => SectionEdit::Replace(text),
        _ => {
            return Err(Diagnostic::new(Code::ARGUMENTS, "`edit_section` takes either `append` or `replace`")
                .help("for both, call it twice"));
        }
    };
    let value = args.value("text");
    let edited = edit::edit_section(&ParserInput::from_value(value), args.text("heading"), edit, args.flag("create"))?;
    Ok(edit::with_byte_order_mark_of(value, edited).into())
}
