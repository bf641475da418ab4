//! `toolsd schema`: the JSON Schema of definition files, by which editors complete and check them.

use super::options::{CommandResult, Exit};
use super::terminal::Terminal;
use crate::definition::{pack_schema, workspace_schema};
use clap::{Args, ValueEnum};

/// Print the JSON Schema of definition files, for editors.
#[derive(Args)]
#[command(after_help = "\
Save the schema next to the folder `tools.d`, and name it in the first line of a definition file:
  toolsd schema > .toolsd/schema/pack.json
  #:schema ../schema/pack.json
`toolsd new` does both.")]
pub struct SchemaCommand {
    /// The files to describe.
    #[arg(value_enum, default_value_t = DescribedFiles::Pack)]
    files: DescribedFiles,
}

#[derive(Clone, Copy, ValueEnum)]
enum DescribedFiles {
    /// The files below `tools.d`.
    Pack,
    /// `toolsd.toml`.
    Workspace,
}

impl SchemaCommand {
    pub(super) fn run(&self, terminal: &Terminal) -> CommandResult {
        let schema = match self.files {
            DescribedFiles::Pack => pack_schema(),
            DescribedFiles::Workspace => workspace_schema(),
        };
        terminal.text(&format!("{schema:#}"));
        Ok(Exit::Success)
    }
}
