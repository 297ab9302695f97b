//! Counting that the compiler vectorises.

/// How many items fulfil a condition.
///
/// The count of each block fits into a byte, so that the compiler adds up many bytes with one instruction.
pub(crate) fn count_where<T: Copy>(items: &[T], condition: impl Fn(T) -> bool) -> usize {
    /// Items in a block: at most 255, so that their count fits into a byte.
    const BLOCK: usize = 128;
    let count = |block: &[T]| usize::from(block.iter().map(|item| u8::from(condition(*item))).sum::<u8>());
    items.chunks(BLOCK).map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_block_in_which_everything_counts_does_not_overflow() {
        for len in [0, 1, 127, 128, 129, 255, 256, 1000] {
            assert_eq!(count_where(&vec![1_u8; len], |item| item == 1), len);
        }
    }

    proptest! {
        #[test]
        fn it_counts_like_a_filter(items in prop::collection::vec(0_u32..4, 0..400), least in 0_u32..5) {
            let expected = items.iter().filter(|item| **item >= least).count();
            prop_assert_eq!(count_where(&items, |item| item >= least), expected);
        }
    }
}
