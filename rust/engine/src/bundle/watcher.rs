//! Has the kernel tell of changes to a bundle.

use crate::{
    bundle::state::{BundleState, FileState, Watching},
    disk::{
        directory::Directory,
        events::{Dirt, Events, Unwatchable, holds_mounted_file, incomplete},
        identity::Identity,
        listing::{Listed, Listing, Witness},
        sealed::Sealed,
        walk,
    },
};
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

/// How long it is not tried again to watch what could not be watched.
const TRIED_AGAIN: Duration = Duration::from_secs(60);

/// Has everything watched that a comparison looks at, before it looks.
///
/// Directories tell of what is done by a name in them. What is done to a file by another name, or by a
/// descriptor opened with one, only a watch of the file itself tells. So both are watched, as long as the number
/// of watches that one user may have allows it.
pub(super) struct Watcher<'call> {
    key: u64,
    events: &'call Events,
    device: u64,
    /// Why the bundle is not watched, if it is not, and since when.
    refused: Option<(Arc<str>, Moment)>,
    /// Why only its directories are, and since when.
    coarse: Option<(Arc<str>, Moment)>,
    /// How many files there were.
    files: usize,
}

impl<'call> Watcher<'call> {
    pub(super) fn of(
        key: u64,
        directory: &Directory,
        known: Option<&BundleState>,
        events: &'call Events,
    ) -> Self {
        let since = |reason: &Option<Arc<str>>| {
            known.and_then(|state| Some((Arc::clone(reason.as_ref()?), state.tried)))
        };
        let refused = known.filter(|state| state.tried.elapsed() < TRIED_AGAIN);
        let refused = refused.and_then(|state| since(&state.compared_because));
        let coarse = known.and_then(|state| since(&state.coarse_because));
        let files = known.map_or(0, BundleState::count_files);
        let mut this = Self { key, events, device: directory.identity.device, refused, coarse, files };
        if let Some(reason) = events.missing() {
            this.refuse(reason);
        }
        this
    }

    pub(super) fn is_watching(&self) -> bool {
        self.refused.is_none()
    }

    fn refuse(&mut self, reason: &str) {
        self.refused.get_or_insert_with(|| (reason.into(), Moment::now()));
    }

    /// Watches only directories from now on, and files that have several names.
    fn become_coarse(&mut self, reason: &str) {
        if let Some(mut queue) = self.events.queue() {
            queue.forget_files(self.key);
        }
        let late = "a change by a name or a descriptor from outside the directory of a file is found within half \
                    a minute";
        self.coarse = Some((format!("{reason}, so that {late}").into(), Moment::now()));
    }

    /// What changed since the last comparison.
    pub(super) fn begin(&mut self) -> Dirt {
        if !self.is_watching() {
            return Dirt::All;
        }
        self.events.look().map_or(Dirt::All, |mut look| look.begin(self.key))
    }

    pub(super) fn walk(
        &mut self,
        directory: &Directory,
        part: &str,
        sealed: &Sealed,
    ) -> io::Result<Vec<(String, Listing)>> {
        // Only a walk meets every file.
        self.coarse.take_if(|(_, tried)| tried.elapsed() >= TRIED_AGAIN);
        if self.is_watching() && holds_mounted_file(&directory.path) {
            self.refuse("a file is mounted in it");
        }
        if self.is_watching()
            && let Some(mut look) = self.events.look()
        {
            look.begin_walk(self.key);
        }
        if self.is_watching()
            && self.coarse.is_none()
            && let Some(Err(Unwatchable::TooMany(limit))) =
                self.events.queue().map(|queue| queue.has_room(self.key, self.files))
        {
            self.become_coarse(&too_many(limit));
        }
        let listed = walk::walk(directory, part, sealed, self)?;
        if self.is_watching()
            && let Some(mut look) = self.events.look()
        {
            look.end_walk(self.key);
        }
        Ok(listed)
    }

    /// Watches files no more that were in a directory and are not there now.
    pub(super) fn forget(&self, path: &str, before: &[FileState], now: &[Listed]) {
        let now: BTreeSet<Identity> = now.iter().map(|file| file.stamp.identity()).collect();
        let gone = before.iter().map(|file| file.stamp.identity()).filter(|file| !now.contains(file));
        let mut queue = self.events.queue();
        gone.for_each(|file| {
            if let Some(queue) = &mut queue {
                queue.forget_file(self.key, path, file);
            }
        });
    }

    fn watch_directory(&mut self, path: &str, handle: BorrowedFd<'_>) {
        let mut watched = self.events.look().map(|mut look| look.watch(self.key, path, handle));
        if watched == Some(Err(Unwatchable::Refused(Errno::NOSPC))) && self.coarse.is_none() {
            self.become_coarse(NO_WATCHES);
            watched = self.events.look().map(|mut look| look.watch(self.key, path, handle));
        }
        if let Some(Err(reason)) = watched {
            self.refuse(&refusal("a directory", reason));
        }
    }

    /// Whether and how far the bundle is watched now.
    pub(super) fn outcome(self) -> Watching {
        let (compared_because, coarse_because, tried) = match (self.refused, self.coarse) {
            (Some((reason, tried)), _) => (Some(reason), None, tried),
            (None, Some((reason, tried))) => (None, Some(reason), tried),
            (None, None) => (None, None, Moment::now()),
        };
        Watching { compared_because, coarse_because, tried }
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
        Unwatchable::Refused(error) => format!("{what} cannot be watched: {error}"),
    }
}

impl Witness for Watcher<'_> {
    fn directory(&mut self, path: &str, handle: BorrowedFd<'_>) {
        if !self.is_watching() {
            return;
        }
        // What is mounted inside the bundle may be another kind of file system.
        let elsewhere = path.is_empty()
            || fstat(handle).map_or(true, |stat| Identity::of_stat(&stat).device != self.device);
        if elsewhere && let Some(reason) = incomplete(handle) {
            self.refuse(&reason);
            return;
        }
        self.watch_directory(path, handle);
    }

    fn file(&mut self, path: &str, parent: BorrowedFd<'_>, name: &CStr, stat: &Stat) -> bool {
        let shared = stat.st_nlink > 1;
        if !self.is_watching() || (self.coarse.is_some() && !shared) {
            return false;
        }
        let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let (key, events) = (self.key, self.events);
        let watch = || events.queue().map(|mut queue| queue.watch_file(key, directory, parent, name, stat));
        let mut watched = watch();
        if let Some(Err(reason)) = watched
            && self.coarse.is_none()
            // What nobody may read is not served, and its directory tells when that changes.
            && (shared || reason != Unwatchable::Refused(Errno::ACCESS))
        {
            self.become_coarse(&refusal("a file", reason));
            watched = if shared { watch() } else { Some(Ok(false)) };
        }
        match watched {
            Some(Err(reason)) if shared => {
                // Another name is likely to be used.
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
