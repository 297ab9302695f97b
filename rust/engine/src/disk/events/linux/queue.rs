//! The event queue of a catalog, locked and drained.

use std::{
    ffi::CStr,
    fs::File,
    os::fd::{AsFd, BorrowedFd},
    sync::{Mutex, MutexGuard, PoisonError},
};

use rustix::{
    fs::{FileType, Mode, OFlags, Stat, fstat, openat},
    io::Errno,
};

use super::{
    descriptor::{ANCESTOR_EVENTS, DIRECTORY_EVENTS, FILE_EVENTS},
    drain::drain,
    watch_list::{BundleState, FileUse, WatchList},
};
use crate::disk::{
    events::{dirty::Dirty, unwatchable::Unwatchable},
    identity::Identity,
    os_error::plain,
};

/// Opens a file to watch it only: its content need not be readable.
const WATCH_ONLY: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// The events of a catalog, and which of its bundles are dirty.
#[derive(Debug)]
pub(crate) struct EventQueue(Result<Mutex<Option<Open>>, String>);

#[derive(Debug)]
struct Open {
    watches: WatchList,
    /// Polling it tells when something was mounted or unmounted.
    mount_table: Option<File>,
}

impl EventQueue {
    /// Opens a queue. If the system has none to spare, [`why_unavailable`](Self::why_unavailable) says so.
    pub(crate) fn new() -> Self {
        let open = WatchList::new()
            .map(|watches| Open { watches, mount_table: File::open("/proc/self/mountinfo").ok() });
        Self(open.map(|open| Mutex::new(Some(open))).map_err(|error| match error {
            Errno::MFILE => "the limit of inotify instances is reached".to_owned(),
            error => format!("inotify is not available: {}", plain(&error.into())),
        }))
    }

    /// No events, for bundles that are compared with the disk each time they are read.
    pub(crate) fn disabled() -> Self {
        Self(Err("it is compared whenever it is read".to_owned()))
    }

    /// Why there are no events; `None` if there are.
    pub(crate) fn why_unavailable(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }

    /// Locks the queue and takes in everything that happened until now; `None` if there are no events.
    pub(crate) fn drain(&self) -> Option<QueueGuard<'_>> {
        let mut guard = self.lock()?;
        let Open { watches, mount_table } = guard.open_mut();
        drain(watches, mount_table.as_ref());
        Some(guard)
    }

    /// Locks the queue, for adding and removing watches. Events stay queued.
    pub(crate) fn lock(&self) -> Option<QueueGuard<'_>> {
        let guard = self.0.as_ref().ok()?.lock().unwrap_or_else(PoisonError::into_inner);
        guard.is_some().then_some(QueueGuard(guard))
    }

    /// Closes the queue, which ends all watches. There are no events from now on.
    pub(crate) fn close(&self) {
        if let Ok(queue) = &self.0 {
            *queue.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// The locked queue. While one thread holds it, no other can take events out of the queue that are not noted yet.
pub(crate) struct QueueGuard<'queue>(MutexGuard<'queue, Option<Open>>);

impl QueueGuard<'_> {
    fn open_mut(&mut self) -> &mut Open {
        self.0.as_mut().expect("a guard is only made for an open queue")
    }

    pub(super) fn watches(&self) -> &WatchList {
        &self.0.as_ref().expect("a guard is only made for an open queue").watches
    }

    pub(super) fn watches_mut(&mut self) -> &mut WatchList {
        &mut self.open_mut().watches
    }

    /// Whether a bundle is watched, and nothing in it changed since it was last compared with the disk.
    pub(crate) fn is_clean(&self, bundle: u64) -> bool {
        let state = self.watches().bundles.get(&bundle);
        state.is_some_and(|state| state.dirty == Dirty::Nothing && !state.is_compared)
    }

    /// Grows when a directory on the path from the catalog root to a bundle may have changed.
    pub(crate) fn path_version(&self) -> u64 {
        self.watches().path_version
    }

    /// Watches a directory on the path from the catalog root to a bundle. Whether that worked.
    pub(crate) fn watch_path_directory(&mut self, handle: BorrowedFd<'_>) -> bool {
        let watches = self.watches_mut();
        let added = watches.add(handle, DIRECTORY_EVENTS);
        added.map(|descriptor| watches.uses.entry(descriptor).or_default().is_on_path = true).is_ok()
    }

    /// Ends the watches of all directories on paths to bundles. Every bundle has to be entered again.
    pub(crate) fn unwatch_paths(&mut self) {
        let watches = self.watches_mut();
        watches.uses.values_mut().for_each(|watch| watch.is_on_path = false);
        watches.remove_unneeded();
        watches.path_version += 1;
    }

    /// Grows when an ancestor of the catalog root may have got a mark, or may have moved.
    pub(crate) fn ancestors_version(&self) -> u64 {
        self.watches().ancestors.version
    }

    /// Watches the catalog root or one of its ancestors. Whether that worked; it is refused where looking at the
    /// directory costs less than reading its events.
    pub(crate) fn watch_ancestor(&mut self, handle: BorrowedFd<'_>) -> bool {
        let Open { watches, mount_table } = self.open_mut();
        let Ok(identity) = fstat(handle).map(|stat| Identity::of_stat(&stat)) else { return false };
        if mount_table.is_none() || !watches.ancestors.may_watch(identity) {
            return false;
        }
        if watches.ancestors.is_full() {
            watches.unwatch_ancestors();
            return false;
        }
        let Ok(descriptor) = watches.add(handle, ANCESTOR_EVENTS) else { return false };
        watches.uses.entry(descriptor).or_default();
        watches.ancestors.add(descriptor, identity);
        true
    }

    /// Begins to compare a bundle with the disk. Returns what is dirty since the last comparison.
    pub(crate) fn begin_comparison(&mut self, bundle: u64) -> Dirty {
        let new = BundleState { dirty: Dirty::Everything, is_compared: false, walk: 0 };
        let state = self.watches_mut().bundles.entry(bundle).or_insert(new);
        state.is_compared = true;
        std::mem::replace(&mut state.dirty, Dirty::Nothing)
    }

    /// Ends what [`begin_comparison`](Self::begin_comparison) began. If it failed, everything is dirty.
    pub(crate) fn end_comparison(&mut self, bundle: u64, succeeded: bool) {
        if let Some(state) = self.watches_mut().bundles.get_mut(&bundle) {
            state.is_compared = false;
            if !succeeded {
                state.dirty = Dirty::Everything;
            }
        }
    }

    /// Marks the whole bundle dirty.
    pub(crate) fn mark_dirty(&mut self, bundle: u64) {
        if let Some(state) = self.watches_mut().bundles.get_mut(&bundle) {
            state.dirty = Dirty::Everything;
        }
    }

    /// Begins a walk over a whole bundle. When it ends, watches of what it did not come by are removed.
    pub(crate) fn begin_walk(&mut self, bundle: u64) {
        if let Some(state) = self.watches_mut().bundles.get_mut(&bundle) {
            state.walk += 1;
        }
    }

    /// Ends the walk.
    pub(crate) fn end_walk(&mut self, bundle: u64) {
        self.watches_mut().drop_unvisited(bundle);
    }

    /// Watches a directory of a bundle.
    pub(crate) fn watch_directory(
        &mut self,
        bundle: u64,
        path: &str,
        handle: BorrowedFd<'_>,
    ) -> Result<(), Unwatchable> {
        let watches = self.watches_mut();
        let descriptor = watches.add(handle, DIRECTORY_EVENTS)?;
        watches.use_for_directory(descriptor, bundle, path);
        Ok(())
    }

    /// Fails if this many files of a bundle cannot be watched one by one, besides those of other bundles.
    pub(crate) fn check_file_limit(&self, bundle: u64, files: usize) -> Result<(), Unwatchable> {
        let watches = self.watches();
        let is_of_others = |descriptor| {
            let watch = watches.uses.get(descriptor);
            watch.is_some_and(|watch| watch.bundles.iter().all(|known| known.bundle != bundle))
        };
        let of_others = watches.files.values().filter(|descriptor| is_of_others(descriptor)).count();
        let limit = watches.max_files;
        if of_others + files > limit { Err(Unwatchable::TooMany(limit)) } else { Ok(()) }
    }

    /// Watches the file `name`, which was listed as `stat` in a directory of a bundle that `parent` is open at.
    /// Whether it was not watched for this directory before: then `stat` may be out of date.
    pub(crate) fn watch_file(
        &mut self,
        bundle: u64,
        directory: &str,
        parent: BorrowedFd<'_>,
        name: &CStr,
        stat: &Stat,
    ) -> Result<bool, Unwatchable> {
        let is_hard_linked = stat.st_nlink > 1;
        let watches = self.watches_mut();
        let identity = Identity::of_stat(stat);
        if let Some(&descriptor) = watches.files.get(&identity) {
            let file = FileUse { identity, is_hard_linked };
            return Ok(watches.use_for_file(descriptor, bundle, directory, file));
        }
        if !is_hard_linked && watches.files.len() >= watches.max_files {
            return Err(Unwatchable::TooMany(watches.max_files));
        }
        // By a handle: the file that is noted as watched is the one that is watched, even if another takes its name.
        let file = match openat(parent, name, WATCH_ONLY, Mode::empty()) {
            Ok(file) => file,
            // It is gone. The event of its directory tells that.
            Err(Errno::NOENT) => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(true);
        }
        let identity = Identity::of_stat(&stat);
        let descriptor = watches.add(file.as_fd(), FILE_EVENTS)?;
        watches.files.insert(identity, descriptor);
        Ok(watches.use_for_file(descriptor, bundle, directory, FileUse { identity, is_hard_linked }))
    }

    /// Ends the watch of a file that is not in this directory of a bundle any more.
    pub(crate) fn unwatch_file(&mut self, bundle: u64, directory: &str, file: Identity) {
        self.watches_mut().drop_file_use(file, bundle, directory);
    }

    /// Ends the watches of the files of a bundle, except those with several hard links.
    pub(crate) fn unwatch_files(&mut self, bundle: u64) {
        let watches = self.watches_mut();
        watches
            .uses
            .values_mut()
            .filter(|watch| watch.file.is_some_and(|file| !file.is_hard_linked))
            .for_each(|watch| watch.bundles.retain(|known| known.bundle != bundle));
        watches.remove_unneeded();
    }

    /// Ends all watches of a bundle.
    pub(crate) fn unwatch_bundle(&mut self, bundle: u64) {
        let watches = self.watches_mut();
        watches.bundles.remove(&bundle);
        watches.retain_uses(|known| known.bundle != bundle);
    }
}
