//! Numbers distinct strings in the order in which they are first seen.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable, hash_table};

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

    /// Where each string starts, ascending.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
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
    /// Most tokens are short, and two of them are compared without looking at the text.
    short: HashTable<Short>,
    /// Each with its hash, which spares reading the strings again when the table grows.
    long: HashTable<(Entry, u64)>,
    // Seeded at random: no file can be written so that its tokens collide.
    hasher: DefaultHashBuilder,
}

#[derive(Debug)]
struct Short {
    packed: Packed,
    entry: Entry,
}

/// What is known of a string.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) number: u32,
    /// A note of whoever collects.
    pub(super) note: u32,
}

impl Entry {
    fn new(number: u32) -> Self {
        Self { number, note: u32::MAX }
    }
}

impl Interner {
    /// The number of a string, which is new if it was not seen before.
    pub(super) fn number(&mut self, string: &[u8]) -> u32 {
        self.entry(string).number
    }

    /// A string's number and note; the note of a new one is `u32::MAX`.
    pub(super) fn entry(&mut self, string: &[u8]) -> &mut Entry {
        let Self { strings, short, long, hasher } = self;
        if let Some(packed) = Packed::of(string) {
            let hash = packed.hash(hasher);
            let slot = short.entry(hash, |known| known.packed == packed, |known| known.packed.hash(hasher));
            let new = || Short { packed, entry: Entry::new(strings.push(string)) };
            return &mut slot.or_insert_with(new).into_mut().entry;
        }
        let hash = hasher.hash_one(string);
        let same = |known: &(Entry, u64)| known.1 == hash && strings.get(known.0.number) == string;
        match long.entry(hash, same, |(_, hash)| *hash) {
            hash_table::Entry::Occupied(known) => &mut known.into_mut().0,
            hash_table::Entry::Vacant(slot) => {
                &mut slot.insert((Entry::new(strings.push(string)), hash)).into_mut().0
            }
        }
    }

    pub(super) fn finish(self) -> Strings {
        let mut strings = self.strings;
        strings.shrink();
        strings
    }
}

/// A string of at most 16 bytes: two words that may overlap, and the length, which tells how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packed {
    first: u64,
    last: u64,
    length: u32,
}

impl Packed {
    fn of(string: &[u8]) -> Option<Self> {
        let (first, last) = match string.len() {
            0..4 => {
                let byte = |at: usize| string.get(at).map_or(0, |byte| u64::from(*byte));
                (byte(0) | byte(1) << 8 | byte(2) << 16, 0)
            }
            4..8 => {
                let half = |four: &[u8; 4]| u64::from(u32::from_le_bytes(*four));
                (half(string.first_chunk()?), half(string.last_chunk()?))
            }
            8..=16 => (u64::from_le_bytes(*string.first_chunk()?), u64::from_le_bytes(*string.last_chunk()?)),
            _ => return None,
        };
        Some(Self { first, last, length: u32::try_from(string.len()).ok()? })
    }

    fn hash(self, hasher: &DefaultHashBuilder) -> u64 {
        let mut hasher = hasher.build_hasher();
        hasher.write_u64(self.first);
        // The length is below 2^5, and words that share their first half seldom differ just there.
        hasher.write_u64(self.last ^ u64::from(self.length) << 59);
        hasher.finish()
    }
}

/// A number within a segment.
pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).expect("segments are cut so that 32 bits number everything in them")
}
