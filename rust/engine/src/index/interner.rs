//! Numbers distinct strings in the order in which they are first seen.

use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashTable};

/// Stands after each string. It is white space, so no token holds it.
pub(super) const SEPARATOR: u8 = b'\n';

/// Distinct folded strings, one after the other.
#[derive(Debug, Default)]
pub(super) struct Strings {
    /// Each string, followed by the separator.
    text: Vec<u8>,
    /// Where each string starts.
    starts: Vec<u32>,
}

impl Strings {
    /// Appends a string that is not there yet, and gives its number.
    pub(super) fn push(&mut self, string: &[u8]) -> u32 {
        let number = narrow(self.starts.len());
        self.starts.push(narrow(self.text.len()));
        self.text.extend_from_slice(string);
        self.text.push(SEPARATOR);
        number
    }

    pub(super) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.starts.shrink_to_fit();
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// All strings with their separators.
    pub(super) fn text(&self) -> &[u8] {
        &self.text
    }

    pub(super) fn get(&self, number: u32) -> &[u8] {
        let start = self.starts[number as usize] as usize;
        let end = self.starts.get(number as usize + 1).map_or(self.text.len(), |next| *next as usize);
        &self.text[start..end - 1]
    }

    /// The string that the byte at `position` of the text belongs to.
    pub(super) fn at(&self, position: usize) -> u32 {
        narrow(self.starts.partition_point(|start| *start as usize <= position) - 1)
    }

    /// Where the string after `number` starts.
    pub(super) fn end(&self, number: u32) -> usize {
        self.starts.get(number as usize + 1).map_or(self.text.len(), |next| *next as usize)
    }
}

/// Collects strings.
#[derive(Debug, Default)]
pub(super) struct Interner {
    strings: Strings,
    /// Each number with its hash, which spares reading the strings again when the table grows.
    numbers: HashTable<(u32, u64)>,
    // Seeded at random: no file can be written so that its tokens collide.
    hasher: DefaultHashBuilder,
}

impl Interner {
    /// The number of a string, which is new if it was not seen before.
    pub(super) fn number(&mut self, string: &[u8]) -> u32 {
        let Self { strings, numbers, hasher } = self;
        let hash = hasher.hash_one(string);
        let same = |known: &(u32, u64)| known.1 == hash && strings.get(known.0) == string;
        if let Some((number, _)) = numbers.find(hash, same) {
            return *number;
        }
        let number = strings.push(string);
        numbers.insert_unique(hash, (number, hash), |(_, hash)| *hash);
        number
    }

    pub(super) fn len(&self) -> usize {
        self.strings.len()
    }

    pub(super) fn finish(self) -> Strings {
        let mut strings = self.strings;
        strings.shrink();
        strings
    }
}

/// A number within a segment.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("segments are cut so that 32 bits number everything in them")
}
