//! Two thousand skills: the first list, a refresh of what did not change, calls while it is refreshed all the time.

use crate::Outcome;
use crate::client::{Call, Right, Server};
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::{median, milliseconds, percentile};
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const FIRST_LIST: f64 = 150.0;
const UNCHANGED: f64 = 15.0;
const BESIDE: f64 = 50.0;
/// A stamp younger than this is not trusted: nothing is measured before all are older.
const MIN_STAMP_AGE: Duration = Duration::from_millis(2_100);

/// Measures it.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let count = setting.count(2_000, 50);
    let folder = setting.project().with_file_name("skills");
    let (home, workspace) = (folder.join("home"), folder.join("workspace"));
    make(&home, count)?;
    fs::create_dir_all(&workspace)?;
    std::thread::sleep(MIN_STAMP_AGE);

    let mut starts = Vec::new();
    for _ in 0..=setting.count(10, 2) {
        let began = Instant::now();
        let server = start(setting, &folder, &home, &workspace)?;
        starts.push(milliseconds(began.elapsed()));
        drop(server);
    }
    let value = median(&starts[1..]).ok_or("nothing was measured")?;
    report.at_most(&format!("{count} skills: start to first tools/list, median"), FIRST_LIST, value, "ms");

    fs::write(workspace.join("toolsd.toml"), "[packs.skills]\nrefresh_ms = 100\nwatch = false\n")?;
    let log = folder.join("server.log");
    let _ = fs::remove_file(&log);
    let mut server = start(setting, &folder, &home, &workspace)?;
    let mut times = Vec::new();
    for number in 0..setting.count(500, 60) {
        let name = format!("skill-{}", number % count);
        let path = home.join(".claude/skills").join(&name);
        let text = format!("Loading: {name}\nBase directory: {}\n\n{}", path.display(), skill(&name));
        let call = Call::new("skill", &json!({ "name": name }), Right::Text(text));
        let (time, _) = server.call(&call)?;
        times.push(milliseconds(time));
        // So that the calls meet many refreshes.
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(server);
    let value = percentile(&times, 0.99).ok_or("nothing was measured")?;
    report.at_most(&format!("{count} skills: {} calls during refreshes, p99", times.len()), BESIDE, value, "ms");
    let text = fs::read_to_string(&log)?;
    let unchanged: Vec<f64> = text.lines().filter_map(refreshed).collect();
    let value = median(&unchanged).ok_or("no refresh was logged")?;
    report.at_most(
        &format!("{count} skills: refresh of the same, median of {}", unchanged.len()),
        UNCHANGED,
        value,
        "ms",
    );
    let _ = fs::remove_file(workspace.join("toolsd.toml"));
    Ok(())
}

fn start(setting: &Setting, folder: &Path, home: &Path, workspace: &Path) -> Outcome<Server> {
    let mut command: Command = setting.toolsd(&["serve", "--pack", "skills", "--workspace"]);
    command.arg(workspace).env("HOME", home).env("TOOLSD_LOG", "warn,toolsd=debug");
    Server::start(&mut command, &folder.join("server.log"))
}

/// The time of a refresh that found nothing new, from a line of the log.
fn refreshed(line: &str) -> Option<f64> {
    let (_, rest) = line.split_once("`skills` is refreshed in ")?;
    let (time, what) = rest.split_once(" ms: ")?;
    what.starts_with("nothing changed").then(|| time.parse().ok()).flatten()
}

fn skill(name: &str) -> String {
    let body = "Do this, then do that, and look at what came of it.\n".repeat(20);
    format!("---\nname: {name}\ndescription: What {name} is good for, and when to use it\n---\n\n{body}")
}

fn make(home: &Path, count: usize) -> Outcome<()> {
    for number in 0..count {
        let name = format!("skill-{number}");
        let folder = home.join(".claude/skills").join(&name);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("SKILL.md"), skill(&name))?;
    }
    Ok(())
}
