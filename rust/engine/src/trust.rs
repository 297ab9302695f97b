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

use crate::tree::Stamp;

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
