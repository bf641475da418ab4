//! Templates: compiled, asked for their variables, filled. The context follows a line `--`.
#![no_main]

use toolsd::source::Source;
use toolsd::template::Templates;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let (text, context) = toolsd_fuzz::halves(text);
    let _guarded = toolsd_fuzz::guarded();
    let files = [Source::new("templates/a.hbs", text), Source::new("templates/b.hbs", "{{> templates/a.hbs}}")];
    let (templates, errors) = Templates::compile(&files);
    errors.iter().for_each(toolsd_fuzz::show);
    let context = serde_json::from_str(context).unwrap_or_else(|_| serde_json::json!({ "a": [{ "b": "c" }], "d": 1 }));
    for file in &files {
        assert!(templates.variables(&file.path).iter().all(|(_, place)| place.span.end <= place.source.text.len()));
        toolsd_fuzz::shown(templates.render(&file.path, &context));
    }
});
