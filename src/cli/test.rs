//! `toolsd test`: runs the examples and cases of packs.

use super::check::plural;
use super::context::{CommandContext, embedded};
use super::options::{CommandResult, Exit, OutputFormat};
use super::terminal::TextStyle;
use crate::call::Service;
use crate::case::{self, Blessing, CaseOutcome, ResultSize};
use crate::definition::code::CASE;
use crate::definition::{Case, Validation};
use crate::diagnostic::{Diagnostic, Result, render};
use crate::primitive_api::LogLevel;
use crate::registry::{
    EMBEDDED, Layer, LayerFile, MergedDefinitions, NO_PACK, Pack, PackChoice, PackFiles, PackPart, RefusedPart,
    is_withheld_of, merge_definitions, unknown_pack, withheld_packs,
};
use crate::value::Json;
use crate::world::World;
use crate::world::disk::Disk;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Run the examples and cases of packs.
#[derive(Args)]
pub struct TestCommand {
    /// Test these packs only [default: those that serve here, and all that are not inside the binary].
    #[arg(value_name = "PACK")]
    only: Vec<String>,
    /// Write what came in place of each `expect.result` that was not met.
    #[arg(long)]
    bless: bool,
    /// Show log output of passing cases, too.
    #[arg(short, long)]
    verbose: bool,
}

/// The result of one case.
pub(super) struct CaseReport {
    pack: String,
    pub(super) title: String,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) results: Vec<ResultSize>,
    blessings: Vec<Blessing>,
    log: Vec<(LogLevel, String)>,
}

impl TestCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let layers = context.layers()?;
        let (files, found) = PackFiles::collect(&layers);
        let named: Vec<String> = self.only.into_iter().chain(context.options.packs.clone()).collect();
        let mut broken = withheld_packs(&found, &named);
        let known = files.packs();
        let (packs, absent): (Vec<String>, Vec<String>) = match named.is_empty() {
            true => (packs_to_test(context, &files)?, Vec::new()),
            false => named.into_iter().partition(|name| known.contains(name)),
        };
        for name in absent {
            let diagnostic = unknown_pack(&name, &known, &found);
            if !broken.iter().any(|diagnostic| is_withheld_of(diagnostic, &name)) {
                return Err(diagnostic);
            }
            broken.retain(|diagnostic| !is_withheld_of(diagnostic, &name));
            broken.push(*diagnostic);
        }
        if packs.is_empty() && broken.is_empty() {
            broken.push(*nothing_to_test(context));
        }
        let folders = case_folders(context, &layers)?;
        let mut ran = Vec::new();
        for name in packs {
            let site = context.pack_source(PackChoice::Named(packs_of_cases(context, &files, &name)?))?;
            let service = Service::open(Arc::new(site));
            broken.extend(service.registry().diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).cloned());
            let merged = merge_definitions(&name, &files.for_pack(&name), Validation::Full);
            match service.registry().packs.iter().find(|pack| pack.name == name) {
                Some(pack) => ran.extend(run_cases(context, &service, pack, &merged, &folders, self.bless)),
                None => broken.push(*not_served(&service, &name, merged.definitions.cases.len())),
            }
        }
        broken.dedup();
        broken.extend(write_blessings(context, &layers, &files, &ran));
        print_logs(context, &ran, self.verbose);
        print_results(context, &ran, &broken);
        let well = broken.is_empty() && ran.iter().all(|ran| ran.diagnostics.is_empty());
        Ok(if well { Exit::Success } else { Exit::Errors })
    }
}

/// The packs that are tested where none is named: those that serve here, and those of every layer but the binary.
fn packs_to_test(context: &CommandContext, files: &PackFiles) -> Result<Vec<String>> {
    let registry = context.service()?.registry();
    let is_served = |name: &String| registry.packs.iter().any(|pack| pack.name == *name);
    let is_own = |name: &String| {
        let of_pack = files.for_pack(name).by_path;
        of_pack.into_iter().any(|(path, file)| file.origin != EMBEDDED && !path.contains("/shared/"))
    };
    Ok(files.packs().into_iter().filter(|name| is_own(name) || is_served(name)).collect())
}

/// The packs that serve while the cases of a pack run: the pack, and those that serve here if its scripts call tools.
pub(super) fn packs_of_cases(context: &CommandContext, files: &PackFiles, name: &str) -> Result<Vec<String>> {
    let mut packs = vec![name.to_owned()];
    let calls = |file: &LayerFile| file.source.as_ref().is_some_and(|source| source.text.contains("call_tool"));
    let of_pack = files.for_pack(name);
    if of_pack.by_path.iter().any(|(path, file)| path.ends_with(".rhai") && calls(file)) {
        let registry = context.service()?.registry();
        packs.extend(registry.packs.iter().map(|pack| pack.name.clone()).filter(|other| other != name));
    }
    Ok(packs)
}

//= docs/spec.md#command-line
//# `toolsd test` MUST exit with 1 if nothing was tested, or if a fixture is missing or broken.
fn nothing_to_test(context: &CommandContext) -> Box<Diagnostic> {
    let message =
        format!("nothing was tested: `{}` has no pack, and none of the binary serves it", context.workspace.root());
    Diagnostic::new(NO_PACK, message).help("`toolsd test PACK` tests one pack; `toolsd new pack NAME` writes one")
}

/// The error for a pack whose cases cannot be run, since it does not serve.
fn not_served(service: &Service, name: &str, cases: usize) -> Box<Diagnostic> {
    let message = format!("the pack `{name}` is not active, so {cases} case{} of it did not run", plural(cases));
    let diagnostic = Diagnostic::new(CASE, message);
    match service.registry().refusal(PackPart::Pack, name).map(RefusedPart::diagnostic) {
        Some(why) => diagnostic.help(format!("{}: {}", why.message, why.help.unwrap_or_default())),
        None => diagnostic.help("`toolsd check` lists its errors"),
    }
}

pub(super) fn run_cases(
    context: &CommandContext,
    service: &Arc<Service>,
    pack: &Arc<Pack>,
    merged: &MergedDefinitions,
    folders: &[Arc<dyn World>],
    blesses: bool,
) -> Vec<CaseReport> {
    let cases = &merged.definitions.cases;
    let bar = progress(context, &pack.name, cases.len());
    let one = |case: &Case| {
        let outcome = match broken_fixture(case, merged) {
            Some(diagnostic) => CaseOutcome { diagnostics: vec![diagnostic], ..CaseOutcome::default() },
            None => case::run(service, pack, case, folders, blesses),
        };
        bar.inc(1);
        let CaseOutcome { diagnostics, blessings, log, results } = outcome;
        CaseReport { pack: pack.name.clone(), title: case.title.value.clone(), diagnostics, results, blessings, log }
    };
    let ran = cases.iter().map(one).collect();
    bar.finish_and_clear();
    ran
}

/// Returns the error for a case whose fixture is missing or in a file with an error: its setup would differ from the
/// definition.
fn broken_fixture(case: &Case, merged: &MergedDefinitions) -> Option<Diagnostic> {
    let is_in = |diagnostic: &&Diagnostic, path: &str| {
        diagnostic.is_error() && diagnostic.at.as_ref().is_some_and(|at| at.source.path == path)
    };
    case.fixtures.iter().find_map(|name| {
        let known = merged.definitions.fixtures.iter().find(|fixture| fixture.name.value == name.value);
        let why = match known.map(|fixture| &*fixture.name.at.source.path) {
            Some(path) => merged.diagnostics.iter().find(|diagnostic| is_in(diagnostic, path))?.message.clone(),
            None => "no active file defines it".to_owned(),
        };
        let message = format!("did not run: its fixture `{}` is broken: {why}", name.value);
        Some(*Diagnostic::new(CASE, message).at(name.at.clone()).help("`toolsd check` lists all errors of the pack"))
    })
}

/// Returns the folders in which cases find their files: those of the layers, the packs inside the binary, the workspace.
pub(super) fn case_folders(context: &CommandContext, layers: &[Layer]) -> Result<Vec<Arc<dyn World>>> {
    let folders: Result<Vec<_>> = layers.iter().map(|layer| folder_of(context, layer)).collect();
    Ok(folders?.into_iter().flatten().chain([embedded()?, Arc::clone(&context.workspace)]).collect())
}

/// Returns the folder that contains `tools.d` and the other folders of a layer, if it has one.
fn folder_of(context: &CommandContext, layer: &Layer) -> Result<Option<Arc<dyn World>>> {
    // The layer of the workspace is in a subfolder.
    if layer.trust.is_some() {
        return context.workspace_layer();
    }
    if layer.is_stored {
        return Ok(layer.world.clone());
    }
    // The world of a layer follows symlinks to any target; a case does not.
    layer.world.as_ref().map(|world| Ok(Arc::new(Disk::new(world.root(), [])?) as Arc<dyn World>)).transpose()
}

/// Writes the blessings into the files of their layers. Files inside the binary are refused.
fn write_blessings(
    context: &CommandContext,
    layers: &[Layer],
    files: &PackFiles,
    ran: &[CaseReport],
) -> Vec<Diagnostic> {
    let mut by_path: BTreeMap<&str, Vec<Blessing>> = BTreeMap::new();
    for blessing in ran.iter().flat_map(|ran| &ran.blessings) {
        by_path.entry(&blessing.at.source.path).or_default().push(blessing.clone());
    }
    let mut diagnostics = Vec::new();
    for (path, blessings) in by_path {
        let file = files.by_path.get(path);
        let layer = file.and_then(|file| layers.iter().find(|layer| layer.origin == file.origin));
        let folder = layer.map_or(Ok(None), |layer| folder_of(context, layer));
        let written = match folder {
            Ok(Some(_)) if layer.is_some_and(|layer| layer.is_stored) => {
                Err(Diagnostic::new(CASE, format!("`{path}` is in a layer from git"))
                    .help("change it in the repository of the layer"))
            }
            Err(diagnostic) => Err(diagnostic),
            Ok(Some(world)) => case::bless(&blessings[0].at.source.text, &blessings)
                .and_then(|text| world.write(path, text.as_bytes())),
            Ok(None) => Err(Diagnostic::new(CASE, format!("`{path}` is inside the binary"))
                .help("name the folder it came from by `--dir`, or `toolsd eject` it")),
        };
        match written {
            Ok(()) => context.terminal.note(&format!("blessed {path}: {}", blessings.len())),
            Err(diagnostic) => diagnostics.push(*diagnostic),
        }
    }
    diagnostics
}

/// Returns a progress bar, hidden unless a person at a terminal sees it.
fn progress(context: &CommandContext, name: &str, cases: usize) -> ProgressBar {
    let seen = context.terminal.person && context.options.format == OutputFormat::Text;
    let target = if seen { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(cases as u64), target).with_message(name.to_owned());
    let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar
}

/// Prints the log output of scripts on standard error: of every case, or of those that failed.
fn print_logs(context: &CommandContext, ran: &[CaseReport], verbose: bool) {
    for ran in ran.iter().filter(|ran| verbose || !ran.diagnostics.is_empty()) {
        for (level, text) in &ran.log {
            context.terminal.note(&format!("{}: {}: {}: {text}", ran.pack, ran.title, level.name()));
        }
    }
}

fn print_results(context: &CommandContext, ran: &[CaseReport], broken: &[Diagnostic]) {
    let terminal = &context.terminal;
    let failed: Vec<&CaseReport> = ran.iter().filter(|ran| !ran.diagnostics.is_empty()).collect();
    if context.options.format != OutputFormat::Text {
        let cases: Vec<Json> = ran
            .iter()
            .map(|ran| json!({ "pack": ran.pack, "title": ran.title, "passed": ran.diagnostics.is_empty(), "errors": render::json(&ran.diagnostics) }))
            .collect();
        let passed = ran.len() - failed.len();
        terminal.json(&json!({
            "passed": passed, "failed": failed.len(), "cases": cases, "errors": render::json(broken),
        }));
        return;
    }
    if !broken.is_empty() {
        terminal.excerpts(broken);
    }
    for ran in &failed {
        terminal.styled(&[(TextStyle::Red, &format!("failed: {}: {}", ran.pack, ran.title))]);
        for diagnostic in &ran.diagnostics {
            let place = diagnostic.at.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
            terminal.text(&format!("{place}{}", diagnostic.message));
            if let Some(help) = &diagnostic.help {
                terminal.text(&format!("help: {help}"));
            }
        }
        terminal.line("");
    }
    let style = if failed.is_empty() && broken.is_empty() { TextStyle::Green } else { TextStyle::Red };
    let passed = ran.len() - failed.len();
    terminal.styled(&[(style, &format!("{passed} case{} passed, {} failed", plural(passed), failed.len()))]);
}
