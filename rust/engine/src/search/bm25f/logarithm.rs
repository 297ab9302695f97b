//! Logarithms in whole numbers, so that they are the same on every machine (V5).

/// Bits behind the point of a logarithm to the base of two.
const FRACTION_BITS: u32 = 24;
/// The natural logarithm of two, with 32 bits behind the point.
const LN_2: u64 = 2_977_044_471;

/// The natural logarithm of `numerator / denominator` in units of `1 / 2^bits`, rounded down. Both numbers are at
/// least 1, and the numerator is not smaller.
pub(super) fn ln_ratio(numerator: u64, denominator: u64, bits: u32) -> u64 {
    let difference = log2(numerator).saturating_sub(log2(denominator));
    (difference * LN_2) >> (FRACTION_BITS + 32 - bits)
}

/// The logarithm to the base of two of a number of at least 1, with [`FRACTION_BITS`] bits behind the point,
/// rounded down.
///
/// Squaring a number doubles its logarithm: each square tells one more bit of it.
fn log2(number: u64) -> u64 {
    let whole = number.ilog2();
    // From 1 up to 2, with 31 bits behind the point.
    let mut rest = number << (63 - whole) >> 32;
    let mut logarithm = u64::from(whole);
    for _ in 0..FRACTION_BITS {
        rest = (rest * rest) >> 31;
        let bit = rest >> 32;
        rest >>= bit;
        logarithm = logarithm << 1 | bit;
    }
    logarithm
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_of_powers_of_two_are_exact() {
        for power in 0..64 {
            assert_eq!(log2(1 << power), power << FRACTION_BITS);
        }
    }

    #[test]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn logarithms_are_those_of_the_machine_to_the_last_bit_but_one() {
        for (a, b) in [(2, 1), (3, 2), (1001, 1000), (200_002, 1), (200_002, 200_001), (u64::MAX >> 30, 77)] {
            let exact = (a as f64 / b as f64).ln() * f64::from(1 << 20);
            let own = ln_ratio(a, b, 20) as f64;
            assert!((own - exact).abs() <= 2.0, "{a} / {b}: {own} {exact}");
        }
    }

    #[test]
    fn a_larger_number_has_no_smaller_logarithm() {
        for number in (1..5000).chain((1..50).map(|power| (1 << power) - 1)) {
            assert!(log2(number) <= log2(number + 1), "{number}");
        }
    }
}
