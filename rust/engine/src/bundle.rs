//! A bundle directory, and the index that is kept equal to it (B7, F1).

mod changes;
mod compare;
pub(crate) mod error;
pub(crate) mod options;
mod read;
pub(crate) mod state;
mod subscriber;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeSet,
    ffi::CStr,
    os::fd::{AsFd, BorrowedFd},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU64, Ordering},
    },
};

use arc_swap::ArcSwapOption;
use rustix::fs::Stat;

use crate::{
    bundle::{compare::Comparison, error::CompareError, options::CompareOptions, state::BundleState},
    disk::{ancestors::AncestorCache, directory::Directory, granularity::Now, visitor::Visitor, walk},
    document::problem::Problem,
    work::task::{Abandoned, Backoff, Task},
};

/// The index of one directory, kept equal to it by [`update`](Bundle::update).
#[derive(Debug)]
pub(crate) struct Bundle {
    /// Under which the event queue knows the bundle.
    key: u64,
    /// The part of the directory that is indexed, as a path below it; empty if all of it is.
    part: Box<str>,
    clock: fn() -> Now,
    /// How many comparisons with the disk have begun.
    begun: AtomicU64,
    /// Locked while the bundle is compared with the disk.
    comparing: Mutex<LastComparison>,
    /// The state after the last successful comparison. Reading it takes no lock, so that a forked process can
    /// read it even if another thread held the lock during the fork.
    published: ArcSwapOption<BundleState>,
}

/// What the next comparison needs to know of the last one.
#[derive(Debug, Default)]
struct LastComparison {
    /// The problems that were there, all of which have been reported.
    reported: BTreeSet<Problem>,
    succeeded: bool,
}

/// A bundle as it was at one moment after the call that asked for it.
#[derive(Debug)]
pub(crate) struct UpToDate {
    pub(crate) state: Arc<BundleState>,
    /// Those of its problems that were not reported before.
    pub(crate) new_problems: Vec<Problem>,
}

impl Bundle {
    /// The bundle of a whole directory, of which a state may be known already.
    pub(crate) fn new(known: Option<Arc<BundleState>>) -> Self {
        Self::part("", known)
    }

    /// The part of a bundle that lies at a path below its directory. Concept ids are relative to the directory.
    pub(crate) fn part(part: &str, known: Option<Arc<BundleState>>) -> Self {
        static KEYS: AtomicU64 = AtomicU64::new(0);
        let reported = known.iter().flat_map(|state| state.problems.iter().cloned()).collect();
        Self {
            key: KEYS.fetch_add(1, Ordering::Relaxed),
            part: part.into(),
            clock: Now::read,
            begun: AtomicU64::new(0),
            comparing: Mutex::new(LastComparison { reported, succeeded: false }),
            published: ArcSwapOption::new(known),
        }
    }

    pub(crate) fn key(&self) -> u64 {
        self.key
    }

    /// The state after the last successful comparison, if there was one.
    pub(crate) fn published(&self) -> Option<Arc<BundleState>> {
        self.published.load_full()
    }

    /// The bundle with every change that was complete before this call (F1).
    ///
    /// Callers that wait for the same comparison with the disk share its result, if it began after their call.
    pub(crate) fn update(
        &self,
        directory: &Directory,
        options: CompareOptions<'_>,
    ) -> Result<UpToDate, CompareError> {
        let begun_before = self.begun.load(Ordering::SeqCst);
        let mut last = self.lock(options.task)?;
        let known = self.published();
        if let Some(state) = &known {
            let is_shared = self.begun.load(Ordering::SeqCst) > begun_before && last.succeeded;
            let is_clean = state.compared_because.is_none()
                && options.events.drain().is_some_and(|queue| queue.is_clean(self.key));
            // Neither counts if other directories were sealed during that comparison.
            if state.sealed == *options.sealed && (is_shared || is_clean) {
                return Ok(UpToDate { state: Arc::clone(state), new_problems: Vec::new() });
            }
        }
        self.begun.fetch_add(1, Ordering::SeqCst);
        last.succeeded = false;
        let comparison = Comparison {
            key: self.key,
            part: &self.part,
            clock: self.clock,
            directory,
            known: known.as_deref(),
            options,
        };
        let result = comparison.run().map(Arc::new);
        // Published before the event queue calls the bundle clean: a search of a clean bundle takes this state.
        if let Ok(state) = &result {
            self.published.store(Some(Arc::clone(state)));
        }
        if let Some(mut queue) = options.events.drain() {
            queue.end_comparison(self.key, result.is_ok());
            if result.as_ref().is_ok_and(|state| state.compared_because.is_some()) {
                queue.unwatch_bundle(self.key);
            }
        }
        let state = result?;
        last.succeeded = true;
        // A problem that went away and came back is reported again.
        let current: BTreeSet<Problem> = state.problems.iter().cloned().collect();
        let new_problems = current.difference(&last.reported).cloned().collect();
        last.reported = current;
        Ok(UpToDate { state, new_problems })
    }

    /// Whether the disk differs from the published state. The background check calls this to find changes of
    /// which the kernel sends no event: writes through a memory map, or on another machine.
    pub(crate) fn differs(&self, directory: &Directory, found: &mut AncestorCache) -> bool {
        let Some(state) = self.published() else { return false };
        // If that cannot be decided, the next search decides it.
        if state.sealed.is_within_sealed(directory.handle.as_fd(), found).unwrap_or(true) {
            return true;
        }
        walk::walk(directory, &self.part, &state.sealed, &mut NoWitness)
            .is_ok_and(|listings| !state.resembles(&listings))
    }

    fn lock(&self, task: &Task) -> Result<MutexGuard<'_, LastComparison>, Abandoned> {
        let mut backoff = Backoff::default();
        loop {
            match self.comparing.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Ok(PoisonError::into_inner(poisoned)),
                Err(TryLockError::WouldBlock) => backoff.wait(task)?,
            }
        }
    }
}

/// Watches nothing.
struct NoWitness;

impl Visitor for NoWitness {
    fn directory(&mut self, _path: &str, _handle: BorrowedFd<'_>) {}
    fn file(&mut self, _path: &str, _parent: BorrowedFd<'_>, _name: &CStr, _stat: &Stat) -> bool {
        false
    }
    fn link(&mut self) {}
}
