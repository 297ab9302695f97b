//! Whether memories are apart from what others may see (Y8).

use std::{
    collections::BTreeSet,
    io,
    ops::ControlFlow,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::fs::{AtFlags, statat};

use crate::{
    disk::{
        ancestors::{AncestorCache, visit_ancestors},
        directory::Directory,
        fence::Fence,
        identity::Identity,
        marks::is_marked,
    },
    manifest::{
        snapshot::Snapshot,
        source::{Role, Source},
    },
    memory::path::tier_directory,
    text::fold::fold,
};

/// A memory source that is not apart from another source. Both are positions in the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// The memory source.
    pub memory: u32,
    /// A knowledge source that equals, contains or lies inside the memory source; or a memory source that lies in
    /// the directory of its tier. The memory source itself, if it lies among memories of no source.
    pub other: u32,
}

/// Where a source is.
struct Root {
    at: u32,
    role: Role,
    /// The names on the path from the catalog root, folded, so that case makes no difference.
    names: Option<Vec<String>>,
    /// The directory; `None` if it cannot be entered.
    identity: Option<Identity>,
    /// The directory and every one above it, as far as they can be examined.
    ancestors: BTreeSet<Identity>,
    /// For a memory source, the folded name of its tier's directory.
    tier_name: Option<String>,
    /// For a memory source, its tier's directory, if that exists.
    tier_identity: Option<Identity>,
    /// Whether this is a memory source whose directory is marked, or lies in one that is.
    among_memories: bool,
}

/// The first pair of sources that overlap, in the order of the manifest. Memory sources count whether they are
/// enabled or not: what a disabled one holds is still memories.
pub(super) fn find(fence: &Fence, snapshot: &Snapshot) -> Option<Overlap> {
    if !snapshot.sources.iter().any(|source| source.role == Role::Memory) {
        return None;
    }
    let counts = |source: &Source| source.enabled || source.role == Role::Memory;
    let counted = (0_u32..).zip(&snapshot.sources).filter(|(_, source)| counts(source));
    let roots: Vec<Root> = counted.map(|(at, source)| Root::of(fence, at, source)).collect();
    let memories = roots.iter().filter(|root| root.role == Role::Memory);
    memories
        .flat_map(|memory| roots.iter().map(move |other| (memory, other)))
        .find(|(memory, other)| match other.role {
            Role::Knowledge => memory.overlaps(other),
            Role::Memory => memory.at != other.at && memory.holds_in_tier(other),
        })
        .map(|(memory, other)| Overlap { memory: memory.at, other: other.at })
        .or_else(|| {
            let among = roots.iter().find(|root| root.among_memories)?;
            Some(Overlap { memory: among.at, other: among.at })
        })
}

impl Root {
    fn of(fence: &Fence, at: u32, source: &Source) -> Self {
        let entered = fence.enter(&source.path).ok();
        let tier_directory = source.tier.map(tier_directory);
        let tier_identity = tier_directory.as_ref().zip(entered.as_ref()).and_then(|(name, directory)| {
            let stat = statat(&directory.handle, &**name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(Identity::of_stat(&stat))
        });
        let identity = entered.as_ref().map(|directory| directory.identity);
        let (ancestors, marked) = entered.map(|directory| ancestors(directory.handle)).unwrap_or_default();
        Self {
            at,
            role: source.role,
            names: fence.folded_names(&source.path),
            identity,
            ancestors,
            tier_name: tier_directory.as_deref().map(fold),
            tier_identity,
            among_memories: marked && source.role == Role::Memory,
        }
    }

    /// Whether one source equals or contains the other, by name or by identity.
    fn overlaps(&self, other: &Self) -> bool {
        let contains = |outer: &Self, inner: &Self| {
            let by_name = outer.names.as_ref().zip(inner.names.as_ref());
            by_name.is_some_and(|(outer, inner)| inner.starts_with(outer))
                || outer.identity.is_some_and(|identity| inner.ancestors.contains(&identity))
        };
        contains(self, other) || contains(other, self)
    }

    /// Whether another memory source lies in the directory of this one's tier.
    fn holds_in_tier(&self, other: &Self) -> bool {
        let by_name = self.names.as_ref().zip(other.names.as_ref());
        by_name.is_some_and(|(outer, inner)| {
            inner
                .strip_prefix(&**outer)
                .is_some_and(|rest| !rest.is_empty() && rest.first() == self.tier_name.as_ref())
        }) || self.tier_identity.is_some_and(|tier| other.ancestors.contains(&tier))
    }
}

/// Whether the directory of a memory source is a directory of memories, or lies in one.
pub(super) fn is_among_memories(directory: &Directory) -> io::Result<bool> {
    let barred = |_, handle: BorrowedFd<'_>| is_marked(handle);
    AncestorCache::default().any(directory.handle.as_fd(), barred)
}

/// The directory and every one above it, as far as they can be examined, and whether one is marked.
fn ancestors(directory: OwnedFd) -> (BTreeSet<Identity>, bool) {
    let mut found = BTreeSet::new();
    let mut marked = false;
    // Directories that cannot be examined are compared by name alone.
    let _ = visit_ancestors(directory, |location, handle| {
        found.insert(location.identity);
        marked = marked || is_marked(handle).unwrap_or(false);
        Ok(ControlFlow::Continue(()))
    });
    (found, marked)
}
