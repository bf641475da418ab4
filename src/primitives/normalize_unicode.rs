//! `normalize_unicode`: `text` in a normal form of Unicode (UAX #15), so that equal letters have equal code points.

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::primitive::*;
use crate::value::{Kind, Value};
use unicode_normalization::UnicodeNormalization;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "normalize_unicode",
    family: Family::Text,
    summary: "`text` in a normal form of Unicode (UAX #15), so that equal letters have equal code points.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        optional("form", &[Kind::Text], "`NFC` (if left out), `NFD`, `NFKC` or `NFKD`."),
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
    let text = args.text("text");
    let normal: String = match args.text_or("form").unwrap_or("NFC") {
        "NFC" => text.nfc().collect(),
        "NFD" => text.nfd().collect(),
        "NFKC" => text.nfkc().collect(),
        "NFKD" => text.nfkd().collect(),
        other => {
            let fault = Diagnostic::new(Code::ARGUMENTS, format!("Unicode has no form `{other}`"));
            return Err(fault.help(did_you_mean(other, ["NFC", "NFD", "NFKC", "NFKD"]).unwrap_or_default()));
        }
    };
    Ok(normal.into())
}
