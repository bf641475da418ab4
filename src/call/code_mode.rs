//! What a script that comes with a call may do: which tools, with which effects, how often, and within which limits.

use crate::definition::CodeModeDefinition;
use crate::guard::Limits;
use crate::primitive_api::Effect;
use std::time::Duration;

/// The maximum number of calls of a script.
const MAX_CALLS: usize = 50;

/// The maximum number of calls of a tool of a pack.
const MAX_CALLS_OF_PACK: usize = 1_000;

/// The maximum number of calls at the same time.
const MAX_PARALLEL: usize = 16;

/// What a script may do.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeMode {
    /// The strongest effect of a call.
    pub allow: Effect,
    /// The names of the tools, with `*` for any text.
    tools: Vec<String>,
    /// The names of tools that are excepted.
    without: Vec<String>,
    /// The maximum number of calls.
    pub calls: usize,
    /// The maximum number of calls at the same time.
    pub parallel: usize,
    /// The limits of the script, its calls included.
    pub limits: Limits,
    /// How more effects are allowed, for messages.
    pub remedy: &'static str,
}

impl CodeMode {
    /// What `[code_mode]` says, with `allow` in place of its effect. `remedy` says how more effects are allowed.
    pub fn new(definition: Option<&CodeModeDefinition>, allow: Option<Effect>, remedy: &'static str) -> Self {
        let absent = CodeModeDefinition::default();
        let definition = definition.unwrap_or(&absent);
        let count = |number: Option<u64>, usual: usize| {
            number.map_or(usual, |number| usize::try_from(number).unwrap_or(usize::MAX))
        };
        let own = &definition.limits;
        let usual = Limits { time: Duration::from_secs(60), output: 64 << 10, ..Limits::default() };
        let limits = Limits {
            time: own.time_ms.map_or(usual.time, Duration::from_millis),
            ticks: own.steps.unwrap_or(usual.ticks),
            memory: own.memory_mb.map_or(usual.memory, |size| count(Some(size), 0).saturating_mul(1 << 20)),
            output: own.output_kb.map_or(usual.output, |size| count(Some(size), 0).saturating_mul(1 << 10)),
            depth: count(own.depth, usual.depth),
        };
        Self {
            allow: allow.or(definition.allow).unwrap_or(Effect::Reads),
            tools: definition.tools.clone().unwrap_or_else(|| vec!["*".to_owned()]),
            without: definition.without.clone(),
            calls: count(definition.calls, MAX_CALLS),
            parallel: count(definition.parallel, MAX_PARALLEL),
            limits,
            remedy,
        }
    }

    /// What the script of a tool may do that calls other tools: its own limits count.
    pub fn for_pack(allow: Effect) -> Self {
        let remedy = "let the client call it: what it changed would stay if this call failed";
        Self { calls: MAX_CALLS_OF_PACK, ..Self::new(None, Some(allow), remedy) }
    }

    /// Whether a script may call a tool of this public name.
    pub fn allows_name(&self, name: &str) -> bool {
        let is_named = |patterns: &[String]| patterns.iter().any(|pattern| matches_name(pattern, name));
        is_named(&self.tools) && !is_named(&self.without)
    }
}

/// Whether a name fits a pattern, in which `*` stands for any text.
pub fn matches_name(pattern: &str, name: &str) -> bool {
    let Some((start, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(start) else { return false };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let end = parts.pop().unwrap_or_default();
    for part in parts {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, fits) in [
            ("*", "anything", true),
            ("get_*", "get_one", true),
            ("get_*", "forget_one", false),
            ("*_one", "get_one", true),
            ("a*b*c", "a-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a*a", "a", false),
            ("get", "get", true),
            ("get", "get_one", false),
        ] {
            assert_eq!(matches_name(pattern, name), fits, "{pattern} {name}");
        }
    }
}
