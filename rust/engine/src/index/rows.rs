//! Many short lists in two arrays.

use super::interner::narrow;

/// Row `i` is a run of `items`.
#[derive(Debug, Default)]
pub(super) struct Rows {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Rows {
    /// Sorts `(row, item)` pairs into rows, by counting. The items of a row keep their order.
    pub(super) fn collect(rows: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_usize; rows + 1];
        for (row, _) in pairs.clone() {
            starts[row as usize + 1] += 1;
        }
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut items = vec![0; starts[rows]];
        let bounds: Vec<u32> = starts.iter().map(|start| narrow(*start)).collect();
        for (row, item) in pairs {
            let at = &mut starts[row as usize];
            items[*at] = item;
            *at += 1;
        }
        Self { starts: bounds, items }
    }

    pub(super) fn get(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.items[self.starts[row] as usize..self.starts[row + 1] as usize]
    }
}
