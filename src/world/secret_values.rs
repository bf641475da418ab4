//! The values of secret variables that scripts or programs got, and their replacement in everything that leaves toolsd.

use crate::value::Json;
use aho_corasick::{AhoCorasick, MatchKind};
use arc_swap::ArcSwapOption;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::borrow::Cow;
use std::sync::Arc;

/// Shorter values are not replaced: they are parts of ordinary texts.
const MIN_SECRET_BYTES: usize = 6;

/// Shorter lines of a value are not replaced by themselves.
const MIN_LINE_BYTES: usize = 16;

/// How many values are known at most; the oldest one is forgotten.
const MAX_VALUES: usize = 256;

/// What stays as it is everywhere in a URI (RFC 3986, unreserved).
const RESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The same for a path: a slash stays, too.
const RESERVED_IN_PATH: AsciiSet = RESERVED.remove(b'/');

/// The known values. They are those of the process: a value outlives the call that read it, in memories and graphs.
static KNOWN: ArcSwapOption<SecretValues> = ArcSwapOption::const_empty();

struct SecretValues {
    /// Name and value of each variable.
    values: Vec<(String, String)>,
    /// Finds each form of each value.
    forms: AhoCorasick,
    /// The value that each form is of.
    owners: Vec<usize>,
    /// What takes the place of each form.
    markers: Vec<String>,
}

impl SecretValues {
    fn new(values: Vec<(String, String)>) -> Option<Self> {
        let (mut forms, mut owners, mut markers) = (Vec::new(), Vec::new(), Vec::new());
        for (at, (name, value)) in values.iter().enumerate() {
            let in_json = |text: &str| {
                let quoted = Json::from(text).to_string();
                quoted[1..quoted.len() - 1].to_owned()
            };
            let escaped = in_json(value);
            forms.extend([
                value.clone(),
                STANDARD.encode(value),
                STANDARD_NO_PAD.encode(value),
                URL_SAFE_NO_PAD.encode(value),
                utf8_percent_encode(value, &RESERVED).to_string(),
                utf8_percent_encode(value, &RESERVED_IN_PATH).to_string(),
                // A cell of a Markdown table.
                value.replace('|', "\\|"),
                in_ascii_json(&escaped),
                // Data that contains JSON is shown as JSON again.
                in_json(&escaped),
                escaped,
            ]);
            forms.extend(base64_within(value.as_bytes()));
            // A key of several lines is quoted by the line, or indented.
            let is_telling = |line: &&str| line.len() >= MIN_LINE_BYTES && !line.starts_with("-----");
            forms.extend(value.lines().map(str::trim).filter(is_telling).map(str::to_owned));
            owners.resize(forms.len(), at);
            markers.resize(forms.len(), format!("[secret {name}]"));
        }
        let forms = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(forms).ok()?;
        Some(Self { values, forms, owners, markers })
    }
}

/// A text that is escaped as in JSON, as programs write it that keep to ASCII.
fn in_ascii_json(escaped: &str) -> String {
    let mut units = [0; 2];
    let escape = |character: char| match character.is_ascii() {
        true => character.to_string(),
        false => character.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    escaped.chars().map(escape).collect()
}

/// What base64 makes of a value inside a longer text, as in `user:password` of HTTP: one form for each remainder of its place
/// by three, without the digits at both ends that depend on what is around it.
fn base64_within(value: &[u8]) -> impl Iterator<Item = String> {
    (0..3).map(move |before| {
        let digits = STANDARD_NO_PAD.encode([&[0; 2][..before], value].concat());
        let (first, last) = ((before * 4).div_ceil(3), usize::from(!(before + value.len()).is_multiple_of(3)));
        digits[first..digits.len() - last].to_owned()
    })
}

/// Remembers the value of a secret variable, which is replaced from now on.
pub(super) fn remember_secret(name: &str, value: &str) {
    let value = value.trim();
    let is_known = |(known_name, known): &(String, String)| known_name == name && known == value;
    if value.len() < MIN_SECRET_BYTES || KNOWN.load().as_ref().is_some_and(|known| known.values.iter().any(is_known)) {
        return;
    }
    KNOWN.rcu(|known| {
        let mut values = known.as_ref().map(|known| known.values.clone()).unwrap_or_default();
        values.push((name.to_owned(), value.to_owned()));
        values.drain(..values.len().saturating_sub(MAX_VALUES));
        SecretValues::new(values).map(Arc::new).or_else(|| known.clone())
    });
}

/// Whether a secret value is known at all.
pub fn knows_secrets() -> bool {
    KNOWN.load().is_some()
}

/// The name of the secret variable whose value is in a text.
pub(super) fn secret_within(text: &str) -> Option<String> {
    let known = KNOWN.load_full()?;
    let owner = known.owners[known.forms.find(text)?.pattern().as_usize()];
    Some(known.values[owner].0.clone())
}

//= docs/spec.md#secrets
//# The value of a secret variable that a script or a program got MUST be replaced by `[secret NAME]` in
//# results, errors, notices, questions, logs, the audit and the output of programs, also in base64,
//# percent-encoded or escaped as in JSON.
/// The text without secret values.
pub fn redacted(text: &str) -> Cow<'_, str> {
    match KNOWN.load().as_ref() {
        Some(known) if known.forms.is_match(text) => Cow::Owned(known.forms.replace_all(text, &known.markers)),
        _ => Cow::Borrowed(text),
    }
}

/// Replaces secret values in a text.
pub fn redact_text(text: &mut String) {
    if let Cow::Owned(redacted) = redacted(text) {
        *text = redacted;
    }
}

/// Replaces secret values in bytes.
pub fn redact_bytes(bytes: &mut Vec<u8>) {
    if let Some(known) = KNOWN.load().as_ref() {
        *bytes = known.forms.replace_all_bytes(bytes, &known.markers);
    }
}

/// Replaces secret values in the texts, keys and numbers of JSON.
pub fn redact_json(json: &mut Json) {
    match json {
        Json::String(text) => redact_text(text),
        Json::Number(number) => {
            if let Cow::Owned(redacted) = redacted(&number.to_string()) {
                *json = Json::String(redacted);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(redact_json),
        Json::Object(map) => {
            map.values_mut().for_each(redact_json);
            if map.keys().any(|key| matches!(redacted(key), Cow::Owned(_))) {
                let entries = std::mem::take(map).into_iter();
                *map = entries.map(|(key, value)| (redacted(&key).into_owned(), value)).collect();
            }
        }
        Json::Null | Json::Bool(_) => {}
    }
}

/// The JSON without secret values.
pub fn redacted_json(mut json: Json) -> Json {
    redact_json(&mut json);
    json
}
