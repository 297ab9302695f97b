//! The memories that were read last. There may be a hundred thousand scopes; only some are kept in mind.

use crate::{
    bundle::Bundle,
    disk::{events::EventQueue, location::Location},
    search::index::Index,
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// How many directories are kept at most.
const MOST: usize = 256;
/// How much text they may have together. The one that was read last is kept whatever it has.
const MOST_BYTES: usize = 64 << 20;

/// A bundle for each directory that was read lately. It belongs to one process, and has no events: a host of
/// many scopes would use up what the kernel watches, and the few files of one are soon compared.
#[derive(Debug)]
pub(crate) struct Shelf {
    events: EventQueue,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Counts up with each use.
    uses: u64,
    /// By the directory of the source as one mount shows it, and the path below it.
    bundles: BTreeMap<(Location, Box<str>), Book>,
}

#[derive(Debug)]
struct Book {
    bundle: Arc<Bundle>,
    used: u64,
    bytes: usize,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        Self { events: EventQueue::disabled(), kept: Mutex::default() }
    }

    /// No events.
    pub(super) fn events(&self) -> &EventQueue {
        &self.events
    }

    /// The bundle of a directory, for use.
    pub(super) fn take(&self, root: Location, path: &str) -> Arc<Bundle> {
        let mut kept = self.lock();
        kept.uses += 1;
        let used = kept.uses;
        let book = kept.bundles.entry((root, path.into())).or_insert_with(|| Book {
            bundle: Arc::new(Bundle::part(path, None)),
            used,
            bytes: 0,
        });
        book.used = used;
        let bundle = Arc::clone(&book.bundle);
        kept.clear_out();
        bundle
    }

    /// Notes what came of using it.
    pub(super) fn weigh(&self, root: Location, path: &str, index: &Index) {
        let bytes = index.concepts().map(|concept| concept.text_len()).sum();
        let mut kept = self.lock();
        if let Some(book) = kept.bundles.get_mut(&(root, path.into())) {
            book.bytes = bytes;
        }
        kept.clear_out();
    }

    /// Forgets a directory and those below it.
    pub(super) fn forget(&self, root: Location, path: &str) {
        let below = |other: &str| {
            other.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.lock().bundles.retain(|(of, other), _| *of != root || !below(other));
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.lock().bundles.clear();
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Forgets what was not used for longest, until the rest is little enough.
    fn clear_out(&mut self) {
        let mut bytes: usize = self.bundles.values().map(|book| book.bytes).sum();
        while self.bundles.len() > MOST || (bytes > MOST_BYTES && self.bundles.len() > 1) {
            let oldest = self.bundles.iter().min_by_key(|(_, book)| book.used).map(|(key, _)| key.clone());
            let gone = oldest.and_then(|key| self.bundles.remove(&key));
            bytes = bytes.saturating_sub(gone.map_or(0, |book| book.bytes));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::identity::Identity;

    const ROOT: Location = spot(2);

    const fn spot(inode: u64) -> Location {
        Location::for_test(Identity { device: 1, inode })
    }

    fn keys(shelf: &Shelf) -> Vec<String> {
        shelf.lock().bundles.keys().map(|(_, path)| path.to_string()).collect()
    }

    #[test]
    fn what_was_not_used_for_longest_is_forgotten() {
        let shelf = Shelf::new();
        let first = shelf.take(ROOT, "0");
        for at in 1..MOST {
            shelf.take(ROOT, &at.to_string());
        }
        assert_eq!(shelf.take(ROOT, "0").key(), first.key());
        shelf.take(ROOT, "one more");
        let keys = keys(&shelf);
        assert_eq!(keys.len(), MOST);
        assert!(keys.contains(&"0".to_owned()) && !keys.contains(&"1".to_owned()));
        let other = spot(3);
        assert_ne!(shelf.take(other, "0").key(), first.key(), "another source");
    }

    #[test]
    fn what_is_deleted_is_forgotten() {
        let shelf = Shelf::new();
        for path in ["a", "a/b", "ab", "b/a"] {
            shelf.take(ROOT, path);
        }
        shelf.forget(spot(3), "a");
        assert_eq!(keys(&shelf).len(), 4, "another source's");
        shelf.forget(ROOT, "a");
        assert_eq!(keys(&shelf), ["ab", "b/a"]);
    }

    #[test]
    fn much_text_is_kept_alone() {
        let shelf = Shelf::new();
        for path in ["a", "b", "c"] {
            shelf.take(ROOT, path);
        }
        shelf.lock().bundles.values_mut().for_each(|book| book.bytes = MOST_BYTES / 2);
        shelf.take(ROOT, "c");
        assert_eq!(keys(&shelf), ["b", "c"]);
        shelf.lock().bundles.values_mut().for_each(|book| book.bytes = 2 * MOST_BYTES);
        shelf.take(ROOT, "b");
        assert_eq!(keys(&shelf), ["b"]);
        shelf.clear();
        assert!(keys(&shelf).is_empty());
    }
}
