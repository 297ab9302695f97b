//! What a bundle held when it was last compared with the disk.

use std::{collections::BTreeMap, sync::Arc, time::Instant as Moment};

use crate::{
    disk::{
        listing::{Listing, ROOT_INDEX},
        sealed::Sealed,
        settling::Trust,
        stamp::Stamp,
    },
    document::{
        problem::Problem,
        remark::{DocumentRemarks, FileRemark, Gathering, Remarks},
    },
    search::index::Index,
};

/// Why and how far a bundle is watched by the event queue.
#[derive(Debug, Clone)]
pub(crate) struct Watching {
    /// Why the bundle is compared with the disk before each search; `None` if events suffice.
    pub(crate) compared_because: Option<Arc<str>>,
    /// Why only its directories are watched and not its files, if that is so. A change by a hard link or an open
    /// descriptor from outside the bundle is then found by the background check.
    pub(crate) coarse_because: Option<Arc<str>>,
    /// When watching was last tried.
    pub(crate) tried: Moment,
}

/// A bundle after one comparison.
#[derive(Debug, Clone)]
pub(crate) struct BundleState {
    /// What can be searched.
    pub(crate) index: Arc<Index>,
    /// Files that cannot be searched, sorted by path.
    pub(crate) problems: Arc<[Problem]>,
    /// Why the bundle is compared with the disk before each search; `None` if events suffice.
    pub(crate) compared_because: Option<Arc<str>>,
    /// See [`Watching`].
    pub(super) coarse_because: Option<Arc<str>>,
    /// When watching was last tried.
    pub(super) tried: Moment,
    /// The directories that were not entered.
    pub(crate) sealed: Arc<Sealed>,
    pub(super) directories: BTreeMap<Arc<str>, Arc<DirectoryState>>,
}

impl BundleState {
    pub(super) fn new(
        index: Arc<Index>,
        directories: BTreeMap<Arc<str>, Arc<DirectoryState>>,
        sealed: Arc<Sealed>,
        watching: Watching,
    ) -> Self {
        let problems = problems_of(&directories);
        let Watching { compared_because, coarse_because, tried } = watching;
        Self { index, problems, compared_because, coarse_because, tried, sealed, directories }
    }

    /// Why events do not tell of every change in time; `None` if they do.
    pub(crate) fn reported_because(&self) -> Option<&str> {
        self.compared_because.as_deref().or(self.coarse_because.as_deref())
    }

    pub(super) fn count_files(&self) -> usize {
        self.directories.values().map(|directory| directory.files.len()).sum()
    }

    /// The remarks on served files and on names that are no concepts (B11). Collected on demand: no search needs
    /// them.
    pub(crate) fn remarks(&self) -> Remarks {
        let mut gathering = Gathering::default();
        for directory in self.directories.values() {
            directory.remarks.iter().for_each(|on| gathering.add(&on.path, &on.remark));
            directory.files.iter().for_each(|file| gathering.add_all(&file.path, &file.remarks));
        }
        gathering.finish()
    }

    /// Whether listings, made without opening files, show what is known.
    pub(super) fn resembles(&self, listings: &[(String, Listing)]) -> bool {
        listings.len() == self.directories.len()
            && listings.iter().all(|(path, listing)| {
                self.directories.get(&**path).is_some_and(|directory| directory.resembles(listing))
            })
    }
}

/// Everything that cannot be searched, sorted by path.
fn problems_of(directories: &BTreeMap<Arc<str>, Arc<DirectoryState>>) -> Arc<[Problem]> {
    let each = directories.values().flat_map(|directory| {
        let files = directory.files.iter().filter_map(FileState::as_problem);
        directory.problems.iter().cloned().chain(files)
    });
    let mut problems: Vec<Problem> = each.collect();
    problems.sort_unstable();
    problems.into()
}

/// What was read of one directory of a bundle.
#[derive(Debug, Default)]
pub(super) struct DirectoryState {
    /// Sorted by path.
    pub(super) files: Vec<FileState>,
    pub(super) problems: Vec<Problem>,
    pub(super) remarks: Vec<FileRemark>,
    /// The paths of the directories in it, sorted.
    pub(super) directories: Vec<String>,
    /// Whether the root `index.md` is here and declares a version of the format from which on a verification
    /// counts only for content that is older than it (L5).
    pub(super) dates_verifications: bool,
}

impl DirectoryState {
    /// Whether a listing, and what became of each of its files, shows no change.
    pub(super) fn is_unchanged(&self, listing: &Listing, files: &[FileChange]) -> bool {
        files.len() == self.files.len()
            && files.iter().all(|file| matches!(file, FileChange::None(_)))
            && self.has_same_names(listing)
            && !(listing.files.is_empty() && listing.directories.is_empty())
    }

    /// Whether a listing, made without opening files, shows no change.
    fn resembles(&self, listing: &Listing) -> bool {
        self.has_same_names(listing)
            && listing.files.len() == self.files.len()
            && listing.files.iter().zip(&self.files).all(|(file, known)| {
                file.path == known.path && (file.stamp == known.stamp || known.problem.is_some())
            })
    }

    fn has_same_names(&self, listing: &Listing) -> bool {
        listing.problems == self.problems
            && listing.remarks == self.remarks
            && listing.directories == self.directories
    }
}

/// What is known of one file.
#[derive(Debug, Clone)]
pub(super) struct FileState {
    pub(super) path: String,
    pub(super) stamp: Stamp,
    pub(super) trust: Trust,
    /// Why the file is not a concept, if it is none.
    pub(super) problem: Option<String>,
    pub(super) remarks: DocumentRemarks,
}

impl FileState {
    fn as_problem(&self) -> Option<Problem> {
        let reason = self.problem.clone()?;
        Some(Problem { path: self.path.clone(), reason })
    }

    /// The id of the concept that the file is, if it is one.
    pub(super) fn concept(&self) -> Option<String> {
        let is_concept = self.problem.is_none() && self.path != ROOT_INDEX;
        is_concept.then(|| concept_id(&self.path).to_owned())
    }
}

/// What became of a listed file since the last comparison.
pub(super) enum FileChange {
    /// Nothing; it stands at this place among the known files.
    None(usize),
    /// It is new, or may have changed.
    Read(Box<FileContent>),
    /// It disappeared after it was listed.
    Gone,
}

/// What a file says now.
pub(super) struct FileContent {
    pub(super) stamp: Stamp,
    /// Whether the stamp stayed the same while the file was read.
    pub(super) settled: bool,
    pub(super) document: Result<crate::document::ParsedFile, String>,
}

/// The id of the concept in the file at a path (B2).
pub(super) fn concept_id(path: &str) -> &str {
    path.strip_suffix(".md").unwrap_or(path)
}
