//! `just originals NAME`: the programs that packs reproduce, beside the packs, on projects that a seed makes up.
//!
//! `originals NAME [--seed N] [--count N] [--all-reasons] [--shrink]`. Without a seed a fresh one is taken, and said. The
//! cases that were kept come first. A difference must have a reason in the `differs.toml` of the original; with
//! `--all-reasons` each reason must be needed, too. `--shrink` looks for the smallest project of each class without one.
//! `--case FILE` compares one kept case alone. Exit code 1 = differences without a reason, or reasons without a difference;
//! 2 = the rig does not work; 3 = the original cannot be installed here.

#![allow(clippy::print_stdout, reason = "what it prints is its result")]

mod dice;
mod differences;
mod duvet;
mod elspais;
mod programs;
mod project;
mod shrink;
#[path = "spec-kitty.rs"]
mod spec_kitty;
mod specman;

use differences::{Class, Difference, Reasons, compare};
use project::Project;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

const USAGE: &str = "originals NAME [--seed N] [--count N] [--all-reasons] [--shrink] [--case FILE]";
/// Seeds that nobody named are drawn below this, so that they are short to type.
const FRESH: u64 = 1_000_000;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// What both programs answer to a question.
struct Answer {
    question: String,
    here: Value,
    there: Value,
}

/// A program that a pack reproduces.
trait Original {
    /// The classes of differences that are known, as a table.
    fn reasons(&self) -> &'static str;
    /// Puts the program into this folder, unless it is there, and starts it.
    fn install(&mut self, folder: &Path) -> Outcome<()>;
    /// The project of a seed.
    fn project(&self, seed: u64) -> Project;
    /// What both answer about a project that was written to `root`.
    fn answers(&mut self, toolsd: &Path, project: &Project, root: &Path) -> Outcome<Vec<Answer>>;
}

fn original(name: &str) -> Outcome<Box<dyn Original>> {
    match name {
        "duvet" => Ok(Box::<duvet::Duvet>::default()),
        "elspais" => Ok(Box::<elspais::Elspais>::default()),
        "spec-kitty" => Ok(Box::<spec_kitty::SpecKitty>::default()),
        "specman" => Ok(Box::<specman::Specman>::default()),
        _ => Err(format!("there is no rig for \"{name}\"; there are: duvet, elspais, spec-kitty, specman").into()),
    }
}

#[derive(Default)]
struct Wishes {
    name: String,
    seed: Option<u64>,
    count: Option<u64>,
    all_reasons: bool,
    shrink: bool,
    case: Option<PathBuf>,
}

fn main() -> ExitCode {
    match wishes().and_then(|wishes| run(&wishes)) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            println!("originals: {error}");
            ExitCode::from(2)
        }
    }
}

fn wishes() -> Outcome<Wishes> {
    let mut wishes = Wishes::default();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("`{word}` needs a value: {USAGE}"));
        match word.as_str() {
            "--seed" => wishes.seed = Some(value()?.parse()?),
            "--count" => wishes.count = Some(value()?.parse()?),
            "--all-reasons" => wishes.all_reasons = true,
            "--shrink" => wishes.shrink = true,
            "--case" => wishes.case = Some(value()?.into()),
            name if wishes.name.is_empty() && !name.starts_with('-') => wishes.name = name.to_owned(),
            other => return Err(format!("`{other}` is not understood: {USAGE}").into()),
        }
    }
    if wishes.name.is_empty() {
        return Err(format!("which original? {USAGE}").into());
    }
    Ok(wishes)
}

/// Where everything lies.
struct Places {
    toolsd: PathBuf,
    /// What was installed, and the projects that differ.
    kept: PathBuf,
    cases: PathBuf,
}

fn places(name: &str) -> Outcome<Places> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
    let toolsd = std::env::var_os("TOOLSD").map_or_else(|| target.join("debug/toolsd"), |file| root.join(file));
    if !toolsd.is_file() {
        return Err(format!("{} is not there: `cargo build` makes it", toolsd.display()).into());
    }
    Ok(Places { toolsd, kept: target.join("originals"), cases: root.join(".ci/originals").join(name).join("cases") })
}

fn run(wishes: &Wishes) -> Outcome<u8> {
    let mut original = original(&wishes.name)?;
    let places = places(&wishes.name)?;
    fs::create_dir_all(&places.kept)?;
    if let Err(error) = original.install(&places.kept.join(&wishes.name)) {
        println!("skipped: the original {} cannot be installed here: {error}", wishes.name);
        return Ok(3);
    }
    let mut rig = Rig { reasons: Reasons::read(original.reasons())?, original, places, unknown: BTreeMap::new() };
    let mut looked_at = 0;
    for project in projects(wishes, &rig)? {
        let (name, project) = project;
        rig.look_at(&name, &project)?;
        looked_at += 1;
    }
    println!("{}: {looked_at} projects", wishes.name);
    let idle = rig.tell_reasons();
    rig.tell_unknown(wishes)?;
    Ok(u8::from(!rig.unknown.is_empty() || (wishes.all_reasons && idle)))
}

/// The kept cases, then those of the seeds, each with its name.
fn projects(wishes: &Wishes, rig: &Rig) -> Outcome<Vec<(String, Project)>> {
    if let Some(case) = &wishes.case {
        return Ok(vec![(case.display().to_string(), Project::read(case)?)]);
    }
    let mut files: Vec<PathBuf> = fs::read_dir(&rig.places.cases)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        found.push((name, Project::read(&file)?));
    }
    let seed = match wishes.seed {
        Some(seed) => seed,
        None => u64::from(SystemTime::now().duration_since(UNIX_EPOCH)?.subsec_nanos()) % FRESH,
    };
    let count = wishes.count.unwrap_or(10);
    println!("{} kept cases, then {count} seeds from {seed}", found.len());
    found.extend((seed..seed + count).map(|seed| {
        let mut project = rig.original.project(seed);
        project.enlarge(seed);
        (format!("seed-{seed}"), project)
    }));
    Ok(found)
}

/// A class without a reason: how often, in which projects, and the first difference.
struct Unknown {
    count: usize,
    projects: BTreeSet<String>,
    first: Difference,
    smallest: Project,
}

struct Rig {
    original: Box<dyn Original>,
    places: Places,
    reasons: Reasons,
    unknown: BTreeMap<Class, Unknown>,
}

impl Rig {
    fn differences(&mut self, project: &Project) -> Outcome<Vec<Difference>> {
        let home = tempfile::tempdir()?;
        // The folder has a name of its own that is always the same, since some answers tell it.
        let root = home.path().canonicalize()?.join("project");
        project.write(&root)?;
        let answers = self.original.answers(&self.places.toolsd, project, &root)?;
        Ok(answers.iter().flat_map(|one| compare(&one.question, &one.here, &one.there)).collect())
    }

    fn look_at(&mut self, name: &str, project: &Project) -> Outcome<()> {
        let found = self.differences(project).map_err(|error| format!("{name}: {error}"))?;
        for difference in found {
            if self.reasons.explain(&difference, project) {
                continue;
            }
            let class = self.unknown.entry(difference.class()).or_insert_with(|| Unknown {
                count: 0,
                projects: BTreeSet::new(),
                first: difference,
                smallest: project.clone(),
            });
            class.count += 1;
            if class.projects.insert(name.to_owned()) && project.quirks.len() < class.smallest.quirks.len() {
                class.smallest = project.clone();
            }
        }
        Ok(())
    }

    /// Says how often each reason was needed, and whether one was not.
    fn tell_reasons(&self) -> bool {
        let mut idle = false;
        for (reason, count) in self.reasons.counts() {
            idle |= count == 0;
            println!("{count:>6}  {reason}");
        }
        idle
    }

    fn tell_unknown(&mut self, wishes: &Wishes) -> Outcome<()> {
        let unknown = std::mem::take(&mut self.unknown);
        for (number, (class, one)) in unknown.iter().enumerate() {
            let names: Vec<&str> = one.projects.iter().take(4).map(String::as_str).collect();
            println!("NO REASON {class}: {} times in {} projects: {}", one.count, one.projects.len(), names.join(", "));
            let (project, example) =
                if wishes.shrink { self.shrunk(class, one)? } else { (one.smallest.clone(), one.first.clone()) };
            println!("  {}: {}: {}", example.question, example.at, example.reported);
            let quirks: Vec<&str> = project.quirks.iter().map(String::as_str).collect();
            println!("  quirks: {}", quirks.join(", "));
            let folder = self.places.kept.join("differing").join(&wishes.name);
            fs::create_dir_all(&folder)?;
            let file = folder.join(format!("{number}.toml"));
            fs::write(&file, format!("# {class}\n{}", project.text()))?;
            println!("  {}", file.display());
        }
        self.unknown = unknown;
        Ok(())
    }

    /// The smallest project with a difference of this class, and that difference.
    fn shrunk(&mut self, class: &Class, one: &Unknown) -> Outcome<(Project, Difference)> {
        let mut last = one.first.clone();
        let project = shrink::smallest(&one.smallest, |candidate| {
            // A candidate that an original cannot be asked about is not smaller, but broken.
            let Ok(found) = self.differences(candidate) else { return Ok(false) };
            let same = found
                .into_iter()
                .find(|difference| difference.class() == *class && !self.reasons.explain(difference, candidate));
            let is_there = same.is_some();
            last = same.unwrap_or(last.clone());
            Ok(is_there)
        })?;
        Ok((project, last))
    }
}
