//! `hash_sha256`: a SHA-256 hash.

use crate::guard;
use crate::diagnostic::Result;
use crate::primitive_api::*;
use crate::value::{Kind, Value};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "hash_sha256",
    family: Family::Hash,
    summary: "Returns the SHA-256 hash (FIPS 180-4) of `data` as 64 lowercase hex digits. A string is hashed as UTF-8.",
    params: &[required("data", &[Kind::Text, Kind::Bytes], "The data to hash.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#""abc".hash_sha256()"#,
            r#""ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad""#,
        ),
        Example::gives(r#"hash_sha256("").sub_string(0, 8)"#, r#""e3b0c442""#),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let mut hasher = Sha256::new();
    for piece in args.bytes("data").chunks(guard::PIECE_BYTES) {
        guard::spend(piece.len())?;
        hasher.update(piece);
    }
    let mut hex = String::with_capacity(64);
    for byte in hasher.finalize() {
        let _ = write!(hex, "{byte:02x}"); // writing to a text cannot fail
    }
    Ok(hex.into())
}
