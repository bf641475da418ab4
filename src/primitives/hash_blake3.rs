//! `hash_blake3`: a BLAKE3 hash.

use crate::guard;
use crate::primitive_api::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "hash_blake3",
    family: Family::Hash,
    summary: "Returns the BLAKE3 hash of `data` as 64 lowercase hex digits. A string is hashed as UTF-8.",
    params: &[required("data", &[Kind::Text, Kind::Bytes], "The data to hash.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#""A pot MUST brew.".hash_blake3()"#,
            r#""9e370988219bc30d3c941f736ee8d68f696a8bb895b62646022f2bdb7632cf74""#,
        ),
        Example::gives(r#"from_base64("").hash_blake3() == "".hash_blake3()"#, r#"true"#),
    ],
    run: |_, args| {
        let mut hasher = blake3::Hasher::new();
        for piece in args.bytes("data").chunks(guard::PIECE_BYTES) {
            guard::spend(piece.len())?;
            hasher.update(piece);
        }
        Ok(hasher.finalize().to_hex().as_str().into())
    },
};
