//! Points in time, as documents write them (L2).

use std::{
    borrow::Cow,
    time::{SystemTime, UNIX_EPOCH},
};

use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

const NANOS_PER_MICRO: i128 = 1_000;
const NANOS_PER_SECOND: i128 = 1_000_000_000;
const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND;

/// Where counting starts.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A point in time: nanoseconds since 1970 began in UTC.
///
/// The type is wide enough for any year a document can name plus any number of days a `u64` can
/// hold, so no arithmetic here can overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Instant(i128);

impl Instant {
    /// The time by the system's clock; before 1970, the beginning of 1970.
    #[must_use]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Instant::from_micros(i64::try_from(since.as_micros()).unwrap_or(i64::MAX))
    }

    /// The instant `micros` microseconds after 1970 began in UTC; before, if negative.
    #[must_use]
    pub fn from_micros(micros: i64) -> Self {
        Instant(i128::from(micros) * NANOS_PER_MICRO)
    }

    /// The same time of day, `days` days of 24 hours later.
    #[must_use]
    pub fn plus_days(self, days: u64) -> Self {
        Instant(self.0 + i128::from(days) * NANOS_PER_DAY)
    }

    /// Reads an ISO 8601 instant (L2); `None` if `text` is anything else.
    ///
    /// A date and a time with an offset are that instant, without one they are UTC, and a bare
    /// `YYYY-MM-DD` is midnight UTC. White space around the text does not count, nor does a space before the
    /// offset. A time zone
    /// annotation (`[Europe/Paris]`) is refused: what it means changes with the rules of the zone.
    ///
    /// ```
    /// use okf_engine::Instant;
    ///
    /// let midnight = Instant::parse("2026-07-01").expect("a date");
    /// assert_eq!(Instant::parse("2026-07-01T02:00:00+02:00"), Some(midnight));
    /// assert_eq!(Instant::parse("next summer"), None);
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        // Annotations of other kinds may be critical, so none is passed over.
        if text.contains('[') {
            return None;
        }
        let text = without_space_before_offset(text);
        let pieces = Pieces::parse(&*text).ok()?;
        let time = match pieces.time() {
            Some(time) => time,
            None if is_extended_date(&text) => Time::midnight(),
            None => return None,
        };
        let offset = pieces.to_numeric_offset().map_or(0, Offset::seconds);
        if offset.unsigned_abs() >= 86_400 {
            return None;
        }
        // Not by way of a time stamp type: those end before 9999-12-31, which people write for "never".
        Some(Instant(utc(pieces.date(), time) - i128::from(offset) * NANOS_PER_SECOND))
    }
}

/// The text without one space that stands between a time and an offset.
fn without_space_before_offset(text: &str) -> Cow<'_, str> {
    match text.rsplit_once(' ') {
        // Of two that stand there, one is left, and is not understood.
        Some((time, offset)) if time.contains(':') && offset.starts_with(['+', '-', 'Z', 'z']) => {
            Cow::Owned(format!("{time}{offset}"))
        }
        _ => Cow::Borrowed(text),
    }
}

/// Whether a text that is known to be a date is `YYYY-MM-DD`; `YYYYMMDD` is as likely a number.
fn is_extended_date(text: &str) -> bool {
    text.len() == "YYYY-MM-DD".len()
}

/// Nanoseconds from the epoch to a time of day in UTC.
fn utc(date: Date, time: Time) -> i128 {
    date.to_datetime(time).duration_since(EPOCH).as_nanos()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-07-01T00:00:00Z in seconds since the epoch.
    const MIDNIGHT: i64 = 1_782_864_000;

    fn seconds(text: &str) -> Option<i64> {
        let Instant(nanos) = Instant::parse(text)?;
        Some(i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).unwrap())
    }

    #[test]
    fn texts_that_are_instants() {
        for (name, text, expected) in [
            ("bare date", "2026-07-01", MIDNIGHT),
            ("before the epoch", "1969-12-31T23:59:59Z", -1),
            ("Z", "2026-07-01T01:02:03Z", MIDNIGHT + 3_723),
            ("lower case", "2026-07-01t01:02:03z", MIDNIGHT + 3_723),
            ("no offset", "2026-07-01T01:02:03", MIDNIGHT + 3_723),
            ("space", "2026-07-01 01:02:03", MIDNIGHT + 3_723),
            ("space and offset", "2026-07-01 01:02:03+01:00", MIDNIGHT + 123),
            ("no seconds", "2026-07-01T01:02", MIDNIGHT + 3_720),
            ("no minutes", "2026-07-01T01", MIDNIGHT + 3_600),
            ("offset +01:00", "2026-07-01T01:00:00+01:00", MIDNIGHT),
            ("offset +0100", "2026-07-01T01:00:00+0100", MIDNIGHT),
            ("offset +01", "2026-07-01T01:00:00+01", MIDNIGHT),
            ("offset after a space", "2026-07-01T01:00:00 +01:00", MIDNIGHT),
            ("spaces everywhere", "2026-07-01 01:00 +0100", MIDNIGHT),
            ("space and Z", "2026-07-01 00:00:00 Z", MIDNIGHT),
            ("space and z", "2026-07-01 00:00:00.000 z", MIDNIGHT),
            ("space and west", "2026-06-30 18:30:00 -05:30", MIDNIGHT),
            ("offset -05:30", "2026-06-30T18:30:00-05:30", MIDNIGHT),
            ("offset -00:00", "2026-07-01T00:00:00-00:00", MIDNIGHT),
            ("largest offset", "2026-07-01T23:59:00+23:59", MIDNIGHT),
            ("basic format", "20260701T010203Z", MIDNIGHT + 3_723),
            ("comma", "2026-07-01T00:00:00,5Z", MIDNIGHT),
            ("leap second", "2016-12-31T23:59:60Z", 1_483_228_799),
            ("white space around", " \t2026-07-01\u{3000}", MIDNIGHT),
            ("first year", "0000-01-01", -62_167_219_200),
            ("last day", "9999-12-31T23:59:59Z", 253_402_300_799),
            ("last day, west", "9999-12-31T23:59:59-23:59", 253_402_387_139),
        ] {
            assert_eq!(seconds(text), Some(expected), "{name}: {text:?}");
        }
    }

    #[test]
    fn texts_that_are_not_instants() {
        for (name, text) in [
            ("nothing", ""),
            ("white space", "  "),
            ("free text", "next summer"),
            ("a word in front", "after 2026-07-01"),
            ("a word behind", "2026-07-01 maybe"),
            ("month 13", "2026-13-01"),
            ("month 0", "2026-00-01"),
            ("day 31 in June", "2026-06-31"),
            ("29 February in a common year", "2026-02-29"),
            ("hour 25", "2026-07-01T25:00:00Z"),
            ("hour 24", "2026-07-01T24:00:00Z"),
            ("minute 60", "2026-07-01T00:60:00Z"),
            ("time alone", "12:30:00"),
            ("time alone with T", "T12:30:00Z"),
            ("year alone", "2026"),
            ("year and month", "2026-07"),
            ("digits", "20260701"),
            ("signed year, no time", "+002026-07-01"),
            ("slashes", "2026/07/01"),
            ("American order", "07-01-2026"),
            ("one-digit month", "2026-7-1"),
            ("week date", "2026-W27-3"),
            ("day of year", "2026-182"),
            ("date and offset", "2026-07-01Z"),
            ("separator without time", "2026-07-01T"),
            ("offset after two spaces", "2026-07-01T00:00:00  +01:00"),
            ("offset after a tab", "2026-07-01T00:00:00\t+01:00"),
            ("offset after a space after a date", "2026-07-01 +01:00"),
            ("Z after a space after a date", "2026-07-01 Z"),
            ("offset of one digit", "2026-07-01 00:00:00 +1"),
            ("two spaces before the time", "2026-07-01  00:00:00"),
            ("space after T", "2026-07-01T 00:00:00"),
            ("German order", "31.01.2030"),
            ("offset twice", "2026-07-01T00:00:00Z +01:00"),
            ("offset of a day", "2026-07-01T00:00:00+24:00"),
            ("offset without digits", "2026-07-01T00:00:00+"),
            ("zone name", "2026-07-01T00:00:00 UTC"),
            ("zone annotation", "2026-07-01T00:00:00+02:00[Europe/Paris]"),
            ("zone annotation on a date", "2026-07-01[Europe/Paris]"),
            ("other annotation", "2026-07-01T00:00:00Z[u-ca=hebrew]"),
            ("digits of another script", "２０２６-07-01"),
            ("not ASCII", "2026-07-0é"),
            ("NUL", "2026-07-01\0"),
            ("seconds since the epoch", "1782864000"),
        ] {
            assert_eq!(Instant::parse(text), None, "{name}: {text:?}");
        }
    }

    #[test]
    fn fractions_of_seconds_count() {
        let whole = Instant::parse("2026-07-01T00:00:00Z").unwrap();
        for (text, nanos) in [
            ("2026-07-01T00:00:00.5Z", 500_000_000),
            ("2026-07-01T00:00:00.000001", 1_000),
            ("2026-07-01T00:00:00.123456789", 123_456_789),
        ] {
            assert_eq!(Instant::parse(text), Some(Instant(whole.0 + nanos)));
        }
        assert_eq!(Instant::from_micros(MIDNIGHT * 1_000_000), whole);
        assert_eq!(Instant::from_micros(-1), Instant::parse("1969-12-31T23:59:59.999999").unwrap());
    }

    #[test]
    fn days_are_added_without_overflow() {
        let start = Instant::parse("2026-06-30").unwrap();
        assert_eq!(start.plus_days(0), start);
        assert_eq!(start.plus_days(1), Instant::parse("2026-07-01").unwrap());
        let last = Instant::from_micros(i64::MAX).plus_days(u64::MAX);
        assert!(last > Instant::parse("9999-12-31").unwrap());
    }
}
