//! Icons of tools, resources, prompts, packs and the server.

use super::code;
use super::fields::Fields;
use super::grammar::{Grammar, GrammarKey, ValueShape, optional};
use crate::diagnostic::Diagnostic;
use crate::value::Json;

/// The keys that a tool, a resource, a prompt and a pack share for their icons.
pub static ICON: Grammar = Grammar {
    name: "icons",
    doc: "A picture for people.",
    keys: &[
        optional("src", ValueShape::Text, "An `https:` or `data:` URI."),
        optional("file", ValueShape::Text, "A file of the pack, from the root; it is sent as a `data:` URI."),
        optional("mime_type", ValueShape::Text, "Its MIME type."),
        optional("sizes", ValueShape::Texts, "Its sizes, such as `48x48` or `any`."),
        optional("theme", ValueShape::OneOf(&["light", "dark"]), "The background it is made for."),
    ],
};

/// The icons of a definition.
pub const ICONS: GrammarKey = optional("icons", ValueShape::Tables(&ICON), "Icons for people.");

/// Reads icons into the form of the protocol. One with `file` keeps that key: the registry replaces it by the content.
pub(super) fn read_icons(fields: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> Vec<Json> {
    let mut icons = Vec::new();
    for icon in fields.tables("icons", diagnostics) {
        let diagnostic = match icon.one_of(&["src", "file"], "an icon", diagnostics) {
            None => {
                let diagnostic = Diagnostic::new(code::MISSING_KEY, "an icon has neither `src` nor `file`");
                Some(diagnostic.at(icon.header.clone()))
            }
            Some("src") => {
                let src = icon.required("src");
                let allowed = src.value.starts_with("https:") || src.value.starts_with("data:");
                let diagnostic = || Diagnostic::new(code::WRONG_VALUE, format!("an icon cannot be at `{}`", src.value));
                (!allowed).then(|| diagnostic().at(src.at.clone()))
            }
            Some(_) => None,
        };
        diagnostics.extend(
            diagnostic
                .map(|diagnostic| *diagnostic.help("`src` is an `https:` or `data:` URI, `file` a file of the pack")),
        );
        let keys =
            [("src", "src"), ("file", "file"), ("mime_type", "mimeType"), ("sizes", "sizes"), ("theme", "theme")];
        let pairs = keys.iter().filter_map(|(key, name)| Some(((*name).to_owned(), icon.json(key)?)));
        icons.push(Json::Object(pairs.collect()));
    }
    icons
}
