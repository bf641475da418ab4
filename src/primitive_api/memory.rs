//! The cache of a pack between calls: JSON in the memory of the process, bounded in size.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::Json;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Maximum size of one pack's cache, in bytes of JSON.
const MAX_CACHE_BYTES: usize = 4 << 20;

/// Maximum number of keys of one pack.
const MAX_CACHE_KEYS: usize = 10_000;

/// The cache of one pack. It ends with the process.
#[derive(Default)]
pub struct PackMemory(Mutex<PackMemoryState>);

#[derive(Default)]
struct PackMemoryState {
    entries: BTreeMap<String, PackMemoryEntry>,
    /// The keys in the order of their writes: the oldest one is dropped first.
    order: BTreeMap<u64, String>,
    count: u64,
    bytes: usize,
}

struct PackMemoryEntry {
    value: Json,
    bytes: usize,
    order: u64,
    until_ms: Option<i64>,
}

/// A writer that counts bytes, and fails when they exceed the cache or the call was stopped.
struct ByteCounter(usize);

impl io::Write for ByteCounter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        // A piece may be as short as one character, which costs more than its bytes.
        let is_over = guard::is_over(bytes.len() + guard::ITEM);
        if is_over || self.0 > MAX_CACHE_BYTES { Err(io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PackMemory {
    /// Stores a value under a key, for `ttl_ms` milliseconds if given; `null` removes it. If the cache is full, the
    /// oldest entries are dropped.
    ///
    /// # Errors
    /// The value alone exceeds the cache, or the call was stopped.
    pub fn cache_set(&self, key: &str, value: Json, now_ms: i64, ttl_ms: Option<i64>) -> Result<()> {
        let mut length = ByteCounter(key.len());
        if serde_json::to_writer(&mut length, &value).is_err() {
            guard::check()?;
            let message =
                format!("`{}` cannot be cached: the value is larger than {} kB", shorten(key), MAX_CACHE_BYTES >> 10);
            return Err(Diagnostic::new(Code::LIMIT, message).help("store larger values in files"));
        }
        let bytes = length.0;
        let mut state = self.lock();
        state.forget(key);
        if value.is_null() {
            return Ok(());
        }
        //= docs/spec.md#memory
        //# The memory of a pack MUST be bounded, and its oldest entries MUST be removed first.
        while state.bytes + bytes > MAX_CACHE_BYTES || state.entries.len() >= MAX_CACHE_KEYS {
            let Some((_, oldest)) = state.order.first_key_value().map(|(at, key)| (*at, key.clone())) else { break };
            state.forget(&oldest);
        }
        let order = state.count;
        state.count += 1;
        state.bytes += bytes;
        state.order.insert(order, key.to_owned());
        let until_ms = ttl_ms.map(|ttl| now_ms.saturating_add(ttl));
        state.entries.insert(key.to_owned(), PackMemoryEntry { value, bytes, order, until_ms });
        Ok(())
    }

    /// Returns the value of a key.
    pub fn cache_get(&self, key: &str, now_ms: i64) -> Option<Json> {
        let state = self.lock();
        let entry = state.entries.get(key)?;
        entry.holds(now_ms).then(|| entry.value.clone())
    }

    /// Returns all values whose keys begin with `start`, sorted by key.
    pub fn cache_entries(&self, start: &str, now_ms: i64) -> Vec<(String, Json)> {
        let state = self.lock();
        let from = state.entries.range(start.to_owned()..).take_while(|(key, _)| key.starts_with(start));
        from.filter(|(_, entry)| entry.holds(now_ms)).map(|(key, entry)| (key.clone(), entry.value.clone())).collect()
    }

    fn lock(&self) -> MutexGuard<'_, PackMemoryState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PackMemoryEntry {
    fn holds(&self, now_ms: i64) -> bool {
        self.until_ms.is_none_or(|until| now_ms < until)
    }
}

impl PackMemoryState {
    fn forget(&mut self, key: &str) {
        if let Some(entry) = self.entries.remove(key) {
            self.bytes -= entry.bytes;
            self.order.remove(&entry.order);
        }
    }
}

fn shorten(key: &str) -> &str {
    &key[..key.floor_char_boundary(60)]
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    //= docs/spec.md#memory
    //= type=test
    //# The memory of a pack MUST be bounded, and its oldest entries MUST be removed first.
    #[test]
    fn the_oldest_is_forgotten_first_and_the_size_is_kept() {
        let memory = PackMemory::default();
        for number in 0..MAX_CACHE_KEYS + 5 {
            memory.cache_set(&format!("key {number:06}"), json!(number), 0, None).unwrap();
        }
        assert_eq!(memory.cache_get("key 000004", 0), None);
        assert_eq!(memory.cache_get("key 000005", 0), Some(json!(5)));
        let half = "x".repeat(MAX_CACHE_BYTES / 2 - 100);
        memory.cache_set("one", json!(half), 0, None).unwrap();
        memory.cache_set("two", json!(half), 0, None).unwrap();
        memory.cache_set("one", json!(half), 0, None).unwrap();
        assert!(memory.lock().bytes <= MAX_CACHE_BYTES);
        memory.cache_set("three", json!(half), 0, None).unwrap();
        let held = ["one", "two", "three"].map(|key| memory.cache_get(key, 0).is_some());
        assert_eq!(held, [true, false, true], "`one` was remembered again after `two`");
        assert!(memory.cache_set("all", json!("x".repeat(MAX_CACHE_BYTES)), 0, None).is_err());
        assert!(memory.cache_get("one", 0).is_some(), "what is refused drives nothing out");
    }

    #[test]
    fn a_time_to_live_ends_and_null_forgets() {
        let memory = PackMemory::default();
        memory.cache_set("a/1", json!(1), 1_000, Some(500)).unwrap();
        memory.cache_set("a/2", json!(2), 1_000, None).unwrap();
        memory.cache_set("b", json!(3), 1_000, None).unwrap();
        assert_eq!(memory.cache_entries("a/", 1_499).len(), 2);
        assert_eq!((memory.cache_get("a/1", 1_499), memory.cache_get("a/1", 1_500)), (Some(json!(1)), None));
        assert_eq!(memory.cache_entries("a/", 1_500), [("a/2".to_owned(), json!(2))]);
        memory.cache_set("a/2", Json::Null, 1_500, None).unwrap();
        assert_eq!(memory.cache_get("a/2", 1_500), None);
        assert_eq!(memory.cache_entries("", 0).len(), 2, "the clock is the caller's");
    }
}
