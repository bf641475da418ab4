//! The signature of a tool: one line that shows how a script calls it, and what comes back.

use super::schema_text::{Detail, SchemaText, is_identifier};
use crate::definition::Body;
use crate::registry::ServedTool;
use crate::value::Json;

/// Characters of a signature.
const MAX_SIGNATURE: usize = 300;

/// How much is shown of the arguments and of the result, from all of it to little: the first that is short enough is
/// taken. Arguments are cut last, since a call fails without them.
const DETAILS: &[(Detail, Detail)] = &[
    (detail(3, 40, 40), detail(4, 40, 40)),
    (detail(3, 40, 40), detail(3, 20, 12)),
    (detail(3, 40, 40), detail(2, 12, 8)),
    (detail(3, 40, 40), detail(2, 8, 5)),
    (detail(2, 40, 40), detail(2, 5, 3)),
    (detail(2, 20, 30), detail(1, 8, 3)),
    (detail(2, 12, 12), detail(1, 5, 3)),
    (detail(1, 10, 6), detail(1, 4, 2)),
    (detail(1, 8, 3), detail(0, 0, 2)),
    (detail(1, 5, 2), detail(0, 0, 1)),
];

const fn detail(depth: usize, fields: usize, choices: usize) -> Detail {
    Detail { depth, fields, choices }
}

/// How a script calls a tool, and what comes back, on one line of at most 300 characters; `…` stands for what is left
/// out. `field?` may be absent, `field?: integer = 1` is 1 then.
pub fn signature(tool: &ServedTool) -> String {
    let mut line = String::new();
    for (arguments, result) in DETAILS {
        line = line_of(tool, *arguments, *result);
        if line.chars().count() <= MAX_SIGNATURE {
            return line;
        }
    }
    if let Some((cut, _)) = line.char_indices().nth(MAX_SIGNATURE - 1) {
        line.truncate(cut);
        line.push('…');
    }
    line
}

fn line_of(tool: &ServedTool, arguments: Detail, result: Detail) -> String {
    let arguments = SchemaText::new(&tool.contract.schema, arguments, true).write();
    let name = &tool.name;
    let call = match is_identifier(name) {
        true => format!("{name}({arguments})"),
        false => format!("call_tool({}, {arguments})", Json::from(name.as_str())),
    };
    let result = match &tool.contract.output {
        Some(output) => SchemaText::new(output, result, false).write(),
        None => without_schema(&tool.definition.body.value).to_owned(),
    };
    format!("{call} -> {result}")
}

/// What a body without a schema of its result gives.
fn without_schema(body: &Body) -> &'static str {
    match body {
        Body::Text(_) | Body::Template { .. } | Body::Inline { .. } => "text",
        Body::File(_) | Body::Script { .. } | Body::Primitive(_) | Body::Prompts | Body::Operations { .. } => "any",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::test_registry::tool;

    /// What follows the name of a tool, and its signature.
    const SIGNATURES: &[(&str, &str)] = &[
        ("", "a(#{}) -> any"),
        ("text = \"x\"", "a(#{}) -> text"),
        ("input = { type = \"object\" }", "a(#{}) -> any"),
        ("input = { type = \"object\", additionalProperties = true }", "a(#{ … }) -> any"),
        (
            "input.type = \"object\"\ninput.required = [\"id\"]\ninput.properties = { depth = { type = \"integer\", default = 1 }, id = { type = \"string\" }, status = { enum = [\"open\", \"done\", 3] } }",
            "a(#{ depth?: integer = 1, id: string, status?: \"open\"|\"done\"|3 }) -> any",
        ),
        (
            "input.type = \"object\"\ninput.properties = { default = { type = [\"string\", \"null\"] }, \"a-b\" = { const = \"x\" }, _ = {} }",
            "a(#{ \"default\"?: string|null, \"a-b\"?: \"x\", \"_\"?: any }) -> any",
        ),
        (
            "output = { type = \"array\", items = { type = \"object\", properties = { id = { type = \"string\" }, rest = {} } } }",
            "a(#{}) -> [#{ id: string, rest: any }]",
        ),
        (
            "output = { type = \"object\", required = [\"id\"], properties = { id = { type = \"string\" }, error = { type = \"string\" } } }",
            "a(#{}) -> #{ id: string, error?: string }",
        ),
        (
            "output = { oneOf = [{ type = \"string\" }, { type = \"array\", items = { type = \"string\" } }, { type = \"string\" }] }",
            "a(#{}) -> string|[string]",
        ),
        (
            "output = { type = \"object\", additionalProperties = { type = \"array\", items = { type = \"integer\" } } }",
            "a(#{}) -> #{ [key]: [integer] }",
        ),
        (
            "output = { type = \"array\", prefixItems = [{ type = \"string\" }, { type = \"integer\" }] }",
            "a(#{}) -> [string, integer]",
        ),
        (
            "output = { \"$ref\" = \"#/$defs/Row\", \"$defs\" = { Row = { allOf = [{ \"$ref\" = \"#/$defs/Id\" }, { properties = { rows = { type = \"array\", items = { \"$ref\" = \"#/$defs/Row\" } } } }] }, Id = { type = \"object\", properties = { id = { type = \"string\" } } } } }",
            "a(#{}) -> #{ id: string, rows: [#{ id: string, rows: [#{ id: string, rows: [#{ id: string, rows: [#{ … }] }] }] }] }",
        ),
        ("output = { \"$ref\" = \"#/$defs/A\", \"$defs\" = { A = { \"$ref\" = \"#/$defs/A\" } } }", "a(#{}) -> any"),
        (
            "dispatch = \"job\"\ninput = { type = \"object\", properties = { id = { type = \"string\" } } }\n[tool.operations.add]\ndescription = \"x\"\neffect = \"pure\"\nrequired = [\"id\"]\n[tool.operations.remove]\ndescription = \"x\"\neffect = \"pure\"",
            "a(#{ job: \"add\"|\"remove\", id?: string }) -> any",
        ),
    ];

    fn with_name(name: &str, rest: &str) -> String {
        let effect = if rest.contains("dispatch") { "" } else { "effect = \"pure\"\n" };
        signature(&tool(&format!("[[tool]]\nname = \"{name}\"\ndescription = \"x\"\n{effect}{rest}\n")))
    }

    #[test]
    fn a_signature_shows_arguments_and_result() {
        for (rest, expected) in SIGNATURES {
            assert_eq!(with_name("a", rest), *expected, "{rest}");
        }
    }

    #[test]
    fn a_name_that_is_not_an_identifier_is_a_text() {
        for (name, expected) in [
            ("get-it", "call_tool(\"get-it\", #{}) -> any"),
            ("a.b", "call_tool(\"a.b\", #{}) -> any"),
            ("call", "call_tool(\"call\", #{}) -> any"),
            ("1st", "call_tool(\"1st\", #{}) -> any"),
            ("_a1", "_a1(#{}) -> any"),
        ] {
            assert_eq!(with_name(name, ""), expected);
        }
    }

    #[test]
    fn a_long_signature_is_cut_inside() {
        let properties = |count: usize, schema: &str| -> String {
            (0..count).map(|index| format!("a_long_name_{index} = {schema}")).collect::<Vec<_>>().join(", ")
        };
        let nested = format!("{{ type = \"object\", properties = {{ {} }} }}", properties(30, "{ type = \"string\" }"));
        let rest = format!(
            "input = {{ type = \"object\", required = [\"a_long_name_29\"], properties = {{ {} }} }}\noutput = {{ type = \"object\", properties = {{ {} }} }}",
            properties(30, "{ type = \"string\" }"),
            properties(30, &nested)
        );
        let line = with_name("a", &rest);
        assert!(line.chars().count() <= MAX_SIGNATURE, "{line}");
        assert!(line.contains("a_long_name_29: string, …") && line.ends_with("}"), "{line}");
        // Each part of it leads to all of it.
        let all = "{ anyOf = [{ \"$ref\" = \"#\" }, { type = \"array\", items = { \"$ref\" = \"#\" } }] }";
        let rest = format!("output = {{ type = \"object\", properties = {{ {} }} }}", properties(9, all));
        assert!(with_name("a", &rest).chars().count() <= MAX_SIGNATURE);
    }
}
