//! The definition file for editors, generated from the table of primitives, and formatting shared with the pages for
//! people.

use crate::primitive_api::{Gives, Need, Param, Primitive};
use crate::primitives::ALL;
use std::fmt::Write;

//= docs/spec.md#primitives
//# The signatures and the documentation of primitives MUST be generated from their declarations.
/// The text of `toolsd.d.rhai`, a definition file for editors that support rhai. It is sorted by name and has one entry
/// for each number of arguments.
pub fn rhai_definitions() -> String {
    let mut text = String::from("// Generated from the table of primitives: do not edit.\nmodule static;\n");
    for primitive in ALL {
        for arity in primitive.arities() {
            text.push('\n');
            write_comments(&mut text, primitive);
            let positional: Vec<&Param> = primitive.positional().take(arity).collect();
            let mut params: Vec<String> =
                positional.iter().map(|param| format!("{}: {}", param.name, join_kinds(param, "|"))).collect();
            if params.len() < arity {
                params.push("options: map".to_owned());
            }
            write_line(
                &mut text,
                &format!("fn {}({}) -> {};", primitive.name, params.join(", "), primitive.returns.name()),
            );
        }
    }
    text
}

fn write_comments(text: &mut String, primitive: &Primitive) {
    write_line(text, &format!("/// {}\n///", primitive.summary));
    for param in primitive.params {
        write_line(text, &format!("/// * {}", describe_parameter(param)));
    }
    write_line(text, &format!("///\n/// Effect: {}.\n///\n/// ```rhai", primitive.effect.name()));
    for example in primitive.examples {
        for row in example.script.lines() {
            write_line(text, &format!("/// {row}"));
        }
        write_line(text, &format!("/// // {}", describe_outcome(&example.gives)));
    }
    write_line(text, "/// ```");
}

/// Describes a parameter in one line: name, kinds, whether it can be omitted, and its meaning.
pub fn describe_parameter(param: &Param) -> String {
    let need = match param.need {
        Need::Required => "",
        Need::Optional => ", optional",
        Need::Option => ", option",
    };
    format!("`{}` ({}{need}): {}", param.name, join_kinds(param, " or "), param.doc)
}

fn join_kinds(param: &Param, between: &str) -> String {
    let names: Vec<&str> = param.kinds.iter().map(|kind| kind.name()).collect();
    names.join(between)
}

/// Describes the outcome of an example in one line.
pub fn describe_outcome(gives: &Gives) -> String {
    match gives {
        Gives::Json(json) => format!("gives {}", json.split_whitespace().collect::<Vec<_>>().join(" ")),
        Gives::Error(message) => format!("fails: {message}"),
    }
}

fn write_line(text: &mut String, line: &str) {
    // Writing to a text cannot fail.
    let _ = writeln!(text, "{line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#primitives
    //= type=test
    //# The signatures and the documentation of primitives MUST be generated from their declarations.
    #[test]
    fn every_primitive_is_in_the_definitions() {
        let text = rhai_definitions();
        for primitive in ALL {
            assert!(text.contains(&format!("\nfn {}(", primitive.name)), "{}", primitive.name);
        }
    }
}
