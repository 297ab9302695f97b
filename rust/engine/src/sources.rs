//! The bundles of a catalog, each in memory once, however many sources name it (S4, R4).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
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

/// The bundles read so far, by the path that the manifest names them with.
#[derive(Debug, Default)]
pub(crate) struct Bundles(Mutex<BTreeMap<String, (Identity, Arc<Bundle>)>>);

impl Bundles {
    /// The bundle of a directory. Two paths of one directory share it; a directory that took the place
    /// of another gets a new one.
    fn of(&self, path: &str, identity: Identity) -> Arc<Bundle> {
        let mut bundles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, bundle)) = bundles.get(path)
            && *known == identity
        {
            return Arc::clone(bundle);
        }
        let twin = bundles.values().find(|(known, _)| *known == identity);
        let bundle = twin.map_or_else(Arc::default, |(_, bundle)| Arc::clone(bundle));
        bundles.insert(path.to_owned(), (identity, Arc::clone(&bundle)));
        bundle
    }

    /// Forgets what no source names any more.
    pub(crate) fn keep_only(&self, snapshot: &Snapshot) {
        let named: BTreeSet<&str> =
            snapshot.sources.iter().filter(|s| s.enabled).map(|s| s.path.as_str()).collect();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|path, _| named.contains(path.as_str()));
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A source as one call sees it.
#[derive(Debug)]
pub(crate) struct Ready {
    pub(crate) directory: Arc<Directory>,
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

/// The sources that a call needs, each brought up to date once.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// By position in the snapshot: the source, or why it is unavailable.
    ready: BTreeMap<u32, Result<Ready, Unavailable>>,
    pub(crate) news: Vec<News>,
}

/// A directory and the sources that name it.
struct Named {
    directory: Arc<Directory>,
    bundle: Arc<Bundle>,
    sources: Vec<u32>,
}

impl Prepared {
    /// Enters every directory again and brings every bundle up to date (S4), on several threads.
    pub(crate) fn new(
        snapshot: &Snapshot,
        sources: &[u32],
        fence: &Fence,
        bundles: &Bundles,
        max_bytes: u64,
        threads: usize,
    ) -> Self {
        let mut ready = BTreeMap::new();
        // One directory is read once, even if several sources name it.
        let mut directories: BTreeMap<Identity, Named> = BTreeMap::new();
        for &source in sources {
            let path = &snapshot.sources[source as usize].path;
            match fence.enter(path) {
                Err(breach) => {
                    let reason = breach.reason;
                    ready.insert(source, Err(Unavailable { reason, identity: None }));
                }
                Ok(directory) => {
                    let identity = directory.identity;
                    let bundle = bundles.of(path, identity);
                    directories
                        .entry(identity)
                        .or_insert_with(|| Named {
                            directory: Arc::new(directory),
                            bundle,
                            sources: Vec::new(),
                        })
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
        let mut news = Vec::new();
        for (Named { directory, sources, .. }, fresh) in directories.into_iter().zip(fresh) {
            match fresh {
                Err(error) => {
                    let unavailable = Unavailable {
                        reason: format!("its directory cannot be read: {}", plain(&error)),
                        identity: Some(directory.identity),
                    };
                    ready.extend(sources.into_iter().map(|source| (source, Err(unavailable.clone()))));
                }
                Ok(Fresh { index, problems, news: found }) => {
                    news.extend(found.into_iter().map(|problem| News { source: sources[0], problem }));
                    ready.extend(sources.into_iter().map(|source| {
                        let (directory, index) = (Arc::clone(&directory), Arc::clone(&index));
                        (source, Ok(Ready { directory, index, problems: Arc::clone(&problems) }))
                    }));
                }
            }
        }
        Self { ready, news }
    }

    /// A source that was asked for, or why it is unavailable.
    pub(crate) fn get(&self, source: u32) -> Result<&Ready, &Unavailable> {
        self.ready.get(&source).expect("a call prepares every source that it uses").as_ref()
    }
}
