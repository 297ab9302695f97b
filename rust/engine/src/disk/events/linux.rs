//! The queue of inotify.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    ffi::CStr,
    fs::{self, File},
    mem::MaybeUninit,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{
        FileType, Mode, OFlags, Stat, fstat,
        inotify::{self, CreateFlags, ReadFlags, WatchFlags},
        openat,
    },
    io::Errno,
};

use super::Dirt;
use super::Unwatchable;
use crate::{
    disk::{identity::Identity, marks::is_marker},
    document::name::is_hidden,
};

mod mounts;
#[cfg(test)]
mod tests;

pub(crate) use mounts::{has_our_clock, holds_mounted_file, incomplete};

/// The events of a catalog, and what they say of its bundles.
#[derive(Debug)]
pub(crate) struct Events(Result<Mutex<Option<Queue>>, String>);

#[derive(Debug)]
struct Queue {
    inotify: OwnedFd,
    /// Tells when anything was mounted or unmounted.
    mounts: Option<File>,
    watches: HashMap<i32, Watched>,
    /// The watch of each file that is watched by itself.
    files: HashMap<Identity, i32>,
    /// How many files are watched by themselves at most.
    file_limit: usize,
    bundles: HashMap<u64, Watch>,
    way: u64,
    roof: u64,
    /// The watches of the catalog root and of directories above it.
    above: BTreeMap<i32, Above>,
    /// Directories above the catalog root in which so much happens that looking at them is cheaper, or for
    /// which there is no watch to spare.
    loud: HashSet<Identity>,
    /// How often the queue was looked at.
    looks: u64,
}

/// What hangs on one watch.
#[derive(Debug, Default)]
struct Watched {
    /// Whether it lies on the way from the root to a bundle.
    on_way: bool,
    /// The file that is watched; `None` if it is a directory.
    file: Option<WatchedFile>,
    /// The bundles it is part of, the directory in them, and the walk it was last met in.
    bundles: Vec<(u64, Arc<str>, u64)>,
}

/// A directory above the catalog root.
#[derive(Debug, Clone, Copy)]
struct Above {
    identity: Identity,
    /// How often the queue had been looked at when it was first watched.
    since: u64,
    /// How many events it had since that say nothing.
    noise: u64,
}

#[derive(Debug, Clone, Copy)]
struct WatchedFile {
    identity: Identity,
    /// Whether it had several names when it was last listed.
    shared: bool,
}

#[derive(Debug)]
struct Watch {
    dirt: Dirt,
    /// Somebody is comparing the bundle with the disk.
    comparing: bool,
    walk: u64,
}

const DIRECTORY: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);
/// What may bring a mark into a directory above the catalog root, or the directory elsewhere. It may be watched for
/// something else too, so that this is only added.
const ABOVE: WatchFlags = WatchFlags::CREATE
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR)
    .union(WatchFlags::MASK_ADD);
/// From so many events on that say nothing a directory above the catalog root is loud, if there are more than
/// `NOISE_PER_LOOK` for each look: others make files in a shared directory all the time.
const NOISE: u64 = 1024;
/// About as many events are read in the time of one look at a directory.
const NOISE_PER_LOOK: u64 = 4;
/// So many directories above the catalog root are watched at most: where it is moved again and again, some are
/// left that were above it.
const MOST_ABOVE: usize = 1024;
/// What the directory of a file cannot tell: a change by another name, or by a descriptor that was opened
/// with one. When the file is gone, the kernel ends the watch and says so without being asked.
const FILE: WatchFlags = WatchFlags::MODIFY.union(WatchFlags::ATTRIB);
/// Which part of the watches that one user may have is used for files: several processes of a host share it,
/// and directories must be watched first.
const FILE_SHARE: usize = 16;
/// How many watches a user has at least, where that cannot be read.
const FEWEST_WATCHES: usize = 8192;
/// The directory itself changed its place or is gone.
const GONE: ReadFlags =
    ReadFlags::DELETE_SELF.union(ReadFlags::MOVE_SELF).union(ReadFlags::UNMOUNT).union(ReadFlags::IGNORED);

impl Events {
    /// Opens a queue, if there can be one.
    pub(crate) fn new() -> Self {
        Self(Queue::open().map(|queue| Mutex::new(Some(queue))).map_err(|error| match error {
            Errno::MFILE => "the limit of inotify instances is reached".to_owned(),
            error => format!("inotify is not available: {error}"),
        }))
    }

    /// No events, for what is compared with the disk whenever it is read.
    pub(crate) fn none() -> Self {
        Self(Err("it is compared whenever it is read".to_owned()))
    }

    /// Why there are no events, if there are none.
    pub(crate) fn missing(&self) -> Option<&str> {
        self.0.as_ref().err().map(String::as_str)
    }

    /// Everything that happened until now, or `None` if there are no events.
    pub(crate) fn look(&self) -> Option<Look<'_>> {
        let mut queue = self.0.as_ref().ok()?.lock().unwrap_or_else(PoisonError::into_inner);
        queue.as_mut()?.drain();
        Some(Look(queue))
    }

    /// The queue, for adding watches; what is queued stays there.
    pub(crate) fn queue(&self) -> Option<Look<'_>> {
        let queue = self.0.as_ref().ok()?.lock().unwrap_or_else(PoisonError::into_inner);
        queue.is_some().then_some(Look(queue))
    }

    /// Closes the queue; there are no events from now on.
    pub(crate) fn close(&self) {
        if let Ok(queue) = &self.0 {
            *queue.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}

/// The events up to a moment. Nobody else reads the queue meanwhile, so that no event is taken from it and
/// not yet noted.
pub(crate) struct Look<'events>(MutexGuard<'events, Option<Queue>>);

impl Look<'_> {
    fn queue(&self) -> &Queue {
        self.0.as_ref().expect("a look is only taken at an open queue")
    }

    fn queue_mut(&mut self) -> &mut Queue {
        self.0.as_mut().expect("a look is only taken at an open queue")
    }

    /// Whether a bundle is watched and nothing in it changed since it was last compared with the disk.
    pub(crate) fn is_clean(&self, bundle: u64) -> bool {
        self.queue().bundles.get(&bundle).is_some_and(|watch| watch.dirt == Dirt::Clean && !watch.comparing)
    }

    /// Grows when anything on the way to the bundles may have changed.
    pub(crate) fn way(&self) -> u64 {
        self.queue().way
    }

    /// Watches a directory on the way to a bundle; whether that can be done.
    pub(crate) fn watch_way(&mut self, handle: BorrowedFd<'_>) -> bool {
        let added = self.queue_mut().add(handle, DIRECTORY);
        added.map(|watch| self.queue_mut().watches.entry(watch).or_default().on_way = true).is_ok()
    }

    /// Grows when anything above the catalog root may have got a mark, or may lie elsewhere.
    pub(crate) fn roof(&self) -> u64 {
        self.queue().roof
    }

    /// Watches the catalog root or a directory above it; whether that can be done, and is cheaper than to look.
    pub(crate) fn watch_above(&mut self, handle: BorrowedFd<'_>) -> bool {
        let queue = self.queue_mut();
        let Ok(identity) = fstat(handle).map(|stat| Identity::of_stat(&stat)) else { return false };
        if queue.mounts.is_none() || queue.loud.contains(&identity) {
            return false;
        }
        if queue.above.len() >= MOST_ABOVE {
            queue.leave_what_is_above();
            return false;
        }
        let Ok(watch) = queue.add(handle, ABOVE) else { return false };
        let above = Above { identity, since: queue.looks, noise: 0 };
        queue.watches.entry(watch).or_default();
        queue.above.entry(watch).or_insert(above);
        true
    }

    /// Watches no way any more; all are to be gone anew.
    pub(crate) fn forget_ways(&mut self) {
        self.queue_mut().watches.values_mut().for_each(|watched| watched.on_way = false);
        self.queue_mut().keep(|_| true);
        self.queue_mut().way += 1;
    }

    /// Begins to compare a bundle with the disk: what changed since that was last done.
    pub(crate) fn begin(&mut self, bundle: u64) -> Dirt {
        let fresh = Watch { dirt: Dirt::All, comparing: false, walk: 0 };
        let watch = self.queue_mut().bundles.entry(bundle).or_insert(fresh);
        watch.comparing = true;
        std::mem::replace(&mut watch.dirt, Dirt::Clean)
    }

    /// Ends what [`begin`](Self::begin) began; `done` unless it must be begun anew.
    pub(crate) fn end(&mut self, bundle: u64, done: bool) {
        if let Some(watch) = self.queue_mut().bundles.get_mut(&bundle) {
            watch.comparing = false;
            if !done {
                watch.dirt = Dirt::All;
            }
        }
    }

    /// Has the bundle compared with the disk as if anything might have changed.
    pub(crate) fn doubt(&mut self, bundle: u64) {
        if let Some(watch) = self.queue_mut().bundles.get_mut(&bundle) {
            watch.dirt = Dirt::All;
        }
    }

    /// Begins a walk over a whole bundle; what it does not meet is not watched any more when it ends.
    pub(crate) fn begin_walk(&mut self, bundle: u64) {
        if let Some(watch) = self.queue_mut().bundles.get_mut(&bundle) {
            watch.walk += 1;
        }
    }

    /// Ends a walk.
    pub(crate) fn end_walk(&mut self, bundle: u64) {
        if let Some(walk) = self.queue_mut().bundles.get(&bundle).map(|watch| watch.walk) {
            self.queue_mut().keep(|(of, _, met)| *of != bundle || *met == walk);
        }
    }

    /// Watches a directory of a bundle.
    pub(crate) fn watch(
        &mut self,
        bundle: u64,
        path: &str,
        handle: BorrowedFd<'_>,
    ) -> Result<(), Unwatchable> {
        let watch = self.queue_mut().add(handle, DIRECTORY)?;
        self.queue_mut().meet(watch, bundle, path);
        Ok(())
    }

    /// Whether so many files of a bundle can be watched by themselves, beside those of other bundles.
    pub(crate) fn has_room(&self, bundle: u64, files: usize) -> Result<(), Unwatchable> {
        let queue = self.0.as_ref().expect("a look is only taken at an open queue");
        let is_other = |watch: &&i32| {
            let watched = queue.watches.get(watch);
            watched.is_some_and(|watched| watched.bundles.iter().all(|(of, _, _)| *of != bundle))
        };
        let others = queue.files.values().filter(is_other).count();
        if others + files > queue.file_limit { Err(Unwatchable::TooMany(queue.file_limit)) } else { Ok(()) }
    }

    /// Watches the file `name`, listed as `stat`, in the directory of a bundle that `parent` is open at; whether
    /// it was not watched for this directory before, so that `stat` may have been out of date by then.
    pub(crate) fn watch_file(
        &mut self,
        bundle: u64,
        path: &str,
        parent: BorrowedFd<'_>,
        name: &CStr,
        stat: &Stat,
    ) -> Result<bool, Unwatchable> {
        let shared = stat.st_nlink > 1;
        let queue = self.queue_mut();
        if let Some(&watch) = queue.files.get(&Identity::of_stat(stat)) {
            return Ok(queue.meet_file(
                watch,
                bundle,
                path,
                WatchedFile { identity: Identity::of_stat(stat), shared },
            ));
        }
        if !shared && queue.files.len() >= queue.file_limit {
            return Err(Unwatchable::TooMany(queue.file_limit));
        }
        // By a handle, so that what is noted as watched is what is watched, whatever takes the name meanwhile.
        let file =
            match openat(parent, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()) {
                Ok(file) => file,
                // It is gone, which its directory tells.
                Err(Errno::NOENT) => return Ok(true),
                Err(error) => return Err(error.into()),
            };
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(true);
        }
        let watch = queue.add(file.as_fd(), FILE)?;
        queue.files.insert(Identity::of_stat(&stat), watch);
        Ok(queue.meet_file(watch, bundle, path, WatchedFile { identity: Identity::of_stat(&stat), shared }))
    }

    /// Watches a file no more that is not in this directory of a bundle now.
    pub(crate) fn forget_file(&mut self, bundle: u64, path: &str, file: Identity) {
        let queue = self.queue_mut();
        let Some(&watch) = queue.files.get(&file) else { return };
        if let Some(watched) = queue.watches.get_mut(&watch) {
            watched.bundles.retain(|(of, at, _)| *of != bundle || **at != *path);
            if watched.bundles.is_empty() {
                queue.remove(watch);
            }
        }
    }

    /// Watches files of a bundle by themselves no more, except those that have several names.
    pub(crate) fn forget_files(&mut self, bundle: u64) {
        let queue = self.queue_mut();
        queue
            .watches
            .values_mut()
            .filter(|watched| watched.file.is_some_and(|file| !file.shared))
            .for_each(|watched| watched.bundles.retain(|(of, _, _)| *of != bundle));
        queue.keep(|_| true);
    }

    /// Watches a bundle no more.
    pub(crate) fn release(&mut self, bundle: u64) {
        self.queue_mut().bundles.remove(&bundle);
        self.queue_mut().keep(|(of, _, _)| *of != bundle);
    }
}

impl Watched {
    /// Whether it is watched for a bundle.
    fn is_wanted(&self) -> bool {
        self.on_way || !self.bundles.is_empty()
    }
}

impl Queue {
    fn open() -> Result<Self, Errno> {
        Ok(Self {
            inotify: inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC)?,
            mounts: File::open("/proc/self/mountinfo").ok(),
            watches: HashMap::new(),
            files: HashMap::new(),
            file_limit: most_watches() / FILE_SHARE,
            bundles: HashMap::new(),
            way: 0,
            roof: 0,
            above: BTreeMap::new(),
            loud: HashSet::new(),
            looks: 0,
        })
    }

    /// Watches exactly what a handle is of, whatever its path leads to by now.
    fn add(&mut self, handle: BorrowedFd<'_>, flags: WatchFlags) -> Result<i32, Errno> {
        let path = format!("/proc/self/fd/{}", handle.as_raw_fd());
        let added = inotify::add_watch(&self.inotify, &*path, flags);
        // Bundles come first: what is above the root can be looked at.
        if added == Err(Errno::NOSPC) && flags != ABOVE && self.leave_what_is_above() {
            return inotify::add_watch(&self.inotify, &*path, flags);
        }
        added
    }

    /// Watches what is above the catalog root no more, for good; whether anything was.
    fn leave_what_is_above(&mut self) -> bool {
        let before = self.watches.len();
        self.loud.extend(std::mem::take(&mut self.above).values().map(|above| above.identity));
        self.keep(|_| true);
        self.roof += 1;
        self.watches.len() < before
    }

    /// Notes that a watch is part of a bundle; whether that was not known.
    fn meet(&mut self, watch: i32, bundle: u64, path: &str) -> bool {
        let walk = self.bundles.get(&bundle).map_or(0, |watch| watch.walk);
        let bundles = &mut self.watches.entry(watch).or_default().bundles;
        if let Some((_, _, met)) = bundles.iter_mut().find(|(of, at, _)| *of == bundle && **at == *path) {
            *met = walk;
            return false;
        }
        // Most watches are part of one bundle, and there may be many.
        bundles.reserve_exact(1);
        bundles.push((bundle, path.into(), walk));
        true
    }

    fn meet_file(&mut self, watch: i32, bundle: u64, path: &str, file: WatchedFile) -> bool {
        let is_new = self.meet(watch, bundle, path);
        self.watches.entry(watch).or_default().file = Some(file);
        is_new
    }

    /// Drops what is not to be kept from every watch, and watches of which nothing is left.
    fn keep(&mut self, keep: impl Fn(&(u64, Arc<str>, u64)) -> bool) {
        let unwanted = self.watches.iter_mut().filter_map(|(watch, watched)| {
            watched.bundles.retain(&keep);
            let is_wanted = watched.is_wanted() || self.above.contains_key(watch);
            (!is_wanted).then_some(*watch)
        });
        for watch in unwanted.collect::<Vec<_>>() {
            self.remove(watch);
        }
    }

    fn remove(&mut self, watch: i32) {
        self.above.remove(&watch);
        if let Some(file) = self.watches.remove(&watch).and_then(|watched| watched.file) {
            self.files.remove(&file.identity);
        }
        // It may be gone by itself; then so much the better.
        let _ = inotify::remove_watch(&self.inotify, watch);
    }

    /// Notes every event that is queued, without waiting for more.
    fn drain(&mut self) {
        let mut files = vec![PollFd::new(&self.inotify, PollFlags::IN)];
        if let Some(mounts) = &self.mounts {
            files.push(PollFd::from_borrowed_fd(mounts.as_fd(), PollFlags::PRI));
        }
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let polled = poll(&mut files, Some(&now));
        let queued = polled.is_err() || !files[0].revents().is_empty();
        let mounted = files.get(1).is_some_and(|file| !file.revents().is_empty());
        drop(files);
        if mounted {
            self.doubt_all();
        }
        self.looks += 1;
        if queued {
            self.read();
            self.leave_the_loud();
        }
    }

    /// Watches directories above the catalog root no more in which too much happens.
    fn leave_the_loud(&mut self) {
        let looks = self.looks;
        let is_loud = |above: &Above| {
            above.noise > NOISE && above.noise > NOISE_PER_LOOK * looks.saturating_sub(above.since)
        };
        // One that is watched for a bundle costs nothing more.
        let is_wanted = |watch| self.watches.get(watch).is_some_and(Watched::is_wanted);
        let loud = self.above.iter().filter(|(watch, above)| is_loud(above) && !is_wanted(*watch));
        let left: Vec<(i32, Identity)> = loud.map(|(watch, above)| (*watch, above.identity)).collect();
        for (watch, identity) in left {
            self.loud.insert(identity);
            self.roof += 1;
            self.remove(watch);
        }
    }

    fn read(&mut self) {
        let mut buffer = [MaybeUninit::uninit(); 16 << 10];
        let Self { inotify, watches, files, bundles, way, roof, above, .. } = self;
        let mut reader = inotify::Reader::new(&*inotify, &mut buffer);
        let lost = loop {
            match reader.next() {
                Ok(event) if event.events().contains(ReadFlags::QUEUE_OVERFLOW) => break true,
                Ok(event) => {
                    if let Some(above) = above.get_mut(&event.wd()) {
                        note_above(&event, above, roof);
                    }
                    note(&event, watches, bundles, way);
                    if event.events().contains(ReadFlags::IGNORED) {
                        above.remove(&event.wd());
                    }
                    if event.events().contains(ReadFlags::IGNORED)
                        && let Some(file) = watches.remove(&event.wd()).and_then(|watched| watched.file)
                    {
                        files.remove(&file.identity);
                    }
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => break false,
                Err(_) => break true,
            }
        };
        if lost {
            self.lose_all();
            // What is still queued says nothing that is not doubted already.
        }
    }

    /// Events were lost. Among them may be those which tell that a watched file is gone, and its number another's.
    fn lose_all(&mut self) {
        self.doubt_all();
        let files: Vec<i32> = self.files.values().copied().collect();
        for watch in files {
            self.remove(watch);
        }
    }

    fn doubt_all(&mut self) {
        self.way += 1;
        self.roof += 1;
        self.bundles.values_mut().for_each(|watch| watch.dirt = Dirt::All);
    }
}

/// Notes what one event says of a directory above the catalog root.
fn note_above(event: &inotify::Event<'_>, above: &mut Above, roof: &mut u64) {
    let is_gone = event.events().intersects(GONE);
    if is_gone || event.file_name().is_some_and(|name| is_marker(name.to_bytes())) {
        *roof += 1;
    } else {
        above.noise += 1;
    }
}

/// Notes what one event says.
fn note(
    event: &inotify::Event<'_>,
    watches: &mut HashMap<i32, Watched>,
    bundles: &mut HashMap<u64, Watch>,
    way: &mut u64,
) {
    let flags = event.events();
    let Some(watch) = watches.get(&event.wd()) else { return };
    // An entry that only changed its content leads to the same places as before.
    if watch.on_way && !flags.difference(ReadFlags::MODIFY | ReadFlags::ISDIR).is_empty() {
        *way += 1;
    }
    let name = event.file_name().map(CStr::to_bytes).filter(|_| !flags.intersects(GONE));
    // A mark that comes or goes decides over everything below its directory (Y10).
    let marks = name.is_some_and(is_marker);
    // What becomes of a file, its directory shows.
    let whole = watch.file.is_none() && (marks || flags.intersects(GONE | ReadFlags::ISDIR));
    // Other names that start with a dot are passed over (B1).
    if !marks && name.is_some_and(is_hidden) {
        return;
    }
    for (bundle, path, _) in &watch.bundles {
        let Some(bundle) = bundles.get_mut(bundle) else { continue };
        match &mut bundle.dirt {
            dirt @ (Dirt::Clean | Dirt::Directories(_)) if whole => *dirt = Dirt::All,
            Dirt::All => {}
            Dirt::Directories(paths) => {
                paths.insert(Arc::clone(path));
            }
            dirt @ Dirt::Clean => *dirt = Dirt::Directories(BTreeSet::from([Arc::clone(path)])),
        }
    }
}

/// How many watches one user may have, in this user namespace.
fn most_watches() -> usize {
    let limits = ["/proc/sys/fs/inotify/max_user_watches", "/proc/sys/user/max_inotify_watches"];
    let read = |path| fs::read_to_string(path).ok()?.trim().parse().ok();
    limits.into_iter().filter_map(read).min().unwrap_or(FEWEST_WATCHES)
}
