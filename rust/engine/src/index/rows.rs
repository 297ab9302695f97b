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

    /// Sorts pairs by a small part of their first half, by counting. Equal ones keep their order.
    pub(super) fn sort(values: usize, pairs: &[(u32, u32)], part: impl Fn(u32) -> u32) -> Vec<(u32, u32)> {
        let mut next = vec![0_usize; values];
        for (key, _) in pairs {
            next[part(*key) as usize] += 1;
        }
        let mut before = 0;
        for next in &mut next {
            before += std::mem::replace(next, before);
        }
        let mut sorted = vec![(0, 0); pairs.len()];
        for pair in pairs {
            let at = &mut next[part(pair.0) as usize];
            sorted[*at] = *pair;
            *at += 1;
        }
        sorted
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
}
