//! The formula of BM25F in whole numbers (V4, V5). `docs/relevance.md` explains it.

use super::logarithm::ln_ratio;
use crate::search::index::{BLOCK, Frequency, Lengths, STEM, WHOLE};

/// Bits behind the point of rarities and of sums of them.
const RARITY_BITS: u32 = 10;
/// Bits behind the point of what a term is worth in the fields of a concept.
const PART_BITS: u32 = 10;
/// Saturation (k in V4): a field is worth at most its weight times `k + 1`.
const K: u32 = 2;
/// How much of a norm follows the length of the field, in quarters (b in V4).
const B_QUARTERS: u32 = 3;
/// Bits behind the point of a norm.
const NORM_BITS: u32 = 4;
/// Bits behind the point of the factor from lengths to norms.
const LENGTH_FACTOR_BITS: u32 = 20;
/// The largest norm: sums with it are exact in the floating point numbers of [`saturated`].
const MAX_NORM: u64 = (1 << 23) - 1;
/// The weights of the title, of tags and description, and of the body.
const WEIGHTS: [u32; 3] = [3, 2, 1];
/// The numbers of the fields.
pub(super) const TITLE: usize = 0;
pub(super) const TAGS: usize = 1;
pub(super) const BODY: usize = 2;
/// Bits behind the point of the factor for coverage.
const COVERAGE_BITS: u32 = 16;
/// How much a concept with all terms gets on top of its sum, in quarters of the sum.
const COVERAGE_QUARTERS: u64 = 3;
/// Scores are in thousandths (V5).
const THOUSANDTHS: u64 = 1000;
/// The weight of a term is in quarters.
const WEIGHT_ONE: u32 = 4;

/// The rarity of a term that `with` of `all` concepts have, `ln(1 + (N - n + 1/2) / (n + 1/2))`, times the weight of
/// the term. At least 1.
pub(super) fn rarity(all: u64, with: u64, weight: u32) -> u32 {
    let rarity = ln_ratio(2 * all + 2, 2 * with + 1, RARITY_BITS) * u64::from(weight) / u64::from(WEIGHT_ONE);
    u32::try_from(rarity.max(1)).unwrap_or(u32::MAX)
}

/// How the lengths of fields are normalised: `k * (1 - b + b * length / mean length)`, in points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Norms {
    /// For each field, from a length to what it adds to the norm.
    factors: [u64; 3],
}

impl Norms {
    /// The part of a norm that does not depend on the length.
    const FIXED: u64 = ((WHOLE as u32 * K * (4 - B_QUARTERS)) << NORM_BITS >> 2) as u64;

    /// `lengths` are the sums of the lengths of each field, in all `concepts` concepts.
    pub(super) fn new(concepts: u64, lengths: [u64; 3]) -> Self {
        let scaled =
            (u128::from(WHOLE) * u128::from(K * B_QUARTERS)) << (NORM_BITS + LENGTH_FACTOR_BITS) >> 2;
        let factors = lengths.map(|length| {
            let factor = (scaled * u128::from(concepts)).checked_div(u128::from(length)).unwrap_or(0);
            // With a larger factor, any length has the largest norm.
            u64::try_from(factor).unwrap_or(u64::MAX).min(MAX_NORM << LENGTH_FACTOR_BITS)
        });
        Self { factors }
    }

    /// The norms of a block of bodies with these lengths.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // 23 bits.
    pub(super) fn of_bodies(self, lengths: &[u32; BLOCK]) -> [f32; BLOCK] {
        let Ok(factor) = u32::try_from(self.factors[BODY]) else {
            return lengths.map(|length| self.of(BODY, length));
        };
        // A longer body has the largest norm. Up to it, nothing overflows.
        let longest = ((MAX_NORM - Self::FIXED) << LENGTH_FACTOR_BITS) / u64::from(factor.max(1));
        let longest = u32::try_from(longest).unwrap_or(u32::MAX);
        let mut norms = [0.0; BLOCK];
        for at in 0..BLOCK {
            let length = lengths[at].min(longest);
            let more = (u64::from(length) * u64::from(factor)) >> LENGTH_FACTOR_BITS;
            let is_longer = lengths[at] > longest;
            let norm = if is_longer { MAX_NORM as i32 } else { Self::FIXED as i32 + more as i32 };
            norms[at] = norm as f32;
        }
        norms
    }

    /// The norm of a field with this length.
    #[allow(clippy::cast_precision_loss)] // 23 bits.
    pub(super) fn of(self, field: usize, length: u32) -> f32 {
        let more = u64::from(length).saturating_mul(self.factors[field]) >> LENGTH_FACTOR_BITS;
        (Self::FIXED + more).min(MAX_NORM) as f32
    }
}

/// What points are worth in titles, and in tags and descriptions, of every length up to [`TABLED_LENGTHS`].
#[derive(Debug, Clone)]
pub(super) struct Worths {
    pub(super) norms: Norms,
    /// For each of the two fields and each length, the worth of the stem, and that of the term.
    short: [Box<[[u32; 2]]>; 2],
}

/// Lengths of short fields for which the worth is looked up. Nearly all titles are shorter.
const TABLED_LENGTHS: u32 = 64;

impl Worths {
    pub(super) fn new(norms: Norms) -> Self {
        let table = |field| (0..TABLED_LENGTHS).map(|length| norms.short(field, length)).collect();
        Self { norms, short: [table(TITLE), table(TAGS)] }
    }

    /// The worth of the stem, and that of the term, in a title (field 0) or in tags and description (field 1).
    pub(super) fn short(&self, field: usize, length: u32) -> [u32; 2] {
        match self.short[field].get(length as usize) {
            Some(known) => *known,
            None => self.norms.short(field, length),
        }
    }

    /// What a term is worth in all fields of a concept.
    pub(super) fn part(&self, frequency: Frequency, lengths: &Lengths) -> u32 {
        let Frequency { flags, body } = frequency;
        let mut part = 0;
        if flags & (Frequency::IN_TITLE | Frequency::STEM_IN_TITLE) != 0 {
            part += self.short(TITLE, lengths[TITLE])[usize::from(flags & Frequency::IN_TITLE != 0)];
        }
        if flags & (Frequency::IN_TAGS | Frequency::STEM_IN_TAGS) != 0 {
            part += self.short(TAGS, lengths[TAGS])[usize::from(flags & Frequency::IN_TAGS != 0)];
        }
        if body != 0 {
            part += weighted(BODY, body, self.norms.of(BODY, lengths[BODY]));
        }
        part
    }
}

impl Norms {
    fn short(self, field: usize, length: u32) -> [u32; 2] {
        let norm = self.of(field, length);
        [STEM, WHOLE].map(|points| weighted(field, points, norm))
    }
}

/// What the points of a field are worth, in units of `1 / 2^PART_BITS`: its weight times
/// `(k + 1) * points / (points + norm)`, the quotient rounded down.
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn weighted(field: usize, points: u8, norm: f32) -> u32 {
    const ONE: f32 = ((K + 1) << (PART_BITS + NORM_BITS)) as f32;
    const SCALE: f32 = (1 << NORM_BITS) as f32;
    // Whole numbers below 2^24, so that rounding down the quotient gives exactly that of a division of integers.
    let points = f32::from(points);
    WEIGHTS[field] * rounded_down(ONE * points / (SCALE * points + norm))
}

/// A number from 0 up to 2^22, rounded down. A cast would check for numbers that do not fit, which is not vectorised.
fn rounded_down(number: f32) -> u32 {
    /// With this added, the lowest bit of a number is that of 1.
    const WHOLE_NUMBERS: f32 = 8_388_608.0;
    let nearest = (number + WHOLE_NUMBERS) - WHOLE_NUMBERS;
    let down = if nearest > number { nearest - 1.0 } else { nearest };
    (down + WHOLE_NUMBERS).to_bits() & ((1 << 23) - 1)
}

/// What a term adds to the sum of a concept. A rarity has at most 15 bits, a part at most 15 bits.
pub(super) fn contribution(rarity: u32, part: u32) -> u32 {
    rarity.wrapping_mul(part) >> RARITY_BITS
}

/// The most that a term can add to the sum of a concept.
#[derive(Debug, Clone)]
pub(super) struct Bounds {
    /// What each number of points is worth in a body without length.
    body: [u32; 1 << u8::BITS],
    /// What the stem, and the term, are worth in short fields without length.
    short: [[u32; 2]; 2],
}

impl Bounds {
    pub(super) fn new() -> Self {
        let norms = Norms { factors: [0; 3] };
        let points: [u8; 1 << u8::BITS] = std::array::from_fn(|points| points.try_into().unwrap_or(u8::MAX));
        let body = points.map(|points| weighted(BODY, points, norms.of(BODY, 0)));
        Self { body, short: [norms.short(TITLE, 0), norms.short(TAGS, 0)] }
    }

    /// For concepts of which each has at most this frequency.
    pub(super) fn of(&self, rarity: u32, most: Frequency) -> u32 {
        let worth = |field: usize, stem: u8, term: u8| match most.flags {
            flags if flags & term != 0 => self.short[field][1],
            flags if flags & stem != 0 => self.short[field][0],
            _ => 0,
        };
        let title = worth(TITLE, Frequency::STEM_IN_TITLE, Frequency::IN_TITLE);
        let tags = worth(TAGS, Frequency::STEM_IN_TAGS, Frequency::IN_TAGS);
        contribution(rarity, title + tags + self.body[usize::from(most.body)])
    }
}

/// Makes scores of sums: the more of the question a concept covers, the more its sum counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coverage {
    /// From the rarity of the terms that a concept has to the factor.
    inverse: u64,
}

impl Coverage {
    /// `rarity` is that of all terms together.
    pub(super) fn new(rarity: u32) -> Self {
        Self { inverse: (COVERAGE_QUARTERS << (2 * COVERAGE_BITS)) / (4 * u64::from(rarity.max(1))) }
    }

    /// A concept with a smaller sum has a lower score than this one, whatever terms it has.
    pub(super) fn least_sum(score: u32) -> u32 {
        let most = (1 << COVERAGE_BITS) + (1 << COVERAGE_BITS) * COVERAGE_QUARTERS / 4;
        let sum = (u64::from(score) << (PART_BITS + COVERAGE_BITS)) / (THOUSANDTHS * most);
        u32::try_from(sum).unwrap_or(u32::MAX)
    }

    /// The score of a concept, at least 1: `sum` is what its terms add, `rarity` their rarities together.
    pub(super) fn score(self, sum: u32, rarity: u32) -> u32 {
        let factor = (1 << COVERAGE_BITS) + ((u64::from(rarity) * self.inverse) >> COVERAGE_BITS);
        let score = (u64::from(sum) * THOUSANDTHS * factor) >> (PART_BITS + COVERAGE_BITS);
        u32::try_from(score).unwrap_or(u32::MAX).max(1)
    }
}

#[cfg(test)]
#[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::float_cmp)] // Small whole numbers.
mod tests {
    use super::*;

    #[test]
    fn a_term_that_all_concepts_have_still_counts() {
        assert_eq!(rarity(1_000_000, 1_000_000, 4), 1);
        assert_eq!(rarity(1, 1, 4), 294, "ln(4 / 3) in 1024ths");
        assert_eq!(rarity(1, 1, 2), 147);
        assert!(rarity(u64::from(u32::MAX), 1, 4) < 1 << 15);
    }

    #[test]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn a_quotient_is_that_of_whole_numbers() {
        let norms = (32..2000).chain([MAX_NORM - 1, MAX_NORM, 4096, 99_991]);
        for norm in norms {
            for points in 0..=255_u8 {
                let exact = u64::from((K + 1) << (PART_BITS + NORM_BITS)) * u64::from(points)
                    / (u64::from(points) * (1 << NORM_BITS) + norm);
                let own = weighted(2, points, norm as f32);
                assert_eq!(u64::from(own), exact, "{points} {norm}");
            }
        }
    }

    #[test]
    fn norms_of_blocks_are_those_of_single_bodies() {
        for (concepts, length) in [(10, 10_000), (10, 1), (1_000_000, 3), (3, 0), (1, u64::from(u32::MAX))] {
            let norms = Norms::new(concepts, [0, 0, length]);
            let lengths: [u32; BLOCK] =
                std::array::from_fn(|at| (1_u32 << (at / 2)).wrapping_mul(1 + at as u32 % 2));
            let expected = lengths.map(|length| norms.of(BODY, length));
            assert_eq!(norms.of_bodies(&lengths), expected, "{concepts} {length}");
        }
    }

    #[test]
    fn the_mean_length_has_the_norm_of_k() {
        let norms = Norms::new(10, [10, 1000, 0]);
        for (field, length, expected) in
            [(0, 1, 256.0), (1, 100, 256.0), (1, 0, 64.0), (1, 200, 448.0), (2, 0, 64.0)]
        {
            assert!((norms.of(field, length) - expected).abs() < 1.5, "{field} {length}");
        }
        assert!(norms.of(0, u32::MAX) <= MAX_NORM as f32);
    }

    #[test]
    fn a_concept_with_all_terms_gets_the_whole_bonus() {
        let coverage = Coverage::new(1000);
        assert_eq!(coverage.score(1024, 0), 1000);
        assert!((1749..=1750).contains(&coverage.score(1024, 1000)));
        assert_eq!(coverage.score(0, 0), 1);
        assert_eq!(coverage.score(u32::MAX, 1000), u32::MAX);
    }
}
