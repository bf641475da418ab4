//! Scans files into fragments, in parallel, and only files that changed. The world is sealed while a scan function
//! runs, because any other file that it reads would be a hidden input of its fragment.

use super::derived_fields::CacheScope;
use super::fragment::{FileError, Fragment};
use super::fragment_builder::FragmentHandle;
use super::snapshot::Functions;
use super::stored_value::hash_value;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::Document;
use crate::guard;
use crate::value::{Handle, Text, Value};
use crate::world::recorded::{ContentHash, RecordedReads, RecordedWorld};
use crate::world::{skipped_file, text_from_bytes, unreadable_folder};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// What a build read and produced, which the next build can reuse.
#[derive(Default)]
pub(super) struct BuildMemo {
    pub reads: Arc<RecordedReads>,
    fragments: FragmentCache,
}

/// The fragments by the hash of the scan call and by file, with the hash of the file's bytes.
type FragmentCache = FxHashMap<[u8; 32], FxHashMap<Text, (ContentHash, Arc<Fragment>)>>;

/// The scans of one build.
pub(super) struct FileScanner {
    recorded: Arc<RecordedWorld>,
    functions: Arc<dyn Functions>,
    before: Arc<BuildMemo>,
    cache_scope: CacheScope,
    made: Mutex<FragmentCache>,
}

/// One call of `scan`.
struct ScanCall<'a> {
    function: &'a str,
    arguments: &'a Value,
    /// The hash of the scripts, the function and the arguments.
    hash: [u8; 32],
    /// Whether files that cannot be read or are not UTF-8 are passed to the function, with `()` as the document.
    allow_unreadable: bool,
}

struct ScannedFile {
    content: Option<ContentHash>,
    fragment: Arc<Fragment>,
}

impl FileScanner {
    pub fn new(
        recorded: Arc<RecordedWorld>,
        functions: Arc<dyn Functions>,
        before: Arc<BuildMemo>,
        cache_scope: CacheScope,
    ) -> Self {
        Self { recorded, functions, before, cache_scope, made: Mutex::default() }
    }

    pub fn functions(&self) -> &Arc<dyn Functions> {
        &self.functions
    }

    /// The cache of derived values.
    pub fn cache_scope(&self) -> &CacheScope {
        &self.cache_scope
    }

    /// What the searches of this build could not read, path and error: folders, and what looks like a file.
    pub fn missing(&self) -> Vec<(String, Diagnostic)> {
        let folders = self.recorded.unreadable_folders().into_iter().map(|path| (unreadable_folder(&path), path));
        let files = self.recorded.skipped_files().into_iter().map(|path| (skipped_file(&path), path));
        folders.chain(files).map(|(error, path)| (path, *error)).collect()
    }

    /// What this build read, and the fragments that it produced or reused.
    pub fn memo(&self) -> BuildMemo {
        let fragments = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        BuildMemo { reads: Arc::new(self.recorded.take()), fragments }
    }

    //= docs/spec.md#scripts
    //# A function that does not exist, and a script that fails for every file, MUST fail the graph.
    /// The fragments of these files, in their order. Each file has its own arguments, or all files have the same. An
    /// error of one file is kept in its fragment; only limits, cancellation and a function that fails for all of them
    /// end the scan.
    pub fn run(&self, files: &[String], function: &str, arguments: &[Value]) -> Result<Vec<Arc<Fragment>>> {
        self.functions.require(function, 3)?;
        let scan_calls: Vec<ScanCall<'_>> =
            arguments.iter().map(|arguments| self.scan_call(function, arguments)).collect::<Result<_>>()?;
        let scan_call = |file: usize| scan_calls.get(file).or(scan_calls.last());
        let mut scanned: Vec<Option<ScannedFile>> = Vec::with_capacity(files.len());
        let mut left = Vec::new();
        for (at, path) in files.iter().enumerate() {
            if at % 256 == 0 {
                guard::check()?;
            }
            let known = scan_call(at).and_then(|scan_call| self.unchanged(path, scan_call));
            if known.is_none() {
                left.push(at);
            }
            scanned.push(known);
        }
        for (at, read) in left.iter().zip(self.read_all(&left, |at| Some(self.scan_file(&files[at], scan_call(at)?)))?)
        {
            scanned[*at] = Some(read);
        }
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let mut fragments = Vec::with_capacity(files.len());
        for (at, scanned) in scanned.into_iter().flatten().enumerate() {
            if let (Some(content), Some(scan_call)) = (scanned.content, scan_call(at)) {
                let of_calling = made.entry(scan_call.hash).or_default();
                of_calling.insert(scanned.fragment.path.clone(), (content, Arc::clone(&scanned.fragment)));
            }
            fragments.push(scanned.fragment);
        }
        match script_error(&fragments) {
            Some(error) => Err(error),
            None => Ok(fragments),
        }
    }

    /// Reads these files, on several threads.
    fn read_all(
        &self,
        files: &[usize],
        read: impl Fn(usize) -> Option<Result<ScannedFile>> + Sync,
    ) -> Result<Vec<ScannedFile>> {
        let slots: Vec<OnceLock<Result<ScannedFile>>> = files.iter().map(|_| OnceLock::new()).collect();
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

    fn scan_call<'a>(&self, function: &'a str, arguments: &'a Value) -> Result<ScanCall<'a>> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.functions.fingerprint());
        hash_value(&function.into(), &mut hasher)?;
        hash_value(arguments, &mut hasher)?;
        let allow_unreadable = match arguments {
            Value::Map(map) => matches!(map.get("allow_unreadable"), Some(Value::Bool(true))),
            _ => false,
        };
        Ok(ScanCall { function, arguments, hash: *hasher.finalize().as_bytes(), allow_unreadable })
    }

    /// The cached fragment of a file that did not change.
    fn unchanged(&self, path: &str, scan_call: &ScanCall<'_>) -> Option<ScannedFile> {
        let (content, fragment) = self.before.fragments.get(&scan_call.hash)?.get(path)?;
        let same = self.recorded.known_hash(path)? == *content;
        same.then(|| ScannedFile { content: Some(*content), fragment: Arc::clone(fragment) })
    }

    fn scan_file(&self, path: &str, scan_call: &ScanCall<'_>) -> Result<ScannedFile> {
        let (bytes, hash) = match self.recorded.read_hashed(path) {
            Ok(read) => read,
            // A file that is too large is an error of that file, unless the build was stopped.
            Err(error) => {
                guard::check()?;
                let fragment = match scan_call.allow_unreadable {
                    true => self.call_function(path, Err(error), scan_call)?,
                    false => Fragment::failed(path.into(), *error),
                };
                return Ok(ScannedFile { content: None, fragment: Arc::new(fragment) });
            }
        };
        let before = self.before.fragments.get(&scan_call.hash).and_then(|files| files.get(path));
        let fragment = match before.filter(|(content, _)| *content == hash) {
            Some((_, fragment)) => Arc::clone(fragment),
            None => {
                let identity = Some(fragment_identity(path, &hash, scan_call));
                Arc::new(Fragment { identity, ..self.call_function(path, decode_text(path, bytes), scan_call)? })
            }
        };
        Ok(ScannedFile { content: Some(hash), fragment })
    }

    fn call_function(&self, path: &str, text: Result<String>, scan_call: &ScanCall<'_>) -> Result<Fragment> {
        let (document, error) = match text {
            Ok(text) => (Value::handle(Document::new(path, text)), None),
            Err(error) if scan_call.allow_unreadable => (Value::Null, Some(error.message.as_str().into())),
            Err(error) => return Ok(Fragment::failed(path.into(), *error)),
        };
        let maker = Arc::new(FragmentHandle::new(path.into(), error));
        let arguments = vec![Value::Handle(Arc::clone(&maker) as Handle), document, scan_call.arguments.clone()];
        let scanning = ScanScope::begin();
        let called = self.functions.call(scan_call.function, arguments);
        drop(scanning);
        match (called, maker.close()) {
            (Ok(_), Some(fragment)) => Ok(fragment),
            (Ok(_), None) => Err(Diagnostic::new(Code::INTERNAL, "a fragment was closed while it was being built")),
            (Err(error), _) if ends_build(&error) => Err(error),
            (Err(error), _) => Ok(Fragment::failed(path.into(), *error)),
        }
    }
}

/// The error of a function that fails for every file it is given, which is not an error of these files.
fn script_error(fragments: &[Arc<Fragment>]) -> Option<Box<Diagnostic>> {
    let first = fragments.first()?.error.as_ref()?;
    let is_of_script = |file: &FileError| file.error.code == Code::SCRIPT;
    let all = fragments.iter().all(|fragment| fragment.error.as_ref().is_some_and(is_of_script));
    all.then(|| Box::new(first.error.clone()))
}

fn decode_text(path: &str, bytes: Vec<u8>) -> Result<String> {
    text_from_bytes(path, bytes)
        .map_err(|error| error.author_help("pass `allow_unreadable: true` in the arguments to accept any bytes"))
}

/// Whether an error ends the whole build: the build was stopped, so the file is not merely too large for its function.
//= docs/spec.md#scripts
//# A file that cannot be scanned or is too large MUST be an error of that file, and not of the whole graph.
fn ends_build(error: &Diagnostic) -> bool {
    matches!(error.code.kind(), "cancelled" | "internal") || guard::check_stopped().is_err()
}

fn fragment_identity(path: &str, content: &ContentHash, scan_call: &ScanCall<'_>) -> [u8; 32] {
    *blake3::Hasher::new().update(content).update(&scan_call.hash).update(path.as_bytes()).finalize().as_bytes()
}

thread_local! {
    static SCANNING: Cell<bool> = const { Cell::new(false) };
}

/// Seals the world for this thread until it is dropped.
pub(super) struct ScanScope {
    before: bool,
}

impl ScanScope {
    pub fn begin() -> Self {
        Self { before: SCANNING.replace(true) }
    }
}

impl Drop for ScanScope {
    fn drop(&mut self) {
        SCANNING.set(self.before);
    }
}

/// Whether a scan function is running on this thread.
pub(super) fn is_scanning() -> bool {
    SCANNING.get()
}

/// Refuses to read while a scan function is running on this thread: the result of a scan depends on its own file only.
//= docs/spec.md#scripts
//# A function that scans a file MUST NOT read any other file.
pub(super) fn ensure_not_scanning() -> Result<()> {
    if !is_scanning() {
        return Ok(());
    }
    let error = Diagnostic::new(Code::WORLD, "a scan function can read only its own file");
    Err(error.help(
        "read the other file in `build` and pass what is needed as an argument of `scan_files`, or use `derive_fields`",
    ))
}
