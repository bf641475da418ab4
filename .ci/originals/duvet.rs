//! The original duvet beside its pack: how it is installed, what its report says, and what the pack answers to the same.

mod pack;
mod projects;
mod report;

use crate::programs::{Pack, crate_program};
use crate::project::Project;
use crate::{Answer, Original, Outcome};
use report::Report;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const VERSION: &str = "0.4.3";
/// Nothing listens there: a text that is not in the project is not fetched.
const NO_PROXY: &str = "http://127.0.0.1:9";

/// duvet 0.4.3, from the registry of crates; `TOOLSD_DUVET` names one that is there already.
#[derive(Default)]
pub struct Duvet {
    program: PathBuf,
}

impl Original for Duvet {
    fn reasons(&self) -> &'static str {
        include_str!("duvet/differs.toml")
    }

    fn install(&mut self, folder: &Path) -> Outcome<()> {
        self.program = match std::env::var_os("TOOLSD_DUVET").map(PathBuf::from) {
            Some(program) if program.is_file() => program,
            Some(program) => return Err(format!("TOOLSD_DUVET: there is no {}", program.display()).into()),
            None => crate_program(folder, "duvet", VERSION)?,
        };
        Ok(())
    }

    fn project(&self, seed: u64) -> Project {
        projects::generate(seed)
    }

    fn answers(&mut self, toolsd: &Path, project: &Project, root: &Path) -> Outcome<Vec<Answer>> {
        // Joined with nothing a path would end in a slash.
        let folder = if project.folder.is_empty() { root.to_owned() } else { root.join(&project.folder) };
        if project.has("reported before") {
            self.report(&folder)?;
        }
        // The original writes into the project, so the pack comes first.
        let mut pack = Pack::start(toolsd, "duvet", &folder)?;
        let refused = pack::refusal(&mut pack)?;
        let questions = pack::Questions::new(pack);
        let report = match self.report(&folder)? {
            Report::Answered(report) => report,
            Report::Failed(failures) => return questions.failures(refused, &failures),
            Report::Refused => {
                let here = refused.map_or_else(|| json!({}), |_| json!({ "raised": "a fault of the configuration" }));
                let there = json!({ "raised": "a fault of the configuration" });
                return Ok(vec![Answer { question: "configuration".to_owned(), here, there }]);
            }
            Report::Panicked(reported) => {
                let here = refused.unwrap_or_else(|| json!({}));
                return Ok(vec![Answer { question: "report".to_owned(), here, there: json!({ "raised": reported }) }]);
            }
        };
        match refused {
            Some(here) => Ok(vec![Answer { question: "report".to_owned(), here, there: json!({}) }]),
            None => questions.answers(&report),
        }
    }
}

impl Duvet {
    fn report(&self, folder: &Path) -> Outcome<Report> {
        let home = tempfile::tempdir()?;
        let file = home.path().join("report.json");
        let mut command = Command::new(&self.program);
        for name in ["CI", "NO_PROXY", "no_proxy"] {
            command.env_remove(name);
        }
        for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
            command.env(name, NO_PROXY);
        }
        command.args(["report", "--json"]).arg(&file).current_dir(folder).stdin(Stdio::null());
        let ended = command.output()?;
        Report::read(ended.status.success(), &String::from_utf8_lossy(&ended.stderr), &file, folder)
    }
}

/// The text with each run of blanks as one blank.
fn collapsed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
