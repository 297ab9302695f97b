//! Collects remarks while a file is read.

use crate::document::remark::{Counts, MOST_REMARKS, Remark, RemarkCode};

/// Remarks found so far. All are counted; of each code the first [`MOST_REMARKS`] are kept.
#[derive(Debug, Default)]
pub(crate) struct RemarkCollector {
    remarks: Vec<Remark>,
    counts: Counts,
    /// Lines of the file above the text that is read. It is added to every line number.
    line_offset: u32,
}

impl RemarkCollector {
    /// An empty collector for a text that begins after this line of the file.
    pub(crate) fn after_line(line: u32) -> Self {
        Self { line_offset: line, ..Self::default() }
    }

    /// An empty collector for the same text.
    pub(crate) fn new_empty(&self) -> Self {
        Self::after_line(self.line_offset)
    }

    /// Adds a remark. `line` counts from 1 in the text that is read. The sentence is made only if it is kept.
    pub(crate) fn add(&mut self, line: Option<u32>, code: RemarkCode, sentence: impl FnOnce() -> String) {
        let count = self.counts.entry(code).or_default();
        *count += 1;
        if *count <= MOST_REMARKS {
            let line = line.map(|line| line.saturating_add(self.line_offset));
            self.remarks.push(Remark { line, code, sentence: sentence() });
        }
    }

    /// Adds all remarks of another collector.
    pub(crate) fn append(&mut self, other: Self) {
        let mut seen = self.counts.clone();
        for remark in other.remarks {
            let seen = seen.entry(remark.code).or_default();
            *seen += 1;
            if *seen <= MOST_REMARKS {
                self.remarks.push(remark);
            }
        }
        for (code, count) in other.counts {
            *self.counts.entry(code).or_default() += count;
        }
    }

    /// The remarks that are kept, sorted by line, and how many of each code there are.
    pub(crate) fn finish(self) -> (Vec<Remark>, Counts) {
        let Self { mut remarks, counts, .. } = self;
        remarks.sort_by_key(|remark| remark.line);
        (remarks, counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_remarks_are_counted_and_as_many_are_kept_as_without_appending() {
        let filled = |offset, lines: std::ops::Range<u32>| {
            let mut collector = RemarkCollector::after_line(offset);
            for line in lines {
                collector.add(Some(line), RemarkCode::DuplicateKey, || format!("in line {line}"));
            }
            collector
        };
        let mut all = filled(0, 0..700);
        all.append(filled(1_000, 0..900));
        all.add(None, RemarkCode::MissingType, || "no type".to_owned());
        let (remarks, counts) = all.finish();
        assert_eq!(counts[&RemarkCode::DuplicateKey], 1_600);
        assert_eq!(remarks.len(), MOST_REMARKS + 1);
        assert_eq!(remarks[0].line, None);
        assert_eq!(remarks.last().unwrap().line, Some(1_299));
    }
}
