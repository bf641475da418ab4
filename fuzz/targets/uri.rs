//! URI templates of resources, and the URIs that clients ask for: the URI follows a line `--`.
#![no_main]

use toolsd::registry::UriTemplate;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (template, uri) = toolsd_fuzz::halves(text);
    let _guarded = toolsd_fuzz::guarded();
    let Some(template) = toolsd_fuzz::shown(UriTemplate::parse(template)) else { return };
    if let Some(matched) = template.matches(uri) {
        toolsd_fuzz::shown(matched);
    }
    // What a template is filled with, it matches again.
    let filled = template.expand(|_| Some("a b%/é"));
    let _some_values_cannot_be_told_apart = template.matches(&filled).map(toolsd_fuzz::shown);
});
