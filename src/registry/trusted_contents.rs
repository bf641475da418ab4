//! The bytes of files that were trusted, each in a file that is named by its hash, next to the record of trust: they serve
//! while the files of the workspace are others.

use super::trust::hash_hex;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::Files;
use crate::world::disk::{Disk, make_private_folder, trust_folder};
use crate::world::path;

/// The folder, next to the record of trust.
const FOLDER: &str = "trusted";

/// Keeps the bytes of a file that is to be trusted.
///
/// # Errors
/// The folder cannot be written.
pub fn keep_trusted(bytes: &[u8]) -> Result<()> {
    let folder = folder()
        .ok_or_else(|| Diagnostic::new(Code::WORLD, "there is no folder for what is trusted").help("set `HOME`"))?;
    let hash = hash_hex(bytes);
    if kept(&hash).is_some() {
        return Ok(());
    }
    make_private_folder(&folder)?;
    Disk::new(&folder, [])?.write(&hash, bytes)
}

/// The bytes with this hash; `None` if they are not here, or were changed there.
pub(super) fn kept(hash: &str) -> Option<Vec<u8>> {
    let bytes = Disk::new(&folder()?, []).ok()?.read(hash).ok()?;
    (hash_hex(&bytes) == hash).then_some(bytes)
}

/// How many bytes of a file differ from the content with this hash: those between what both begin and what both end with.
/// The file that differs the least is most likely the one that this was made of: another branch may have had another since.
pub(super) fn difference(bytes: &[u8], hash: &str) -> usize {
    if hash_hex(bytes) == hash {
        return 0;
    }
    let known = kept(hash).unwrap_or_default();
    let (short, long) = (bytes.len().min(known.len()), bytes.len().max(known.len()));
    let begin = bytes.iter().zip(&known).take_while(|(a, b)| a == b).count();
    let end = bytes.iter().rev().zip(known.iter().rev()).take(short - begin).take_while(|(a, b)| a == b).count();
    long - begin - end
}

fn folder() -> Option<String> {
    trust_folder().map(|folder| path::join(&folder, FOLDER))
}
