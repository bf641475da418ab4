//! From the start of the process to the first answer of `tools/list`, with every pack served by name.

use crate::Outcome;
use crate::project;
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::{median, milliseconds};
use std::fs;
use std::time::Instant;

const LIMIT: f64 = 15.0;

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let packs = packs(setting)?;
    let mut options = vec!["serve"];
    for pack in &packs {
        options.extend(["--pack", pack]);
    }
    // A workspace where a pack finds what it works on, not an empty one that spares it the looking.
    project::make(&setting.project(), setting.size())?;
    let mut times = Vec::new();
    // The first start reads the binary from the disk; it is not counted.
    for _ in 0..=setting.count(20, 3) {
        let mut command = setting.toolsd(&options);
        command.arg("--workspace").arg(setting.project());
        let began = Instant::now();
        let server = setting.start(&mut command)?;
        times.push(milliseconds(began.elapsed()));
        drop(server);
    }
    let value = median(&times[1..]).ok_or("nothing was measured")?;
    report.at_most(&format!("start to first tools/list, {} packs, median", packs.len()), LIMIT, value, "ms");
    Ok(())
}

/// The packs of the checkout: each TOML file at the top of tools.d is one.
fn packs(setting: &Setting) -> Outcome<Vec<String>> {
    let folder = setting.checkout().join("tools.d");
    let mut packs = Vec::new();
    for entry in fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "toml") {
            packs.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    packs.sort();
    if packs.is_empty() { Err("tools.d has no packs".into()) } else { Ok(packs) }
}
