//! Timestamp granularity: whether the stamp of a file that was read tells of every later change (F1).
//!
//! File systems round times, some to two seconds. A file that changes twice within one such step keeps its stamp.
//! A file that was read is therefore read again until its step has certainly passed.
//!
//! What counts is the time of the last change, `ctime`, which no program can set. The clock of the file system sets
//! it, and that is not always the clock of this machine: the clock of a file server may be hours ahead or behind,
//! and nothing here tells by how much. But if the same stamp was already seen some time ago, the server's clock has
//! moved on by that time too.

use std::time::{Duration, Instant as Moment, SystemTime, UNIX_EPOCH};

use crate::disk::stamp::Stamp;

/// A stamp is trusted when it is older than this. No file system in use has coarser times.
const GRANULARITY: Duration = Duration::from_secs(2);

/// Whether the stamp of a file may be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StampTrust {
    /// Every change of the file from now on changes the stamp too.
    Full,
    /// A change may leave the stamp as it is. The stamp was first seen at this time.
    FirstSeen(Moment),
}

/// The time, by the two clocks of this machine.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// The time of day, in nanoseconds since the epoch. It may be set back.
    pub(crate) wall: i128,
    /// Monotonic.
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
    /// A time before it was opened.
    pub(crate) begun: Now,
    /// A time after the last byte was read.
    pub(crate) ended: Moment,
    /// Whether the file system uses the clock of this machine.
    pub(crate) uses_local_clock: bool,
}

impl Reading {
    /// How far a stamp may be trusted. `is_stable` says that it was the same before the first byte was read and
    /// after the last; `before` is the trust that this same stamp had, if it was seen before.
    pub(crate) fn trust(self, stamp: &Stamp, is_stable: bool, before: Option<StampTrust>) -> StampTrust {
        let first_seen = match before {
            Some(StampTrust::FirstSeen(moment)) => moment,
            Some(StampTrust::Full) | None => self.ended,
        };
        let since_first_seen = self.begun.steady.saturating_duration_since(first_seen);
        let granularity = i128::try_from(GRANULARITY.as_nanos()).unwrap_or(i128::MAX);
        let has_passed = self.uses_local_clock && stamp.changed() + granularity < self.begun.wall;
        if is_stable && (has_passed || since_first_seen > GRANULARITY) {
            StampTrust::Full
        } else {
            StampTrust::FirstSeen(first_seen)
        }
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
        let directory = tempfile::tempdir().expect("a temporary directory");
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

    /// A reading that takes half a second. It begins `after` this long since `start`, when the wall clock shows `wall`.
    fn reading(wall: i128, uses_local_clock: bool, start: Moment, after: Duration) -> Reading {
        let steady = start + after;
        Reading { begun: Now { wall, steady }, ended: steady + SECOND / 2, uses_local_clock }
    }

    #[test]
    fn by_the_local_clock_a_stamp_is_trusted_after_two_seconds() {
        let (stamp, start) = (stamp(), Moment::now());
        let at = |wall| reading(wall, true, start, SECOND).trust(&stamp, true, None);
        assert_eq!(at(stamp.changed() + 2_000_000_001), StampTrust::Full);
        let seen = StampTrust::FirstSeen(start + SECOND * 3 / 2);
        assert_eq!(at(stamp.changed() + 2_000_000_000), seen);
        assert_eq!(at(stamp.changed() - HOUR), seen, "the clock was set back");
    }

    #[test]
    fn by_another_clock_the_local_time_says_nothing() {
        let (stamp, start) = (stamp(), Moment::now());
        for wall in [stamp.changed() - HOUR, stamp.changed(), stamp.changed() + HOUR, i128::MAX] {
            let trust = reading(wall, false, start, SECOND).trust(&stamp, true, None);
            assert_eq!(trust, StampTrust::FirstSeen(start + SECOND * 3 / 2), "{wall}");
        }
    }

    #[test]
    fn a_stamp_that_was_first_seen_long_ago_is_trusted_whatever_the_clocks_say() {
        let (stamp, start) = (stamp(), Moment::now());
        for (wall, uses_local_clock) in [(0, true), (0, false), (i128::MAX, false)] {
            let seen = StampTrust::FirstSeen(start);
            let after = |after| reading(wall, uses_local_clock, start, after).trust(&stamp, true, Some(seen));
            assert_eq!(after(Duration::ZERO), seen);
            assert_eq!(after(SECOND * 2), seen, "a file that changes now may keep its stamp");
            assert_eq!(after(SECOND * 2 + Duration::from_nanos(1)), StampTrust::Full);
            assert_eq!(after(SECOND * 3600), StampTrust::Full);
        }
    }

    #[test]
    fn a_stamp_that_changed_while_the_file_was_read_is_not_trusted() {
        let (stamp, start) = (stamp(), Moment::now());
        let seen = StampTrust::FirstSeen(start);
        let trust = reading(i128::MAX, true, start, SECOND * 9).trust(&stamp, false, Some(seen));
        assert_eq!(trust, seen);
    }
}
