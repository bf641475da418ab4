//! `normalize_unicode`: a text in a Unicode normal form.

use crate::letters;
use crate::bounded::BoundedText;
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::primitive_api::*;
use crate::value::{Kind, Value};
use unicode_normalization::UnicodeNormalization;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "normalize_unicode",
    family: Family::Text,
    summary: "Returns `text` in a Unicode normal form (UAX #15), so that equal characters have equal code points.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        optional("form", &[Kind::Text], "`NFC`, `NFD`, `NFKC` or `NFKD` (default: `NFC`)."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""e\u0301" == "é""#, r#"false"#),
        Example::gives(r#""e\u0301".normalize_unicode() == "é""#, r#"true"#),
        Example::gives(r#""ﬁ²".normalize_unicode("NFKC")"#, r#""fi2""#),
        Example::fails(r#""a".normalize_unicode("NFX")"#, "no form `NFX`"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let form: fn(&str, &mut String) = match args.text_or("form").unwrap_or("NFC") {
        "NFC" => |text, normal| normal.extend(text.nfc()),
        "NFD" => |text, normal| normal.extend(text.nfd()),
        "NFKC" => |text, normal| normal.extend(text.nfkc()),
        "NFKD" => |text, normal| normal.extend(text.nfkd()),
        other => {
            let error = Diagnostic::new(Code::ARGUMENTS, format!("Unicode has no form `{other}`"));
            return Err(error.help(did_you_mean(other, ["NFC", "NFD", "NFKC", "NFKD"]).unwrap_or_default()));
        }
    };
    let mut normal = BoundedText::default();
    let mut part = String::new();
    for piece in letters::pieces_at_starters(args.text("text")) {
        part.clear();
        form(piece?, &mut part);
        normal.push(&part)?;
    }
    Ok(normal.into_value())
}
