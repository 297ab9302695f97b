//! The watches of the catalog root and its ancestors: a mark in one of them seals the whole catalog (Y10).

use std::collections::{BTreeMap, HashSet};

use crate::disk::{events::linux::descriptor::WatchDescriptor, identity::Identity};

/// A directory is noisy if it had more than this many events that say nothing, and more than
/// [`EVENTS_PER_DRAIN`] for each drain of the queue. A noisy directory is not watched: in a shared directory such as
/// `/tmp`, others create files all the time.
const NOISY_EVENTS: u64 = 1024;
/// Reading about this many events takes as long as looking at the directory instead.
const EVENTS_PER_DRAIN: u64 = 4;
/// At most this many ancestors are watched. There are that many only if the catalog root is moved again and again,
/// which leaves watches of former ancestors.
const MAX_ANCESTORS: usize = 1024;

/// The catalog root and its ancestors.
#[derive(Debug, Default)]
pub(super) struct Ancestors {
    /// Grows when an ancestor may have got a mark, or may have moved.
    pub(super) version: u64,
    watched: BTreeMap<WatchDescriptor, Ancestor>,
    /// Those that are not watched, because they are noisy or because bundles need the watches.
    unwatched: HashSet<Identity>,
    /// How often the queue was drained.
    drains: u64,
}

#[derive(Debug, Clone, Copy)]
struct Ancestor {
    identity: Identity,
    /// How often the queue had been drained when the watch was added.
    since_drain: u64,
    /// How many events it had since then that say nothing.
    noise: u64,
}

impl Ancestor {
    fn is_noisy(&self, drains: u64) -> bool {
        let drains = drains.saturating_sub(self.since_drain);
        self.noise > NOISY_EVENTS && self.noise > EVENTS_PER_DRAIN * drains
    }
}

impl Ancestors {
    pub(super) fn may_watch(&self, identity: Identity) -> bool {
        !self.unwatched.contains(&identity)
    }

    pub(super) fn is_full(&self) -> bool {
        self.watched.len() >= MAX_ANCESTORS
    }

    pub(super) fn contains(&self, descriptor: WatchDescriptor) -> bool {
        self.watched.contains_key(&descriptor)
    }

    pub(super) fn add(&mut self, descriptor: WatchDescriptor, identity: Identity) {
        let ancestor = Ancestor { identity, since_drain: self.drains, noise: 0 };
        self.watched.entry(descriptor).or_insert(ancestor);
    }

    pub(super) fn remove(&mut self, descriptor: WatchDescriptor) {
        self.watched.remove(&descriptor);
    }

    pub(super) fn count_drain(&mut self) {
        self.drains += 1;
    }

    /// Notes an event of a watch, if it is the watch of an ancestor. `matters` says that the ancestor may have got a
    /// mark, or may have moved.
    pub(super) fn note_event(&mut self, descriptor: WatchDescriptor, matters: bool) {
        if let Some(ancestor) = self.watched.get_mut(&descriptor) {
            if matters {
                self.version += 1;
            } else {
                ancestor.noise += 1;
            }
        }
    }

    /// Gives up the watches of noisy ancestors, and returns them. These directories are not watched again. The watch of
    /// an ancestor that a bundle needs too costs nothing more, and stays.
    pub(super) fn give_up_noisy(
        &mut self,
        is_needed: impl Fn(WatchDescriptor) -> bool,
    ) -> Vec<WatchDescriptor> {
        let noisy = self
            .watched
            .iter()
            .filter(|(descriptor, ancestor)| ancestor.is_noisy(self.drains) && !is_needed(**descriptor));
        let noisy: Vec<(WatchDescriptor, Identity)> =
            noisy.map(|(descriptor, ancestor)| (*descriptor, ancestor.identity)).collect();
        for (_, identity) in &noisy {
            self.unwatched.insert(*identity);
            self.version += 1;
        }
        noisy.into_iter().map(|(descriptor, _)| descriptor).collect()
    }

    /// Gives up all watches of ancestors: the directories that are watched now are not watched again.
    pub(super) fn give_up_all(&mut self) {
        let given_up = std::mem::take(&mut self.watched);
        self.unwatched.extend(given_up.values().map(|ancestor| ancestor.identity));
        self.version += 1;
    }
}
