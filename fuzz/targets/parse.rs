//! Every reader of a format, as scripts call it.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let readers = [
        "yaml",
        "json",
        "toml",
        "xml",
        "csv",
        "front_matter",
        "markdown",
        "ietf",
        "links",
        "plain",
        "blocks",
        "outlined",
        "sentences",
        "markers",
        "located",
        "semver",
        "time",
        "formatted",
        "based",
        "paths",
    ];
    if let Some((reader, text)) = toolsd_fuzz::chosen(data, &readers) {
        let (text, beside) = toolsd_fuzz::halves(text);
        toolsd_fuzz::call(reader, [text.into(), beside.into()]);
    }
});
