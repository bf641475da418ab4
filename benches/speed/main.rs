//! `just bench`: the speed that toolsd promises, measured against opponents in the same run.
//!
//! `speed [--small] [--toolsd PATH] [--opponents FOLDER] [--duvet PATH] [--spec-kitty PATH] [--elspais PATH] [--fastmcp
//! PATH] [--scratch FOLDER] [--project-only] [PART…]`; the parts are those of the table below, all of them if none is
//! named. Exit code 1 = a wrong answer, or a target missed; `--small` takes few samples and judges no time.

mod client;
mod contest;
mod machine;
mod project;
mod report;
mod setting;
mod statistics;
mod web;
mod targets {
    //! What is promised, one part a file.
    pub mod code;
    pub mod echo;
    pub mod index;
    pub mod load;
    pub mod mix;
    pub mod natives;
    pub mod skills;
    pub mod spawn;
    pub mod start;
    pub mod stats;
    pub mod trace;
    pub mod workflow;
    pub mod workspace;
}

use report::Report;
use setting::Setting;
use std::io::Write;
use std::process::ExitCode;

/// The result of a part, or a plain reason why there is none.
pub type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

type Part = (&'static str, fn(&Setting, &mut Report) -> Outcome<()>);

const PARTS: &[Part] = &[
    ("echo", targets::echo::measure),
    ("start", targets::start::measure),
    ("stats", targets::stats::measure),
    ("index", targets::index::measure),
    ("trace", targets::trace::measure),
    ("mix", targets::mix::measure),
    ("load", targets::load::measure),
    ("skills", targets::skills::measure),
    ("natives", targets::natives::measure),
    ("spawn", targets::spawn::measure),
    ("workspace", targets::workspace::measure),
    ("workflow", targets::workflow::measure),
    ("code", targets::code::measure),
];

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            say(&format!("speed: {error}\n"));
            ExitCode::from(2)
        }
    }
}

/// Runs the parts asked for; false = one was wrong or missed a target.
fn run() -> Outcome<bool> {
    let setting = Setting::read(std::env::args().skip(1))?;
    if let Some(unknown) = setting.parts.iter().find(|part| !PARTS.iter().any(|(name, _)| name == part)) {
        let names: Vec<&str> = PARTS.iter().map(|(name, _)| *name).collect();
        return Err(format!("no part `{unknown}`: {}", names.join(", ")).into());
    }
    if setting.project_only {
        let made = project::make(&setting.project(), setting.size())?;
        let files = made.files.len();
        let counts = made.annotations;
        say(&format!(
            "{}: {files} files, {} requirements, {counts:?}\n",
            setting.project().display(),
            made.requirements
        ));
        return Ok(true);
    }
    let machine = machine::description();
    let mut report = Report::new(!setting.small);
    for (name, measure) in PARTS {
        if setting.parts.is_empty() || setting.parts.iter().any(|part| part == name) {
            say(&format!("{name} …\n"));
            if let Err(error) = measure(&setting, &mut report) {
                report.wrong(name, &error.to_string());
            }
        }
    }
    say(&format!("\n{}", report.text(&machine)));
    Ok(report.passed())
}

/// To stdout. If the reader has gone, measuring continues.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
