//! `toolsd man`: the manual pages, one for each command. Packagers call it, so a package needs no build script of its own.

use super::options::{CommandResult, Exit};
use super::terminal::Terminal;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::Files;
use crate::world::disk::Disk;
use clap::{Args, Command};
use clap_mangen::Man;

/// Write the manual pages into a folder.
#[derive(Args)]
pub struct ManCommand {
    /// The folder. It must exist.
    #[arg(value_name = "DIR")]
    folder: String,
}

impl ManCommand {
    /// `commands` is the whole command line.
    pub(super) fn run(&self, commands: Command, terminal: &Terminal) -> CommandResult {
        if self.folder.is_empty() {
            return Err(Diagnostic::new(Code("usage"), "the folder has no name").help("`.` is the current folder"));
        }
        let disk = Disk::new(&self.folder, [])?;
        let mut commands = commands.disable_help_subcommand(true);
        commands.build();
        for (name, page) in pages(&commands)? {
            disk.write(&name, &page)?;
            terminal.line(&format!("wrote {}/{name}", self.folder.trim_end_matches('/')));
        }
        Ok(Exit::Success)
    }
}

/// File name and text of the page of a command, and of those of its visible subcommands.
fn pages(command: &Command) -> Result<Vec<(String, Vec<u8>)>> {
    let (page, mut text) = (Man::new(command.clone()), Vec::new());
    page.render(&mut text)
        .map_err(|error| Diagnostic::new(Code::WORLD, format!("a manual page cannot be written: {error}")))?;
    let mut all = vec![(page.get_filename(), text)];
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        all.extend(pages(subcommand)?);
    }
    Ok(all)
}
