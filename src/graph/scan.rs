//! Files to fragments: in parallel, and only those that changed.

use super::{Fragment, Functions, Maker, Scanning, fingerprint};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::Document;
use crate::guard;
use crate::value::{Handle, Text, Value};
use crate::world::{EntryKind, Stat, World};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// A file changed so shortly before it was read may change again within the same tick of the file system's clock.
const YOUNG_NS: i128 = 2_000_000_000;

/// What the last build made, so that the next one need not.
#[derive(Default)]
pub(super) struct Memo {
    fragments: FxHashMap<[u8; 32], Arc<Fragment>>,
    contents: FxHashMap<Text, Content>,
}

/// What is known of a file's bytes.
#[derive(Clone, Copy)]
struct Content {
    stat: Stat,
    hash: [u8; 32],
}

/// The scans of one build.
pub(super) struct Scan {
    world: Arc<dyn World>,
    functions: Arc<dyn Functions>,
    before: Arc<Memo>,
    made: Mutex<Memo>,
}

/// One call of `scan`.
struct Calling<'a> {
    function: &'a str,
    arguments: &'a Value,
    /// The hash of the scripts, the function and the arguments.
    hash: [u8; 32],
    /// Whether files that are no UTF-8 reach the function, with `()` as the document.
    any_bytes: bool,
}

/// A scanned file.
struct Scanned {
    key: Option<[u8; 32]>,
    content: Option<Content>,
    fragment: Arc<Fragment>,
}

impl Scan {
    pub fn new(world: Arc<dyn World>, functions: Arc<dyn Functions>, before: Arc<Memo>) -> Self {
        Self { world, functions, before, made: Mutex::default() }
    }

    pub fn functions(&self) -> &Arc<dyn Functions> {
        &self.functions
    }

    /// What this build made or took over.
    pub fn memo(&self) -> Memo {
        std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The fragments of these files, in their order. What is wrong with one file is kept in its fragment;
    /// only limits and cancellation end the scan.
    pub fn run(&self, files: &[String], function: &str, arguments: &Value) -> Result<Vec<Arc<Fragment>>> {
        let calling = self.calling(function, arguments)?;
        let slots: Vec<OnceLock<Result<Scanned>>> = files.iter().map(|_| OnceLock::new()).collect();
        let ended = AtomicBool::new(false);
        self.functions.parallel(files.len(), &|job| {
            if ended.load(Ordering::Relaxed) {
                return;
            }
            let scanned = guard::check().and_then(|()| self.file(&files[job], &calling));
            if scanned.is_err() {
                ended.store(true, Ordering::Relaxed);
            }
            let _ = slots[job].set(scanned);
        });
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fragments = Vec::with_capacity(files.len());
        let mut left_out = false;
        for (slot, path) in slots.into_iter().zip(files) {
            let Some(scanned) = slot.into_inner() else {
                left_out = true;
                continue;
            };
            let scanned = scanned?;
            if let Some(content) = scanned.content {
                made.contents.insert(path.as_str().into(), content);
            }
            if let Some(key) = scanned.key {
                made.fragments.insert(key, Arc::clone(&scanned.fragment));
            }
            fragments.push(scanned.fragment);
        }
        if left_out {
            return Err(Diagnostic::new(Code::INTERNAL, "a scan ended before all its files were read"));
        }
        Ok(fragments)
    }

    fn calling<'a>(&self, function: &'a str, arguments: &'a Value) -> Result<Calling<'a>> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.functions.fingerprint());
        fingerprint(&function.into(), &mut hasher)?;
        fingerprint(arguments, &mut hasher)?;
        let any_bytes = match arguments {
            Value::Map(map) => matches!(map.get("any_bytes"), Some(Value::Bool(true))),
            _ => false,
        };
        Ok(Calling { function, arguments, hash: *hasher.finalize().as_bytes(), any_bytes })
    }

    fn file(&self, path: &str, calling: &Calling<'_>) -> Result<Scanned> {
        let stat = match self.world.stat(path) {
            Ok(Some(stat)) if stat.entry != EntryKind::Folder => stat,
            Ok(Some(_)) => return failed(path, Diagnostic::new(Code::WORLD, format!("`{path}` is a folder"))),
            Ok(None) => return failed(path, Diagnostic::new(Code::WORLD, format!("`{path}` is not there"))),
            Err(fault) => return failed(path, fault),
        };
        if let Some(content) = self.before.contents.get(path).filter(|content| content.stat == stat) {
            let key = key(path, &content.hash, calling);
            if let Some(fragment) = self.before.fragments.get(&key) {
                return Ok(Scanned { key: Some(key), content: Some(*content), fragment: Arc::clone(fragment) });
            }
        }
        let bytes = match self.world.read(path) {
            Ok(bytes) => bytes,
            Err(fault) => return failed(path, fault),
        };
        let hash = *blake3::hash(&bytes).as_bytes();
        let key = key(path, &hash, calling);
        let settled = stat.modified_ns + YOUNG_NS < i128::from(self.world.now_ms()) * 1_000_000;
        let content = settled.then_some(Content { stat, hash });
        let fragment = match self.before.fragments.get(&key) {
            Some(fragment) => Arc::clone(fragment),
            None => Arc::new(self.call(path, bytes, calling)?),
        };
        Ok(Scanned { key: Some(key), content, fragment })
    }

    fn call(&self, path: &str, bytes: Vec<u8>, calling: &Calling<'_>) -> Result<Fragment> {
        let document = match String::from_utf8(bytes) {
            Ok(text) => Value::handle(Document::new(path, text)),
            Err(_) if calling.any_bytes => Value::Null,
            Err(fault) => {
                let at = fault.utf8_error().valid_up_to();
                let fault = Diagnostic::new(Code::UTF8, format!("`{path}` is no UTF-8 from byte {at} on"));
                return Ok(Fragment::failed(
                    path.into(),
                    *fault.help("`any_bytes: true` among the arguments lets it through"),
                ));
            }
        };
        let maker = Arc::new(Maker::new(path.into()));
        let arguments = vec![Value::Handle(Arc::clone(&maker) as Handle), document, calling.arguments.clone()];
        let scanning = Scanning::begin();
        let called = self.functions.call(calling.function, arguments);
        drop(scanning);
        match (called, maker.close()) {
            (Ok(_), Some(fragment)) => Ok(fragment),
            (Ok(_), None) => Err(Diagnostic::new(Code::INTERNAL, "a fragment was closed while it was made")),
            (Err(fault), _) if ends_all(&fault) => Err(fault),
            (Err(fault), _) => Ok(Fragment::failed(path.into(), *fault)),
        }
    }
}

fn failed(path: &str, fault: Box<Diagnostic>) -> Result<Scanned> {
    if ends_all(&fault) {
        return Err(fault);
    }
    Ok(Scanned { key: None, content: None, fragment: Arc::new(Fragment::failed(path.into(), *fault)) })
}

/// Whether a fault is none of the file but of the whole build.
fn ends_all(fault: &Diagnostic) -> bool {
    matches!(fault.code.kind(), "limit" | "cancelled" | "internal")
}

fn key(path: &str, content: &[u8; 32], calling: &Calling<'_>) -> [u8; 32] {
    *blake3::Hasher::new().update(content).update(&calling.hash).update(path.as_bytes()).finalize().as_bytes()
}
