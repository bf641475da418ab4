//! The rules of `edit_section`, case by case.

use super::*;
use proptest::prelude::*;

fn edit(text: &str, heading: &str, edit: SectionEdit<'_>, create: bool) -> Result<String> {
    edit_section(&ParserInput::from_value(&text.into()), heading, edit, create)
}

#[test]
fn appended_lines_come_behind_the_last_one() {
    for (text, wanted) in [
        ("# T\n## Log\n- a\n\n## Next\n", "# T\n## Log\n- a\n- b\n\n## Next\n"),
        ("## Log\n- a", "## Log\n- a\n- b\n"),
        ("## Log\n- a\n\n---\n\n## Next\n", "## Log\n- a\n- b\n\n---\n\n## Next\n"),
        ("## Log\n- a\n***\n\n---\n", "## Log\n- a\n- b\n\n***\n\n---\n"),
        ("## Log\n", "## Log\n\n- b\n"),
        ("## Log", "## Log\n\n- b\n"),
        ("## Log\n\n## Next\n", "## Log\n\n- b\n\n## Next\n"),
        ("## Log\n## Next\n", "## Log\n\n- b\n\n## Next\n"),
        ("## Log\n---\n", "## Log\n\n- b\n\n---\n"),
        ("## Log\n### Below\ntext\n# Next\n", "## Log\n### Below\ntext\n- b\n\n# Next\n"),
        ("```\n## Log\n```\n## Log ##\n```\n# no\n```\n", "```\n## Log\n```\n## Log ##\n```\n# no\n```\n- b\n"),
        ("> ## Log\n\nLog\n---\nx\n", "> ## Log\n\nLog\n---\nx\n- b\n"),
        ("---\nx: 1\n---\n## `Log`\r\n- a\n", "---\nx: 1\n---\n## `Log`\r\n- a\n- b\n"),
        ("## Log\r\n- a\r\n\r\n## N\r\n", "## Log\r\n- a\r\n- b\r\n\r\n## N\r\n"),
        ("## Log\n- a\n\n  more\n\n\n\n## N\n", "## Log\n- a\n\n  more\n- b\n\n\n\n## N\n"),
    ] {
        assert_eq!(edit(text, "Log", SectionEdit::Append("- b\n"), false).as_deref(), Ok(wanted), "{text:?}");
    }
}

#[test]
fn a_replaced_section_keeps_its_frame() {
    for (text, come, wanted) in [
        ("## Log\n\n- a\n\ntext\n\n---\n\n## Next\n", "new", "## Log\n\nnew\n\n---\n\n## Next\n"),
        ("## Log\n- a\n## Next\n", "new\n\n", "## Log\n\nnew\n\n## Next\n"),
        ("## Log\r\n\r\n- a\r\n", "one\ntwo", "## Log\r\n\r\none\r\ntwo\r\n"),
        ("## Log\n\n- a\n\n## Next\n", "", "## Log\n\n## Next\n"),
        ("## Log\n\n", "new", "## Log\n\nnew\n\n"),
    ] {
        assert_eq!(edit(text, "## Log", SectionEdit::Replace(come), false).as_deref(), Ok(wanted), "{text:?}");
    }
}

#[test]
fn a_section_is_created_at_the_end() {
    for (text, heading, wanted) in [
        ("", "Log", "## Log\n\n- b\n"),
        ("# T\n", "### Log", "# T\n\n### Log\n\n- b\n"),
        ("# T\r\n\r\ntext", "Log", "# T\r\n\r\ntext\r\n\r\n## Log\r\n\r\n- b\r\n"),
        ("# Log\n\n", "## Log", "# Log\n\n## Log\n\n- b\n"),
    ] {
        assert_eq!(edit(text, heading, SectionEdit::Append("- b"), true).as_deref(), Ok(wanted), "{text:?}");
    }
}

#[test]
fn missing_or_unclosed_sections_are_errors() {
    let reported = |text, heading| edit(text, heading, SectionEdit::Append("x"), false).expect_err("no").to_string();
    assert_eq!(reported("## Lag\n", "Log"), "the text has no section `Log` (did you mean `Lag`?)");
    assert_eq!(reported("## Log\n", "### Log"), "the text has no section `Log` (did you mean `Log`?)");
    assert!(
        reported("## Log\n\n```\ncode\n", "Log").starts_with("text:3:1: the section `Log` ends within a code fence")
    );
    assert!(edit("", "#", SectionEdit::Append("x"), true).is_err());
}

proptest! {
    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn it_never_panics_and_the_rest_stays(text in "(## |# |Log|\n|\r\n|- |```|---|> | |x|é){0,30}", replace in any::<bool>()) {
        let edit_it = if replace { SectionEdit::Replace("new") } else { SectionEdit::Append("new") };
        if let Ok(edited) = edit(&text, "Log", edit_it, false) {
            let common = text.bytes().zip(edited.bytes()).take_while(|(a, b)| a == b).count();
            let rest = text.len() - text[..].bytes().rev().zip(edited.bytes().rev()).take_while(|(a, b)| a == b).count();
            prop_assert!(edited.contains("new"));
            prop_assert!(replace || common >= rest, "nothing is lost: {:?} {:?}", text, edited);
        }
    }
}
