//! What hears of changes from the operating system.

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

use super::chain::Chain;
use crate::disk::{identity::Identity, open::plain};

/// How long the watcher's thread is waited for. It has nothing to do but to end, at once.
const LEAVE: Duration = Duration::from_secs(1);

/// Says through a channel that something on the way to a file may have changed.
///
/// Every word means "look again", so that the channel needs room for one only: one that was not taken
/// out yet stands for all that follow.
#[derive(Debug)]
pub(super) struct Ears {
    heard: SyncSender<()>,
    places: Arc<ArcSwap<BTreeSet<PathBuf>>>,
    directories: Vec<(PathBuf, Option<Identity>)>,
    hearing: Option<Hearing>,
    fault: Option<String>,
}

impl Ears {
    /// Hears nothing yet.
    pub(super) fn new(heard: SyncSender<()>) -> Self {
        Self { heard, places: Arc::default(), directories: Vec::new(), hearing: None, fault: None }
    }

    /// Why not everything is heard, if so.
    pub(super) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Whether they listen where this way can change.
    pub(super) fn listen_to(&self, chain: &Chain) -> bool {
        self.directories == chain.directories
    }

    /// Listens anew, to this way and no other. What changes on it from now on is heard; what changed
    /// before may not be.
    pub(super) fn listen(&mut self, chain: Chain) {
        self.places.store(Arc::new(chain.places));
        let before = mem::replace(&mut self.directories, chain.directories);
        self.fault = self.attach(&before).err();
    }

    fn attach(&mut self, before: &[(PathBuf, Option<Identity>)]) -> Result<(), String> {
        if self.hearing.as_mut().is_some_and(|hearing| !hearing.is_alive())
            && let Some(hearing) = self.hearing.take()
        {
            hearing.end();
        }
        let hearing = match &mut self.hearing {
            Some(hearing) => hearing,
            none => none.insert(Hearing::begin(self.heard.clone(), Arc::clone(&self.places))?),
        };
        hearing.move_to(before, &self.directories)
    }
}

impl Drop for Ears {
    fn drop(&mut self) {
        if let Some(hearing) = self.hearing.take() {
            hearing.end();
        }
    }
}

/// A watcher whose thread runs.
#[derive(Debug)]
struct Hearing {
    watcher: RecommendedWatcher,
    /// Closed when the thread has let go of everything.
    thread: Receiver<Infallible>,
}

impl Hearing {
    fn begin(heard: SyncSender<()>, places: Arc<ArcSwap<BTreeSet<PathBuf>>>) -> Result<Self, String> {
        // A watcher that gets no thread does not say so, and could not even be dropped.
        let no_thread = |error| format!("no thread can be started: {}", plain(&error));
        let _ = thread::Builder::new().spawn(|| ()).map_err(no_thread)?.join();
        let (alive, thread) = channel::<Infallible>();
        let listener = move |message: notify::Result<Event>| {
            let _alive = &alive;
            if concerns(&message, &places.load()) {
                // If it is full, somebody is about to look anyway.
                let _ = heard.try_send(());
            }
        };
        let watcher = notify::recommended_watcher(listener).map_err(|error| reason(&error))?;
        let mut hearing = Self { watcher, thread };
        if hearing.is_alive() {
            Ok(hearing)
        } else {
            hearing.end();
            Err("the system's watcher failed".to_owned())
        }
    }

    /// Whether the thread answers. This is the one question that does not panic if it is gone.
    fn is_alive(&mut self) -> bool {
        self.watcher.configure(Config::default()).is_ok()
    }

    /// Leaves some directories and watches others. The same directory is left and watched again: the
    /// watcher ends by itself what it sees removed or renamed, also if it comes back.
    fn move_to(
        &mut self,
        from: &[(PathBuf, Option<Identity>)],
        to: &[(PathBuf, Option<Identity>)],
    ) -> Result<(), String> {
        let watch = || {
            let mut paths = self.watcher.paths_mut();
            for (directory, _) in from {
                // It is an error if the watch has ended by itself.
                let _ = paths.remove(directory);
            }
            let mut result = Ok(());
            for (directory, _) in to {
                result = result.and(paths.add(directory, RecursiveMode::NonRecursive));
            }
            result.and(paths.commit())
        };
        match catch_unwind(AssertUnwindSafe(watch)) {
            Ok(result) => result.map_err(|error| reason(&error)),
            Err(_) => Err("the system's watcher failed".to_owned()),
        }
    }

    /// Ends the thread, and waits until it has let go of everything.
    fn end(mut self) {
        if self.is_alive() {
            let Self { watcher, thread } = self;
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(watcher)));
            if dropped.is_ok() {
                let _ = thread.recv_timeout(LEAVE);
            }
        } else {
            // To drop a watcher without a thread is a panic.
            mem::forget(self.watcher);
        }
    }
}

/// Whether a message means to look again.
fn concerns(message: &notify::Result<Event>, places: &BTreeSet<PathBuf>) -> bool {
    let Ok(event) = message else { return true };
    // Loss is asked about first: such events may carry no path.
    if event.need_rescan() {
        return true;
    }
    // To look at the file is an access too, and must not lead to the next look.
    let is_access = matches!(event.kind, EventKind::Access(access)
        if access != AccessKind::Close(AccessMode::Write));
    !is_access && (event.paths.is_empty() || event.paths.iter().any(|path| places.contains(path)))
}

/// The error in words, without a path.
fn reason(error: &notify::Error) -> String {
    match &error.kind {
        ErrorKind::Io(error) => plain(error),
        ErrorKind::MaxFilesWatch => "the limit on watched directories is reached".to_owned(),
        ErrorKind::PathNotFound => "a directory on the way to it vanished".to_owned(),
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

    fn places() -> BTreeSet<PathBuf> {
        ["/a", "/a/catalog.json"].map(PathBuf::from).into()
    }

    #[test]
    fn changes_on_the_way_concern_us_and_reading_does_not() {
        for (name, kind, expected) in KINDS {
            let event = Event::new(kind).add_path("/a/catalog.json".into());
            assert_eq!(concerns(&Ok(event), &places()), expected, "{name}");
        }
    }

    #[test]
    fn changes_elsewhere_do_not_concern_us() {
        for (name, kind, _) in KINDS {
            let event = Event::new(kind).add_path("/a/catalog.json~".into());
            assert!(!concerns(&Ok(event), &places()), "{name}");
        }
    }

    #[test]
    fn one_of_several_paths_is_enough() {
        let event = Event::new(EventKind::Modify(ModifyKind::Name(RenameMode::Both)))
            .add_path("/b/new".into())
            .add_path("/a/catalog.json".into());
        assert!(concerns(&Ok(event), &places()));
    }

    #[test]
    fn lost_events_and_errors_concern_us_whatever_path_they_carry() {
        let rescan = || Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert!(concerns(&Ok(rescan()), &places()));
        assert!(concerns(&Ok(rescan().add_path("/b".into())), &places()));
        let access = Event::new(EventKind::Access(AccessKind::Any)).set_flag(Flag::Rescan);
        assert!(concerns(&Ok(access), &places()));
        let error = notify::Error::io(io::ErrorKind::Other.into()).add_path("/b".into());
        assert!(concerns(&Err(error), &places()));
    }

    #[test]
    fn an_event_without_a_path_may_concern_us() {
        assert!(concerns(&Ok(Event::new(EventKind::Any)), &places()));
    }

    #[test]
    fn a_directory_that_cannot_be_watched_is_a_fault_without_a_path() {
        let directory = tempfile::tempdir().unwrap();
        let missing = directory.path().join("missing");
        let (heard, _words) = sync_channel(1);
        let mut ears = Ears::new(heard);
        ears.listen(Chain { directories: vec![(missing, None)], places: BTreeSet::new() });
        let fault = ears.fault().unwrap();
        assert!(!fault.contains("missing") && !fault.contains('/'), "{fault}");
        ears.listen(Chain::follow(Path::new("/")));
        assert_eq!(ears.fault(), None);
    }

    #[test]
    fn a_directory_that_went_and_came_back_is_heard_again() {
        let root = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(root.path()).unwrap();
        let (directory, aside) = (root.join("a"), root.join("b"));
        let file = directory.join("catalog.json");
        fs::create_dir_all(&directory).unwrap();
        fs::write(&file, "1").unwrap();
        let (heard, words) = sync_channel(1);
        let mut ears = Ears::new(heard);
        for content in ["2", "3", "4"] {
            ears.listen(Chain::follow(&file));
            fs::rename(&directory, &aside).unwrap();
            words.recv_timeout(Duration::from_secs(10)).unwrap();
            fs::rename(&aside, &directory).unwrap();
            ears.listen(Chain::follow(&file));
            while words.recv_timeout(Duration::from_millis(50)).is_ok() {}
            fs::write(&file, content).unwrap();
            words.recv_timeout(Duration::from_secs(10)).unwrap();
        }
    }
}
