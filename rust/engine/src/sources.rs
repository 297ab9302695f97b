//! The bundles of a catalog, each in memory once, however many sources name it (S4, R4).

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    answer::News,
    bundle::{Bundle, Fresh},
    containment::{Directory, Fence, Identity},
    index::Index,
    parallel,
    snapshot::Snapshot,
    tree::{Problem, plain},
};

/// When a bundle is compared with the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Freshness {
    /// Before every search (F1).
    #[default]
    Exact,
    /// When it is first searched, and then only when the host asks for it.
    Manual,
}

/// The bundles read so far, by the path that the manifest names them with.
#[derive(Debug, Default)]
pub(crate) struct Bundles(Mutex<BTreeMap<String, Known>>);

/// A bundle, and how it was when it was last compared with the disk.
#[derive(Debug)]
struct Known {
    identity: Identity,
    bundle: Arc<Bundle>,
    last: Option<Ready>,
}

impl Bundles {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bundle of a directory. Two paths of one directory share it; a directory that took the place
    /// of another gets a new one.
    fn of(&self, path: &str, identity: Identity) -> Arc<Bundle> {
        let mut bundles = self.lock();
        if let Some(known) = bundles.get(path)
            && known.identity == identity
        {
            return Arc::clone(&known.bundle);
        }
        let twin = bundles.values().find(|known| known.identity == identity);
        let bundle = twin.map_or_else(Arc::default, |known| Arc::clone(&known.bundle));
        let known = Known { identity, bundle: Arc::clone(&bundle), last: None };
        bundles.insert(path.to_owned(), known);
        bundle
    }

    /// How the bundle at a path was when it was last compared with the disk, if it was.
    fn last(&self, path: &str) -> Option<Ready> {
        self.lock().get(path)?.last.clone()
    }

    /// Remembers how the bundle at a path is.
    fn remember(&self, path: &str, ready: &Ready) {
        if let Some(known) = self.lock().get_mut(path)
            && known.identity == ready.identity
        {
            known.last = Some(ready.clone());
        }
    }

    /// Has every bundle compared with the disk when it is next searched.
    pub(crate) fn forget_last(&self) {
        self.lock().values_mut().for_each(|known| known.last = None);
    }

    /// Forgets what no source names any more.
    pub(crate) fn keep_only(&self, snapshot: &Snapshot) {
        let named: BTreeSet<&str> =
            snapshot.sources.iter().filter(|s| s.enabled).map(|s| s.path.as_str()).collect();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|path, _| named.contains(path.as_str()));
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.lock().clear();
    }
}

/// A source as one call sees it.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    pub(crate) identity: Identity,
    pub(crate) directory: Arc<Path>,
    pub(crate) index: Arc<Index>,
    pub(crate) problems: Arc<[Problem]>,
}

/// Why a source cannot be searched.
#[derive(Debug, Clone)]
pub(crate) struct Unavailable {
    /// One sentence part, without absolute paths (D4).
    pub(crate) reason: String,
    /// Its directory, if it was entered: a source that repeats it adds nothing (R4).
    pub(crate) identity: Option<Identity>,
}

/// How sources are brought up to date.
#[derive(Debug)]
pub(crate) struct Preparation<'catalog> {
    pub(crate) fence: &'catalog Fence,
    pub(crate) bundles: &'catalog Bundles,
    pub(crate) freshness: Freshness,
    pub(crate) max_bytes: u64,
    pub(crate) threads: usize,
}

/// The sources that a call needs, each brought up to date once.
#[derive(Debug, Default)]
pub(crate) struct Prepared {
    /// By position in the snapshot: the source, or why it is unavailable.
    ready: BTreeMap<u32, Result<Ready, Unavailable>>,
    /// Problem files that nobody was told of before.
    pub(crate) news: Vec<News>,
}

/// A directory and the sources that name it.
struct Named {
    directory: Directory,
    bundle: Arc<Bundle>,
    sources: Vec<u32>,
}

impl Prepared {
    /// Adds sources that are not here yet: enters their directories again (S4), and brings their bundles
    /// up to date, on several threads.
    pub(crate) fn add(&mut self, snapshot: &Snapshot, sources: &[u32], preparation: &Preparation<'_>) {
        let Preparation { fence, bundles, freshness, max_bytes, threads } = *preparation;
        // One directory is read once, even if several sources name it.
        let mut directories: BTreeMap<Identity, Named> = BTreeMap::new();
        for &source in sources {
            if self.ready.contains_key(&source) {
                continue;
            }
            let path = &snapshot.sources[source as usize].path;
            if freshness == Freshness::Manual
                && let Some(ready) = bundles.last(path)
            {
                self.ready.insert(source, Ok(ready));
                continue;
            }
            match fence.enter(path) {
                Err(breach) => {
                    let reason = breach.reason;
                    self.ready.insert(source, Err(Unavailable { reason, identity: None }));
                }
                Ok(directory) => {
                    let identity = directory.identity;
                    let bundle = bundles.of(path, identity);
                    directories
                        .entry(identity)
                        .or_insert_with(|| Named { directory, bundle, sources: Vec::new() })
                        .sources
                        .push(source);
                }
            }
        }
        let directories: Vec<_> = directories.into_values().collect();
        let each = (threads / directories.len().max(1)).max(1);
        let fresh = parallel::map(&directories, threads, |named| {
            named.bundle.fresh(&named.directory, max_bytes, each)
        });
        for (Named { directory, sources, .. }, fresh) in directories.into_iter().zip(fresh) {
            let identity = directory.identity;
            match fresh {
                Err(error) => {
                    let reason = format!("its directory cannot be read: {}", plain(&error));
                    let unavailable = Unavailable { reason, identity: Some(identity) };
                    self.ready.extend(sources.into_iter().map(|source| (source, Err(unavailable.clone()))));
                }
                Ok(Fresh { index, problems, news }) => {
                    self.news.extend(news.into_iter().map(|problem| News { source: sources[0], problem }));
                    let ready = Ready { identity, directory: directory.path.into(), index, problems };
                    for source in sources {
                        if freshness == Freshness::Manual {
                            bundles.remember(&snapshot.sources[source as usize].path, &ready);
                        }
                        self.ready.insert(source, Ok(ready.clone()));
                    }
                }
            }
        }
    }

    /// A source that was asked for, or why it is unavailable.
    pub(crate) fn get(&self, source: u32) -> Result<&Ready, &Unavailable> {
        self.ready.get(&source).expect("a call prepares every source that it uses").as_ref()
    }

    /// The index of every source that can be searched.
    pub(crate) fn indexes(&self) -> impl Iterator<Item = &Arc<Index>> {
        self.ready.values().filter_map(|ready| ready.as_ref().ok()).map(|ready| &ready.index)
    }
}
