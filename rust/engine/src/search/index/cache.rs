//! A bounded cache of the matches of terms.

use std::{
    mem,
    sync::{Arc, Mutex, TryLockError},
};

use hashbrown::HashMap;

use super::matches::Matches;

/// Bytes that an entry takes besides its term and its matches: the hash table's slot and the allocations.
const ENTRY_BYTES: usize = 96;

/// Caches matches in two generations. When the young one is full, it becomes the old one, and what was in
/// the old one is evicted, unless it was asked for in between.
#[derive(Debug)]
pub(super) struct Cache {
    generations: Mutex<Generations>,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Box<str>, Arc<Matches>>,
    old: HashMap<Box<str>, Arc<Matches>>,
    young_bytes: usize,
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
        if let Some(cached) = self.try_with(|generations| generations.get(term, self.max_bytes)).flatten() {
            return cached;
        }
        let found = Arc::new(find());
        self.try_with(|generations| generations.insert(term.into(), Arc::clone(&found), self.max_bytes));
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
    fn get(&mut self, term: &str, max_bytes: usize) -> Option<Arc<Matches>> {
        if let Some(cached) = self.young.get(term) {
            return Some(Arc::clone(cached));
        }
        let (term, cached) = self.old.remove_entry(term)?;
        self.insert(term, Arc::clone(&cached), max_bytes);
        Some(cached)
    }

    /// Inserts an entry into the young generation, which holds at most half of the bytes.
    fn insert(&mut self, term: Box<str>, matches: Arc<Matches>, max_bytes: usize) {
        let cost = cost(&term, &matches);
        if cost > max_bytes / 2 {
            return;
        }
        if self.young_bytes + cost > max_bytes / 2 {
            self.old = mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += cost;
        self.young.insert(term, matches);
    }
}

/// Bytes that an entry takes.
fn cost(term: &str, matches: &Matches) -> usize {
    term.len() + matches.size() + ENTRY_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Matches of so many bytes.
    fn matches(bytes: usize) -> Matches {
        Matches::Dense(vec![1; bytes].into())
    }

    fn is_cached(cache: &Cache, term: &str) -> bool {
        let mut cached = true;
        cache.get_or_find(term, || {
            cached = false;
            matches(0)
        });
        cached
    }

    #[test]
    fn a_term_is_looked_for_once() {
        let cache = Cache::new(10_000);
        let first = cache.get_or_find("A", || matches(10));
        let second = cache.get_or_find("A", || panic!("it is cached"));
        assert!(Arc::ptr_eq(&first, &second));
    }

    #[test]
    fn terms_that_are_not_asked_for_again_are_evicted_first() {
        let cache = Cache::new(2 * 1000);
        cache.get_or_find("A", || matches(300));
        cache.get_or_find("B", || matches(300));
        // Fills the young generation: A and B become old.
        cache.get_or_find("C", || matches(500));
        assert!(is_cached(&cache, "A"));
        // Fills it again: B is evicted, A was asked for in between.
        cache.get_or_find("D", || matches(800));
        assert!(is_cached(&cache, "A") && !is_cached(&cache, "B"));
    }

    #[test]
    fn matches_larger_than_half_of_the_cache_are_not_cached() {
        let cache = Cache::new(2 * 1000);
        cache.get_or_find("SMALL", || matches(10));
        cache.get_or_find("LARGE", || matches(1000));
        assert!(is_cached(&cache, "SMALL") && !is_cached(&cache, "LARGE"));
    }

    /// The bytes of all entries.
    fn bytes(cache: &Cache) -> usize {
        let Generations { young, old, young_bytes } = &*cache.generations.lock().unwrap();
        let of = |map: &HashMap<Box<str>, Arc<Matches>>| -> usize {
            map.iter().map(|(term, matches)| cost(term, matches)).sum()
        };
        assert_eq!(of(young), *young_bytes);
        of(young) + of(old)
    }

    #[test]
    fn the_cache_stays_within_its_bound_however_many_terms_are_asked_for() {
        let cache = Cache::new(5000);
        for number in 0..1000_usize {
            cache.get_or_find(&number.to_string(), || matches(number * 37 % 600));
            cache.get_or_find(&(number / 4).to_string(), || matches(number * 11 % 600));
            assert!(bytes(&cache) <= 5000, "after {number}");
        }
    }

    #[test]
    fn the_cache_stays_within_its_bound_when_all_terms_are_asked_for_again_and_again() {
        let cache = Cache::new(5000);
        for newest in 0..30_usize {
            for number in 0..=newest {
                cache.get_or_find(&number.to_string(), || matches(600));
                assert!(bytes(&cache) <= 5000, "{number} of {newest}");
            }
        }
    }

    #[test]
    fn a_thread_that_cannot_lock_the_cache_finds_the_matches_itself() {
        let cache = Cache::new(10_000);
        let held = cache.generations.lock().unwrap();
        assert!(!is_cached(&cache, "A"));
        drop(held);
        assert!(!is_cached(&cache, "A"), "nothing was cached while the lock was held");
    }
}
