//! Subscribes a bundle to the event queue, while the bundle is compared with the disk.

use std::{
    collections::BTreeSet,
    ffi::CStr,
    io,
    os::fd::BorrowedFd,
    sync::Arc,
    time::{Duration, Instant as Moment},
};

use rustix::{
    fs::{Stat, fstat},
    io::Errno,
};

use crate::{
    bundle::state::{BundleState, FileState, Watching},
    disk::{
        directory::Directory,
        events::{Dirty, EventQueue, Unwatchable, contains_file_mount, why_incomplete},
        identity::Identity,
        listing::{ListedFile, Listing},
        os_error::plain,
        sealed::SealedDirectories,
        visitor::Visitor,
        walk,
    },
};

/// If a bundle could not be watched, it is tried again after this time.
const RETRY_AFTER: Duration = Duration::from_secs(60);

/// Watches everything that a comparison with the disk comes by, before the comparison looks at it.
///
/// The events of a directory tell of changes that are made by a name in it. Only the events of a file itself tell of
/// changes that are made by another hard link, or by a descriptor that was opened with one. So both are watched, as
/// long as the number of watches that one user may have allows it.
pub(super) struct Subscriber<'call> {
    /// The key of the bundle.
    key: u64,
    events: &'call EventQueue,
    /// The device of the bundle's root.
    device: u64,
    /// Why the bundle is not watched, and since when; `None` if it is.
    refused: Option<(Arc<str>, Moment)>,
    /// Why its files are not watched one by one, only its directories, and since when; `None` if they are.
    directories_only: Option<(Arc<str>, Moment)>,
    /// How many files the last comparison found.
    files: usize,
}

impl<'call> Subscriber<'call> {
    /// `known` is the state after the last comparison.
    pub(super) fn new(
        key: u64,
        directory: &Directory,
        known: Option<&BundleState>,
        events: &'call EventQueue,
    ) -> Self {
        let since = |reason: &Option<Arc<str>>| {
            known.and_then(|state| Some((Arc::clone(reason.as_ref()?), state.watched_since)))
        };
        let is_recent = known.is_some_and(|state| state.watched_since.elapsed() < RETRY_AFTER);
        let refused = known.filter(|_| is_recent).and_then(|state| since(&state.compared_because));
        let directories_only = known.and_then(|state| since(&state.directories_only_because));
        let files = known.map_or(0, BundleState::count_files);
        let device = directory.identity.device;
        let mut this = Self { key, events, device, refused, directories_only, files };
        if let Some(reason) = events.why_unavailable() {
            this.refuse(reason);
        }
        this
    }

    /// Whether the bundle is watched, at least its directories.
    pub(super) fn is_watching(&self) -> bool {
        self.refused.is_none()
    }

    fn refuse(&mut self, reason: &str) {
        self.refused.get_or_insert_with(|| (reason.into(), Moment::now()));
    }

    /// From now on, watches only directories, and files with several hard links.
    fn watch_directories_only(&mut self, reason: &str) {
        if let Some(mut queue) = self.events.lock() {
            queue.unwatch_files(self.key);
        }
        let late = "a change by a name or a descriptor from outside the directory of a file is found within half \
                    a minute";
        self.directories_only = Some((format!("{reason}, so that {late}").into(), Moment::now()));
    }

    /// Begins a comparison. Returns what is dirty since the last one.
    pub(super) fn begin(&mut self) -> Dirty {
        if !self.is_watching() {
            return Dirty::Everything;
        }
        self.events.drain().map_or(Dirty::Everything, |mut queue| queue.begin_comparison(self.key))
    }

    /// Walks over the whole bundle, and watches it.
    pub(super) fn walk(
        &mut self,
        directory: &Directory,
        part: &str,
        sealed: &SealedDirectories,
    ) -> io::Result<Vec<(String, Listing)>> {
        // Only a walk comes by every file, so only now can files be watched one by one again.
        self.directories_only.take_if(|(_, since)| since.elapsed() >= RETRY_AFTER);
        if self.is_watching() && contains_file_mount(&directory.path) {
            self.refuse("a file is mounted in it");
        }
        if self.is_watching()
            && let Some(mut queue) = self.events.drain()
        {
            queue.begin_walk(self.key);
        }
        if self.is_watching()
            && self.directories_only.is_none()
            && let Some(Err(Unwatchable::TooMany(limit))) =
                self.events.lock().map(|queue| queue.check_file_limit(self.key, self.files))
        {
            self.watch_directories_only(&too_many(limit));
        }
        let listed = walk::walk(directory, part, sealed, self)?;
        if self.is_watching()
            && let Some(mut queue) = self.events.drain()
        {
            queue.end_walk(self.key);
        }
        Ok(listed)
    }

    /// Ends the watches of files that were in the directory at `path` before, and are not there now.
    pub(super) fn unwatch_gone(&self, path: &str, before: &[FileState], now: &[ListedFile]) {
        let now: BTreeSet<Identity> = now.iter().map(|file| file.stamp.identity()).collect();
        let gone = before.iter().map(|file| file.stamp.identity()).filter(|file| !now.contains(file));
        let Some(mut queue) = self.events.lock() else { return };
        gone.for_each(|file| queue.unwatch_file(self.key, path, file));
    }

    fn watch_directory(&mut self, path: &str, handle: BorrowedFd<'_>) {
        let (key, events) = (self.key, self.events);
        let watch = || events.drain().map(|mut queue| queue.watch_directory(key, path, handle));
        let mut watched = watch();
        if watched == Some(Err(Unwatchable::Refused(Errno::NOSPC))) && self.directories_only.is_none() {
            self.watch_directories_only(NO_WATCHES);
            watched = watch();
        }
        if let Some(Err(reason)) = watched {
            self.refuse(&refusal("a directory", reason));
        }
    }

    /// How the bundle is watched now.
    pub(super) fn outcome(self) -> Watching {
        let (compared_because, directories_only_because, since) = match (self.refused, self.directories_only)
        {
            (Some((reason, since)), _) => (Some(reason), None, since),
            (None, Some((reason, since))) => (None, Some(reason), since),
            (None, None) => (None, None, Moment::now()),
        };
        Watching { compared_because, directories_only_because, since }
    }
}

const NO_WATCHES: &str = "the limit of inotify watches (fs.inotify.max_user_watches) is reached";

fn too_many(limit: usize) -> String {
    format!(
        "it has more files than the {limit} that are watched one by one (a sixteenth of \
         fs.inotify.max_user_watches)"
    )
}

fn refusal(what: &str, reason: Unwatchable) -> String {
    match reason {
        Unwatchable::TooMany(limit) => too_many(limit),
        Unwatchable::Refused(Errno::NOSPC) => NO_WATCHES.to_owned(),
        Unwatchable::Refused(error) => format!("{what} cannot be watched: {}", plain(&error.into())),
    }
}

impl Visitor for Subscriber<'_> {
    fn directory(&mut self, path: &str, handle: BorrowedFd<'_>) {
        if !self.is_watching() {
            return;
        }
        // Another kind of file system may be mounted inside the bundle.
        let may_differ = path.is_empty()
            || fstat(handle).map_or(true, |stat| Identity::of_stat(&stat).device != self.device);
        if may_differ && let Some(reason) = why_incomplete(handle) {
            self.refuse(&reason);
            return;
        }
        self.watch_directory(path, handle);
    }

    fn file(&mut self, path: &str, parent: BorrowedFd<'_>, name: &CStr, stat: &Stat) -> bool {
        let is_hard_linked = stat.st_nlink > 1;
        if !self.is_watching() || (self.directories_only.is_some() && !is_hard_linked) {
            return false;
        }
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let (key, events) = (self.key, self.events);
        let watch = || events.lock().map(|mut queue| queue.watch_file(key, directory, parent, name, stat));
        let mut watched = watch();
        if let Some(Err(reason)) = watched
            && self.directories_only.is_none()
            // A file that may not be read is not served, and its directory tells when the permission changes.
            && (is_hard_linked || reason != Unwatchable::Refused(Errno::ACCESS))
        {
            self.watch_directories_only(&refusal("a file", reason));
            watched = if is_hard_linked { watch() } else { Some(Ok(false)) };
        }
        match watched {
            Some(Err(reason)) if is_hard_linked => {
                // A change by another hard link is likely.
                self.refuse(&refusal("a file", reason));
                false
            }
            Some(is_new) => is_new.unwrap_or(false),
            None => false,
        }
    }

    fn link(&mut self) {
        self.refuse("it contains links");
    }
}
