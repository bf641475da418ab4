//! `just mutants ROOM --seed S`: draws a sample of small changes in a room of `src`, and tells which no test notices.
//!
//! `mutants ROOM [--seed N] [--count N] [--tests NAME,…] [--through COMMAND] [--list]`. All mutants of the sample are
//! compiled into one copy of the tree, each behind a switch that a variable of the environment turns on; so the tests
//! are built once. The tree itself is never touched. The same seed draws the same sample of the same sources. Exit
//! code 1 = more than 5 % survive.

#![allow(clippy::print_stdout, reason = "what it prints is its result")]

mod schemata;
mod sites;
mod trial;

use schemata::{Mutant, ScratchTree};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use trial::{Ended, Runner, Suite};

/// Of a hundred viable mutants so many may survive.
const MAX_SURVIVING_PERCENT: usize = 5;
/// A test that reads the sources of the tree says nothing about a mutant.
const READS_SOURCES: &str = "house";
/// Most mutants of a sample; the switch has room for them, and for those that do not compile.
const MAX_MUTANTS: usize = 1000;
const USAGE: &str = "mutants ROOM [--seed N] [--count N] [--tests lib,NAME,…] [--through COMMAND] [--list]";

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Wishes {
    room: String,
    seed: u64,
    count: usize,
    tests: Option<Vec<String>>,
    through: Option<String>,
    list: bool,
}

fn main() -> ExitCode {
    match wishes().and_then(|wishes| run(&wishes)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            println!("mutants: {error}");
            ExitCode::from(2)
        }
    }
}

fn wishes() -> Outcome<Wishes> {
    let mut wishes = Wishes { room: String::new(), seed: 1, count: 60, tests: None, through: None, list: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or(format!("`{word}` needs a value: {USAGE}"));
        match word.as_str() {
            "--seed" => wishes.seed = value()?.parse()?,
            "--count" => wishes.count = value()?.parse()?,
            "--tests" => wishes.tests = Some(value()?.split(',').map(str::to_owned).collect()),
            "--through" => wishes.through = Some(value()?),
            "--list" => wishes.list = true,
            room if wishes.room.is_empty() && !room.starts_with('-') => wishes.room = room.to_owned(),
            other => return Err(format!("`{other}` is not understood: {USAGE}").into()),
        }
    }
    if wishes.room.is_empty() {
        return Err(format!("which room? {USAGE}").into());
    }
    if wishes.count == 0 || wishes.count > MAX_MUTANTS {
        return Err(format!("--count is from 1 to {MAX_MUTANTS}").into());
    }
    Ok(wishes)
}

fn run(wishes: &Wishes) -> Outcome<bool> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
    let tree = ScratchTree { folder: target.join("mutants/tree"), root };
    let runner = Runner { folder: tree.folder.clone(), target: target.clone(), through: wishes.through.clone() };
    fs::create_dir_all(&tree.folder)?;
    let sources = sources(&tree.root, &wishes.room)?;
    let all = shuffled(&sources, wishes.seed)?;
    println!("{}: {} files, {} mutations", wishes.room, sources.len(), all.len());
    let sample = viable(&tree, &runner, &sources, all, wishes.count)?;
    if wishes.list {
        for mutant in &sample {
            println!("{}", reported(&sources, mutant));
        }
        return Ok(true);
    }
    let names = wishes.tests.clone().map_or_else(|| tests_of(&tree.root), Ok)?;
    let mut suites = runner.build(&names)?;
    for suite in &mut suites {
        runner.without_mutant(suite, &target.join("mutants/reached"))?;
        println!(
            "{}: {:.0} s, reaches {} of {}",
            suite.name,
            suite.took.as_secs_f64(),
            suite.reached.len(),
            sample.len()
        );
        for test in &suite.failing {
            println!("  {test} fails without a mutant, so it judges none");
        }
    }
    judge(wishes, &runner, &suites, &sources, &sample)
}

fn judge(
    wishes: &Wishes,
    runner: &Runner,
    suites: &[Suite],
    sources: &BTreeMap<PathBuf, String>,
    sample: &[Mutant],
) -> Outcome<bool> {
    let (mut caught, mut survived, mut unreached) = (0, 0, 0);
    for mutant in sample {
        let (end, by) = fate(runner, suites, mutant, &wishes.room)?;
        let reached: Vec<&str> =
            suites.iter().filter(|suite| suite.reached.contains(&mutant.number)).map(|suite| &*suite.name).collect();
        match end {
            Ended::Passed => {
                survived += 1;
                unreached += usize::from(reached.is_empty());
                println!("SURVIVED {}", reported(sources, mutant));
                println!(
                    "  reached by: {}",
                    if reached.is_empty() { "no test".to_owned() } else { reached.join(", ") }
                );
            }
            Ended::Failed(test) => {
                caught += 1;
                println!("caught {} ({by}: {test})", headline(sources, mutant));
            }
            Ended::Died => {
                caught += 1;
                println!("caught {} ({by}: the process died)", headline(sources, mutant));
            }
            Ended::TimedOut => {
                caught += 1;
                println!("caught {} ({by}: out of time)", headline(sources, mutant));
            }
        }
    }
    let share = survived as f64 * 100.0 / sample.len().max(1) as f64;
    println!(
        "{}, seed {}: of {} mutants {caught} caught, {survived} survived ({share:.0} %), {unreached} of these reached by no test",
        wishes.room,
        wishes.seed,
        sample.len()
    );
    Ok(survived * 100 <= MAX_SURVIVING_PERCENT * sample.len())
}

/// The tests of the room first, then those of the library, then the others that reach the mutant, the quick ones first.
fn fate(runner: &Runner, suites: &[Suite], mutant: &Mutant, room: &str) -> Outcome<(Ended, String)> {
    let mut reaching: Vec<&Suite> = suites.iter().filter(|suite| suite.reached.contains(&mutant.number)).collect();
    reaching.sort_by_key(|suite| (suite.name != "lib", suite.took));
    for suite in reaching {
        let filters = if suite.name == "lib" { vec![Some(format!("{room}::")), None] } else { vec![None] };
        for filter in filters {
            let end = runner.with_mutant(suite, mutant.number, filter.as_deref())?;
            if end != Ended::Passed {
                return Ok((end, suite.name.clone()));
            }
        }
    }
    Ok((Ended::Passed, String::new()))
}

/// The files of a room by their path, without those that hold tests only.
fn sources(root: &Path, room: &str) -> Outcome<BTreeMap<PathBuf, String>> {
    let mut found = BTreeMap::new();
    for entry in ignore::Walk::new(root.join("src")) {
        let entry = entry?;
        let path = entry.path().strip_prefix(root)?;
        let within =
            path == Path::new("src").join(room).with_extension("rs") || path.starts_with(Path::new("src").join(room));
        if within && path.extension().is_some_and(|extension| extension == "rs") {
            found.insert(path.to_owned(), fs::read_to_string(entry.path())?);
        }
    }
    if found.is_empty() {
        return Err(format!("there is no room `{room}`: `src/{room}.rs` and `src/{room}` are not there").into());
    }
    let tests: BTreeSet<PathBuf> = found.iter().flat_map(|(path, text)| test_modules(path, text)).collect();
    found.retain(|path, _| !tests.iter().any(|test| path.starts_with(test) || *path == test.with_extension("rs")));
    Ok(found)
}

/// The paths, without an extension, of modules that only tests compile.
fn test_modules(path: &Path, text: &str) -> Vec<PathBuf> {
    let Ok(file) = syn::parse_file(text) else { return Vec::new() };
    let folder = path.with_extension("");
    let modules = file.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if module.content.is_none() => Some(module),
        _ => None,
    });
    modules
        .filter(|module| module.attrs.iter().any(|a| a.path().is_ident("cfg")))
        .map(|m| folder.join(m.ident.to_string()))
        .collect()
}

/// All mutations of all files, in the order of the seed.
fn shuffled(sources: &BTreeMap<PathBuf, String>, seed: u64) -> Outcome<Vec<(PathBuf, sites::Mutation)>> {
    let mut all = Vec::new();
    for (path, text) in sources {
        let mutations = sites::mutations(text).map_err(|error| format!("{}: {error}", path.display()))?;
        all.extend(mutations.into_iter().map(|mutation| (path.clone(), mutation)));
    }
    let mut state = seed;
    for last in (1..all.len()).rev() {
        // SplitMix64: small, and the same everywhere.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = state;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        all.swap(last, usize::try_from(bits % (last as u64 + 1))?);
    }
    Ok(all)
}

/// The first mutants of the order that compile; more than are wanted are tried at once, since a check is slow.
fn viable(
    tree: &ScratchTree,
    runner: &Runner,
    sources: &BTreeMap<PathBuf, String>,
    all: Vec<(PathBuf, sites::Mutation)>,
    count: usize,
) -> Outcome<Vec<Mutant>> {
    let mut rest = all.into_iter();
    let (mut sample, mut number): (Vec<Mutant>, usize) = (Vec::new(), 0);
    loop {
        while sample.len() < count + count / 2 {
            let Some((file, mutation)) = rest.next() else { break };
            if sample.iter().any(|other| other.file == file && other.mutation.place == mutation.place) {
                continue;
            }
            number += 1;
            sample.push(Mutant { number, file, mutation });
        }
        // Mistakes of types hide those of lifetimes, so it takes several rounds.
        loop {
            let refused = refused(tree, runner, sources, &sample)?;
            if refused.is_empty() {
                break;
            }
            println!("{} of {} do not compile", refused.len(), sample.len());
            sample.retain(|mutant| !refused.contains(&mutant.number));
        }
        if sample.len() >= count || rest.len() == 0 {
            sample.truncate(count);
            write(tree, sources, &sample)?;
            return Ok(sample);
        }
    }
}

fn write(
    tree: &ScratchTree,
    sources: &BTreeMap<PathBuf, String>,
    sample: &[Mutant],
) -> Outcome<BTreeMap<PathBuf, Vec<schemata::Written>>> {
    let (mut texts, mut places) = (BTreeMap::new(), BTreeMap::new());
    for (path, source) in sources {
        let mutants: Vec<&Mutant> = sample.iter().filter(|mutant| mutant.file == *path).collect();
        let (text, written) = schemata::render(source, &mutants);
        texts.insert(path.clone(), text);
        places.insert(path.clone(), written);
    }
    tree.refresh(&|path| texts.get(path).cloned())?;
    Ok(places)
}

fn refused(
    tree: &ScratchTree,
    runner: &Runner,
    sources: &BTreeMap<PathBuf, String>,
    sample: &[Mutant],
) -> Outcome<BTreeSet<usize>> {
    let places = write(tree, sources, sample)?;
    let mut refused = BTreeSet::new();
    for mistake in runner.check()? {
        let written = places.get(&mistake.file).map_or(&[][..], Vec::as_slice);
        let around = written
            .iter()
            .filter(|mutant| mutant.place.contains(&mistake.byte))
            .min_by_key(|mutant| mutant.place.len());
        // What a mutant moves or borrows may be refused further down: the nearest one before it is to blame.
        let nearest =
            || written.iter().filter(|mutant| mutant.place.start <= mistake.byte).max_by_key(|mutant| mutant.place.end);
        match around.or_else(nearest).or(written.first()) {
            Some(mutant) => refused.insert(mutant.number),
            None => return Err(format!("{}: {}", mistake.file.display(), mistake.message).into()),
        };
    }
    Ok(refused)
}

fn tests_of(root: &Path) -> Outcome<Vec<String>> {
    let mut names = vec!["lib".to_owned()];
    for entry in fs::read_dir(root.join("tests"))? {
        let path = entry?.path();
        if path.join("main.rs").is_file() {
            names.extend(path.file_name().and_then(|name| name.to_str()).map(str::to_owned));
        }
    }
    names.retain(|name| name != READS_SOURCES);
    names.sort_by_key(|name| (name != "lib", name.clone()));
    Ok(names)
}

fn headline(sources: &BTreeMap<PathBuf, String>, mutant: &Mutant) -> String {
    let source = sources.get(&mutant.file).map_or("", String::as_str);
    let line = sites::line_of(source, mutant.mutation.place.start);
    format!("{}:{line} in `{}`: {}", mutant.file.display(), mutant.mutation.function, mutant.mutation.reported)
}

fn reported(sources: &BTreeMap<PathBuf, String>, mutant: &Mutant) -> String {
    let source = sources.get(&mutant.file).map_or("", String::as_str);
    let line = sites::line_of(source, mutant.mutation.place.start);
    let text = source.lines().nth(line - 1).unwrap_or_default().trim();
    format!("{}\n  {text}", headline(sources, mutant))
}
