//! Interns strings: each distinct string is stored once and gets a number, in the order of first appearance.

use std::hash::{BuildHasher, Hasher};

use hashbrown::{DefaultHashBuilder, HashTable, hash_table};

/// The byte after each string of a [`StringPool`]. It is white space, so no token contains it.
pub(super) const SEPARATOR: u8 = b'\n';

/// Distinct folded strings in one text, one after the other.
#[derive(Debug, Default)]
pub(super) struct StringPool {
    /// Each string, followed by the separator.
    text: Vec<u8>,
    /// The offset in the text of each string, ascending.
    starts: Vec<u32>,
}

impl StringPool {
    /// Appends a string that the pool does not have yet, and gives its number.
    pub(super) fn push(&mut self, string: &[u8]) -> u32 {
        let number = to_u32(self.starts.len());
        self.starts.push(to_u32(self.text.len()));
        self.text.extend_from_slice(string);
        self.text.push(SEPARATOR);
        number
    }

    pub(super) fn shrink_to_fit(&mut self) {
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
        &self.text[self.starts[number as usize] as usize..self.end(number) - 1]
    }

    /// The offset in the text of each string, ascending.
    pub(super) fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// The number of the string that the byte at an offset of the text belongs to.
    pub(super) fn number_at(&self, offset: usize) -> u32 {
        to_u32(self.starts.partition_point(|start| *start as usize <= offset) - 1)
    }

    /// The offset behind the separator of a string.
    pub(super) fn end(&self, number: u32) -> usize {
        self.starts.get(number as usize + 1).map_or(self.text.len(), |next| *next as usize)
    }
}

/// Numbers strings and collects them in a [`StringPool`].
#[derive(Debug, Default)]
pub(super) struct Interner {
    strings: StringPool,
    /// The strings of at most 16 bytes, which most are. They are compared without reading the pool.
    short: HashTable<Short>,
    /// The other strings. Each hash is stored, so that growing the table does not read the pool.
    long: HashTable<(Entry, u64)>,
    // Seeded at random, so that no file can be written whose tokens collide.
    hasher: DefaultHashBuilder,
}

#[derive(Debug)]
struct Short {
    packed: Packed,
    entry: Entry,
}

/// What the interner stores for a string.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) number: u32,
    /// A value that the caller may set for its own use; at first `u32::MAX`.
    pub(super) note: u32,
}

impl Entry {
    fn new(number: u32) -> Self {
        Self { number, note: u32::MAX }
    }
}

impl Interner {
    /// The number of a string. A string that was not interned before gets the next number.
    pub(super) fn intern(&mut self, string: &[u8]) -> u32 {
        self.entry(string).number
    }

    /// The entry of a string, as [`intern`](Self::intern) makes it.
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

    /// The strings, without the tables that are only needed to intern more of them.
    pub(super) fn finish(self) -> StringPool {
        let mut strings = self.strings;
        strings.shrink_to_fit();
        strings
    }
}

/// A string of at most 16 bytes: its first and its last bytes, which may overlap, and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Packed {
    first: u64,
    last: u64,
    length: u32,
}

impl Packed {
    /// `None` for a string of more than 16 bytes.
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
        // The length fits into the upper five bits, in which strings with the same first bytes seldom
        // differ otherwise.
        hasher.write_u64(self.last ^ u64::from(self.length) << 59);
        hasher.finish()
    }
}

/// A number or an offset within a segment, in 32 bits.
///
/// # Panics
/// When it does not fit, which the limits of a segment rule out.
pub(super) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).expect("segments are cut so that 32 bits number everything in them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn a_string_keeps_the_number_of_its_first_appearance() {
        let mut interner = Interner::default();
        let long = [b'x'; 40];
        for (string, number) in
            [(&b"A"[..], 0), (b"B", 1), (b"A", 0), (&long, 2), (b"", 3), (&long, 2), (b"", 3), (b"B", 1)]
        {
            assert_eq!(interner.intern(string), number, "{string:?}");
        }
        let pool = interner.finish();
        assert_eq!(pool.len(), 4);
        assert_eq!(pool.get(0), b"A");
        assert_eq!(pool.get(2), long);
        assert_eq!(pool.get(3), b"");
    }

    #[test]
    fn a_note_stays_with_its_string() {
        let mut interner = Interner::default();
        for string in [&b"SHORT"[..], &[b'y'; 17]] {
            assert_eq!(interner.entry(string).note, u32::MAX);
            interner.entry(string).note = 7;
            assert_eq!(interner.entry(string).note, 7);
        }
    }

    #[test]
    fn strings_that_differ_only_in_length_or_in_one_byte_are_told_apart() {
        let mut interner = Interner::default();
        let mut expected = 0;
        // 3, 4, 7, 8, 16 and 17 bytes are where strings begin to be packed in another way.
        for length in 0..20 {
            let zeros = vec![0_u8; length];
            assert_eq!(interner.intern(&zeros), expected);
            expected += 1;
            for at in 0..length {
                let mut other = zeros.clone();
                other[at] = b'A';
                assert_eq!(interner.intern(&other), expected, "byte {at} of {length}");
                expected += 1;
            }
        }
    }

    #[test]
    fn every_offset_of_the_text_belongs_to_a_string() {
        let mut pool = StringPool::default();
        for string in [&b"AB"[..], b"C", b"DEF"] {
            pool.push(string);
        }
        assert_eq!(pool.text(), b"AB\nC\nDEF\n");
        assert_eq!(pool.starts(), [0, 3, 5]);
        let numbers: Vec<u32> = (0..pool.text().len()).map(|offset| pool.number_at(offset)).collect();
        assert_eq!(numbers, [0, 0, 0, 1, 1, 2, 2, 2, 2]);
        assert_eq!((pool.end(0), pool.end(2)), (3, 9));
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_a_map(
            strings in prop::collection::vec("[ab]{0,3}|[ab]{7,9}|a{15,18}b?", 0..60),
        ) {
            let mut interner = Interner::default();
            let mut map: HashMap<&str, u32> = HashMap::new();
            for string in &strings {
                let next = to_u32(map.len());
                let expected = *map.entry(string).or_insert(next);
                prop_assert_eq!(interner.intern(string.as_bytes()), expected);
            }
            let pool = interner.finish();
            prop_assert_eq!(pool.len(), map.len());
            for string in &strings {
                prop_assert_eq!(pool.get(map[string.as_str()]), string.as_bytes());
            }
        }
    }
}
