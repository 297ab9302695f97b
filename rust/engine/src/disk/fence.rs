//! The fence around a catalog: every source is a directory below the catalog root (C1).

#[cfg(test)]
mod tests;

use std::{
    fs::{self, File},
    io,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{FileType, Mode, OFlags, open, openat},
    io::{Errno, retry_on_intr},
};

use crate::{
    disk::{
        directory::Directory,
        entry::{Links, kind_at},
        identity::Identity,
        open::{LIST, LOOK_UP},
        os_error::plain,
    },
    manifest::diagnostic::CatalogDiagnosticCode as Code,
    text::fold::fold,
};

/// Why a path was not entered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Breach {
    pub(crate) code: Code,
    /// Part of a sentence, without an absolute path (D4). The name of the source comes before it.
    pub(crate) reason: String,
}

impl Breach {
    fn new(code: Code, reason: impl Into<String>) -> Breach {
        Breach { code, reason: reason.into() }
    }
}

/// The directory that no source may leave, and the directory that the paths of sources start from. Both are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence {
    root: PathBuf,
    manifest_directory: PathBuf,
}

impl Fence {
    /// A fence around `root`, for paths relative to `manifest_directory`. Both are made absolute. An empty path is
    /// the current directory, because `Path::parent` of a bare file name is empty.
    ///
    /// # Errors
    /// There is no current directory, or a path with `..` in it cannot be resolved.
    pub(crate) fn new(root: &Path, manifest_directory: &Path) -> io::Result<Fence> {
        Ok(Fence { root: absolute(root)?, manifest_directory: absolute(manifest_directory)? })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    pub(crate) fn manifest_directory(&self) -> &Path {
        &self.manifest_directory
    }

    /// Enters the directory that a path of the manifest names.
    ///
    /// # Errors
    /// The first check of C1 that fails. If the directory exists and cannot be opened, the code is
    /// [`TargetNotFound`](Code::TargetNotFound) and the reason says so.
    pub(crate) fn enter(&self, path: &str) -> Result<Directory, Breach> {
        self.enter_visiting(path, &mut |_| {})
    }

    /// Enters as [`enter`](Self::enter) does. `visit` is called with the root and then with each directory on the
    /// path except the last, before a name is looked up in it.
    pub(crate) fn enter_visiting(
        &self,
        path: &str,
        visit: &mut dyn FnMut(BorrowedFd<'_>),
    ) -> Result<Directory, Breach> {
        check_spelling(path)?;
        let below = self.below_root(path).ok_or_else(|| {
            Breach::new(Code::OutsideRoot, "its path leads outside the catalog root; name a directory inside")
        })?;
        let file = File::from(open_below_root(&self.root, &below, visit)?);
        let metadata = file.metadata().map_err(|error| {
            Breach::new(Code::TargetNotFound, format!("its directory cannot be examined ({})", plain(&error)))
        })?;
        Ok(Directory { path: self.root.join(&below), handle: file.into(), identity: Identity::of(&metadata) })
    }

    /// Whether the names alone show that the path is below the root, without resolving links.
    pub(crate) fn is_spelled_below_root(&self, path: &str) -> bool {
        below(&self.root, &self.manifest_directory, path).is_some()
    }

    /// The names from the root to a path of the manifest. They are folded: case makes no difference.
    pub(crate) fn folded_names(&self, path: &str) -> Option<Vec<String>> {
        let below = self.below_root(path)?;
        Some(below.iter().map(|part| fold(&part.to_string_lossy())).collect())
    }

    /// The path relative to the root, if it is inside.
    pub(crate) fn below_root(&self, path: &str) -> Option<PathBuf> {
        if let Some(below) = below(&self.root, &self.manifest_directory, path) {
            return Some(below);
        }
        if self.manifest_directory.starts_with(&self.root) {
            return None;
        }
        // The root and the manifest's directory may be spelled with different links. Only the names depend on this:
        // entering starts at the root and follows no link.
        let root = fs::canonicalize(&self.root).ok()?;
        let manifest_directory = fs::canonicalize(&self.manifest_directory).ok()?;
        below(&root, &manifest_directory, path)
    }
}

/// An absolute path without `..`, so that names can be compared. Only the file system knows where `..` leads.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let path = std::path::absolute(path)?;
    if path.components().any(|component| component == Component::ParentDir) {
        fs::canonicalize(path)
    } else {
        Ok(path)
    }
}

/// The checks that need no file system. Windows paths are refused on every system, so that a manifest means the same
/// on every machine.
fn check_spelling(path: &str) -> Result<(), Breach> {
    let bytes = path.as_bytes();
    let has_drive = matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic());
    if path.is_empty() {
        Err(Breach::new(Code::EmptyPath, "its path is empty; name a directory, relative to the manifest's"))
    } else if bytes.contains(&0) {
        Err(Breach::new(Code::InvalidPath, "its path contains U+0000; remove it"))
    } else if has_drive || path.starts_with(['/', '\\']) {
        Err(Breach::new(
            Code::AbsolutePath,
            "its path is absolute; write it relative to the manifest's directory",
        ))
    } else {
        Ok(())
    }
}

/// `path`, which is relative to `base`, relative to `root`. Only names are looked at.
fn below(root: &Path, base: &Path, path: &str) -> Option<PathBuf> {
    let mut target = base.to_path_buf();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                target.pop();
            }
            name => target.push(name),
        }
    }
    target.strip_prefix(root).ok().map(Path::to_path_buf)
}

/// Opens the directory at `below`, name by name, each below the handle of its parent, so that the directory that was
/// checked is the one that is entered. The root may be a link; nothing below it may.
fn open_below_root(
    root: &Path,
    below: &Path,
    visit: &mut dyn FnMut(BorrowedFd<'_>),
) -> Result<OwnedFd, Breach> {
    let flags = |is_last: bool| if is_last { LIST } else { LOOK_UP };
    let mut parts = below.iter().peekable();
    let root_flags = flags(parts.peek().is_none());
    let start = retry_on_intr(|| open(root, root_flags, Mode::empty())).map_err(unopened_root)?;
    let mut entered: Option<OwnedFd> = None;
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let parent = entered.as_ref().unwrap_or(&start).as_fd();
        visit(parent);
        match retry_on_intr(|| openat(parent, part, flags(is_last) | OFlags::NOFOLLOW, Mode::empty())) {
            Ok(handle) => entered = Some(handle),
            Err(errno) => {
                let kind = kind_at(parent, part, Links::NoFollow);
                let destination = || kind_at(start.as_fd(), below, Links::Follow);
                return Err(refusal(errno, is_last, kind, destination));
            }
        }
    }
    Ok(entered.unwrap_or(start))
}

fn unopened_root(errno: Errno) -> Breach {
    let reason = match errno {
        Errno::NOENT => "the catalog root does not exist".to_owned(),
        Errno::NOTDIR => "the catalog root is not a directory".to_owned(),
        other => format!("the catalog root cannot be opened ({})", plain(&other.into())),
    };
    Breach::new(Code::TargetNotFound, reason)
}

/// Why an entry could not be opened as a directory, given its kind. `destination` tells the kind of what the whole
/// path leads to if links are followed. It only chooses the code, and is never entered.
fn refusal(
    errno: Errno,
    is_last: bool,
    kind: Result<FileType, Errno>,
    destination: impl FnOnce() -> Result<FileType, Errno>,
) -> Breach {
    let missing = || Breach::new(Code::TargetNotFound, "its directory does not exist below the catalog root");
    let undetermined = |errno: Errno| {
        let reason =
            format!("the directories on the way to it cannot be examined ({})", plain(&errno.into()));
        Breach::new(Code::ReparsePointInPath, reason)
    };
    match kind {
        Ok(FileType::Symlink) => match destination() {
            Ok(FileType::Directory) if is_last => {
                Breach::new(Code::ReparsePointInPath, "its directory is a link; name the directory itself")
            }
            Ok(FileType::Directory) => Breach::new(
                Code::ReparsePointInPath,
                "a link lies between the catalog root and its directory; name the directory itself",
            ),
            Ok(_) => Breach::new(
                Code::TargetNotFound,
                "its path goes through a link to something that is not a directory",
            ),
            Err(errno) if is_absence(errno) => {
                Breach::new(Code::TargetNotFound, "its path goes through a link to nothing")
            }
            Err(errno) => undetermined(errno),
        },
        Ok(FileType::Directory) if is_last => Breach::new(
            Code::TargetNotFound,
            format!("its directory cannot be opened ({})", plain(&errno.into())),
        ),
        Ok(FileType::Directory | FileType::Unknown) => undetermined(errno),
        Ok(_) if is_last => {
            Breach::new(Code::TargetNotFound, "its path names something that is not a directory")
        }
        Ok(_) => missing(),
        Err(errno) if is_absence(errno) => missing(),
        Err(errno) => undetermined(errno),
    }
}

/// Whether the error means that nothing can be there. That includes a circle of links, and a name that is longer than
/// the file system allows.
fn is_absence(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG)
}
