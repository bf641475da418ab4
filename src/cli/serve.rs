//! `toolsd serve`: MCP on standard input and output, or over HTTP, with hot reload.

use super::context::{CommandContext, SettingsOverrides};
use super::hot_reload::HotReload;
use super::options::{CommandResult, Exit};
use super::script::AllowedEffect;
use super::secrets::{SecretOptions, Secrets};
use crate::call::{Service, Serving, log_error};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::distribution::{LAYER, LOCK_FILE};
use crate::mcp;
use crate::primitive_api::Effect;
use crate::registry::Registry;
use crate::script;
use crate::surface::SURFACE_FILE;
use crate::world::{self, path};
use clap::Args;
use std::sync::Arc;
use std::time::Duration;

/// How many threads carry the protocol. Scripts run on threads of their own.
const PROTOCOL_THREADS: usize = 2;

/// Serve MCP: on standard input and output, or over HTTP.
#[derive(Args)]
pub struct ServeCommand {
    /// Serve Streamable HTTP at this address, at the path `/mcp`, for example 127.0.0.1:8000; port 0 takes a free
    /// one.
    #[arg(long, value_name = "ADDR")]
    http: Option<String>,
    /// Host name by which clients reach this server, in addition to those of this machine; repeatable.
    #[arg(long = "allow-host", value_name = "HOST", requires = "http")]
    hosts: Vec<String>,
    /// Origin of web pages that may use this server, in addition to those of this machine; repeatable.
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "http")]
    origins: Vec<String>,
    #[command(flatten)]
    options: SecretOptions,
    #[arg(skip)]
    secrets: Secrets,
    /// Serve only what `toolsd.lock` and `toolsd.surface.json` name, without folders that are not locked.
    #[arg(long)]
    pub(super) locked: bool,
    /// List `run_script`, with which a client runs a script that calls tools. With an effect above `reads`, list
    /// `run_writing_script`, too.
    #[arg(long, value_name = "EFFECT", num_args = 0..=1, require_equals = true, default_missing_value = "reads")]
    code_mode: Option<AllowedEffect>,
    /// List only pinned tools, `find_tools` and `call_tool`; the others are found by words.
    #[arg(long)]
    discover: bool,
    /// List this tool even with `--discover`, with `*` for any text; repeatable.
    #[arg(long = "pin", value_name = "NAME", requires = "discover")]
    pins: Vec<String>,
    /// End with code 70 when every script thread has been held for this many seconds by calls that cannot be stopped:
    /// for a supervisor that starts the server again.
    #[arg(long, value_name = "SECONDS")]
    exit_when_stuck: Option<u64>,
}

/// `EX_SOFTWARE` of sysexits(3).
const STUCK_EXIT_CODE: i32 = 70;

/// How long after the start watching begins.
const WATCH_DELAY: Duration = Duration::from_millis(30);

impl ServeCommand {
    /// What it changes in the settings of the workspace.
    pub(super) fn overrides(&self) -> SettingsOverrides {
        let discover = self.discover.then(|| self.pins.clone());
        SettingsOverrides { code_mode: self.code_mode.map(Effect::from), discover }
    }

    pub(super) fn run(self, context: CommandContext) -> CommandResult {
        world::disk::check_descriptors()?;
        // In parallel with the reading of definitions, which uses only one core at first.
        rayon::spawn(script::prepare_engine);
        let access = self.access_policy(self.secrets.token())?;
        let state_key = self.secrets.state_key();
        let service = context.service()?;
        service.describe();
        //= docs/spec.md#calls
        //# With `--exit-when-stuck`, the server MUST exit with code 70 when all threads stay occupied.
        if let Some(seconds) = self.exit_when_stuck {
            service.when_stuck(Duration::from_secs(seconds), move || {
                tracing::error!("the server stops: every script thread has been held for {seconds} s");
                world::disk::end_process(STUCK_EXIT_CODE);
            });
        }
        let registry = service.registry();
        let folders = script_folders(&context, &registry);
        self.secrets.check_places(&folders)?;
        self.report_registry(&context, &registry)?;
        let names: Vec<&str> = registry.packs.iter().map(|pack| pack.name.as_str()).collect();
        let dormant: Vec<&str> = registry.dormant.iter().map(|(name, _)| name.as_str()).collect();
        tracing::info!(packs = names.join(" "), dormant = dormant.join(" "), "serving `{}`", context.workspace.root());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(PROTOCOL_THREADS).enable_all().build();
        let runtime = runtime.map_err(|error| Diagnostic::new(Code::INTERNAL, format!("no runtime: {error}")))?;
        let settings = mcp::ServerSettings { state_key, ..server_settings(&service) };
        let watched = Arc::clone(&service);
        // Delayed, because it would slow down the first answers. Changes before that are found when it starts.
        let hot_reload = runtime.spawn(async move {
            tokio::time::sleep(WATCH_DELAY).await;
            tokio::task::spawn_blocking(move || HotReload::start(&context, &watched)).await
        });
        let answering = Arc::clone(&service) as _;
        let over_http = access.is_some();
        service.serves(Serving {
            name: Some(settings.name.clone()),
            transport: Some(if over_http { "http" } else { "stdio" }),
            address: access.as_ref().map(mcp::AccessPolicy::requested_address),
            has_token: access.as_ref().is_some_and(mcp::AccessPolicy::has_token),
        });
        let ended = match access {
            Some(access) => {
                let http = mcp::HttpSettings { access, limits: connection_limits(&service) };
                runtime.block_on(mcp::serve_http(answering, settings, http, self.settings_reload(&service, folders)))
            }
            None => runtime.block_on(mcp::serve_stdio(answering, settings)),
        };
        tracing::info!("shutting down");
        drop(hot_reload);
        // Do not wait for scripts: one may never end.
        runtime.shutdown_timeout(Duration::ZERO);
        match ended {
            Ok(()) => Ok(Exit::Success),
            Err(error) => {
                let what = if over_http { "the address" } else { "standard input and output" };
                tracing::error!("{what} cannot be served: {error}");
                Ok(Exit::Errors)
            }
        }
    }

    /// The files with secrets that are named, with the options that name them.
    pub(super) fn secret_files(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.options.files()
    }

    /// Whether it serves over HTTP, in place of standard input and output.
    pub(super) fn is_over_http(&self) -> bool {
        self.http.is_some()
    }

    /// What is wrong with its secrets where it starts with the variables `handed`, and nothing else was handed on to
    /// it. Files for which `is_known` does not hold are passed over.
    pub(super) fn secrets_diagnostic(
        &self,
        is_known: fn(&str) -> bool,
        handed: impl Fn(&str) -> Option<String>,
    ) -> Option<Diagnostic> {
        self.options.diagnostic(is_known, handed)
    }

    /// Finds the secrets, before anything is opened.
    pub(super) fn find_secrets(&mut self) -> Result<()> {
        self.secrets = self.options.find(self.http.is_some())?;
        Ok(())
    }

    /// Logs what is wrong. Fails if `--locked` leaves nothing to serve: a client would see a server without tools, and no
    /// reason.
    fn report_registry(&self, context: &CommandContext, registry: &Registry) -> Result<()> {
        registry.diagnostics.iter().for_each(log_error);
        if !self.locked || !registry.packs.is_empty() {
            return Ok(());
        }
        let root = context.workspace.root();
        let message =
            format!("nothing to serve: no pack of `{root}` is as `{LOCK_FILE}` and `{SURFACE_FILE}` say, and trusted");
        Err(Diagnostic::new(LAYER, message)
            .help("`toolsd doctor` shows each layer and its next step; `toolsd lock` writes both files"))
    }

    /// Who may come in over HTTP, if that is asked for.
    fn access_policy(&self, token: Option<mcp::Secret>) -> Result<Option<mcp::AccessPolicy>> {
        let Some(address) = self.http.clone() else { return Ok(None) };
        let listening = mcp::HttpOptions { address, token, hosts: self.hosts.clone(), origins: self.origins.clone() };
        mcp::AccessPolicy::new(listening).map(Some)
    }

    /// The function that reads the settings of the workspace and the token again, at SIGHUP.
    fn settings_reload(self, service: &Arc<Service>, folders: Vec<String>) -> mcp::ReloadHttpSettings {
        let service = Arc::clone(service);
        Arc::new(move || {
            let token = self.secrets.reread_token()?;
            self.secrets.check_places(&folders)?;
            let access = self
                .access_policy(token)?
                .ok_or_else(|| Diagnostic::new(Code::INTERNAL, "the server has no address"))?;
            service.reload();
            Ok(mcp::HttpSettings { access, limits: connection_limits(&service) })
        })
    }
}

/// The folders that scripts may be granted.
fn script_folders(context: &CommandContext, registry: &Registry) -> Vec<String> {
    let roots = registry.settings.workspace.roots.iter();
    let own = roots.map(|root| path::join(context.workspace.root(), &root.value));
    context.folders().into_iter().chain(own).collect()
}

/// Returns the limits of connections: `[http]` of `toolsd.toml`, otherwise the defaults. `None` while that file has
/// errors or is not trusted.
fn connection_limits(service: &Service) -> Option<mcp::ConnectionLimits> {
    let registry = service.registry();
    if registry.settings.is_cut {
        return None;
    }
    let said = &registry.settings.workspace.http;
    let usual = mcp::ConnectionLimits::default();
    let count = |said: Option<u64>, usual: usize| said.map_or(usual, |said| usize::try_from(said).unwrap_or(usual));
    let time = |said: Option<u64>, usual: Duration| said.map_or(usual, Duration::from_millis);
    Some(mcp::ConnectionLimits {
        connections: count(said.connections, usual.connections),
        body_time: time(said.body_ms, usual.body_time),
        write_time: time(said.write_ms, usual.write_time),
        idle_time: time(said.idle_ms, usual.idle_time),
        sessions: count(said.sessions, usual.sessions),
    })
}

/// Returns how the server describes itself: `[server]` of `toolsd.toml`, otherwise its own name and the title of the
/// only pack.
fn server_settings(service: &Arc<Service>) -> mcp::ServerSettings {
    let registry = service.registry();
    let said = &registry.settings.workspace.server;
    let usual = mcp::ServerSettings::default();
    let own_title = match registry.packs.as_slice() {
        [pack] => Some(pack.definition.title.value.clone()),
        _ => None,
    };
    mcp::ServerSettings {
        name: said.name.clone().unwrap_or(usual.name),
        title: said.title.clone().or(own_title),
        website_url: said.website_url.clone(),
        icons: said.icons.clone(),
        page_size: said.page_size.and_then(|size| usize::try_from(size).ok()),
        lists_ttl_ms: said.lists_ttl_ms.unwrap_or(usual.lists_ttl_ms),
        lean_lists: said.has_lean_lists(),
        short_text: said.has_short_text(),
        ..mcp::ServerSettings::default()
    }
}
