//! The rules of `parse_rfc`, case by case.

use super::*;
use proptest::prelude::*;

/// The ids, titles and lines of a text that begins with section 1.
fn read(rest: &str) -> Vec<(String, String, Vec<String>)> {
    let document = Document::new("a.txt", format!("1.  Intro\n\n   a\n\n{rest}"));
    let sections = parse_rfc(&document).unwrap_or_default().sections;
    sections.into_iter().map(|one| (one.id, one.title, one.lines.texts().map(str::to_owned).collect())).collect()
}

fn ids(rest: &str) -> Vec<String> {
    read(rest).into_iter().skip(1).map(|(id, _, _)| id).collect()
}

/// The lines of section 1 after its first one.
fn intro(rest: &str) -> String {
    read(rest).first().map(|(_, _, lines)| lines[1..].join("|")).unwrap_or_default()
}

#[test]
fn a_heading_after_a_break_counts_whatever_its_number() {
    let found = read("7: Seven\n\n   b\n\n9.1.  Nine\n    wrapped\n\n\n   c\n\nA.2 App\n   d\n\n2\n\n  e");
    let found: Vec<_> = found.iter().map(|(id, title, lines)| (&**id, &**title, lines.join("|"))).collect();
    assert_eq!(
        found,
        [
            ("section-1", "Intro", "   a".to_owned()),
            ("section-7", "Seven", "   b".to_owned()),
            ("section-9.1", "Nine", "    wrapped||   c".to_owned()),
            ("appendix-A.2", "App", "   d".to_owned()),
            ("section-2", "", "  e".to_owned()),
        ]
    );
}

#[test]
fn without_a_break_only_the_next_number_counts() {
    let text =
        "   c\n2.  Foo\n3.1 Bar\n2.1 Baz\n2.2.1 Q\n3 T|x\nA. App\nB.1 Bee\nC sea\nB2 Q\nB2. Q\nB3 Q\nC Q\nC. Q\n1. Z\n";
    assert_eq!(
        ids(text),
        [
            "section-2",
            "section-3.1",
            "section-3",
            "appendix-A",
            "appendix-B.1",
            "appendix-B2",
            "appendix-B3",
            "appendix-C"
        ]
    );
}

#[test]
fn the_first_number_is_one_or_stands_after_a_break() {
    let ids = |text: &str| -> Vec<String> {
        let sections = parse_rfc(&Document::new("a", text)).unwrap_or_default().sections;
        sections.into_iter().map(|section| section.id).collect()
    };
    assert_eq!(ids("x\n1.  Foo\n2. Bar"), ["section-1", "section-2"]);
    assert_eq!(ids("x\n1.0 Foo"), ["section-1.0"]);
    assert_eq!(ids("x\n5.  Foo"), [""; 0]);
    assert_eq!(ids("\n5.  Foo"), ["section-5"]);
    assert_eq!(ids("\u{feff}1.  Foo"), ["section-1"]);
    assert_eq!(ids("Abstract\n\n  x"), [""; 0]);
    assert_eq!(ids("\nAbstract\n\n  x"), ["name-abstract"]);
}

#[test]
fn what_looks_like_something_else_is_no_heading() {
    for line in [
        "2. Foo ..... 3",
        "2. Foo . . . 3",
        "2. A . . b",
        "2. ;Foo",
        "2. Foo {",
        "2. Foo [ ",
        "2. Foo (",
        "2. a;",
        "2. Foo     bar",
        "7. |Foo",
        "7. Fo|o",
        "200. Foo",
        "0. Foo",
        "1.200 Foo",
        "2..1 Foo",
        "4:",
        "1.1:Foo",
        "3) F",
        "AB. Foo",
        "a.1 foo",
        "A Foo",
        ".1 Foo",
        "...",
        "4.A x",
        "5x",
        "Appendix AB",
        "Appendix a. Low",
        "Appendix  B  F",
        "Appendix G--Foo",
        "Appendix I:Foo",
        "Appendix J.Foo",
        "Appendix C:",
        "ANNEX D. Foo",
        "appendix C. Foo",
        "A1",
    ] {
        assert_eq!(ids(&format!("{line}\n\n   x\n")), [""; 0], "{line}");
    }
}

#[test]
fn an_appendix_is_named_by_its_letter_or_number() {
    for (line, id, title) in [
        ("Annex A. Foo", "appendix-A", "Foo"),
        ("APPENDIX B - Bar", "appendix-B", "Bar"),
        ("Appendix C -- Baz -- x", "appendix-C", "Baz -- x"),
        ("Appendix D", "appendix-D", ""),
        ("Appendix E.", "appendix-E", ""),
        ("Appendix F: Eff", "appendix-F", "Eff"),
        ("Appendix G : Gee", "appendix-G", "Gee"),
        ("Appendix H aitch", "appendix-H", "aitch"),
        ("Appendix H -Foo", "appendix-H", "-Foo"),
        ("Appendix 1. Foo", "appendix-1", "Foo"),
        ("Appendix 12", "appendix-12", ""),
        ("Appendix K.1 - Foo", "appendix-K.1", "- Foo"),
        ("A.1", "appendix-A.1", ""),
        ("A1.2 Foo", "appendix-A1.2", "Foo"),
        ("5.: Qux", "section-5", "Qux"),
        ("8. Foo||", "section-8", "Foo||"),
        ("01. Foo", "section-01", "Foo"),
        ("Author's Address", "name-author-s-address", "Author's Address"),
    ] {
        let found = read(&format!("{line}\n\n   x\n"));
        assert_eq!(found.get(1).map(|(id, title, _)| (&**id, &**title)), Some((id, title)), "{line}");
    }
}

#[test]
fn named_headings_stand_between_blank_lines_of_their_own() {
    assert_eq!(ids("Abstract\n   a\n\nAbstract \n\nabstract\n\n"), [""; 0]);
    assert_eq!(ids("Abstract\n\nIndex\n\n\nReferences\n\n  w\n"), ["name-abstract", "name-references"]);
    assert_eq!(ids("Index\n\n7. Foo\n\nIndex"), ["name-index", "section-7"]);
    assert_eq!(ids("   w\n\nAbstract\n\u{c}\nfoo\n\n   v\n"), [""; 0]);
    assert_eq!(ids("   w\n[Page 1]\n\nAbstract\n\n   v\n"), ["name-abstract"]);
    assert_eq!(ids("   w\n\nRFC 1  foo\nAbstract\n\n   v\n"), [""; 0]);
}

#[test]
fn an_id_that_comes_again_replaces_the_earlier_section() {
    assert_eq!(ids("2. Foo\n\n  a\n\n3. Bar\n\n  b\n\n2. Again\n\n  c\n"), ["section-3", "section-2"]);
}

#[test]
fn page_furniture_is_left_out() {
    let (page, feed) = ("[Page 1]\n", "\u{c}\n");
    for (text, expected) in [
        (format!("   w\n{page}\n\n   v\n"), "|   w|   v"),
        (format!("   w\n{page}{feed}foo\n   v\n"), "|   w|   v"),
        (format!("   w\n{feed}foo\n\n   v\n"), "|   w||   v"),
        (format!("   w\n{feed}foo\nbar\n"), "|   w||bar"),
        (format!("   w\n{feed}\nfoo\n"), "|   w||foo"),
        (format!("   w\n{feed}{feed}foo\n   v\n"), "|   w||   v"),
        (format!("   w\n{page}{feed}{feed}   v\n   u\n"), "|   w|   u"),
        (format!("   w\n{feed}{page}   v\n   u\n"), "|   w||   v|   u"),
        (format!("   w\n{page}\n{feed}\n   foo\n   v\n"), "|   w|   foo|   v"),
        (format!("   w\n\n   x [Page 1]\n{feed}RFC 9  x\n\n\n   v\n"), "|   w||   v"),
        (
            "RFC 12 foo\nRFC 1x  foo\n RFC 12  foo\n  t [Page x]\n  s [Page 3] \n   v[Page 4]\n".to_owned(),
            "|RFC 12 foo|RFC 1x  foo| RFC 12  foo|  t [Page x]|  s [Page 3] |   v[Page 4]",
        ),
        ("   x\n\u{c}  \n   z\n".to_owned(), "|   x||   z"),
    ] {
        assert_eq!(intro(&text), expected, "{text:?}");
    }
    assert_eq!(ids("   w\n\u{c}\n2. Sec\n"), ["section-2"]);
    assert_eq!(ids("   w\n\u{c}\n7. Sec\n"), ["section-7"]);
}

#[test]
fn title_and_summary_stand_at_the_begin() {
    let text = "J. Doe\n\n      How to brew\n       Tea well\n     draft-doe-tea-01\n\nAbstract\n\n   Water\n   boils.\n\n   Tea.\n\n1. x\n";
    let read = parse_rfc(&Document::new("a", text)).unwrap_or_default();
    assert_eq!(read.title.as_deref(), Some("How to brew Tea well"));
    assert_eq!(read.summary.as_deref(), Some("Water boils."));
}

proptest! {
    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn it_never_panics(text in "(Appendix |Annex |RFC 1  |\\[Page 1\\]|[A-Z]|[0-9]{1,3}|\\.| |:|\n|\n\n|\u{c}|é|x){0,60}|\\PC{0,60}") {
        for section in parse_rfc(&Document::new("a", text.as_str())).unwrap_or_default().sections {
            prop_assert!(section.lines.texts().all(|line| text.contains(line)));
        }
    }
}
