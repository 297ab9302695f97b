//! Watching one file on the real file system (C4).
//!
//! Each way of changing a file is run three times in a row, on one watch. Tests wait for a change until a deadline.
//! A pause is part of the test it is in.

mod callback;
mod changes;
mod lifetime;
#[cfg(target_os = "linux")]
mod limits;

use std::{
    env, fs,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    time::{Duration, Instant},
};

use super::{ManifestWatch, WatchMode};

const DEBOUNCE: Duration = Duration::from_millis(60);

/// Long enough for a machine that is busy with other things.
const DEADLINE: Duration = Duration::from_secs(20);

/// With this poll interval, a change is noticed only by an event.
const NEVER: Duration = Duration::from_secs(3600);

/// This environment variable is set where there are no events, and changes are noticed only by polling.
const WITHOUT_EVENTS: &str = "OKF_TEST_WATCH_WITHOUT_EVENTS";

/// A directory, a manifest in it that is watched, and the content of the manifest at each call.
struct Scene {
    root: PathBuf,
    file: PathBuf,
    seen: Receiver<Option<String>>,
    watch: ManifestWatch,
    _directory: tempfile::TempDir,
}

impl Scene {
    /// A manifest with the content "0".
    fn plain(debounce: Duration) -> Self {
        Self::new("catalog.json", debounce, NEVER, |root| write(&root.join("catalog.json"), "0"))
    }

    fn new(file: &str, debounce: Duration, poll: Duration, prepare: impl FnOnce(&Path)) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let root = directory.path().to_owned();
        prepare(&root);
        let file = root.join(file);
        let (sender, seen) = channel();
        let is_without_events = env::var_os(WITHOUT_EVENTS).is_some();
        let poll = if is_without_events { Duration::from_millis(100) } else { poll };
        let watch = ManifestWatch::start_polling(&file, debounce, poll, report(&file, sender));
        match watch.mode() {
            WatchMode::Polling { reason } if is_without_events => assert!(!reason.contains('/'), "{reason}"),
            mode => assert_eq!((mode, is_without_events), (WatchMode::Events, false)),
        }
        Self { root, file, seen, watch, _directory: directory }
    }

    /// Waits for a call that sees this content, or no file if it is `None`.
    fn expect(&self, content: Option<&str>) {
        let deadline = Instant::now() + DEADLINE;
        let mut all = Vec::new();
        while all.last().map(Option::as_deref) != Some(content) {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(seen) = self.seen.recv_timeout(left) else {
                panic!("{content:?} was not seen, but {all:?}; {:?}", self.watch.mode());
            };
            all.push(seen);
        }
    }

    /// Fails if a call comes within this time.
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

/// The content that a test writes in each of its rounds. All have the same size.
const ROUNDS: [&str; 3] = ["1", "2", "3"];

/// Runs a command that runs tests, which must pass.
#[cfg(target_os = "linux")]
fn assert_passes(command: &mut std::process::Command) {
    let output = command.output().expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !text.contains(" 0 passed"), "{text}\n{errors}");
    // A watch must not write to the standard error stream, whatever fails.
    assert!(!errors.contains("panicked"), "{errors}");
}
