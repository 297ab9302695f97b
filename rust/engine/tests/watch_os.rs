//! Watching one file on the real file system (C4).
//!
//! Each way of changing a file is run three times in a row, on one watch. What is waited for has a
//! deadline; pauses are part of the case they are in.

#![cfg(unix)]

use std::{
    env,
    fs::{self, File},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use okf_engine::disk::file_watch::{POLL, Watch, WatchState};

const DEBOUNCE: Duration = Duration::from_millis(60);

/// Long enough for a machine that is busy with other things.
const DEADLINE: Duration = Duration::from_secs(20);

/// A poll that never comes: what is noticed, an event told of.
const NEVER: Duration = Duration::from_secs(3600);

/// Set where nothing can be heard, so that everything is noticed by looking.
const DEAF: &str = "OKF_TEST_WATCH_DEAF";

/// A directory, a manifest that is watched in it, and what was in it at each call.
struct Scene {
    root: PathBuf,
    file: PathBuf,
    seen: Receiver<Option<String>>,
    watch: Watch,
    _directory: tempfile::TempDir,
}

impl Scene {
    /// A manifest that holds "0".
    fn plain(debounce: Duration) -> Self {
        Self::new("catalog.json", debounce, NEVER, |root| write(&root.join("catalog.json"), "0"))
    }

    fn new(file: &str, debounce: Duration, poll: Duration, prepare: impl FnOnce(&Path)) -> Self {
        let directory = tempfile::tempdir().expect("a directory to play in");
        let root = directory.path().to_owned();
        prepare(&root);
        let file = root.join(file);
        let (sender, seen) = channel();
        let is_deaf = env::var_os(DEAF).is_some();
        let poll = if is_deaf { Duration::from_millis(100) } else { poll };
        let watch = Watch::start_polling(&file, debounce, poll, report(&file, sender));
        match watch.state() {
            WatchState::Polling { reason } if is_deaf => assert!(!reason.contains('/'), "{reason}"),
            state => assert_eq!((state, is_deaf), (WatchState::Events, false)),
        }
        Self { root, file, seen, watch, _directory: directory }
    }

    /// Waits until a call has seen this content, or `None` for no file.
    fn expect(&self, content: Option<&str>) {
        let deadline = Instant::now() + DEADLINE;
        let mut all = Vec::new();
        while all.last().map(Option::as_deref) != Some(content) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(seen) = self.seen.recv_timeout(left) else {
                panic!("{content:?} was not seen, but {all:?}; {:?}", self.watch.state());
            };
            all.push(seen);
        }
    }

    /// Makes sure that no call comes for so long.
    fn expect_silence(&self, time: Duration) {
        assert_eq!(self.seen.recv_timeout(time), Err(RecvTimeoutError::Timeout));
    }
}

fn report(file: &Path, sender: Sender<Option<String>>) -> impl FnMut() + Send + use<> {
    let file = file.to_owned();
    move || {
        let _ = sender.send(fs::read_to_string(&file).ok());
    }
}

fn write(path: &Path, content: &str) {
    fs::write(path, content).expect("the file can be written");
}

fn replace(path: &Path, content: &str) {
    let beside = path.with_extension("new");
    write(&beside, content);
    fs::rename(&beside, path).expect("the file can be replaced");
}

/// What a case writes in each of its rounds: of one size, none like the one before.
const ROUNDS: [&str; 3] = ["1", "2", "3"];

#[test]
fn noticed_atomic_replacement() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        replace(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn noticed_writing_in_place() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn noticed_an_editors_backup_and_new_file() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        fs::rename(&scene.file, scene.root.join("catalog.json~")).unwrap();
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn noticed_deletion_and_return_half_a_second_later() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        fs::remove_file(&scene.file).unwrap();
        scene.expect(None);
        thread::sleep(Duration::from_millis(500));
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn noticed_return_of_the_same_content() {
    let scene = Scene::plain(DEBOUNCE);
    for _ in ROUNDS {
        fs::remove_file(&scene.file).unwrap();
        scene.expect(None);
        write(&scene.file, "0");
        scene.expect(Some("0"));
    }
}

#[test]
fn noticed_the_swap_of_a_mounted_configuration_map() {
    let time = SystemTime::now() - Duration::from_secs(100);
    let fill = |directory: &Path, content: &str| {
        fs::create_dir(directory).unwrap();
        let file = directory.join("catalog.json");
        write(&file, content);
        File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        File::open(directory).unwrap().set_modified(time).unwrap();
    };
    let scene = Scene::new("catalog.json", DEBOUNCE, NEVER, |root| {
        fill(&root.join("..2024_0"), "0");
        symlink("..2024_0", root.join("..data")).unwrap();
        symlink("..data/catalog.json", root.join("catalog.json")).unwrap();
    });
    let mut before = scene.root.join("..2024_0");
    for content in ROUNDS {
        let name = format!("..2024_{content}");
        fill(&scene.root.join(&name), content);
        symlink(&name, scene.root.join("..data_tmp")).unwrap();
        fs::rename(scene.root.join("..data_tmp"), scene.root.join("..data")).unwrap();
        fs::remove_dir_all(&before).unwrap();
        scene.expect(Some(content));
        before = scene.root.join(name);
    }
}

#[test]
fn noticed_writing_behind_links() {
    let scene = Scene::new("links/catalog.json", DEBOUNCE, NEVER, |root| {
        fs::create_dir(root.join("links")).unwrap();
        fs::create_dir_all(root.join("far/away")).unwrap();
        write(&root.join("far/away/manifest"), "0");
        symlink(root.join("far"), root.join("links/far")).unwrap();
        symlink("far/away/manifest", root.join("links/catalog.json")).unwrap();
    });
    for content in ROUNDS {
        write(&scene.root.join("far/away/manifest"), content);
        scene.expect(Some(content));
    }
}

#[test]
fn noticed_a_link_that_leads_elsewhere() {
    let scene = Scene::new("current/catalog.json", DEBOUNCE, NEVER, |root| {
        for content in ["0", "1", "2", "3"] {
            fs::create_dir(root.join(content)).unwrap();
            write(&root.join(content).join("catalog.json"), content);
        }
        symlink("0", root.join("current")).unwrap();
    });
    for content in ROUNDS {
        symlink(content, scene.root.join("next")).unwrap();
        fs::rename(scene.root.join("next"), scene.root.join("current")).unwrap();
        scene.expect(Some(content));
    }
}

#[test]
fn noticed_removal_and_return_of_the_directory() {
    let directory = |root: &Path| root.join("a/b");
    let scene = Scene::new("a/b/catalog.json", DEBOUNCE, NEVER, |root| {
        fs::create_dir_all(directory(root)).unwrap();
        write(&root.join("a/b/catalog.json"), "0");
    });
    for content in ROUNDS {
        fs::remove_dir_all(directory(&scene.root)).unwrap();
        scene.expect(None);
        fs::create_dir(directory(&scene.root)).unwrap();
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn noticed_removal_and_return_of_the_directories_above() {
    let scene = Scene::new("a/b/c/catalog.json", DEBOUNCE, NEVER, |root| {
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        write(&root.join("a/b/c/catalog.json"), "0");
    });
    for content in ROUNDS {
        fs::remove_dir_all(scene.root.join("a")).unwrap();
        scene.expect(None);
        fs::create_dir_all(scene.root.join("a/b/c")).unwrap();
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn noticed_a_directory_that_takes_the_place_of_another() {
    let scene = Scene::new("a/catalog.json", DEBOUNCE, NEVER, |root| {
        fs::create_dir(root.join("a")).unwrap();
        write(&root.join("a/catalog.json"), "0");
    });
    for content in ROUNDS {
        let (next, old) = (scene.root.join("next"), scene.root.join(format!("old{content}")));
        fs::create_dir(&next).unwrap();
        write(&next.join("catalog.json"), content);
        fs::rename(scene.root.join("a"), &old).unwrap();
        fs::rename(&next, scene.root.join("a")).unwrap();
        scene.expect(Some(content));
        let later = format!("{content} later");
        write(&scene.file, &later);
        scene.expect(Some(&later));
    }
}

#[test]
fn noticed_a_directory_above_that_takes_the_place_of_another() {
    let fill = |directory: &Path, content: &str| {
        fs::create_dir_all(directory.join("b")).unwrap();
        write(&directory.join("b/catalog.json"), content);
    };
    // No event tells of this one.
    let scene = Scene::new("a/b/catalog.json", DEBOUNCE, POLL, |root| fill(&root.join("a"), "0"));
    for content in ROUNDS {
        let (next, old) = (scene.root.join("next"), scene.root.join(format!("old{content}")));
        fill(&next, content);
        fs::rename(scene.root.join("a"), &old).unwrap();
        fs::rename(&next, scene.root.join("a")).unwrap();
        scene.expect(Some(content));
    }
}

#[test]
fn noticed_a_half_written_file_and_then_the_whole_one() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        let half = format!("{content} half");
        write(&scene.file, &half);
        scene.expect(Some(&half));
        let whole = format!("{content} half and whole");
        write(&scene.file, &whole);
        scene.expect(Some(&whole));
    }
}

#[test]
fn noticed_what_is_not_a_file_and_what_becomes_one_again() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        fs::remove_file(&scene.file).unwrap();
        fs::create_dir(&scene.file).unwrap();
        scene.expect(None);
        fs::remove_dir(&scene.file).unwrap();
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn noticed_a_file_that_was_not_there_at_first() {
    let scene = Scene::new("a/b/catalog.json", DEBOUNCE, NEVER, |_| ());
    for content in ROUNDS {
        fs::create_dir_all(scene.root.join("a/b")).unwrap();
        write(&scene.file, content);
        scene.expect(Some(content));
        fs::remove_dir_all(scene.root.join("a")).unwrap();
        scene.expect(None);
    }
}

#[test]
fn noticed_after_a_call_that_panicked() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("catalog.json");
    write(&file, "0");
    let (sender, seen) = channel();
    let _watch = Watch::start_polling(&file, DEBOUNCE, NEVER, move || {
        sender.send(()).unwrap();
        std::panic::resume_unwind(Box::new(()));
    });
    for content in ROUNDS {
        replace(&file, content);
        assert_eq!(seen.recv_timeout(DEADLINE), Ok(()));
    }
}

#[test]
fn many_saves_in_a_burst_are_one_call() {
    // Longer than a busy machine may keep the writer waiting between two saves.
    let debounce = Duration::from_secs(1);
    let scene = Scene::plain(debounce);
    for content in ROUNDS {
        for save in 0..50 {
            let save = format!("{content} {save}");
            if save.ends_with('7') { write(&scene.file, &save) } else { replace(&scene.file, &save) }
        }
        replace(&scene.file, content);
        assert_eq!(scene.seen.recv_timeout(DEADLINE), Ok(Some(content.to_owned())));
        scene.expect_silence(debounce + debounce / 2);
    }
}

#[test]
fn a_steady_stream_of_saves_does_not_put_the_call_off_for_ever() {
    let scene = Scene::plain(Duration::from_millis(100));
    for _ in ROUNDS {
        let began = Instant::now();
        for save in 0.. {
            replace(&scene.file, &format!("save {save}"));
            if scene.seen.recv_timeout(Duration::from_millis(5)).is_ok() {
                break;
            }
            assert!(began.elapsed() < DEADLINE);
        }
        replace(&scene.file, "last");
        scene.expect(Some("last"));
    }
}

#[test]
fn what_changes_nothing_is_not_reported() {
    let scene = Scene::plain(DEBOUNCE);
    let pause = || thread::sleep(Duration::from_millis(5));
    for _ in ROUNDS {
        for _ in 0..20 {
            // The same content, a look from outside, other files beside it.
            replace(&scene.file, "0");
            assert_eq!(fs::read_to_string(&scene.file).unwrap(), "0");
            write(&scene.root.join("catalog.json~"), "other");
            fs::remove_file(scene.root.join("catalog.json~")).unwrap();
            pause();
        }
        scene.expect_silence(DEBOUNCE * 4);
    }
    write(&scene.file, "1");
    scene.expect(Some("1"));
}

#[test]
fn other_files_in_the_directory_do_not_put_the_call_off() {
    // Put off, it would come after ten times as long.
    let debounce = Duration::from_millis(500);
    let scene = Scene::plain(debounce);
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                write(&scene.root.join("log"), "noise");
                thread::sleep(Duration::from_millis(2));
            }
        });
        for content in ROUNDS {
            let began = Instant::now();
            write(&scene.file, content);
            let seen = scene.seen.recv_timeout(DEADLINE);
            let took = began.elapsed();
            stop.store(seen.is_err() || took > debounce * 8, Ordering::Relaxed);
            assert_eq!(seen, Ok(Some(content.to_owned())));
            assert!(took < debounce * 8, "{took:?}");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_relative_path_means_what_it_meant_at_the_start() {
    // The directory is the package's, whatever other tests do.
    let directory = tempfile::Builder::new().prefix("watch").tempdir_in(".").unwrap();
    let relative = Path::new(directory.path().file_name().unwrap()).join("catalog.json");
    let (sender, seen) = channel();
    let _watch = Watch::start_polling(&relative, DEBOUNCE, NEVER, report(&relative, sender));
    for content in ROUNDS {
        write(&relative, content);
        assert_eq!(seen.recv_timeout(DEADLINE), Ok(Some(content.to_owned())));
    }
}

#[test]
fn nothing_is_called_once_it_is_dropped() {
    for content in ROUNDS {
        let scene = Scene::plain(Duration::ZERO);
        write(&scene.file, content);
        let Scene { file, seen, watch, _directory, .. } = scene;
        let began = Instant::now();
        drop(watch);
        assert!(began.elapsed() < DEADLINE);
        seen.try_iter().for_each(drop);
        write(&file, "later");
        // Closed, as what was to be called is gone.
        assert_eq!(seen.recv_timeout(DEADLINE), Err(RecvTimeoutError::Disconnected));
    }
}

#[test]
fn a_call_under_way_is_waited_for() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("catalog.json");
    for content in ROUNDS {
        let finished = Arc::new(AtomicBool::new(false));
        let (sender, entered) = channel();
        let at_end = Arc::clone(&finished);
        let watch = Watch::start(&file, Duration::ZERO, move || {
            sender.send(()).unwrap();
            thread::sleep(Duration::from_millis(100));
            at_end.store(true, Ordering::SeqCst);
        });
        write(&file, content);
        entered.recv_timeout(DEADLINE).unwrap();
        drop(watch);
        assert!(finished.load(Ordering::SeqCst));
    }
}

#[test]
fn it_can_be_dropped_within_its_own_call() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("catalog.json");
    for content in ROUNDS {
        let slot: Arc<Mutex<Option<Watch>>> = Arc::default();
        let within = Arc::downgrade(&slot);
        let (sender, dropped) = channel();
        let mut held = slot.lock().unwrap();
        *held = Some(Watch::start(&file, Duration::ZERO, move || {
            let watch = within.upgrade().and_then(|slot| slot.lock().unwrap().take());
            drop(watch);
            sender.send(()).unwrap();
        }));
        drop(held);
        write(&file, content);
        assert_eq!(dropped.recv_timeout(DEADLINE), Ok(()));
        assert_eq!(dropped.recv_timeout(DEADLINE), Err(RecvTimeoutError::Disconnected));
    }
}

/// Has a command that runs tests of this file pass.
#[cfg(target_os = "linux")]
fn assert_passes(command: &mut Command) {
    let output = command.output().expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !text.contains(" 0 passed"), "{text}\n{errors}");
    // Whatever goes wrong with a watch goes wrong quietly.
    assert!(!errors.contains("panicked"), "{errors}");
}

#[test]
#[cfg(target_os = "linux")]
fn many_starts_and_drops_leave_nothing_behind() {
    let this = env::current_exe().unwrap();
    assert_passes(Command::new(this).args(["--exact", "--ignored", "apart_many_starts_and_drops"]));
}

/// Everything counts the whole process here, so that it needs one of its own.
#[test]
#[ignore = "run by another test"]
#[cfg(target_os = "linux")]
fn apart_many_starts_and_drops() {
    let count = |what: &str| fs::read_dir(Path::new("/proc/self").join(what)).unwrap().count();
    let counts = || (count("task"), count("fd"));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("catalog.json");
    write(&file, "0");
    let before = counts();
    let mut dropping = Duration::ZERO;
    for cycle in 0..500 {
        let watch = Watch::start(&file, DEBOUNCE, || ());
        assert_eq!(watch.state(), WatchState::Events, "cycle {cycle}");
        if cycle % 100 == 0 {
            assert!(counts() > before);
            write(&file, &cycle.to_string());
        }
        let began = Instant::now();
        drop(watch);
        dropping += began.elapsed();
        // Descriptors are closed at once; the system lists a thread for a moment longer.
        assert_eq!(count("fd"), before.1, "cycle {cycle}");
    }
    assert!(dropping / 500 < Duration::from_millis(100), "{dropping:?}");
    let deadline = Instant::now() + DEADLINE;
    while counts() != before {
        assert!(Instant::now() < deadline, "{before:?} became {:?}", counts());
        thread::yield_now();
    }
}

/// Everything is noticed where a limit of the system is zero, as it can be for a few processes.
#[cfg(target_os = "linux")]
fn assert_noticed_beyond(limit: &str) {
    assert!(env::var_os(DEAF).is_none(), "a test must not run itself");
    let apart = |script: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "sh", "-c"]);
        command.arg(format!("echo 0 > /proc/sys/user/{limit} && {script}"));
        command
    };
    if apart("true").output().is_ok_and(|output| output.status.success()) {
        let this = env::current_exe().expect("this is a program");
        assert_passes(apart("exec \"$0\" noticed_").arg(this).env(DEAF, "1"));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_missed_where_no_watcher_can_be_had() {
    assert_noticed_beyond("max_inotify_instances");
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_is_missed_where_no_directory_can_be_watched() {
    assert_noticed_beyond("max_inotify_watches");
}
