//! Tests of what a survey sees, and of the strongest effect of a function.

use super::super::Program;
use crate::primitive_api::Effect;

const TOOL: &str = r#"fn show(args, config) {
    let list = [1, 2];
    let all = list.map(|x| x + list.len());
    args.limit = 3;
    config = 1;
    if args.query == "" && args?.deep.er && args["quoted"].x { fail("no", #{ a: args.limit }); }
    let f = Fn("inner");
    render("templates/a.hbs", [1].map(|y| helper(y)));
    args.items.filter(|i| config > 1)
}
fn inner() { 7 }
fn outer() { deep(1) }
fn pointed() { [1].map(Fn("to_graph")) }
fn pure_one() { trim(" a ") }
"#;
const LIB: &str = "fn deep(n) { if n > 3 { to_graph(n) } else { deep(n + 1) } } fn to_graph(x) { graph() }";

fn program() -> Program {
    let (program, errors) = Program::compile(&[("p/tool.rhai", TOOL), ("p/lib.rhai", LIB)]);
    assert!(errors.is_empty(), "{errors:?}");
    program
}

#[test]
fn a_survey_tells_definitions_calls_reads_and_assignments() {
    let program = program();
    let survey = program.survey("p/tool.rhai").expect("it exists");
    let names: Vec<&str> = survey.functions.iter().map(|function| function.name.as_str()).collect();
    assert_eq!(names, ["show", "inner", "outer", "pointed", "pure_one"]);
    assert_eq!(survey.functions[0].parameters, ["args", "config"]);
    assert_eq!(survey.functions[0].body.line_column(), (1, 23));
    let calls: Vec<String> =
        survey.calls_in(0).map(|call| format!("{}/{}@{}", call.name, call.arguments, call.at)).collect();
    assert_eq!(
        calls,
        [
            "map/2@p/tool.rhai:3:20",
            "len/1@p/tool.rhai:3:37",
            "fail/2@p/tool.rhai:6:64",
            "render/2@p/tool.rhai:8:5",
            "map/2@p/tool.rhai:8:35",
            "helper/1@p/tool.rhai:8:43",
            "filter/2@p/tool.rhai:9:16",
        ]
    );
    let render = survey.calls.iter().find(|call| call.name == "render").expect("it is called");
    assert_eq!(render.texts, [(0, "templates/a.hbs".to_owned())]);
    let filter = survey.calls.iter().find(|call| call.name == "filter").expect("it is called");
    assert_eq!((filter.method, filter.receiver.as_deref()), (true, Some("args")));
    let reads: Vec<&str> = survey.reads.iter().map(|read| read.property.as_str()).collect();
    assert_eq!(reads, ["limit", "query", "deep", "quoted", "limit", "items"]);
    let assigned: Vec<(&str, bool)> = survey.assignments.iter().map(|it| (it.parameter.as_str(), it.whole)).collect();
    assert_eq!(assigned, [("args", false), ("config", true)]);
    assert_eq!(survey.captures.len(), 1);
    assert_eq!((survey.captures[0].variable.as_str(), survey.captures[0].method.as_str()), ("list", "map"));
    let pointers: Vec<Option<&str>> = survey.pointers.iter().map(|pointer| pointer.name.as_deref()).collect();
    assert_eq!(pointers, [Some("inner"), Some("to_graph")]);
}

#[test]
fn effects_are_reported_with_their_call_chain() {
    let program = program();
    let chain = program.strongest_effect("p/tool.rhai", "outer");
    assert_eq!(chain.effect, Effect::Reads);
    let calls: Vec<String> = chain.calls.iter().map(|(name, at)| format!("{name} {at}")).collect();
    assert_eq!(calls, ["deep p/tool.rhai:12:14", "to_graph p/lib.rhai:1:25", "graph p/lib.rhai:1:79"]);
    assert_eq!(program.strongest_effect("p/tool.rhai", "pointed").effect, Effect::Reads);
    assert_eq!(program.strongest_effect("p/tool.rhai", "pure_one").effect, Effect::Pure);
    assert_eq!(program.strongest_effect("p/tool.rhai", "no_such").effect, Effect::Pure);
}

#[test]
fn functions_of_a_script_are_listed_in_order() {
    let program = program();
    let functions = program.functions("p/lib.rhai");
    let functions: Vec<(&str, usize)> = functions.iter().map(|it| (it.name.as_str(), it.arity)).collect();
    assert_eq!(functions, [("deep", 1), ("to_graph", 1)]);
}
