//! The bundles of scopes that were read recently. There may be a hundred thousand scopes; only some are cached.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    bundle::Bundle,
    disk::{events::EventQueue, location::Location},
    search::index::Index,
};

/// At most this many scopes are cached per catalog.
const MAX_SCOPES: usize = 256;
/// At most this many bytes of text are cached per catalog. The scope that was used last stays, whatever its size.
const MAX_TEXT_BYTES: usize = 64 << 20;

/// One bundle for each directory of a scope that was read recently. The least recently used ones are evicted.
///
/// A cache belongs to one process. Its bundles are not watched: a host with many scopes would use up the kernel's
/// watches, and the few files of one scope are compared with the disk quickly.
#[derive(Debug)]
pub(crate) struct ScopeCache {
    events: EventQueue,
    cached: Mutex<Cached>,
}

#[derive(Debug, Default)]
struct Cached {
    /// Counts up with each use.
    uses: u64,
    /// By the directory of the memory source in one mount, and the path of the scope below it.
    scopes: BTreeMap<(Location, Box<str>), CachedScope>,
}

#[derive(Debug)]
struct CachedScope {
    bundle: Arc<Bundle>,
    /// The value of `uses` when it was used last.
    last_use: u64,
    text_bytes: usize,
}

impl ScopeCache {
    pub(crate) fn new() -> Self {
        Self { events: EventQueue::disabled(), cached: Mutex::default() }
    }

    /// A queue of events that gets none: the bundles are not watched.
    pub(super) fn events(&self) -> &EventQueue {
        &self.events
    }

    /// The bundle of a scope's directory; a new one if it is not cached.
    pub(super) fn bundle(&self, root: Location, path: &str) -> Arc<Bundle> {
        let mut cached = self.lock();
        cached.uses += 1;
        let last_use = cached.uses;
        let scope = cached.scopes.entry((root, path.into())).or_insert_with(|| CachedScope {
            bundle: Arc::new(Bundle::part(path, None)),
            last_use,
            text_bytes: 0,
        });
        scope.last_use = last_use;
        let bundle = Arc::clone(&scope.bundle);
        cached.evict();
        bundle
    }

    /// Notes how much text the bundle of a scope has after it was read.
    pub(super) fn set_size(&self, root: Location, path: &str, index: &Index) {
        let text_bytes = index.concepts().map(|concept| concept.text_len()).sum();
        let mut cached = self.lock();
        if let Some(scope) = cached.scopes.get_mut(&(root, path.into())) {
            scope.text_bytes = text_bytes;
        }
        cached.evict();
    }

    /// Removes a directory and those below it.
    pub(super) fn remove(&self, root: Location, path: &str) {
        let is_below = |other: &str| {
            other.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.lock().scopes.retain(|(other_root, other), _| *other_root != root || !is_below(other));
    }

    /// Removes everything.
    pub(crate) fn clear(&self) {
        self.lock().scopes.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Cached> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Cached {
    /// Removes the least recently used scopes until the rest is within the limits.
    fn evict(&mut self) {
        let mut text_bytes: usize = self.scopes.values().map(|scope| scope.text_bytes).sum();
        while self.scopes.len() > MAX_SCOPES || (text_bytes > MAX_TEXT_BYTES && self.scopes.len() > 1) {
            let oldest =
                self.scopes.iter().min_by_key(|(_, scope)| scope.last_use).map(|(key, _)| key.clone());
            let evicted = oldest.and_then(|key| self.scopes.remove(&key));
            text_bytes = text_bytes.saturating_sub(evicted.map_or(0, |scope| scope.text_bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::identity::Identity;

    const ROOT: Location = location(2);

    const fn location(inode: u64) -> Location {
        Location::for_test(Identity { device: 1, inode })
    }

    fn keys(cache: &ScopeCache) -> Vec<String> {
        cache.lock().scopes.keys().map(|(_, path)| path.to_string()).collect()
    }

    #[test]
    fn the_least_recently_used_scope_is_evicted() {
        let cache = ScopeCache::new();
        let first = cache.bundle(ROOT, "0");
        for at in 1..MAX_SCOPES {
            cache.bundle(ROOT, &at.to_string());
        }
        assert_eq!(cache.bundle(ROOT, "0").key(), first.key());
        cache.bundle(ROOT, "one more");
        let keys = keys(&cache);
        assert_eq!(keys.len(), MAX_SCOPES);
        assert!(keys.contains(&"0".to_owned()) && !keys.contains(&"1".to_owned()));
        let other = location(3);
        assert_ne!(cache.bundle(other, "0").key(), first.key(), "another source");
    }

    #[test]
    fn a_deleted_directory_is_removed_with_those_below() {
        let cache = ScopeCache::new();
        for path in ["a", "a/b", "ab", "b/a"] {
            cache.bundle(ROOT, path);
        }
        cache.remove(location(3), "a");
        assert_eq!(keys(&cache).len(), 4, "another source's");
        cache.remove(ROOT, "a");
        assert_eq!(keys(&cache), ["ab", "b/a"]);
    }

    #[test]
    fn a_scope_with_much_text_evicts_the_others() {
        let cache = ScopeCache::new();
        for path in ["a", "b", "c"] {
            cache.bundle(ROOT, path);
        }
        cache.lock().scopes.values_mut().for_each(|scope| scope.text_bytes = MAX_TEXT_BYTES / 2);
        cache.bundle(ROOT, "c");
        assert_eq!(keys(&cache), ["b", "c"]);
        cache.lock().scopes.values_mut().for_each(|scope| scope.text_bytes = 2 * MAX_TEXT_BYTES);
        cache.bundle(ROOT, "b");
        assert_eq!(keys(&cache), ["b"]);
        cache.clear();
        assert!(keys(&cache).is_empty());
    }
}
