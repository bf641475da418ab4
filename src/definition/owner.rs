//! Which part of a definition file a diagnostic is about: an item, its cases, or what the whole pack uses.

use crate::diagnostic::Diagnostic;
use crate::parse::toml::TOML_SYNTAX;
use crate::source::Place;

/// The part of a definition file that a diagnostic is about.
#[derive(Debug, PartialEq, Eq)]
pub enum Owner {
    /// The tool, resource or prompt whose table begins at this location.
    Item(Place),
    /// Every item of this file, since only a part of it could be read.
    File,
    /// A case or a fixture, which does not prevent anything from being served.
    Case,
    /// The whole pack.
    Pack,
}

impl Owner {
    /// Returns the owner of `fault` among the items of its pack, which are passed as the locations of their tables.
    pub fn of<'a>(diagnostic: &Diagnostic, items: impl Iterator<Item = &'a Place>) -> Self {
        let Some(at) = &diagnostic.at else { return Self::Pack };
        if diagnostic.code == TOML_SYNTAX {
            return Self::File;
        }
        let is_before = |item: &&Place| item.source.path == at.source.path && item.span.start <= at.span.start;
        match items.filter(is_before).max_by_key(|item| item.span.start) {
            Some(item) => within(item, at),
            None => Self::Pack,
        }
    }
}

/// Decides which table owns a location after an item's header: a header in between means another table.
fn within(item: &Place, at: &Place) -> Owner {
    let text = &at.source.text;
    let first = text[..item.span.start].rfind('\n').map_or(0, |at| at + 1);
    if !text[first..].starts_with("[[") {
        return Owner::Pack;
    }
    let end = text[at.span.start..].find('\n').map_or(text.len(), |end| at.span.start + end);
    let headers = text[first..end].lines().filter_map(|line| {
        let inner = line.trim_start().strip_prefix('[')?.trim_start_matches('[').trim_start();
        let name: String =
            inner.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
        Some(name)
    });
    let mut headers = headers.filter(|name| !name.is_empty());
    let own = headers.next().unwrap_or_default();
    match headers.rfind(|name| *name != own).as_deref() {
        None => Owner::Item(item.clone()),
        Some("case" | "fixture") => Owner::Case,
        Some(_) => Owner::Pack,
    }
}
