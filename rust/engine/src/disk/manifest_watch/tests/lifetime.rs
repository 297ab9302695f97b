//! Starting and dropping a watch.

use crate::work::process::ProcessId;
#[cfg(target_os = "linux")]
use std::{env, fs, process::Command};
use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::{DEADLINE, ManifestWatch, ROUNDS, Scene, WatchMode, write};
#[cfg(target_os = "linux")]
use super::{DEBOUNCE, assert_passes};

#[test]
fn a_dropped_watch_calls_nothing() {
    for content in ROUNDS {
        let scene = Scene::plain(Duration::ZERO);
        write(&scene.file, content);
        let Scene { file, seen, watch, _directory, .. } = scene;
        let began = Instant::now();
        drop(watch);
        assert!(began.elapsed() < DEADLINE);
        seen.try_iter().for_each(drop);
        write(&file, "later");
        // The callback was dropped, and with it the sender.
        assert_eq!(seen.recv_timeout(DEADLINE), Err(RecvTimeoutError::Disconnected));
    }
}

#[test]
fn dropping_waits_for_a_running_call() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("catalog.json");
    for content in ROUNDS {
        let finished = Arc::new(AtomicBool::new(false));
        let (sender, entered) = channel();
        let at_end = Arc::clone(&finished);
        let watch = ManifestWatch::start(&file, Duration::ZERO, move || {
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
fn a_watch_may_be_dropped_within_its_own_call() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("catalog.json");
    for content in ROUNDS {
        let slot: Arc<Mutex<Option<ManifestWatch>>> = Arc::default();
        let within = Arc::downgrade(&slot);
        let (sender, dropped) = channel();
        let mut held = slot.lock().unwrap();
        *held = Some(ManifestWatch::start(&file, Duration::ZERO, move || {
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

#[test]
#[cfg(target_os = "linux")]
fn many_starts_and_drops_leave_nothing_behind() {
    const THIS: &str = "disk::manifest_watch::tests::lifetime::alone_many_starts_and_drops";
    let this = env::current_exe().unwrap();
    assert_passes(Command::new(this).args(["--exact", "--ignored", THIS]));
}

/// This counts the threads and descriptors of the whole process, so it runs in a process of its own.
#[test]
#[ignore = "run by another test"]
#[cfg(target_os = "linux")]
fn alone_many_starts_and_drops() {
    let count = |what: &str| fs::read_dir(Path::new("/proc/self").join(what)).unwrap().count();
    let counts = || (count("task"), count("fd"));
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("catalog.json");
    write(&file, "0");
    let before = counts();
    let mut dropping = Duration::ZERO;
    for cycle in 0..500 {
        let watch = ManifestWatch::start(&file, DEBOUNCE, || ());
        assert_eq!(watch.mode(), WatchMode::Events, "cycle {cycle}");
        if cycle % 100 == 0 {
            assert!(counts() > before);
            write(&file, &cycle.to_string());
        }
        let began = Instant::now();
        drop(watch);
        dropping += began.elapsed();
        // Descriptors are closed at once. The system lists a thread for a moment longer.
        assert_eq!(count("fd"), before.1, "cycle {cycle}");
    }
    assert!(dropping / 500 < Duration::from_millis(100), "{dropping:?}");
    let deadline = Instant::now() + DEADLINE;
    while counts() != before {
        assert!(Instant::now() < deadline, "{before:?} became {:?}", counts());
        thread::yield_now();
    }
}

#[test]
fn a_copy_in_another_process_says_so_and_is_dropped_without_waiting() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("catalog.json");
    let mut watch = ManifestWatch::start(&file, Duration::ZERO, || ());
    let stop = Arc::clone(&watch.running.as_ref().unwrap().stop);
    watch.process = ProcessId::another();
    assert!(matches!(watch.mode(), WatchMode::Off { .. }));
    drop(watch);
    assert!(!stop.swap(true, Ordering::Release));
}
