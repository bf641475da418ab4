//! Definitions of packs and `toolsd.toml`: read with all diagnostics, and a valid pack compiled as the registry does
//! it.
#![no_main]

use toolsd::definition::{Validation, read_definitions, read_workspace};
use toolsd::registry::{PackFiles, PackParts, WorkspaceSettings};
use toolsd::source::Source;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _guarded = toolsd_fuzz::guarded();
    let source = Source::new("tools.d/a.toml", text);
    let (_, errors) = read_definitions(&source, Validation::Full);
    errors.iter().for_each(toolsd_fuzz::show);
    let (_, broken) = read_workspace(&source);
    broken.iter().for_each(toolsd_fuzz::show);
    if errors.is_empty() {
        let files = PackFiles::from_texts([("tools.d/a.toml", text)]);
        let parts = PackParts::read("a", files.hash(), files, &WorkspaceSettings::default());
        parts.errors.iter().for_each(toolsd_fuzz::show);
    }
});
