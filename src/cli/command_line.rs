//! The command line as it is parsed: the options of every command, and one of the commands.

use super::add::AddCommand;
use super::call::CallCommand;
use super::check::CheckCommand;
use super::completions::CompletionsCommand;
use super::cost::CostCommand;
use super::diff::DiffCommand;
use super::docs::DocsCommand;
use super::eject::EjectCommand;
use super::fetch::FetchCommand;
use super::list::ListCommand;
use super::lock::LockCommand;
use super::man::ManCommand;
use super::new::NewCommand;
use super::options::SharedOptions;
use super::outdated::OutdatedCommand;
use super::preview::PreviewCommand;
use super::prompt::PromptCommand;
use super::read::ReadCommand;
use super::remove::RemoveCommand;
use super::schema::SchemaCommand;
use super::script::ScriptCommand;
use super::serve::ServeCommand;
use super::test::TestCommand;
use super::trust::TrustCommand;
use super::update::UpdateCommand;
use clap::{Parser, Subcommand};

/// Serves MCP tools, resources and prompts that are defined in TOML files, rhai scripts and handlebars templates.
#[derive(Parser)]
#[command(name = "toolsd", version, long_version = env!("TOOLSD_LONG_VERSION"), max_term_width = 100)]
pub(super) struct CommandLine {
    #[command(flatten)]
    pub(super) options: SharedOptions,
    #[command(subcommand)]
    pub(super) command: CliCommand,
}

#[derive(Subcommand)]
pub(super) enum CliCommand {
    /// Serve MCP: on standard input and output, or over HTTP.
    Serve(ServeCommand),
    /// Check packs: definitions, schemas, scripts, templates.
    Check(CheckCommand),
    /// Run the examples and cases of packs.
    Test(TestCommand),
    /// Call a tool.
    Call(CallCommand),
    /// Run a script that calls tools.
    Script(ScriptCommand),
    /// Read a resource.
    Read(ReadCommand),
    /// Get a prompt.
    Prompt(PromptCommand),
    /// List packs, tools, resources and prompts.
    List(ListCommand),
    /// Show how much of a model's context the tool lists take.
    Cost(CostCommand),
    /// Explain primitives, tables of definitions, and check rules.
    Docs(DocsCommand),
    /// Print the JSON Schema of definition files, for editors.
    Schema(SchemaCommand),
    /// Write a working skeleton.
    New(NewCommand),
    /// Copy a pack, or one of its files, out of the binary to change it here.
    Eject(EjectCommand),
    /// Allow the pack files of this workspace to be used.
    Trust(TrustCommand),
    /// Show what a model reads of prompts, as Markdown.
    Preview(PreviewCommand),
    /// Add a layer of packs from a git repository to this project.
    Add(AddCommand),
    /// Remove a layer from this project.
    Remove(RemoveCommand),
    /// Bring the layers that `toolsd.lock` names to this machine.
    Fetch(FetchCommand),
    /// Show which layers have a newer version.
    Outdated(OutdatedCommand),
    /// Move layers to what their repositories have now.
    Update(UpdateCommand),
    /// Judge what changed of all that packs publish.
    Diff(DiffCommand),
    /// Write `toolsd.lock` and `toolsd.surface.json`, or check them.
    Lock(LockCommand),
    /// Check the set-up: files, trust, packs, git, clients.
    Doctor,
    /// Print the completion script of a shell.
    Completions(CompletionsCommand),
    /// Write the manual pages into a folder.
    #[command(hide = true)]
    Man(ManCommand),
}
