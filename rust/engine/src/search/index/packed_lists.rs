//! Many short lists of numbers in two arrays ("compressed sparse rows").

use super::interner::to_u32;

/// Lists of numbers, each called a row. Row `i` is `items[starts[i]..starts[i + 1]]`.
#[derive(Debug, Default)]
pub(super) struct PackedLists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl PackedLists {
    /// Puts `(row, item)` pairs into their rows by a counting sort. The items of a row keep their order.
    pub(super) fn from_pairs(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_usize; rows + 1];
        // `for_each` and not `for`: chained iterators run faster that way.
        pairs.clone().for_each(|(row, _)| starts[row as usize + 1] += 1);
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut items = vec![0; starts[rows]];
        let bounds: Vec<u32> = starts.iter().map(|start| to_u32(*start)).collect();
        pairs.for_each(|(row, item)| {
            let at = &mut starts[row as usize];
            items[*at] = item;
            *at += 1;
        });
        Self { starts: bounds, items }
    }

    /// Fills the rows in order: `append` adds the items of one row to the end of all items.
    pub(super) fn from_fn(rows: usize, mut append: impl FnMut(u32, &mut Vec<u32>)) -> Self {
        let mut this = Self { starts: Vec::with_capacity(rows + 1), items: Vec::new() };
        this.starts.push(0);
        for row in 0..to_u32(rows) {
            append(row, &mut this.items);
            this.starts.push(to_u32(this.items.len()));
        }
        this
    }

    /// The items of a row.
    pub(super) fn get(&self, row: u32) -> &[u32] {
        self.range(row, row + 1)
    }

    /// The items of the rows from `first` up to but not including `end`.
    pub(super) fn range(&self, first: u32, end: u32) -> &[u32] {
        &self.items[self.starts[first as usize] as usize..self.starts[end as usize] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lists(rows: &PackedLists, count: u32) -> Vec<Vec<u32>> {
        (0..count).map(|row| rows.get(row).to_vec()).collect()
    }

    #[test]
    fn pairs_go_to_their_rows_in_order() {
        let pairs = [(2, 5), (0, 9), (2, 4), (2, 4), (0, 1)];
        let rows = PackedLists::from_pairs(4, pairs.into_iter());
        assert_eq!(lists(&rows, 4), [vec![9, 1], vec![], vec![5, 4, 4], vec![]]);
        assert_eq!(rows.range(0, 3), [9, 1, 5, 4, 4]);
        assert!(rows.range(3, 4).is_empty());
    }

    #[test]
    fn no_rows_are_no_rows() {
        let none = std::iter::empty();
        assert!(PackedLists::from_pairs(0, none).range(0, 0).is_empty());
        assert!(PackedLists::from_fn(0, |_, _| unreachable!()).range(0, 0).is_empty());
    }

    #[test]
    fn rows_are_filled_one_after_the_other() {
        let rows = PackedLists::from_fn(3, |row, items| items.extend(0..row));
        assert_eq!(lists(&rows, 3), [vec![], vec![0], vec![0, 1]]);
    }

    proptest! {
        #[test]
        fn rows_are_what_a_filter_would_collect(
            pairs in prop::collection::vec((0_u32..5, 0_u32..30), 0..60),
        ) {
            let of_row = |row: u32| pairs.iter().filter(move |(of, _)| *of == row).map(|(_, item)| *item);
            let rows = PackedLists::from_pairs(5, pairs.iter().copied());
            for row in 0..5 {
                prop_assert_eq!(rows.get(row), of_row(row).collect::<Vec<_>>());
            }
        }
    }
}
