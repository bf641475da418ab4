//! The keys of `toolsd.toml`.

use super::{Grammar, ICON, LIMITS, Shape, optional};

/// `toolsd.toml`.
pub static WORKSPACE: Grammar = Grammar {
    name: "toolsd.toml",
    doc: "What a workspace says about the packs that serve it. Until `toolsd trust` has shown it to a person, only `packs` and `limits` count, and these not in full.",
    keys: &[
        optional(
            "serve",
            Shape::Texts,
            "The packs that serve, exactly these; left out = those whose `when` fits. Not used before the file is trusted.",
        ),
        optional(
            "packs",
            Shape::Named,
            "The configuration of each pack: `[packs.NAME]`, checked by the pack's schema. Paths (`format = \"path\"`) are not used before the file is trusted.",
        ),
        optional(
            "prefixes",
            Shape::TextMap,
            "What is put before the names of a pack's tools, resources and prompts. Not used before the file is trusted.",
        ),
        optional(
            "roots",
            Shape::Texts,
            "Further folders that packs may be granted. Not used before the file is trusted.",
        ),
        optional(
            "limits",
            Shape::Table(&LIMITS),
            "The limits of every call. Before the file is trusted they only lower what holds without it.",
        ),
        optional(
            "server",
            Shape::Table(&SERVER),
            "What the server says of itself. Not used before the file is trusted.",
        ),
    ],
};

/// `[server]`.
static SERVER: Grammar = Grammar {
    name: "[server]",
    doc: "What the server says of itself.",
    keys: &[
        optional("name", Shape::Text, "Its name; `toolsd` if it is left out."),
        optional("title", Shape::Text, "A title for people; the pack's if one serves."),
        optional("website_url", Shape::Text, "Where to read about it."),
        optional("icons", Shape::Tables(&ICON), "Icons for people."),
        optional("page_size", Shape::Integer(1), "How many entries a page of a list has; left out = all."),
        optional("lists_ttl_ms", Shape::Integer(0), "For how long a client may keep the lists, in milliseconds."),
    ],
};
