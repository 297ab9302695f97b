//! The bundles of a catalog, each in memory once, however many sources name it (R4).

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::Path,
    sync::Arc,
};

use arc_swap::{ArcSwap, ArcSwapOption, Guard};
use hashbrown::HashMap;

use crate::{
    bundle::Bundle,
    catalog::{enter::WatchedPath, options::Freshness},
    disk::{
        ancestors::AncestorCache,
        directory::Directory,
        events::{EventQueue, QueueGuard},
        fence::Fence,
        location::Location,
        root_ancestors::RootAncestors,
    },
    manifest::snapshot::Snapshot,
};

/// The bundles read so far. Each part is replaced whole, so that a forked process finds it complete.
#[derive(Debug, Default)]
pub(crate) struct Bundles {
    /// By the path that the manifest names them with.
    known: ArcSwap<BTreeMap<String, KnownBundle>>,
    /// The directories above the catalog root, if none of them is marked as memories.
    root_ancestors: ArcSwapOption<RootAncestors>,
    /// By the path of the source: why it is excluded, as far as that was reported.
    excluded: ArcSwap<BTreeMap<String, Exclusion>>,
}

/// A bundle, and how it was reached.
#[derive(Debug, Clone)]
pub(super) struct KnownBundle {
    pub(super) location: Location,
    pub(super) directory: Arc<Path>,
    pub(super) bundle: Arc<Bundle>,
    /// The path that led there, if it is watched.
    pub(super) path: Option<WatchedPath>,
}

/// Why a source is excluded, as far as it matters whether that was reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exclusion {
    /// Its directory lies among memories (Y10).
    AmongMemories,
    /// The system refused what would have to be known.
    Undecided(io::ErrorKind),
}

/// A source whose directory was entered.
pub(super) struct Entered<'snapshot> {
    pub(super) source: u32,
    pub(super) path: &'snapshot str,
    pub(super) directory: Directory,
    pub(super) location: Location,
    pub(super) watched: Option<WatchedPath>,
}

impl Bundles {
    /// The same bundles for a forked process, which has no events yet.
    pub(super) fn inherited(&self) -> Self {
        let mut twins: BTreeMap<u64, Arc<Bundle>> = BTreeMap::new();
        let inherit = |(path, known): (&String, &KnownBundle)| {
            let bundle = twins
                .entry(known.bundle.key())
                .or_insert_with(|| Arc::new(Bundle::new(known.bundle.published())))
                .clone();
            (path.clone(), KnownBundle { bundle, path: None, ..known.clone() })
        };
        let known = ArcSwap::from_pointee(self.known.load().iter().map(inherit).collect());
        let excluded = ArcSwap::new(self.excluded.load_full());
        Self { known, root_ancestors: ArcSwapOption::default(), excluded }
    }

    /// The bundles by the path that the manifest names them with.
    pub(super) fn known(&self) -> Guard<Arc<BTreeMap<String, KnownBundle>>> {
        self.known.load()
    }

    /// The bundle of each entered directory, and notes how it was reached.
    ///
    /// Two paths of one directory share a bundle if the same mount shows it to both; in different mounts, other
    /// directories may be mounted inside. A directory that replaced another at its path gets a new bundle.
    pub(super) fn choose(
        &self,
        entered: &[Entered<'_>],
        freshness: Freshness,
        events: &EventQueue,
    ) -> Vec<Arc<Bundle>> {
        let mut chosen = Vec::with_capacity(entered.len());
        let before = self.known.rcu(|bundles| {
            chosen.clear();
            let mut by_location = by_location(bundles, freshness);
            let mut changed = Vec::new();
            for Entered { path, directory, location, watched, .. } in entered {
                let same = bundles.get(*path).filter(|known| known.location == *location);
                let new = || Arc::new(Bundle::new(None));
                let bundle = match same {
                    Some(known) => Arc::clone(&known.bundle),
                    None if location.has_mount_id() => {
                        Arc::clone(by_location.entry(*location).or_insert_with(new))
                    }
                    None => new(),
                };
                chosen.push(Arc::clone(&bundle));
                if same.is_none_or(|known| known.path != *watched) {
                    let directory = directory.path.as_path().into();
                    let known = KnownBundle { location: *location, directory, bundle, path: *watched };
                    changed.push(((*path).to_owned(), known));
                }
            }
            if changed.is_empty() {
                return Arc::clone(bundles);
            }
            let mut bundles = BTreeMap::clone(bundles);
            bundles.extend(changed);
            Arc::new(bundles)
        });
        let is_replaced = |(entered, bundle): (&Entered<'_>, &Arc<Bundle>)| {
            before.get(entered.path).is_some_and(|known| known.bundle.key() != bundle.key())
        };
        if entered.iter().zip(&chosen).any(is_replaced)
            && let Some(mut queue) = events.drain()
        {
            self.unwatch_forgotten(&before, &mut queue);
        }
        chosen
    }

    /// Unwatches the bundles that were known `before` and are not known now.
    fn unwatch_forgotten(&self, before: &BTreeMap<String, KnownBundle>, queue: &mut QueueGuard<'_>) {
        let kept: BTreeSet<u64> = self.known.load().values().map(|known| known.bundle.key()).collect();
        let gone = before.values().map(|known| known.bundle.key()).filter(|key| !kept.contains(key));
        gone.for_each(|key| queue.unwatch_bundle(key));
    }

    /// Forgets the bundles of paths that no source of the next snapshot names.
    ///
    /// A bundle stays only if the same sources name its path as before: where another source takes a path over,
    /// its directory may have been replaced, and with manual freshness no search would notice.
    pub(super) fn keep_only(&self, current: &Snapshot, next: &Snapshot, events: &EventQueue) {
        let (old, named) = (ids_by_path(current), ids_by_path(next));
        self.retain(|path, _| named.get(path).is_some_and(|ids| old.get(path) == Some(ids)), events);
        if !self.excluded.load().is_empty() {
            self.excluded.rcu(|excluded| {
                let kept = excluded.iter().filter(|(path, _)| named.contains_key(&***path));
                kept.map(|(path, reason)| (path.clone(), *reason)).collect::<BTreeMap<_, _>>()
            });
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&self, events: &EventQueue) {
        self.retain(|_, _| false, events);
    }

    /// Forgets the bundle of a path, and that of a directory by whatever path it was reached.
    pub(super) fn forget_directory(&self, path: &str, location: Location, events: &EventQueue) {
        let is_meant = |at: &str, known: &KnownBundle| at == path || known.location == location;
        if self.known.load().iter().any(|(at, known)| is_meant(at, known)) {
            self.retain(|at, known| !is_meant(at, known), events);
        }
    }

    fn retain(&self, is_kept: impl Fn(&str, &KnownBundle) -> bool, events: &EventQueue) {
        let before = self.known.rcu(|bundles| {
            let kept = bundles.iter().filter(|(path, known)| is_kept(path, known));
            kept.map(|(path, known)| (path.clone(), known.clone())).collect::<BTreeMap<_, _>>()
        });
        let Some(mut queue) = events.drain() else { return };
        self.unwatch_forgotten(&before, &mut queue);
        queue.unwatch_paths();
    }

    /// Notes why the source of a path is excluded, or that it is not. Whether there is a reason that was not
    /// reported.
    pub(super) fn note_exclusion(&self, path: &str, reason: Option<Exclusion>) -> bool {
        if self.excluded.load().get(path).copied() == reason {
            return false;
        }
        self.excluded.rcu(|excluded| {
            let mut excluded = BTreeMap::clone(excluded);
            match reason {
                Some(reason) => excluded.insert(path.to_owned(), reason),
                None => excluded.remove(path),
            };
            excluded
        });
        reason.is_some()
    }

    /// The events until now, if the directories above the catalog root are the same as before and none is marked
    /// as memories.
    pub(super) fn drain_below_unmarked_root<'events>(
        &self,
        root: Location,
        fence: &Fence,
        events: &'events EventQueue,
    ) -> Option<QueueGuard<'events>> {
        // Checked before the queue is locked, since it may take several system calls.
        let known = self.root_ancestors.load_full();
        if let Some(ancestors) = known.filter(|ancestors| ancestors.are_unmarked_where_polled()) {
            let queue = events.drain()?;
            if ancestors.are_unchanged(root, queue.ancestors_version()) {
                return Some(queue);
            }
        }
        let checked = RootAncestors::check(fence.root(), events).map(Arc::new);
        self.root_ancestors.store(checked.clone());
        let ancestors = checked?;
        events.drain().filter(|queue| ancestors.are_unchanged(root, queue.ancestors_version()))
    }

    /// Compares every watched bundle with the disk, and marks those that differ as changed, so that the next
    /// search compares them again.
    pub(super) fn check(&self, fence: &Fence, events: &EventQueue) {
        let mut found = AncestorCache::default();
        for (path, known) in &**self.known.load() {
            let is_watched = known.bundle.published().is_some_and(|state| state.compared_because.is_none());
            if is_watched
                && let Ok(directory) = fence.enter(path)
                && Location::of_directory(&directory) == known.location
                && known.bundle.differs(&directory, &mut found)
                && let Some(mut queue) = events.drain()
            {
                queue.mark_dirty(known.bundle.key());
            }
        }
    }
}

/// The bundles by their directories, where equal directories certainly hold the same.
///
/// With manual freshness none: what is at the other paths is not looked at, and a directory that was made since
/// may have the inode number of one that is gone.
fn by_location(
    bundles: &BTreeMap<String, KnownBundle>,
    freshness: Freshness,
) -> HashMap<Location, Arc<Bundle>> {
    let mut by_location = HashMap::with_capacity(bundles.len());
    if freshness == Freshness::Exact {
        for known in bundles.values().filter(|known| known.location.has_mount_id()) {
            by_location.entry(known.location).or_insert_with(|| Arc::clone(&known.bundle));
        }
    }
    by_location
}

/// The ids of the enabled sources at each path.
fn ids_by_path(snapshot: &Snapshot) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in snapshot.sources.iter().filter(|source| source.enabled) {
        ids.entry(&source.path).or_default().insert(&source.id);
    }
    ids
}
