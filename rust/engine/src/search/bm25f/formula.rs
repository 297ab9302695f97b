//! The formula of BM25F in whole numbers (V4, V5). `docs/relevance.md` explains it.

use super::logarithm::ln_ratio;
use crate::search::index::{Frequency, WHOLE};

/// Bits behind the point of rarities and of sums of them.
const RARITY_BITS: u32 = 10;
/// Bits behind the point of what a term is worth in the fields of a concept.
const PART_BITS: u32 = 10;
/// Saturation: what a body can be worth is this, times its weight of 1, plus 1 (k in V4).
const K: u32 = 2;
/// The share of the length of a body in its normalisation, in quarters (b in V4).
const B_QUARTERS: u32 = 3;
/// Bits behind the point of a norm.
const NORM_BITS: u32 = 4;
/// Bits behind the point of the factor from lengths to norms.
const LENGTH_FACTOR_BITS: u32 = 20;
/// The largest norm: sums with it are exact in the floating point numbers of [`part`].
const MAX_NORM: u64 = (1 << 23) - 1;
/// Bits behind the point of the factor for coverage.
const COVERAGE_BITS: u32 = 16;
/// Scores are in thousandths (V5).
const THOUSANDTHS: u64 = 1000;

/// The rarity of a term that `with` of `all` concepts have: `ln(1 + (N - n + 1/2) / (n + 1/2))`, at least 1.
pub(super) fn rarity(all: u64, with: u64) -> u32 {
    let rarity = ln_ratio(2 * all + 2, 2 * with + 1, RARITY_BITS).max(1);
    u32::try_from(rarity).unwrap_or(u32::MAX)
}

/// How the length of a body is normalised: `k * (1 - b + b * length / mean length)`, in points.
#[derive(Debug, Clone, Copy)]
pub(super) struct Norms {
    /// From a length to what it adds to the norm.
    factor: u64,
}

impl Norms {
    /// The part of the norm that does not depend on the length.
    const FIXED: u64 = (WHOLE as u64 * (K * (4 - B_QUARTERS)) as u64) << NORM_BITS >> 2;

    /// `concepts` concepts have bodies of `length` characters in all.
    pub(super) fn new(concepts: u64, length: u64) -> Self {
        let scaled = u128::from(WHOLE) * u128::from(K * B_QUARTERS) << (NORM_BITS + LENGTH_FACTOR_BITS) >> 2;
        let factor = (scaled * u128::from(concepts)).checked_div(u128::from(length)).unwrap_or(0);
        // With a longer factor, any length has the largest norm.
        Self { factor: u64::try_from(factor).unwrap_or(u64::MAX).min(MAX_NORM << LENGTH_FACTOR_BITS) }
    }

    /// The norm of a body of this many characters.
    #[allow(clippy::cast_precision_loss)] // 23 bits.
    pub(super) fn of(self, length: u32) -> f32 {
        let more = u64::from(length).saturating_mul(self.factor) >> LENGTH_FACTOR_BITS;
        (Self::FIXED + more).min(MAX_NORM) as f32
    }

    /// The smallest norm that any body has.
    #[allow(clippy::cast_precision_loss)]
    pub(super) fn least() -> f32 {
        Self::FIXED as f32
    }
}

/// What a term is worth in the fields of a concept: the short fields count as they are, the points of the body are
/// saturated. At most `2^PART_BITS * (3 + 2 + k + 1)`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn part(short: u8, body: u8, norm: f32) -> u32 {
    const ONE: f32 = ((K + 1) << (PART_BITS + NORM_BITS)) as f32;
    const SCALE: f32 = (1 << NORM_BITS) as f32;
    // A whole number divided by a whole number, both below 2^24: rounding down the quotient gives the exact one.
    let body = f32::from(body);
    let saturated = (ONE * body / (SCALE * body + norm)) as i32 as u32;
    u32::from(short) * ((1 << PART_BITS) / u32::from(WHOLE)) + saturated
}

/// What a term adds to the sum of a concept.
pub(super) fn contribution(rarity: u32, part: u32) -> u32 {
    // 15 bits times 13 bits.
    rarity.wrapping_mul(part) >> RARITY_BITS
}

/// The most that a term can add to the sum of a concept.
pub(super) fn bound(rarity: u32, most: Frequency) -> u32 {
    contribution(rarity, part(most.short, most.body, Norms::least()))
}

/// Makes scores of sums: a concept that has more of what the question asks for gets up to half as much again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Coverage {
    /// From the rarity of the terms that a concept has to the factor.
    inverse: u64,
}

impl Coverage {
    /// `rarity` is that of all terms together.
    pub(super) fn new(rarity: u32) -> Self {
        Self { inverse: (1 << (2 * COVERAGE_BITS - 1)) / u64::from(rarity.max(1)) }
    }

    /// The score of a concept, at least 1, with the sum of what its terms add and that of their rarities.
    pub(super) fn score(self, sum: u32, rarity: u32) -> u32 {
        let factor = (1 << COVERAGE_BITS) + (u64::from(rarity) * self.inverse >> COVERAGE_BITS);
        let score = u64::from(sum) * THOUSANDTHS * factor >> (PART_BITS + COVERAGE_BITS);
        u32::try_from(score).unwrap_or(u32::MAX).max(1)
    }
}
