//! Words of earlier versions that authors of packs may still write, and their names now. One table serves the messages of
//! `check`, the errors at run time and `docs/renamed.md`.

/// A word and its name now.
pub struct RenamedWord {
    /// The word of earlier versions.
    pub old: &'static str,
    /// Its name now, or several: `skip and take`. One that begins with a dot is a property.
    pub new: &'static str,
}

const fn renamed(old: &'static str, new: &'static str) -> RenamedWord {
    RenamedWord { old, new }
}

/// Primitives, sorted by their old names.
pub const RENAMED_PRIMITIVES: &[RenamedWord] = &[
    renamed("absolute", "path_absolute"),
    renamed("add", "add_node"),
    renamed("add_all", "add_node"),
    renamed("add_if_absent", "add_node_if_absent"),
    renamed("add_once", "add_node_if_absent"),
    renamed("among", "by_ids"),
    renamed("any_of", "where_any"),
    renamed("audio", "audio_content"),
    renamed("blob", "blob_contents"),
    renamed("broken", "broken_edges"),
    renamed("change", "transaction"),
    renamed("changed", "with_changes"),
    renamed("changes", "pending_changes"),
    renamed("client_has", "client_supports"),
    renamed("collapse", "collapse_whitespace"),
    renamed("compact", "drop_nulls"),
    renamed("derive", "derive_fields"),
    renamed("document", "read_document"),
    renamed("document_from_text", "new_document"),
    renamed("document_of", "new_document"),
    renamed("drop_writes", "discard_writes"),
    renamed("edit_spans", "edit_chars"),
    renamed("env_all", "env_with_prefix"),
    renamed("fill", "fill_placeholders"),
    renamed("finish", "snapshot"),
    renamed("form_url", "open_url"),
    renamed("freeze", "snapshot"),
    renamed("git_stamp", "git_fingerprint"),
    renamed("image", "image_content"),
    renamed("ink", "non_whitespace_len"),
    renamed("intersect", "intersection"),
    renamed("join_lines", "to_passage"),
    renamed("joined", "to_passage"),
    renamed("locate", "find_quote"),
    renamed("memory_entries", "cache_entries"),
    renamed("memory_get", "cache_get"),
    renamed("memory_set", "cache_set"),
    renamed("merge_into", "merge_node"),
    renamed("nearest", "closest_match"),
    renamed("no_spans", "empty_spans"),
    renamed("notify_changed", "notify_list_changed"),
    renamed("notify_updated", "notify_resource_updated"),
    renamed("order", "dependency_order"),
    renamed("outline", "outline_code"),
    renamed("pack_file", "read_pack_file"),
    renamed("pad_left", "pad_start"),
    renamed("pad_right", "pad_end"),
    renamed("parse_ietf", "parse_rfc"),
    renamed("path_folder", "path_parent"),
    renamed("place", "move_node"),
    renamed("plain_text", "strip_markdown"),
    renamed("recall", "cache_get"),
    renamed("refer", "add_edge"),
    renamed("reject", "protocol_error"),
    renamed("remember", "cache_set"),
    renamed("remembered", "cache_entries"),
    renamed("rename", "rename_node"),
    renamed("replace_all", "replace_regex"),
    renamed("reply", "tool_result"),
    renamed("resource", "embedded_resource"),
    renamed("retarget", "update_edges"),
    renamed("scan", "scan_files"),
    renamed("set", "to_set, set_value and update_node"),
    renamed("set_edge", "update_edges"),
    renamed("set_target", "update_edges"),
    renamed("sleep", "sleep_ms"),
    renamed("slice", "skip and take"),
    renamed("spans_difference", "difference"),
    renamed("spans_intersect", "intersection"),
    renamed("spans_union", "union"),
    renamed("spans_without", "difference"),
    renamed("step", "neighbors"),
    renamed("task_status", "set_task_status"),
    renamed("text", "text_content"),
    renamed("text_of", "decode_utf8"),
    renamed("then", "union"),
    renamed("tokens_in", "placeholders"),
    renamed("topological_order", "dependency_order"),
    renamed("unlink", "remove_edges"),
    renamed("upsert", "merge_node"),
    renamed("visible_len", "non_whitespace_len"),
    renamed("within", "intersection"),
    renamed("without", "difference"),
    renamed("xml_attribute", ".attributes"),
];

/// Keys of definitions, sorted by their old names. A name with a dot is a key of a table.
pub const RENAMED_KEYS: &[RenamedWord] = &[
    renamed("activate_if", "activate_if_exists"),
    renamed("arguments", "argument"),
    renamed("asks", "expect.questions"),
    renamed("body_ms", "body_timeout_ms"),
    renamed("client", "client_capabilities"),
    renamed("config", "config_schema"),
    renamed("connections", "max_connections"),
    renamed("contains", "expect.text_contains"),
    renamed("contains", "text_contains"),
    renamed("depth", "call_depth"),
    renamed("every_ms", "interval_ms"),
    renamed("fails", "expect.error"),
    renamed("gives", "expect.result"),
    renamed("idle_ms", "keep_alive_timeout_ms"),
    renamed("keep", "capture"),
    renamed("leaves", "expect.files"),
    renamed("locked", "held_locks"),
    renamed("matches", "expect.result_matches"),
    renamed("matches", "result_matches"),
    renamed("notified", "expect.notifications"),
    renamed("on", "operations"),
    renamed("read", "fn"),
    renamed("requires_client", "required_capabilities"),
    renamed("root", "root_markers"),
    renamed("sessions", "max_sessions"),
    renamed("start", "execute"),
    renamed("task_poll_ms", "task_poll_interval_ms"),
    renamed("ticks", "steps"),
    renamed("when", "activate_if_exists"),
    renamed("with", "bind"),
    renamed("world", "filesystem"),
    renamed("write", "write_files"),
    renamed("write_ms", "write_timeout_ms"),
];

/// Error codes, as `error.kind` returns them.
pub const RENAMED_CODES: &[RenamedWord] = &[
    renamed("not_found", "not-found"),
    renamed("protocol_error", "protocol-error"),
    renamed("reject", "protocol-error"),
    renamed("tokens", "placeholders"),
];

/// The help line for a call of a primitive by its old name.
//= docs/spec.md#scripts
//# A call of an unknown or renamed function MUST fail with the nearest or the current name.
pub fn renamed_primitive(name: &str) -> Option<String> {
    RENAMED_PRIMITIVES.iter().find(|word| word.old == name).map(|word| called_now(name, word.new))
}

/// The help line for a key by its old name, also as `KEY_json`, in a table that has its name now.
pub fn renamed_key(key: &str, table_has: impl Fn(&str) -> bool) -> Option<String> {
    let (old, suffix) = key.strip_suffix("_json").map_or((key, ""), |base| (base, "_json"));
    let first = |word: &RenamedWord| word.new.split_once('.').map_or(word.new, |(first, _)| first);
    let word = RENAMED_KEYS.iter().find(|word| word.old == old && table_has(first(word)))?;
    Some(called_now(key, &format!("{}{suffix}", word.new)))
}

fn called_now(old: &str, new: &str) -> String {
    format!("`{old}` is called `{}` now", new.replace(", ", "`, `").replace(" and ", "` and `"))
}
