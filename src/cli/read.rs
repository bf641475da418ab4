//! `toolsd read`: reads a resource, as a client would.

use super::call::tell_unexpected;
use super::options::Format;
use super::{Ended, Exit, Session};
use crate::call::{Answer, Request, ResourceAnswer};
use crate::content::ResourceBody;
use crate::value::Json;
use clap::Args;
use serde_json::json;

/// Read a resource.
#[derive(Args)]
pub struct Read {
    /// Its URI.
    uri: String,
}

impl Read {
    pub(super) fn run(self, session: &Session) -> Ended {
        let service = session.service()?;
        let registry = service.registry();
        session.tell_faults(&registry);
        if registry.packs.is_empty() && !self.uri.starts_with("toolsd:") {
            return Err(session.nothing_serves(&registry));
        }
        match session.ask(&service, Request::Read { uri: self.uri }) {
            Answer::Contents(contents) => {
                tell(session, &contents);
                Ok(Exit::Well)
            }
            other => Ok(tell_unexpected(session, other)),
        }
    }
}

fn tell(session: &Session, contents: &ResourceAnswer) {
    for (uri, mime_type, body) in &contents.parts {
        match (session.shared.format, body) {
            (Format::Json, ResourceBody::Text(text)) => match serde_json::from_str::<Json>(text) {
                Ok(data) => session.terminal.json(&data),
                Err(_) => session.terminal.json(&Json::from(text.as_str())),
            },
            (_, ResourceBody::Text(text)) => session.terminal.text(text),
            (_, ResourceBody::Blob(blob)) => {
                session.terminal.json(&json!({ "uri": uri, "mimeType": mime_type, "blob": blob }));
            }
        }
    }
}
