//! Every edit of a text, as scripts call it.
#![no_main]

use serde_json::Value as Json;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let edits = [
        "set_front_matter",
        "set_yaml",
        "set_lines",
        "set_spans",
        "append_section",
        "replace_section",
        "filled",
        "tokens_of",
        "yaml_of",
        "table_of",
        "wrapped",
        "slugs",
        "normal",
        "difference",
        "cut",
        "short",
        "titles",
    ];
    let Some((edit, text)) = toolsd_fuzz::chosen(data, &edits) else { return };
    let (text, beside) = toolsd_fuzz::halves(text);
    let edited = toolsd_fuzz::call(edit, [text.into(), beside.into()]);
    // Reading the edited text returns the requested changes.
    if let (Some(Json::String(edited)), Ok(Json::Object(changes))) = (edited, serde_json::from_str(beside))
        && edit == "set_front_matter"
    {
        let read = toolsd_fuzz::call("front_matter", [edited.as_str().into(), "".into()]);
        let read = read.unwrap_or_else(|| panic!("{edited:?} cannot be read again"));
        for (key, value) in &changes {
            match (value, read["data"].get(key)) {
                (Json::Null, found) => assert!(found.is_none(), "{key} still exists: {edited:?}"),
                (_, found) => assert!(found.is_some(), "{key} is missing: {edited:?}"),
            }
        }
    }
});
