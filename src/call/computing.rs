//! What functions of packs make for clients beside descriptions: prompts of one pattern, and instructions.

use super::running::Running;
use super::service::Service;
use crate::definition::{Located, Prompt};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::CancelFlag;
use crate::primitive::Effect;
use crate::registry::{Registry, ServedPrompt};
use crate::value::Json;
use serde_json::json;
use std::sync::Arc;

impl Registry {
    /// Whether something that clients see is computed.
    pub(super) fn computes(&self) -> bool {
        self.tools.iter().any(|tool| tool.tool.describe.is_some())
            || !self.patterns.is_empty()
            || self.packs.iter().any(|pack| pack.definition.context.is_some())
    }
}

impl Service {
    /// Puts the prompts in place that functions list; a function that fails leaves those that it listed before. Whether
    /// one is another now.
    pub(super) fn compute_prompts(&self, registry: &mut Registry) -> bool {
        let before = std::mem::take(&mut registry.prompts);
        let mut prompts: Vec<Arc<ServedPrompt>> =
            before.iter().filter(|prompt| prompt.pattern.is_none()).cloned().collect();
        for pattern in registry.patterns.clone() {
            let known: Vec<&Arc<ServedPrompt>> =
                before.iter().filter(|prompt| prompt.pattern.as_ref() == Some(&pattern.name)).collect();
            if !self.switches_on(&pattern.pack, &pattern.prompt.enabled) {
                continue;
            }
            let listed = self.listed(registry, &pattern).unwrap_or_else(|fault| {
                tracing::warn!("the prompts like `{}` are not listed: {fault}", pattern.name);
                known.iter().map(|known| Arc::clone(known)).collect()
            });
            for prompt in listed {
                if prompts.iter().any(|other| other.name == prompt.name) {
                    tracing::debug!("there is a prompt `{}` already", prompt.name);
                    continue;
                }
                let same = known.iter().find(|known| is_same(&known.prompt, &prompt.prompt));
                prompts.push(same.map_or(prompt, |same| Arc::clone(same)));
            }
        }
        registry.prompts = prompts;
        let (one, other) = (&registry.prompts, &before);
        one.len() != other.len() || !one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
    }

    fn listed(&self, registry: &Registry, pattern: &ServedPrompt) -> Result<Vec<Arc<ServedPrompt>>> {
        let Some(list) = &pattern.prompt.list else {
            return Ok(vec![Arc::new(like(pattern, pattern.prompt.clone()))]);
        };
        let running = self.reading(registry, pattern)?;
        let items = running.function(&pattern.prompt.script, &list.value, Vec::new())?.json()?;
        let fault = || {
            let message = format!("`{}` gives no list of prompts", list.value);
            Diagnostic::new(Code::SCRIPT, message)
                .at(list.at.clone())
                .help("return a list of `#{ name, description, with }`")
        };
        let items = items.as_array().ok_or_else(fault)?;
        let one = |item: &Json| {
            let text = |key: &str| item[key].as_str().map(str::to_owned);
            let name = text("name").ok_or_else(fault)?;
            let base = pattern.prompt.clone();
            let mut with = base.with.clone();
            if let (Some(with), Some(more)) = (with.as_object_mut(), item["with"].as_object()) {
                with.extend(more.clone());
            }
            let title = text("title").or_else(|| base.title.clone());
            let description = text("description").or_else(|| base.description.clone());
            let name = Located { value: name, at: base.name.at.clone() };
            Ok(Arc::new(like(pattern, Prompt { name, title, description, with, ..base })))
        };
        items.iter().map(one).collect()
    }

    fn reading(&self, registry: &Registry, pattern: &ServedPrompt) -> Result<Running> {
        let calling = self.background(registry, CancelFlag::default());
        calling.begin(&pattern.pack, Effect::Reads, pattern.contract.limits, false, None)
    }

    /// Fills the instructions of packs that a function gives something for; one that fails leaves them as they were.
    pub(super) fn compute_instructions(&self, registry: &mut Registry) -> bool {
        let mut instructions = registry.instructions.clone();
        for pack in &registry.packs {
            let (Some((function, script)), Some(template)) = (&pack.definition.context, &pack.definition.instructions)
            else {
                continue;
            };
            let calling = self.background(registry, CancelFlag::default());
            let filled =
                calling.begin(pack, Effect::Reads, pack.compiled.build_limits, false, None).and_then(|running| {
                    let mut context = running.function(script, &function.value, Vec::new())?.json()?;
                    if let Some(map) = context.as_object_mut() {
                        map.entry("config").or_insert_with(|| json!(self.configuration(pack).to_json()));
                    }
                    running.template(&template.value, &context)
                });
            match filled {
                Ok(text) => drop(instructions.insert(pack.name.clone(), text)),
                Err(fault) => tracing::warn!("the instructions of `{}`: {fault}", pack.name),
            }
        }
        let differs = instructions != registry.instructions;
        registry.instructions = instructions;
        differs
    }
}

/// A prompt like another one; its name gets the same prefix.
fn like(pattern: &ServedPrompt, prompt: Prompt) -> ServedPrompt {
    let prefix = pattern.name.strip_suffix(pattern.prompt.name.value.as_str()).unwrap_or_default();
    ServedPrompt {
        pack: Arc::clone(&pattern.pack),
        name: format!("{prefix}{}", prompt.name.value),
        pattern: Some(pattern.name.clone()),
        prompt: Prompt { list: None, ..prompt },
        contract: pattern.contract.clone(),
    }
}

fn is_same(one: &Prompt, other: &Prompt) -> bool {
    (&one.name.value, &one.title, &one.description, &one.with)
        == (&other.name.value, &other.title, &other.description, &other.with)
}
