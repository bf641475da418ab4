//! Seals what a suspended call keeps, so that it can pass through a client that nobody trusts: signed, bound to what
//! was asked of whom, and for a while only. It is readable: nothing secret belongs into it.

use super::Secret;
use crate::call::{CallRecord, Request};
use crate::value::Json;
use rmcp::model::{ErrorData, RequestStateCodec, SealOptions};
use std::time::Duration;

/// So long a client may take for its answers.
const LIFE: Duration = Duration::from_secs(3_600);

/// What a call keeps is at most so large, in bytes.
const MOST: usize = 1 << 20;

/// What the keys of this purpose are derived for.
const PURPOSE: &str = "toolsd 2026 requestState";

/// Seals and opens.
pub(crate) struct Sealing {
    codec: RequestStateCodec,
}

impl Sealing {
    //= docs/spec.md#questions
    //# Processes with one key MUST be able to go on with what another of them began.
    /// With a secret that replicas share, else with one of this process alone.
    pub(crate) fn new(secret: Option<&Secret>) -> Self {
        let key = match secret {
            Some(secret) => blake3::derive_key(PURPOSE, secret.bytes()),
            None => {
                let random: [[u8; 16]; 3] = std::array::from_fn(|_| uuid::Uuid::new_v4().into_bytes());
                blake3::derive_key(PURPOSE, &random.concat())
            }
        };
        // A derived key is as long as it must be.
        Self { codec: RequestStateCodec::new_unchecked(key) }
    }

    /// What a call keeps, for the client to bring again with the same request.
    pub(crate) fn seal(&self, record: &CallRecord, request: &Request) -> Result<String, ErrorData> {
        let bytes = serde_json::to_vec(record).map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        if bytes.len() > MOST {
            let message = format!("what the call keeps until it is answered has more than {} kB", MOST >> 10);
            return Err(ErrorData::internal_error(message, None));
        }
        Ok(self.codec.seal_with(&bytes, &SealOptions::new().associated_data(&bound(request)).ttl(LIFE)))
    }

    /// What was sealed for this very request.
    pub(crate) fn open(&self, state: &str, request: &Request) -> Result<CallRecord, ErrorData> {
        //= docs/spec.md#questions
        //# A state that was changed, that belongs to another request or that is too old MUST be refused with -32602.
        let refuse = || {
            let message = "`requestState` is not what the server gave for this request, or it is too old";
            ErrorData::invalid_params(message, None)
        };
        if state.len() > MOST * 2 {
            return Err(refuse());
        }
        let opened = self.codec.open_with(state, &bound(request)).map_err(|_| refuse())?;
        serde_json::from_slice(&opened).map_err(|_| refuse())
    }
}

/// What a state is bound to: method, name and arguments, in whatever order their keys come.
fn bound(request: &Request) -> [u8; 32] {
    let (method, name, arguments) = match request {
        Request::Call { tool, arguments } | Request::Prepare { tool, arguments } => {
            ("tools/call", tool.as_str(), Some(arguments))
        }
        Request::Read { uri } => ("resources/read", uri.as_str(), None),
        Request::Prompt { name, arguments } => ("prompts/get", name.as_str(), Some(arguments)),
        Request::Complete { .. } | Request::ListResources | Request::ListSkills => ("", "", None),
    };
    let mut hash = blake3::Hasher::new();
    for part in [method, name] {
        hash.update(&(part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    if let Some(arguments) = arguments {
        add(arguments, &mut hash);
    }
    hash.finalize().into()
}

/// Adds a value, the keys of its objects sorted.
fn add(value: &Json, hash: &mut blake3::Hasher) {
    match value {
        Json::Object(map) => {
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            hash.update(b"{");
            for key in keys {
                add(&Json::from(key.as_str()), hash);
                add(&map[key], hash);
            }
            hash.update(b"}");
        }
        Json::Array(items) => {
            hash.update(b"[");
            items.iter().for_each(|item| add(item, hash));
            hash.update(b"]");
        }
        scalar => {
            let text = scalar.to_string();
            hash.update(&(text.len() as u64).to_le_bytes());
            hash.update(text.as_bytes());
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(tool: &str, arguments: Json) -> Request {
        Request::Call { tool: tool.to_owned(), arguments }
    }

    //= docs/spec.md#questions
    //= type=test
    //# A state that was changed, that belongs to another request or that is too old MUST be refused with -32602.
    #[test]
    fn a_state_opens_for_its_own_request_alone() {
        let sealing = Sealing::new(None);
        let own = call("brew", json!({ "a": 1, "b": { "c": [1], "d": 2 } }));
        let state = sealing.seal(&CallRecord::default(), &own).unwrap();
        let turned = call("brew", json!({ "b": { "d": 2, "c": [1] }, "a": 1 }));
        assert_eq!(sealing.open(&state, &turned).unwrap(), CallRecord::default(), "the order of keys does not matter");
        let refused = |state: &str, request: &Request| sealing.open(state, request).unwrap_err().code.0;
        assert_eq!(refused(&format!("{state}-TAMPERED"), &own), -32602);
        assert_eq!(refused("", &own), -32602);
        assert_eq!(refused(&state, &call("brew", json!({ "a": 2, "b": { "c": [1], "d": 2 } }))), -32602);
        assert_eq!(refused(&state, &call("pour", json!({ "a": 1, "b": { "c": [1], "d": 2 } }))), -32602);
        let prompt = Request::Prompt { name: "brew".to_owned(), arguments: json!({ "a": 1 }) };
        assert_eq!(refused(&state, &prompt), -32602);
        assert!(Sealing::new(None).open(&state, &own).is_err(), "another process has another key");
        let old = SealOptions::new();
        let bound = bound(&own);
        let old = old.associated_data(&bound).ttl(Duration::ZERO);
        let expired = sealing.codec.seal_with(b"{}", &old);
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(refused(&expired, &own), -32602);
    }

    #[test]
    fn replicas_with_one_secret_open_each_others_states() {
        let own = call("brew", json!({}));
        let with = |secret: &str| Sealing::new(Some(&Secret::new(secret)));
        let state = with("a secret of the replicas").seal(&CallRecord::default(), &own).unwrap();
        assert!(with("a secret of the replicas").open(&state, &own).is_ok());
        assert!(with("another secret").open(&state, &own).is_err());
    }
}
