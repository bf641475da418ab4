//! `toolsd remove`: a layer less.

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use super::project::Project;
use crate::definition::SETTINGS_FILE;
use crate::diagnostic::{Code, Diagnostic};
use crate::edit::remove_table;
use clap::Args;
use serde_json::json;

/// Remove a layer from this project.
#[derive(Args)]
pub struct RemoveCommand {
    /// The name of the layer.
    name: String,
}

impl RemoveCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let mut project = Project::open(context)?;
        project.definition(&self.name)?;
        let text = remove_table(&project.settings, "layers", &self.name).ok_or_else(|| {
            let message = format!("`{SETTINGS_FILE}` has no table `[layers.{}]` of its own", self.name);
            Diagnostic::new(Code("usage"), message)
                .help("remove the layer by hand, then run `toolsd trust` and `toolsd lock`")
        })?;
        project.set_settings(text)?;
        let files = project.write(context, project.changes(context, &project.registry(context)?)?)?;
        match context.options.format {
            OutputFormat::Json => context.terminal.json(&json!({ "removed": self.name, "written": files })),
            _ => context.terminal.line(&format!("removed layer {}; commit {}", self.name, files.join(", "))),
        }
        Ok(Exit::Success)
    }
}
