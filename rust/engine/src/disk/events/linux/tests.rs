use std::{ffi::CString, os::unix::fs::MetadataExt, path::PathBuf};

use super::*;

const BUNDLE: u64 = 7;

/// A bundle of one directory that was compared with the disk.
struct Scene {
    events: Events,
    directory: tempfile::TempDir,
    handle: File,
}

impl Scene {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory to play in");
        fs::write(directory.path().join("a.md"), "text").expect("a file in it");
        let handle = File::open(directory.path()).expect("the directory is there");
        let scene = Self { events: Events::new(), directory, handle };
        scene.compare();
        scene
    }

    fn look(&self) -> Look<'_> {
        self.events.look().expect("there are events here")
    }

    fn compare(&self) {
        self.look().begin(BUNDLE);
        assert_eq!(self.look().watch(BUNDLE, "", self.handle.as_fd()), Ok(()));
        self.look().end(BUNDLE, true);
    }

    fn watch_file(&self, name: &str) -> Result<bool, Unwatchable> {
        let name = CString::new(name).expect("it holds no NUL");
        let stat =
            rustix::fs::statat(&self.handle, &*name, rustix::fs::AtFlags::empty()).expect("it is there");
        self.look().watch_file(BUNDLE, "", self.handle.as_fd(), &name, &stat)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// What changed since it was last asked.
    fn dirt(&self) -> Dirt {
        let dirt = self.look().begin(BUNDLE);
        self.look().end(BUNDLE, true);
        dirt
    }
}

fn here() -> Dirt {
    Dirt::Directories(BTreeSet::from(["".into()]))
}

#[test]
fn a_mark_that_comes_or_goes_makes_everything_below_it_dirty() {
    let scene = Scene::new();
    scene.dirt();
    let mark = scene.path(".okf-memory");
    fs::write(&mark, "").expect("a mark");
    assert_eq!(scene.dirt(), Dirt::All, "created");
    fs::rename(&mark, scene.path(".other")).expect("it was there");
    assert_eq!(scene.dirt(), Dirt::All, "moved away");
    fs::rename(scene.path(".other"), &mark).expect("it was there");
    assert_eq!(scene.dirt(), Dirt::All, "moved here");
    fs::remove_file(&mark).expect("it was there");
    assert_eq!(scene.dirt(), Dirt::All, "removed");
}

#[test]
fn other_names_that_start_with_a_dot_are_passed_over() {
    let scene = Scene::new();
    scene.dirt();
    for name in [".okf-memory~", ".okf-memor", ".okf.memory", ".x.md", "..data"] {
        fs::write(scene.path(name), "").expect("a file");
        fs::remove_file(scene.path(name)).expect("it was there");
    }
    assert_eq!(scene.dirt(), Dirt::Clean);
}

#[test]
fn a_file_makes_only_its_directory_dirty_even_when_it_goes() {
    let scene = Scene::new();
    assert_eq!([scene.watch_file("a.md"), scene.watch_file("a.md")], [Ok(true), Ok(false)]);
    scene.dirt();
    fs::write(scene.path("a.md"), "other").expect("the file can be written");
    assert_eq!(scene.dirt(), here());
    fs::remove_file(scene.path("a.md")).expect("it was there");
    assert_eq!(scene.dirt(), here());
    assert_eq!(scene.look().queue().files.len(), 0);
    assert_eq!(scene.dirt(), Dirt::Clean);
}

#[test]
fn a_file_that_left_a_directory_is_forgotten() {
    let scene = Scene::new();
    let identity = |name| {
        let metadata = fs::metadata(scene.path(name)).expect("it is there");
        Identity { device: metadata.dev(), inode: metadata.ino() }
    };
    scene.watch_file("a.md").expect("it can be watched");
    let file = identity("a.md");
    scene.look().forget_file(BUNDLE, "elsewhere", file);
    assert_eq!(scene.look().queue().files.len(), 1);
    scene.look().forget_file(BUNDLE, "", file);
    let look = scene.look();
    assert_eq!((look.queue().files.len(), look.queue().watches.len()), (0, 1));
}

#[test]
fn no_more_files_are_watched_than_there_is_room_for() {
    let scene = Scene::new();
    fs::write(scene.path("b.md"), "text").expect("a file");
    scene.look().queue_mut().file_limit = 1;
    assert_eq!(scene.look().has_room(BUNDLE, 1), Ok(()));
    assert_eq!(scene.look().has_room(BUNDLE, 2), Err(Unwatchable::TooMany(1)));
    assert_eq!(scene.watch_file("a.md"), Ok(true));
    assert_eq!(scene.look().has_room(BUNDLE, 1), Ok(()), "its own files do not count twice");
    assert_eq!(scene.look().has_room(BUNDLE + 1, 1), Err(Unwatchable::TooMany(1)));
    assert_eq!(scene.watch_file("b.md"), Err(Unwatchable::TooMany(1)));
    fs::hard_link(scene.path("b.md"), scene.path("c")).expect("another name");
    assert_eq!(scene.watch_file("b.md"), Ok(true), "another name is likely to be used");
    scene.look().forget_files(BUNDLE);
    assert_eq!(scene.look().queue().files.len(), 1, "it stays watched");
}

#[test]
fn files_are_watched_anew_after_events_were_lost() {
    let scene = Scene::new();
    scene.watch_file("a.md").expect("it can be watched");
    scene.look().queue_mut().lose_all();
    assert_eq!(scene.dirt(), Dirt::All);
    assert_eq!(scene.watch_file("a.md"), Ok(true));
}
