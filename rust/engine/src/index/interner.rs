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
    numbers: HashTable<u32>,
    // Seeded at random: no file can be written so that its tokens collide.
    hasher: DefaultHashBuilder,
}

impl Interner {
    /// The number of a string, which is new if it was not seen before.
    pub(super) fn number(&mut self, string: &[u8]) -> u32 {
        let Self { strings, numbers, hasher } = self;
        let hash = hasher.hash_one(string);
        if let Some(number) = numbers.find(hash, |number| strings.get(*number) == string) {
            return *number;
        }
        let number = narrow(strings.starts.len());
        strings.starts.push(narrow(strings.text.len()));
        strings.text.extend_from_slice(string);
        strings.text.push(SEPARATOR);
        numbers.insert_unique(hash, number, |number| hasher.hash_one(strings.get(*number)));
        number
    }

    pub(super) fn len(&self) -> usize {
        self.strings.len()
    }

    pub(super) fn finish(self) -> Strings {
        let mut strings = self.strings;
        strings.text.shrink_to_fit();
        strings.starts.shrink_to_fit();
        strings
    }
}

/// A number within a segment.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("segments are cut so that 32 bits number everything in them")
}
