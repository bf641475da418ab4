//! The texts that `toolsd new` writes.

/// Path and text of each file.
pub type Files = Vec<(String, String)>;

/// A pack with one tool.
pub fn pack(name: &str) -> Files {
    let title = title(name);
    let head = format!("[pack]\ntitle = \"{title}\"\nversion = \"0.1.0\"\n\n{}", tool_text(&format!("{name}_hello")));
    vec![
        (format!("tools.d/{name}.toml"), head),
        (format!("tools.d/{name}.rhai"), script_text(&format!("{name}_hello"))),
    ]
}

/// A tool in a file of its own.
pub fn tool(pack: &str, name: &str) -> Files {
    vec![
        (format!("tools.d/{pack}/{name}.toml"), tool_text(name)),
        (format!("tools.d/{pack}/{name}.rhai"), script_text(name)),
    ]
}

/// A prompt in a file of its own.
pub fn prompt(pack: &str, name: &str) -> Files {
    let title = title(name);
    let definition = format!(
        r#"[[prompt]]
name = "{name}"
title = "{title}"
description = "Asks for a greeting. Use it to see that prompts work."
arguments = [{{ name = "name", required = true, description = "Who is greeted", complete = ["World", "Ada"] }}]
template = "prompts/{pack}/{name}.md"

[[prompt.example]]
title = "a greeting"
arguments = {{ name = "Ada" }}
contains = "Ada"
"#
    );
    vec![
        (format!("tools.d/{pack}/{name}.toml"), definition),
        (format!("prompts/{pack}/{name}.md"), "Please write a short greeting to {{name}}.\n".to_owned()),
    ]
}

fn tool_text(name: &str) -> String {
    let title = title(name);
    format!(
        r#"[[tool]]
name = "{name}"
title = "{title}"
description = "Greets someone by name. Use it to see that the pack works; returns one sentence."
effect = "pure"

[tool.input]
type = "object"
required = ["name"]
properties.name = {{ type = "string", minLength = 1, description = "Who is greeted" }}

[tool.output]
type = "object"
required = ["greeting"]
properties.greeting = {{ type = "string", description = "The sentence" }}

[[tool.example]]
title = "a greeting"
arguments = {{ name = "Ada" }}
gives = {{ greeting = "Hello, Ada!" }}
"#
    )
}

fn script_text(name: &str) -> String {
    format!("/// Greets someone by name.\nfn {name}(args) {{\n    #{{ greeting: `Hello, ${{args.name}}!` }}\n}}\n")
}

/// `my_first_pack` as “My first pack”.
fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
