//! Which words contain a term, without looking at the others.

use super::{
    interner::{Strings, narrow},
    rows::Rows,
};
use memchr::memmem;

/// Looking at this much text is as quick as looking at trigrams.
const SCANNED: usize = 16 << 10;
/// With this few candidates left, looking at each beats another list.
const FEW: usize = 16;

/// How many values half of a trigram has.
const HALF: usize = 1 << 12;

/// For each run of three bytes, the strings that contain it.
#[derive(Debug, Default)]
pub(super) struct Trigrams {
    /// Ascending.
    keys: Vec<u32>,
    strings: Rows,
}

impl Trigrams {
    pub(super) fn of(strings: &Strings) -> Self {
        if strings.text().len() <= SCANNED {
            return Self::default();
        }
        let trigrams = (0..narrow(strings.len()))
            .flat_map(|number| strings.get(number).windows(3).map(move |trigram| (key(trigram), number)));
        // Sorted by the lower half of the trigram, then by the upper; both sorts keep the order of strings.
        let low: Vec<(u32, u32)> = trigrams.collect();
        let low = Rows::sort(HALF, &low, |key| key & (narrow(HALF) - 1));
        let mut pairs = Rows::sort(HALF, &low, |key| key >> HALF.ilog2());
        pairs.dedup();
        let mut keys: Vec<u32> = pairs.iter().map(|(key, _)| *key).collect();
        keys.dedup();
        let mut at = 0;
        let strings = Rows::build(keys.len(), |row, numbers| {
            while let Some((key, number)) = pairs.get(at)
                && *key == keys[row as usize]
            {
                numbers.push(*number);
                at += 1;
            }
        });
        Self { keys, strings }
    }

    /// The strings that contain `term`, which has at least three bytes, ascending.
    pub(super) fn containing(&self, term: &[u8], strings: &Strings) -> Vec<u32> {
        if strings.text().len() <= SCANNED {
            return scan(term, strings);
        }
        let mut lists: Vec<&[u32]> = Vec::with_capacity(term.len());
        for trigram in term.windows(3) {
            let Ok(at) = self.keys.binary_search(&key(trigram)) else { return Vec::new() };
            lists.push(self.strings.get(narrow(at)));
        }
        lists.sort_unstable_by_key(|list| list.len());
        let mut found = lists[0].to_vec();
        for list in &lists[1..] {
            if found.len() <= FEW {
                break;
            }
            intersect(&mut found, list);
        }
        if term.len() > 3 {
            let finder = memmem::Finder::new(term);
            found.retain(|number| finder.find(strings.get(*number)).is_some());
        }
        found
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

fn key(trigram: &[u8]) -> u32 {
    trigram.iter().fold(0, |key, byte| key << 8 | u32::from(*byte))
}

/// Keeps what is also in `list`; both ascend, and `found` is the shorter one.
fn intersect(found: &mut Vec<u32>, mut list: &[u32]) {
    found.retain(|wanted| {
        // Steps double, so that a long gap costs little.
        let mut step = 1;
        while list.get(step).is_some_and(|number| number < wanted) {
            step *= 2;
        }
        let within = &list[..list.len().min(step + 1)];
        list = &list[within.partition_point(|number| number < wanted)..];
        list.first() == Some(wanted)
    });
}
