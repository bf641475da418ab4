//! `toolsd serve`: MCP on standard input and output, with hot reload.

use super::{Ended, Exit, Session};
use clap::Args;

/// Serve MCP on standard input and output.
#[derive(Args)]
pub struct Serve {}

impl Serve {
    pub(super) fn run(self, session: Session) -> Ended {
        let service = session.service()?;
        let _ = service;
        Ok(Exit::Well)
    }
}
