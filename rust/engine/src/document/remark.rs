//! Remarks: what a reader may have lost although a file is served (B11).
//!
//! A bundle can have any number of remarks. All are counted and some of each code are kept, so that many remarks of
//! one code do not hide a few of another.

use std::{collections::BTreeMap, sync::Arc};

use crate::named_enum::named_enum;

/// The most remarks that are kept for one bundle, and for one file of it. More remarks are only counted.
pub(crate) const MAX_REMARKS: usize = 1000;

named_enum! {
    /// The kind of a remark, in the order of the contract (B11).
    pub enum RemarkCode {
        /// Bytes that are not valid text were read as U+FFFD (B3).
        InvalidText = "INVALID_TEXT",
        /// Text that looks like frontmatter was read as part of the body (B4).
        FrontmatterNotRead = "FRONTMATTER_NOT_READ",
        /// An entry of the frontmatter is not valid YAML. It was left out, or taken as it stands (B5).
        FieldNotRead = "FIELD_NOT_READ",
        /// A field is ignored because of its shape, such as a list in place of a text (B5, B6, L5).
        FieldIgnored = "FIELD_IGNORED",
        /// A key is repeated; the last value counts (B5).
        DuplicateKey = "DUPLICATE_KEY",
        /// `type` is missing, the one field that the format requires.
        MissingType = "MISSING_TYPE",
        /// `status` is not draft, stable or deprecated (L1).
        UnknownStatus = "UNKNOWN_STATUS",
        /// A date or time cannot be read (L2, L5).
        UnreadableDate = "UNREADABLE_DATE",
        /// A file name looks like the name of a concept but is none (B1).
        NameNotRead = "NAME_NOT_READ",
        /// A directory of memories was left out (Y10).
        MemoriesLeftOut = "MEMORIES_LEFT_OUT",
    }
}

/// A remark on the text of a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// The line of the file that it is about, from 1; `None` if it is about no single line.
    pub line: Option<u32>,
    /// The kind of the remark.
    pub code: RemarkCode,
    /// One sentence, without absolute paths.
    pub sentence: String,
}

/// A remark on a file or directory of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileRemark {
    /// The path below the bundle root.
    pub path: String,
    /// The remark.
    pub remark: Remark,
}

impl FileRemark {
    /// On a directory or link that is left out because it leads to memories. `path` is below the bundle root; the
    /// root itself is shown as `.`.
    pub(crate) fn of_memories(path: &str, sentence: &str) -> Self {
        let path = if path.is_empty() { "." } else { path }.to_owned();
        let sentence = sentence.to_owned();
        Self { path, remark: Remark { line: None, code: RemarkCode::MemoriesLeftOut, sentence } }
    }
}

/// The number of remarks of each code. Codes without remarks are not in the map.
pub(crate) type Counts = BTreeMap<RemarkCode, usize>;

/// The remarks on a bundle: all are counted, at most [`MAX_REMARKS`] are kept.
///
/// Each code keeps its first remarks by path and line. The limit for a code is the same for every code; a code with
/// fewer remarks keeps all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remarks {
    /// The remarks that are kept, sorted by path, then line.
    pub kept: Vec<FileRemark>,
    /// The number of remarks of each code, also of those that are not kept.
    pub counts: Counts,
}

impl Remarks {
    /// The one remark on a source that is left out because its directory holds memories.
    pub(crate) fn of_memories(path: &str, sentence: &str) -> Self {
        let remark = FileRemark::of_memories(path, sentence);
        Self { counts: Counts::from([(remark.remark.code, 1)]), kept: vec![remark] }
    }

    /// The number of all remarks.
    #[must_use]
    pub fn count(&self) -> usize {
        self.counts.values().sum()
    }
}

/// The remarks on one file, limited like those on a bundle. Most files have none, and then this takes one machine
/// word of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DocumentRemarks(Option<Arc<Bounded>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Bounded {
    kept: Box<[Remark]>,
    /// The number of remarks that are not kept, by code. Empty for nearly all files.
    left_out: Counts,
}

impl DocumentRemarks {
    /// Keeps the first of `remarks` by line. `counts` has the number of all remarks of each code; some of them may
    /// be missing from `remarks` already.
    pub(crate) fn of(mut remarks: Vec<Remark>, counts: Counts) -> Self {
        if counts.is_empty() {
            return Self(None);
        }
        remarks.sort_unstable();
        let limit = limit_per_code(&counts);
        let mut left_out = counts;
        let mut kept = Counts::new();
        remarks.retain(|remark| {
            let kept = kept.entry(remark.code).or_default();
            let fits = *kept < limit;
            *kept += usize::from(fits);
            fits
        });
        left_out.retain(|code, count| {
            *count -= kept.get(code).copied().unwrap_or_default();
            *count > 0
        });
        Self(Some(Arc::new(Bounded { kept: remarks.into(), left_out })))
    }
}

/// Builds the remarks on a bundle from those on its files.
#[derive(Debug, Default)]
pub(crate) struct RemarksBuilder<'bundle> {
    found: BTreeMap<RemarkCode, Vec<(&'bundle str, &'bundle Remark)>>,
    left_out: Counts,
}

impl<'bundle> RemarksBuilder<'bundle> {
    pub(crate) fn add(&mut self, path: &'bundle str, remark: &'bundle Remark) {
        self.found.entry(remark.code).or_default().push((path, remark));
    }

    pub(crate) fn add_all(&mut self, path: &'bundle str, remarks: &'bundle DocumentRemarks) {
        let Some(remarks) = &remarks.0 else { return };
        remarks.kept.iter().for_each(|remark| self.add(path, remark));
        for (code, count) in &remarks.left_out {
            *self.left_out.entry(*code).or_default() += count;
        }
    }

    pub(crate) fn finish(self) -> Remarks {
        let mut counts = self.left_out;
        for (code, found) in &self.found {
            *counts.entry(*code).or_default() += found.len();
        }
        // A bundle has at least as many remarks of each code as any of its files. So its limit is not higher than
        // the limit of any file, and no remark is missing that the bundle should keep.
        let limit = limit_per_code(&counts);
        let mut kept = Vec::new();
        for mut found in self.found.into_values() {
            if found.len() > limit {
                found.select_nth_unstable(limit);
                found.truncate(limit);
            }
            kept.extend(found);
        }
        kept.sort_unstable();
        let owned =
            |(path, remark): (&str, &Remark)| FileRemark { path: path.into(), remark: remark.clone() };
        Remarks { kept: kept.into_iter().map(owned).collect(), counts }
    }
}

#[cfg(test)]
fn counts(remarks: &[Remark]) -> Counts {
    let mut counts = Counts::new();
    for remark in remarks {
        *counts.entry(remark.code).or_default() += 1;
    }
    counts
}

/// The largest limit per code with which at most [`MAX_REMARKS`] remarks are kept in total. Codes with fewer remarks
/// leave room for the others.
fn limit_per_code(counts: &Counts) -> usize {
    let mut ascending: Vec<usize> = counts.values().copied().collect();
    ascending.sort_unstable();
    let (mut left, mut codes) = (MAX_REMARKS, ascending.len());
    for count in ascending {
        let share = left / codes;
        if count > share {
            return share;
        }
        left -= count;
        codes -= 1;
    }
    usize::MAX
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn remark(line: u32, code: RemarkCode) -> Remark {
        Remark { line: Some(line), code, sentence: "a sentence".to_owned() }
    }

    fn gathered(files: &[(String, Vec<Remark>)]) -> Remarks {
        let files: Vec<_> = files
            .iter()
            .map(|(path, remarks)| (path.as_str(), DocumentRemarks::of(remarks.clone(), counts(remarks))))
            .collect();
        let mut builder = RemarksBuilder::default();
        for (path, remarks) in &files {
            builder.add_all(path, remarks);
        }
        builder.finish()
    }

    fn kept(remarks: &Remarks, code: RemarkCode) -> usize {
        remarks.kept.iter().filter(|kept| kept.remark.code == code).count()
    }

    #[test]
    fn many_remarks_of_one_code_do_not_hide_a_few_of_another() {
        let mut files: Vec<_> =
            (0..5000).map(|at| (format!("{at:05}"), vec![remark(1, RemarkCode::MissingType)])).collect();
        files.push(("z".to_owned(), vec![remark(7, RemarkCode::FieldNotRead)]));
        let remarks = gathered(&files);
        assert_eq!(remarks.count(), 5001);
        assert_eq!(remarks.counts[&RemarkCode::MissingType], 5000);
        assert_eq!(kept(&remarks, RemarkCode::MissingType), 999);
        assert_eq!(kept(&remarks, RemarkCode::FieldNotRead), 1);
        assert_eq!(remarks.kept[998].path, "00998");
    }

    #[test]
    fn codes_with_many_remarks_each_keep_the_same_number() {
        let all = |at: usize| RemarkCode::ALL.map(|code| remark(u32::try_from(at).unwrap(), code));
        let files: Vec<_> = (0..2000).map(|at| (format!("{at:05}"), all(at).to_vec())).collect();
        let remarks = gathered(&files);
        assert_eq!(remarks.count(), 20_000);
        assert_eq!(remarks.kept.len(), MAX_REMARKS);
        for code in RemarkCode::ALL {
            assert_eq!(kept(&remarks, code), 100);
        }
    }

    #[test]
    fn a_file_with_many_remarks_keeps_few_and_counts_all() {
        let mut many: Vec<Remark> =
            (1..=300_000).map(|line| remark(line, RemarkCode::DuplicateKey)).collect();
        many.push(remark(300_001, RemarkCode::UnknownStatus));
        let document = DocumentRemarks::of(many.clone(), counts(&many));
        assert_eq!(document.0.as_ref().unwrap().kept.len(), MAX_REMARKS);
        let remarks = gathered(&[("a".to_owned(), many)]);
        assert_eq!(remarks.count(), 300_001);
        assert_eq!(remarks.kept.len(), MAX_REMARKS);
        assert_eq!(kept(&remarks, RemarkCode::UnknownStatus), 1);
    }

    #[test]
    fn a_file_without_remarks_takes_one_word_of_memory() {
        assert_eq!(gathered(&[("a".to_owned(), Vec::new())]), Remarks::default());
        assert_eq!(size_of::<DocumentRemarks>(), size_of::<usize>());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        /// The result is the same as sorting all remarks and taking the first ones of each code. How the remarks are
        /// spread over files, and the order of the files, do not matter.
        #[test]
        fn the_remarks_that_are_kept_do_not_depend_on_files_or_their_order(
            files in proptest::collection::vec(
                (0_u8..9, proptest::collection::vec((0_usize..4, 0_u32..99), 0..3), 0_usize..2500, 0_usize..4),
                0..6,
            ),
        ) {
            let mut by_path: BTreeMap<String, Vec<Remark>> = BTreeMap::new();
            for (name, few, many, code) in files {
                let remarks = by_path.entry(name.to_string()).or_default();
                remarks.extend(few.into_iter().map(|(code, line)| remark(line, RemarkCode::ALL[code])));
                remarks.extend((1..).take(many).map(|line| remark(line, RemarkCode::ALL[code])));
            }
            let mut files: Vec<_> = by_path.into_iter().collect();
            let mut all: Vec<FileRemark> = files
                .iter()
                .flat_map(|(path, remarks)| {
                    remarks.iter().map(|remark| FileRemark { path: path.clone(), remark: remark.clone() })
                })
                .collect();
            all.sort();
            let total = all.len();
            let mut counts = Counts::new();
            for one in &all {
                *counts.entry(one.remark.code).or_default() += 1;
            }
            let fits = |most: usize| counts.values().map(|count| most.min(*count)).sum::<usize>() <= MAX_REMARKS;
            let most = (0..=total).rev().find(|most| fits(*most)).unwrap();
            let mut met = Counts::new();
            all.retain(|one| {
                let met = met.entry(one.remark.code).or_default();
                *met += 1;
                *met <= most
            });

            let remarks = gathered(&files);
            prop_assert_eq!(remarks.count(), total);
            prop_assert_eq!(&remarks.counts, &counts);
            prop_assert_eq!(&remarks.kept, &all);
            files.reverse();
            prop_assert_eq!(gathered(&files), remarks);
        }
    }
}
