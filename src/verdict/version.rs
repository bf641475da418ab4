//! Whether the version of a pack was raised as far as its changes demand.

use super::change::{Change, Verdict};
use crate::value::Json;
use semver::Version;

/// How far a version is raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// Not at all.
    Unchanged,
    /// The third number, or a prerelease of it.
    Patch,
    /// The second number.
    Minor,
    /// The first number.
    Major,
}

impl Step {
    fn word(self) -> &'static str {
        ["unchanged", "patch", "minor", "major"][self as usize]
    }
}

/// A pack whose version was raised by less than its changes demand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionStep {
    /// The name of the pack.
    pub pack: String,
    /// The step that its changes demand.
    pub required: Step,
    /// What is wrong, and what to write.
    pub message: String,
}

impl VersionStep {
    /// The code of this finding.
    pub const KIND: &'static str = "version-step";
}

/// The step that a verdict demands of a version. Below 1.0 the second number counts for the first.
pub fn required_step(verdict: Verdict, old: &Version) -> Step {
    match verdict {
        Verdict::Breaking if old.major > 0 => Step::Major,
        Verdict::Breaking | Verdict::Compatible | Verdict::Wording => Step::Minor,
        Verdict::None => Step::Patch,
    }
}

/// The packs with `changes` whose version was raised by too little.
pub fn version_steps(old: &Json, new: &Json, changes: &[Change]) -> Vec<VersionStep> {
    let packs = new.get("packs").and_then(Json::as_object).into_iter().flatten();
    let version = |pack: &Json| Version::parse(pack.get("version")?.as_str()?).ok();
    packs
        .filter_map(|(name, pack)| {
            let (before, after) = (version(old.get("packs")?.get(name)?)?, version(pack)?);
            let worst = changes.iter().filter(|change| change.pack == *name).map(|change| change.verdict).max();
            let required = worst.map_or(Step::Unchanged, |worst| required_step(worst, &before));
            let (word, worst) = (required.word(), worst.unwrap_or(Verdict::None).word());
            let (happened, least) = if after < before {
                (format!("the version of {name} goes back from {before} to {after}"), required.max(Step::Patch))
            } else if step(&before, &after) < required {
                let need = format!("the changes of {name} need a {word} step (worst: {worst})");
                (format!("{need}, its version went from {before} to {after}"), required)
            } else {
                return None;
            };
            let message = format!("{happened}: write {} or more", next(&before, least));
            Some(VersionStep { pack: name.clone(), required, message })
        })
        .collect()
}

fn step(before: &Version, after: &Version) -> Step {
    match (before, after) {
        (before, after) if before.major != after.major => Step::Major,
        (before, after) if before.minor != after.minor => Step::Minor,
        (before, after) if before == after => Step::Unchanged,
        _ => Step::Patch,
    }
}

fn next(version: &Version, step: Step) -> Version {
    match step {
        Step::Major => Version::new(version.major + 1, 0, 0),
        Step::Minor => Version::new(version.major, version.minor + 1, 0),
        Step::Patch => Version::new(version.major, version.minor, version.patch + 1),
        Step::Unchanged => version.clone(),
    }
}
