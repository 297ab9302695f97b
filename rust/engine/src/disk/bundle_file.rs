//! Opening one file of a bundle, without leaving the bundle and without entering a sealed directory (B8, Y10).

use std::{
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd},
};

use rustix::{fs::Stat, io::Errno};

use crate::disk::{
    entry::Links,
    location::is_mounted_in,
    open::open_below_visiting,
    regular::{NotOpened, open_regular},
    sealed::SealedDirectories,
};

/// Why a mount inside the directory of a scope is not read: it may show the memories of another scope.
pub(super) const MOUNTED: &str = "something is mounted there, which is no memory of this scope";

/// Why a file of a bundle was not opened.
pub(super) enum Unopened {
    NotRegular,
    /// It is in a sealed directory.
    Sealed,
    /// Memories are read, and it is in another mount than its directory.
    Mounted,
    Io(io::Error),
}

impl From<Errno> for Unopened {
    fn from(errno: Errno) -> Self {
        Unopened::Io(errno.into())
    }
}

impl From<io::Error> for Unopened {
    fn from(error: io::Error) -> Self {
        Unopened::Io(error)
    }
}

impl From<NotOpened> for Unopened {
    fn from(reason: NotOpened) -> Self {
        match reason {
            NotOpened::NotRegular(_) => Unopened::NotRegular,
            NotOpened::Failed(errno) => errno.into(),
        }
    }
}

/// Opens the regular file at `path` below the root of a bundle, following no link, unless one of the directories
/// from the root to the file is sealed.
pub(super) fn open_bundle_file(
    root: BorrowedFd<'_>,
    path: &str,
    sealed: &SealedDirectories,
) -> Result<(File, Stat), Unopened> {
    let (directories, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut is_sealed = sealed.is_sealed(root)?;
    let opened = open_below_visiting(root, directories, &mut |handle| {
        is_sealed = is_sealed || sealed.is_sealed(handle)?;
        Ok(())
    })?;
    if is_sealed {
        return Err(Unopened::Sealed);
    }
    let parent = opened.as_ref().map_or(root, |fd| fd.as_fd());
    let file = open_regular(parent, name, Links::NoFollow);
    // The directory may have become one of memories before the file was opened. Its mark was made before the file.
    if sealed.is_sealed(parent)? {
        return Err(Unopened::Sealed);
    }
    let (file, stat) = file?;
    if sealed.is_in_scope() && is_mounted_in(parent, file.as_fd())? {
        return Err(Unopened::Mounted);
    }
    Ok((file, stat))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, path::Path, sync::Arc};

    use super::*;
    use crate::disk::marks::MARK_NAME;

    fn open(root: &Path, path: &str) -> Result<(File, Stat), Unopened> {
        let sealed = SealedDirectories::for_knowledge(Vec::new(), Arc::default(), Arc::default(), Vec::new());
        open_bundle_file(File::open(root).unwrap().as_fd(), path, &sealed)
    }

    #[test]
    fn a_file_below_a_marked_directory_is_not_opened() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/c.md"), "text").unwrap();
        assert!(open(root, "a/b/c.md").is_ok());
        for marked in ["", "a", "a/b"] {
            let mark = root.join(marked).join(MARK_NAME);
            fs::write(&mark, "").unwrap();
            assert!(matches!(open(root, "a/b/c.md"), Err(Unopened::Sealed)), "{marked:?}");
            fs::remove_file(mark).unwrap();
        }
    }

    #[test]
    fn no_link_is_followed_and_only_regular_files_are_opened() {
        let temporary = tempfile::tempdir().unwrap();
        let root = temporary.path();
        fs::create_dir_all(root.join("a/directory.md")).unwrap();
        fs::write(root.join("a/b.md"), "text").unwrap();
        symlink("a", root.join("link")).unwrap();
        symlink("b.md", root.join("a/link.md")).unwrap();
        assert!(open(root, "a/b.md").is_ok());
        for path in ["link/b.md", "a/link.md", "a/none.md"] {
            assert!(matches!(open(root, path), Err(Unopened::Io(_))), "{path}");
        }
        assert!(matches!(open(root, "a/directory.md"), Err(Unopened::NotRegular)));
    }
}
