//! The table of all primitives: one file and one line each.

use crate::primitive_api::Primitive;

/// Declares the module of each primitive and the table of all. A module has the name of its primitive and contains
/// `pub const PRIMITIVE: Primitive`.
macro_rules! primitives {
    ($($name:ident,)*) => {
        $(mod $name;)*

        //= docs/spec.md#primitives
        //# Every primitive MUST have an example, and every example MUST pass as a test.
        /// All primitives, sorted by name.
        pub const ALL: &[&Primitive] = &[$(&$name::PRIMITIVE,)*];

        /// The files that contain them, for the test that each primitive has the name of its file.
        #[cfg(test)]
        const FILES: &[&str] = &[$(stringify!($name),)*];
    };
}

primitives! {
    add_blocks,
    add_edge,
    add_node,
    add_node_if_absent,
    add_notice,
    add_warning,
    ancestors,
    append_text,
    ask,
    ask_all,
    audio_content,
    blob_contents,
    broken_edges,
    by_ids,
    cache_entries,
    cache_get,
    cache_set,
    call_tool,
    captures,
    children,
    client_roots,
    client_supports,
    closest_match,
    collapse_whitespace,
    column,
    config,
    contains,
    count_by,
    cycles,
    data,
    decode_utf8,
    deep_merge,
    dependency_order,
    derive_fields,
    derive_values,
    descendants,
    diff,
    difference,
    discard_writes,
    distinct,
    drop_nulls,
    edges_in,
    edges_out,
    edit_chars,
    edit_front_matter,
    edit_lines,
    edit_section,
    embedded_resource,
    empty_spans,
    ends_with,
    env,
    env_with_prefix,
    escape_regex,
    exists,
    fail,
    fill_placeholders,
    filter,
    find_all,
    find_files,
    find_folders,
    find_in_files,
    find_links,
    find_quote,
    first,
    flatten,
    form,
    format_time,
    from_base64,
    get,
    git,
    git_fingerprint,
    git_read,
    graph,
    group_by,
    hash_blake3,
    hash_sha256,
    image_content,
    index_of,
    intersection,
    is_empty,
    join,
    keys,
    keyword_sentences,
    last,
    lines,
    list_folder,
    log,
    marker_blocks,
    matches,
    max,
    merge,
    merge_node,
    min,
    move_file,
    move_node,
    neighbors,
    new_document,
    new_graph,
    nodes,
    non_whitespace_len,
    normalize_unicode,
    not_found,
    notify_list_changed,
    notify_resource_updated,
    now,
    now_ms,
    once,
    open_url,
    orphans,
    outline_code,
    pad_end,
    pad_start,
    page,
    parent,
    parse_blocks,
    parse_csv,
    parse_front_matter,
    parse_git_status,
    parse_json,
    parse_markdown,
    parse_rfc,
    parse_semver,
    parse_time,
    parse_toml,
    parse_xml,
    parse_yaml,
    path_absolute,
    path_clean,
    path_extension,
    path_is_absolute,
    path_join,
    path_name,
    path_parent,
    path_relative,
    path_stem,
    pending_changes,
    percent_encode,
    pick,
    placeholders,
    progress,
    protocol_error,
    read_bytes,
    read_document,
    read_pack_file,
    read_text,
    read_text_or,
    refresh,
    remove_edges,
    remove_file,
    remove_folder,
    remove_nodes,
    rename_node,
    render,
    repeat,
    replace,
    replace_regex,
    resolve,
    resource_link,
    rethrow,
    reverse,
    rewrite_yaml,
    roots,
    round,
    run,
    sample,
    scan_files,
    search,
    select,
    server,
    session,
    set_task_status,
    set_value,
    skip,
    sleep_ms,
    slug,
    snapshot,
    sort,
    split,
    split_lines,
    staged_files,
    stale_files,
    starts_with,
    strip_markdown,
    sub_string,
    sum,
    take,
    text_content,
    title_case,
    to_base64,
    to_dot,
    to_json,
    to_lower,
    to_markdown_table,
    to_mermaid,
    to_passage,
    to_set,
    to_upper,
    to_yaml,
    tokens,
    tool_result,
    transaction,
    trim,
    trim_end,
    trim_start,
    truncate,
    undo,
    undo_to,
    union,
    unique,
    unique_pairs,
    update_edges,
    update_node,
    uuid,
    values,
    walk,
    r#where,
    where_any,
    with_changes,
    with_lock,
    words,
    wrap,
    write_bytes,
    write_text,
    xml_select,
}

/// Returns the primitive of that name.
pub fn find(name: &str) -> Option<&'static Primitive> {
    ALL.binary_search_by(|primitive| primitive.name.cmp(name)).ok().map(|at| ALL[at])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitive_api::Param;
    use crate::value::{Kind, Value};

    /// Words that a rhai script cannot use as the name of a function.
    const RESERVED: &str = "match default new package is with module null case until go use thread spawn static var \
        shared sync async await yield goto exit void public protected private super import export";

    #[test]
    fn each_is_named_as_its_file_and_the_table_is_sorted() {
        let names: Vec<&str> = ALL.iter().map(|primitive| primitive.name).collect();
        // A name that Rust reserves, such as `where`, is written `r#where`.
        let files: Vec<&str> = FILES.iter().map(|file| file.trim_start_matches("r#")).collect();
        assert_eq!(names, files);
        assert!(names.is_sorted_by(|a, b| a < b), "the table is not sorted: {names:?}");
        assert_eq!(find("trim").map(|primitive| primitive.name), Some("trim"));
        assert!(find("no_such_thing").is_none());
    }

    //= docs/spec.md#primitives
    //= type=test
    //# Every primitive MUST have an example, and every example MUST pass as a test.
    #[test]
    fn each_says_what_it_is_and_shows_how_it_is_used() {
        for primitive in ALL {
            let name = primitive.name;
            assert!(!RESERVED.split_whitespace().any(|word| word == name), "`{name}` is a reserved word");
            assert!(!primitive.examples.is_empty(), "`{name}` has no example");
            assert!(primitive.summary.ends_with('.'), "the summary of `{name}` has no full stop");
            for param in primitive.params {
                assert!(param.doc.ends_with('.'), "`{}` of `{name}` has no full stop", param.name);
                assert!(!param.kinds.is_empty(), "`{}` of `{name}` takes nothing", param.name);
            }
        }
    }
    //= docs/spec.md#primitives
    //= type=test
    //# A call with wrong arguments MUST fail with a message that shows the signature of the primitive.
    #[test]
    fn wrong_arguments_show_the_signature() {
        let refused = |primitive: &'static Primitive, values: Vec<Value>| {
            let error = primitive.accept(values).err().expect("it is refused");
            assert!(error.help.is_some_and(|help| help.contains(&primitive.signature())), "{}", error.message);
        };
        for &primitive in ALL {
            refused(primitive, vec![Value::Null; 40]);
            let least = *primitive.arities().start();
            let takes_all = |param: &Param| param.kinds.contains(&Kind::Any) || param.kinds.contains(&Kind::Null);
            if let Some(at) = primitive.positional().take(least).position(|param| !takes_all(param)) {
                // No other required parameter accepts null.
                let wanted = primitive.positional().take(at).map(|_| Value::Bool(true));
                refused(primitive, wanted.chain(vec![Value::Null; least - at]).collect());
            }
        }
    }
}
