//! The strings of a vocabulary that have a given word of one or two bytes.
//!
//! Such a term stands in much of the vocabulary, but is a word of its own in little of it.

use super::interner::{StringPool, to_u32};
use crate::text::script::{is_spaceless, is_word_char};

/// The words of one or two bytes, each with the strings that have it.
#[derive(Debug, Default)]
pub(super) struct ShortWords {
    /// Sorted.
    words: Vec<[u8; 2]>,
    /// Where the strings of each word end.
    ends: Vec<u32>,
    /// Strings, and how often each has the word.
    strings: Vec<(u32, u8)>,
}

impl ShortWords {
    pub(super) fn of(strings: &StringPool) -> Self {
        let mut found: Vec<([u8; 2], u32)> = Vec::new();
        for number in 0..to_u32(strings.len()) {
            let string = strings.get(number);
            if string.is_ascii() {
                // A string of letters, digits and underscores is one word.
                if string.len() <= 2 {
                    found.push((key(string), number));
                }
            } else if let Ok(string) = str::from_utf8(string) {
                for_each_short_word(string, |word| found.push((key(word.as_bytes()), number)));
            }
        }
        found.sort_unstable();
        let mut this = Self::default();
        for same_word in found.chunk_by(|a, b| a.0 == b.0) {
            for same in same_word.chunk_by(|a, b| a.1 == b.1) {
                this.strings.push((same[0].1, u8::try_from(same.len()).unwrap_or(u8::MAX)));
            }
            this.words.push(same_word[0].0);
            this.ends.push(to_u32(this.strings.len()));
        }
        this
    }

    /// The strings that have a word of one or two bytes, and how often.
    pub(super) fn get(&self, word: &str) -> &[(u32, u8)] {
        let Ok(at) = self.words.binary_search(&key(word.as_bytes())) else { return &[] };
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.strings[start as usize..self.ends[at] as usize]
    }
}

/// Calls `act` for every word of one or two bytes.
fn for_each_short_word(string: &str, mut act: impl FnMut(&str)) {
    let mut start = 0;
    while start < string.len() {
        let Some(first) = string[start..].chars().next() else { return };
        let end = start + first.len_utf8();
        if first.len_utf8() > 2 || !is_word_char(first) {
            start = end;
            continue;
        }
        // A word begins here, unless the character before goes on with one.
        let is_begun = string[..start].chars().next_back().is_some_and(goes_on);
        let rest = &string[start..];
        let length = rest.char_indices().find(|(_, c)| !goes_on(*c)).map_or(rest.len(), |(at, _)| at);
        if length <= 2 && !is_begun {
            act(&rest[..length]);
        }
        start += length.max(first.len_utf8());
    }
}

/// Whether a word goes on with this character.
fn goes_on(c: char) -> bool {
    is_word_char(c) && !is_spaceless(c)
}

/// One or two bytes; a second byte of 0 if there is only one.
fn key(word: &[u8]) -> [u8; 2] {
    [word.first().copied().unwrap_or(0), word.get(1).copied().unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_word_is_found_wherever_it_stands_alone() {
        let mut pool = StringPool::default();
        for string in ["A", "AB", "ABC", "A—A’B", "用A的AB", "É", "ÉA", "한A", ""] {
            pool.push(string.as_bytes());
        }
        let words = ShortWords::of(&pool);
        assert_eq!(words.get("A"), [(0, 1), (3, 2), (4, 1)]);
        assert_eq!(words.get("AB"), [(1, 1), (4, 1)]);
        assert_eq!(words.get("B"), [(3, 1)]);
        assert_eq!(words.get("É"), [(5, 1)]);
        assert!(words.get("X").is_empty());
    }
}
