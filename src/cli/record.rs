//! The record of trust on this machine: where it lies, what it says of a workspace, how it is changed.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::registry::{TRUST_RECORD, TrustRecord, WorkspaceTrust};
use crate::world::disk::{self, Disk, TRUST_BELOW_HOME, trust_folder};
use crate::world::{World, path};

/// The path of the record; nothing if this machine keeps no state.
pub fn record_path() -> Option<String> {
    trust_folder().map(|folder| path::join(&folder, TRUST_RECORD))
}

/// What a person allowed in a workspace; nothing if this machine keeps no state.
pub fn load_trust(workspace: &str) -> Result<WorkspaceTrust> {
    Ok(load_record(workspace)?.workspaces.remove(workspace).unwrap_or_default())
}

/// The record of all workspaces, as one of them may see it: one that lies in it is not believed.
pub fn load_record(workspace: &str) -> Result<TrustRecord> {
    let Some(folder) = trust_folder() else { return Ok(TrustRecord::default()) };
    refuse_misled(&folder, workspace)?;
    match Disk::new("/", [])?.stat(&folder)? {
        Some(_) => TrustRecord::load(&Disk::new(&folder, [])?),
        None => Ok(TrustRecord::default()),
    }
}

/// Changes what is allowed, in this workspace or in all.
pub fn change_record(workspace: &str, change: impl FnOnce(&mut TrustRecord)) -> Result<()> {
    let Some(folder) = trust_folder() else {
        let fault = Diagnostic::new(Code::WORLD, "there is no place to keep trust in");
        return Err(fault.help("set `HOME`"));
    };
    refuse_misled(&folder, workspace)?;
    disk::make_private_folder(&folder)?;
    TrustRecord::change(&Disk::new(&folder, [])?, change)?;
    // A umask may have let the group write the file that is new: then it would not be believed.
    disk::take_write_from_others(&path::join(&folder, TRUST_RECORD))
}

//= docs/spec.md#trust
//# A record of trust that lies in the workspace, or that another user owns or can change, MUST NOT be believed.
fn refuse_misled(folder: &str, workspace: &str) -> Result<()> {
    if !disk::is_misled(folder, workspace, TRUST_BELOW_HOME) {
        return Ok(());
    }
    let message = format!("the record of trust would lie in the workspace, in `{folder}`: it is not believed");
    Err(Diagnostic::new(Code::WORLD, message).help("`HOME` leads there: let it name your home folder"))
}
