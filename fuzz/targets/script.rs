//! Scripts: compiled and surveyed, never run.
#![no_main]

use toolsd::script::Program;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let _guarded = toolsd_fuzz::guarded();
    let (program, errors) = Program::compile(&[("a.rhai", text), ("lib.rhai", "fn shared(a) { a.b }")]);
    errors.iter().for_each(toolsd_fuzz::show);
    for survey in program.surveys() {
        for function in &survey.functions {
            program.strongest_effect("a.rhai", &function.name);
        }
        let texts = survey.calls.iter().map(|call| &call.at).chain(survey.reads.iter().map(|read| &read.at));
        for place in texts {
            assert!(place.source.text.get(place.span.clone()).is_some(), "a location outside of its text");
        }
    }
});
