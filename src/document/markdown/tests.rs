//! The rules of `parse_markdown`, case by case.

use super::*;
use proptest::prelude::*;

const SOURCE: MarkdownOptions =
    MarkdownOptions { anchor: AnchorStyle::Ascii, title: TitleStyle::Source, attributes: true };

fn read_as(text: &str, how: MarkdownOptions) -> Sections {
    parse_markdown(&Document::new("a.md", text), how).unwrap_or_default()
}

fn read(text: &str) -> Sections {
    read_as(text, SOURCE)
}

fn titles(text: &str) -> Vec<(String, String)> {
    read(text).sections.into_iter().map(|section| (section.id, section.title)).collect()
}

fn check(text: &str, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|(id, title)| ((*id).to_owned(), (*title).to_owned())).collect();
    assert_eq!(titles(text), expected, "{text:?}");
}

/// Parts of a heading, and the visible text of each.
const PARTS: &[(&str, &str)] = &[
    ("Tea", "Tea"),
    ("`a.b()`", "a.b()"),
    ("`` a`b ``", "a`b"),
    ("*em*", "em"),
    ("**bold `code`**", "bold code"),
    ("_a **b** c_", "a b c"),
    ("[link *em*](u \"t\")", "link em"),
    ("[named][r]", "named"),
    ("[r]", "r"),
    ("![shown *so*](i.png)", "shown so"),
    ("[![badge](b)](u)", "badge"),
    ("<https://e.com/a>", "https://e.com/a"),
    ("<b>x</b>", "x"),
    ("<i title=\"no\">", ""),
    ("&amp;", "&"),
    ("&#x41;&lt;&unknown;", "A<&unknown;"),
    ("\\*", "*"),
    ("\\# \\`", "# `"),
    ("~~no~~ $1$ [^1]", "~~no~~ $1$ [^1]"),
    ("snake_case * x", "snake_case * x"),
    ("größe 北京", "größe 北京"),
    ("1.2", "1.2"),
];

/// Ways to write a heading; `\n` may be `\r\n`.
const HEADINGS: &[&str] = &["# T", "  ### T   ", "# T #", "###### T ######", "T\n===", "T  \n---\n", "> # T", "- ## T"];

proptest! {
    #[test]
    fn a_title_is_what_a_reader_sees_of_the_whole_heading(
        parts in prop::collection::vec(prop::sample::select(PARTS), 1..5),
        heading in prop::sample::select(HEADINGS),
        line_end in prop::sample::select(&["\n", "\r\n"][..]),
        anchor in prop::sample::select(&[AnchorStyle::Ascii, AnchorStyle::Github][..]),
    ) {
        // A word in front keeps a number from starting a list, and one at the end keeps the last part from joining a
        // closing marker.
        let join = |of: fn(&(&str, &str)) -> String| parts.iter().map(of).collect::<Vec<_>>().join(" , ");
        let written = format!("see {}.", join(|part| part.0.to_owned()));
        let seen = format!("see {}.", join(|part| part.1.to_owned()));
        let text = format!("{}\n\nbody\n\n[r]: u\n", heading.replace('T', &written)).replace('\n', line_end);
        let sections = read_as(&text, MarkdownOptions { anchor, ..MarkdownOptions::default() }).sections;
        prop_assert_eq!(sections.len(), 1, "{:?}", text);
        prop_assert_eq!(&sections[0].title, &seen, "{:?}", text);
        let slug = if anchor == AnchorStyle::Ascii { ascii_slug(&seen, "-") } else { github_slug(&seen, "-") };
        prop_assert_eq!(Ok(&sections[0].id), slug.as_ref());
    }
}

#[test]
fn a_plain_title_may_begin_and_end_with_marks() {
    for (written, seen) in PARTS {
        let section = read_as(&format!("# {written}\n\n[r]: u\n"), MarkdownOptions::default()).sections.remove(0);
        assert_eq!(section.title, *seen, "{written}");
    }
    let of = |text: &str| {
        read_as(text, MarkdownOptions { attributes: true, ..MarkdownOptions::default() }).sections.remove(0)
    };
    assert_eq!((of("# `a` {#b}").id, of("# `a` {#b}").title), ("b".to_owned(), "a".to_owned()));
    assert_eq!(of("a *b*  \r\n`c`\\\r\nd\r\n===").title, "a b c d");
    assert_eq!((of("##").id, of("# <b></b>").title), (String::new(), String::new()));
    assert_eq!(read_as("# *T*\n\n`a` [b](c)", MarkdownOptions::default()).summary.as_deref(), Some("a b"));
}

#[test]
fn a_title_by_source_goes_from_the_first_text_to_the_end() {
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
    let plain = MarkdownOptions { anchor: AnchorStyle::Github, title: TitleStyle::Source, attributes: false };
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

fn found(text: &str) -> Vec<(&'static str, String, String)> {
    let links = find_links(&Document::new("a.md", text)).unwrap();
    links.into_iter().map(|link| (link.kind.name(), link.text, link.destination)).collect()
}

#[test]
fn links_are_found_as_commonmark_reads_them() {
    let text = "[a *b*](x.md#y) ![i](p.png) <https://e.com> `[c](d)` [n][] [gone][q]\n\n[n]: <z z.md>\n";
    let wanted = [
        ("inline", "a b", "x.md#y"),
        ("image", "i", "p.png"),
        ("autolink", "https://e.com", "https://e.com"),
        ("reference", "n", "z z.md"),
    ];
    assert_eq!(found(text), wanted.map(|(kind, text, to)| (kind, text.to_owned(), to.to_owned())));
    assert_eq!(found("```\n[a](b)\n```\n    [c](d)\n"), []);
}

#[test]
fn markup_goes_and_words_stay() {
    assert_eq!(
        strip_markdown("Entity: `Thing` **bold** [link](https://e.com) [x][y]").unwrap(),
        "Entity: Thing bold link x"
    );
    assert_eq!(strip_markdown("").unwrap(), "");
    assert_eq!(strip_markdown("# A *b*\n\n- c\n- d\n\n> e\n\n```\nf\n```\ng").unwrap(), "A b\nc\nd\ne\nf\ng");
}

proptest! {
    #[test]
    fn spans_lie_within_the_text(text in "[\\[\\]()<>`!a:/\n -]{0,60}") {
        for link in find_links(&Document::new("a", text.clone())).unwrap() {
            prop_assert!(text.get(link.span.clone()).is_some(), "{:?}", link);
        }
    }
}

#[test]
fn marks_and_blanks_before_an_item_are_levels() {
    let cases = [("text", 0, false), ("> > a", 2, false), ("- 1. + a", 3, false), (">", 1, true), ("", 0, true)];
    for (line, depth, is_blank) in cases {
        assert_eq!(nesting_depth(line), (depth, is_blank), "{line}");
    }
    assert_eq!(nesting_depth("        code"), (0, false));
    assert_eq!(nesting_depth("-no"), (0, false));
    assert!(nesting_depth(&format!("{}- a", " ".repeat(220))).0 > MAX_DEPTH);
}

//= docs/spec.md#primitives
//= type=test
//# Markdown that is nested more than 100 levels deep MUST be refused.
#[test]
fn what_is_nested_too_deep_is_refused_with_its_line() {
    for mark in [">", "> ", "- ", "1. ", "* > "] {
        let text = format!("# t\n{}a\n", mark.repeat(101));
        let error = check_markdown_limits(&text).expect_err(mark);
        assert_eq!(error.message, "line 2: quotes and lists are nested more than 100 levels deep");
        assert_eq!(check_markdown_limits(&format!("{}a\n", mark.repeat(50))), Ok(()));
    }
}

#[test]
fn what_is_too_long_to_be_stopped_is_refused() {
    assert_eq!(check_markdown_limits(&"a b c\n\n".repeat(100_000)), Ok(()));
    let error = check_markdown_limits(&"a".repeat(2 << 20)).expect_err("one paragraph");
    assert_eq!(error.message, "a paragraph of Markdown accepts up to 976 kB, got 2048 kB");
    let deep = format!("{}\n{}", ">".repeat(90), "\n".repeat(1 << 20));
    assert!(check_markdown_limits(&deep).is_err(), "a megabyte below quotes takes too long");
}
