//! A bounded cache of the matches of terms.

#[cfg(test)]
mod tests;

use std::{
    mem,
    sync::{Arc, Mutex, TryLockError},
};

use hashbrown::HashMap;

use super::matches::Matches;

/// Bytes that an entry takes besides its term and its matches: the hash table's slot and the allocations.
const ENTRY_BYTES: usize = 96;

/// Caches matches in two generations. When a new entry finds half of the bytes in the young generation, this
/// one becomes the old one, and what was in the old one is evicted, unless it was asked for in between.
#[derive(Debug)]
pub(super) struct Cache {
    generations: Mutex<Generations>,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Generations {
    young: Generation,
    old: Generation,
}

#[derive(Debug, Default)]
struct Generation {
    entries: HashMap<Box<str>, Arc<Matches>>,
    bytes: usize,
}

impl Cache {
    /// A cache of at most `max_bytes` bytes. Matches that take more than half of them are not cached.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { generations: Mutex::default(), max_bytes }
    }

    /// The matches of `term`, computed by `find` if they are not cached.
    ///
    /// This never waits for the lock. While another thread holds it, the matches are computed and not
    /// cached. In a forked process, the thread that held the lock may not exist any more.
    pub(super) fn get_or_find(&self, term: &str, find: impl FnOnce() -> Matches) -> Arc<Matches> {
        if let Some(cached) = self.try_with(|generations| generations.get(term)).flatten() {
            return cached;
        }
        let found = Arc::new(find());
        self.try_with(|generations| generations.insert(term, &found, self.max_bytes));
        found
    }

    fn try_with<T>(&self, act: impl FnOnce(&mut Generations) -> T) -> Option<T> {
        match self.generations.try_lock() {
            Ok(mut generations) => Some(act(&mut generations)),
            Err(TryLockError::Poisoned(poisoned)) => Some(act(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl Generations {
    fn get(&mut self, term: &str) -> Option<Arc<Matches>> {
        if let Some(cached) = self.young.entries.get(term) {
            return Some(Arc::clone(cached));
        }
        let (term, cached) = self.old.entries.remove_entry(term)?;
        let cost = cost(&term, &cached);
        self.old.bytes -= cost;
        self.young.bytes += cost;
        self.young.entries.insert(term, Arc::clone(&cached));
        Some(cached)
    }

    fn insert(&mut self, term: &str, matches: &Arc<Matches>, max_bytes: usize) {
        let cost = cost(term, matches);
        if cost > max_bytes / 2 {
            return;
        }
        if self.young.bytes + cost > max_bytes / 2 {
            self.old = mem::take(&mut self.young);
        }
        // The old generation is larger than half if all of it was asked for again.
        if self.old.bytes + self.young.bytes + cost > max_bytes {
            self.old = Generation::default();
        }
        self.young.bytes += cost;
        if let Some(replaced) = self.young.entries.insert(term.into(), Arc::clone(matches)) {
            // Another thread found the same term in the meantime.
            self.young.bytes -= self::cost(term, &replaced);
        }
    }
}

/// Bytes that an entry takes.
fn cost(term: &str, matches: &Matches) -> usize {
    term.len() + matches.size() + ENTRY_BYTES
}
