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
//# A pattern that is too complex, or a text that is too long for it, MUST be refused before the search.
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
//# A pattern that is too complex, or a text that is too long for it, MUST be refused before the search.
#[test]
fn a_text_that_is_too_long_for_look_around_is_refused() {
    let long = "a line of some words\n".repeat(360_000);
    let error = Pattern::compile_cached("(?<=a)b").expect("valid").is_match(&long).expect_err("it is too long");
    let message = "the text has 7382 kB; this pattern, with look-around or back references, takes up to 4882 kB";
    assert_eq!((error.code, &*error.message), (Code::LIMIT, message));
    assert_eq!(all(&Pattern::compile_cached("(?<=a)b").expect("valid"), &long), Err(error));
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

/// Checks that a cancelled call stops a search: the guard is consulted within a bounded number of steps, so even a
/// search that would take minutes ends.
fn stops(pattern: &str, text: &str) {
    let pattern = Pattern::compile_cached(pattern).expect("valid");
    let cancel = CancelFlag::default();
    cancel.cancel();
    let guard = Guard::new(Limits { time: Duration::from_secs(3_600), ..Limits::default() }, cancel);
    let _entered = guard.enter();
    for existence in [true, false] {
        let error = match existence {
            true => pattern.is_match(text).err(),
            false => all(&pattern, text).err(),
        };
        let said = error.map(|error| error.code);
        assert_eq!(said, Some(Code::CANCELLED), "{} over {} bytes, {existence}", pattern.text(), text.len());
    }
}

//= docs/spec.md#primitives
//= type=test
//# A primitive MUST check the limits of its call after a bounded amount of work, whatever its arguments are.
#[test]
fn the_worst_patterns_stop() {
    let random = random_text(12 << 20);
    for pattern in [
        "(?:[ab]{1,100}){1,10}c",
        "((?:a|b){1,30}){1,30}c",
        "a(?:[ab]{500})c",
        "(a*)*(a*)*(b*)*c",
        r"(?i)\b(a|b|ab|ba)+\b[ab]{900}\bc",
        "(?:a*){50}c",
        "(.*)(.*)(.*)(.*)c",
    ] {
        stops(pattern, &random);
        stops(pattern, &format!("é{random}é"));
    }
    // Many short searches take as long as a long one.
    let (pattern, cancel) = (Pattern::compile_cached("(?:[ab]{1,100}){1,10}c").expect("valid"), CancelFlag::default());
    cancel.cancel();
    let guard = Guard::new(Limits::default(), cancel);
    let _entered = guard.enter();
    let stopped = (0..100_000).find_map(|_| pattern.is_match(&random[..64]).err());
    assert_eq!(stopped.map(|error| error.code), Some(Code::CANCELLED));
}

//= docs/spec.md#primitives
//= type=test
//# A primitive MUST check the limits of its call after a bounded amount of work, whatever its arguments are.
#[test]
fn a_search_in_pieces_stops_while_it_runs() {
    // The text has one line, and the DFA builds a state for nearly every byte.
    let pattern = Pattern::compile_cached(r"(?s)a.{200}c.*").expect("valid");
    let text = random_text(2 << 20);
    for is_existence in [true, false] {
        // The guard is also consulted at the beginning, when there is still time.
        let guard = Guard::new(Limits { time: Duration::from_millis(20), ..Limits::default() }, CancelFlag::default());
        let _entered = guard.enter();
        let began = Instant::now();
        let error = if is_existence { pattern.is_match(&text).err() } else { all(&pattern, &text).err() };
        assert_eq!(error.map(|error| error.code), Some(Code::LIMIT), "{is_existence}");
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    }
}

#[test]
fn a_long_text_is_searched_in_pieces_or_refused() {
    let long = format!("é{}<!-- tea\n -->", "<!- some words\n".repeat(200_000));
    let found = |pattern: &str| {
        let pattern = Pattern::compile(pattern).expect("valid");
        let known = regex::Regex::new(pattern.text()).expect("valid");
        let ours = all(&pattern, &long);
        assert_eq!(pattern.is_match(&long).is_ok(), ours.is_ok() || pattern.text().starts_with("(?s)"), "{pattern:?}");
        ours.map(|ours| assert_eq!(ours, expected(&known, &long), "{pattern:?}")).map_err(|error| error.message)
    };
    for pattern in
        ["<!--(?s:.*?)-->", r"<!--\s+(\w+)\s+-->", r"\btea\b", r"(?-u:\b)tea\s+-->", r"(a)(?s:.{20})<!--(.*)"]
    {
        assert_eq!(found(pattern), Ok(()), "{pattern}");
    }
    let message = "the text has 2929 kB; this pattern takes up to 1024 kB";
    assert_eq!(found(r"\b\w+\s+-->"), Err(message.to_owned()));
    let message = "a match with groups has 2929 kB; this pattern takes up to 1706 kB";
    assert_eq!(found(r"(?s)<(.*)>"), Err(message.to_owned()));
}

#[test]
fn a_match_at_the_edge_of_a_part_is_whole() {
    let patterns = ["a{1,3}", "a{1,3}?b?", r"(a{2})|(a)", r"\ba{1,4}\b", "[^\n]*b", "(?m)^a.*$", "é{1,2}a?", "x|$"];
    let texts = ["xxxxxaaab", "aaaaaaaaab", "x\naaa\n\nab\n", "éééaéaaéx", " aaa aaaa aaaaa "];
    for (pattern, text, step) in
        patterns.iter().flat_map(|one| texts.iter().flat_map(move |text| (1..12).map(move |step| (*one, *text, step))))
    {
        let mut ours = Pattern::compile(pattern).expect("valid");
        let Engine::Linear(linear) = ours.engine else { panic!("it has no look-around") };
        ours.engine = Engine::Linear(Box::new(linear.with_step(step)));
        let known = regex::Regex::new(pattern).expect("valid");
        assert_eq!(all(&ours, text).expect("it ends"), expected(&known, text), "{pattern} in {text:?} by {step}");
    }
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

    /// Parts of a text agree too, however short they are.
    #[test]
    fn parts_agree_with_the_regex_crate(pattern in patterns(), text in texts(), step in 1_usize..12) {
        let Ok(known) = regex::Regex::new(&pattern) else { return Ok(()) };
        let mut ours = Pattern::compile(&pattern).expect("regex accepts it");
        let Engine::Linear(linear) = ours.engine else { panic!("it has no look-around") };
        ours.engine = Engine::Linear(Box::new(linear.with_step(step)));
        prop_assert_eq!(&all(&ours, &text).expect("it ends"), &expected(&known, &text));
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
