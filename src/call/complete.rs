//! Completion of the arguments of prompts and of the variables of resource templates.

use super::Answer;
use super::running::Running;
use crate::definition::Completion;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Json;

/// MCP: at most a hundred values.
const MOST: usize = 100;

/// The values that fit what was typed so far: those that begin with it first, then those that contain it.
pub fn complete(completion: &Completion, script: &str, running: &Running, typed: &str, known: &Json) -> Result<Answer> {
    let all = match completion {
        Completion::List(values) => values.clone(),
        Completion::Function(function) => {
            let arguments = vec![typed.into(), running.value(known)?];
            let value = running.function(script, &function.value, arguments)?;
            match running.guarded(|| value.json())? {
                Json::Array(items) => items.iter().map(text).collect(),
                _ => {
                    let kind = value.kind().name();
                    let fault = Diagnostic::new(Code::SCRIPT, format!("`{}` gives {kind}, not a list", function.value));
                    return Err(fault.at(function.at.clone()).help("return a list of texts"));
                }
            }
        }
    };
    Ok(fitting(all, typed))
}

fn fitting(all: Vec<String>, typed: &str) -> Answer {
    let typed = typed.to_lowercase();
    let (first, rest): (Vec<String>, Vec<String>) =
        all.into_iter().partition(|value| value.to_lowercase().starts_with(&typed));
    let mut values = first;
    values.extend(rest.into_iter().filter(|value| value.to_lowercase().contains(&typed)));
    let total = values.len();
    values.truncate(MOST);
    Answer::Completion { values, total }
}

fn text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_so_comes_before_what_contains_it() {
        let all = ["Beta", "alphabet", "be", "x"].map(str::to_owned).to_vec();
        let values = ["Beta", "be", "alphabet"].map(str::to_owned).to_vec();
        assert_eq!(fitting(all, "be"), Answer::Completion { values, total: 3 });
    }

    #[test]
    fn at_most_a_hundred_are_told() {
        let all = (0..150).map(|number| number.to_string()).collect();
        let Answer::Completion { values, total } = fitting(all, "") else { panic!("completions were asked for") };
        assert_eq!((values.len(), total), (100, 150));
    }
}
