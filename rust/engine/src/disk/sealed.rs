//! Sealed directories: they hold memories, so no knowledge source shows what is in them (Y8, Y10).

use std::{io, os::fd::BorrowedFd, sync::Arc};

use crate::{
    disk::{
        ancestors::AncestorCache,
        directory_set::DirectorySet,
        fence::Fence,
        marks::{is_mark_name, is_marked},
    },
    manifest::source::Tier,
};

/// Which directories a reader must not read. The default seals nothing: for reading memories themselves.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct SealedDirectories {
    /// Whether marked directories are sealed.
    by_marks: bool,
    /// Whether the reader reads memories, in the directory of one scope.
    in_scope: bool,
    /// The memory sources that this was made for.
    memory_sources: Vec<(String, Tier)>,
    /// The directories in which memory sources keep or kept their scopes, enabled or not. They may have no mark.
    tiers: Arc<DirectorySet>,
    /// Directories that should have a mark and could not be marked.
    unmarked: Arc<DirectorySet>,
    /// Directories of memories that cannot be entered, as folded names from the catalog root.
    paths: Vec<Vec<String>>,
}

impl SealedDirectories {
    /// For readers of the directory of one scope. Directories without a mark that they find there get one.
    pub(crate) fn in_scope() -> Self {
        Self { in_scope: true, ..Self::default() }
    }

    /// Whether the reader reads memories, in the directory of one scope.
    pub(crate) fn is_in_scope(&self) -> bool {
        self.in_scope
    }

    /// For readers of knowledge sources.
    pub(crate) fn for_knowledge(
        memory_sources: Vec<(String, Tier)>,
        tiers: Arc<DirectorySet>,
        unmarked: Arc<DirectorySet>,
        paths: Vec<Vec<String>>,
    ) -> Self {
        Self { by_marks: true, in_scope: false, memory_sources, tiers, unmarked, paths }
    }

    /// Whether this was made for these memory sources and these sets of directories.
    pub(crate) fn is_up_to_date(
        &self,
        memory_sources: &[(String, Tier)],
        tiers: &DirectorySet,
        unmarked: &DirectorySet,
    ) -> bool {
        self.memory_sources == memory_sources && *self.unmarked == *unmarked && *self.tiers == *tiers
    }

    /// Whether an entry of this name seals its directory.
    pub(crate) fn is_seal(&self, name: &[u8]) -> bool {
        self.by_marks && is_mark_name(name)
    }

    /// Whether a directory is known to be sealed, without looking for its mark.
    pub(crate) fn contains(&self, directory: BorrowedFd<'_>) -> bool {
        self.tiers.contains(directory) || self.unmarked.contains(directory)
    }

    /// Whether a directory is sealed: it is known, or has a mark.
    ///
    /// # Errors
    /// The system does not tell.
    pub(crate) fn is_sealed(&self, directory: BorrowedFd<'_>) -> io::Result<bool> {
        Ok(self.contains(directory) || (self.by_marks && is_marked(directory)?))
    }

    /// Whether a directory or one of its ancestors is sealed.
    ///
    /// # Errors
    /// The system does not tell.
    pub(crate) fn is_within_sealed(
        &self,
        directory: BorrowedFd<'_>,
        cache: &mut AncestorCache,
    ) -> io::Result<bool> {
        if !self.by_marks {
            return Ok(false);
        }
        cache.any(directory, |identity, handle| {
            let is_known = self.tiers.contains_identity(identity, handle)
                || self.unmarked.contains_identity(identity, handle);
            Ok(is_known || is_marked(handle)?)
        })
    }

    /// Whether a path of the manifest leads, by its names alone, to a directory of memories that cannot be entered,
    /// or below one.
    pub(crate) fn is_sealed_path(&self, fence: &Fence, path: &str) -> bool {
        !self.paths.is_empty()
            && fence
                .folded_names(path)
                .is_some_and(|names| self.paths.iter().any(|sealed| names.starts_with(sealed)))
    }
}
