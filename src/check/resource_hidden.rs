//! Finds resources that another one hides.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::uri_variables;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Place;

const CODE: Code = Code("resource-hidden");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "Two resources, or their aliases, answer to the same URIs.",
    why: "Only one of them is ever read.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[[resource]]
name = "pot"
uri_template = "tea:///{pot}"
text = "a"
[[resource]]
name = "cup"
uri_template = "tea:///{cup}{?size}"
text = "b"
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        r##"uri_template = "tea:///{cup}{?size}""##,
        r##"uri_template = "tea:///cups/{cup}{?size}""##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut seen: Vec<(String, &str, &Place)> = Vec::new();
    let mut diagnostics = Vec::new();
    for resource in &subject.definitions.resources {
        let spellings = std::iter::once(&resource.uri).chain(&resource.aliases);
        let sound = |uri: &str| !resource.is_template || uri_variables(uri).is_ok();
        for spelling in spellings.filter(|spelling| sound(&spelling.value)) {
            let shape = shape(&spelling.value);
            match seen.iter().find(|(known, ..)| *known == shape) {
                Some((_, other, at)) => {
                    let message = format!("`{}` answers to the same URIs as the resource `{other}`", spelling.value);
                    diagnostics.push(error_at(CODE, &spelling.at, message, format!("that resource is at {at}")));
                }
                None => seen.push((shape, &resource.name.value, &spelling.at)),
            }
        }
    }
    diagnostics
}

/// A URI template without the names of its variables and without its query, which does not tell resources apart.
fn shape(uri: &str) -> String {
    let mut shape = String::new();
    let mut rest = uri;
    while let Some(start) = rest.find('{') {
        let end = rest[start..].find('}').map_or(rest.len(), |end| start + end + 1);
        shape.push_str(&rest[..start]);
        match rest[start + 1..].chars().next() {
            Some('?' | '&') => {}
            Some(operator @ ('+' | '#')) => shape.extend(['{', operator, '}']),
            _ => shape.push_str("{}"),
        }
        rest = &rest[end..];
    }
    shape.push_str(rest);
    shape
}
