//! Where a link inside a bundle leads (B8).

use std::{io, path::Path};

use crate::disk::directory::Directory;

/// Why a link is not followed.
pub(super) enum NoTarget {
    /// In words, as the rest of a sentence about the link.
    Refused(&'static str),
    Io(io::Error),
}

/// The path below the root of a bundle that the link at `path` leads to, free of links. Links on the way are
/// followed too.
pub(super) fn link_target(root: &Directory, path: &str) -> Result<String, NoTarget> {
    let resolve = |path: &Path| {
        path.canonicalize().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => NoTarget::Refused("it is a link to nothing"),
            _ => NoTarget::Io(error),
        })
    };
    let real_root = resolve(&root.path)?;
    let target = resolve(&root.path.join(path))?;
    let Ok(target) = target.strip_prefix(real_root) else {
        return Err(NoTarget::Refused("it is a link that leads out of the bundle"));
    };
    target.to_str().map(str::to_owned).ok_or(NoTarget::Refused("it is a link to a name that is not UTF-8"))
}
