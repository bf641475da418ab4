//! Tests of what patterns find, when they stop, and which patterns are refused.

use super::*;
use crate::guard::{CancelFlag, Guard, Limits};
use proptest::prelude::*;
use std::ops::Range;
use std::time::{Duration, Instant};

fn error(pattern: &str) -> String {
    Pattern::compile_cached(pattern).err().map_or_else(String::new, |error| error.message)
}

/// All matches, each with all its groups.
fn all(pattern: &Pattern, text: &str) -> Result<Vec<Vec<Option<Range<usize>>>>> {
    let mut all = Vec::new();
    pattern.each(text, |found| {
        all.push((0..pattern.names().len()).map(|number| found.group(number)).collect());
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(all)
}

/// All matches according to the `regex` crate.
fn expected(pattern: &regex::Regex, text: &str) -> Vec<Vec<Option<Range<usize>>>> {
    let groups =
        |captures: regex::Captures<'_>| captures.iter().map(|group| group.map(|group| group.range())).collect();
    pattern.captures_iter(text).map(groups).collect()
}

#[test]
fn an_invalid_pattern_says_where() {
    assert_eq!(error("é(a"), "invalid regular expression: unclosed group at character 2 of `é(a`");
    assert!(error("(?=a)(b").starts_with("invalid regular expression: "), "{}", error("(?=a)(b"));
    assert!(error(r"(?-u:\xFF)").starts_with("invalid regular expression: "), "{}", error(r"(?-u:\xFF)"));
}

//= docs/spec.md#primitives
//= type=test
//# A pattern that is too complex MUST be refused before the search.
#[test]
fn a_pattern_that_is_too_large_says_what_is() {
    let repeats = "the pattern repeats a part 4000 times; at most 1000 are allowed, with nested counts multiplied";
    for pattern in ["(?:[ab]{1,400}){1,10}c", "(?:(?:a{2}){40}){50}", "a{4000,}", "(?=a)(?:b{40}){100}", r"(.)\1{4000}"]
    {
        assert_eq!(error(pattern), repeats, "{pattern}");
    }
    for pattern in ["a{1000}", "(?:a{10}){100}", "(?:a{10}b{10}){10}", "(?=a)b{1000}", "(a*){10}"] {
        assert_eq!(error(pattern), "", "{pattern}");
    }
    assert_eq!(error(&"a".repeat(100 << 10)), "the pattern has 100 kB; at most 64 kB are allowed");
    assert_eq!(error(&r"\w".repeat(3_000)), "the pattern has 3000 character classes; at most 2000 are allowed");
    assert_eq!(error(r"\w{1000}"), "the pattern is too large: its compiled form exceeds 4 MB");
    assert!(error(&"(?:a{1,30}".repeat(200)).contains("unclosed group"));
}

#[test]
fn patterns_are_compiled_once() {
    // Other tests fill the cache meanwhile, so that a pattern may have to leave it.
    let is_compiled_once = || {
        let compile = || Pattern::compile_cached("a+").expect("valid");
        let first = compile();
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(compile)).collect();
            threads.into_iter().all(|thread| Arc::ptr_eq(&first, &thread.join().expect("it ends")))
        })
    };
    assert!((0..100).any(|_| is_compiled_once()));
}

#[test]
fn look_around_works_and_runaway_patterns_stop() {
    let pattern = Pattern::compile_cached(r"(?<=\$)(?<price>\d+)").expect("valid");
    let found = pattern.first("a $42").expect("it ends").expect("it exists");
    assert_eq!(found.span(), 3..5);
    assert_eq!(pattern.groups("a $42", &found).get("price"), Some(&Value::from("42")));
    let runaway = Pattern::compile_cached(r"^(?:(a|a|aa)+)+\1$").expect("valid");
    let error = runaway.is_match(&"a".repeat(64).replace("aa", "ab")).err();
    let endless = runaway.is_match(&format!("{}b", "a".repeat(200))).err();
    assert!(error.is_none() && endless.is_some_and(|error| error.code == Code::LIMIT));
    let words = Pattern::compile_cached(r"(\w)(?=\1)").expect("valid");
    let spans: Vec<_> =
        all(&words, "é aa bbb éé").expect("it ends").into_iter().filter_map(|one| one[0].clone()).collect();
    assert_eq!(spans, [3..4, 6..7, 7..8, 10..12]);
}

//= docs/spec.md#primitives
//= type=test
//# A text that a file can hold MUST NOT be too long for any pattern.
#[test]
fn a_long_text_is_searched_whatever_its_characters_and_the_pattern_are() {
    let text = format!("é{}<!-- tea\n -->", "<!- some words\n".repeat(40_000));
    for pattern in
        ["<!--(?s:.*?)-->", r"<!--\s+(\w+)\s+-->", r"\btea\b", r"\b\w+\s+-->", r"(?s)<(.*)>", r"(a)(?s:.{20})<!--(.*)"]
    {
        let known = regex::Regex::new(pattern).expect("valid");
        let pattern = Pattern::compile_cached(pattern).expect("valid");
        assert_eq!(all(&pattern, &text), Ok(expected(&known, &text)), "{pattern:?}");
        assert_eq!(pattern.is_match(&text), Ok(known.is_match(&text)));
    }
    for (pattern, start) in [("(?<=- )tea", 600_007), (r"(\w)\1(?=.*-->)", 0)] {
        let found = Pattern::compile_cached(pattern).expect("valid").first(&text).expect("it ends");
        assert_eq!(found.map_or(0, |found| found.span().start), start, "{pattern}");
    }
}

#[test]
fn a_long_text_is_searched_with_look_around_as_a_short_one() {
    let text = "é a1 bb b2,\n\n".repeat(2_000);
    for pattern in [r"(?<=a)\d", r"(\w)\1", r"(?=b)", r"x?(?!b)", r"(?<!\w)b\w*(?=,)", r"(?m)^(?=é)", r"\b(?=b)"] {
        let known = fancy_regex::Regex::new(pattern).expect("valid");
        let known: Vec<_> = known.find_iter(&text).map(|found| found.expect("it ends").range()).collect();
        let pattern = Pattern::compile_cached(pattern).expect("valid");
        let ours: Vec<_> =
            all(&pattern, &text).expect("it ends").into_iter().filter_map(|one| one[0].clone()).collect();
        assert!(ours == known && known.len() > 100, "{}: {} and {}", pattern.text(), ours.len(), known.len());
        assert_eq!(pattern.is_match(&text), Ok(true));
    }
}

//= docs/spec.md#primitives
//= type=test
//# A primitive MUST check the limits of its call after a bounded amount of work, whatever its arguments are.
#[test]
fn a_search_with_look_around_stops_while_it_runs() {
    for (pattern, text) in
        [(r"(?=(?s:.*)z)a", "a b\n".repeat(50_000)), (r"(?=(?:[ab]{1,100}){1,10}c)a", random_text(4_000))]
    {
        let pattern = Pattern::compile_cached(pattern).expect("valid");
        for is_existence in [true, false] {
            let guard =
                Guard::new(Limits { time: Duration::from_millis(20), ..Limits::default() }, CancelFlag::default());
            let _entered = guard.enter();
            let began = Instant::now();
            let error = if is_existence { pattern.is_match(&text).err() } else { all(&pattern, &text).err() };
            assert_eq!(error.map(|error| error.code), Some(Code::LIMIT), "{}", pattern.text());
            // Without a check it takes minutes; a machine that does much else is slow.
            assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        }
    }
}

#[test]
fn groups_that_took_no_part_are_null() {
    let pattern = Pattern::compile_cached("(a)|(?<b>b)").expect("valid");
    let found = pattern.first("b").expect("it ends").expect("it exists");
    let groups = Value::Map(pattern.groups("b", &found));
    assert_eq!(groups.to_json(), serde_json::json!({ "0": "b", "1": null, "2": "b", "b": "b" }));
}

/// A text of `a` and `b` in one line.
fn random_text(bytes: usize) -> String {
    let next = |seed: &mut u32, _| {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        Some(if *seed >> 31 == 0 { 'a' } else { 'b' })
    };
    (0..bytes).scan(1, next).collect()
}

//= docs/spec.md#primitives
//= type=test
//# A search with a regular expression MAY run to its next match before it checks them.
#[test]
fn a_search_stops_after_a_match_and_many_short_searches_after_some() {
    let (pattern, cancel) = (Pattern::compile_cached("(?:[ab]{1,100}){1,10}c").expect("valid"), CancelFlag::default());
    cancel.cancel();
    let guard = Guard::new(Limits { time: Duration::from_secs(3_600), ..Limits::default() }, cancel);
    let _entered = guard.enter();
    let random = random_text(64);
    let stopped = (0..100_000).find_map(|_| pattern.is_match(&random).err());
    assert_eq!(stopped.map(|error| error.code), Some(Code::CANCELLED));
    let error = all(&Pattern::compile_cached("a").expect("valid"), &random).err();
    assert_eq!(error.map(|error| error.code), Some(Code::CANCELLED));
}

/// Patterns over few characters, so that texts match, with all features in which the engines differ.
fn patterns() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a",
        "b",
        "é",
        ".",
        "[ab]",
        "[^a]",
        r"\w",
        r"\d",
        r"\b",
        r"\B",
        "^",
        "$",
        "(?m:^)",
        "(?m:$)",
        r"\n",
        "",
        r"\s",
        "(?i:A)",
        r"(?-u:\b)",
        r"\z",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(5, 24, 4, |inner| {
        let ends = prop::sample::select(vec!["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}?", "{2,}"]);
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| parts.concat()),
            2 => prop::collection::vec(inner.clone(), 1..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            2 => inner.clone().prop_map(|part| format!("({part})")),
            3 => (inner, ends).prop_map(|(part, end)| format!("(?:{part}){end}")),
        ]
    })
}

fn texts() -> impl Strategy<Value = String> {
    let letters = prop::sample::select(vec!['a', 'b', 'A', 'é', '\n', ' ', '1', 'x']);
    prop::collection::vec(letters, 0..40).prop_map(|letters| letters.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// A search finds what the `regex` crate finds, with all groups.
    #[test]
    fn a_search_agrees_with_the_regex_crate(pattern in patterns(), text in texts()) {
        let Ok(known) = regex::Regex::new(&pattern) else { return Ok(()) };
        let expected = expected(&known, &text);
        let ours = Pattern::compile(&pattern).expect("regex accepts it");
        prop_assert_eq!(&all(&ours, &text).expect("it ends"), &expected);
        prop_assert_eq!(ours.is_match(&text).expect("it ends"), known.is_match(&text));
    }
}

#[test]
fn many_large_patterns_stay_within_the_limit() {
    let text: String = (0..20_000_u32).map(|at| char::from(b'a' + (at * at % 26) as u8)).collect();
    // Other tests hold patterns too.
    let most = MAX_HELD_BYTES + (4 << 20);
    let kept = || CACHE.read().expect("nothing panics").len();
    let mut forgotten = 0;
    for number in 0..60 {
        let before = kept();
        for pattern in [format!(r"\w{{20}}{number}"), format!("(?:[a-z]{{1,20}}x){{1,20}}y{number}")] {
            assert!(Pattern::compile_cached(&pattern).expect("valid").is_match(&text).is_ok());
        }
        forgotten += usize::from(kept() < before);
        assert!(HeldBytes::total() <= most, "{}", HeldBytes::total());
    }
    assert!((1..60).contains(&forgotten), "{forgotten}");
}
