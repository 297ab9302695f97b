//! What of a catalog belongs to one process: locks, events, a thread.
//!
//! After a fork none of these can be used: a lock may be held by a thread that the child does not have, and a
//! queue of events is shared with the parent. The child begins with new ones, and with what the parent had read.

use crate::{
    catalog::{background::BackgroundCheck, bundles::Bundles, shared::SharedState},
    disk::{
        events::EventQueue,
        fence::Fence,
        manifest_watch::{ManifestWatch, WatchMode},
    },
    memory::ScopeCache,
    work::process::ProcessId,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The part of a catalog that does not survive a fork.
#[derive(Debug)]
pub(super) struct Process {
    id: ProcessId,
    pub(super) state: Arc<SharedState>,
    /// The memories that were read last.
    pub(super) memories: Arc<ScopeCache>,
    /// Locked while the manifest is loaded again, never by a search.
    reloading: Mutex<()>,
    check: Mutex<Option<BackgroundCheck>>,
    watch: Mutex<Option<ManifestWatch>>,
}

impl Process {
    pub(super) fn new() -> Self {
        Self::with(Bundles::default())
    }

    /// What a forked process goes on with.
    pub(super) fn inherited(&self) -> Self {
        Self::with(self.state.bundles.inherited())
    }

    fn with(bundles: Bundles) -> Self {
        Self {
            id: ProcessId::current(),
            state: Arc::new(SharedState { bundles, events: EventQueue::new() }),
            memories: Arc::new(ScopeCache::new()),
            reloading: Mutex::default(),
            check: Mutex::default(),
            watch: Mutex::default(),
        }
    }

    /// Whether this is the process that it was made in.
    pub(super) fn is_current(&self) -> bool {
        self.id.is_current()
    }

    /// Waits for other reloads.
    pub(super) fn lock_reload(&self) -> MutexGuard<'_, ()> {
        self.reloading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to check the bundles in the background, if there are events and no check runs yet.
    pub(super) fn check_in_background(&self, fence: &Fence) {
        if self.state.events.why_unavailable().is_some() {
            return;
        }
        // If another thread holds the lock, it starts the check.
        let Ok(mut check) = self.check.try_lock() else { return };
        if check.is_none() {
            *check = BackgroundCheck::start(Arc::downgrade(&self.state), fence.clone());
        }
    }

    /// Has the manifest watched.
    pub(super) fn watch(&self, watch: ManifestWatch) {
        *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = Some(watch);
    }

    /// How the manifest is watched, if it is.
    pub(super) fn watch_state(&self) -> Option<WatchMode> {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).as_ref().map(ManifestWatch::mode)
    }

    /// Ends the threads, and forgets the bundles.
    pub(super) fn end(&self) {
        if !self.is_current() {
            return;
        }
        // Dropped without the lock: its thread may be waiting for another lock.
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(watch);
        let check = self.check.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(check) = check {
            check.end();
        }
        // Closing the queue ends all watches at once.
        self.state.events.close();
        self.state.bundles.clear(&self.state.events);
        self.memories.clear();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
        if let Ok(mut check) = self.check.try_lock() {
            // In a forked process there is no thread behind this handle.
            std::mem::forget(check.take());
        }
    }
}
