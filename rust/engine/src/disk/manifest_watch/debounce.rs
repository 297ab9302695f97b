//! Decides when to look at the file and when to report a change, from times and fingerprints alone.

use std::time::{Duration, Instant};

use super::fingerprint::Fingerprint;

/// If the file keeps changing, a change is reported after this many times the debounce time at the latest.
const MAX_DEBOUNCES: u32 = 10;

/// The last reported state of the file, and since when it seems to be changing.
#[derive(Debug)]
pub(super) struct Debounce {
    time: Duration,
    /// The fingerprint that was last reported; `None` if it could not be taken.
    reported: Option<Fingerprint>,
    unsettled: Option<Unsettled>,
    next_poll: Instant,
}

/// The file may be changing right now.
#[derive(Debug)]
struct Unsettled {
    since: Instant,
    last_change: Instant,
    /// The fingerprint at `last_change` if polling found the change. The file then counts as stable when its
    /// fingerprint is the same at the next look. If an event told of the change, no further event is enough.
    seen: Option<Fingerprint>,
}

impl Debounce {
    /// Begins with the fingerprint that the file has now. The file is polled at `next_poll`.
    pub(super) fn new(time: Duration, reported: Option<Fingerprint>, next_poll: Instant) -> Self {
        Self { time, reported, unsettled: None, next_poll }
    }

    /// Takes in that an event came.
    pub(super) fn note_event(&mut self, now: Instant) {
        let since = self.unsettled.as_ref().map_or(now, |unsettled| unsettled.since);
        self.unsettled = Some(Unsettled { since, last_change: now, seen: None });
    }

    /// Whether the file may be changing right now.
    pub(super) fn is_unsettled(&self) -> bool {
        self.unsettled.is_some()
    }

    /// When to look next, unless an event comes before.
    pub(super) fn next_look(&self) -> Instant {
        match &self.unsettled {
            None => self.next_poll,
            Some(unsettled) => (unsettled.last_change + self.time).min(self.deadline(unsettled.since)),
        }
    }

    fn deadline(&self, since: Instant) -> Instant {
        since + self.time * MAX_DEBOUNCES
    }

    /// Takes in the result of a look. Whether to report a change now. `None` is a look that failed because the process
    /// is out of descriptors or memory: the next look decides.
    pub(super) fn note_look(
        &mut self,
        fingerprint: Option<Fingerprint>,
        now: Instant,
        next_poll: Instant,
    ) -> bool {
        self.next_poll = next_poll;
        let unsettled = self.unsettled.take();
        if fingerprint.is_none() || fingerprint == self.reported {
            return false;
        }
        let Some(unsettled) = unsettled else {
            // No event told of the change, so the file may still be changing.
            self.unsettled = Some(Unsettled { since: now, last_change: now, seen: fingerprint });
            return false;
        };
        let is_stable = unsettled.seen.is_none() || unsettled.seen == fingerprint;
        if is_stable || now >= self.deadline(unsettled.since) {
            self.reported = fingerprint;
            return true;
        }
        self.unsettled = Some(Unsettled { last_change: now, seen: fingerprint, ..unsettled });
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBOUNCE: Duration = Duration::from_millis(100);
    const POLL: Duration = Duration::from_secs(2);

    /// A debounce, a clock that only the test moves, and a file that contains a number.
    struct Scene {
        debounce: Debounce,
        start: Instant,
        now: Instant,
        file: u64,
        /// The milliseconds since the start, and the content, of each report.
        reported: Vec<(u64, u64)>,
    }

    impl Scene {
        fn begin() -> Self {
            let start = Instant::now();
            let debounce = Debounce::new(DEBOUNCE, Some(Fingerprint::Content(0)), start + POLL);
            Self { debounce, start, now: start, file: 0, reported: Vec::new() }
        }

        fn write(&mut self, content: u64) {
            self.file = content;
        }

        fn write_with_event(&mut self, content: u64) {
            self.write(content);
            self.debounce.note_event(self.now);
        }

        /// Lets time pass, and looks whenever it is due.
        fn pass(&mut self, millis: u64) {
            let end = self.now + Duration::from_millis(millis);
            while self.debounce.next_look() <= end {
                self.now = self.now.max(self.debounce.next_look());
                if self.debounce.note_look(Some(Fingerprint::Content(self.file)), self.now, self.now + POLL) {
                    let at = (self.now - self.start).as_millis();
                    self.reported.push((u64::try_from(at).unwrap(), self.file));
                }
            }
            self.now = end;
        }
    }

    #[test]
    fn a_change_with_an_event_is_reported_after_the_debounce_time() {
        let mut scene = Scene::begin();
        scene.pass(10);
        scene.write_with_event(1);
        scene.pass(10_000);
        assert_eq!(scene.reported, [(110, 1)]);
    }

    #[test]
    fn a_burst_is_reported_once_after_it() {
        let mut scene = Scene::begin();
        for content in 1..=9 {
            scene.write_with_event(content);
            scene.pass(50);
        }
        scene.pass(10_000);
        assert_eq!(scene.reported, [(8 * 50 + 100, 9)]);
    }

    #[test]
    fn a_steady_stream_is_reported_every_ten_debounce_times() {
        let mut scene = Scene::begin();
        for content in 1..=250 {
            scene.write_with_event(content);
            scene.pass(10);
        }
        scene.pass(10_000);
        assert_eq!(scene.reported, [(1000, 100), (2000, 200), (2590, 250)]);
    }

    #[test]
    fn a_half_written_file_and_the_whole_one_are_both_reported() {
        let mut scene = Scene::begin();
        scene.write_with_event(1);
        scene.pass(300);
        scene.write_with_event(2);
        scene.pass(10_000);
        assert_eq!(scene.reported, [(100, 1), (400, 2)]);
    }

    #[test]
    fn content_that_is_as_before_is_not_reported() {
        let mut scene = Scene::begin();
        scene.write_with_event(1);
        scene.pass(50);
        scene.write_with_event(0);
        scene.pass(10_000);
        scene.debounce.note_event(scene.now);
        scene.pass(10_000);
        assert_eq!(scene.reported, []);
    }

    #[test]
    fn a_change_without_an_event_is_reported_when_two_looks_agree() {
        let mut scene = Scene::begin();
        scene.write(1);
        scene.pass(2050);
        scene.write(2);
        scene.pass(10_000);
        assert_eq!(scene.reported, [(2200, 2)]);
    }

    #[test]
    fn a_steady_stream_without_events_is_reported_too() {
        let mut scene = Scene::begin();
        for content in 1..=320 {
            scene.write(content);
            scene.pass(10);
        }
        assert_eq!(scene.reported.first().map(|(at, _)| *at), Some(3000));
    }

    #[test]
    fn a_change_is_reported_although_a_look_failed() {
        let mut scene = Scene::begin();
        scene.write_with_event(1);
        assert!(!scene.debounce.note_look(None, scene.now, scene.now + POLL));
        scene.pass(10_000);
        assert_eq!(scene.reported, [(2100, 1)]);
    }

    #[test]
    fn without_an_earlier_fingerprint_a_change_is_reported() {
        let start = Instant::now();
        let mut debounce = Debounce::new(DEBOUNCE, None, start + POLL);
        assert!(!debounce.note_look(Some(Fingerprint::Content(1)), start + POLL, start + POLL * 2));
        assert!(debounce.note_look(Some(Fingerprint::Content(1)), start + POLL + DEBOUNCE, start + POLL * 3));
    }

    #[test]
    fn extreme_debounce_times_work() {
        for time in [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(24 * 60 * 60)] {
            let now = Instant::now();
            let mut debounce = Debounce::new(time, None, now);
            debounce.note_event(now);
            assert!(debounce.next_look() >= now);
            assert!(debounce.note_look(Some(Fingerprint::Content(1)), debounce.next_look(), now));
        }
    }
}
