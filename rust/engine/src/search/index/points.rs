//! What an occurrence of a term is worth, in points: by where it stands in a word (V4).

use memchr::memmem;

use crate::text::script::{is_spaceless, is_word_char};

/// Points of an occurrence that is a whole word, or that stands in a script without spaces.
pub(crate) const WHOLE: u8 = 8;
/// Points of an occurrence that a longer word begins with.
const BEGINNING: u8 = 5;
/// Points of an occurrence anywhere else in a word.
const INSIDE: u8 = 2;
/// Points of a word that begins with the stem of the term, but not with the term.
pub(crate) const STEM: u8 = 1;

/// What the occurrences of a term in one string are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Points {
    /// Whether the term itself is there, and not only its stem.
    pub(super) has_term: bool,
    /// The sum of all occurrences in a body, at most 255.
    pub(super) body: u8,
}

impl Points {
    /// One occurrence inside a word.
    pub(super) const INSIDE: Self = Self { has_term: true, body: INSIDE };

    /// The points of a string that is a whole word this many times.
    pub(super) fn whole(times: u8) -> Self {
        Self { has_term: true, body: times.saturating_mul(WHOLE) }
    }

    fn add_term(&mut self, points: u8) {
        self.has_term = true;
        self.body = self.body.saturating_add(points);
    }

    fn add_stem(&mut self) {
        self.body = self.body.saturating_add(STEM);
    }
}

/// Finds the points of a term in strings. Occurrences do not overlap: the next one begins behind the last.
pub(super) struct PointsOf<'term> {
    term: &'term str,
    stem: Option<&'term str>,
    find_term: memmem::Finder<'term>,
    find_stem: Option<memmem::Finder<'term>>,
    /// Whether the term can begin, and end, where the word around it goes on: its first, or last, character
    /// is none of a word, or of a script without spaces.
    begins_anywhere: bool,
    ends_anywhere: bool,
}

impl<'term> PointsOf<'term> {
    pub(super) fn term(term: &'term str, stem: Option<&'term str>) -> Self {
        Self {
            term,
            stem,
            find_term: memmem::Finder::new(term),
            find_stem: stem.map(memmem::Finder::new),
            begins_anywhere: term.chars().next().is_none_or(ends_words),
            ends_anywhere: term.chars().next_back().is_none_or(ends_words),
        }
    }

    /// The points of a string.
    pub(super) fn within(&self, string: &[u8]) -> Points {
        let mut points = Points::default();
        let mut from = 0;
        while points.body < u8::MAX
            && let Some(at) = self.find_term.find(&string[from..])
        {
            let start = from + at;
            from = start + self.term.len();
            let begins = self.begins_anywhere || last_char(&string[..start]).is_none_or(ends_words);
            let ends = || self.ends_anywhere || first_char(&string[from..]).is_none_or(ends_words);
            points.add_term(match begins {
                true if ends() => WHOLE,
                true => BEGINNING,
                false => INSIDE,
            });
        }
        if let (Some(stem), Some(finder)) = (self.stem, &self.find_stem) {
            let mut from = 0;
            while points.body < u8::MAX
                && let Some(at) = finder.find(&string[from..])
            {
                let start = from + at;
                from = start + stem.len();
                if !string[start..].starts_with(self.term.as_bytes())
                    && last_char(&string[..start]).is_none_or(ends_words)
                {
                    points.add_stem();
                }
            }
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
    let start =
        (1..=bytes.len().min(4)).map(|back| bytes.len() - back).find(|at| bytes[*at] & 0xc0 != 0x80)?;
    str::from_utf8(&bytes[start..]).ok()?.chars().next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_occurrence_is_worth_what_its_place_in_the_word_is() {
        for (term, string, has_term, body) in [
            ("ART", "ART", true, WHOLE),
            ("ART", "ARTS", true, BEGINNING),
            ("ART", "START", true, INSIDE),
            ("ART", "«ART»ART’S—STARTART", true, 2 * WHOLE + 2 * INSIDE),
            ("ART", "ABC", false, 0),
            (".NET", "ASP.NET", true, WHOLE),
            ("C++", "C++11", true, WHOLE),
            ("漢字", "用漢字漢字的", true, 2 * WHOLE),
            ("AA", "AAAAA", true, BEGINNING + INSIDE),
            ("API", "用API的", true, WHOLE),
            ("É", "CAFÉ", true, INSIDE),
        ] {
            let points = PointsOf::term(term, None).within(string.as_bytes());
            assert_eq!(points, Points { has_term, body }, "{term} in {string}");
        }
        let many = PointsOf::term("A-", None).within("A-".repeat(500).as_bytes());
        assert_eq!(many, Points { has_term: true, body: 255 });
    }

    #[test]
    fn a_word_that_begins_with_the_stem_only_is_worth_little() {
        for (string, has_term, body) in [
            ("POLICY", true, WHOLE),
            ("POLICIES", false, STEM),
            ("POLICE—POLICYS", true, STEM + BEGINNING),
            ("APOLICE", false, 0),
            ("POLI", false, STEM),
        ] {
            let points = PointsOf::term("POLICY", Some("POLI")).within(string.as_bytes());
            assert_eq!(points, Points { has_term, body }, "{string}");
        }
    }
}
