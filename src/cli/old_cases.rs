//! Plays the cases that packs had before on the packs as they are now: what they showed still has to hold.

use super::context::CommandContext;
use super::preview::{prompts_of_cases, texts};
use super::test::{case_folders, packs_of_cases, run_cases};
use crate::call::Service;
use crate::case::RenderedPrompt;
use crate::definition::Validation;
use crate::diagnostic::Result;
use crate::registry::{Layer, Pack, PackChoice, PackFiles, merge_definitions};
use crate::value::Json;
use crate::verdict::{Change, Verdict};
use serde_json::json;
use std::sync::Arc;

/// The kind of a change that an old case shows.
const KIND: &str = "old-case-failed";

/// What the old cases showed.
#[derive(Default)]
pub struct OldCases {
    /// A breaking change for each that is not met any more.
    pub failed: Vec<Change>,
    /// How many were played.
    pub count: usize,
    /// The prompts that they got before and get now, for both surfaces: pack, prompt, what it rendered before, now.
    rendered: Vec<(String, String, Json, Json)>,
}

impl OldCases {
    /// Adds what the prompts rendered to the surfaces, so that they are compared.
    pub fn add_rendered(&self, old: &mut Json, new: &mut Json) {
        for (pack, prompt, before, now) in &self.rendered {
            for (surface, rendered) in [(&mut *old, before), (&mut *new, now)] {
                let Some(prompt) = surface["packs"].get_mut(pack).and_then(|pack| pack["prompts"].get_mut(prompt))
                else {
                    continue;
                };
                if prompt.get("rendered").is_none() {
                    prompt["rendered"] = json!([]);
                }
                prompt["rendered"].as_array_mut().into_iter().for_each(|all| all.push(rendered.clone()));
            }
        }
    }
}

/// Plays the cases of the packs in `before` on the same packs in `after`, the layers of now.
///
/// # Errors
/// A folder of a layer cannot be opened.
pub fn play_old_cases(
    context: &CommandContext,
    before: &[Layer],
    after: Option<&[Layer]>,
    packs: &[String],
) -> Result<OldCases> {
    let (files, _) = PackFiles::collect(before);
    let folders = case_folders(context, before)?;
    let mut played = OldCases::default();
    for name in files.packs().into_iter().filter(|name| packs.is_empty() || packs.contains(name)) {
        let choice = PackChoice::Named(packs_of_cases(context, &files, &name)?);
        let mut source = context.pack_source(choice.clone())?;
        if let Some(after) = after {
            source.take_layers(after.to_vec());
        }
        let service = Service::open(Arc::new(source));
        // A pack that is gone is a change of its own.
        let Some(pack) = served(&service, &name) else { continue };
        let merged = merge_definitions(&name, &files.for_pack(&name), Validation::Full);
        for report in run_cases(context, &service, &pack, &merged, &folders, false) {
            played.count += 1;
            played.failed.extend(report.diagnostics.first().map(|error| failed(&name, &report.title, &error.message)));
        }
        let mut source = context.pack_source(choice)?;
        source.take_all_layers(before.to_vec());
        let old_service = Service::open(Arc::new(source));
        let Some(old_pack) = served(&old_service, &name) else { continue };
        let old = prompts_of_cases(&old_service, &old_pack, &files, &folders);
        let new = prompts_of_cases(&service, &pack, &files, &folders);
        for (old, new) in old.iter().zip(&new) {
            if let (Some(old_json), Some(new_json)) = (rendered(old), rendered(new)) {
                played.rendered.push((name.clone(), old.name.clone(), old_json, new_json));
            }
        }
    }
    Ok(played)
}

fn served(service: &Service, name: &str) -> Option<Arc<Pack>> {
    service.registry().packs.iter().find(|pack| pack.name == name).cloned()
}

/// What a prompt rendered, as a surface has it; `None` if it failed.
fn rendered(prompt: &RenderedPrompt) -> Option<Json> {
    let messages = texts(prompt)?.into_iter().map(|(role, text)| json!({ "role": role, "text": text }));
    Some(json!({ "arguments": prompt.arguments, "messages": messages.collect::<Vec<_>>() }))
}

fn failed(pack: &str, title: &str, why: &str) -> Change {
    Change {
        pack: pack.to_owned(),
        what: format!("case `{title}`"),
        kind: KIND,
        verdict: Verdict::Breaking,
        widens: false,
        message: format!("it was met before, and is not met now: {why}"),
        before: None,
        after: None,
    }
}
