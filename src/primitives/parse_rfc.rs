//! `parse_rfc`: a plain text of the IETF in sections.

use crate::diagnostic::Result;
use crate::document::{Document, parse_rfc};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_rfc",
    family: Family::Parse,
    summary: "Returns an RFC or Internet-Draft as plain text in sections: `#{ title, abstract, sections: [#{ id, title, level, line, lines }] }`. Ids are `section-1.2`, `appendix-A.1`, and `name-abstract` for headings without a number; a section with a repeated id replaces the earlier one. Page headers and footers are removed, and a run of blank lines becomes one empty line. The `title` is that of the first page, the `abstract` the first paragraph of the section of that name; `()` if there is none.",
    params: &[required("document", &[Kind::Document, Kind::Text], "The text.")],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"parse_rfc("\n      How to Brew\n\nAbstract\n\n   Tea.\n\n1.  Pots\n\n   A pot.\n\nDoe          [Page 1]\n\x0c\nRFC 9  Tea\n\n   A lid.\nA.1.  More").sections.map(|s| s.id)"#,
            r#"["name-abstract", "section-1", "appendix-A.1"]"#,
        ),
        Example::gives(
            r#"let t = parse_rfc("\n      How to\n       Brew\n\nAbstract\n\n   Hot\n   tea.\n\n1.  Pots\n"); [t.title, t.abstract]"#,
            r#"["How to Brew", "Hot tea."]"#,
        ),
        Example::gives(
            r#"parse_rfc("1.  Pots\n\n   A pot.\n\n\n   A lid.\n\n").sections[0].lines"#,
            r#"["   A pot.", "", "   A lid."]"#,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(parse_rfc(&Document::from_value(args.value("document")))?.into_value())
}
