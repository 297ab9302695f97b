//! The concepts of a segment that contain one term, and the weight of the fields that contain it (K3).

use super::{
    count::count_where,
    interner::to_u32,
    posting::{self, FIELD_BITS},
    weights::weight,
};

/// Postings are sorted if there are fewer of them than one for this many concepts. Otherwise it is faster
/// to fill an array with an entry for each concept.
const CONCEPTS_PER_SORTED_POSTING: usize = 128;
/// Matches are kept as an array with an entry for each concept if at least one concept in this many matches.
/// It is then faster to add the whole array to the scores than each match on its own.
const CONCEPTS_PER_DENSE_MATCH: usize = 8;

/// The concepts of a segment that contain a term.
#[derive(Debug)]
pub(crate) enum Matches {
    /// The number of each concept that matches, packed with its weight; ascending.
    Sparse(Box<[u32]>),
    /// The weight of every concept of the segment; 0 where it does not match.
    Dense(Box<[u8]>),
}

impl Matches {
    /// How many entries there are: matches if sparse, concepts of the segment if dense.
    pub(crate) fn len(&self) -> usize {
        match self {
            Matches::Sparse(postings) => postings.len(),
            Matches::Dense(weights) => weights.len(),
        }
    }

    /// How many bytes the entries occupy.
    pub(crate) fn size(&self) -> usize {
        match self {
            Matches::Sparse(postings) => size_of_val(&**postings),
            Matches::Dense(weights) => weights.len(),
        }
    }

    /// The union of posting lists, each ascending, of a segment of `concepts` concepts.
    pub(super) fn union<'lists>(concepts: usize, lists: impl Iterator<Item = &'lists [u32]> + Clone) -> Self {
        let count: usize = lists.clone().map(<[u32]>::len).sum();
        if count < concepts / CONCEPTS_PER_SORTED_POSTING {
            let mut postings = Vec::with_capacity(count);
            lists.for_each(|list| postings.extend_from_slice(list));
            return Self::from_postings(postings);
        }
        let mut fields = vec![0_u8; concepts];
        for list in lists {
            for posting in list {
                let (concept, found) = posting::unpack(*posting);
                fields[concept as usize] |= found;
            }
        }
        Self::from_fields(fields)
    }

    /// The matches, given for every concept of a segment the fields that contain the term.
    pub(super) fn from_fields(mut fields: Vec<u8>) -> Self {
        for fields in &mut fields {
            *fields = weight(*fields);
        }
        let weights = fields;
        let count = count_where(&weights, |weight| weight != 0);
        if count * CONCEPTS_PER_DENSE_MATCH >= weights.len() {
            return Matches::Dense(weights.into());
        }
        let mut postings = Vec::with_capacity(count);
        let (blocks, rest) = weights.as_chunks::<8>();
        for (first, block) in (0_u32..).step_by(8).zip(blocks) {
            // Eight weights in one number. Most blocks are 0 and cost one comparison.
            let mut block = u64::from_le_bytes(*block);
            while block != 0 {
                let shift = block.trailing_zeros() & !7;
                let weight = block >> shift & 0xff;
                block ^= weight << shift;
                postings.push((first + shift / 8) << FIELD_BITS | u32::try_from(weight).unwrap_or(0));
            }
        }
        let rest = (to_u32(blocks.len() * 8)..).zip(rest).filter(|(_, weight)| **weight != 0);
        postings.extend(rest.map(|(concept, weight)| posting::pack(concept, *weight)));
        Matches::Sparse(postings.into())
    }

    /// The matches of a few postings in any order.
    fn from_postings(mut postings: Vec<u32>) -> Self {
        postings.sort_unstable();
        postings.dedup_by(|next, kept| {
            let same = posting::same_number(*next, *kept);
            if same {
                *kept |= *next;
            }
            same
        });
        for posting in &mut postings {
            let (concept, fields) = posting::unpack(*posting);
            *posting = posting::pack(concept, weight(fields));
        }
        Matches::Sparse(postings.into())
    }

    /// The concept and the weight of an entry of [`Matches::Sparse`].
    pub(crate) fn unpack(entry: u32) -> (u32, u8) {
        posting::unpack(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::index::posting::{BODY, TITLE, pack};
    use proptest::prelude::*;

    /// `(concept, weight)` of every match.
    fn listed(matches: &Matches) -> Vec<(u32, u8)> {
        match matches {
            Matches::Sparse(postings) => postings.iter().map(|entry| Matches::unpack(*entry)).collect(),
            Matches::Dense(weights) => {
                (0..).zip(weights.iter().copied()).filter(|(_, weight)| *weight != 0).collect()
            }
        }
    }

    #[test]
    fn matches_are_dense_when_one_concept_in_eight_matches() {
        let fields = |every: usize| (0..64).map(|at| u8::from(at % every == 0)).collect::<Vec<u8>>();
        assert!(matches!(Matches::from_fields(fields(8)), Matches::Dense(_)));
        assert!(matches!(Matches::from_fields(fields(9)), Matches::Dense(_)), "8 of 64 begin with the first");
        assert!(matches!(Matches::from_fields(fields(10)), Matches::Sparse(_)));
    }

    #[test]
    fn the_size_is_that_of_the_entries() {
        let sparse = Matches::Sparse([pack(1, 3), pack(9, 1)].into());
        assert_eq!((sparse.len(), sparse.size()), (2, 8));
        let dense = Matches::Dense([0, 3, 0].into());
        assert_eq!((dense.len(), dense.size()), (3, 3));
    }

    #[test]
    fn a_concept_in_several_lists_matches_once_with_all_fields() {
        let lists = [vec![pack(2, BODY), pack(700, TITLE)], vec![pack(2, TITLE | BODY)], vec![]];
        for concepts in [701, 100_000] {
            let united = Matches::union(concepts, lists.iter().map(Vec::as_slice));
            assert_eq!(listed(&united), [(2, 4), (700, 3)], "of {concepts}");
        }
    }

    proptest! {
        #[test]
        fn a_union_is_what_going_over_all_concepts_finds(
            concepts in prop::sample::select(vec![1_usize, 7, 8, 9, 130, 1000, 40_000]),
            raw in prop::collection::vec(prop::collection::vec((any::<u16>(), 1_u8..8), 0..60), 0..5),
        ) {
            let total = to_u32(concepts);
            let lists: Vec<Vec<u32>> = raw
                .iter()
                .map(|list| {
                    let mut list: Vec<u32> =
                        list.iter().map(|(at, fields)| pack(u32::from(*at) % total, *fields)).collect();
                    list.sort_unstable();
                    list
                })
                .collect();
            let expected: Vec<(u32, u8)> = (0..total)
                .map(|concept| {
                    let all = lists.iter().flatten().map(|posting| posting::unpack(*posting));
                    let of_it = all.filter(|(of, _)| *of == concept);
                    let fields = of_it.fold(0, |all, (_, fields)| all | fields);
                    (concept, weight(fields))
                })
                .filter(|(_, weight)| *weight != 0)
                .collect();
            let united = Matches::union(concepts, lists.iter().map(Vec::as_slice));
            prop_assert_eq!(listed(&united), expected);
        }
    }
}
