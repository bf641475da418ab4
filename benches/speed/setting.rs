//! What is measured, with what, and where the bench may write.

use crate::Outcome;
use crate::client::Server;
use crate::project::{SIZE_LARGE, SIZE_SMALL, Size};
use crate::web::Web;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of a run.
pub struct Setting {
    /// Few samples, a small project, no verdict on times.
    pub small: bool,
    /// Only make the project.
    pub project_only: bool,
    /// The parts to run; empty = all.
    pub parts: Vec<String>,
    /// The binary that is measured.
    toolsd: PathBuf,
    /// Where the opponents were installed.
    opponents: PathBuf,
    /// The real duvet, if it is not with the others.
    duvet: Option<PathBuf>,
    /// The command line of Spec Kitty, if it is not with the others.
    spec_kitty: Option<PathBuf>,
    /// The original of the requirements graph, if it is not with the others.
    elspais: Option<PathBuf>,
    /// FastMCP with its code mode, if it is not with the others.
    fastmcp: Option<PathBuf>,
    /// Where files may be made.
    scratch: PathBuf,
}

impl Setting {
    /// Reads the command line; `--bench` is what cargo adds.
    pub fn read(arguments: impl Iterator<Item = String>) -> Outcome<Setting> {
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench");
        let mut setting = Setting {
            small: false,
            project_only: false,
            parts: Vec::new(),
            toolsd: env!("CARGO_BIN_EXE_toolsd").into(),
            opponents: target.clone(),
            duvet: None,
            spec_kitty: None,
            elspais: None,
            fastmcp: None,
            scratch: target.join("scratch"),
        };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let mut path = || -> Outcome<PathBuf> {
                let given = arguments.next().ok_or_else(|| format!("`{argument}` needs a path"))?;
                Ok(std::path::absolute(given)?)
            };
            match argument.as_str() {
                "--bench" => {}
                "--small" => setting.small = true,
                "--project-only" => setting.project_only = true,
                "--toolsd" => setting.toolsd = path()?,
                "--opponents" => setting.opponents = path()?,
                "--duvet" => setting.duvet = Some(path()?),
                "--spec-kitty" => setting.spec_kitty = Some(path()?),
                "--elspais" => setting.elspais = Some(path()?),
                "--fastmcp" => setting.fastmcp = Some(path()?),
                "--scratch" => setting.scratch = path()?,
                option if option.starts_with('-') => return Err(format!("no option `{option}`").into()),
                part => setting.parts.push(part.to_owned()),
            }
        }
        fs::create_dir_all(setting.scratch.join("empty"))?;
        Ok(setting)
    }

    /// The number for a full or for a small run.
    pub fn count(&self, full: usize, small: usize) -> usize {
        if self.small { small } else { full }
    }

    /// How large the project is.
    pub fn size(&self) -> Size {
        if self.small { SIZE_SMALL } else { SIZE_LARGE }
    }

    /// Where the project is made.
    pub fn project(&self) -> PathBuf {
        self.scratch.join("project")
    }

    /// Where the workspace of specifications is made.
    pub fn workspace(&self) -> PathBuf {
        self.scratch.join("workspace")
    }

    /// A workspace with nothing in it.
    pub fn empty(&self) -> PathBuf {
        self.scratch.join("empty")
    }

    /// The checkout.
    pub fn checkout(&self) -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    /// A toolsd command that sees neither the user's configuration nor their state.
    pub fn toolsd(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.toolsd);
        command
            .args(arguments)
            .env("XDG_CONFIG_HOME", self.scratch.join("config"))
            .env("XDG_STATE_HOME", self.scratch.join("state"))
            .env_remove("TOOLSD_LOG");
        command
    }

    /// toolsd serving the pack of the bench in an empty workspace.
    pub fn bench_pack(&self) -> Outcome<Server> {
        self.pack("bench", &[])
    }

    /// The same with the pack of natives.
    pub fn natives_pack(&self) -> Outcome<Server> {
        self.pack("natives", &[])
    }

    /// The same with the pack for scripts of clients, and with these options.
    pub fn code_pack(&self, options: &[&str]) -> Outcome<Server> {
        self.pack("code", options)
    }

    fn pack(&self, name: &str, options: &[&str]) -> Outcome<Server> {
        let packs = self.checkout().join("benches/packs");
        let mut command = self.toolsd(&["serve", "--pack", name, "--dir"]);
        command.arg(packs).arg("--workspace").arg(self.empty()).args(options);
        self.start(&mut command)
    }

    /// toolsd serving these packs of its own in an empty workspace, with these options.
    pub fn packs(&self, names: &[&str], options: &[&str]) -> Outcome<Server> {
        let mut command = self.toolsd(&["serve", "--workspace"]);
        command.arg(self.empty()).args(names.iter().flat_map(|name| ["--pack", name])).args(options);
        self.start(&mut command)
    }

    /// The same over HTTP.
    pub fn bench_pack_web(&self) -> Outcome<Web> {
        let packs = self.checkout().join("benches/packs");
        let mut command = self.toolsd(&["serve", "--http", "127.0.0.1:0", "--pack", "bench", "--dir"]);
        command.arg(packs).arg("--workspace").arg(self.empty());
        Web::start(&mut command)
    }

    /// The typed server on rmcp over HTTP, if it was built.
    pub fn typed_web(&self) -> Outcome<Option<Web>> {
        let program = self.opponents.join("opponents/release/typed-server");
        if self.small || !program.exists() {
            return Ok(None);
        }
        Web::start(Command::new(&program).args(["--transport", "http"])).map(Some)
    }

    /// Starts a server; its stderr goes to a file of the scratch folder.
    pub fn start(&self, command: &mut Command) -> Outcome<Server> {
        Server::start(command, &self.scratch.join("servers.log"))
    }

    /// The typed server on rmcp, if it was built; `transport` is `stdio` or `pipes`.
    pub fn typed(&self, transport: &str) -> Outcome<Option<Server>> {
        let program = self.opponents.join("opponents/release/typed-server");
        self.opponent(&program, Command::new(&program).args(["--transport", transport]))
    }

    /// The server on the TypeScript SDK, if that was installed.
    pub fn typescript(&self) -> Outcome<Option<Server>> {
        let program = self.opponents.join("ts/server.mjs");
        self.opponent(&program, Command::new("node").arg(&program))
    }

    /// The real duvet, if it was installed.
    pub fn duvet(&self) -> Option<PathBuf> {
        let installed = || self.opponents.join("duvet/bin/duvet");
        Some(self.duvet.clone().unwrap_or_else(installed)).filter(|program| program.exists() && !self.small)
    }

    /// The command line of Spec Kitty, if it was installed.
    pub fn spec_kitty(&self) -> Option<PathBuf> {
        let installed = || self.opponents.join("spec-kitty/bin/spec-kitty");
        Some(self.spec_kitty.clone().unwrap_or_else(installed)).filter(|program| program.exists() && !self.small)
    }

    /// The server of elspais over a project, if it was installed. Its `mcp serve` prints text before the first message,
    /// which no client understands, so it is started by the function behind that command.
    pub fn elspais(&self, project: &Path) -> Outcome<Option<Server>> {
        let installed = || self.opponents.join("elspais/bin/elspais");
        let python = self.elspais.clone().unwrap_or_else(installed).with_file_name("python");
        let serve = "from elspais.mcp.server import run_server; run_server()";
        self.opponent(&python, Command::new(&python).args(["-c", serve]).current_dir(project))
    }

    /// The tools of the pack for scripts on FastMCP, with or without its code mode, if it was installed.
    pub fn fastmcp(&self, code_mode: bool) -> Outcome<Option<Server>> {
        let installed = || self.opponents.join("fastmcp/bin/fastmcp");
        let python = self.fastmcp.clone().unwrap_or_else(installed).with_file_name("python");
        let mut command = Command::new(&python);
        command.arg(self.checkout().join("benches/opponents/fast_code.py"));
        command.args(code_mode.then_some("--code-mode"));
        self.opponent(&python, &mut command)
    }

    /// An empty folder of this name, to make a project in.
    pub fn empty_folder(&self, name: &str) -> Outcome<PathBuf> {
        let folder = self.scratch.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder.canonicalize()?)
    }

    fn opponent(&self, program: &Path, command: &mut Command) -> Outcome<Option<Server>> {
        if self.small || !program.exists() { Ok(None) } else { self.start(command).map(Some) }
    }
}
