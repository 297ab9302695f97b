//! How the files of a bundle differ from its index.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use crate::{
    bundle::state::{DirectoryState, FileChange, FileContent, FileState, concept_id},
    disk::{
        listing::{Listing, ROOT_INDEX},
        settling::Reading,
        stamp::Stamp,
    },
    document::{concept::Concept, remark::DocumentRemarks, version::is_dated},
    search::index::Index,
    work::task::{Abandoned, Task},
};

/// Concepts that leave an index and that come into it.
#[derive(Default)]
pub(super) struct Changes {
    /// Ids of concepts that are gone or replaced.
    removed: BTreeSet<String>,
    added: Vec<Concept>,
}

impl Changes {
    /// Takes over a directory as it is now, and gives what is known of it from now on.
    pub(super) fn take(
        &mut self,
        old: &DirectoryState,
        listing: Listing,
        changes: Vec<FileChange>,
        index: &Index,
        reading_of: &dyn Fn(&Stamp) -> Reading,
    ) -> DirectoryState {
        let Listing { files, problems, remarks, directories } = listing;
        let mut new = DirectoryState { problems, remarks, directories, ..DirectoryState::default() };
        new.files.reserve_exact(files.len());
        // Places in `old.files` of concepts that stay in the index.
        let mut kept: BTreeSet<usize> = BTreeSet::new();
        for (file, change) in files.into_iter().zip(changes) {
            match change {
                FileChange::Gone => {}
                FileChange::None(at) => {
                    kept.insert(at);
                    new.dates_verifications |= file.path == ROOT_INDEX && old.dates_verifications;
                    new.files.push(old.files[at].clone());
                }
                FileChange::Read(content) => {
                    let at = old.files.binary_search_by(|known| known.path.cmp(&file.path)).ok();
                    let known = at.map(|at| &old.files[at]).filter(|known| known.stamp == content.stamp);
                    let trust = reading_of(&content.stamp).judge(
                        &content.stamp,
                        content.settled,
                        known.map(|known| known.trust),
                    );
                    let (state, stays) = self.take_file(file.path, *content, trust, index, &mut new);
                    kept.extend(at.filter(|_| stays));
                    new.files.push(state);
                }
            }
        }
        let lost = old.files.iter().enumerate().filter(|(at, _)| !kept.contains(at));
        self.removed.extend(lost.filter_map(|(_, file)| file.concept()));
        new
    }

    /// Takes over a file that was read, and whether its concept stays in the index as it is.
    fn take_file(
        &mut self,
        path: String,
        content: FileContent,
        trust: crate::disk::settling::Trust,
        index: &Index,
        directory: &mut DirectoryState,
    ) -> (FileState, bool) {
        let FileContent { stamp, document, .. } = content;
        let mut state = FileState { path, stamp, trust, problem: None, remarks: DocumentRemarks::default() };
        if state.path == ROOT_INDEX {
            let version = document.ok().and_then(|read| read.okf_version);
            directory.dates_verifications = version.is_some_and(|version| is_dated(&version));
            return (state, false);
        }
        let read = match document {
            Ok(read) => read,
            Err(reason) => {
                state.problem = Some(reason);
                return (state, false);
            }
        };
        state.remarks = DocumentRemarks::of(read.remarks, read.remark_counts);
        let id = concept_id(&state.path);
        let is_same = index.get(id).is_some_and(|old| old.document.says_the_same(&read.document));
        if !is_same {
            self.added.push(Concept { id: id.to_owned(), document: read.document });
        }
        (state, is_same)
    }

    /// Removes the concepts of files that are not there any more.
    pub(super) fn remove_files(&mut self, files: &[FileState]) {
        self.removed.extend(files.iter().filter_map(FileState::concept));
    }

    /// Gives every concept the trust tier that follows from the version that its bundle declares (L5).
    pub(super) fn apply_version(
        &mut self,
        index: &Index,
        before: Option<&BTreeMap<Arc<str>, Arc<DirectoryState>>>,
        after: &BTreeMap<Arc<str>, Arc<DirectoryState>>,
    ) {
        let is_dated = |directories: &BTreeMap<Arc<str>, Arc<DirectoryState>>| {
            directories.get("").is_some_and(|root| root.dates_verifications)
        };
        let dated = is_dated(after);
        for concept in &mut self.added {
            concept.document.count_verified(dated);
        }
        if before.is_some_and(is_dated) == dated {
            return;
        }
        let added: BTreeSet<&str> = self.added.iter().map(|concept| &*concept.id).collect();
        let depends = |concept: &&Arc<Concept>| concept.document.depends_on_version();
        let stays =
            |concept: &&Arc<Concept>| !added.contains(&*concept.id) && !self.removed.contains(&concept.id);
        let mut others: Vec<Concept> =
            index.concepts().filter(depends).filter(stays).map(|concept| (**concept).clone()).collect();
        for concept in &mut others {
            concept.document.count_verified(dated);
            self.removed.insert(concept.id.clone());
        }
        self.added.append(&mut others);
    }

    /// The index after these changes.
    pub(super) fn applied_to(
        self,
        index: Arc<Index>,
        threads: usize,
        task: &Task,
    ) -> Result<Arc<Index>, Abandoned> {
        if self.removed.is_empty() && self.added.is_empty() {
            return Ok(index);
        }
        let removed: Vec<String> = self.removed.into_iter().collect();
        Ok(Arc::new(index.with(&removed, self.added, threads, task)?))
    }
}
