//! `edit_section`: a section of a Markdown text appended to, replaced or created.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::edit::{self, SectionEdit};
use crate::parse::{ParserInput, TEXT_KINDS};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "edit_section",
    family: Family::Edit,
    summary: "`text` with one section of it appended to or replaced. A section goes to the next heading of its level or above; blank lines and `---` rules at its end are no part of it; headings in code, quotes and lists are none. Line ends are kept, all else is untouched.",
    params: &[
        required("text", TEXT_KINDS, "The Markdown text, or a document: then faults name its path."),
        required(
            "heading",
            &[Kind::Text],
            "The title without markup; with `#` in front the level counts too. The first such heading is meant.",
        ),
        option(
            "append",
            &[Kind::Text],
            "Lines that come behind the last one; begin with a line break for a blank line.",
        ),
        option("replace", &[Kind::Text], "Lines that take the place of all lines of the section."),
        option(
            "create",
            &[Kind::Bool],
            "Whether a section that is not there is made at the end; at level 2 unless `heading` says another.",
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
