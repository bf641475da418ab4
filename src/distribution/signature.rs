//! Whether a tag is signed by one of the keys that a layer names.

use super::LAYER;
use crate::diagnostic::{Diagnostic, Result};
use crate::world::disk::UserGit;
use base64::Engine;
use base64::prelude::{BASE64_STANDARD, BASE64_STANDARD_NO_PAD};
use sha2::{Digest, Sha256};

/// The name that stands for each key: git prints the name, and the fingerprint of the key that signed.
const PRINCIPAL: &str = "publisher";

/// How git announces the fingerprint of a key.
const FINGERPRINT: &str = "SHA256:";

//= docs/spec.md#layers
//# A tag MUST be refused if it was moved since it was locked, or if no key of `signed_by` signed it under its
//# own name.
/// Returns the fingerprint of the key that signed the tag at `reference`.
///
/// # Errors
/// The tag is not signed, by another key, or is the object of another tag.
pub(super) fn verify_tag(git: &UserGit, layer: &str, tag: &str, reference: &str, keys: &[String]) -> Result<String> {
    let signers: String = keys.iter().map(|key| format!("{PRINCIPAL} namespaces=\"git\" {key}\n")).collect();
    let signers = git.write_file("toolsd-signers", &signers)?;
    let setting = format!("gpg.ssh.allowedSignersFile={}", signers.display());
    let arguments = ["-c", &setting, "-c", "gpg.ssh.program=ssh-keygen", "verify-tag", "--raw", reference];
    let verified = git.run(&arguments, b"")?;
    let refuse = |message: String, help: &str| Err(Diagnostic::new(LAYER, message).help(help));
    let lines = || verified.stderr.lines().map(str::trim);
    let fingerprint = |line: &str| Some(format!("{FINGERPRINT}{}", line.split_once(FINGERPRINT)?.1.split(' ').next()?));
    let good = lines().find(|line| line.starts_with(&format!("Good \"git\" signature for {PRINCIPAL} with")));
    let Some(signer) = good.filter(|_| verified.succeeded).and_then(fingerprint) else {
        let help =
            "ask its publisher for a tag that is signed by `git tag -s`, or change `signed_by` after a talk with them";
        return match lines().find_map(fingerprint) {
            Some(other) => {
                refuse(format!("tag {tag} is signed by {other}, which is not in `signed_by` of layer {layer}"), help)
            }
            None => refuse(
                format!("tag {tag} is not signed by a key that git can check, and layer {layer} has `signed_by`"),
                help,
            ),
        };
    };
    let format = git.run(&["for-each-ref", "--format=%(tag)", reference], b"")?;
    let own = String::from_utf8_lossy(&format.stdout).trim().to_owned();
    match own == tag {
        true => Ok(signer),
        false => refuse(
            format!("the object behind the tag {tag} of layer {layer} calls itself {own}"),
            "a signed tag was put under another name: ask the publisher",
        ),
    }
}

/// The fingerprint of a public key, as git and ssh write it; `None` for a certificate, whose fingerprint is that of another
/// key.
pub(super) fn fingerprint(key: &str) -> Option<String> {
    let (kind, rest) = key.split_once(' ')?;
    let key = BASE64_STANDARD.decode(rest.split(' ').next()?).ok().filter(|_| !kind.contains("-cert-"))?;
    Some(format!("{FINGERPRINT}{}", BASE64_STANDARD_NO_PAD.encode(Sha256::digest(key))))
}
