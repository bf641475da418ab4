//! The state that the readers of one file's tables share: its errors, its script, and how closely it is validated.

use super::code;
use super::fields::Fields;
use super::schema::{Schema, SchemaRole, lint_schema};
use crate::diagnostic::Diagnostic;
use crate::parse::toml::TomlNode;
use crate::source::Place;

/// How closely a definition file is validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Validation {
    /// Full: every error is reported with its location.
    Full,
    /// None, since the file is known to be valid: no locations are kept. Its examples and cases, which only tests run,
    /// may be missing.
    Skipped,
}

/// The state that the readers of one file share.
pub(super) struct DefinitionReader {
    /// The sibling script: `<stem>.rhai`.
    pub(super) script: String,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) validation: Validation,
}

impl DefinitionReader {
    #[allow(clippy::boxed_local, reason = "diagnostics are built boxed")]
    pub(super) fn diagnostic(&mut self, diagnostic: Box<Diagnostic>) {
        self.diagnostics.push(*diagnostic);
    }

    /// Reads and lints a schema.
    pub(super) fn schema(&mut self, fields: &Fields<'_>, name: &str, role: SchemaRole) -> Option<Schema> {
        fields.node(name).map(|node| self.schema_of(node, role))
    }

    /// Reads and lints the schema in a tree.
    pub(super) fn schema_of(&mut self, node: &TomlNode, role: SchemaRole) -> Schema {
        if self.validation == Validation::Skipped {
            return Schema::from_node_without_places(node);
        }
        let schema = Schema::from_node(node);
        self.diagnostics.extend(lint_schema(&schema, role));
        schema
    }

    /// Returns the script that a definition names, or the one next to its file.
    pub(super) fn script_of(&self, fields: &Fields<'_>) -> String {
        fields.text("script").unwrap_or_else(|| self.script.clone())
    }

    pub(super) fn missing(&mut self, at: &Place, message: &str, help: &str) {
        self.diagnostic(Diagnostic::new(code::MISSING_KEY, message).at(at.clone()).help(help));
    }
}
