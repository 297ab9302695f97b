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

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;
    use crate::disk::fence::Fence;

    #[test]
    fn only_a_link_to_something_inside_the_root_has_a_target() {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("root");
        fs::create_dir_all(path.join("a")).unwrap();
        fs::write(path.join("a/b.md"), "").unwrap();
        fs::write(temporary.path().join("outside.md"), "").unwrap();
        for (link, target) in [
            ("one", "a/b.md"),
            ("two", "one"),
            ("out", "../outside.md"),
            ("dangling", "none"),
            ("self", "self"),
        ] {
            symlink(target, path.join(link)).unwrap();
        }
        let root = Fence::new(&path, &path).unwrap().enter(".").unwrap();
        let target = |link: &str| match link_target(&root, link) {
            Ok(target) => target,
            Err(NoTarget::Refused(reason)) => reason.to_owned(),
            Err(NoTarget::Io(error)) => error.kind().to_string(),
        };
        assert_eq!([target("one"), target("two")], ["a/b.md", "a/b.md"]);
        assert_eq!(target("out"), "it is a link that leads out of the bundle");
        assert_eq!(target("dangling"), "it is a link to nothing");
        assert!(matches!(link_target(&root, "self"), Err(NoTarget::Io(_))));
    }
}
