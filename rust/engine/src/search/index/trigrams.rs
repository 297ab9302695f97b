//! Which strings contain a term, without looking at the others.

use memchr::memmem;

use super::interner::SEPARATOR;
use super::interner::Strings;
use super::rows::Rows;
use super::words::is_word_byte;

/// Looking at this much text is as quick as looking at trigrams.
const SCANNED: usize = 16 << 10;
/// There is at most one bucket for so many trigrams, so that buckets take less room than what is in them.
const TRIGRAMS_A_BUCKET: usize = 3;
/// Bytes are told apart by at most so many classes.
const MOST_CLASSES: u32 = 96;
/// Comparing may take so many times as long as looking through the whole text; files and terms can be made
/// so that it would take far longer.
const PATIENCE: usize = 4;

/// Which trigrams are listed. Every term that is asked for has to have one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listed {
    /// All.
    All,
    /// Those that no word has.
    Punctuated,
}

impl Listed {
    /// The last of the three may be the separator behind a string.
    fn has(self, three: &[u8]) -> bool {
        let [first, second, third] = [three[0], three[1], three[2]];
        let in_a_string = first != SEPARATOR && second != SEPARATOR;
        let in_a_word =
            || is_word_byte(first) && is_word_byte(second) && (is_word_byte(third) || third == SEPARATOR);
        in_a_string && (self == Listed::All || !in_a_word())
    }
}

/// Where each run of three bytes stands in the text of some strings.
///
/// The bytes are sorted into a few classes, so that three of them number a bucket: the frequent ones have a
/// class of their own, the others share one. What a bucket lists is compared with the text in any case.
#[derive(Debug)]
pub(super) struct Trigrams {
    classes: Classes,
    /// For each three classes, the positions in the text, ascending.
    buckets: Rows,
    owners: Owners,
    listed: Listed,
}

impl Trigrams {
    /// `None` for so little text that it is better scanned.
    pub(super) fn of(strings: &Strings, listed: Listed) -> Option<Self> {
        let text = strings.text();
        if text.len() <= SCANNED {
            return None;
        }
        let trigrams = text.windows(3).zip(0_u32..).filter(move |(three, _)| listed.has(three));
        let count = trigrams.clone().count();
        let fits = |classes: &u32| classes.pow(3) as usize * TRIGRAMS_A_BUCKET <= count;
        let classes = Classes::of(text, (2..=MOST_CLASSES).rev().find(fits).unwrap_or(2));
        let pairs = trigrams.map(|(three, position)| (classes.key(three), position));
        let buckets = Rows::collect(classes.count.pow(3) as usize, pairs);
        Some(Self { classes, buckets, owners: Owners::of(strings), listed })
    }

    /// How many places are looked at to find a term of at least three bytes.
    pub(super) fn effort(&self, term: &[u8]) -> usize {
        self.rarest(term).1.len()
    }

    /// The strings that contain the term, which has at least two bytes; some perhaps more than once.
    pub(super) fn containing(&self, term: &[u8], strings: &Strings) -> Vec<u32> {
        if let [first, second] = term {
            // Whatever follows; and the last byte of a string is followed by its separator.
            let first = self.classes.key(&[*first, *second, SEPARATOR]);
            return self.strings_at(term, 0, self.buckets.run(first, first + self.classes.count), strings);
        }
        let (offset, positions) = self.rarest(term);
        if positions.len().saturating_mul(term.len()) > PATIENCE * strings.text().len() {
            return scan(term, strings);
        }
        self.strings_at(term, offset, positions, strings)
    }

    /// The listed trigram of the term that is there least often: where in the term it stands, and where in
    /// the text.
    fn rarest(&self, term: &[u8]) -> (usize, &[u32]) {
        let trigrams = term.windows(3).enumerate().filter(|(_, three)| self.listed.has(three));
        let placed = trigrams.map(|(at, three)| (at, self.buckets.get(self.classes.key(three))));
        placed.min_by_key(|(_, positions)| positions.len()).unwrap_or_default()
    }

    /// The strings that contain the term so that its byte `offset` stands at one of the positions.
    fn strings_at(&self, term: &[u8], offset: usize, positions: &[u32], strings: &Strings) -> Vec<u32> {
        let (text, last) = (strings.text(), term.len() - 1);
        let mut found = Vec::new();
        for position in positions {
            let Some(start) = (*position as usize).checked_sub(offset) else { continue };
            // Most differ in the first or the last byte, which is quicker told than that all are equal.
            if text[start] == term[0]
                && text.get(start + last) == Some(&term[last])
                && text[start..=start + last] == *term
            {
                let string = self.owners.at(start);
                if found.last() != Some(&string) {
                    found.push(string);
                }
            }
        }
        found
    }
}

/// Which string each byte of the text belongs to, told without a branch.
#[derive(Debug)]
struct Owners(Vec<Block>);

/// A stretch of text of as many bytes as a word has bits.
#[derive(Debug, Clone, Copy, Default)]
struct Block {
    /// Where strings start.
    starts: u64,
    /// How many strings start before it.
    before: u32,
}

impl Owners {
    fn of(strings: &Strings) -> Self {
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

    fn at(&self, position: usize) -> u32 {
        let Block { starts, before } = self.0[position / 64];
        let until_here = starts << (63 - position % 64);
        before + until_here.count_ones() - 1
    }
}

/// Every string that contains `term`, by looking at all of them, ascending.
pub(super) fn scan(term: &[u8], strings: &Strings) -> Vec<u32> {
    let finder = memmem::Finder::new(term);
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = finder.find(&strings.text()[from..]) {
        let number = strings.at(from + at);
        found.push(number);
        from = strings.end(number);
    }
    found
}

/// Bytes in classes.
#[derive(Debug)]
struct Classes {
    of: [u8; 256],
    count: u32,
}

impl Classes {
    /// The separator is the first, so that a trigram that ends with it is the first of its kind; the rarest
    /// bytes of the text share the last.
    fn of(text: &[u8], count: u32) -> Self {
        let mut counts = [0_u32; 256];
        for byte in text {
            counts[usize::from(*byte)] += 1;
        }
        counts[usize::from(SEPARATOR)] = u32::MAX;
        let mut bytes: Vec<u8> = (0..=u8::MAX).collect();
        bytes.sort_by_key(|byte| std::cmp::Reverse(counts[usize::from(*byte)]));
        let last = u8::try_from(count - 1).unwrap_or(u8::MAX);
        let mut of = [last; 256];
        for (class, byte) in (0..last).zip(bytes) {
            of[usize::from(byte)] = class;
        }
        Self { of, count }
    }

    /// The bucket of a trigram.
    fn key(&self, three: &[u8]) -> u32 {
        three.iter().fold(0, |key, byte| key * self.count + u32::from(self.of[usize::from(*byte)]))
    }
}
