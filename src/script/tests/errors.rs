//! Errors: with clear messages, at the right location, with the calls that led to them; caught and thrown again.

use super::super::Program;
use super::host::TestHost;
use super::{error, run, run_files};
use crate::diagnostic::Code;
use crate::guard::{CancelFlag, Guard, Limits};
use serde_json::json;
use std::sync::Arc;

//= docs/spec.md#scripts
//= type=test
//# A call of an unknown function MUST fail with the nearest name.
#[test]
fn unknown_names_are_reported_with_the_nearest_one() {
    let text = "fn total(a) { a } fn main() { let ab = totl(1); }";
    assert_eq!(error(text), "a.rhai:1:40: there is no function `totl` with 1 argument (did you mean `total`?)");
    assert_eq!(
        error("fn main() { [1].pusch(2) }"),
        "a.rhai:1:17: there is no function `pusch` with 2 arguments (did you mean `push`?)"
    );
    assert_eq!(
        error("fn total(a) { a } fn main() { total() }"),
        "a.rhai:1:31: there is no function `total` with 0 arguments (`total` takes 1 arguments)"
    );
    assert_eq!(error("fn main() { 1.push(2) }"), "a.rhai:1:15: `push` does not take integer, integer");
    assert_eq!(error("fn main() { let a = #{} * 2; }"), "a.rhai:1:25: `*` does not take map and integer");
    assert_eq!(error("fn main() { let a = 1; a.b }"), "a.rhai:1:26: an integer has no property `b`");
    assert_eq!(
        error("fn main() { [1][3] }"),
        "a.rhai:1:17: there is no item 3 in a list of 1 (the first item is 0, the last -1)"
    );
}

#[test]
fn all_unreadable_files_are_reported() {
    let files = [
        ("b.rhai", "fn main() { let x = ; }"),
        ("a.rhai", "// ö\nfn f() { oox }"),
        ("c.rhai", "fn main() { 1 }"),
        ("d.rhai", "fn f() { #{ default: 1 } }"),
        ("e.rhai", "fn f() {} fn f() {}"),
        ("lib.rhai", "throw \"x\";"),
    ];
    let (program, errors) = Program::compile(&files);
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        [
            "b.rhai:1:21: unexpected `;`",
            "a.rhai:2:10: there is no variable `oox` (declare it with `let`; a top-level constant is read as `global::NAME`)",
            "d.rhai:1:13: `default` is a reserved word (write a map key in quotes: `#{ \"default\": … }`, `map[\"default\"]`; a function or a variable needs another name, such as `default_tool` of a tool)",
            "e.rhai:1:11: `f` with 0 parameters is defined twice",
            "lib.rhai:1:1: the top level of the script fails: Runtime error: x (the top level may contain only constants and functions)",
        ]
    );
    assert_eq!(program.functions("c.rhai").len(), 1);
}

//= docs/spec.md#scripts
//= type=test
//# An error in a script MUST report its file, line and column, and the calls that led to it.
#[test]
fn errors_name_their_own_file_and_calls() {
    let files = [
        (
            "tool.rhai",
            "fn main() {\n    let x = 1;\n    outer(x)\n}\nfn bad(x) { throw `at ${x}` }\nfn own() { apply(|x| x.nope) }",
        ),
        (
            "p/lib.rhai",
            "fn outer(x) {\n    [x].map(|y| inner(y))\n}\nfn inner(y) { y + #{} }\nfn apply(f) { f.call(1) }",
        ),
    ];
    let error = run_files(&files, Limits::default()).expect_err("it fails");
    assert_eq!(error.to_string(), "p/lib.rhai:4:17: `+` does not take integer and map");
    let trace: Vec<String> = error.trace.iter().map(ToString::to_string).collect();
    assert_eq!(trace, ["p/lib.rhai:2:17", "p/lib.rhai:2:9", "tool.rhai:3:5"]);
    let renamed =
        [(files[0].0, &*files[0].1.replace("fn own", "fn other").replace("outer(x)", "apply(|x| x.nope)")), files[1]];
    let error = run_files(&renamed, Limits::default()).expect_err("it fails");
    assert_eq!(error.to_string(), "tool.rhai:3:17: an integer has no property `nope`");
}

#[test]
fn scripts_of_a_pack_do_not_disturb_each_other() {
    let files = [
        ("p/a.rhai", "const X = 1; fn main() { [helper(), helping(), global::X, of_graph()] } fn helper() { \"a\" }"),
        ("p/b.rhai", "const X = 2; fn main() { helper() } fn helper() { \"b\" } fn helping(a) { \"another\" }"),
        ("p/graph.rhai", "fn of_graph() { helper_of_lib() }"),
        ("p/lib.rhai", "const L = 3; fn helping() { [global::L, helper_of_lib()] } fn helper_of_lib() { \"lib\" }"),
    ];
    let result = run_files(&files, Limits::default());
    assert_eq!(result, Ok(json!(["a", [3, "lib"], 1, "lib"])));
}

#[test]
fn each_script_of_the_folder_lib_is_seen_by_all_of_its_pack() {
    let seen = [
        ("tools.d/p/a.rhai", "fn main() { [first(), second()] }"),
        ("tools.d/p/lib/one.rhai", "const ONE = 1; fn first() { global::ONE }"),
        ("tools.d/p/lib/more/two.rhai", "fn second() { first() + global::ONE }"),
    ];
    assert_eq!(run_files(&seen, Limits::default()), Ok(json!([1, 2])));
    assert!(!super::super::is_shared("tools.d/lib/a.rhai"), "a pack may be called lib");
}

//= docs/spec.md#scripts
//= type=test
//# A name that two scripts of a pack define, one of which all scripts see, MUST be refused.
#[test]
fn a_name_in_common_with_a_script_that_all_scripts_see_is_refused() {
    let files = [
        ("p/a.rhai", "const X = 1;\nconst Y = 1;\nfn main() { helper() }\nfn helper() { global::X }"),
        ("p/b.rhai", "const X = 1;\nfn helper(a) { a }"),
        ("p/graph.rhai", "fn of_graph() { 1 }"),
        ("p/lib.rhai", "const Y = 3;\nfn helper() { global::Y }\nfn of_graph() { 2 }"),
    ];
    let (_, errors) = Program::compile(&files);
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let expected = [
        "p/lib.rhai:3:15: `of_graph` is defined here and at p/graph.rhai:1:15, which all scripts see (rename one of the two)",
        "p/a.rhai:4:13: `helper` is defined here and at p/lib.rhai:2:13, which all scripts see (rename one of the two)",
        "p/a.rhai:2:7: `Y` is defined here and at p/lib.rhai:1:7, which all scripts see (rename one of the two)",
    ];
    assert_eq!(errors, expected);
}

/// Rhai keeps what it found for a name, and we keep it for later calls of the thread.
#[test]
fn constants_are_seen_whoever_called_the_function_before() {
    let lib = "const L = 3; const LIST = [1, 2]; fn outer() { [inner(), inner(), inner()] } fn inner() { global::L }";
    let main = "const X = double(global::L); fn pair() { [one(), one(), inner(), inner()] } fn one() { global::X } \
                fn main() { [outer(), pair(), one(), inner(), global::LIST] }";
    let (program, errors) =
        Program::compile(&[("p/a.rhai", main), ("p/lib.rhai", &format!("{lib} fn double(n) {{ n * 2 }}"))]);
    assert_eq!(errors, []);
    for (name, expected) in [
        ("main", json!([[3, 3, 3], [6, 6, 3, 3], 6, 3, [1, 2]])),
        ("pair", json!([6, 6, 3, 3])),
        ("one", json!(6)),
        ("inner", json!(3)),
        ("one", json!(6)),
    ] {
        let guard = Guard::new(Limits::default(), CancelFlag::default());
        let result = program.run("p/a.rhai", name, Vec::new(), Arc::new(TestHost::new(&[])), guard);
        assert_eq!(result.map(|value| value.to_json()), Ok(expected), "{name}");
    }
}

#[test]
fn what_is_thrown_is_caught_with_its_fields() {
    assert_eq!(
        run("fn main() { try { throw \"no\" } catch (error) { return [error.kind, error.message]; } }"),
        Ok(json!(["script", "no"]))
    );
    let text = "fn main() { try { throw #{ message: \"no\", line: 3 } } catch (error) { return error.line; } }";
    assert_eq!(run(text), Ok(json!(3)));
    let thrown = run("fn main() { throw #{ message: \"no\", help: \"try\", line: 3 } }").expect_err("it throws");
    assert_eq!(thrown.code, Code::SCRIPT);
    assert_eq!(thrown.to_string(), "a.rhai:1:13: no (try)");
    assert_eq!(thrown.data.as_deref(), Some(&json!({ "message": "no", "help": "try", "line": 3 })));
    assert_eq!(error("fn main() { try { throw \"no\" } catch (error) { throw; } }"), "a.rhai:1:48: no");
}

#[test]
fn a_closure_cannot_use_the_list_whose_verb_it_is_given_to() {
    assert_eq!(
        error("fn main() { let a = [1]; a.map(|x| a.len()) }"),
        "a.rhai:1:11: argument 1 of `map` is already in use (a closure cannot use the variable whose method it is passed to: write `map(list, |x| …)`)"
    );
    assert_eq!(run("fn main() { let a = [1]; map(a, |x| a.len()) }"), Ok(json!([1])));
}

/// Returns what a script sees of a language error that it catches: its kind, its code and its message.
fn caught(expression: &str) -> serde_json::Value {
    let text = format!(
        "fn total(a) {{ a }}\nfn main() {{\n try {{ {expression} }} catch (error) {{ return [error.kind, error.code, error.message, error.at]; }}\n}}"
    );
    run(&text).unwrap_or_else(|error| panic!("{expression}: {error}"))
}

//= docs/spec.md#scripts
//= type=test
//# A caught error MUST have a kind, a code and a message, whatever raised it.
#[test]
fn language_errors_are_caught_like_our_own() {
    for (expression, message) in [
        ("totl(1)", "there is no function `totl` with 1 argument"),
        ("total()", "there is no function `total` with 0 arguments"),
        ("let list = [1]; list[3]", "there is no item 3 in a list of 1"),
        ("let text = \"a\"; text[3]", "there is no character 3 in a text of 1"),
        ("let a = 1; a / 0", "division by zero: 1 / 0"),
        ("9223372036854775807 + 1", "addition overflow: 9223372036854775807 + 1"),
        ("#{} * 2", "`*` does not take map and integer"),
        ("let m = #{}; !m.nme", "`!` does not take `()`"),
        ("let m = #{}; m.a - m.b", "`-` does not take `()` and `()`"),
        ("let a = 1; a.b", "an integer has no property `b`"),
        ("let n = 1; if n { }", "expected bool, got integer"),
        ("let n = 1.5; for x in n { }", "`for` takes a list, a range or a sequence"),
        ("let a = 1; Fn(\"no_such\").call(a)", "there is no function `no_such` with 1 argument"),
    ] {
        let seen = caught(expression);
        assert_eq!(seen, json!(["script", "script", message, seen[3]]), "{expression}");
        assert!(seen[3].as_str().is_some_and(|at| at.starts_with("a.rhai:3:")), "{expression}: {seen}");
    }
    assert_eq!(caught("parse_json(\"{\")")[0], "parse");
}

#[test]
fn caught_language_errors_can_be_rethrown_and_shown() {
    let throw = "fn total(a) { a } fn main() { try { totl(1) } catch (error) { throw error; } }";
    assert_eq!(error(throw), "a.rhai:1:37: there is no function `totl` with 1 argument (did you mean `total`?)");
    let captured = "fn main() { try { 1 / 0 } catch (error) { let f = || error.message; return f.call(); } }";
    assert_eq!(run(captured), Ok(json!("division by zero: 1 / 0")));
    let map = "fn main() { let error = #{ error: \"mine\", message: \"x\" }; try { 1 / 0 } catch (e) { } error.error }";
    assert_eq!(run(map), Ok(json!("mine")));
}

#[test]
fn each_function_reports_its_first_error() {
    let text = "fn a() { let x = ; oox }\n\nfn b() {\n    oox\n}\nfn c() { 1 }\nprivate fn d() { #{ default: 1 } }\n";
    let (_, errors) = Program::compile(&[("a.rhai", text)]);
    let places: Vec<String> = errors.iter().filter_map(|error| Some(error.at.as_ref()?.to_string())).collect();
    assert_eq!(places, ["a.rhai:1:18", "a.rhai:4:5", "a.rhai:7:21"]);
    let (_, errors) = Program::compile(&[("a.rhai", "fn a() { \"open }\nfn b() { oox }\n")]);
    assert_eq!(errors.len(), 1, "{errors:#?}");
}

#[test]
fn a_sign_or_word_of_another_language_is_translated_where_the_script_stops() {
    for (line, says) in [
        ("let a = 'abc';", "double quotes"),
        ("let a = true ? 1 : 2;", "`if condition { a } else { b }`"),
        ("x++;", "`x += 1`"),
        ("if x == 1 and x == 2 { }", "`&&`"),
        ("let f = x => x + 1;", "`|x| x + 1`"),
        ("let a = x is 1;", "`==`"),
        ("console.log(x);", "`print`"),
        ("let a = JSON.parse(\"1\");", "`parse_json`"),
        ("let a = JSON.stringify(x);", "`to_json`"),
        ("let a = typeof x;", "`type_of(x)`"),
        ("raise \"no\";", "`throw \"message\"`"),
        ("let a = f\"a {x}\";", "`…${x}…`"),
        ("let a = [y for y in x];", "`rows.filter(|r| …).map(|r| …)`"),
        ("# why", "`//`"),
        ("match x { 1 => 2 }", "`switch n {"),
        ("let a = \"ab\"[0:1];", "`rows.take(2)`"),
        ("for (let i = 0; i < 3; i++) { }", "`for i in 0..10 { … }`"),
        ("let {a} = x;", "`let id = r.id;`"),
        ("let a = String::from(\"a\");", "without `::`"),
        ("let a = x || \"d\";", "`a ?? b`"),
        ("let a: i64 = 1;", "leave the type out"),
        // A block, not the map for which scripts of clients take it.
        ("let a = { b: 1 };", "`#{ key: value }`"),
    ] {
        let text = format!("fn t() {{ let x = 1;\n{line} 1 }}");
        let (_, errors) = Program::compile(&[("p/a.rhai", &text)]);
        let help = errors.first().and_then(|error| error.help.clone()).unwrap_or_default();
        assert!(help.contains(says), "{line}: {help}");
    }
}

#[test]
fn a_function_that_is_named_as_a_reserved_word_gets_the_name_of_the_default() {
    for word in ["new", "import", "use", "if", "for", "in", "await", "null", "match"] {
        let (_, errors) = Program::compile(&[("p/a.rhai", &format!("private fn {word}(args) {{\n    1\n}}\n"))]);
        let reported: Vec<String> = errors.iter().map(ToString::to_string).collect();
        let expected = format!(
            "p/a.rhai:1:12: a function cannot have the name `{word}`: it is a reserved word (name it `{word}_tool`, the default function of a tool `{word}`)"
        );
        assert_eq!(reported, [expected]);
    }
}

#[test]
fn values_that_other_languages_take_for_true_or_for_a_list_of_pairs_get_the_form_that_works() {
    for (line, says) in [
        ("if a.b { 1 }", "write a comparison, such as `x != ()`"),
        ("if a { 1 }", "write `!x.is_empty()`, or `x != ()`"),
        ("!a.b", "`!` takes only true and false"),
        ("a.b || a.c", "write `a ?? b` for a default"),
        ("for (k, v) in a { }", "`for key in map.keys() { … map[key] … }`"),
    ] {
        let reported = error(&format!("fn main() {{ let a = #{{ b: \"x\", c: \"y\" }}; {line} }}"));
        assert!(reported.contains(says), "{line}: {reported}");
    }
}
