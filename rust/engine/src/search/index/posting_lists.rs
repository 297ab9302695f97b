//! The posting lists of a vocabulary, with how often the body of each concept has the string.

use super::posting;

/// A string in a concept: the posting, and how often the body has the string.
pub(super) type Counted = (u32, u8);

/// A posting list for each string of a vocabulary.
#[derive(Debug, Default)]
pub(super) struct PostingLists {
    /// The list of string `i` is `postings[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    postings: Vec<u32>,
    /// For each posting, how often the body of the concept has the string; 255 if it is more often.
    counts: Vec<u8>,
}

impl PostingLists {
    /// Puts `(string, counted)` pairs into the lists of their strings by a counting sort. Neighbours in a list
    /// that have the same concept become one posting, with the fields of both and the sum of their counts.
    pub(super) fn of(strings: usize, pairs: impl Iterator<Item = (u32, Counted)> + Clone) -> Self {
        // No posting has this number.
        const NONE: u32 = u32::MAX;
        let mut starts = vec![0_u32; strings + 1];
        let mut last = vec![NONE; strings];
        // `for_each` and not `for`: chained iterators run faster that way.
        pairs.clone().for_each(|(string, (item, _))| {
            let last = &mut last[string as usize];
            let (number, _) = posting::unpack(item);
            starts[string as usize + 1] += u32::from(*last != number);
            *last = number;
        });
        for string in 1..starts.len() {
            starts[string] += starts[string - 1];
        }
        // From here on: where the next posting of each list goes.
        let mut next = last;
        next.copy_from_slice(&starts[..strings]);
        let mut postings = vec![0; starts[strings] as usize];
        let mut counts = vec![0_u8; postings.len()];
        pairs.for_each(|(string, (item, count))| {
            let next = &mut next[string as usize];
            let at = *next as usize;
            match postings[starts[string as usize] as usize..at].last_mut() {
                Some(known) if posting::same_number(*known, item) => {
                    *known |= item;
                    counts[at - 1] = counts[at - 1].saturating_add(count);
                }
                _ => {
                    postings[at] = item;
                    counts[at] = count;
                    *next += 1;
                }
            }
        });
        Self { starts, postings, counts }
    }

    /// The posting list of a string.
    pub(super) fn get(&self, string: u32) -> &[u32] {
        &self.postings[self.range(string)]
    }

    /// The postings of a string, each with how often the body has it.
    pub(super) fn counted(&self, string: u32) -> impl Iterator<Item = Counted> {
        let range = self.range(string);
        self.postings[range.clone()].iter().copied().zip(self.counts[range].iter().copied())
    }

    fn range(&self, string: u32) -> std::ops::Range<usize> {
        self.starts[string as usize] as usize..self.starts[string as usize + 1] as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::index::posting::{BODY, TITLE, pack};
    use proptest::prelude::*;

    #[test]
    fn no_strings_have_no_lists() {
        assert!(PostingLists::of(0, std::iter::empty()).postings.is_empty());
    }

    #[test]
    fn neighbours_with_the_same_number_become_one_posting() {
        let pairs = [
            (0, (pack(3, BODY), 2)),
            (1, (pack(3, TITLE), 0)),
            (0, (pack(3, TITLE), 0)),
            (0, (pack(3, BODY), 254)),
            (0, (pack(4, BODY), 1)),
        ];
        let lists = PostingLists::of(2, pairs.into_iter());
        assert_eq!(lists.get(0), [pack(3, BODY | TITLE), pack(4, BODY)]);
        assert_eq!(lists.counted(0).map(|(_, count)| count).collect::<Vec<_>>(), [255, 1]);
        assert_eq!(lists.counted(1).collect::<Vec<_>>(), [(pack(3, TITLE), 0)]);
    }

    proptest! {
        #[test]
        fn lists_are_what_a_filter_would_collect(
            pairs in prop::collection::vec((0_u32..5, (0_u32..30, 0_u8..200)), 0..60),
        ) {
            let lists = PostingLists::of(5, pairs.iter().copied());
            for string in 0..5 {
                let mut expected: Vec<Counted> = Vec::new();
                for (_, (item, count)) in pairs.iter().filter(|(of, _)| *of == string) {
                    match expected.last_mut() {
                        Some((last, sum)) if posting::same_number(*last, *item) => {
                            *last |= item;
                            *sum = sum.saturating_add(*count);
                        }
                        _ => expected.push((*item, *count)),
                    }
                }
                prop_assert_eq!(lists.counted(string).collect::<Vec<_>>(), expected);
            }
        }
    }
}
