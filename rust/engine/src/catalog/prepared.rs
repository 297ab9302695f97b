//! The sources that one call needs, each brought up to date once (S4, F1, Y10).

#[cfg(test)]
mod tests;

use crate::{
    ask::sources::{Searchable, SourceIdentity, Sources, Unavailable},
    bundle::{Bundle, UpToDate, error::CompareError, options::CompareOptions, state::BundleState},
    catalog::{
        bundles::{Bundles, Entered, Exclusion},
        enter::{WatchedPath, enter},
        options::Freshness,
    },
    disk::{
        ancestors::AncestorCache, directory::Directory, events::EventQueue, fence::Fence, identity::Identity,
        location::Location, os_error::plain, sealed::SealedDirectories,
    },
    document::problem::{NewProblem, Problem},
    manifest::{
        snapshot::Snapshot,
        source::{Role, Source},
    },
    memory::KnownDirectories,
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};
use std::{collections::BTreeMap, os::fd::AsFd, path::Path, sync::Arc};

/// At most this many sources are brought up to date at a time. Each holds one file descriptor meanwhile, and a
/// process may often have no more than 1024.
const MAX_OPEN_DIRECTORIES: usize = 128;

/// How sources are brought up to date.
#[derive(Debug, Clone, Copy)]
pub(super) struct Preparation<'call> {
    pub(super) fence: &'call Fence,
    pub(super) bundles: &'call Bundles,
    pub(super) events: &'call EventQueue,
    pub(super) known_memories: &'call KnownDirectories,
    pub(super) freshness: Freshness,
    pub(super) max_bytes: u64,
    pub(super) threads: usize,
    pub(super) task: &'call Task,
}

/// The sources that a call needs, by position in the snapshot.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    sources: BTreeMap<u32, Result<Ready, NotReady>>,
    /// Problem files that were not reported before.
    pub(super) new_problems: Vec<NewProblem>,
}

/// A source as one call sees it.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    pub(super) identity: Identity,
    pub(super) directory: Arc<Path>,
    pub(super) state: Arc<BundleState>,
}

/// A source that cannot be searched.
#[derive(Debug, Clone)]
pub(super) struct NotReady {
    /// Why, for the host, as the end of a sentence and without absolute paths (D4).
    pub(super) reason: String,
    identity: Option<Identity>,
    /// Set if the source is excluded because of memories (Y10). Then the reason is for the host alone: an asker
    /// should not learn where memories are.
    pub(super) exclusion: Option<Exclusion>,
}

/// What an asker is told of a source whose reason is for the host alone.
const NOT_SERVED: &str = "its directory is not served";

impl NotReady {
    fn because(reason: String, identity: Option<Identity>) -> Self {
        Self { reason, identity, exclusion: None }
    }
}

impl Sources for Prepared {
    fn searchable(&self, source: u32) -> Result<Searchable<'_>, Unavailable<'_>> {
        match self.get(source) {
            Ok(ready) => Ok(Searchable { identity: identity_of(ready.identity), index: &ready.state.index }),
            Err(not_ready) => Err(Unavailable {
                identity: not_ready.identity.map(identity_of),
                reason: if not_ready.exclusion.is_some() { NOT_SERVED } else { &not_ready.reason },
            }),
        }
    }
}

/// One directory of the file system is one source (R4).
fn identity_of(Identity { device, inode }: Identity) -> SourceIdentity {
    SourceIdentity(u128::from(device) << 64 | u128::from(inode))
}

/// A directory, and the sources that name it.
struct Named {
    directory: Directory,
    bundle: Arc<Bundle>,
    sources: Vec<u32>,
}

impl Prepared {
    /// A source that was prepared, or why it is unavailable.
    pub(super) fn get(&self, source: u32) -> Result<&Ready, &NotReady> {
        self.sources.get(&source).expect("a call prepares every source that it uses").as_ref()
    }

    /// Adds the sources that certainly did not change, without reading anything; returns the others.
    pub(super) fn add_unchanged(
        &mut self,
        snapshot: &Snapshot,
        sources: &[u32],
        preparation: Preparation<'_>,
    ) -> Vec<u32> {
        let Preparation { fence, events, bundles, known_memories, .. } = preparation;
        let known = bundles.known();
        let mut watched = None;
        if preparation.freshness == Freshness::Exact {
            let root = events.why_unavailable().is_none().then(|| Location::at_path(fence.root())).flatten();
            let drained =
                root.and_then(|root| Some((root, bundles.drain_below_unmarked_root(root, fence, events)?)));
            let Some((root, queue)) = drained else { return self.missing(sources) };
            watched = Some((WatchedPath { root, version: queue.path_version() }, queue));
        }
        for &source in sources {
            if !self.sources.contains_key(&source)
                && let Some(known) = known.get(&snapshot.sources[source as usize].path)
                && watched.as_ref().is_none_or(|(path, queue)| {
                    known.path == Some(*path) && queue.is_clean(known.bundle.key())
                })
                && let Some(state) = known.bundle.published()
                && known_memories.are_all_in(&state.sealed, snapshot)
            {
                let (identity, directory) = (known.location.identity, Arc::clone(&known.directory));
                self.sources.insert(source, Ok(Ready { identity, directory, state }));
            }
        }
        self.missing(sources)
    }

    fn missing(&self, sources: &[u32]) -> Vec<u32> {
        sources.iter().copied().filter(|source| !self.sources.contains_key(source)).collect()
    }

    /// Adds sources that are not here yet: enters their directories again (S4), and brings their bundles
    /// up to date, on several threads.
    pub(super) fn add(
        &mut self,
        snapshot: &Snapshot,
        sources: &[u32],
        preparation: Preparation<'_>,
    ) -> Result<(), Abandoned> {
        let missing = self.missing(sources);
        if missing.is_empty() {
            return Ok(());
        }
        let Preparation { fence, known_memories, task, .. } = preparation;
        let sealed = Arc::new(known_memories.sealed(fence, snapshot, task)?);
        for some in missing.chunks(MAX_OPEN_DIRECTORIES) {
            task.go_on()?;
            let entered = self.enter(snapshot, some, preparation, &sealed);
            let directories = by_bundle(entered, preparation);
            self.update(snapshot, directories, preparation, &sealed)?;
        }
        Ok(())
    }

    /// Enters the directories of sources, and notes those that cannot be entered.
    fn enter<'snapshot>(
        &mut self,
        snapshot: &'snapshot Snapshot,
        sources: &[u32],
        preparation: Preparation<'_>,
        sealed: &SealedDirectories,
    ) -> Vec<Entered<'snapshot>> {
        let Preparation { fence, bundles, events, .. } = preparation;
        let mut entered = Vec::with_capacity(sources.len());
        let mut found = AncestorCache::default();
        for &source in sources {
            let Source { path, role, .. } = &snapshot.sources[source as usize];
            let (directory, watched) = match enter(fence, events, path) {
                Ok(opened) => opened,
                Err(reason) => {
                    self.sources.insert(source, Err(NotReady::because(reason, None)));
                    continue;
                }
            };
            let location = Location::of_directory(&directory);
            if *role == Role::Knowledge
                && let Some(not_ready) = among_memories(fence, path, &directory, sealed, &mut found)
            {
                bundles.forget_directory(path, location, events);
                if bundles.note_exclusion(path, not_ready.exclusion) {
                    let (path, reason) = (".".to_owned(), not_ready.reason.clone());
                    self.report(source, vec![Problem { path, reason }]);
                }
                self.sources.insert(source, Err(not_ready));
            } else {
                bundles.note_exclusion(path, None);
                entered.push(Entered { source, path, directory, location, watched });
            }
        }
        entered
    }

    /// Brings bundles up to date, and adds the sources that name their directories.
    fn update(
        &mut self,
        snapshot: &Snapshot,
        directories: Vec<Named>,
        preparation: Preparation<'_>,
        sealed: &Arc<SealedDirectories>,
    ) -> Result<(), Abandoned> {
        let Preparation { events, max_bytes, threads, task, .. } = preparation;
        // Memories are counted, whatever is sealed.
        let nothing = Arc::default();
        // Twice as many threads as cores: none is idle when one directory is done before another.
        let each = (2 * threads).div_ceil(directories.len().max(1)).min(threads);
        let updated = parallel::map(&directories, threads, |named| {
            let source = named.sources[0];
            let is_knowledge = snapshot.sources[source as usize].role == Role::Knowledge;
            let sealed = if is_knowledge { sealed } else { &nothing };
            let options = CompareOptions { events, max_bytes, threads: each, task, sealed, source };
            named.bundle.update(&named.directory, options)
        });
        for (Named { directory, sources, .. }, updated) in directories.into_iter().zip(updated) {
            let identity = directory.identity;
            let result = match updated {
                Err(CompareError::Abandoned) => return Err(Abandoned),
                Err(CompareError::Io(error)) => {
                    let reason = format!("its directory cannot be read: {}", plain(&error));
                    Err(NotReady::because(reason, Some(identity)))
                }
                Ok(UpToDate { state, new_problems }) => {
                    self.report(sources[0], new_problems);
                    Ok(Ready { identity, directory: directory.path.into(), state })
                }
            };
            self.sources.extend(sources.into_iter().map(|source| (source, result.clone())));
        }
        Ok(())
    }

    /// Adds problem files that were not reported before.
    fn report(&mut self, source: u32, problems: Vec<Problem>) {
        self.new_problems.extend(problems.into_iter().map(|problem| NewProblem { source, problem }));
    }
}

/// One directory is read once for all sources that share its bundle.
fn by_bundle(entered: Vec<Entered<'_>>, preparation: Preparation<'_>) -> Vec<Named> {
    let Preparation { bundles, freshness, events, .. } = preparation;
    let chosen = bundles.choose(&entered, freshness, events);
    let mut directories: BTreeMap<u64, Named> = BTreeMap::new();
    for (Entered { source, directory, .. }, bundle) in entered.into_iter().zip(chosen) {
        directories
            .entry(bundle.key())
            .or_insert_with(|| Named { directory, bundle, sources: Vec::new() })
            .sources
            .push(source);
    }
    directories.into_values().collect()
}

/// Why a knowledge source is unavailable whose directory lies among memories (Y10).
fn among_memories(
    fence: &Fence,
    path: &str,
    directory: &Directory,
    sealed: &SealedDirectories,
    found: &mut AncestorCache,
) -> Option<NotReady> {
    let among = if sealed.is_sealed_path(fence, path) {
        Ok(true)
    } else {
        sealed.is_within_sealed(directory.handle.as_fd(), found)
    };
    let (exclusion, reason) = match among {
        Ok(false) => return None,
        Ok(true) => {
            let reason = "its directory lies among memories, which are no knowledge";
            (Exclusion::AmongMemories, reason.to_owned())
        }
        Err(error) => (
            Exclusion::Undecided(error.kind()),
            format!("it cannot be decided whether its directory lies among memories: {}", plain(&error)),
        ),
    };
    // No identity: the same directory may be knowledge where another mount shows it.
    Some(NotReady { reason, identity: None, exclusion: Some(exclusion) })
}
