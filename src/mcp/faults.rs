//! Faults as errors of the protocol.

use super::{Revision, STATUS};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::registry::{PackPart, Registry};
use crate::value::Json;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::json;

/// MCP 2026-07-28: the client lacks a capability that the request needs.
const LACKING: ErrorCode = ErrorCode(-32021);

/// The error for a fault. `uri` is what was asked for, if it was a resource.
///
/// `reject(code, …)` brings its own code as `code` of its data, beside `data`; codes that JSON-RPC keeps
/// for itself, all but two of them, are not let through.
pub(crate) fn error(fault: Diagnostic, uri: Option<&str>, revision: Revision) -> ErrorData {
    let message = match &fault.help {
        Some(help) => format!("{} ({help})", fault.message),
        None => fault.message.clone(),
    };
    let data = fault.data.map(|data| *data);
    match fault.code.kind() {
        //= docs/spec.md#protocol
        //# A resource that is not there MUST be refused with the code of the revision in use.
        "not_found" if uri.is_some() => {
            let code = if revision.is_stateless() { ErrorCode::INVALID_PARAMS } else { ErrorCode::RESOURCE_NOT_FOUND };
            ErrorData::new(code, message, Some(with_uri(data, uri)))
        }
        //= docs/spec.md#questions
        //# A client without a capability that a definition requires MUST be told which one.
        "capability" if revision.is_stateless() => ErrorData::new(LACKING, message, data),
        "capability" => ErrorData::new(ErrorCode::INVALID_REQUEST, message, data),
        "not_found" | "arguments" => ErrorData::invalid_params(message, data),
        "reject" => {
            let code = data.as_ref().and_then(|data| data.get("code")).and_then(Json::as_i64);
            let data = data.as_ref().and_then(|data| data.get("data")).filter(|data| !data.is_null()).cloned();
            ErrorData::new(allowed(code), message, data)
        }
        _ => {
            if fault.code != Code::CANCELLED {
                tracing::warn!(code = %fault.code, %message, "a request failed");
            }
            ErrorData::internal_error(message, data)
        }
    }
}

/// The error for a name that nothing has, with the nearest that something has.
pub(crate) fn unknown<'a>(
    registry: &Registry,
    part: PackPart,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> ErrorData {
    if let Some(refused) = registry.refusal(part, name) {
        return ErrorData::invalid_params(refused.fault().to_string(), None);
    }
    let what = part.name();
    let mut message = match did_you_mean(name, known) {
        Some(help) => format!("unknown {what} `{name}` ({help})"),
        None => format!("unknown {what} `{name}`"),
    };
    if registry.withheld().next().is_some() {
        message.push_str(&format!("; files of this workspace are not used, `{STATUS}` says why"));
    }
    ErrorData::invalid_params(message, None)
}

/// The error for a host that does not do what it was asked.
pub(crate) fn surprise() -> ErrorData {
    ErrorData::internal_error("the host answered something else than it was asked", None)
}

fn allowed(code: Option<i64>) -> ErrorCode {
    match code.and_then(|code| i32::try_from(code).ok()) {
        Some(code @ (-32602 | -32603)) => ErrorCode(code),
        Some(code) if !(-32768..=-32000).contains(&code) => ErrorCode(code),
        _ => ErrorCode::INTERNAL_ERROR,
    }
}

fn with_uri(data: Option<Json>, uri: Option<&str>) -> Json {
    match data {
        Some(Json::Object(mut data)) => {
            data.entry("uri").or_insert_with(|| json!(uri));
            Json::Object(data)
        }
        Some(Json::Null) | None => json!({ "uri": uri }),
        Some(data) => json!({ "uri": uri, "data": data }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#protocol
    //= type=test
    //# A resource that is not there MUST be refused with the code of the revision in use.
    #[test]
    fn not_found_has_the_code_of_its_era() {
        let fault = || *Diagnostic::new(Code::NOT_FOUND, "nothing there");
        let old = error(fault(), Some("a:b"), Revision::Icons);
        assert_eq!((old.code.0, old.data), (-32002, Some(json!({ "uri": "a:b" }))));
        assert_eq!(error(fault(), Some("a:b"), Revision::Stateless).code.0, -32602);
        assert_eq!(error(fault(), None, Revision::Icons).code.0, -32602);
    }

    #[test]
    fn a_script_cannot_use_a_code_of_the_protocol() {
        let reject = |code: i64| {
            let fault = Diagnostic::new(Code::REJECT, "no").data(json!({ "code": code, "data": [1] }));
            error(*fault, None, Revision::Icons)
        };
        assert_eq!((reject(7).code.0, reject(7).data), (7, Some(json!([1]))));
        assert_eq!(reject(-32602).code.0, -32602);
        assert_eq!(reject(-32021).code.0, -32603);
    }
}
