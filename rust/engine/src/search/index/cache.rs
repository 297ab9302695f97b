//! Matches of terms that were asked for before, within a bound.

use std::{
    mem,
    sync::{Arc, Mutex, TryLockError},
};

use hashbrown::HashMap;

use super::matches::Matches;

/// What an entry costs besides its matches.
const ENTRY: usize = 96;

/// Remembers the matches of terms. When it holds too many bytes it forgets those that were not asked for
/// since it last did.
#[derive(Debug)]
pub(super) struct Cache {
    generations: Mutex<Generations>,
    bound: usize,
}

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Box<str>, Arc<Matches>>,
    old: HashMap<Box<str>, Arc<Matches>>,
    young_bytes: usize,
}

impl Cache {
    /// A cache of at most `bound` bytes.
    pub(super) fn new(bound: usize) -> Self {
        Self { generations: Mutex::default(), bound }
    }

    /// The matches of `term`, found by `find` if they are not remembered.
    ///
    /// Nobody ever waits here, neither for another thread nor, in a forked process, for one that is not
    /// there any more: who finds the cache taken finds the matches anew.
    pub(super) fn get(&self, term: &str, find: impl FnOnce() -> Matches) -> Arc<Matches> {
        if let Some(found) = self.with(|generations| generations.get(term)).flatten() {
            return found;
        }
        let found = Arc::new(find());
        self.with(|generations| generations.put(term, &found, self.bound));
        found
    }

    fn with<T>(&self, act: impl FnOnce(&mut Generations) -> T) -> Option<T> {
        match self.generations.try_lock() {
            Ok(mut generations) => Some(act(&mut generations)),
            Err(TryLockError::Poisoned(poisoned)) => Some(act(&mut poisoned.into_inner())),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

impl Generations {
    fn get(&mut self, term: &str) -> Option<Arc<Matches>> {
        if let Some(found) = self.young.get(term) {
            return Some(Arc::clone(found));
        }
        let (term, found) = self.old.remove_entry(term)?;
        self.young_bytes += cost(&term, &found);
        self.young.insert(term, Arc::clone(&found));
        Some(found)
    }

    fn put(&mut self, term: &str, matches: &Arc<Matches>, bound: usize) {
        let cost = cost(term, matches);
        if cost > bound / 2 {
            return;
        }
        if self.young_bytes + cost > bound / 2 {
            self.old = mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += cost;
        self.young.insert(term.into(), Arc::clone(matches));
    }
}

fn cost(term: &str, matches: &Matches) -> usize {
    term.len() + matches.size() + ENTRY
}
