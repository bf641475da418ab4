//! A program that a pack starts, confined by the system: hardly slower than one that is just started.

use crate::Outcome;
use crate::report::Report;
use crate::setting::Setting;
use crate::statistics::{median, microseconds};
use std::process::Stdio;
use std::time::{Duration, Instant};
use toolsd::world::Programs;
use toolsd::world::disk::{Disk, sandbox_status};
use toolsd::world::run::{ChildProcesses, Confinement, ProgramCommand, RequiredGrant};

/// Confined against plain.
const TIMES: f64 = 1.3;

/// The memory of a server of some size meanwhile.
const LARGE: usize = 500 << 20;

/// Measures it: in a small process and in a large one.
pub fn measure(setting: &Setting, report: &mut Report) -> Outcome<()> {
    let status = sandbox_status();
    if !status.is_confining() {
        report.note(format!("spawn: {status}"));
        return Ok(());
    }
    let rounds = setting.count(400, 20);
    compare("a small host", rounds, setting, report)?;
    let held = vec![1_u8; if setting.small { 1 } else { LARGE }];
    compare("a host of 500 MB", rounds, setting, report)?;
    drop(std::hint::black_box(held));
    Ok(())
}

fn compare(host: &str, rounds: usize, setting: &Setting, report: &mut Report) -> Outcome<()> {
    let folder = setting.empty_folder("spawn")?;
    let folder = folder.to_string_lossy().into_owned();
    let disk = Disk::new(&folder, []).map_err(|error| error.to_string())?;
    let command = command(&folder);
    let (mut plain, mut confined) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        plain.push(microseconds(started(&folder)?));
        let began = Instant::now();
        let ran = disk.run(&command).map_err(|error| error.to_string())?;
        if ran.code != 0 {
            return Err(String::from_utf8_lossy(&ran.errors).into_owned().into());
        }
        confined.push(microseconds(began.elapsed()));
    }
    let none = || "nothing was measured".to_owned();
    let (plain, confined) = (median(&plain).ok_or_else(none)?, median(&confined).ok_or_else(none)?);
    let limit = format!("≤ {TIMES} × plain {plain:.0} µs");
    let value = format!("{confined:.0} µs, {:.2} ×", confined / plain);
    report.measured(&format!("spawn: git, confined, in {host}"), &limit, &value, confined <= TIMES * plain);
    Ok(())
}

fn command(folder: &str) -> ProgramCommand {
    ProgramCommand {
        program: "git".to_owned(),
        arguments: vec!["--version".to_owned()],
        folder: ".".to_owned(),
        input: Vec::new(),
        env: Vec::new(),
        time: Duration::from_secs(60),
        most: 1 << 20,
        needs: RequiredGrant::ReadGit,
        confinement: Confinement {
            read: vec![folder.to_owned()],
            processes: ChildProcesses::None,
            ..Confinement::default()
        },
        stop: || Ok(()),
    }
}

/// The same program as anybody would start it.
fn started(folder: &str) -> Outcome<Duration> {
    let began = Instant::now();
    let mut command = std::process::Command::new("git");
    let child = command.arg("--version").current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped());
    let output = child.stderr(Stdio::piped()).spawn()?.wait_with_output()?;
    if output.status.success() { Ok(began.elapsed()) } else { Err("git fails".into()) }
}
