//! Whether the stamp of a file that was read tells of every later change (F1).
//!
//! File systems count time in steps, some of two seconds. A file that changes again within the step in which it
//! was read keeps its stamp. It is therefore read again until the step is surely past.
//!
//! What counts is the time of the last change, `ctime`, which no program can set. It is stamped by the clock of
//! the file system, which is not always the clock of this machine: that of a server may be hours ahead, or
//! behind. How late it is there cannot be told from here. That the same stamp was met some time ago can: since
//! then the server's clock has moved on too.

use std::time::{Duration, Instant as Moment, SystemTime, UNIX_EPOCH};

use crate::disk::stamp::Stamp;

/// Longer than any file system in use takes to count on.
const STEP: Duration = Duration::from_secs(2);

/// What is known of the stamp of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Whatever changes the file from now on changes the stamp too.
    Full,
    /// A change may leave it as it is. It was met at this time for the first time.
    MetAt(Moment),
}

/// The time, by the two clocks of this machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// What time it is, in nanoseconds since the epoch. It may be set.
    pub(crate) wall: i128,
    /// It only goes forward, by seconds as long as those of everybody else.
    pub(crate) steady: Moment,
}

impl Now {
    pub(crate) fn read() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { wall: i128::try_from(since.as_nanos()).unwrap_or(i128::MAX), steady: Moment::now() }
    }
}

/// When a file was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading {
    /// Some time before it was opened.
    pub(crate) begun: Now,
    /// Some time after.
    pub(crate) ended: Moment,
    /// Whether its file system stamps by the clock of this machine.
    pub(crate) our_clock: bool,
}

impl Reading {
    /// What is known of a stamp that was `settled`: the same before the first byte was read and after the last.
    /// `before` is what was known of this very stamp, if it was met already.
    pub(crate) fn judge(self, stamp: &Stamp, settled: bool, before: Option<Trust>) -> Trust {
        let met_at = match before {
            Some(Trust::MetAt(moment)) => moment,
            Some(Trust::Full) | None => self.ended,
        };
        let since_met = self.begun.steady.saturating_duration_since(met_at);
        let step = i128::try_from(STEP.as_nanos()).unwrap_or(i128::MAX);
        let is_past = self.our_clock && stamp.changed() + step < self.begun.wall;
        if settled && (is_past || since_met > STEP) { Trust::Full } else { Trust::MetAt(met_at) }
    }
}

#[cfg(test)]
mod tests {
    use std::{ffi::CString, fs};

    use super::*;
    use crate::disk::fence::Fence;

    const SECOND: Duration = Duration::from_secs(1);
    const HOUR: i128 = 3_600_000_000_000;

    /// The stamp of a file that was written just now.
    fn stamp() -> Stamp {
        let directory = tempfile::tempdir().expect("a directory to play in");
        fs::write(directory.path().join("a.md"), "text").expect("a file in it");
        let root = Fence::new(directory.path(), directory.path())
            .and_then(|fence| fence.enter(".").map_err(|breach| std::io::Error::other(breach.reason)));
        let name = CString::new("a.md").expect("it holds no NUL");
        let stat = rustix::fs::statat(
            &root.expect("it can be entered").handle,
            &*name,
            rustix::fs::AtFlags::empty(),
        );
        Stamp::of(&stat.expect("the file is there"))
    }

    /// A reading that takes half a second and begins when this machine is so late, so many seconds after `start`.
    fn reading(wall: i128, our_clock: bool, start: Moment, after: Duration) -> Reading {
        let steady = start + after;
        Reading { begun: Now { wall, steady }, ended: steady + SECOND / 2, our_clock }
    }

    #[test]
    fn by_our_clock_a_stamp_is_trusted_when_its_step_is_past() {
        let (stamp, start) = (stamp(), Moment::now());
        let at = |wall| reading(wall, true, start, SECOND).judge(&stamp, true, None);
        assert_eq!(at(stamp.changed() + 2_000_000_001), Trust::Full);
        let met = Trust::MetAt(start + SECOND * 3 / 2);
        assert_eq!(at(stamp.changed() + 2_000_000_000), met);
        assert_eq!(at(stamp.changed() - HOUR), met, "the clock was set back");
    }

    #[test]
    fn by_another_clock_the_time_here_says_nothing() {
        let (stamp, start) = (stamp(), Moment::now());
        for wall in [stamp.changed() - HOUR, stamp.changed(), stamp.changed() + HOUR, i128::MAX] {
            let trust = reading(wall, false, start, SECOND).judge(&stamp, true, None);
            assert_eq!(trust, Trust::MetAt(start + SECOND * 3 / 2), "{wall}");
        }
    }

    #[test]
    fn a_stamp_that_was_met_long_ago_is_trusted_whatever_the_clocks_say() {
        let (stamp, start) = (stamp(), Moment::now());
        for (wall, our_clock) in [(0, true), (0, false), (i128::MAX, false)] {
            let met = Trust::MetAt(start);
            let after = |after| reading(wall, our_clock, start, after).judge(&stamp, true, Some(met));
            assert_eq!(after(Duration::ZERO), met);
            assert_eq!(after(SECOND * 2), met, "a file that was changed now may have the stamp still");
            assert_eq!(after(SECOND * 2 + Duration::from_nanos(1)), Trust::Full);
            assert_eq!(after(SECOND * 3600), Trust::Full);
        }
    }

    #[test]
    fn a_stamp_that_changed_while_the_file_was_read_is_not_trusted() {
        let (stamp, start) = (stamp(), Moment::now());
        let met = Trust::MetAt(start);
        let trust = reading(i128::MAX, true, start, SECOND * 9).judge(&stamp, false, Some(met));
        assert_eq!(trust, met);
    }
}
