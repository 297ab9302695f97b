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
        // Not `for`: chained iterators are quicker from inside.
        pairs.clone().for_each(|(row, _)| starts[row as usize + 1] += 1);
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        let mut items = vec![0; starts[rows]];
        let bounds: Vec<u32> = starts.iter().map(|start| narrow(*start)).collect();
        pairs.for_each(|(row, item)| {
            let at = &mut starts[row as usize];
            items[*at] = item;
            *at += 1;
        });
        Self { starts: bounds, items }
    }

    /// As [`collect`](Self::collect), but neighbours in a row that are the same but for some bits become one
    /// item that has the bits of both.
    pub(super) fn collect_merged(
        rows: usize,
        bits: u32,
        pairs: impl Iterator<Item = (u32, u32)> + Clone,
    ) -> Self {
        let mut starts = vec![0_u32; rows + 1];
        let mut last = vec![u32::MAX; rows];
        pairs.clone().for_each(|(row, item)| {
            let last = &mut last[row as usize];
            starts[row as usize + 1] += u32::from(*last != item >> bits);
            *last = item >> bits;
        });
        for row in 1..starts.len() {
            starts[row] += starts[row - 1];
        }
        // From here on, where the next item of each row goes.
        last.copy_from_slice(&starts[..rows]);
        let mut items = vec![0; starts[rows] as usize];
        pairs.for_each(|(row, item)| {
            let next = &mut last[row as usize];
            match items[starts[row as usize] as usize..*next as usize].last_mut() {
                Some(known) if *known >> bits == item >> bits => *known |= item,
                _ => {
                    items[*next as usize] = item;
                    *next += 1;
                }
            }
        });
        Self { starts, items }
    }

    /// Appends each row, in order, with `fill`.
    pub(super) fn build(rows: usize, mut fill: impl FnMut(u32, &mut Vec<u32>)) -> Self {
        let mut this = Self { starts: Vec::with_capacity(rows + 1), items: Vec::new() };
        this.starts.push(0);
        for row in 0..narrow(rows) {
            fill(row, &mut this.items);
            this.starts.push(narrow(this.items.len()));
        }
        this
    }

    pub(super) fn get(&self, row: u32) -> &[u32] {
        let row = row as usize;
        &self.items[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// The items of the rows from `first` up to `end`.
    pub(super) fn run(&self, first: u32, end: u32) -> &[u32] {
        &self.items[self.starts[first as usize] as usize..self.starts[end as usize] as usize]
    }
}
