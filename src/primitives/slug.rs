//! `slug`: a text as a part of a URL.

use crate::bounded;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::primitive_api::*;
use crate::slug::{ascii_slug, github_slug, unicode_slug};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "slug",
    family: Family::Text,
    summary: "Returns `text` as a part of a URL.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        option(
            "style",
            &[Kind::Text],
            "`ascii` (default): transliterated to lowercase letters and digits, with each other run as one separator. `github`: as headings are linked on GitHub. `unicode`: NFKD, case folded, letters and numbers of all scripts, with blanks and hyphens as one separator and without other characters.",
        ),
        option("separator", &[Kind::Text], "The replacement for other characters (default: `-`)."),
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
            let error = Diagnostic::new(Code::ARGUMENTS, format!("`slug` has no style `{other}`"));
            Err(error.help(did_you_mean(other, ["ascii", "github", "unicode"]).unwrap_or_default()))
        }
    }
}
