use std::{
    collections::BTreeSet,
    ffi::CString,
    fs::{self, File},
    os::fd::AsFd,
    path::PathBuf,
};

use super::{EventQueue, QueueGuard};
use crate::disk::{
    events::{dirty::Dirty, unwatchable::Unwatchable},
    identity::Identity,
};

const BUNDLE: u64 = 7;

/// A bundle of one directory that was compared with the disk.
struct Scene {
    events: EventQueue,
    directory: tempfile::TempDir,
    handle: File,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        fs::write(directory.path().join("a.md"), "text").expect("a file in it");
        let handle = File::open(directory.path()).expect("the directory is there");
        let scene = Self { events: EventQueue::new(), directory, handle };
        scene.compare();
        scene
    }

    fn drain(&self) -> QueueGuard<'_> {
        self.events.drain().expect("there are events here")
    }

    fn compare(&self) {
        self.drain().begin_comparison(BUNDLE);
        assert_eq!(self.drain().watch_directory(BUNDLE, "", self.handle.as_fd()), Ok(()));
        self.drain().end_comparison(BUNDLE, true);
    }

    fn watch_file(&self, name: &str) -> Result<bool, Unwatchable> {
        let name = CString::new(name).expect("it holds no NUL");
        let stat =
            rustix::fs::statat(&self.handle, &*name, rustix::fs::AtFlags::empty()).expect("it is there");
        self.drain().watch_file(BUNDLE, "", self.handle.as_fd(), &name, &stat)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What became dirty since the last call.
    fn dirty(&self) -> Dirty {
        let dirty = self.drain().begin_comparison(BUNDLE);
        self.drain().end_comparison(BUNDLE, true);
        dirty
    }
}

fn only_the_root() -> Dirty {
    Dirty::Directories(BTreeSet::from(["".into()]))
}

#[test]
fn a_mark_that_comes_or_goes_makes_everything_below_it_dirty() {
    let scene = Scene::new();
    scene.dirty();
    let mark = scene.path(".okf-memory");
    fs::write(&mark, "").expect("a mark");
    assert_eq!(scene.dirty(), Dirty::Everything, "created");
    fs::rename(&mark, scene.path(".other")).expect("it was there");
    assert_eq!(scene.dirty(), Dirty::Everything, "moved away");
    fs::rename(scene.path(".other"), &mark).expect("it was there");
    assert_eq!(scene.dirty(), Dirty::Everything, "moved here");
    fs::remove_file(&mark).expect("it was there");
    assert_eq!(scene.dirty(), Dirty::Everything, "removed");
}

#[test]
fn other_hidden_names_are_ignored() {
    let scene = Scene::new();
    scene.dirty();
    for name in [".okf-memory~", ".okf-memor", ".okf.memory", ".x.md", "..data"] {
        fs::write(scene.path(name), "").expect("a file");
        fs::remove_file(scene.path(name)).expect("it was there");
    }
    assert_eq!(scene.dirty(), Dirty::Nothing);
}

#[test]
fn a_file_that_changes_or_is_deleted_makes_only_its_directory_dirty() {
    let scene = Scene::new();
    assert_eq!([scene.watch_file("a.md"), scene.watch_file("a.md")], [Ok(true), Ok(false)]);
    scene.dirty();
    fs::write(scene.path("a.md"), "other").expect("the file can be written");
    assert_eq!(scene.dirty(), only_the_root());
    fs::remove_file(scene.path("a.md")).expect("it was there");
    assert_eq!(scene.dirty(), only_the_root());
    assert_eq!(scene.drain().watches().files.len(), 0);
    assert_eq!(scene.dirty(), Dirty::Nothing);
}

#[test]
fn a_file_that_left_its_directory_is_not_watched_any_more() {
    let scene = Scene::new();
    let identity = |name| Identity::of(&fs::metadata(scene.path(name)).expect("it is there"));
    scene.watch_file("a.md").expect("it can be watched");
    let file = identity("a.md");
    scene.drain().unwatch_file(BUNDLE, "elsewhere", file);
    assert_eq!(scene.drain().watches().files.len(), 1);
    scene.drain().unwatch_file(BUNDLE, "", file);
    let queue = scene.drain();
    assert_eq!((queue.watches().files.len(), queue.watches().uses.len()), (0, 1));
}

#[test]
fn no_more_files_are_watched_than_the_limit_allows() {
    let scene = Scene::new();
    fs::write(scene.path("b.md"), "text").expect("a file");
    scene.drain().watches_mut().max_files = 1;
    assert_eq!(scene.drain().check_file_limit(BUNDLE, 1), Ok(()));
    assert_eq!(scene.drain().check_file_limit(BUNDLE, 2), Err(Unwatchable::TooMany(1)));
    assert_eq!(scene.watch_file("a.md"), Ok(true));
    assert_eq!(scene.drain().check_file_limit(BUNDLE, 1), Ok(()), "its own files do not count twice");
    assert_eq!(scene.drain().check_file_limit(BUNDLE + 1, 1), Err(Unwatchable::TooMany(1)));
    assert_eq!(scene.watch_file("b.md"), Err(Unwatchable::TooMany(1)));
    fs::hard_link(scene.path("b.md"), scene.path("c")).expect("another name");
    assert_eq!(
        scene.watch_file("b.md"),
        Ok(true),
        "a file with several hard links is watched beyond the limit"
    );
    scene.drain().unwatch_files(BUNDLE);
    assert_eq!(scene.drain().watches().files.len(), 1, "it stays watched");
}

#[test]
fn files_are_watched_again_after_events_were_lost() {
    let scene = Scene::new();
    scene.watch_file("a.md").expect("it can be watched");
    scene.drain().watches_mut().recover_from_overflow();
    assert_eq!(scene.dirty(), Dirty::Everything);
    assert_eq!(scene.watch_file("a.md"), Ok(true));
}
