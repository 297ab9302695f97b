//! What an occurrence of a term is worth, in points: by where it stands in a word (V4).

use memchr::memmem;

use crate::text::script::{is_spaceless, is_word_char};

/// Points of an occurrence that is a whole word, or that stands in a script without spaces.
pub(crate) const WHOLE: u8 = 4;
/// Points of an occurrence that a longer word begins with.
const PREFIX: u8 = 4;
/// Points of an occurrence anywhere else in a word.
pub(super) const INSIDE: u8 = 4;
/// A body has at most this many points: 63 whole words.
pub(crate) const MAX_POINTS: u8 = 252;

/// What the occurrences of a term in one string are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Points {
    /// Those of the best occurrence. They count for a title, and for tags and description.
    pub(super) best: u8,
    /// The sum of all, at most 255. They count for a body.
    pub(super) sum: u8,
}

impl Points {
    /// The points of a string that is a whole word this many times.
    pub(super) fn whole(times: u8) -> Self {
        Self { best: WHOLE, sum: times.saturating_mul(WHOLE) }
    }

    fn add(&mut self, points: u8) {
        self.best = self.best.max(points);
        self.sum = self.sum.saturating_add(points);
    }
}

/// Finds the points of a term in strings. Occurrences do not overlap: the next one begins behind the last.
pub(super) struct PointsOf<'term> {
    finder: memmem::Finder<'term>,
    length: usize,
    /// Whether the term can begin, and end, where the word around it goes on: its first, or last, character
    /// is none of a word, or of a script without spaces.
    begins_anywhere: bool,
    ends_anywhere: bool,
}

impl<'term> PointsOf<'term> {
    pub(super) fn term(term: &'term str) -> Self {
        Self {
            finder: memmem::Finder::new(term),
            length: term.len(),
            begins_anywhere: term.chars().next().is_none_or(ends_words),
            ends_anywhere: term.chars().next_back().is_none_or(ends_words),
        }
    }

    /// The points of a string.
    pub(super) fn within(&self, string: &[u8]) -> Points {
        let mut points = Points::default();
        let mut from = 0;
        while points.sum < u8::MAX
            && let Some(at) = self.finder.find(&string[from..])
        {
            let start = from + at;
            from = start + self.length;
            let begins = self.begins_anywhere || last_char(&string[..start]).is_none_or(ends_words);
            let ends = self.ends_anywhere || first_char(&string[from..]).is_none_or(ends_words);
            points.add(match (begins, ends) {
                (true, true) => WHOLE,
                (true, false) => PREFIX,
                _ => INSIDE,
            });
        }
        points
    }
}

/// Whether a word ends before this character.
fn ends_words(c: char) -> bool {
    !is_word_char(c) || is_spaceless(c)
}

fn first_char(bytes: &[u8]) -> Option<char> {
    let length = bytes.len().min(4);
    let chunk = bytes[..length].utf8_chunks().next()?;
    chunk.valid().chars().next()
}

fn last_char(bytes: &[u8]) -> Option<char> {
    let start = (1..=bytes.len().min(4)).map(|back| bytes.len() - back).find(|at| bytes[*at] & 0xc0 != 0x80)?;
    str::from_utf8(&bytes[start..]).ok()?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_occurrence_is_worth_what_its_place_in_the_word_is() {
        for (term, string, best, sum) in [
            ("ART", "ART", WHOLE, WHOLE),
            ("ART", "ARTS", PREFIX, PREFIX),
            ("ART", "START", INSIDE, INSIDE),
            ("ART", "«ART»ART’S—STARTART", WHOLE, 2 * WHOLE + 2 * INSIDE),
            ("ART", "ABC", 0, 0),
            (".NET", "ASP.NET", WHOLE, WHOLE),
            ("C++", "C++11", WHOLE, WHOLE),
            ("漢字", "用漢字漢字的", WHOLE, 2 * WHOLE),
            ("AA", "AAAAA", PREFIX, PREFIX + INSIDE),
            ("API", "用API的", WHOLE, WHOLE),
            ("É", "CAFÉ", INSIDE, INSIDE),
        ] {
            let points = PointsOf::term(term).within(string.as_bytes());
            assert_eq!(points, Points { best, sum }, "{term} in {string}");
        }
        let many = PointsOf::term("A-").within("A-".repeat(500).as_bytes());
        assert_eq!(many, Points { best: WHOLE, sum: 255 });
    }
}
