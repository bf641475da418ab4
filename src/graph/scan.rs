//! Files to fragments: in parallel, and only those that changed.

use super::{Fragment, Functions, Keeping, Maker, Scanning, fingerprint};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::Document;
use crate::guard;
use crate::value::{Handle, Text, Value};
use crate::world::recorded::{ContentHash, RecordedReads, RecordedWorld};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What the last build read and made, so that the next one need not.
#[derive(Default)]
pub(super) struct Memo {
    pub reads: Arc<RecordedReads>,
    fragments: Fragments,
}

/// By the hash of what they were called with, and their file: the hash of its bytes, and what became of it.
type Fragments = FxHashMap<[u8; 32], FxHashMap<Text, (ContentHash, Arc<Fragment>)>>;

/// The scans of one build.
pub(super) struct Scan {
    recorded: Arc<RecordedWorld>,
    functions: Arc<dyn Functions>,
    before: Arc<Memo>,
    keeping: Keeping,
    made: Mutex<Fragments>,
}

/// One call of `scan`.
struct Calling<'a> {
    function: &'a str,
    arguments: &'a Value,
    /// The hash of the scripts, the function and the arguments.
    hash: [u8; 32],
    /// Whether files that cannot be read or are no UTF-8 reach the function, with `()` as the document.
    any_bytes: bool,
}

/// A scanned file.
struct Scanned {
    content: Option<ContentHash>,
    fragment: Arc<Fragment>,
}

impl Scan {
    pub fn new(
        recorded: Arc<RecordedWorld>,
        functions: Arc<dyn Functions>,
        before: Arc<Memo>,
        keeping: Keeping,
    ) -> Self {
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
        Memo { reads: Arc::new(self.recorded.take()), fragments }
    }

    /// The fragments of these files, in their order, each with its own arguments or all with the same.
    /// What is wrong with one file is kept in its fragment; only limits and cancellation end the scan.
    pub fn run(&self, files: &[String], function: &str, arguments: &[Value]) -> Result<Vec<Arc<Fragment>>> {
        let callings: Vec<Calling<'_>> =
            arguments.iter().map(|arguments| self.calling(function, arguments)).collect::<Result<_>>()?;
        let calling = |file: usize| callings.get(file).or(callings.last());
        let mut scanned: Vec<Option<Scanned>> = Vec::with_capacity(files.len());
        let mut left = Vec::new();
        for (at, path) in files.iter().enumerate() {
            if at % 256 == 0 {
                guard::check()?;
            }
            let known = calling(at).and_then(|calling| self.known(path, calling));
            if known.is_none() {
                left.push(at);
            }
            scanned.push(known);
        }
        for (at, read) in left.iter().zip(self.read_all(&left, |at| Some(self.file(&files[at], calling(at)?)))?) {
            scanned[*at] = Some(read);
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fragments = Vec::with_capacity(files.len());
        for (at, scanned) in scanned.into_iter().flatten().enumerate() {
            if let (Some(content), Some(calling)) = (scanned.content, calling(at)) {
                let of_calling = made.entry(calling.hash).or_default();
                of_calling.insert(scanned.fragment.path.clone(), (content, Arc::clone(&scanned.fragment)));
            }
            fragments.push(scanned.fragment);
        }
        Ok(fragments)
    }

    /// Reads these files, on several threads.
    fn read_all(
        &self,
        files: &[usize],
        read: impl Fn(usize) -> Option<Result<Scanned>> + Sync,
    ) -> Result<Vec<Scanned>> {
        let slots: Vec<OnceLock<Result<Scanned>>> = files.iter().map(|_| OnceLock::new()).collect();
        let ended = AtomicBool::new(false);
        self.functions.parallel(files.len(), &|job| {
            if ended.load(Ordering::Relaxed) {
                return;
            }
            let scanned = guard::check().map_or_else(|stop| Some(Err(stop)), |()| read(files[job]));
            let Some(scanned) = scanned else { return };
            if scanned.is_err() {
                ended.store(true, Ordering::Relaxed);
            }
            let _ = slots[job].set(scanned);
        });
        let mut left_out = false;
        let mut all = Vec::with_capacity(files.len());
        for slot in slots {
            match slot.into_inner() {
                Some(scanned) => all.push(scanned?),
                None => left_out = true,
            }
        }
        match left_out {
            false => Ok(all),
            true => Err(Diagnostic::new(Code::INTERNAL, "a scan ended before all its files were read")),
        }
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

    /// What became of a file that is as it was.
    fn known(&self, path: &str, calling: &Calling<'_>) -> Option<Scanned> {
        let (content, fragment) = self.before.fragments.get(&calling.hash)?.get(path)?;
        let same = self.recorded.known_hash(path)? == *content;
        same.then(|| Scanned { content: Some(*content), fragment: Arc::clone(fragment) })
    }

    fn file(&self, path: &str, calling: &Calling<'_>) -> Result<Scanned> {
        let (bytes, hash) = match self.recorded.read_hashed(path) {
            Ok(read) => read,
            // That a file is too large is a fault of the file; of the build it is one if it has been stopped.
            Err(fault) => {
                guard::check()?;
                let fragment = match calling.any_bytes {
                    true => self.call(path, Err(fault), calling)?,
                    false => Fragment::failed(path.into(), *fault),
                };
                return Ok(Scanned { content: None, fragment: Arc::new(fragment) });
            }
        };
        let before = self.before.fragments.get(&calling.hash).and_then(|files| files.get(path));
        let fragment = match before.filter(|(content, _)| *content == hash) {
            Some((_, fragment)) => Arc::clone(fragment),
            None => {
                let identity = Some(identity(path, &hash, calling));
                Arc::new(Fragment { identity, ..self.call(path, text_of(path, bytes), calling)? })
            }
        };
        Ok(Scanned { content: Some(hash), fragment })
    }

    fn call(&self, path: &str, text: Result<String>, calling: &Calling<'_>) -> Result<Fragment> {
        let (document, fault) = match text {
            Ok(text) => (Value::handle(Document::new(path, text)), None),
            Err(fault) if calling.any_bytes => (Value::Null, Some(fault.message.as_str().into())),
            Err(fault) => return Ok(Fragment::failed(path.into(), *fault)),
        };
        let maker = Arc::new(Maker::new(path.into(), fault));
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

fn text_of(path: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|fault| {
        let at = fault.utf8_error().valid_up_to();
        let fault = Diagnostic::new(Code::UTF8, format!("`{path}` is no UTF-8 from byte {at} on"));
        fault.help("`any_bytes: true` among the arguments lets it through")
    })
}

/// Whether a fault is none of the file but of the whole build: that it was stopped, and not that one file is too large for
/// what its function does with it.
//= docs/spec.md#robustness
//# A file that is too large for what its function does with it MUST be a fault of that file, and not of the build.
fn ends_all(fault: &Diagnostic) -> bool {
    matches!(fault.code.kind(), "cancelled" | "internal") || guard::going().is_err()
}

fn identity(path: &str, content: &ContentHash, calling: &Calling<'_>) -> [u8; 32] {
    *blake3::Hasher::new().update(content).update(&calling.hash).update(path.as_bytes()).finalize().as_bytes()
}
