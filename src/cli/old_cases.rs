//! Plays the cases that packs had before on the packs as they are now: what they showed still has to hold.

use super::context::CommandContext;
use super::test::{folder_of, run_cases};
use crate::call::Service;
use crate::definition::Validation;
use crate::diagnostic::Result;
use crate::registry::{Layer, PackChoice, PackFiles, merge_definitions};
use crate::verdict::{Change, Verdict};
use crate::world::World;
use std::sync::Arc;

/// The kind of a change that an old case shows.
const KIND: &str = "old-case-failed";

/// Plays the cases of the packs in `before` on the same packs in `after`, the layers of now. Each case that fails is a
/// breaking change. Returns them, and the number of cases that were played.
///
/// # Errors
/// A folder of a layer cannot be opened.
pub fn play_old_cases(
    context: &CommandContext,
    before: &[Layer],
    after: Option<&[Layer]>,
    packs: &[String],
) -> Result<(Vec<Change>, usize)> {
    let (files, _) = PackFiles::collect(before);
    let folders: Result<Vec<_>> = before.iter().map(|layer| folder_of(context, layer)).collect();
    let mut folders: Vec<Arc<dyn World>> = folders?.into_iter().flatten().collect();
    folders.push(Arc::clone(&context.workspace));
    let (mut changes, mut played) = (Vec::new(), 0);
    for name in files.packs().into_iter().filter(|name| packs.is_empty() || packs.contains(name)) {
        let mut source = context.pack_source(PackChoice::Named(vec![name.clone()]))?;
        if let Some(after) = after {
            source.take_layers(after.to_vec());
        }
        let service = Service::open(Arc::new(source));
        let registry = service.registry();
        // A pack that is gone is a change of its own.
        let Some(pack) = registry.packs.iter().find(|pack| pack.name == name) else { continue };
        let merged = merge_definitions(&name, &files.for_pack(&name), Validation::Full);
        for report in run_cases(context, &service, pack, &merged, &folders, false) {
            played += 1;
            let Some(error) = report.diagnostics.first() else { continue };
            changes.push(Change {
                pack: name.clone(),
                what: format!("case `{}`", report.title),
                kind: KIND,
                verdict: Verdict::Breaking,
                widens: false,
                message: format!("it was met before, and is not met now: {}", error.message),
                before: None,
                after: None,
            });
        }
    }
    Ok((changes, played))
}
