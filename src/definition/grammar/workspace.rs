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
        optional(
            "http",
            Shape::Table(&HTTP),
            "What connections over HTTP may use. Not used before the file is trusted.",
        ),
    ],
};

/// A number of connections, or of megabytes.
const COUNT: Shape = Shape::IntegerWithin(1, 65_536);

/// Milliseconds, up to a day.
const TIME: Shape = Shape::IntegerWithin(1, 86_400_000);

/// `[http]`.
static HTTP: Grammar = Grammar {
    name: "[http]",
    doc: "What connections over HTTP may use; read from a trusted file, and again at SIGHUP.",
    keys: &[
        optional("unproven", COUNT, "Connections that have not shown the token yet; 256 if it is left out."),
        optional("unproven_per_address", COUNT, "Of these, connections from one address; 64 if it is left out."),
        optional("unproven_ms", TIME, "How long a connection may take to show the token; 5,000 if it is left out."),
        optional(
            "connections",
            COUNT,
            "Connections that have shown the token; without a token, all; 1,024 if it is left out.",
        ),
        optional("head_ms", TIME, "How long the head of a request may take; 10,000 if it is left out."),
        optional("body_ms", TIME, "How long the body of a request may take; 60,000 if it is left out."),
        optional("body_pause_ms", TIME, "How long a body may pause; 10,000 if it is left out."),
        optional(
            "write_ms",
            TIME,
            "How long a client may take nothing of what is sent to it; 20,000 if it is left out.",
        ),
        optional("idle_ms", TIME, "How long a connection may be silent between requests; 75,000 if it is left out."),
        optional(
            "pending_mb",
            COUNT,
            "Bodies that are arriving and answers that clients have not taken, all together, in MB; 256 if it is left out.",
        ),
        optional("sessions", COUNT, "Sessions of clients of the revisions that have them; 1,000 if it is left out."),
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
