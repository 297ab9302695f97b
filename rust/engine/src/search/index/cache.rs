//! A bounded cache of what was found for terms.

#[cfg(test)]
mod tests;

use std::{
    mem,
    sync::{Arc, Mutex, TryLockError},
};

use hashbrown::HashMap;

use super::{frequencies::Frequencies, matches::Matches};

/// Bytes that an entry takes besides its term and its value: the hash table's slot and the allocations.
const ENTRY_BYTES: usize = 96;

/// What a cache holds for a term.
pub(crate) trait Cached {
    /// How many bytes it takes.
    fn size(&self) -> usize;
}

impl Cached for Matches {
    fn size(&self) -> usize {
        Matches::size(self)
    }
}

impl Cached for Frequencies {
    fn size(&self) -> usize {
        Frequencies::size(self)
    }
}

/// Caches values in two generations.When a new entry finds half of the bytes in the young generation, this
/// one becomes the old one, and what was in the old one is evicted, unless it was asked for in between.
#[derive(Debug)]
pub(super) struct Cache<V> {
    generations: Mutex<Generations<V>>,
    max_bytes: usize,
}

#[derive(Debug)]
struct Generations<V> {
    young: Generation<V>,
    old: Generation<V>,
}

#[derive(Debug)]
struct Generation<V> {
    entries: HashMap<Box<str>, Arc<V>>,
    bytes: usize,
}

impl<V> Default for Generation<V> {
    fn default() -> Self {
        Self { entries: HashMap::new(), bytes: 0 }
    }
}

impl<V: Cached> Cache<V> {
    /// A cache of at most `max_bytes` bytes. Values that take more than half of them are not cached.
    pub(super) fn new(max_bytes: usize) -> Self {
        let generations = Generations { young: Generation::default(), old: Generation::default() };
        Self { generations: Mutex::new(generations), max_bytes }
    }

    /// The value of `term`, computed by `find` if they are not cached.
    ///
    /// This never waits for the lock. While another thread holds it, the value is computed and not
    /// cached. In a forked process, the thread that held the lock may not exist any more.
    pub(super) fn get_or_find(&self, term: &str, find: impl FnOnce() -> V) -> Arc<V> {
        if let Some(cached) = self.try_with(|generations| generations.get(term)).flatten() {
            return cached;
        }
        let found = Arc::new(find());
        self.try_with(|generations| generations.insert(term, &found, self.max_bytes));
        found
    }

    fn try_with<T>(&self, act: impl FnOnce(&mut Generations<V>) -> T) -> Option<T> {
        match self.generations.try_lock() {
            Ok(mut generations) => Some(act(&mut generations)),
            Err(TryLockError::Poisoned(poisoned)) => Some(act(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl<V: Cached> Generations<V> {
    fn get(&mut self, term: &str) -> Option<Arc<V>> {
        if let Some(cached) = self.young.entries.get(term) {
            return Some(Arc::clone(cached));
        }
        let (term, cached) = self.old.entries.remove_entry(term)?;
        let cost = cost(&term, &*cached);
        self.old.bytes -= cost;
        self.young.bytes += cost;
        self.young.entries.insert(term, Arc::clone(&cached));
        Some(cached)
    }

    fn insert(&mut self, term: &str, value: &Arc<V>, max_bytes: usize) {
        let cost = cost(term, &**value);
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
        if let Some(replaced) = self.young.entries.insert(term.into(), Arc::clone(value)) {
            // Another thread found the same term in the meantime.
            self.young.bytes -= self::cost(term, &*replaced);
        }
    }
}

/// Bytes that an entry takes.
fn cost(term: &str, value: &impl Cached) -> usize {
    term.len() + value.size() + ENTRY_BYTES
}
