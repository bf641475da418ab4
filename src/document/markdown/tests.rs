//! The rules of `parse_markdown`, case by case.

use super::*;
use proptest::prelude::*;

const ASCII: Markdown = Markdown { anchor: Anchor::Ascii, attributes: true };

fn read(text: &str) -> Sections {
    parse_markdown(&Document::new("a.md", text), ASCII).unwrap_or_default()
}

fn titles(text: &str) -> Vec<(String, String)> {
    read(text).sections.into_iter().map(|section| (section.id, section.title)).collect()
}

fn check(text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(id, title)| ((*id).to_owned(), (*title).to_owned())).collect();
    assert_eq!(titles(text), expected, "{text:?}");
}

#[test]
fn a_title_is_the_source_from_the_first_text_to_the_end() {
    check("# `a.b()` & [link](u) x", &[("link-u-x", " & [link](u) x")]);
    check("## `code`", &[("code", "## `code`")]);
    check("## *em* t", &[("em-t", "em* t")]);
    check("## end **bold**", &[("end-bold", "end **bold**")]);
    check("## **x** `y`", &[("x-y", "x** `y`")]);
    check("# T <b>x</b> y &amp; z \\* w #", &[("t-b-x-b-y-amp-z-w", "T <b>x</b> y &amp; z \\* w")]);
    check("## ![alt](u)", &[("alt-u", "alt](u)")]);
    check("## a <i>b</i>", &[("a-i-b-i", "a <i>b</i>")]);
    check("# &lt; foo\n## foo &lt;\n## \\* foo", &[("foo", " foo"), ("foo-1", "foo "), ("foo-2", "* foo")]);
    check("##\n## !!!", &[("", "##"), ("-1", "!!!")]);
    check("Foo\nbar\n---\n", &[("foo-bar", "Foo bar")]);
    check("Foo\r\nbar\r\n---\r\n", &[("foo-bar", "Foo bar")]);
}

#[test]
fn attributes_give_the_id() {
    check("## A {#cust .k}\n## A\n## A", &[("cust", "A"), ("a", "A"), ("a-1", "A")]);
    check("## foo `x` {#id}\n## {#only}", &[("id", "foo `x`"), ("only", "## {#only}")]);
    check("## b ## {#q3}\n## Y {#z} q", &[("q3", "b"), ("y-z-q", "Y {#z} q")]);
    let plain = Markdown { anchor: Anchor::Github, attributes: false };
    let read = parse_markdown(&Document::new("a.md", "# A *b* {#c}"), plain).unwrap_or_default();
    assert_eq!((&*read.sections[0].id, &*read.sections[0].title), ("a-b-c", "A *b* {#c}"));
}

#[test]
fn a_taken_id_gets_the_first_free_number() {
    let ids: Vec<String> =
        titles("# A\n## A\n### a\n## A 1\n## A {#a}\n## A {#b}\n## b").into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids, ["a", "a-1", "a-2", "a-1-1", "a-3", "b", "b-1"]);
}

#[test]
fn sections_are_flat_and_lines_are_those_of_the_source() {
    let read = read("Pre\n# T\r\n\n  x  \n\n```\n# no\n```\n \n> # In quote\n> y\n\n- # In list\n  z\n\nw\n");
    assert_eq!((read.title.as_deref(), read.summary.as_deref()), (Some("T"), Some("x")));
    let sections: Vec<_> = read.sections.iter().map(|one| (&*one.id, one.line, one.lines.text())).collect();
    assert_eq!(
        sections,
        [
            ("t", 2, "  x  \n\n```\n# no\n```".to_owned()),
            ("in-quote", 10, "> y".to_owned()),
            ("in-list", 13, "  z\n\nw".to_owned()),
        ]
    );
    assert!(read.sections[2].lines.is_break_before(1));
}

#[test]
fn breaks_stand_around_the_items_of_lists() {
    let lines = read("# T\nlead\n- a\n  b\n\n  - c\n- d\n\ne").sections.remove(0).lines;
    let breaks: Vec<usize> = (0..=lines.lines().len()).filter(|at| lines.is_break_before(*at)).collect();
    assert_eq!(breaks, [1, 4, 5, 6]);
}

#[test]
fn many_equal_headings_take_linear_time() {
    assert_eq!(read(&"# a\n".repeat(50_000)).sections.last().map(|section| section.id.as_str()), Some("a-49999"));
}

proptest! {
    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn it_never_panics(text in "([#>*`{}\\[\\]()=&;<-]|\n|\r\n| |\t|a|é|\u{0}){0,60}|\\PC{0,60}") {
        for section in read(&text).sections {
            prop_assert!(section.line >= 1);
            prop_assert!(section.lines.texts().all(|line| text.contains(line)));
        }
    }
}
