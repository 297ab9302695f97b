//! The watches of one inotify instance, and what each is used for.

use std::{
    collections::HashMap,
    fs,
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    sync::Arc,
};

use rustix::{
    fs::inotify::{self, CreateFlags, WatchFlags},
    io::Errno,
};

use crate::disk::{
    events::{
        dirty::Dirty,
        linux::{
            ancestors::Ancestors,
            descriptor::{ANCESTOR_EVENTS, WatchDescriptor},
        },
    },
    identity::Identity,
};

/// One of this many watches that a user may have is used for files. The processes of a host share the limit, and
/// directories come first.
const FILE_SHARE: usize = 16;
/// The limit of watches that is assumed if it cannot be read. It is the lowest default of the kernel.
const MIN_USER_WATCHES: usize = 8192;

#[derive(Debug)]
pub(super) struct WatchList {
    /// Shared, so that events can be read while the rest of the list is changed.
    pub(super) inotify: Arc<OwnedFd>,
    pub(super) uses: HashMap<WatchDescriptor, WatchUse>,
    /// The watch of each file that is watched one by one.
    pub(super) files: HashMap<Identity, WatchDescriptor>,
    /// At most this many files are watched one by one, not counting files with several hard links.
    pub(super) max_files: usize,
    /// By the key of the bundle.
    pub(super) bundles: HashMap<u64, BundleState>,
    /// Grows when a directory on the path from the catalog root to a bundle may have changed.
    pub(super) path_version: u64,
    pub(super) ancestors: Ancestors,
}

/// What one watch is used for, besides ancestors.
#[derive(Debug, Default)]
pub(super) struct WatchUse {
    /// Whether its directory lies on the path from the catalog root to a bundle.
    pub(super) is_on_path: bool,
    /// `None` if it is the watch of a directory.
    pub(super) file: Option<FileUse>,
    pub(super) bundles: Vec<BundleUse>,
}

#[derive(Debug)]
pub(super) struct BundleUse {
    pub(super) bundle: u64,
    /// The directory, or that of the file, as a path below the root of the bundle.
    pub(super) directory: Arc<str>,
    /// The last walk over the bundle that came by.
    walk: u64,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct FileUse {
    pub(super) identity: Identity,
    /// Whether it had several hard links when it was last listed.
    pub(super) is_hard_linked: bool,
}

/// What the events tell of one bundle.
#[derive(Debug)]
pub(super) struct BundleState {
    pub(super) dirty: Dirty,
    /// Whether a thread is comparing the bundle with the disk.
    pub(super) is_compared: bool,
    /// The number of the last walk over the bundle.
    pub(super) walk: u64,
}

impl WatchUse {
    /// Whether it is needed for a bundle.
    pub(super) fn is_needed(&self) -> bool {
        self.is_on_path || !self.bundles.is_empty()
    }
}

impl BundleUse {
    fn is_in(&self, bundle: u64, directory: &str) -> bool {
        self.bundle == bundle && *self.directory == *directory
    }
}

impl WatchList {
    pub(super) fn new() -> Result<Self, Errno> {
        Ok(Self {
            inotify: Arc::new(inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?),
            uses: HashMap::new(),
            files: HashMap::new(),
            max_files: max_user_watches() / FILE_SHARE,
            bundles: HashMap::new(),
            path_version: 0,
            ancestors: Ancestors::default(),
        })
    }

    /// Watches the directory or file that a handle is open at, whatever its path leads to by now.
    pub(super) fn add(
        &mut self,
        handle: BorrowedFd<'_>,
        events: WatchFlags,
    ) -> Result<WatchDescriptor, Errno> {
        let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let added = inotify::add_watch(&self.inotify, &*path, events);
        // Bundles come before ancestors, because ancestors can be polled.
        if added == Err(Errno::NOSPC) && events != ANCESTOR_EVENTS && self.unwatch_ancestors() {
            return inotify::add_watch(&self.inotify, &*path, events);
        }
        added
    }

    /// Removes the watches of all ancestors, and never adds them again. Whether that removed any watch.
    pub(super) fn unwatch_ancestors(&mut self) -> bool {
        let before = self.uses.len();
        self.ancestors.give_up_all();
        self.remove_unneeded();
        self.uses.len() < before
    }

    /// Records that the current walk over a bundle came by the directory of a watch. Whether the watch was not used
    /// for this directory before.
    pub(super) fn use_for_directory(
        &mut self,
        descriptor: WatchDescriptor,
        bundle: u64,
        directory: &str,
    ) -> bool {
        let walk = self.bundles.get(&bundle).map_or(0, |state| state.walk);
        let uses = &mut self.uses.entry(descriptor).or_default().bundles;
        if let Some(known) = uses.iter_mut().find(|known| known.is_in(bundle, directory)) {
            known.walk = walk;
            return false;
        }
        // Most watches are used for one directory, and there may be many watches: do not reserve room for more.
        uses.reserve_exact(1);
        uses.push(BundleUse { bundle, directory: directory.into(), walk });
        true
    }

    /// As [`use_for_directory`](Self::use_for_directory), for the watch of a file in that directory.
    pub(super) fn use_for_file(
        &mut self,
        descriptor: WatchDescriptor,
        bundle: u64,
        directory: &str,
        file: FileUse,
    ) -> bool {
        let is_new = self.use_for_directory(descriptor, bundle, directory);
        self.uses.entry(descriptor).or_default().file = Some(file);
        is_new
    }

    /// Removes the watch of a file that is in this directory of a bundle no more, if nothing else uses it.
    pub(super) fn drop_file_use(&mut self, file: Identity, bundle: u64, directory: &str) {
        let Some(&descriptor) = self.files.get(&file) else { return };
        if let Some(watch) = self.uses.get_mut(&descriptor) {
            watch.bundles.retain(|known| !known.is_in(bundle, directory));
            if watch.bundles.is_empty() {
                self.remove(descriptor);
            }
        }
    }

    /// Drops what the last walk over a bundle did not come by.
    pub(super) fn drop_unvisited(&mut self, bundle: u64) {
        if let Some(walk) = self.bundles.get(&bundle).map(|state| state.walk) {
            self.retain_uses(|known| known.bundle != bundle || known.walk == walk);
        }
    }

    /// Drops the other uses for bundles, and removes watches that are not needed any more.
    pub(super) fn retain_uses(&mut self, keep: impl Fn(&BundleUse) -> bool) {
        self.uses.values_mut().for_each(|watch| watch.bundles.retain(&keep));
        self.remove_unneeded();
    }

    /// Removes watches that no bundle and no ancestor uses.
    pub(super) fn remove_unneeded(&mut self) {
        let unneeded = self.uses.iter().filter_map(|(descriptor, watch)| {
            let is_needed = watch.is_needed() || self.ancestors.contains(*descriptor);
            (!is_needed).then_some(*descriptor)
        });
        for descriptor in unneeded.collect::<Vec<_>>() {
            self.remove(descriptor);
        }
    }

    pub(super) fn remove(&mut self, descriptor: WatchDescriptor) {
        self.forget(descriptor);
        // This fails if the kernel ended the watch already.
        let _ = inotify::remove_watch(&self.inotify, descriptor);
    }

    /// Forgets a watch that the kernel has ended.
    pub(super) fn forget(&mut self, descriptor: WatchDescriptor) {
        self.ancestors.remove(descriptor);
        if let Some(file) = self.uses.remove(&descriptor).and_then(|watch| watch.file) {
            self.files.remove(&file.identity);
        }
    }

    /// Called when events were lost. Some of them may have told that a watched file is deleted and that its inode
    /// number belongs to another file now. So no file stays watched, and the next walk watches them again.
    pub(super) fn recover_from_overflow(&mut self) {
        self.mark_all_dirty();
        let files: Vec<WatchDescriptor> = self.files.values().copied().collect();
        for descriptor in files {
            self.remove(descriptor);
        }
    }

    pub(super) fn mark_all_dirty(&mut self) {
        self.path_version += 1;
        self.ancestors.version += 1;
        self.bundles.values_mut().for_each(|state| state.dirty = Dirty::Everything);
    }
}

/// How many watches one user may have, in this user namespace.
fn max_user_watches() -> usize {
    let limits = ["/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"];
    let read = |path| fs::read_to_string(path).ok()?.trim().parse().ok();
    limits.into_iter().filter_map(read).min().unwrap_or(MIN_USER_WATCHES)
}
