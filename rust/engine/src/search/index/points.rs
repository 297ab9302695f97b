//! What an occurrence of a term is worth, in points: by where it stands in a word (V4).

use memchr::memmem;

use crate::text::script::{is_spaceless, is_word_char};

/// Points of an occurrence that is a whole word, or that stands in a script without spaces.
pub(crate) const WHOLE: u8 = 4;
/// Points of an occurrence at the beginning of a word that goes on with at most [`ENDING`] characters.
const STEM: u8 = 3;
/// Points of an occurrence at the beginning of a longer word.
const BEGINNING: u8 = 2;
/// Points of an occurrence anywhere else in a word.
const INSIDE: u8 = 1;
/// Points of an occurrence inside a word, or at its end, in a short field.
const INSIDE_SHORT: u8 = 3;
/// A word with an ending of at most this many characters is taken for a form of the term.
const ENDING: usize = 3;
/// A body has at most this many points: 63 whole words.
pub(super) const MAX_POINTS: u8 = 252;

/// What the occurrences of a term in one string are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Points {
    /// Those of the best occurrence in a title, or in tags and description.
    pub(super) short: u8,
    /// The sum of all occurrences in a body, at most 255.
    pub(super) body: u8,
}

impl Points {
    /// One occurrence inside a word.
    pub(super) const INSIDE: Self = Self { short: INSIDE_SHORT, body: INSIDE };

    /// The points of a string that is a whole word this many times.
    pub(super) fn whole(times: u8) -> Self {
        Self { short: WHOLE, body: times.saturating_mul(WHOLE) }
    }

    fn add(&mut self, short: u8, body: u8) {
        self.short = self.short.max(short);
        self.body = self.body.saturating_add(body);
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
        while points.body < u8::MAX
            && let Some(at) = self.finder.find(&string[from..])
        {
            let start = from + at;
            from = start + self.length;
            let begins = self.begins_anywhere || last_char(&string[..start]).is_none_or(ends_words);
            let ending = if self.ends_anywhere { 0 } else { ending(&string[from..]) };
            match (begins, ending) {
                (true, 0) => points.add(WHOLE, WHOLE),
                (true, 1..=ENDING) => points.add(WHOLE, STEM),
                (true, _) => points.add(WHOLE, BEGINNING),
                (false, _) => points.add(INSIDE_SHORT, INSIDE),
            }
        }
        points
    }
}

/// How many characters of a word follow, at most one more than [`ENDING`].
fn ending(mut rest: &[u8]) -> usize {
    let mut count = 0;
    while count <= ENDING
        && let Some(c) = first_char(rest)
        && !ends_words(c)
    {
        count += 1;
        rest = &rest[c.len_utf8()..];
    }
    count
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
    let start =
        (1..=bytes.len().min(4)).map(|back| bytes.len() - back).find(|at| bytes[*at] & 0xc0 != 0x80)?;
    str::from_utf8(&bytes[start..]).ok()?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_occurrence_is_worth_what_its_place_in_the_word_is() {
        for (term, string, short, body) in [
            ("ART", "ART", WHOLE, WHOLE),
            ("ART", "ARTS", WHOLE, STEM),
            ("ART", "ARTISAN", WHOLE, BEGINNING),
            ("ART", "START", INSIDE_SHORT, INSIDE),
            ("ART", "«ART»ART’S—STARTART", WHOLE, 2 * WHOLE + 2 * INSIDE),
            ("ART", "ABC", 0, 0),
            (".NET", "ASP.NET", WHOLE, WHOLE),
            ("C++", "C++11", WHOLE, WHOLE),
            ("漢字", "用漢字漢字的", WHOLE, 2 * WHOLE),
            ("AA", "AAAAA", WHOLE, STEM + INSIDE),
            ("API", "用API的", WHOLE, WHOLE),
            ("É", "CAFÉ", INSIDE_SHORT, INSIDE),
            ("É", "ÉÉÉÉÉ", WHOLE, BEGINNING + 4 * INSIDE),
        ] {
            let points = PointsOf::term(term).within(string.as_bytes());
            assert_eq!(points, Points { short, body }, "{term} in {string}");
        }
        let many = PointsOf::term("A-").within("A-".repeat(500).as_bytes());
        assert_eq!(many, Points { short: WHOLE, body: 255 });
    }
}
