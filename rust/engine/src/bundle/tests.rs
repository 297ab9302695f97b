//! How often files are read again (F1), by a clock that stands still until it is moved.

use std::time::Instant as Moment;
use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use super::*;
use crate::disk::{events::EventQueue, fence::Fence};

thread_local! {
    static NOW: Cell<Option<Now>> = const { Cell::new(None) };
}

/// A bundle of three files that is compared with the disk whenever it is asked.
struct Scene {
    bundle: Bundle,
    root: Directory,
    events: EventQueue,
    directory: tempfile::TempDir,
}

impl Scene {
    /// The clock of this machine says `wall`, whatever the one of the file system says.
    fn at(wall: i128) -> Self {
        let directory = tempfile::tempdir().expect("a directory to play in");
        for name in ["a.md", "b.md", "c.md"] {
            write(&directory.path().join(name), "word 1");
        }
        NOW.set(Some(Now { wall, steady: Moment::now() }));
        let mut bundle = Bundle::new(None);
        bundle.clock = || NOW.get().expect("the test set the time");
        let fence = Fence::new(directory.path(), directory.path()).expect("a directory that is there");
        let root = fence.enter(".").expect("it can be entered");
        Self { bundle, root, events: EventQueue::disabled(), directory }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// How many files a comparison reads.
    fn reads(&self) -> usize {
        let (task, sealed) = (Task::default(), Arc::default());
        let options = CompareOptions {
            events: &self.events,
            max_bytes: 1 << 20,
            threads: 2,
            task: &task,
            sealed: &sealed,
            source: 0,
        };
        self.bundle.update(&self.root, options).expect("the directory can be listed");
        task.readings().iter().map(|reading| reading.total).sum()
    }

    /// What the concept of this id says.
    fn says(&self, id: &str) -> String {
        let state = self.bundle.published().expect("it was compared");
        state.index.get(id).expect("there is such a concept").document.body.clone()
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).expect("the file can be written");
}

fn pass(time: Duration) {
    let now = NOW.get().expect("the test set the time");
    let wall = now.wall + i128::try_from(time.as_nanos()).expect("it is short");
    NOW.set(Some(Now { wall, steady: now.steady + time }));
}

const LATE: i128 = i128::MAX / 2;

#[test]
fn files_whose_stamps_are_past_are_read_once() {
    let scene = Scene::at(LATE);
    assert_eq!([scene.reads(), scene.reads(), scene.reads()], [3, 0, 0]);
}

#[test]
fn files_with_stamps_of_the_future_are_read_again_for_two_seconds_only() {
    let scene = Scene::at(0);
    assert_eq!(scene.reads(), 3);
    for _ in 0..4 {
        pass(Duration::from_millis(500));
        assert_eq!(scene.reads(), 3);
    }
    pass(Duration::from_millis(1));
    assert_eq!([scene.reads(), scene.reads(), scene.reads()], [3, 0, 0]);
    pass(Duration::from_secs(3600));
    assert_eq!(scene.reads(), 0);
}

#[test]
fn only_the_file_that_changes_begins_anew() {
    let scene = Scene::at(0);
    scene.reads();
    pass(Duration::from_secs(3));
    assert_eq!([scene.reads(), scene.reads()], [3, 0]);
    write(&scene.path("b.md"), "word 2");
    assert_eq!([scene.reads(), scene.reads()], [1, 1]);
    assert_eq!(scene.says("b"), "word 2");
    pass(Duration::from_secs(3));
    write(&scene.path("b.md"), "word 3");
    assert_eq!([scene.reads(), scene.reads()], [1, 1], "another stamp was met");
    assert_eq!(scene.says("b"), "word 3");
    pass(Duration::from_secs(3));
    assert_eq!([scene.reads(), scene.reads()], [1, 0]);
}

#[test]
fn a_time_that_a_program_sets_makes_no_difference() {
    let times = |path: &Path, seconds: u64| {
        let file = fs::File::options().write(true).open(path).expect("the file is there");
        file.set_modified(std::time::UNIX_EPOCH + Duration::from_secs(seconds))
            .expect("a time that can be set");
    };
    let scene = Scene::at(LATE);
    times(&scene.path("a.md"), 4_000_000_000);
    times(&scene.path("b.md"), 1);
    assert_eq!([scene.reads(), scene.reads()], [3, 0], "of the future, and long past");
    write(&scene.path("a.md"), "word 2");
    times(&scene.path("a.md"), 4_000_000_000);
    assert_eq!(scene.reads(), 1, "the same size and time as before");
    assert_eq!(scene.says("a"), "word 2");
}
