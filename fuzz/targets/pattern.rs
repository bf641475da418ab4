//! Regular expressions of scripts, on texts of clients: the pattern follows a line `--`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let verbs = ["matched", "found", "caught", "replaced", "parted", "searched"];
    if let Some((verb, text)) = toolsd_fuzz::chosen(data, &verbs) {
        let (text, pattern) = toolsd_fuzz::halves(text);
        toolsd_fuzz::call(verb, [text.into(), pattern.into()]);
    }
});
