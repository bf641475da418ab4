//! The reader of `git status --porcelain=v2 -z`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        toolsd_fuzz::call("git_status", [text.into(), "".into()]);
    }
});
