//! Tests of templates: strict about missing values, lenient about null values, checked when they are compiled.

use super::*;
use serde_json::json;

fn compile(files: &[(&str, &str)]) -> (Templates, Vec<String>) {
    let files: Vec<Arc<Source>> = files.iter().map(|(path, text)| Source::new(*path, *text)).collect();
    let (templates, errors) = Templates::compile(&files);
    (templates, errors.iter().map(|error| format!("{} {error}", error.code)).collect())
}

fn filled(text: &str, context: &Json) -> String {
    Templates::default().render_text(text, context).unwrap_or_else(|error| format!("! {error}"))
}

//= docs/spec.md#prompts
//= type=test
//# A template MUST fail at a variable that has no value, and MUST suggest the nearest name.
#[test]
fn missing_values_are_reported_and_null_is_empty() {
    let context = json!({ "here": 1, "none": null, "list": [] });
    assert_eq!(filled("{{#if here}}a{{/if}}{{#if none}}b{{else}}c{{/if}}{{none}}", &context), "ac");
    assert_eq!(
        filled("{{#each none}}x{{/each}}{{#each list}}x{{else}}e{{/each}}{{#with none}}x{{/with}}", &context),
        "e"
    );
    for block in ["if", "unless", "each", "with"] {
        let text = format!("a\n{{{{#{block} her}}}}x{{{{else}}}}y{{{{/{block}}}}}");
        assert_eq!(filled(&text, &context), "! text:2:1: `her` has no value (did you mean `here`?)");
    }
    assert_eq!(filled("é {{her}}", &context), "! text:1:3: `her` has no value (did you mean `here`?)");
}

#[test]
fn an_inline_partial_that_includes_itself_is_refused() {
    for (body, column) in
        [("{{> p}}", 21), ("{{#if a}}{{> p}}{{/if}}", 30), ("{{#*inline \"q\"}}{{> p}}{{/inline}}", 37)]
    {
        let reported = filled(&format!("{{{{#*inline \"p\"}}}}{body}{{{{/inline}}}}{{{{> p}}}}"), &json!({ "a": 1 }));
        let place = format!("! text:1:{column}: the inline partial `p` includes itself");
        assert!(reported.starts_with(&place), "{reported}");
    }
}

#[test]
fn loops_know_where_they_are() {
    let context = json!({ "items": [{ "n": 1 }, { "n": 2 }], "map": { "z": 1, "a": 2 }, "t": "x" });
    let text = "{{#each items}}{{@index}}{{n}}{{../t}}{{#unless @last}},{{/unless}}{{/each}} {{#each map}}{{@key}}={{this}};{{/each}}";
    assert_eq!(filled(text, &context), "01x,12x z=1;a=2;");
    assert_eq!(
        filled(
            "{{#each items as |item at|}}{{at}}{{item.n}}{{/each}}{{#with items.[1] as |i|}}{{i.n}}{{n}}{{/with}}",
            &context
        ),
        "011222"
    );
    assert_eq!(
        filled("{{#each t}}{{/each}}", &context),
        "! text:1:1: `each` takes a list or a map (`if` tests a single value)"
    );
}

#[test]
fn pure_primitives_are_helpers_and_names_alone_are_variables() {
    let context = json!({ "text": "a b", "sort": "s", "words": ["x"] });
    assert_eq!(
        filled("{{text}} {{sort}} {{to_upper text}} {{#each (sort words)}}{{this}}{{/each}}", &context),
        "a b s A B x"
    );
    let error = filled("{{to_upper words}}", &context);
    assert!(error.starts_with("! text:1:1: `text` of `to_upper` takes string, got array"), "{error}");
}

//= docs/spec.md#prompts
//= type=test
//# Syntax errors, unknown helpers and unknown partials of a template MUST be reported when its pack is
//# loaded.
#[test]
fn helpers_partials_and_syntax_are_checked_at_load() {
    let (templates, errors) = compile(&[
        (
            "templates/a/x.hbs",
            "{{to_uper text}}\n{{> templates/shared/rwo}}\n{{#citations}}{{/citations}}\n{{> templates/shared/row kind=\"k\"}}",
        ),
        ("templates/shared/row.hbs", "- {{name}} {{kind}}\n"),
        ("templates/a/bad.hbs", "a\n{{#if x}}\nb\n"),
        ("templates/a/cycle.hbs", "{{> templates/a/cycle}}"),
        ("templates/a/open.hbs", "a {{name"),
    ]);
    assert_eq!(
        errors,
        [
            "template-syntax templates/a/bad.hbs:2:1: the block `if` is not closed (close it with `{{/if}}`)",
            "template-syntax templates/a/open.hbs:1:3: the tag is not closed (close it with `}}`; braces as text are `\\{{`)",
            "template-helper templates/a/x.hbs:1:3: there is no helper `to_uper` (did you mean `to_upper`?)",
            "template-partial templates/a/x.hbs:2:5: there is no partial `templates/shared/rwo` (did you mean `templates/shared/row`?)",
            "template-helper templates/a/x.hbs:3:4: there is no block `citations` (to loop over a list: `{{#each citations}}`; to test a value: `{{#if citations}}`)",
            "template-partial templates/a/cycle.hbs:1:5: the partial `templates/a/cycle` leads back to this template (a template must not include itself)",
        ]
    );
    assert_eq!(templates.render("templates/shared/row.hbs", &json!({ "name": "n", "kind": "k" })).unwrap(), "- n k\n");
    let error = templates.render("templates/shared/rows.hbs", &json!({})).unwrap_err();
    assert_eq!(error.help.as_deref(), Some("did you mean `templates/shared/row.hbs`?"));
}

#[test]
fn errors_inside_partials_name_the_partial() {
    let (templates, errors) =
        compile(&[("templates/x.hbs", "{{> templates/row}}"), ("templates/row.hbs", "a\n{{nam}}")]);
    assert!(errors.is_empty(), "{errors:?}");
    let error = templates.render("templates/x.hbs", &json!({ "name": 1 })).unwrap_err();
    assert_eq!(error.to_string(), "templates/row.hbs:2:1: `nam` has no value (did you mean `name`?)");
}

#[test]
fn the_variables_of_a_template_are_known() {
    let (templates, _) = compile(&[
        (
            "t/x.hbs",
            "{{a.b}}{{#each items as |item|}}{{id}}{{item.x}}{{../c}}{{@index}}{{@root.d}}{{/each}}{{> t/row e k=f}}{{#with g}}{{h}}{{this}}{{/with}}{{truncate i 3}}",
        ),
        ("t/row.hbs", "{{k}}{{z}}"),
    ]);
    let found: Vec<String> = templates
        .variables("t/x.hbs")
        .iter()
        .map(|(path, place)| format!("{} {}", path.join("."), place.line_column().1))
        .collect();
    assert_eq!(
        found,
        [
            "a.b 3",
            "items 16",
            "items.*.id 35",
            "items.*.x 41",
            "c 51",
            "d 69",
            "e 97",
            "f 101",
            "e.z 91",
            "g 112",
            "g.h 117",
            "g 122",
            "i 148"
        ]
    );
}

#[test]
fn a_template_in_a_definition_is_placed_there() {
    let source = Source::new("tools.d/a.toml", "text = '''Hi {{#if}}x{{/if}}'''");
    let place = source.place(7..source.text.len());
    let mut templates = Templates::default();
    let errors = templates.add_inline("Hi {{#if}}x{{/if}}", &place);
    assert!(errors.is_empty() || errors[0].at.as_ref().unwrap().line_column() == (1, 17), "{errors:?}");
    let errors = templates.add_inline("Hi {{#if a}}x", &place);
    assert_eq!(errors[0].at.as_ref().unwrap().line_column().0, 1);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn nothing_makes_it_panic(text in "([{}#/>(\\[\"|a-c .=~!\\\\]|\\{\\{|\\}\\}|\\{\\{#if |else|\\PC){0,40}") {
        let _ = Templates::default().render_text(&text, &json!({ "a": 1 }));
    }
}
