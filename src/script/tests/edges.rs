//! One test for each pitfall of rhai that script authors should not run into.

use super::{error, run, value};
use serde_json::json;

#[test]
fn closures_are_called_with_what_they_take() {
    assert_eq!(value("[1, 2].map(|x| x * 2)"), json!([2, 4]));
    assert_eq!(value("[5, 6].map(|x, i| x + i)"), json!([5, 7]));
    assert_eq!(value("let k = 10; [1, 2].map(|x| x + k)"), json!([11, 12]));
    assert_eq!(value("let k = 10; [1, 2].map(|x, i| x + i + k)"), json!([11, 13]));
    assert_eq!(value("[1, 2, 3].filter(|x| x > 1).reduce(|a, b| a + b, 0)"), 5);
    assert_eq!(value("[[1, 2, 3].some(|x| x > 2), [1].all(|x| x > 2), [].all(|x| false)]"), json!([true, false, true]));
    assert_eq!(value("[[4, 5].find(|x| x > 4), [4].find(|x| x > 4), [4, 5].index_of(|x| x > 4)]"), json!([5, null, 1]));
    assert_eq!(
        value("[[4, 5].index_of(5), [4, 5].index_of(6), [4, 5].find_map(|x| if x > 4 { `${x}!` })]"),
        json!([1, -1, "5!"])
    );
    assert_eq!(value("let sum = 0; [1, 2].for_each(|x| { sum += x; }); sum"), 3);
    assert_eq!(run("fn twice(x) { x * 2 } fn main() { [1, 2].map(Fn(\"twice\")) }"), Ok(json!([2, 4])));
    assert_eq!(
        error("fn main() { [1].filter(|x| x) }"),
        "a.rhai:1:17: the function of `filter` must return true or false, this one returned an integer"
    );
    assert_eq!(
        error("fn main() { [1].map(|| 1) }"),
        "a.rhai:1:17: this function takes 0 arguments, but it is called with 1"
    );
}

#[test]
fn a_letter_in_single_quotes_is_found_as_a_text_is() {
    assert_eq!(value("[\"tea\".contains('e'), \"tea\".contains('x'), 'e' in \"tea\"]"), json!([true, false, true]));
}

#[test]
fn errors_in_closures_are_not_swallowed() {
    for verb in ["map", "filter", "some", "all", "find", "find_map", "index_of", "for_each"] {
        let text = format!("fn main() {{ [2, 1].{verb}(|x| throw \"no\") }}");
        assert!(error(&text).ends_with(": no"), "{verb}");
    }
    assert!(error("fn main() { [2, 1].reduce(|a, b| throw \"no\") }").ends_with(": no"));
}

#[test]
fn verbs_that_change_in_place_and_return_nothing_are_gone() {
    for call in [
        "[1].reverse()",
        "[1].truncate(1)",
        "[1].retain(|x| true)",
        "[1].drain(|x| true)",
        "[1].dedup()",
        "[1].chop(1)",
        "[1].splice(0, 1, [])",
        "[1].pad(9, 0)",
        "\"a\".crop(1)",
        "\"a\".make_upper()",
        "\"a\".pad(9, \"x\")",
        "\"a\".remove(\"a\")",
        "#{}.mixin(#{})",
        "#{}.fill_with(#{})",
        "blob_contents(9)",
        "exit()",
        "sleep_ms(1)",
        "eval_it(1)",
    ] {
        let primitive = call.split(['.', '(']).find(|word| crate::primitives::find(word).is_some());
        if primitive.is_none() {
            let message = error(&format!("fn main() {{ {call} }}"));
            assert!(message.contains("there is no function") || message.contains("does not take"), "{call}: {message}");
        }
    }
    assert!(
        error("fn main() { [2, 1].sort(|a, b| a - b) }")
            .contains("takes 1 argument, an item, and returns its key; this one takes 2")
    );
}

#[test]
fn what_builds_values_changes_them() {
    assert_eq!(
        value("let a = [1]; a.push(2); a.insert(0, 0); a.append([9]); a += [7]; a += 8; a"),
        json!([0, 1, 2, 9, 7, 8])
    );
    assert_eq!(
        value("let a = [1, 2, 3]; [a.pop(), a.shift(), a.remove(0), a.len(), a.pop()]"),
        json!([3, 1, 2, 0, null])
    );
    assert_eq!(
        value("let m = #{}; m.a = 1; m[\"b\"] = 2; m += #{ c: 3 }; m.remove(\"a\"); m"),
        json!({ "b": 2, "c": 3 })
    );
    assert_eq!(value("let m = #{ a: [] }; m.a.push(1); m"), json!({ "a": [1] }));
    assert_eq!(value("[[1, 2, 3, 4].extract(1, 2), [1, 2, 3].extract(-1), [1] + [2]]"), json!([[2, 3], [3], [1, 2]]));
    assert_eq!(value("#{ a: 1, b: 2 } + #{ b: 3 }"), json!({ "a": 1, "b": 3 }));
}

#[test]
fn texts_are_texts_down_to_their_letters() {
    assert_eq!(value("let o = []; for c in \"aé\" { o.push(c == \"é\"); } o"), json!([false, true]));
    assert_eq!(
        value("let s = \"aé\"; [s.len(), s[1], s + 1, 1 + s, s + (), s + [1, \"x\"], `${#{ a: 1.5 }}`]"),
        json!([2, "é", "aé1", "1aé", "aé", "aé[1,\"x\"]", "{\"a\":1.5}"])
    );
    assert_eq!(value("let s = \"a\"; s += 1; s += \"b\"; s += 'c'; s"), "a1bc");
    assert_eq!(
        value("[\"a\" in \"abc\", \"a\" in [\"a\"], \"a\" in #{ a: 1 }, 2 in 1..3, 'a' in \"abc\"]"),
        json!([true, true, true, true, true])
    );
}

#[test]
fn equality_is_by_value() {
    assert_eq!(
        value(
            "[[1, #{ a: [2] }] == [1, #{ a: [2] }], [1] == [1.0], #{ a: 1 } != #{ a: 2 }, 1 == \"1\", () == 1, [1] == ()]"
        ),
        json!([true, true, true, false, false, false])
    );
}

#[test]
fn what_is_missing_is_null_and_safe_to_ask_for() {
    assert_eq!(value("let m = #{ a: 1 }; [m.b, m.b?.c, m.b ?? 3, m?.b?.c ?? 4]"), json!([null, null, 3, 4]));
    assert!(error("fn main() { let m = #{}; m.a.b }").contains("a () has no property `b`"));
}

#[test]
fn functions_survive_the_way_through_values() {
    assert_eq!(value("let m = #{ f: |x| x + 1 }; let g = m.f; g.call(1)"), 2);
    assert_eq!(
        error("fn main() { |x| x }"),
        "a function cannot leave its script (return its result, not the function itself)"
    );
}

//= docs/spec.md#scripts
//= type=test
//# A script MUST NOT reach a file, a variable or a program that its pack was not granted.
#[test]
fn no_code_comes_from_outside() {
    for text in ["fn main() { eval(\"1\") }", "import \"x\" as x; fn main() { 1 }"] {
        let (_, errors) = super::Program::compile(&[("a.rhai", text)]);
        assert_eq!(errors.len(), 1, "{text}");
        assert!(errors[0].message.contains("reserved"), "{}", errors[0]);
    }
}

#[test]
fn a_value_that_is_nested_without_end_is_refused() {
    assert!(error("fn main() { let a = []; for i in 0..300 { a = [a]; } a }").contains("nested more than 128"));
}

/// A function of another script is reached only if that script is one of those that all see.
#[test]
fn a_script_sees_its_own_functions_and_those_of_the_library() {
    use super::host::TestHost;
    use crate::guard::{CancelFlag, Guard, Limits};
    use std::sync::Arc;
    let texts = [("p/a.rhai", "fn own() { 1 }"), ("p/b.rhai", "fn other() { 2 }"), ("p/lib.rhai", "fn common() { 3 }")];
    let (program, errors) = super::super::Program::compile(&texts);
    assert!(errors.is_empty(), "{errors:?}");
    let run = |name: &str| {
        let guard = Guard::new(Limits::default(), CancelFlag::default());
        program.run("p/a.rhai", name, Vec::new(), Arc::new(TestHost::new(&[])), guard).map(|value| value.to_json())
    };
    assert_eq!((run("own"), run("common")), (Ok(json!(1)), Ok(json!(3))));
    assert!(run("other").unwrap_err().message.contains("has no function `other`"));
}
