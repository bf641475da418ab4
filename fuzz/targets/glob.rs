//! Globs of grants and searches, and ignore files: one glob a line, the path after a line `--`.
#![no_main]

use toolsd::world::glob::Globs;
use toolsd::world::memory::MemoryWorld;
use toolsd::world::{WalkOptions, World, path};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (globs, name) = toolsd_fuzz::halves(text);
    let _guarded = toolsd_fuzz::guarded();
    let clean = path::clean(name);
    assert_eq!(path::clean(&clean), clean, "cleaned twice is another path");
    for base in [".", "sub", "/abs"] {
        let lines: Vec<&str> = globs.lines().take(8).collect();
        let Some(compiled) = toolsd_fuzz::shown(Globs::new(&lines, base)) else { continue };
        let below = path::join(base, &clean);
        // A folder on the way to what matches may be looked into.
        if compiled.matches(&below) && path::is_below(&below, base) && !clean.starts_with("..") {
            let folder = path::folder(&below);
            assert!(compiled.may_match_below(folder), "{lines:?} match {below:?}, and not below {folder:?}");
        }
        compiled.matches_visible(&below);
        compiled.starts();
    }
    let Ok(memory) = MemoryWorld::with([(".gitignore", globs), ("a/b.md", ""), ("a/.c/d", "")]) else { return };
    let _maybe_refused = memory.write(name, b"");
    let walk = WalkOptions { from: ".".into(), hidden: true, ignore: true, follow: false, depth: None };
    toolsd_fuzz::shown(memory.walk(&walk));
});
