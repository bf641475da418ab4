//! The contents of layers on this machine, each in one file that is named by its hash.

use super::LAYER;
use super::content::LayerContent;
use super::fetched::{FetchedLayer, Provenance};
use crate::diagnostic::{Diagnostic, Result};
use crate::world::Files;
use crate::world::disk::{Disk, data_folder, make_private_folder};
use crate::world::path;

/// The folder among the data of toolsd.
const FOLDER: &str = "layers";

/// The store. Only this user can write it.
pub struct LayerStore {
    folder: String,
}

impl LayerStore {
    /// The store of this user.
    ///
    /// # Errors
    /// There is no folder for data.
    pub fn of_user() -> Result<Self> {
        let folder = data_folder().ok_or_else(|| {
            let help = "set `HOME` or `XDG_DATA_HOME` to an absolute path";
            Diagnostic::new(LAYER, "there is no folder for layers").help(help)
        })?;
        Ok(Self { folder: path::join(&folder, FOLDER) })
    }

    /// Keeps a content, and where it is from.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn put(&self, FetchedLayer { content, provenance }: &FetchedLayer) -> Result<()> {
        self.put_content(content)?;
        let folder = Disk::new(&self.folder, [])?;
        let text = serde_json::to_vec_pretty(provenance).unwrap_or_default();
        folder.write(&format!("{}.json", file_name(content.hash())), &text)
    }

    /// Keeps a content that comes from a folder.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn put_content(&self, content: &LayerContent) -> Result<()> {
        make_private_folder(&self.folder)?;
        Disk::new(&self.folder, [])?.write(&file_name(content.hash()), &content.to_bytes())
    }

    //= docs/spec.md#layers
    //# A layer MUST serve only if a person trusted its content, or trusted its signer and it asks for no more
    //# and is not older.
    /// The content of this hash; `None` if it is not here.
    ///
    /// # Errors
    /// The file is here, and its bytes have another hash or cannot be read.
    pub fn get(&self, hash: &str) -> Result<Option<LayerContent>> {
        let Some(bytes) = self.read(&file_name(hash))? else { return Ok(None) };
        match LayerContent::from_bytes(&bytes).filter(|content| content.hash() == hash) {
            Some(content) => Ok(Some(content)),
            None => {
                let place = path::join(&self.folder, &file_name(hash));
                let message =
                    format!("the stored layer `{place}` was changed: its bytes do not have the hash that names it");
                Err(Diagnostic::new(LAYER, message).help("run `toolsd fetch`, which brings it again"))
            }
        }
    }

    /// Where a content is from, if it was fetched on this machine.
    pub fn provenance(&self, hash: &str) -> Option<Provenance> {
        let bytes = self.read(&format!("{}.json", file_name(hash))).ok()??;
        serde_json::from_slice(&bytes).ok()
    }

    fn read(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let Ok(folder) = Disk::new(&self.folder, []) else { return Ok(None) };
        match folder.stat(name)? {
            None => Ok(None),
            Some(_) => folder.read(name).map(Some),
        }
    }
}

/// The name of a content's file: the digits of its hash.
fn file_name(hash: &str) -> String {
    hash.rsplit(':').next().unwrap_or_default().to_owned()
}
