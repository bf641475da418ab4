//! `slug`: `text` as a part of an address.

use crate::bounded;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::primitive::*;
use crate::slug::{ascii_slug, github_slug, unicode_slug};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "slug",
    family: Family::Text,
    summary: "`text` as a part of an address.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        option(
            "style",
            &[Kind::Text],
            "`ascii` (if left out): transliterated, lower-case letters and digits, every other run one separator. `github`: as headings are linked there. `unicode`: NFKD, case folded, letters and numbers of all scripts, blanks and hyphens one separator, other characters gone.",
        ),
        option("separator", &[Kind::Text], "What stands for other characters; `-` if left out."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""4.1 A & Größe".slug()"#, r#""4-1-a-grosse""#),
        Example::gives(r#""4.1 A & Größe".slug(#{ style: "github" })"#, r#""41-a--größe""#),
        Example::gives(r#""4.1 A & Größe".slug(#{ style: "unicode" })"#, r#""41-a-grosse""#),
        Example::gives(r#""Read Me".slug(#{ separator: "_" })"#, r#""read_me""#),
        Example::fails(r#""a".slug(#{ style: "gihub" })"#, "has no style `gihub`"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let (text, separator) = (args.text("text"), args.text_or("separator").unwrap_or("-"));
    bounded::reserve(text.len().saturating_mul(separator.len().max(1)))?;
    match args.text_or("style").unwrap_or("ascii") {
        "ascii" => ascii_slug(text, separator).map(Value::from),
        "github" => github_slug(text, separator).map(Value::from),
        "unicode" => unicode_slug(text, separator).map(Value::from),
        other => {
            let fault = Diagnostic::new(Code::ARGUMENTS, format!("`slug` has no style `{other}`"));
            Err(fault.help(did_you_mean(other, ["ascii", "github", "unicode"]).unwrap_or_default()))
        }
    }
}
