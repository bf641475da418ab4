//! `outline_code`: functions and classes of source code.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse::outline::{BlockLayout, outline};
use crate::parse::{ParserInput, TEXT_KINDS};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "outline_code",
    family: Family::Parse,
    summary: "Returns the classes, functions and methods of source code in order, as `#{ kind, name, line, end_line, parent }`. `parent` is the enclosing item, its name with those around it, joined by dots. A scanner finds them that knows strings, comments and brackets but no grammar; items without a body are omitted.",
    params: &[
        required(
            "text",
            TEXT_KINDS,
            "The source code, or a document: a path that ends in `.rs` makes the scanner distinguish lifetimes from quotes.",
        ),
        required(
            "layout",
            &[Kind::Text],
            "`indent` for Python and similar languages, `braces` for Rust, JavaScript, TypeScript, Java, Go, C and similar languages.",
        ),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"outline_code("class Pot:\n    def boil(self):\n        return 1\n", "indent")"#,
            r#"[{"kind": "class", "name": "Pot", "line": 1, "end_line": 3, "parent": null}, {"kind": "method", "name": "boil", "line": 2, "end_line": 3, "parent": "Pot"}]"#,
        ),
        Example::gives(r#"outline_code("fn boil() {\n}\n", "braces").map(|f| [f.name, f.end_line])"#, r#"[["boil", 2]]"#),
        Example::fails(r#"outline_code("", "tabs")"#, "`indent` or `braces`"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let layout = match args.text("layout") {
        "indent" => BlockLayout::Indent,
        "braces" => BlockLayout::Braces,
        other => {
            let message = format!("`layout` of `outline_code` is `indent` or `braces`, got `{other}`");
            return Err(Diagnostic::new(Code::ARGUMENTS, message));
        }
    };
    outline(&ParserInput::from_value(args.value("text")).document(), layout).map(Value::List)
}
