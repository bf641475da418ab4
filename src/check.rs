//! Rules over a pack as a whole: what can be known to be wrong before anything runs. One rule a file; `subject` is what they
//! look at, `refusal` what a broken pack can still serve.

mod argument_description;
mod ask_place;
mod broken_pattern;
mod called_tool;
mod case_target;
mod copied_function;
mod data_race;
mod directory;
mod effect;
mod example_arguments;
mod long_description;
mod long_instructions;
mod lost_catch_value;
mod misquoted_text;
mod missing_file;
mod missing_function;
mod missing_grant;
mod name_clash;
mod refusal;
mod repeated_sentence;
mod reserved_argument;
mod resource_hidden;
mod rule;
mod schema_portable;
mod schema_reference;
mod shadowed_primitive;
mod shell_grant;
mod short_description;
mod subject;
mod template_ending;
mod template_variable;
mod tool_example;
mod tool_name;
mod unknown_argument;
mod unknown_data;
mod unknown_function;
mod unknown_git;
mod unknown_graph_name;
mod unknown_option;
mod unknown_question;
mod unknown_setting;
mod unused_file;
mod unused_fixture;
mod unused_result;
mod wrong_arity;

pub use missing_file::CODE as MISSING_FILE;
pub use refusal::refuse_broken_parts;
pub use rule::{CheckRule, ExampleFix, diff_lines};
pub use subject::{Subject, read_packs};

use crate::diagnostic::Diagnostic;
use crate::registry::PackParts;

/// All rules, sorted by code.
pub const ALL: &[&CheckRule] = &[
    &argument_description::RULE,
    &ask_place::RULE,
    &broken_pattern::RULE,
    &called_tool::RULE,
    &case_target::RULE,
    &copied_function::RULE,
    &data_race::RULE,
    &effect::RULE,
    &example_arguments::RULE,
    &long_description::RULE,
    &long_instructions::RULE,
    &lost_catch_value::RULE,
    &misquoted_text::RULE,
    &missing_file::RULE,
    &missing_function::RULE,
    &missing_grant::RULE,
    &name_clash::RULE,
    &repeated_sentence::RULE,
    &reserved_argument::RULE,
    &resource_hidden::RULE,
    &schema_portable::RULE,
    &schema_reference::RULE,
    &shadowed_primitive::RULE,
    &shell_grant::RULE,
    &short_description::RULE,
    &template_ending::RULE,
    &template_variable::RULE,
    &tool_example::RULE,
    &tool_name::RULE,
    &unknown_argument::RULE,
    &unknown_data::RULE,
    &unknown_function::RULE,
    &unknown_git::RULE,
    &unknown_graph_name::RULE,
    &unknown_option::RULE,
    &unknown_question::RULE,
    &unknown_setting::RULE,
    &unused_file::RULE,
    &unused_fixture::RULE,
    &unused_result::RULE,
    &wrong_arity::RULE,
];

/// The rules of the set `directory`: what public directories of servers refuse.
pub const DIRECTORY: &[&CheckRule] = &[&directory::RULE];

/// Returns the diagnostics of the set `directory`.
pub fn check_for_directory(parts: &PackParts) -> Vec<Diagnostic> {
    let subject = Subject::new(parts, &[]);
    DIRECTORY.iter().flat_map(|rule| (rule.run)(&subject)).collect()
}

/// Returns the diagnostics of all rules that are not yet among those of the pack, in the order of files and locations.
pub fn check(parts: &PackParts) -> Vec<Diagnostic> {
    check_among(parts, &[])
}

/// The same where there are other packs.
pub fn check_among(parts: &PackParts, others: &[&PackParts]) -> Vec<Diagnostic> {
    let subject = Subject::new(parts, others);
    let mut found: Vec<Diagnostic> = Vec::new();
    //= docs/spec.md#diagnostics
    //# Every diagnostic MUST have a stable code, a location and a message, in text, JSON and SARIF, and one run of
    //# `check` MUST report all errors of a pack.
    for rule in ALL {
        for diagnostic in (rule.run)(&subject) {
            let same = |known: &&Diagnostic| {
                known.code == diagnostic.code && known.at == diagnostic.at && known.message == diagnostic.message
            };
            if parts.diagnostics.iter().chain(&found).find(same).is_none() {
                found.push(diagnostic);
            }
        }
    }
    sort_by_place(&mut found);
    found
}

/// Sorts diagnostics by file, location and code; those without a location come first.
pub fn sort_by_place(diagnostics: &mut [Diagnostic]) {
    let key = |diagnostic: &Diagnostic| {
        let place = diagnostic.at.as_ref().map(|at| (at.source.path.clone(), at.span.start));
        (place, diagnostic.code)
    };
    diagnostics.sort_by_cached_key(key);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(files: &[(&str, &str)]) -> Vec<Diagnostic> {
        let (parts, other) = read_packs(files);
        let mut found = check_among(&parts, &other.iter().collect::<Vec<_>>());
        found.extend(check_for_directory(&parts));
        found
    }

    #[test]
    fn each_rule_fires_until_fixed() {
        let mut wrong = Vec::new();
        for rule in ALL.iter().chain(DIRECTORY) {
            if !codes(rule.fires).iter().any(|diagnostic| diagnostic.code == rule.code) {
                wrong.push(format!("`{}` does not fire", rule.code));
            }
            for (path, find, _) in rule.mended {
                let times: usize =
                    rule.fires.iter().filter(|file| file.0 == *path).map(|file| file.1.matches(find).count()).sum();
                if times != usize::from(!find.is_empty()) {
                    wrong.push(format!("`{find}` appears {times} times in `{path}` of `{}`", rule.code));
                }
            }
            let mended = rule.mended_files();
            let mended: Vec<(&str, &str)> = mended.iter().map(|(path, text)| (*path, text.as_str())).collect();
            for diagnostic in codes(&mended).iter().filter(|diagnostic| diagnostic.code == rule.code) {
                wrong.push(format!("`{}` is not fixed: {diagnostic}", rule.code));
            }
            for files in [rule.fires, &mended] {
                for diagnostic in read_packs(files).0.diagnostics {
                    if diagnostic.code != crate::definition::code::MISSING_KEY {
                        wrong.push(format!("an example of `{}` is broken: {diagnostic}", rule.code));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_table_is_sorted_and_every_rule_is_explained() {
        let codes: Vec<&str> = ALL.iter().map(|rule| rule.code.0).collect();
        assert!(codes.is_sorted_by(|a, b| a < b), "{codes:?}");
        for rule in ALL.iter().chain(DIRECTORY) {
            assert!(rule.summary.ends_with('.') && rule.why.ends_with('.'), "{}", rule.code);
        }
    }

    #[test]
    fn every_diagnostic_has_location_and_help() {
        for diagnostic in ALL.iter().chain(DIRECTORY).flat_map(|rule| codes(rule.fires)) {
            assert!(diagnostic.at.is_some() && diagnostic.help.is_some(), "{diagnostic}");
        }
    }
}
