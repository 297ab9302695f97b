//! Whether memories lie apart from what others may see (Y8).

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
    text::fold::fold,
};
use std::{
    collections::BTreeSet,
    io,
    ops::ControlFlow,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
};

use rustix::fs::{AtFlags, statat};

/// A memory source that does not lie apart from another source. Both are positions in the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// The memory source.
    pub memory: u32,
    /// A knowledge source of which one equals, contains or lies inside the other; or a memory source that lies
    /// where this one keeps its scopes. The memory source itself, if it lies among memories that no source names.
    pub other: u32,
}

/// Where a source is.
struct Root {
    at: u32,
    role: Role,
    /// The directory in which a memory source keeps its scopes, folded; empty for others.
    scopes: String,
    /// The names that lead there from the catalog root, folded, so that case makes no difference.
    names: Option<Vec<String>>,
    /// The directory, and every one that holds it, as far as they can be told.
    identity: Option<Identity>,
    above: BTreeSet<Identity>,
    /// The directory in which a memory source keeps its scopes, if it can be told.
    tier: Option<Identity>,
    /// Whether it is a memory source, and a directory of memories or in one.
    among_memories: bool,
}

/// The first pair of sources, in the order of the manifest, that overlap. Memory sources count whether they are
/// enabled or not.
pub(super) fn find(fence: &Fence, snapshot: &Snapshot) -> Option<Overlap> {
    if !snapshot.sources.iter().any(|source| source.role == Role::Memory) {
        return None;
    }
    // What a disabled memory source holds is remembered all the same.
    let counts = |source: &Source| source.enabled || source.role == Role::Memory;
    let counted = (0_u32..).zip(&snapshot.sources).filter(|(_, source)| counts(source));
    let roots: Vec<Root> = counted.map(|(at, source)| Root::of(fence, at, source)).collect();
    let memories = roots.iter().filter(|root| root.role == Role::Memory);
    memories
        .flat_map(|memory| roots.iter().map(move |other| (memory, other)))
        .find(|(memory, other)| match other.role {
            Role::Knowledge => memory.meets(other),
            Role::Memory => memory.at != other.at && memory.keeps(other),
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
        let tier = source.tier.zip(entered.as_ref()).and_then(|(tier, directory)| {
            let name = format!("memory-{tier}");
            let stat = statat(&directory.handle, &*name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(Identity::of_stat(&stat))
        });
        let identity = entered.as_ref().map(|directory| directory.identity);
        let (above, marked) = entered.map(|directory| above(directory.handle)).unwrap_or_default();
        Self {
            at,
            role: source.role,
            scopes: source.tier.map(|tier| fold(&format!("memory-{tier}"))).unwrap_or_default(),
            names: fence.folded_names(&source.path),
            identity,
            above,
            tier,
            among_memories: marked && source.role == Role::Memory,
        }
    }

    /// Whether one is the other, or holds it.
    fn meets(&self, other: &Self) -> bool {
        let holds = |outer: &Self, inner: &Self| {
            let by_name = outer.names.as_ref().zip(inner.names.as_ref());
            by_name.is_some_and(|(outer, inner)| inner.starts_with(outer))
                || outer.identity.is_some_and(|identity| inner.above.contains(&identity))
        };
        holds(self, other) || holds(other, self)
    }

    /// Whether another memory source lies among the scopes of this one.
    fn keeps(&self, other: &Self) -> bool {
        let by_name = self.names.as_ref().zip(other.names.as_ref());
        by_name.is_some_and(|(outer, inner)| {
            inner.strip_prefix(&**outer).is_some_and(|rest| rest.first() == Some(&self.scopes))
        }) || self.tier.is_some_and(|tier| other.above.contains(&tier))
    }
}

/// Whether the directory of a memory source is one of memories, or lies in one.
pub(super) fn is_among_memories(directory: &Directory) -> io::Result<bool> {
    let barred = |_, handle: BorrowedFd<'_>| is_marked(handle);
    AncestorCache::default().any(directory.handle.as_fd(), barred)
}

/// The directory and every one that holds it, as far as they can be told, and whether one is marked.
fn above(directory: OwnedFd) -> (BTreeSet<Identity>, bool) {
    let mut met = BTreeSet::new();
    let mut marked = false;
    // What cannot be told is compared by name alone.
    let _ = visit_ancestors(directory, |spot, handle| {
        met.insert(spot.identity);
        marked = marked || is_marked(handle).unwrap_or(false);
        Ok(ControlFlow::Continue(()))
    });
    (met, marked)
}
