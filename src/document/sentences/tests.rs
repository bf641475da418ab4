//! The rule of `keyword_sentences`, case by case.

use super::super::Document;
use super::*;
use proptest::prelude::*;

fn keywords() -> Keywords {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    Keywords {
        levels: vec![
            words(&["MUST", "MUST NOT", "SHALL", "SHALL NOT", "REQUIRED"]),
            words(&["SHOULD", "SHOULD NOT", "RECOMMENDED", "NOT RECOMMENDED"]),
            words(&["MAY", "OPTIONAL"]),
        ],
        definitions: words(&["\""]),
    }
}

fn read(text: &str) -> Vec<(String, usize)> {
    let lines = Document::new("a.txt", text).lines(1, i64::MAX);
    let found = keyword_sentences(&lines, &keywords()).unwrap_or_default();
    found.into_iter().map(|sentence| (sentence.text, sentence.level)).collect()
}

fn check(text: &str, expected: &[(&str, usize)]) {
    let expected: Vec<(String, usize)> = expected.iter().map(|(text, level)| ((*text).to_owned(), *level)).collect();
    assert_eq!(read(text), expected, "{text:?}");
}

#[test]
fn a_sentence_begins_after_the_last_dot_that_ends_one() {
    check("A. b MUST c. d", &[("b MUST c.", 0)]);
    check("a.\tb MUST c.\td", &[("b MUST c.", 0)]);
    check("x. y.MUST z", &[("MUST z", 0)]);
    check("x.\nMUST go", &[("MUST go", 0)]);
    check("a! b: c; MUST d? e", &[("a! b: c; MUST d? e", 0)]);
    check("p. (a MUST b.) c", &[("(a MUST b.) c", 0)]);
}

#[test]
fn an_inner_dot_sends_the_begin_back_to_the_first_end_before_it() {
    check("A. B. c MUST d 3.1 SHOULD x. y", &[("B. c MUST d 3.1 SHOULD x.", 1), ("c MUST d 3.1 SHOULD x.", 0)]);
    check("foo..bar MUST x", &[(".bar MUST x", 0)]);
    check("A. b..c MUST x", &[("b..c MUST x", 0)]);
    check("A. b.. c MUST x", &[("c MUST x", 0)]);
    check("One. two\nthree 3.1 four\nMUST go. x", &[("two\nthree 3.1 four\nMUST go.", 0)]);
    check("One. two 3.1 four\nMUST go. x", &[("two 3.1 four\nMUST go.", 0)]);
    check("A. b MUST. i.e., SHOULD", &[("b MUST. i.e., SHOULD", 1), ("b MUST.", 0)]);
    check("a.. b. c.d SHOULD", &[("c.d SHOULD", 1)]);
    check("a... b. c.d SHOULD", &[("b. c.d SHOULD", 1)]);
    check("a..b c..d SHOULD", &[(".d SHOULD", 1)]);
    check("x.. y z.b SHOULD", &[("x.. y z.b SHOULD", 1)]);
    check("MUST.. a", &[("MUST.. a", 0)]);
    check("MUST... a", &[("MUST...", 0)]);
    check("b.. MUST", &[("MUST", 0)]);
    check("x. y.MUST.MUST. z", &[("MUST.MUST.", 0), ("MUST.", 0)]);
}

#[test]
fn an_empty_line_stops_but_a_line_of_blanks_does_not() {
    check("It MUST a.\n\n  \nx. y MUST", &[("It MUST a.", 0), ("y MUST", 0)]);
    check("p.\n  \nq MUST r\n  \ns. t", &[("q MUST r\ns.", 0)]);
    check("lead\n\nMUST a\n\nb", &[("MUST a", 0)]);
}

#[test]
fn a_break_stops() {
    let document = Document::new("a.md", "The pot:\n- MUST boil\n- MAY\n  sing\nand MUST rest");
    let all = document.lines(1, 9);
    let lines = Lines::new(document, all.lines().to_vec(), vec![1, 2, 4]);
    let found = keyword_sentences(&lines, &keywords()).unwrap_or_default();
    let texts: Vec<&str> = found.iter().map(|sentence| sentence.text.as_str()).collect();
    assert_eq!(texts, ["- MUST boil", "- MAY\nsing", "and MUST rest"]);
    assert_eq!((found[1].line, found[1].end_line), (3, 4));
}

#[test]
fn keywords_are_whole_words_and_the_longest_counts() {
    check("MUST_NOT a", &[]);
    check("éMUST a, MUSTé b", &[]);
    check("MUST NOTE a", &[("MUST NOTE a", 0)]);
    check("NOT RECOMMENDED a", &[("NOT RECOMMENDED a", 1)]);
    check("The \"MUST NOT\" word. \"MUST\" NOT x", &[]);
    check("\"MUST\nNOT\" ok", &[("\"MUST\nNOT\" ok", 0)]);
    let words = keyword_sentences(&Document::new("a", "MUST NOT a and MAY b").lines(1, 1), &keywords());
    assert_eq!(words.unwrap_or_default()[0].words, ["MUST NOT", "MAY"]);
}

#[test]
fn equal_sentences_are_one_with_the_strongest_level() {
    check("MUST a\n\nMUST a\n\nMUST  a\n\nMUST a .\n\nSHALL a", &[("MUST a", 0), ("MUST a .", 0), ("SHALL a", 0)]);
    check("MAY a, SHOULD b. MAY c.", &[("MAY a, SHOULD b.", 1), ("MAY c.", 2)]);
    check("MUST a,\nb. MUST a, b.", &[("MUST a,\nb.", 0)]);
}

#[test]
fn too_many_overlapping_sentences_fail() {
    let lines = Document::new("a.txt", "MUST.".repeat(20_000)).lines(1, 1);
    let error = keyword_sentences(&lines, &keywords()).err().map(|error| error.code);
    assert_eq!(error, Some(Code::LIMIT));
    let lines = Document::new("a.txt", "MUST go 3.1 ".repeat(100_000)).lines(1, 1);
    assert_eq!(keyword_sentences(&lines, &keywords()).map(|found| found.len()), Ok(1));
}

proptest! {
    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn it_never_panics_and_every_text_is_in_the_lines(text in "(MUST|NOT|MAY|\\.| |\n|\t|é|a|\"){0,60}|\\PC{0,60}") {
        let lines = Document::new("a.txt", text).lines(1, i64::MAX);
        for sentence in keyword_sentences(&lines, &keywords()).unwrap_or_default() {
            prop_assert!(crate::document::Passage::from_lines(&lines).text().contains(&sentence.text.replace('\n', " ")));
            prop_assert!(1 <= sentence.line && sentence.line <= sentence.end_line);
        }
    }
}
