//! Whether the version of a pack was raised as far as its changes demand.

use super::change::{Change, Verdict};
use crate::value::Json;
use semver::{Prerelease, Version};
use serde_json::Map;

/// The code of this finding.
pub(super) const VERSION_STEP: &str = "version-step";

/// A change for each pack whose version was raised by less than `changes` demand. Below 1.0 the second number counts for
/// the first.
pub fn version_steps(old: &Json, new: &Json, changes: &[Change]) -> Vec<Change> {
    let version = |surface: &Json, name: &str| Version::parse(surface["packs"][name]["version"].as_str()?).ok();
    let names = new["packs"].as_object().into_iter().flat_map(Map::keys);
    let step = |name: &String| {
        let (before, after) = (version(old, name)?, version(new, name)?);
        let worst = changes.iter().filter(|change| change.pack == *name).map(|change| change.verdict).max();
        let (step, least) = match worst {
            None if after >= before => return None,
            None | Some(Verdict::None) => ("patch", Version::new(before.major, before.minor, before.patch + 1)),
            Some(Verdict::Breaking) if before.major > 0 => ("major", Version::new(before.major + 1, 0, 0)),
            Some(_) => ("minor", Version::new(before.major, before.minor + 1, 0)),
        };
        let release = Version { pre: Prerelease::EMPTY, ..after.clone() };
        let happened = if after < before {
            format!("it goes back from {before} to {after}")
        } else if release >= least || (step == "patch" && after > before) {
            return None;
        } else {
            let worst = worst.unwrap_or(Verdict::None).word();
            format!("the changes need a {step} step (worst: {worst}), its version went from {before} to {after}")
        };
        let message = format!("{happened}: write {least} or more");
        Some(Change::new(name, "version", VERSION_STEP, Verdict::None, message))
    };
    names.filter_map(step).collect()
}
