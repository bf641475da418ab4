//! Files to fragments: in parallel, and only those that changed.

use super::{Fragment, Functions, Keeping, Maker, Scanning, fingerprint};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::Document;
use crate::guard;
use crate::value::{Handle, Value};
use crate::world::recorded::{ContentHash, Reads, Recorded};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What the last build read and made, so that the next one need not.
#[derive(Default)]
pub(super) struct Memo {
    pub reads: Reads,
    fragments: FxHashMap<[u8; 32], Arc<Fragment>>,
}

/// The scans of one build.
pub(super) struct Scan {
    recorded: Arc<Recorded>,
    functions: Arc<dyn Functions>,
    before: Arc<Memo>,
    keeping: Keeping,
    made: Mutex<FxHashMap<[u8; 32], Arc<Fragment>>>,
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
    fragment: Arc<Fragment>,
}

impl Scan {
    pub fn new(recorded: Arc<Recorded>, functions: Arc<dyn Functions>, before: Arc<Memo>, keeping: Keeping) -> Self {
        Self { recorded, functions, before, keeping, made: Mutex::default() }
    }

    pub fn functions(&self) -> &Arc<dyn Functions> {
        &self.functions
    }

    /// Where derived values are kept.
    pub fn keeping(&self) -> &Keeping {
        &self.keeping
    }

    /// What this build read, and made or took over.
    pub fn memo(&self) -> Memo {
        let fragments = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        Memo { reads: self.recorded.take(), fragments }
    }

    /// The fragments of these files, in their order, each with its own arguments or all with the same.
    /// What is wrong with one file is kept in its fragment; only limits and cancellation end the scan.
    pub fn run(&self, files: &[String], function: &str, arguments: &[Value]) -> Result<Vec<Arc<Fragment>>> {
        let callings: Vec<Calling<'_>> =
            arguments.iter().map(|arguments| self.calling(function, arguments)).collect::<Result<_>>()?;
        let calling = |file: usize| callings.get(file).or(callings.last());
        let slots: Vec<OnceLock<Result<Scanned>>> = files.iter().map(|_| OnceLock::new()).collect();
        let ended = AtomicBool::new(false);
        self.functions.parallel(files.len(), &|job| {
            if ended.load(Ordering::Relaxed) {
                return;
            }
            let Some(calling) = calling(job) else { return };
            let scanned = guard::check().and_then(|()| self.file(&files[job], calling));
            if scanned.is_err() {
                ended.store(true, Ordering::Relaxed);
            }
            let _ = slots[job].set(scanned);
        });
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fragments = Vec::with_capacity(files.len());
        let mut left_out = false;
        for slot in slots {
            let Some(scanned) = slot.into_inner() else {
                left_out = true;
                continue;
            };
            let scanned = scanned?;
            if let Some(key) = scanned.key {
                made.insert(key, Arc::clone(&scanned.fragment));
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
        if let Some(hash) = self.recorded.known(&self.before.reads, path) {
            let key = key(path, &hash, calling);
            if let Some(fragment) = self.before.fragments.get(&key) {
                return Ok(Scanned { key: Some(key), fragment: Arc::clone(fragment) });
            }
        }
        let (bytes, hash) = match self.recorded.read_hashed(path) {
            Ok(read) => read,
            Err(fault) if ends_all(&fault) => return Err(fault),
            Err(fault) => {
                return Ok(Scanned { key: None, fragment: Arc::new(Fragment::failed(path.into(), *fault)) });
            }
        };
        let key = key(path, &hash, calling);
        let fragment = match self.before.fragments.get(&key) {
            Some(fragment) => Arc::clone(fragment),
            None => Arc::new(Fragment { identity: Some(key), ..self.call(path, bytes, calling)? }),
        };
        Ok(Scanned { key: Some(key), fragment })
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

/// Whether a fault is none of the file but of the whole build.
fn ends_all(fault: &Diagnostic) -> bool {
    matches!(fault.code.kind(), "limit" | "cancelled" | "internal")
}

fn key(path: &str, content: &ContentHash, calling: &Calling<'_>) -> [u8; 32] {
    *blake3::Hasher::new().update(content).update(&calling.hash).update(path.as_bytes()).finalize().as_bytes()
}
