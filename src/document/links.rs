//! The links of a CommonMark text, and a text without its markup.

use super::{Document, add_seen, refuse_unbounded};
use crate::diagnostic::Result;
use crate::guard::{self, ITEM, PIECE_BYTES};
use pulldown_cmark::{BrokenLink, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// How a link is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// `[text](destination)`
    Inline,
    /// `[text][name]`, `[name][]` or `[name]`, with a definition elsewhere.
    Reference,
    /// `<https://…>`
    Autolink,
    /// `![text](destination)`, or by reference.
    Image,
}

impl LinkKind {
    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inline => "inline",
            Self::Reference => "reference",
            Self::Autolink => "autolink",
            Self::Image => "image",
        }
    }
}

/// A link of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// How it is written.
    pub kind: LinkKind,
    /// Its words without markup.
    pub text: String,
    /// Where it leads, as it is written, escapes resolved.
    pub destination: String,
    /// Its bytes in the document.
    pub span: Range<usize>,
}

/// The links and images of `document`, by CommonMark 0.31, in the order in which they begin. Those in code are none;
/// a reference without a definition is none either.
pub fn links(document: &Document) -> Result<Vec<Link>> {
    let mut links: Vec<Link> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    refuse_unbounded(document.text())?;
    for (event, span) in Parser::new_ext(document.text(), Options::empty()).into_offset_iter() {
        guard::spend((open.len() + 1) * (ITEM + span.len().min(PIECE_BYTES)))?;
        match event {
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                open.push(links.len());
                links.push(Link {
                    kind: kind_of(link_type),
                    text: String::new(),
                    destination: dest_url.into_string(),
                    span,
                });
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                open.push(links.len());
                links.push(Link {
                    kind: LinkKind::Image,
                    text: String::new(),
                    destination: dest_url.into_string(),
                    span,
                });
            }
            Event::End(TagEnd::Link | TagEnd::Image) => drop(open.pop()),
            event => open.iter().for_each(|at| add_seen(&mut links[*at].text, &event)),
        }
    }
    Ok(links)
}

/// `markdown`, some inline text, without its markup: what a reader sees. Links give their text, also by a reference
/// whose definition is elsewhere.
pub fn plain_text(markdown: &str) -> Result<String> {
    refuse_unbounded(markdown)?;
    let mut text = String::with_capacity(markdown.len());
    let mut anywhere = |_: BrokenLink<'_>| Some((CowStr::from(""), CowStr::from("")));
    let events = Parser::new_with_broken_link_callback(markdown, Options::empty(), Some(&mut anywhere));
    for event in events {
        guard::spend(4 * ITEM)?;
        // Words of two blocks do not become one.
        if let Event::Start(tag) = &event
            && is_block(tag)
            && !text.is_empty()
            && !text.ends_with('\n')
        {
            text.push('\n');
        }
        add_seen(&mut text, &event);
    }
    Ok(text)
}

fn is_block(tag: &Tag<'_>) -> bool {
    !matches!(
        tag,
        Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
    )
}

fn kind_of(written: LinkType) -> LinkKind {
    match written {
        LinkType::Autolink | LinkType::Email => LinkKind::Autolink,
        LinkType::Inline => LinkKind::Inline,
        _ => LinkKind::Reference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str) -> Vec<(&'static str, String, String)> {
        let links = links(&Document::new("a.md", text)).unwrap();
        links.into_iter().map(|link| (link.kind.name(), link.text, link.destination)).collect()
    }

    #[test]
    fn links_are_found_as_commonmark_reads_them() {
        let text = "[a *b*](x.md#y) ![i](p.png) <https://e.com> `[c](d)` [n][] [gone][q]\n\n[n]: <z z.md>\n";
        let wanted = [
            ("inline", "a b", "x.md#y"),
            ("image", "i", "p.png"),
            ("autolink", "https://e.com", "https://e.com"),
            ("reference", "n", "z z.md"),
        ];
        assert_eq!(found(text), wanted.map(|(kind, text, to)| (kind, text.to_owned(), to.to_owned())));
        assert_eq!(found("```\n[a](b)\n```\n    [c](d)\n"), []);
    }

    #[test]
    fn markup_goes_and_words_stay() {
        assert_eq!(
            plain_text("Entity: `Thing` **bold** [link](https://e.com) [x][y]").unwrap(),
            "Entity: Thing bold link x"
        );
        assert_eq!(plain_text("").unwrap(), "");
        assert_eq!(plain_text("# A *b*\n\n- c\n- d\n\n> e\n\n```\nf\n```\ng").unwrap(), "A b\nc\nd\ne\nf\ng");
    }

    proptest! {
        #[test]
        fn spans_lie_within_the_text(text in "[\\[\\]()<>`!a:/\n -]{0,60}") {
            for link in links(&Document::new("a", text.clone())).unwrap() {
                prop_assert!(text.get(link.span.clone()).is_some(), "{:?}", link);
            }
        }
    }
}
