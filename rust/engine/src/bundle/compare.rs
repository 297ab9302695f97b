//! One comparison of a bundle with the disk.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    os::fd::AsFd,
    sync::Arc,
};

use crate::{
    bundle::{
        changes::Changes,
        error::CompareError,
        options::CompareOptions,
        read::read_changed,
        state::{BundleState, DirectoryState},
        subscriber::Subscriber,
    },
    disk::{
        directory::Directory,
        events::{Dirty, uses_local_clock},
        granularity::{Now, Reading},
        listing::Listing,
        stamp::Stamp,
        walk,
    },
};

/// What is compared, with what is known of it.
pub(super) struct Comparison<'call> {
    /// Under which the event queue knows the bundle.
    pub(super) key: u64,
    /// The part of the directory that is indexed.
    pub(super) part: &'call str,
    pub(super) clock: fn() -> Now,
    pub(super) directory: &'call Directory,
    pub(super) known: Option<&'call BundleState>,
    pub(super) options: CompareOptions<'call>,
}

impl Comparison<'_> {
    /// The state of the bundle after everything that the disk holds was taken over.
    pub(super) fn run(&self) -> Result<BundleState, CompareError> {
        let Self { directory, known, options, .. } = *self;
        let begun = (self.clock)();
        let mut subscriber = Subscriber::new(self.key, directory, known, options.events);
        let before = known.map(|state| &state.directories);
        let (listings, is_whole) = self.list(&mut subscriber)?;
        let mut directories = before.cloned().unwrap_or_default();
        let mut changes = Changes::default();
        if is_whole {
            let listed: BTreeSet<&str> = listings.iter().map(|(path, _)| &**path).collect();
            directories.retain(|path, directory| {
                let is_listed = listed.contains(&**path);
                if !is_listed {
                    changes.remove_files(&directory.files);
                }
                is_listed
            });
        }
        let index = known.map(|state| Arc::clone(&state.index)).unwrap_or_default();
        let read = read_changed(directory, &listings, &directories, options)?;
        let is_local = uses_local_clock(directory.handle.as_fd());
        let ended = (self.clock)().steady;
        // A file system that is mounted inside the bundle may use another clock.
        let reading_of = |stamp: &Stamp| {
            let uses_local_clock = is_local && stamp.identity().device == directory.identity.device;
            Reading { begun, ended, uses_local_clock }
        };
        for ((path, listing), files) in listings.into_iter().zip(read) {
            let old = directories.get(&*path).cloned().unwrap_or_default();
            if old.is_unchanged(&listing, &files) {
                continue;
            }
            let new = changes.take(&old, listing, files, &index, &reading_of);
            directories.insert(path.into(), Arc::new(new));
        }
        changes.apply_version(&index, before, &directories);
        let index = changes.applied_to(index, options.threads, options.task)?;
        let sealed = Arc::clone(options.sealed);
        Ok(BundleState::new(index, directories, sealed, subscriber.outcome()))
    }

    /// The directories that may have changed, and whether that is all of them.
    fn list(&self, subscriber: &mut Subscriber<'_>) -> Result<(Vec<(String, Listing)>, bool), CompareError> {
        let Self { directory, known, options, .. } = *self;
        let dirt = subscriber.begin();
        let known = known.filter(|state| state.sealed == *options.sealed);
        let listings = match (dirt, known) {
            (Dirty::Directories(paths), Some(known)) => {
                self.list_some(&paths, &known.directories, subscriber)?
            }
            (Dirty::Nothing, Some(_)) if subscriber.is_watching() => Some(Vec::new()),
            _ => None,
        };
        Ok(match listings {
            Some(listings) => (listings, false),
            None => (subscriber.walk(directory, self.part, options.sealed)?, true),
        })
    }

    /// Lists some directories again. `None` if a directory appeared or disappeared in one: then the whole bundle
    /// has to be walked.
    fn list_some(
        &self,
        paths: &BTreeSet<Arc<str>>,
        before: &BTreeMap<Arc<str>, Arc<DirectoryState>>,
        subscriber: &mut Subscriber<'_>,
    ) -> io::Result<Option<Vec<(String, Listing)>>> {
        let mut listings = Vec::with_capacity(paths.len());
        for path in paths {
            let Some(old) = before.get(path) else { return Ok(None) };
            match walk::list_one(self.directory, self.part, path, self.options.sealed, subscriber)? {
                Some(listing) if listing.directories == old.directories => {
                    subscriber.unwatch_gone(path, &old.files, &listing.files);
                    listings.push((path.to_string(), listing));
                }
                _ => return Ok(None),
            }
        }
        Ok(Some(listings))
    }
}
