//! Words of earlier versions that authors of packs may still write, and their names now. One table serves the messages of
//! `check`, the faults at run time and `docs/renamed.md`.

/// A word and its name now.
pub struct RenamedWord {
    /// The word of earlier versions.
    pub old: &'static str,
    /// Its name now.
    pub new: &'static str,
}

const fn renamed(old: &'static str, new: &'static str) -> RenamedWord {
    RenamedWord { old, new }
}

/// Primitives, sorted by their old names.
pub const RENAMED_PRIMITIVES: &[RenamedWord] = &[
    renamed("add_once", "add_if_absent"),
    renamed("among", "by_ids"),
    renamed("any_of", "where_any"),
    renamed("broken", "broken_edges"),
    renamed("changed", "with_changes"),
    renamed("changes", "pending_changes"),
    renamed("collapse", "collapse_whitespace"),
    renamed("compact", "drop_nulls"),
    renamed("derive", "derive_fields"),
    renamed("document_of", "document_from_text"),
    renamed("env_all", "env_with_prefix"),
    renamed("fill", "fill_placeholders"),
    renamed("finish", "freeze"),
    renamed("ink", "visible_len"),
    renamed("joined", "join_lines"),
    renamed("locate", "find_quote"),
    renamed("merge_into", "upsert"),
    renamed("nearest", "closest_match"),
    renamed("no_spans", "empty_spans"),
    renamed("order", "topological_order"),
    renamed("outline", "outline_code"),
    renamed("place", "move_node"),
    renamed("recall", "memory_get"),
    renamed("refer", "add_edge"),
    renamed("reject", "protocol_error"),
    renamed("remember", "memory_set"),
    renamed("remembered", "memory_entries"),
    renamed("retarget", "set_target"),
    renamed("spans_without", "spans_difference"),
    renamed("step", "neighbors"),
    renamed("text_of", "decode_utf8"),
    renamed("then", "union"),
    renamed("tokens_in", "placeholders"),
    renamed("unlink", "remove_edges"),
    renamed("within", "intersect"),
    renamed("without", "difference"),
];

/// Keys of definitions, sorted by their old names. A name with a dot is a key of a table.
pub const RENAMED_KEYS: &[RenamedWord] = &[
    renamed("asks", "expect.questions"),
    renamed("contains", "expect.contains"),
    renamed("fails", "expect.error"),
    renamed("gives", "expect.result"),
    renamed("leaves", "expect.files"),
    renamed("matches", "expect.matches"),
    renamed("notified", "expect.notifications"),
    renamed("on", "operations"),
    renamed("ticks", "steps"),
    renamed("when", "activate_if"),
    renamed("with", "bind"),
];

/// Codes of faults, as `error.kind` gives them.
pub const RENAMED_CODES: &[RenamedWord] = &[renamed("reject", "protocol_error")];

/// The help line for a call of a primitive by its old name.
//= docs/spec.md#scripts
//# A call of an unknown or renamed function MUST fail with the nearest or the current name.
pub fn renamed_primitive(name: &str) -> Option<String> {
    RENAMED_PRIMITIVES.iter().find(|word| word.old == name).map(|word| called_now(name, word.new))
}

/// The help line for a key by its old name, also as `KEY_json`, in a table that has its name now.
pub fn renamed_key(key: &str, table_has: impl Fn(&str) -> bool) -> Option<String> {
    let (old, suffix) = key.strip_suffix("_json").map_or((key, ""), |base| (base, "_json"));
    let word = RENAMED_KEYS.iter().find(|word| word.old == old)?;
    let (first, _) = word.new.split_once('.').unwrap_or((word.new, ""));
    table_has(first).then(|| called_now(key, &format!("{}{suffix}", word.new)))
}

fn called_now(old: &str, new: &str) -> String {
    format!("`{old}` is called `{new}` now")
}
