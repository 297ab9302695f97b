//! When to look at the file, and when to tell: decided on times and prints alone.

use std::time::{Duration, Instant};

use super::print::Print;

/// A steady stream of changes puts the call off for this many times the debounce, no longer.
const PATIENCE: u32 = 10;

/// What is known of the file, and since when it seems to be changing.
#[derive(Debug)]
pub(super) struct Pace {
    debounce: Duration,
    /// How the file was when it was last told of; `None` if that could not be found out.
    told: Option<Print>,
    unrest: Option<Unrest>,
    next_poll: Instant,
}

/// The file may be changing right now.
#[derive(Debug)]
struct Unrest {
    began: Instant,
    last: Instant,
    /// How the file was at `last`, if that was noticed by looking: then it must look the same once more
    /// to count as quiet. Where something was heard instead, silence is enough.
    seen: Option<Print>,
}

impl Pace {
    /// Begins with the file as it is `now`, to be looked at every so often from `next_poll` on.
    pub(super) fn new(debounce: Duration, told: Option<Print>, next_poll: Instant) -> Self {
        Self { debounce, told, unrest: None, next_poll }
    }

    /// Something was heard.
    pub(super) fn stir(&mut self, now: Instant) {
        let began = self.unrest.as_ref().map_or(now, |unrest| unrest.began);
        self.unrest = Some(Unrest { began, last: now, seen: None });
    }

    /// Whether the file may be changing.
    pub(super) fn is_stirred(&self) -> bool {
        self.unrest.is_some()
    }

    /// When to look next, unless something is heard before.
    pub(super) fn next_look(&self) -> Instant {
        match &self.unrest {
            None => self.next_poll,
            Some(unrest) => (unrest.last + self.debounce).min(self.overdue(unrest.began)),
        }
    }

    fn overdue(&self, began: Instant) -> Instant {
        began + self.debounce * PATIENCE
    }

    /// Takes in what the file looked like, and says whether to tell. `None` is a look that failed for a
    /// reason which is not the file's: the next one will do.
    pub(super) fn looked(&mut self, print: Option<Print>, now: Instant, next_poll: Instant) -> bool {
        self.next_poll = next_poll;
        let unrest = self.unrest.take();
        if print.is_none() || print == self.told {
            return false;
        }
        let Some(unrest) = unrest else {
            // It changed unheard, so that there is no telling whether it still does.
            self.unrest = Some(Unrest { began: now, last: now, seen: print });
            return false;
        };
        let quiet = unrest.seen.is_none() || unrest.seen == print;
        if quiet || now >= self.overdue(unrest.began) {
            self.told = print;
            return true;
        }
        self.unrest = Some(Unrest { last: now, seen: print, ..unrest });
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEBOUNCE: Duration = Duration::from_millis(100);
    const POLL: Duration = Duration::from_secs(2);

    /// A pace, a clock that only the test moves, and a file that holds a number.
    struct Play {
        pace: Pace,
        start: Instant,
        now: Instant,
        file: u64,
        told: Vec<(u64, u64)>,
    }

    impl Play {
        fn begin() -> Self {
            let start = Instant::now();
            let pace = Pace::new(DEBOUNCE, Some(Print::content(0)), start + POLL);
            Self { pace, start, now: start, file: 0, told: Vec::new() }
        }

        fn write(&mut self, content: u64) {
            self.file = content;
        }

        fn write_heard(&mut self, content: u64) {
            self.write(content);
            self.pace.stir(self.now);
        }

        /// Lets time pass, and looks whenever it is time to.
        fn pass(&mut self, millis: u64) {
            let end = self.now + Duration::from_millis(millis);
            while self.pace.next_look() <= end {
                self.now = self.now.max(self.pace.next_look());
                if self.pace.looked(Some(Print::content(self.file)), self.now, self.now + POLL) {
                    let at = (self.now - self.start).as_millis();
                    self.told.push((u64::try_from(at).unwrap(), self.file));
                }
            }
            self.now = end;
        }
    }

    #[test]
    fn a_change_that_was_heard_is_told_when_the_debounce_has_passed() {
        let mut play = Play::begin();
        play.pass(10);
        play.write_heard(1);
        play.pass(10_000);
        assert_eq!(play.told, [(110, 1)]);
    }

    #[test]
    fn a_burst_is_told_once_after_it() {
        let mut play = Play::begin();
        for content in 1..=9 {
            play.write_heard(content);
            play.pass(50);
        }
        play.pass(10_000);
        assert_eq!(play.told, [(8 * 50 + 100, 9)]);
    }

    #[test]
    fn a_steady_stream_is_told_every_ten_debounces() {
        let mut play = Play::begin();
        for content in 1..=250 {
            play.write_heard(content);
            play.pass(10);
        }
        play.pass(10_000);
        assert_eq!(play.told, [(1000, 100), (2000, 200), (2590, 250)]);
    }

    #[test]
    fn a_half_written_file_and_the_whole_one_are_both_told() {
        let mut play = Play::begin();
        play.write_heard(1);
        play.pass(300);
        play.write_heard(2);
        play.pass(10_000);
        assert_eq!(play.told, [(100, 1), (400, 2)]);
    }

    #[test]
    fn what_is_as_before_is_not_told() {
        let mut play = Play::begin();
        play.write_heard(1);
        play.pass(50);
        play.write_heard(0);
        play.pass(10_000);
        play.pace.stir(play.now);
        play.pass(10_000);
        assert_eq!(play.told, []);
    }

    #[test]
    fn a_change_that_was_not_heard_is_told_when_it_looks_the_same_twice() {
        let mut play = Play::begin();
        play.write(1);
        play.pass(2050);
        play.write(2);
        play.pass(10_000);
        assert_eq!(play.told, [(2200, 2)]);
    }

    #[test]
    fn a_steady_stream_that_is_not_heard_is_told_all_the_same() {
        let mut play = Play::begin();
        for content in 1..=320 {
            play.write(content);
            play.pass(10);
        }
        assert_eq!(play.told.first().map(|(at, _)| *at), Some(3000));
    }

    #[test]
    fn a_look_that_failed_is_made_up_for() {
        let mut play = Play::begin();
        play.write_heard(1);
        assert!(!play.pace.looked(None, play.now, play.now + POLL));
        play.pass(10_000);
        assert_eq!(play.told, [(2100, 1)]);
    }

    #[test]
    fn nothing_to_compare_with_means_to_tell() {
        let start = Instant::now();
        let mut pace = Pace::new(DEBOUNCE, None, start + POLL);
        assert!(!pace.looked(Some(Print::content(1)), start + POLL, start + POLL * 2));
        assert!(pace.looked(Some(Print::content(1)), start + POLL + DEBOUNCE, start + POLL * 3));
    }

    #[test]
    fn extreme_debounces_are_harmless() {
        for debounce in [Duration::ZERO, Duration::from_nanos(1), Duration::from_secs(24 * 60 * 60)] {
            let now = Instant::now();
            let mut pace = Pace::new(debounce, None, now);
            pace.stir(now);
            assert!(pace.next_look() >= now);
            assert!(pace.looked(Some(Print::content(1)), pace.next_look(), now));
        }
    }
}
