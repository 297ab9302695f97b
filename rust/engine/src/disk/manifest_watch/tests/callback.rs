//! When the callback is called, and how often.

use std::{
    fs,
    path::Path,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    },
    thread,
    time::{Duration, Instant},
};

use super::{DEADLINE, DEBOUNCE, ManifestWatch, NEVER, ROUNDS, Scene, replace, report, write};

#[test]
fn many_saves_in_a_burst_cause_one_call() {
    // Longer than a busy machine delays the writer between two saves.
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
fn a_steady_stream_of_saves_does_not_delay_the_call_for_ever() {
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
fn writing_the_same_content_causes_no_call() {
    let scene = Scene::plain(DEBOUNCE);
    let pause = || thread::sleep(Duration::from_millis(5));
    for _ in ROUNDS {
        for _ in 0..20 {
            // The same content again, a reader, and another file.
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
fn changes_of_other_files_do_not_delay_the_call() {
    // A delayed call would come after ten times the debounce time.
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
fn a_relative_path_is_resolved_when_the_watch_starts() {
    // Tests run in the directory of the package.
    let directory = tempfile::Builder::new().prefix("watch").tempdir_in(".").unwrap();
    let relative = Path::new(directory.path().file_name().unwrap()).join("catalog.json");
    let (sender, seen) = channel();
    let _watch = ManifestWatch::start_polling(&relative, DEBOUNCE, NEVER, report(&relative, sender));
    for content in ROUNDS {
        write(&relative, content);
        assert_eq!(seen.recv_timeout(DEADLINE), Ok(Some(content.to_owned())));
    }
}
