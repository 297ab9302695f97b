//! Whether memories lie apart from what others may see (Y8).

use std::{
    collections::BTreeSet,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{Mode, OFlags, fstat, openat},
    io::retry_on_intr,
};

use crate::{
    containment::{Fence, Identity},
    fold::fold,
    snapshot::Snapshot,
    source::{Role, Source},
    tree::identity,
};

/// No path of any system is deeper.
const MAX_DEPTH: usize = 4096;

/// A memory source that does not lie apart from another source. Both are positions in the snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overlap {
    /// The memory source.
    pub memory: u32,
    /// A knowledge source of which one equals, contains or lies inside the other; or a memory source that lies
    /// where this one keeps its scopes.
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
}

/// The first pair of sources, in the order of the manifest, that overlap.
pub(super) fn find(fence: &Fence, snapshot: &Snapshot) -> Option<Overlap> {
    let is_memory = |source: &Source| source.enabled && source.role == Role::Memory;
    if !snapshot.sources.iter().any(is_memory) {
        return None;
    }
    let enabled = (0_u32..).zip(&snapshot.sources).filter(|(_, source)| source.enabled);
    let roots: Vec<Root> = enabled.map(|(at, source)| Root::of(fence, at, source)).collect();
    let memories = roots.iter().filter(|root| root.role == Role::Memory);
    memories
        .flat_map(|memory| roots.iter().map(move |other| (memory, other)))
        .find(|(memory, other)| match other.role {
            Role::Knowledge => memory.meets(other),
            Role::Memory => memory.at != other.at && memory.keeps(other),
        })
        .map(|(memory, other)| Overlap { memory: memory.at, other: other.at })
}

impl Root {
    fn of(fence: &Fence, at: u32, source: &Source) -> Self {
        let below = fence.below_root(&source.path);
        let names = below.map(|below| below.iter().map(|part| fold(&part.to_string_lossy())).collect());
        let entered = fence.enter(&source.path).ok();
        Self {
            at,
            role: source.role,
            scopes: source.tier.map(|tier| fold(&format!("memory-{tier}"))).unwrap_or_default(),
            names,
            identity: entered.as_ref().map(|directory| directory.identity),
            above: entered.map(|directory| above(directory.handle)).unwrap_or_default(),
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
        })
    }
}

/// The directory and every one that holds it, up to the root of the file system.
pub(super) fn above(directory: OwnedFd) -> BTreeSet<Identity> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const ACCESS: OFlags = OFlags::PATH;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const ACCESS: OFlags = OFlags::RDONLY;
    let flags = ACCESS | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut met = BTreeSet::new();
    let mut handle = directory;
    for _ in 0..MAX_DEPTH {
        // The root of the file system holds itself.
        if !fstat(&handle).is_ok_and(|stat| met.insert(identity(&stat))) {
            break;
        }
        match retry_on_intr(|| openat(handle.as_fd(), "..", flags, Mode::empty())) {
            Ok(parent) => handle = parent,
            Err(_) => break,
        }
    }
    met
}
