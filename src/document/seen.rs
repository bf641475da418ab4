//! What a reader sees of inline Markdown: its words, without its marks.

use pulldown_cmark::Event;

/// Adds what a reader sees of an event: texts, code, what an image shows where it cannot be seen; a line end is a
/// blank. Marks of emphasis, destinations of links and HTML are not seen.
pub fn add_seen(text: &mut String, event: &Event<'_>) {
    match event {
        Event::Text(part) | Event::Code(part) => text.push_str(part),
        Event::SoftBreak | Event::HardBreak => text.push(' '),
        _ => {}
    }
}
