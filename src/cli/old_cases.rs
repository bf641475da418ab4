//! Plays the cases that packs had before on the packs as they are now: what they showed still has to hold.

use super::context::CommandContext;
use super::preview::prompts_of_cases;
use super::test::{case_folders, packs_of_cases, run_cases};
use crate::call::Service;
use crate::definition::Validation;
use crate::diagnostic::Result;
use crate::registry::{Layer, Pack, PackChoice, PackFiles, merge_definitions};
use crate::verdict::{Change, Verdict, compare_messages};
use serde_json::json;
use std::sync::Arc;

/// What the old cases showed.
#[derive(Default)]
pub struct OldCases {
    /// A breaking change for each that is not met any more, and one for each prompt that says something else.
    pub changes: Vec<Change>,
    /// How many were played.
    pub count: usize,
}

/// Plays the cases of the packs in `before` on the same packs in `after`, the layers of now.
///
/// # Errors
/// A folder of a layer cannot be opened.
pub fn play_old_cases(context: &CommandContext, before: &[Layer], after: Option<&[Layer]>) -> Result<OldCases> {
    let (files, _) = PackFiles::collect(before);
    let folders = case_folders(context, before)?;
    let mut played = OldCases::default();
    for name in files.packs() {
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
            played.changes.extend(report.diagnostics.first().map(|error| {
                let message = format!("it was met before, and is not met now: {}", error.message);
                let case = format!("case `{}`", report.title);
                Change::new(&name, case, "old-case-failed", Verdict::Breaking, message)
            }));
        }
        let mut source = context.pack_source(choice)?;
        source.take_all_layers(before.to_vec());
        let old_service = Service::open(Arc::new(source));
        let Some(old_pack) = served(&old_service, &name) else { continue };
        let old = prompts_of_cases(&old_service, &old_pack, &files, &folders);
        let new = prompts_of_cases(&service, &pack, &files, &folders);
        for (old, new) in old.iter().zip(&new) {
            if let (Ok(before), Ok(now)) = (&old.messages, &new.messages) {
                let [before, now] = [before, now].map(|messages| json!(said(messages)));
                let what = format!("prompt `{}`, with {}", old.name, old.arguments);
                played.changes.extend(compare_messages(&name, &what, Some(&before), Some(&now)));
            }
        }
    }
    Ok(played)
}

fn served(service: &Service, name: &str) -> Option<Arc<Pack>> {
    service.registry().packs.iter().find(|pack| pack.name == name).cloned()
}

/// The messages of a prompt as one text.
fn said(messages: &[(String, String)]) -> String {
    messages.iter().map(|(role, text)| format!("{role}: {text}\n")).collect()
}
