//! The bundles of a catalog, each in memory once, however many sources name it (R4).

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::Arc,
};

use arc_swap::{ArcSwap, ArcSwapOption, Guard};
use hashbrown::HashMap;

use crate::{
    bundle::Bundle,
    catalog::{enter::WatchedPath, options::Freshness},
    disk::{
        above::{Found, Roof, Spot},
        directory::Directory,
        events::{Events, Look},
        fence::Fence,
    },
    manifest::snapshot::Snapshot,
};

/// The bundles read so far. Each part is replaced whole, so that a forked process finds it complete.
#[derive(Debug, Default)]
pub(crate) struct Bundles {
    /// By the path that the manifest names them with.
    known: ArcSwap<BTreeMap<String, KnownBundle>>,
    /// The directories above the catalog root, if none of them is marked as memories.
    roof: ArcSwapOption<Roof>,
    /// By the path of the source: why it is excluded, as far as that was reported.
    excluded: ArcSwap<BTreeMap<String, String>>,
}

/// A bundle, and how it was reached.
#[derive(Debug, Clone)]
pub(super) struct KnownBundle {
    pub(super) spot: Spot,
    pub(super) directory: Arc<Path>,
    pub(super) bundle: Arc<Bundle>,
    /// The path that led there, if it is watched.
    pub(super) path: Option<WatchedPath>,
}

/// A source whose directory was entered.
pub(super) struct Entered<'snapshot> {
    pub(super) source: u32,
    pub(super) path: &'snapshot str,
    pub(super) directory: Directory,
    pub(super) spot: Spot,
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
        Self { known, roof: ArcSwapOption::default(), excluded }
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
        events: &Events,
    ) -> Vec<Arc<Bundle>> {
        let mut chosen = Vec::with_capacity(entered.len());
        let before = self.known.rcu(|bundles| {
            chosen.clear();
            let mut by_spot = by_spot(bundles, freshness);
            let mut changed = Vec::new();
            for Entered { path, directory, spot, watched, .. } in entered {
                let same = bundles.get(*path).filter(|known| known.spot == *spot);
                let new = || Arc::new(Bundle::new(None));
                let bundle = match same {
                    Some(known) => Arc::clone(&known.bundle),
                    None if spot.is_certain() => Arc::clone(by_spot.entry(*spot).or_insert_with(new)),
                    None => new(),
                };
                chosen.push(Arc::clone(&bundle));
                if same.is_none_or(|known| known.path != *watched) {
                    let directory = directory.path.as_path().into();
                    let known = KnownBundle { spot: *spot, directory, bundle, path: *watched };
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
            && let Some(mut look) = events.look()
        {
            self.unwatch_forgotten(&before, &mut look);
        }
        chosen
    }

    /// Unwatches the bundles that were known `before` and are not known now.
    fn unwatch_forgotten(&self, before: &BTreeMap<String, KnownBundle>, look: &mut Look<'_>) {
        let kept: BTreeSet<u64> = self.known.load().values().map(|known| known.bundle.key()).collect();
        let gone = before.values().map(|known| known.bundle.key()).filter(|key| !kept.contains(key));
        gone.for_each(|key| look.release(key));
    }

    /// Forgets the bundles of paths that no source of the next snapshot names.
    ///
    /// A bundle stays only if the same sources name its path as before: where another source takes a path over,
    /// its directory may have been replaced, and with manual freshness nobody would look.
    pub(super) fn keep_only(&self, current: &Snapshot, next: &Snapshot, events: &Events) {
        let (old, named) = (ids_by_path(current), ids_by_path(next));
        self.retain(|path, _| named.get(path).is_some_and(|ids| old.get(path) == Some(ids)), events);
        if !self.excluded.load().is_empty() {
            self.excluded.rcu(|excluded| {
                let kept = excluded.iter().filter(|(path, _)| named.contains_key(&***path));
                kept.map(|(path, reason)| (path.clone(), reason.clone())).collect::<BTreeMap<_, _>>()
            });
        }
    }

    /// Forgets everything.
    pub(super) fn clear(&self, events: &Events) {
        self.retain(|_, _| false, events);
    }

    /// Forgets the bundle of a path, and that of a directory by whatever path it was reached.
    pub(super) fn forget_directory(&self, path: &str, spot: Spot, events: &Events) {
        let is_meant = |at: &str, known: &KnownBundle| at == path || known.spot == spot;
        if self.known.load().iter().any(|(at, known)| is_meant(at, known)) {
            self.retain(|at, known| !is_meant(at, known), events);
        }
    }

    fn retain(&self, is_kept: impl Fn(&str, &KnownBundle) -> bool, events: &Events) {
        let before = self.known.rcu(|bundles| {
            let kept = bundles.iter().filter(|(path, known)| is_kept(path, known));
            kept.map(|(path, known)| (path.clone(), known.clone())).collect::<BTreeMap<_, _>>()
        });
        let Some(mut look) = events.look() else { return };
        self.unwatch_forgotten(&before, &mut look);
        look.forget_ways();
    }

    /// Notes why the source of a path is excluded, or that it is not. Whether there is a reason that was not
    /// reported.
    pub(super) fn note_exclusion(&self, path: &str, reason: Option<&str>) -> bool {
        if self.excluded.load().get(path).map(String::as_str) == reason {
            return false;
        }
        self.excluded.rcu(|excluded| {
            let mut excluded = BTreeMap::clone(excluded);
            match reason {
                Some(reason) => excluded.insert(path.to_owned(), reason.to_owned()),
                None => excluded.remove(path),
            };
            excluded
        });
        reason.is_some()
    }

    /// The events until now, if the directories above the catalog root are the same as before and none is marked
    /// as memories.
    pub(super) fn look_under_roof<'events>(
        &self,
        root: Spot,
        fence: &Fence,
        events: &'events Events,
    ) -> Option<Look<'events>> {
        // Checked before the queue is locked, since it may take several system calls.
        let known = self.roof.load_full().filter(|roof| roof.is_clear());
        if let Some(roof) = known {
            let look = events.look()?;
            if roof.is_quiet(root, look.roof()) {
                return Some(look);
            }
        }
        let roof = Roof::above(fence.root(), events).map(Arc::new);
        self.roof.store(roof.clone());
        let roof = roof?;
        events.look().filter(|look| roof.is_quiet(root, look.roof()))
    }

    /// Compares every watched bundle with the disk, and marks those that differ as changed, so that the next
    /// search compares them again.
    pub(super) fn check(&self, fence: &Fence, events: &Events) {
        let mut found = Found::default();
        for (path, known) in &**self.known.load() {
            let is_watched = known.bundle.published().is_some_and(|state| state.compared_because.is_none());
            if is_watched
                && let Ok(directory) = fence.enter(path)
                && Spot::at(&directory) == known.spot
                && known.bundle.differs(&directory, &mut found)
                && let Some(mut look) = events.look()
            {
                look.doubt(known.bundle.key());
            }
        }
    }
}

/// The bundles by their directories, where equal directories certainly hold the same.
///
/// With manual freshness none: what is at the other paths is not looked at, and a directory that was made since
/// may have the inode number of one that is gone.
fn by_spot(bundles: &BTreeMap<String, KnownBundle>, freshness: Freshness) -> HashMap<Spot, Arc<Bundle>> {
    let mut by_spot = HashMap::with_capacity(bundles.len());
    if freshness == Freshness::Exact {
        for known in bundles.values().filter(|known| known.spot.is_certain()) {
            by_spot.entry(known.spot).or_insert_with(|| Arc::clone(&known.bundle));
        }
    }
    by_spot
}

/// The ids of the enabled sources at each path.
fn ids_by_path(snapshot: &Snapshot) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in snapshot.sources.iter().filter(|source| source.enabled) {
        ids.entry(&source.path).or_default().insert(&source.id);
    }
    ids
}
