//! The bundles of a catalog, each in memory once, however many sources name it (S4, R4).

use std::{
    collections::{BTreeMap, BTreeSet},
    os::fd::{AsFd, BorrowedFd},
    path::Path,
    sync::Arc,
};

use arc_swap::{ArcSwap, ArcSwapOption};
use hashbrown::HashMap;

use crate::{
    bundle::{Bundle, Effort, Failure, Fresh, State},
    disk::{
        ancestors::AncestorCache,
        directory::Directory,
        events::{EventQueue, QueueGuard, why_incomplete},
        fence::Fence,
        identity::Identity,
        location::Location,
        os_error::plain,
        root_ancestors::RootAncestors,
        sealed::SealedDirectories,
    },
    document::problem::{NewProblem, Problem},
    manifest::{
        snapshot::Snapshot,
        source::{Role, Source},
    },
    memory::marking::Marks,
    search::index::Index,
    work::{
        parallel,
        task::{Abandoned, Task},
    },
};

/// So many sources are brought up to date at a time: each holds its directory open meanwhile, and a process
/// may often have no more than 1024 files open.
const OPEN_AT_ONCE: usize = 128;

/// When a bundle is compared with the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Freshness {
    /// Before every search, unless the kernel tells that nothing changed (F1).
    #[default]
    Exact,
    /// When it is first searched, and then only when the host asks for it.
    Manual,
}

/// The bundles read so far. Replaced whole, so that a forked process finds them complete.
#[derive(Debug, Default)]
pub(crate) struct Bundles {
    /// By the path that the manifest names them with.
    known: ArcSwap<BTreeMap<String, Known>>,
    /// The directories above the catalog root, once they were found to be free of memories.
    roof: ArcSwapOption<RootAncestors>,
    /// Why sources are kept out, by their paths, as far as the log was told.
    kept_out: ArcSwap<BTreeMap<String, String>>,
}

/// A bundle, and how it was reached.
#[derive(Debug, Clone)]
struct Known {
    spot: Location,
    directory: Arc<Path>,
    bundle: Arc<Bundle>,
    /// The way that led there, if events tell when it changes.
    way: Option<Way>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Way {
    root: Location,
    number: u64,
}

impl Known {
    fn ready(&self) -> Option<Ready> {
        let state = self.bundle.published()?;
        Some(Ready { identity: self.spot.identity, directory: Arc::clone(&self.directory), state })
    }
}

impl Bundles {
    /// The same bundles for a forked process, which has no events yet.
    pub(crate) fn inherited(&self) -> Self {
        let mut twins: BTreeMap<u64, Arc<Bundle>> = BTreeMap::new();
        let inherit = |(path, known): (&String, &Known)| {
            let bundle = twins
                .entry(known.bundle.key())
                .or_insert_with(|| Arc::new(Bundle::new(known.bundle.published())))
                .clone();
            (path.clone(), Known { bundle, way: None, ..known.clone() })
        };
        let known = ArcSwap::from_pointee(self.known.load().iter().map(inherit).collect());
        let kept_out = ArcSwap::new(self.kept_out.load_full());
        Self { known, roof: ArcSwapOption::default(), kept_out }
    }

    /// Notes how bundles at their paths were reached. Two paths of one directory share a bundle, if one mount
    /// shows it to both: in each mount, others may be mounted inside. A directory that took the place of another
    /// gets a new one.
    fn reached(
        &self,
        entered: &[Entered<'_>],
        freshness: Freshness,
        events: &EventQueue,
    ) -> Vec<Arc<Bundle>> {
        // Nobody looks whether what was read at other paths is there still when freshness is manual: a directory
        // that was made since may have the number of one that is gone.
        let is_current = freshness == Freshness::Exact;
        let mut chosen = Vec::with_capacity(entered.len());
        let before = self.known.rcu(|bundles| {
            chosen.clear();
            let mut twins: HashMap<Location, Arc<Bundle>> = HashMap::with_capacity(bundles.len());
            for known in bundles.values().filter(|known| is_current && known.spot.has_mount_id()) {
                twins.entry(known.spot).or_insert_with(|| Arc::clone(&known.bundle));
            }
            let mut changed = Vec::new();
            for Entered { path, directory, spot, way, .. } in entered {
                let spot = *spot;
                let same = bundles.get(*path).filter(|known| known.spot == spot);
                let new = || Arc::new(Bundle::new(None));
                let bundle = match same {
                    Some(known) => Arc::clone(&known.bundle),
                    None if spot.has_mount_id() => Arc::clone(twins.entry(spot).or_insert_with(new)),
                    None => new(),
                };
                chosen.push(Arc::clone(&bundle));
                if same.is_none_or(|known| known.way != *way) {
                    let directory = directory.path.as_path().into();
                    changed.push(((*path).to_owned(), Known { spot, directory, bundle, way: *way }));
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
            && let Some(mut look) = events.drain()
        {
            self.release_forgotten(&before, &mut look);
        }
        chosen
    }

    /// Watches no more what was named `before` and is named by nothing now.
    fn release_forgotten(&self, before: &BTreeMap<String, Known>, look: &mut QueueGuard<'_>) {
        let kept: BTreeSet<u64> = self.known.load().values().map(|known| known.bundle.key()).collect();
        let gone = before.values().map(|known| known.bundle.key()).filter(|key| !kept.contains(key));
        gone.for_each(|key| look.unwatch_bundle(key));
    }

    /// Forgets what no source names any more.
    ///
    /// What was read at a path is kept only for the sources it was read for: where another source takes the path
    /// over, its directory may have been replaced, which is not looked at when freshness is manual.
    pub(crate) fn keep_only(&self, before: &Snapshot, snapshot: &Snapshot, events: &EventQueue) {
        let (old, named) = (ids_by_path(before), ids_by_path(snapshot));
        self.keep(|path, _| named.get(path).is_some_and(|ids| old.get(path) == Some(ids)), events);
        if !self.kept_out.load().is_empty() {
            self.kept_out.rcu(|kept_out| {
                let kept = kept_out.iter().filter(|(path, _)| named.contains_key(&***path));
                kept.map(|(path, reason)| (path.clone(), reason.clone())).collect::<BTreeMap<_, _>>()
            });
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&self, events: &EventQueue) {
        self.keep(|_, _| false, events);
    }

    /// Forgets what was read of a directory, by whatever path it was reached, and of a path.
    fn withdraw(&self, path: &str, spot: Location, events: &EventQueue) {
        let is_meant = |at: &str, known: &Known| at == path || known.spot == spot;
        if self.known.load().iter().any(|(at, known)| is_meant(at, known)) {
            self.keep(|at, known| !is_meant(at, known), events);
        }
    }

    /// Notes why a source is kept out, or that it is not; whether that is a reason nobody was told of.
    fn note_kept_out(&self, path: &str, reason: Option<&str>) -> bool {
        if self.kept_out.load().get(path).map(String::as_str) == reason {
            return false;
        }
        self.kept_out.rcu(|kept_out| {
            let mut kept_out = BTreeMap::clone(kept_out);
            match reason {
                Some(reason) => kept_out.insert(path.to_owned(), reason.to_owned()),
                None => kept_out.remove(path),
            };
            kept_out
        });
        reason.is_some()
    }

    fn keep(&self, keep: impl Fn(&str, &Known) -> bool, events: &EventQueue) {
        let before = self.known.rcu(|bundles| {
            let kept = bundles.iter().filter(|(path, known)| keep(path, known));
            kept.map(|(path, known)| (path.clone(), known.clone())).collect::<BTreeMap<_, _>>()
        });
        let Some(mut look) = events.drain() else { return };
        self.release_forgotten(&before, &mut look);
        look.unwatch_paths();
    }

    /// The events up to now, if none of the directories above the catalog root has a mark by then, nor changed its
    /// place.
    fn look_under_roof<'events>(
        &self,
        at: Location,
        fence: &Fence,
        events: &'events EventQueue,
    ) -> Option<QueueGuard<'events>> {
        // Without the queue, which should not be held for as long as that may take.
        let known = self.roof.load_full().filter(|roof| roof.are_unmarked_where_polled());
        if let Some(roof) = known {
            let look = events.drain()?;
            if roof.are_unchanged(at, look.ancestors_version()) {
                return Some(look);
            }
        }
        let roof = RootAncestors::check(fence.root(), events).map(Arc::new);
        self.roof.store(roof.clone());
        let roof = roof?;
        events.drain().filter(|look| roof.are_unchanged(at, look.ancestors_version()))
    }

    /// Compares every watched bundle with the disk without anybody waiting, and has it compared before the
    /// next search if it looks otherwise.
    pub(crate) fn back_up(&self, fence: &Fence, events: &EventQueue) {
        let mut found = AncestorCache::default();
        for (path, known) in &**self.known.load() {
            let watched = known.bundle.published().is_some_and(|state| state.unwatched.is_none());
            if watched
                && let Ok(directory) = fence.enter(path)
                && Location::of_directory(&directory) == known.spot
                && known.bundle.differs(&directory, &mut found)
                && let Some(mut look) = events.drain()
            {
                look.mark_dirty(known.bundle.key());
            }
        }
    }
}

/// A source as one call sees it.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    pub(crate) identity: Identity,
    pub(crate) directory: Arc<Path>,
    pub(crate) state: Arc<State>,
}

/// Why a source cannot be searched.
#[derive(Debug, Clone)]
pub(crate) struct Unavailable {
    /// One sentence part, without absolute paths (D4).
    pub(crate) reason: String,
    /// Its directory, if it was entered: a source that repeats it adds nothing (R4).
    pub(crate) identity: Option<Identity>,
    /// Whether that is because its directory lies among memories (Y10).
    pub(crate) among_memories: bool,
    /// Whether the reason is for the host alone: where memories lie is nothing that an asker should know.
    hidden: bool,
}

/// What an asker is told of a source whose reason is for the host alone.
const NOT_SERVED: &str = "its directory is not served";

impl Unavailable {
    pub(crate) fn because(reason: String, identity: Option<Identity>) -> Self {
        Self { reason, identity, among_memories: false, hidden: false }
    }

    /// What an asker is told.
    pub(crate) fn told(&self) -> &str {
        if self.hidden { NOT_SERVED } else { &self.reason }
    }
}

/// How sources are brought up to date.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Preparation<'catalog> {
    pub(crate) fence: &'catalog Fence,
    pub(crate) bundles: &'catalog Bundles,
    pub(crate) events: &'catalog EventQueue,
    pub(crate) marks: &'catalog Marks,
    pub(crate) freshness: Freshness,
    pub(crate) max_bytes: u64,
    pub(crate) threads: usize,
    pub(crate) task: &'catalog Task,
}

/// The sources that a call needs, each brought up to date once.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// By position in the snapshot: the source, or why it is unavailable.
    ready: BTreeMap<u32, Result<Ready, Unavailable>>,
    /// Problem files that nobody was told of before.
    pub(crate) new_problems: Vec<NewProblem>,
}

/// A source whose directory was entered.
struct Entered<'snapshot> {
    source: u32,
    path: &'snapshot str,
    directory: Directory,
    spot: Location,
    way: Option<Way>,
}

/// A directory and the sources that name it.
struct Named {
    directory: Directory,
    bundle: Arc<Bundle>,
    sources: Vec<u32>,
}

impl Prepared {
    /// Adds the sources of which it is known, at once, that nothing changed; the others are left.
    pub(crate) fn add_unchanged(
        &mut self,
        snapshot: &Snapshot,
        sources: &[u32],
        preparation: Preparation<'_>,
    ) -> Vec<u32> {
        let bundles = preparation.bundles.known.load();
        let mut look = None;
        if preparation.freshness == Freshness::Exact {
            let Preparation { fence, events, bundles, .. } = preparation;
            let root = events.why_unavailable().is_none().then(|| Location::at_path(fence.root())).flatten();
            let looked = root.and_then(|root| Some((root, bundles.look_under_roof(root, fence, events)?)));
            let Some((root, events)) = looked else { return self.missing(sources) };
            look = Some((Way { root, number: events.path_version() }, events));
        }
        for &source in sources {
            if !self.ready.contains_key(&source)
                && let Some(known) = bundles.get(&snapshot.sources[source as usize].path)
                && look.as_ref().is_none_or(|(way, events)| {
                    known.way == Some(*way) && events.is_clean(known.bundle.key())
                })
                && let Some(ready) = known.ready()
                && preparation.marks.are_sealed_in(&ready.state.sealed, snapshot)
            {
                self.ready.insert(source, Ok(ready));
            }
        }
        self.missing(sources)
    }

    fn missing(&self, sources: &[u32]) -> Vec<u32> {
        sources.iter().copied().filter(|source| !self.ready.contains_key(source)).collect()
    }

    /// Adds sources that are not here yet: enters their directories again (S4), and brings their bundles
    /// up to date, on several threads.
    pub(crate) fn add(
        &mut self,
        snapshot: &Snapshot,
        sources: &[u32],
        preparation: Preparation<'_>,
    ) -> Result<(), Abandoned> {
        let missing = self.missing(sources);
        if missing.is_empty() {
            return Ok(());
        }
        let Preparation { fence, marks, task, .. } = preparation;
        let sealed = Arc::new(marks.seal(fence, snapshot, task)?);
        for some in missing.chunks(OPEN_AT_ONCE) {
            task.go_on()?;
            self.add_some(snapshot, some, preparation, &sealed)?;
        }
        Ok(())
    }

    fn add_some(
        &mut self,
        snapshot: &Snapshot,
        sources: &[u32],
        preparation: Preparation<'_>,
        sealed: &Arc<SealedDirectories>,
    ) -> Result<(), Abandoned> {
        let Preparation { fence, bundles, events, max_bytes, threads, task, .. } = preparation;
        let mut entered: Vec<Entered<'_>> = Vec::with_capacity(sources.len());
        let mut found = AncestorCache::default();
        for &source in sources {
            let Source { path, role, .. } = &snapshot.sources[source as usize];
            match enter(preparation, path) {
                Err(reason) => {
                    self.ready.insert(source, Err(Unavailable::because(reason, None)));
                }
                Ok((directory, way)) => {
                    let spot = Location::of_directory(&directory);
                    if *role == Role::Knowledge
                        && let Some(unavailable) = among_memories(fence, path, &directory, sealed, &mut found)
                    {
                        bundles.withdraw(path, spot, events);
                        if bundles.note_kept_out(path, Some(&unavailable.reason)) {
                            let (path, reason) = (".".to_owned(), unavailable.reason.clone());
                            self.report(source, vec![Problem { path, reason }]);
                        }
                        self.ready.insert(source, Err(unavailable));
                    } else {
                        bundles.note_kept_out(path, None);
                        entered.push(Entered { source, path, directory, spot, way });
                    }
                }
            }
        }
        let reached = bundles.reached(&entered, preparation.freshness, events);
        // One directory is read once for all sources that share its bundle.
        let mut directories: BTreeMap<u64, Named> = BTreeMap::new();
        for (Entered { source, directory, .. }, bundle) in entered.into_iter().zip(reached) {
            directories
                .entry(bundle.key())
                .or_insert_with(|| Named { directory, bundle, sources: Vec::new() })
                .sources
                .push(source);
        }
        let directories: Vec<_> = directories.into_values().collect();
        let open = Arc::default();
        // Twice as many as there are cores: when one directory is done before another, nobody waits.
        let each = (2 * threads).div_ceil(directories.len().max(1)).min(threads);
        let fresh = parallel::map(&directories, threads, |named| {
            let source = named.sources[0];
            let knows = snapshot.sources[source as usize].role == Role::Knowledge;
            let sealed = if knows { sealed } else { &open };
            let effort = Effort { events, max_bytes, threads: each, task, sealed, source };
            named.bundle.fresh(&named.directory, effort)
        });
        for (Named { directory, sources, .. }, fresh) in directories.into_iter().zip(fresh) {
            let identity = directory.identity;
            match fresh {
                Err(Failure::Abandoned) => return Err(Abandoned),
                Err(Failure::Io(error)) => {
                    let reason = format!("its directory cannot be read: {}", plain(&error));
                    let unavailable = Unavailable::because(reason, Some(identity));
                    self.ready.extend(sources.into_iter().map(|source| (source, Err(unavailable.clone()))));
                }
                Ok(Fresh { state, new_problems }) => {
                    self.report(sources[0], new_problems);
                    let ready = Ready { identity, directory: directory.path.into(), state };
                    self.ready.extend(sources.into_iter().map(|source| (source, Ok(ready.clone()))));
                }
            }
        }
        Ok(())
    }

    /// Adds a source that was brought up to date elsewhere.
    pub(crate) fn set(&mut self, source: u32, ready: Result<Ready, Unavailable>) {
        self.ready.insert(source, ready);
    }

    /// Notes problem files that nobody was told of before.
    pub(crate) fn report(&mut self, source: u32, problems: Vec<Problem>) {
        self.new_problems.extend(problems.into_iter().map(|problem| NewProblem { source, problem }));
    }

    /// A source that was asked for, or why it is unavailable.
    pub(crate) fn get(&self, source: u32) -> Result<&Ready, &Unavailable> {
        self.ready.get(&source).expect("a call prepares every source that it uses").as_ref()
    }

    /// The index of every source that can be searched.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = &Arc<Index>> {
        self.ready.values().filter_map(|ready| ready.as_ref().ok()).map(|ready| &ready.state.index)
    }
}

/// Why a source of knowledge is unavailable whose directory lies among memories (Y10).
fn among_memories(
    fence: &Fence,
    path: &str,
    directory: &Directory,
    sealed: &SealedDirectories,
    found: &mut AncestorCache,
) -> Option<Unavailable> {
    let among = if sealed.is_sealed_path(fence, path) {
        Ok(true)
    } else {
        sealed.is_within_sealed(directory.handle.as_fd(), found)
    };
    let reason = match &among {
        Ok(false) => return None,
        Ok(true) => "its directory lies among memories, which are no knowledge".to_owned(),
        Err(error) => {
            format!("it cannot be told whether its directory lies among memories: {}", plain(error))
        }
    };
    // The same directory, if it is reached in another way, may be knowledge there: it counts as not met.
    Some(Unavailable { reason, identity: None, among_memories: among.is_ok(), hidden: true })
}

/// The ids of the enabled sources at each path.
fn ids_by_path(snapshot: &Snapshot) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut ids: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for source in snapshot.sources.iter().filter(|source| source.enabled) {
        ids.entry(&source.path).or_default().insert(&source.id);
    }
    ids
}

/// Enters the directory of a source, and has the way there watched. What happens on the way from now on
/// gives it another number.
fn enter(preparation: Preparation<'_>, path: &str) -> Result<(Directory, Option<Way>), String> {
    let Preparation { fence, events, .. } = preparation;
    let number = events.drain().map(|look| look.path_version());
    // Where the way is spelled by other links than the root, nothing tells when those change.
    let mut watched = number.is_some() && fence.is_spelled_below_root(path);
    let mut root = None;
    let mut passing = |handle: BorrowedFd<'_>| {
        if root.is_none() {
            root = Location::of(handle).ok();
        }
        watched = watched
            && why_incomplete(handle).is_none()
            && events.drain().is_some_and(|mut look: QueueGuard<'_>| look.watch_path_directory(handle));
    };
    let directory = fence.enter_visiting(path, &mut passing).map_err(|breach| breach.reason)?;
    // A source may be the root itself.
    let root = root.or_else(|| Some(Location::of_directory(&directory)));
    let way = number.zip(root).map(|(number, root)| Way { root, number }).filter(|_| watched);
    Ok((directory, way))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::disk::root_ancestors::RootAncestors;

    /// A knowledge source `a/kb` that was read and is watched.
    fn watched(root: &Path, test: impl FnOnce(&Fence, Preparation<'_>, &Snapshot)) {
        fs::create_dir_all(root.join("a/kb")).unwrap();
        fs::write(root.join("a/kb/own.md"), "word").unwrap();
        let fence = Fence::new(root, root).unwrap();
        let source = Source {
            id: "kb".to_owned(),
            path: "a/kb".to_owned(),
            priority: 0,
            enabled: true,
            role: Role::Knowledge,
            tier: None,
        };
        let snapshot = Snapshot::new(1, vec![source], root.to_owned());
        let (bundles, events, marks) = (Bundles::default(), EventQueue::new(), Marks::default());
        let task = Task::default();
        let preparation = Preparation {
            fence: &fence,
            bundles: &bundles,
            events: &events,
            marks: &marks,
            freshness: Freshness::Exact,
            max_bytes: 1 << 20,
            threads: 1,
            task: &task,
        };
        let mut prepared = Prepared::default();
        prepared.add(&snapshot, &[0], preparation).unwrap();
        assert!(prepared.get(0).is_ok());
        test(&fence, preparation, &snapshot);
    }

    fn is_unchanged(preparation: Preparation<'_>, snapshot: &Snapshot) -> bool {
        Prepared::default().add_unchanged(snapshot, &[0], preparation).is_empty()
    }

    #[test]
    fn a_mark_above_the_catalog_root_is_seen_without_events() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("root");
        watched(&root, |fence, preparation, snapshot| {
            if preparation.events.why_unavailable().is_some() {
                return;
            }
            assert!(is_unchanged(preparation, snapshot));
            fs::write(temporary.path().join(".okf-memory"), "").unwrap();
            assert!(!is_unchanged(preparation, snapshot));
            assert!(RootAncestors::check(fence.root(), preparation.events).is_none());
            let mut prepared = Prepared::default();
            prepared.add(snapshot, &[0], preparation).unwrap();
            assert!(prepared.get(0).unwrap_err().among_memories);
            assert!(preparation.bundles.known.load().is_empty(), "nothing of it is kept");
        });
    }

    #[test]
    fn the_backup_sees_a_mark_of_which_nothing_told() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path().join("root");
        watched(&root, |fence, preparation, _| {
            let Preparation { bundles, events, .. } = preparation;
            let is_clean = || {
                let known = bundles.known.load();
                let bundle = known.values().next().map(|known| known.bundle.key()).unwrap();
                events.drain().is_none_or(|look| look.is_clean(bundle))
            };
            bundles.back_up(fence, events);
            assert!(is_clean());
            // No directory of the bundle has changed.
            fs::write(root.join("a/.okf-memory"), "").unwrap();
            assert!(is_clean());
            bundles.back_up(fence, events);
            assert!(events.why_unavailable().is_some() || !is_clean());
        });
    }
}
