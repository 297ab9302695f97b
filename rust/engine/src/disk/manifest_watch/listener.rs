//! Wakes the watch thread when the operating system reports a change, by the `notify` crate.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, channel},
    },
    thread,
    time::Duration,
};

use arc_swap::ArcSwap;
use notify::{
    Config, ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher,
    event::{AccessKind, AccessMode},
};

use super::resolved_path::ResolvedPath;
use crate::disk::{identity::Identity, os_error::plain};

/// How long dropping waits for the thread of `notify` to end. The thread has nothing else to do.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// Sends a message when an entry of a path may have changed.
///
/// Every message means "look again". The channel therefore holds one message only: a message that was not received
/// yet stands for all later ones.
#[derive(Debug)]
pub(super) struct Listener {
    wake: SyncSender<()>,
    entries: Arc<ArcSwap<BTreeSet<PathBuf>>>,
    directories: Vec<(PathBuf, Option<Identity>)>,
    notifier: Option<Notifier>,
    failure: Option<String>,
}

impl Listener {
    /// Watches nothing yet.
    pub(super) fn new(wake: SyncSender<()>) -> Self {
        Self { wake, entries: Arc::default(), directories: Vec::new(), notifier: None, failure: None }
    }

    /// Why changes may be missed; `None` if all are reported.
    pub(super) fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// Whether the directories of this path are those that are watched.
    pub(super) fn covers(&self, path: &ResolvedPath) -> bool {
        self.directories == path.directories
    }

    /// Watches the directories of this path, and no others. Changes from now on are reported; earlier ones may not be.
    pub(super) fn listen_to(&mut self, path: ResolvedPath) {
        self.entries.store(Arc::new(path.entries));
        let before = mem::replace(&mut self.directories, path.directories);
        self.failure = self.update(&before).err();
    }

    fn update(&mut self, before: &[(PathBuf, Option<Identity>)]) -> Result<(), String> {
        if self.notifier.as_mut().is_some_and(|notifier| !notifier.is_alive())
            && let Some(notifier) = self.notifier.take()
        {
            notifier.end();
        }
        let notifier = match &mut self.notifier {
            Some(notifier) => notifier,
            none => none.insert(Notifier::start(self.wake.clone(), Arc::clone(&self.entries))?),
        };
        notifier.replace(before, &self.directories)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(notifier) = self.notifier.take() {
            notifier.end();
        }
    }
}

/// A watcher of the `notify` crate, with its thread.
#[derive(Debug)]
struct Notifier {
    watcher: RecommendedWatcher,
    /// Disconnected when the thread has dropped everything that it owns.
    thread: Receiver<Infallible>,
}

impl Notifier {
    fn start(wake: SyncSender<()>, entries: Arc<ArcSwap<BTreeSet<PathBuf>>>) -> Result<Self, String> {
        // If no thread can be started, `notify` does not tell, and its watcher panics when it is dropped. So try first.
        let no_thread = |error| format!("no thread can be started: {}", plain(&error));
        let _ = thread::Builder::new().spawn(|| ()).map_err(no_thread)?.join();
        let (alive, thread) = channel::<Infallible>();
        let handler = move |message: notify::Result<Event>| {
            let _alive = &alive;
            if matters(&message, &entries.load()) {
                // If the channel is full, the watch thread is about to look anyway.
                let _ = wake.try_send(());
            }
        };
        let watcher = notify::recommended_watcher(handler).map_err(|error| reason(&error))?;
        let mut notifier = Self { watcher, thread };
        if notifier.is_alive() {
            Ok(notifier)
        } else {
            notifier.end();
            Err("the system's watcher failed".to_owned())
        }
    }

    /// Whether the thread still answers. Other calls panic if it does not.
    fn is_alive(&mut self) -> bool {
        self.watcher.configure(Config::default()).is_ok()
    }

    /// Ends the watches of some directories and watches others. A directory that is in both lists is watched again:
    /// `notify` ends a watch by itself when its directory is deleted or renamed, even if that comes back.
    fn replace(
        &mut self,
        before: &[(PathBuf, Option<Identity>)],
        after: &[(PathBuf, Option<Identity>)],
    ) -> Result<(), String> {
        let watch = || {
            let mut paths = self.watcher.paths_mut();
            for (directory, _) in before {
                // This fails if the watch has ended by itself.
                let _ = paths.remove(directory);
            }
            let mut result = Ok(());
            for (directory, _) in after {
                result = result.and(paths.add(directory, RecursiveMode::NonRecursive));
            }
            result.and(paths.commit())
        };
        match catch_unwind(AssertUnwindSafe(watch)) {
            Ok(result) => result.map_err(|error| reason(&error)),
            Err(_) => Err("the system's watcher failed".to_owned()),
        }
    }

    /// Ends the thread, and waits until it has dropped everything that it owns.
    fn end(mut self) {
        if self.is_alive() {
            let Self { watcher, thread } = self;
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(watcher)));
            if dropped.is_ok() {
                let _ = thread.recv_timeout(END_TIMEOUT);
            }
        } else {
            // Dropping a watcher whose thread is gone panics.
            mem::forget(self.watcher);
        }
    }
}

/// Whether the file has to be looked at again.
fn matters(message: &notify::Result<Event>, entries: &BTreeSet<PathBuf>) -> bool {
    let Ok(event) = message else { return true };
    // Some events were lost. Such a message may have no path.
    if event.need_rescan() {
        return true;
    }
    // Looking at the file is an access too, and must not cause the next look.
    let is_access = matches!(event.kind, EventKind::Access(access)
        if access != AccessKind::Close(AccessMode::Write));
    !is_access && (event.paths.is_empty() || event.paths.iter().any(|path| entries.contains(path)))
}

/// The error in words, without a path.
fn reason(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::Io(error) => plain(error),
        ErrorKind::MaxFilesWatch => "the limit on watched directories is reached".to_owned(),
        ErrorKind::PathNotFound => "a directory of its path was deleted".to_owned(),
        _ => "the system's watcher failed".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io, path::Path, sync::mpsc::sync_channel};

    use notify::event::{CreateKind, DataChange, Flag, MetadataKind, ModifyKind, RemoveKind, RenameMode};

    use super::*;

    const KINDS: [(&str, EventKind, bool); 12] = [
        ("any", EventKind::Any, true),
        ("create", EventKind::Create(CreateKind::File), true),
        ("write", EventKind::Modify(ModifyKind::Data(DataChange::Any)), true),
        ("close after writing", EventKind::Access(AccessKind::Close(AccessMode::Write)), true),
        ("attributes", EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any)), true),
        ("rename", EventKind::Modify(ModifyKind::Name(RenameMode::To)), true),
        ("remove", EventKind::Remove(RemoveKind::Any), true),
        ("other", EventKind::Other, true),
        ("open", EventKind::Access(AccessKind::Open(AccessMode::Any)), false),
        ("read", EventKind::Access(AccessKind::Read), false),
        ("close after reading", EventKind::Access(AccessKind::Close(AccessMode::Read)), false),
        ("any access", EventKind::Access(AccessKind::Any), false),
    ];

    fn entries() -> BTreeSet<PathBuf> {
        ["/a", "/a/catalog.json"].map(PathBuf::from).into()
    }

    #[test]
    fn changes_of_the_path_matter_and_reading_does_not() {
        for (name, kind, expected) in KINDS {
            let event = Event::new(kind).add_path("/a/catalog.json".into());
            assert_eq!(matters(&Ok(event), &entries()), expected, "{name}");
        }
    }

    #[test]
    fn changes_of_other_entries_do_not_matter() {
        for (name, kind, _) in KINDS {
            let event = Event::new(kind).add_path("/a/catalog.json~".into());
            assert!(!matters(&Ok(event), &entries()), "{name}");
        }
    }

    #[test]
    fn an_event_matters_if_one_of_its_paths_does() {
        let event = Event::new(EventKind::Modify(ModifyKind::Name(RenameMode::Both)))
            .add_path("/b/new".into())
            .add_path("/a/catalog.json".into());
        assert!(matters(&Ok(event), &entries()));
    }

    #[test]
    fn lost_events_and_errors_matter_whatever_their_path() {
        let rescan = || Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert!(matters(&Ok(rescan()), &entries()));
        assert!(matters(&Ok(rescan().add_path("/b".into())), &entries()));
        let access = Event::new(EventKind::Access(AccessKind::Any)).set_flag(Flag::Rescan);
        assert!(matters(&Ok(access), &entries()));
        let error = notify::Error::io(io::ErrorKind::Other.into()).add_path("/b".into());
        assert!(matters(&Err(error), &entries()));
    }

    #[test]
    fn an_event_without_a_path_matters() {
        assert!(matters(&Ok(Event::new(EventKind::Any)), &entries()));
    }

    #[test]
    fn a_directory_that_cannot_be_watched_is_a_failure_without_a_path() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        let (wake, _woken) = sync_channel(1);
        let mut listener = Listener::new(wake);
        listener.listen_to(ResolvedPath { directories: vec![(missing, None)], entries: BTreeSet::new() });
        let failure = listener.failure().unwrap();
        assert!(!failure.contains("missing") && !failure.contains('/'), "{failure}");
        listener.listen_to(ResolvedPath::of(Path::new("/")));
        assert_eq!(listener.failure(), None);
    }

    #[test]
    fn a_directory_that_was_renamed_and_came_back_is_watched_again() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let (directory, aside) = (root.join("a"), root.join("b"));
        let file = directory.join("catalog.json");
        fs::create_dir_all(&directory).unwrap();
        fs::write(&file, "1").unwrap();
        let (wake, woken) = sync_channel(1);
        let mut listener = Listener::new(wake);
        for content in ["2", "3", "4"] {
            listener.listen_to(ResolvedPath::of(&file));
            fs::rename(&directory, &aside).unwrap();
            woken.recv_timeout(Duration::from_secs(10)).unwrap();
            fs::rename(&aside, &directory).unwrap();
            listener.listen_to(ResolvedPath::of(&file));
            while woken.recv_timeout(Duration::from_millis(50)).is_ok() {}
            fs::write(&file, content).unwrap();
            woken.recv_timeout(Duration::from_secs(10)).unwrap();
        }
    }
}
