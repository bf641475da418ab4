//! Texts as handles for scripts: documents, runs of lines, passages joined from lines, and byte spans; and readers of
//! their contents: sections, links, sentences, marked lines.

mod ietf;
mod lines;
mod markdown;
mod markers;
mod passage;
mod section;
mod sentences;
mod spans;

pub use ietf::parse_rfc;
pub use lines::{Document, Line, Lines};
pub use markdown::{
    AnchorStyle, Link, LinkKind, MarkdownOptions, TitleStyle, check_markdown_limits, find_links, parse_markdown,
    push_visible_text, strip_markdown,
};
pub use markers::{MarkedLine, MarkerBlock, marker_blocks};
pub use passage::{LocatedQuote, Passage, QuoteTolerance};
pub use section::{Section, Sections};
pub use sentences::{Keywords, Sentence, keyword_sentences};
pub use spans::Spans;
