//! `parse_markdown`: a CommonMark text in sections.

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::document::{AnchorStyle, Document, MarkdownOptions, TitleStyle, parse_markdown};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_markdown",
    family: Family::Parse,
    summary: "Returns a CommonMark text in sections, as `#{ title, abstract, sections: [#{ id, title, level, line, lines }] }`. A heading of any level begins a section, which ends at the next heading. The `title` of a section is its whole heading as a reader sees it (code and emphasis without marks, links and images by their text, character references as characters, no HTML; what is not CommonMark stays as written). Its `lines` are the source lines without blank ones at both ends. The `title` of the text is its first heading of level 1, and its `abstract` is the first paragraph after that; `()` if there is none.",
    params: &[
        required("document", &[Kind::Document, Kind::Text], "The text."),
        option(
            "slug",
            &[Kind::Text],
            "How a title becomes an id: `ascii` (default) like `slug`, or `github` as GitHub links headings. Repeated ids get `-1`, `-2`, ….",
        ),
        option(
            "title",
            &[Kind::Text],
            "The form of titles: `plain` (default), or `source`, the source from the heading's first text on, from which other programs may derive addresses.",
        ),
        option(
            "attributes",
            &[Kind::Bool],
            "Whether `{#id}` at the end of a heading is its id and not part of its title (default: `false`).",
        ),
    ],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"parse_markdown("# Tea\n\nHot\nwater.\n\n## 1.1 Pot & Lid\n\n- big\n").sections.map(|s| s.id)"##,
            r#"["tea", "1-1-pot-lid"]"#,
        ),
        Example::gives(r##"parse_markdown("# Tea\n\nHot\nwater.").abstract"##, r#""Hot water.""#),
        Example::gives(
            r###"parse_markdown("## A {#b}\n\nx\n\ny", #{ attributes: true }).sections[0]"###,
            r##"{"id": "b", "level": 2, "line": 1, "lines": ["x", "", "y"], "title": "A"}"##,
        ),
        Example::gives(r##"parse_markdown("# `serve` & *stop*").title"##, r#""serve & stop""#),
        Example::fails(r##"parse_markdown("", #{ slug: "gitlab" })"##, "has no slug `gitlab`"),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let anchor = chosen(&args, "slug", [("ascii", AnchorStyle::Ascii), ("github", AnchorStyle::Github)])?;
    let title = chosen(&args, "title", [("plain", TitleStyle::Plain), ("source", TitleStyle::Source)])?;
    let how = MarkdownOptions { anchor, title, attributes: args.flag("attributes") };
    Ok(parse_markdown(&Document::from_value(args.value("document")), how)?.into_value())
}

/// Returns the choice that a string option names; the first by default.
fn chosen<T: Copy>(args: &Args, option: &str, [first, second]: [(&str, T); 2]) -> Result<T> {
    match args.text_or(option) {
        None => Ok(first.1),
        Some(word) if word == first.0 => Ok(first.1),
        Some(word) if word == second.0 => Ok(second.1),
        Some(other) => {
            let error = Diagnostic::new(Code::ARGUMENTS, format!("`parse_markdown` has no {option} `{other}`"));
            let known = || format!("`{option}` is `{}` or `{}`", first.0, second.0);
            Err(error.help(did_you_mean(other, [first.0, second.0]).unwrap_or_else(known)))
        }
    }
}
