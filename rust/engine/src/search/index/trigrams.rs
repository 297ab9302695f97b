//! A trigram index: finds the strings that contain a term without reading the others.

#[cfg(test)]
mod tests;

use memchr::memmem;

use super::{
    interner::{SEPARATOR, StringPool},
    packed_lists::PackedLists,
    words::is_word_byte,
};

/// Texts of at most this many bytes get no trigram index: scanning them is as fast.
const MAX_SCANNED_BYTES: usize = 16 << 10;
/// There are at least this many trigrams for each bucket, so that the table of buckets takes less memory than
/// what the buckets hold.
const TRIGRAMS_PER_BUCKET: usize = 3;
/// Bytes are divided into at most this many classes. There is a bucket for each three classes.
const MAX_CLASSES: u32 = 96;
/// A term is searched with a scan if comparing it at each offset of its rarest trigram might read more than
/// this many times the whole text. Files and terms can be made so that comparing would take far longer.
const MAX_COMPARED_TO_TEXT: usize = 4;

/// Which trigrams are indexed. Every term that is looked for must contain one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Indexed {
    /// All trigrams.
    All,
    /// Trigrams that contain a byte of punctuation: no word contains them.
    WithPunctuation,
}

impl Indexed {
    /// Whether a trigram is indexed. Its last byte may be the separator after a string.
    fn has(self, trigram: &[u8]) -> bool {
        let [first, second, third] = [trigram[0], trigram[1], trigram[2]];
        let in_a_string = first != SEPARATOR && second != SEPARATOR;
        let in_a_word =
            || is_word_byte(first) && is_word_byte(second) && (is_word_byte(third) || third == SEPARATOR);
        in_a_string && (self == Indexed::All || !in_a_word())
    }
}

/// The offsets of each trigram in the text of some strings.
///
/// To keep the table small, bytes are divided into classes, and a bucket holds the offsets of all trigrams
/// with the same three classes: each frequent byte has a class of its own, all others share one. A bucket
/// may therefore hold offsets of other trigrams. Every offset is compared with the text in any case.
#[derive(Debug)]
pub(super) struct Trigrams {
    classes: ByteClasses,
    /// For each three classes, the offsets in the text, ascending.
    buckets: PackedLists,
    string_numbers: StringNumbers,
    indexed: Indexed,
}

impl Trigrams {
    /// `None` for a text that is short enough to be scanned.
    pub(super) fn of(strings: &StringPool, indexed: Indexed) -> Option<Self> {
        let text = strings.text();
        if text.len() <= MAX_SCANNED_BYTES {
            return None;
        }
        let trigrams = text.windows(3).zip(0_u32..).filter(move |(trigram, _)| indexed.has(trigram));
        let count = trigrams.clone().count();
        let fits = |classes: &u32| classes.pow(3) as usize * TRIGRAMS_PER_BUCKET <= count;
        let classes = ByteClasses::of(text, (2..=MAX_CLASSES).rev().find(fits).unwrap_or(2));
        let pairs = trigrams.map(|(trigram, offset)| (classes.bucket(trigram), offset));
        let buckets = PackedLists::from_pairs(classes.count.pow(3) as usize, pairs);
        Some(Self { classes, buckets, string_numbers: StringNumbers::of(strings), indexed })
    }

    /// How many offsets are compared to find a term of at least three bytes.
    pub(super) fn lookup_cost(&self, term: &[u8]) -> usize {
        self.rarest_trigram(term).1.len()
    }

    /// The numbers of the strings that contain a term of at least two bytes, each perhaps more than once.
    pub(super) fn containing(&self, term: &[u8], strings: &StringPool) -> Vec<u32> {
        if let [first, second] = term {
            // All trigrams that begin with the two bytes. The separator is the third byte of the first one
            // and also follows the last byte of a string.
            let first = self.classes.bucket(&[*first, *second, SEPARATOR]);
            let offsets = self.buckets.range(first, first + self.classes.count);
            return self.strings_at(term, 0, offsets, strings);
        }
        let (at, offsets) = self.rarest_trigram(term);
        if offsets.len().saturating_mul(term.len()) > MAX_COMPARED_TO_TEXT * strings.text().len() {
            return scan(term, strings);
        }
        self.strings_at(term, at, offsets, strings)
    }

    /// The indexed trigram of the term whose bucket is smallest: its offset in the term, and the bucket.
    fn rarest_trigram(&self, term: &[u8]) -> (usize, &[u32]) {
        let trigrams = term.windows(3).enumerate().filter(|(_, trigram)| self.indexed.has(trigram));
        let buckets = trigrams.map(|(at, trigram)| (at, self.buckets.get(self.classes.bucket(trigram))));
        buckets.min_by_key(|(_, offsets)| offsets.len()).unwrap_or_default()
    }

    /// The strings that contain the term so that its byte `at` lies at one of the offsets of the text.
    fn strings_at(&self, term: &[u8], at: usize, offsets: &[u32], strings: &StringPool) -> Vec<u32> {
        let (text, last) = (strings.text(), term.len() - 1);
        let mut found = Vec::new();
        for offset in offsets {
            let Some(start) = (*offset as usize).checked_sub(at) else { continue };
            // Most differ in the first or the last byte. Comparing these two first is faster.
            if text[start] == term[0]
                && text.get(start + last) == Some(&term[last])
                && text[start..=start + last] == *term
            {
                let string = self.string_numbers.at(start);
                if found.last() != Some(&string) {
                    found.push(string);
                }
            }
        }
        found
    }
}

/// The number of the string that each byte of the text belongs to: a bitmap of where strings start, which
/// counts the starts up to an offset in constant time and without a branch.
#[derive(Debug)]
struct StringNumbers(Vec<Block>);

/// 64 bytes of text.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    /// A bit for each byte at which a string starts.
    starts: u64,
    /// How many strings start before the block.
    before: u32,
}

impl StringNumbers {
    fn of(strings: &StringPool) -> Self {
        let mut blocks = vec![Block::default(); strings.text().len().div_ceil(64)];
        for start in strings.starts() {
            let start = *start as usize;
            blocks[start / 64].starts |= 1 << (start % 64);
        }
        let mut before = 0;
        for block in &mut blocks {
            block.before = before;
            before += block.starts.count_ones();
        }
        Self(blocks)
    }

    fn at(&self, offset: usize) -> u32 {
        let Block { starts, before } = self.0[offset / 64];
        let until_here = starts << (63 - offset % 64);
        before + until_here.count_ones() - 1
    }
}

/// The numbers of all strings that contain `term`, ascending, found by scanning the whole text.
pub(super) fn scan(term: &[u8], strings: &StringPool) -> Vec<u32> {
    let finder = memmem::Finder::new(term);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = finder.find(&strings.text()[from..]) {
        let number = strings.number_at(from + at);
        found.push(number);
        from = strings.end(number);
    }
    found
}

/// Bytes divided into classes.
#[derive(Debug)]
struct ByteClasses {
    class_of: [u8; 256],
    count: u32,
}

impl ByteClasses {
    /// `count` classes for the bytes of a text. The separator is class 0, so that of all trigrams that begin
    /// with the same two bytes, the one that ends with the separator has the first bucket. The rarest bytes
    /// share the last class.
    fn of(text: &[u8], count: u32) -> Self {
        let mut frequency = [0_u32; 256];
        for byte in text {
            frequency[usize::from(*byte)] += 1;
        }
        frequency[usize::from(SEPARATOR)] = u32::MAX;
        let mut bytes: Vec<u8> = (0..=u8::MAX).collect();
        bytes.sort_by_key(|byte| std::cmp::Reverse(frequency[usize::from(*byte)]));
        let last = u8::try_from(count - 1).unwrap_or(u8::MAX);
        let mut class_of = [last; 256];
        for (class, byte) in (0..last).zip(bytes) {
            class_of[usize::from(byte)] = class;
        }
        Self { class_of, count }
    }

    /// The number of a trigram's bucket.
    fn bucket(&self, trigram: &[u8]) -> u32 {
        trigram.iter().fold(0, |key, byte| key * self.count + u32::from(self.class_of[usize::from(*byte)]))
    }
}
