//! What a reader may have lost although a file is served (B11).
//!
//! A bundle may give rise to any number of remarks. All are counted, and some of each code are kept, so that
//! many of one code do not hide a few of another.

use std::{collections::BTreeMap, sync::Arc};

use crate::named_enum::named_enum;

/// How many remarks are kept of a bundle, and of one file of it; the others are only counted.
pub const MOST_REMARKS: usize = 1000;

named_enum! {
    /// The kind of a remark, in the order of the contract (B11).
    pub enum RemarkCode {
        /// Bytes that are not valid text read as U+FFFD (B3).
        InvalidText = "INVALID_TEXT",
        /// What looks like frontmatter was read as body (B4).
        FrontmatterNotRead = "FRONTMATTER_NOT_READ",
        /// An entry of the frontmatter was lost, or taken as it stands (B5).
        FieldNotRead = "FIELD_NOT_READ",
        /// A field has a shape that is ignored (B5, B6, L5).
        FieldIgnored = "FIELD_IGNORED",
        /// A key stands twice; the last one counts (B5).
        DuplicateKey = "DUPLICATE_KEY",
        /// The one field that the format requires is missing.
        MissingType = "MISSING_TYPE",
        /// `status` is none of the three words (L1).
        UnknownStatus = "UNKNOWN_STATUS",
        /// A date or time cannot be read (L2, L5).
        UnreadableDate = "UNREADABLE_DATE",
        /// The name looks like a concept's and is not one (B1).
        NameNotRead = "NAME_NOT_READ",
        /// A directory of memories was left out (Y10).
        MemoriesLeftOut = "MEMORIES_LEFT_OUT",
    }
}

/// A remark on a text, wherever that is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remark {
    /// The line of the file it is about, from 1, where there is one.
    pub line: Option<u32>,
    /// The kind.
    pub code: RemarkCode,
    /// One sentence, without absolute paths.
    pub sentence: String,
}

/// A remark on a file or directory of a bundle.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileRemark {
    /// The path below the bundle root.
    pub path: String,
    /// What is to be said of it.
    pub remark: Remark,
}

impl FileRemark {
    /// A directory or link at which memories are left out. The bundle root itself is `.`.
    pub(crate) fn of_memories(path: &str, sentence: &str) -> Self {
        let path = if path.is_empty() { "." } else { path }.to_owned();
        let sentence = sentence.to_owned();
        Self { path, remark: Remark { line: None, code: RemarkCode::MemoriesLeftOut, sentence } }
    }
}

/// How many remarks of each code there are; codes of which there is none are not listed.
pub type Counts = BTreeMap<RemarkCode, usize>;

/// The remarks on a bundle: all are counted, at most [`MOST_REMARKS`] are kept.
///
/// Each code keeps its first ones by path and line, up to a number that is the same for every code. A code
/// that has fewer keeps all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Remarks {
    /// Those that are kept, sorted by path, then line.
    pub kept: Vec<FileRemark>,
    /// How many there are of each code.
    pub counts: Counts,
}

impl Remarks {
    /// Of a source that lies among memories.
    pub(crate) fn of_memories(path: &str, sentence: &str) -> Self {
        let remark = FileRemark::of_memories(path, sentence);
        Self { counts: Counts::from([(remark.remark.code, 1)]), kept: vec![remark] }
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.counts.values().sum()
    }
}

/// The remarks on one file, bounded like those on a bundle. Most files have none, which takes a word of memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DocumentRemarks(Option<Arc<Bounded>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Bounded {
    kept: Box<[Remark]>,
    /// How many are not kept; empty for all but the strangest files.
    dropped: Counts,
}

impl DocumentRemarks {
    /// Keeps the first of `remarks`, by line. `counts` says how many of each code there are; some may be
    /// missing from `remarks` already.
    pub(crate) fn of(mut remarks: Vec<Remark>, counts: Counts) -> Self {
        if counts.is_empty() {
            return Self(None);
        }
        remarks.sort_unstable();
        let most = most_of_each(&counts);
        let mut dropped = counts;
        let mut kept = Counts::new();
        remarks.retain(|remark| {
            let kept = kept.entry(remark.code).or_default();
            let fits = *kept < most;
            *kept += usize::from(fits);
            fits
        });
        dropped.retain(|code, count| {
            *count -= kept.get(code).copied().unwrap_or_default();
            *count > 0
        });
        Self(Some(Arc::new(Bounded { kept: remarks.into(), dropped })))
    }
}

/// Brings the remarks on the files of a bundle together.
#[derive(Debug, Default)]
pub(crate) struct Gathering<'bundle> {
    found: BTreeMap<RemarkCode, Vec<(&'bundle str, &'bundle Remark)>>,
    dropped: Counts,
}

impl<'bundle> Gathering<'bundle> {
    pub(crate) fn add(&mut self, path: &'bundle str, remark: &'bundle Remark) {
        self.found.entry(remark.code).or_default().push((path, remark));
    }

    pub(crate) fn add_all(&mut self, path: &'bundle str, remarks: &'bundle DocumentRemarks) {
        let Some(remarks) = &remarks.0 else { return };
        remarks.kept.iter().for_each(|remark| self.add(path, remark));
        for (code, count) in &remarks.dropped {
            *self.dropped.entry(*code).or_default() += count;
        }
    }

    pub(crate) fn finish(self) -> Remarks {
        let mut counts = self.dropped;
        for (code, found) in &self.found {
            *counts.entry(*code).or_default() += found.len();
        }
        // The bundle has each code at least as often as any of its files, so this is no more than what a
        // file with many remarks kept of each.
        let most = most_of_each(&counts);
        let mut kept = Vec::new();
        for mut found in self.found.into_values() {
            if found.len() > most {
                found.select_nth_unstable(most);
                found.truncate(most);
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

/// The largest number of remarks of each code that can be kept if no code keeps more than another could.
fn most_of_each(counts: &Counts) -> usize {
    let mut ascending: Vec<usize> = counts.values().copied().collect();
    ascending.sort_unstable();
    let (mut left, mut codes) = (MOST_REMARKS, ascending.len());
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
        let mut gathering = Gathering::default();
        for (path, remarks) in &files {
            gathering.add_all(path, remarks);
        }
        gathering.finish()
    }

    fn kept(remarks: &Remarks, code: RemarkCode) -> usize {
        remarks.kept.iter().filter(|kept| kept.remark.code == code).count()
    }

    #[test]
    fn many_of_one_code_do_not_hide_a_few_of_another() {
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
    fn codes_that_all_have_many_keep_as_many_each() {
        let all = |at: usize| RemarkCode::ALL.map(|code| remark(u32::try_from(at).unwrap(), code));
        let files: Vec<_> = (0..2000).map(|at| (format!("{at:05}"), all(at).to_vec())).collect();
        let remarks = gathered(&files);
        assert_eq!(remarks.count(), 20_000);
        assert_eq!(remarks.kept.len(), MOST_REMARKS);
        for code in RemarkCode::ALL {
            assert_eq!(kept(&remarks, code), 100);
        }
    }

    #[test]
    fn one_file_of_many_remarks_holds_few_and_counts_all() {
        let mut many: Vec<Remark> =
            (1..=300_000).map(|line| remark(line, RemarkCode::DuplicateKey)).collect();
        many.push(remark(300_001, RemarkCode::UnknownStatus));
        let document = DocumentRemarks::of(many.clone(), counts(&many));
        assert_eq!(document.0.as_ref().unwrap().kept.len(), MOST_REMARKS);
        let remarks = gathered(&[("a".to_owned(), many)]);
        assert_eq!(remarks.count(), 300_001);
        assert_eq!(remarks.kept.len(), MOST_REMARKS);
        assert_eq!(kept(&remarks, RemarkCode::UnknownStatus), 1);
    }

    #[test]
    fn nothing_to_remark_keeps_nothing() {
        assert_eq!(gathered(&[("a".to_owned(), Vec::new())]), Remarks::default());
        assert_eq!(size_of::<DocumentRemarks>(), size_of::<usize>());
    }

    #[test]
    fn every_code_is_listed_once_and_in_order() {
        assert!(RemarkCode::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        let texts: std::collections::BTreeSet<_> = RemarkCode::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(texts.len(), RemarkCode::ALL.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

        /// However the remarks are spread over files and in whatever order these come: what is kept is what
        /// one gets who sorts all of them and takes the first of each code.
        #[test]
        fn what_is_kept_hangs_on_nothing_but_the_remarks(
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
            let fits = |most: usize| counts.values().map(|count| most.min(*count)).sum::<usize>() <= MOST_REMARKS;
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
