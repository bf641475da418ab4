//! `percent_encode`: a text as a part of a URI.

use crate::bounded::BoundedText;
use crate::guard;
use crate::primitive_api::*;
use crate::value::Kind;
use percent_encoding::percent_encode_byte;

/// What stays as it is everywhere in a URI, besides letters and digits (RFC 3986, unreserved).
const UNRESERVED: &str = "-._~";

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "percent_encode",
    family: Family::Text,
    summary: "Returns `text` as a part of a URI: each byte of other characters than letters, digits and `-._~` becomes `%` and two digits.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        optional("keep", &[Kind::Text], "More ASCII characters that stay as they are, such as `/`."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""black tea/é".percent_encode()"#, r#""black%20tea%2F%C3%A9""#),
        Example::gives(r#""black tea/é".percent_encode("/")"#, r#""black%20tea/%C3%A9""#),
    ],
    run: |_, args| {
        let keep = args.text_or("keep").unwrap_or_default();
        let stays = |character: char| {
            character.is_ascii_alphanumeric() || (character.is_ascii() && (UNRESERVED.contains(character) || keep.contains(character)))
        };
        let mut encoded = BoundedText::default();
        for piece in guard::pieces(args.text("text")) {
            for character in piece?.chars() {
                let mut bytes = [0; 4];
                let written = character.encode_utf8(&mut bytes);
                if stays(character) {
                    encoded.push(written)?;
                } else {
                    written.bytes().try_for_each(|byte| encoded.push(percent_encode_byte(byte)))?;
                }
            }
        }
        Ok(encoded.into_value())
    },
};
