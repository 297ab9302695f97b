//! What one directory of a bundle holds.

use std::io;

use crate::{
    disk::{
        os_error::{fail_if_exhausted, plain},
        stamp::Stamp,
    },
    document::{
        name::why_not_read,
        problem::Problem,
        remark::{FileRemark, Remark, RemarkCode},
    },
};

/// The remark on a directory of memories inside a bundle of knowledge (Y10).
const MEMORIES: &str = "it holds memories, which are no knowledge";

/// The file at the root of a bundle that describes the bundle. It is no concept.
pub(crate) const ROOT_INDEX: &str = "index.md";

/// A file that should be a concept, or the [`ROOT_INDEX`].
#[derive(Debug, Clone)]
pub(crate) struct ListedFile {
    /// The path below the bundle root, with `/`.
    pub(crate) path: String,
    /// The file's stamp when it was listed.
    pub(crate) stamp: Stamp,
    /// If the file is a link: the path of its target below the root.
    pub(super) target: Option<String>,
}

/// What one directory of a bundle holds.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    /// Files that should be concepts, and the [`ROOT_INDEX`], sorted by path.
    pub(crate) files: Vec<ListedFile>,
    /// Entries that should be concepts or directories and cannot be read.
    pub(crate) problems: Vec<Problem>,
    /// Remarks on names that are ignored (B11), sorted by path.
    pub(crate) remarks: Vec<FileRemark>,
    /// The paths of the directories in it, sorted.
    pub(crate) directories: Vec<String>,
}

impl Listing {
    /// For a directory that cannot be listed.
    pub(super) fn refused(path: String, reason: String) -> Self {
        Self { problems: vec![Problem { path, reason }], ..Self::default() }
    }

    /// For a sealed directory.
    pub(super) fn sealed(path: &str) -> Self {
        Self { remarks: vec![FileRemark::of_memories(path, MEMORIES)], ..Self::default() }
    }

    pub(super) fn refuse(&mut self, path: String, reason: &str) {
        self.problems.push(Problem { path, reason: reason.to_owned() });
    }

    /// Adds a problem for an entry that the system does not let us read.
    ///
    /// # Errors
    /// The process is out of descriptors or memory.
    pub(super) fn refuse_unreadable(&mut self, path: String, error: &io::Error) -> io::Result<()> {
        fail_if_exhausted(error)?;
        self.refuse(path, &format!("it cannot be read: {}", plain(error)));
        Ok(())
    }

    /// Ignores a file that is no concept by its name, with a remark if the name looks like that of one.
    pub(super) fn ignore(&mut self, name: &str, path: impl FnOnce() -> String) {
        if let Some(sentence) = why_not_read(name) {
            let remark = Remark { line: None, code: RemarkCode::NameNotRead, sentence };
            self.remarks.push(FileRemark { path: path(), remark });
        }
    }
}
