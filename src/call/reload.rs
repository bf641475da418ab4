//! A new generation: made aside, swapped in, and what it changes for clients announced.

use super::loading::{Site, load};
use super::service::Service;
use super::{Change, fault_json};
use crate::definition::Body;
use crate::diagnostic::{Diagnostic, Severity};
use crate::guard::CancelFlag;
use crate::primitive::{Effect, LogLevel};
use crate::registry::{CallContract, Registry, ServedPrompt, ServedResource, ServedTool};
use crate::value::Json;
use crate::world::disk::shortages;
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a site is looked at again that could not be read, and how long after the last time.
const AGAIN: (usize, Duration) = (100, Duration::from_millis(100));

/// The next generation; nothing if the process had no descriptor left each time: what could not be read is not gone.
//= docs/spec.md#reload
//# Packs that cannot be read because the process has no descriptor left MUST go on serving.
fn loaded(site: &dyn Site, before: &Registry) -> Option<Registry> {
    let (times, pause) = AGAIN;
    for _ in 0..times {
        let missed = shortages();
        let after = load(site, before);
        if shortages() == missed {
            return Some(after);
        }
        thread::sleep(pause);
    }
    None
}

impl Service {
    /// Looks at the site again and serves what it holds now. A pack that is broken stays as it was. Announces which
    /// lists differ and what is newly wrong. Without a site nothing happens.
    pub fn reload(&self) {
        let Some(site) = &self.site else { return };
        let _one_at_a_time = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.registry();
        //= docs/spec.md#reload
        //# An edit of any file of a pack MUST be served without a new start.
        let Some(mut after) = loaded(site.as_ref(), &before) else {
            return tracing::warn!("the packs could not be read again, and serve as they were: too many open files");
        };
        if self.describes.load(Ordering::Relaxed) {
            self.compute(&mut after);
        }
        if after.is_same(&before) {
            return;
        }
        tracing::info!("generation {} serves", after.generation);
        let after = Arc::new(after);
        self.registry.store(Arc::clone(&after));
        self.announce(&before, &after);
    }

    /// Computes what packs compute for clients, as the workspace is now: descriptions of tools, prompts that functions
    /// list, instructions; from now on each reload does too.
    pub fn describe(&self) {
        self.describes.store(true, Ordering::Relaxed);
        let before = self.registry();
        if !before.computes() {
            return;
        }
        let _one_at_a_time = self.making.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.registry();
        let mut after = before.copy();
        if self.compute(&mut after) {
            let after = Arc::new(after);
            self.registry.store(Arc::clone(&after));
            self.announce(&before, &after);
        }
    }

    /// Whether something is another one now.
    fn compute(&self, registry: &mut Registry) -> bool {
        let described = self.compute_descriptions(registry);
        let prompts = self.compute_prompts(registry);
        let instructions = self.compute_instructions(registry);
        described || prompts || instructions
    }

    /// Whether a description is another one now.
    fn compute_descriptions(&self, registry: &mut Registry) -> bool {
        let mut tools = registry.tools.clone();
        let mut differs = false;
        for served in &mut tools {
            let Some(describe) = &served.tool.describe else { continue };
            let text = self.description(registry, served, &describe.value);
            let text = text.map(|text| served.tool.describe_with_operations(&text));
            let Some(text) = text.filter(|text| *text != served.description) else { continue };
            differs = true;
            *served = Arc::new(ServedTool {
                pack: Arc::clone(&served.pack),
                name: served.name.clone(),
                description: text,
                tool: served.tool.clone(),
                input: served.input.clone(),
                output: served.output.clone(),
                contract: served.contract.clone(),
            });
        }
        registry.tools = tools;
        differs
    }

    fn description(&self, registry: &Registry, served: &ServedTool, function: &str) -> Option<String> {
        let calling = self.background(registry, CancelFlag::default());
        let script = match &served.tool.body.value {
            Body::Script { script, .. } | Body::Operations { script } => script.clone(),
            _ => format!("tools.d/{}.rhai", served.pack.name),
        };
        let CallContract { limits, .. } = served.contract;
        let running = calling.begin(&served.pack, Effect::Reads, limits, false, None);
        let text = running.and_then(|running| running.function(&script, function, Vec::new()));
        self.described.note(&served.pack.name, self.store(&served.pack.name).last_graph().as_ref());
        match text {
            Ok(text) => text.as_text().map(str::to_owned),
            Err(fault) => {
                tracing::warn!("`{function}`, which describes `{}`, fails: {fault}", served.name);
                None
            }
        }
    }

    fn announce(&self, before: &Registry, after: &Registry) {
        //= docs/spec.md#reload
        //# A client MUST be told that a list changed when it changed, and only then.
        let tools = differs(&before.tools, &after.tools, tool);
        let prompts = differs(&before.prompts, &after.prompts, prompt);
        let resources = differs(&before.resources, &after.resources, resource)
            || (!Arc::ptr_eq(&before.skills, &after.skills) && skills(before) != skills(after));
        if tools || prompts || resources {
            self.changes.announce(&Change::Lists { tools, prompts, resources });
        }
        if before.faults != after.faults {
            self.changes.announce(&Change::Resource { uri: super::STATUS.to_owned() });
        }
        //= docs/spec.md#reload
        //# What is wrong with a pack, and where, MUST stand in `toolsd://status` and in the log.
        let known: HashSet<&str> = before.faults.iter().map(|fault| fault.message.as_str()).collect();
        let is_new = |fault: &&Diagnostic| !known.contains(fault.message.as_str()) || !before.faults.contains(fault);
        for fault in after.faults.iter().filter(is_new) {
            log_fault(fault);
            let level = if fault.is_error() { LogLevel::Error } else { LogLevel::Warning };
            self.changes.announce(&Change::Log { level, data: fault_json(fault) });
        }
        if after.faults.is_empty() && before.faults.iter().any(Diagnostic::is_error) {
            tracing::info!("everything is well again");
        }
    }
}

/// Writes a fault to the log.
pub fn log_fault(fault: &Diagnostic) {
    match fault.severity {
        Severity::Error => tracing::error!("{fault}"),
        Severity::Warning => tracing::warn!("{fault}"),
    }
}

impl Registry {
    /// Whether nothing differs but the number of the generation.
    fn is_same(&self, other: &Self) -> bool {
        let same = |one: &[Arc<_>], other: &[Arc<_>]| {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| Arc::ptr_eq(one, other))
        };
        let same_prompts = self.prompts.len() == other.prompts.len()
            && self.prompts.iter().zip(&other.prompts).all(|(one, other)| Arc::ptr_eq(one, other));
        same(&self.tools, &other.tools)
            && same_prompts
            && self.instructions == other.instructions
            && self.packs.len() == other.packs.len()
            && self.packs.iter().zip(&other.packs).all(|(one, other)| Arc::ptr_eq(one, other))
            && self.settings.hash == other.settings.hash
            && (&self.dormant, &self.stale, &self.faults) == (&other.dormant, &other.stale, &other.faults)
            && self.refused == other.refused
    }

    fn copy(&self) -> Self {
        Self {
            generation: self.generation + 1,
            packs: self.packs.clone(),
            tools: self.tools.clone(),
            resources: self.resources.clone(),
            prompts: self.prompts.clone(),
            switched_off: self.switched_off.clone(),
            patterns: self.patterns.clone(),
            instructions: self.instructions.clone(),
            skills: Arc::clone(&self.skills),
            routes: self.routes.clone(),
            dormant: self.dormant.clone(),
            stale: self.stale.clone(),
            refused: self.refused.clone(),
            faults: self.faults.clone(),
            settings: self.settings.clone(),
        }
    }
}

/// Whether two lists look different to a client. What is the very same in both is not looked at.
fn differs<T>(before: &[Arc<T>], after: &[Arc<T>], published: fn(&T) -> Json) -> bool {
    let same = |(one, other): (&Arc<T>, &Arc<T>)| Arc::ptr_eq(one, other) || published(one) == published(other);
    before.len() != after.len() || !before.iter().zip(after).all(same)
}

fn tool(served: &ServedTool) -> Json {
    let ServedTool { name, description, tool, input, output, .. } = served;
    let hints = (tool.effect.value.name(), tool.hints.destructive, tool.hints.idempotent, tool.hints.open_world);
    json!([name, tool.title, description, input, output, tool.icons, tool.meta, format!("{hints:?}")])
}

fn prompt(served: &ServedPrompt) -> Json {
    let prompt = &served.prompt;
    let arguments: Vec<Json> = prompt
        .arguments
        .iter()
        .map(|argument| json!([argument.name.value, argument.title, argument.description, argument.required]))
        .collect();
    json!([served.name, prompt.title, prompt.description, arguments, prompt.icons, prompt.meta])
}

fn resource(served: &ServedResource) -> Json {
    let mut json = super::resource::fixed(served);
    json["is_template"] = Json::from(served.resource.is_template);
    json
}

fn skills(registry: &Registry) -> Vec<Json> {
    registry.skills.iter().map(|(_, skill)| super::resource::skill(skill)).collect()
}
