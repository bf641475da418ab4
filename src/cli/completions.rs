//! `toolsd completions`: the script by which a shell completes commands and options.

use super::options::{CommandResult, Exit};
use super::terminal::Terminal;
use clap::{Args, Command};
use clap_complete::Shell;

/// Print the completion script of a shell.
#[derive(Args)]
#[command(after_help = "\
bash:  toolsd completions bash > ~/.local/share/bash-completion/completions/toolsd
zsh:   toolsd completions zsh > DIR/_toolsd, where DIR is one of $fpath
fish:  toolsd completions fish > ~/.config/fish/completions/toolsd.fish")]
pub struct CompletionsCommand {
    shell: Shell,
}

impl CompletionsCommand {
    /// `commands` is the whole command line.
    pub(super) fn run(&self, mut commands: Command, terminal: &Terminal) -> CommandResult {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut commands, env!("CARGO_PKG_NAME"), &mut script);
        terminal.text(&String::from_utf8_lossy(&script));
        Ok(Exit::Success)
    }
}
