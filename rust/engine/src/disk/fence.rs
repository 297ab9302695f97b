//! The fence around a catalog: which directories its manifest may name, and entering them (C1).

#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, open, openat, statat};
use rustix::io::{Errno, retry_on_intr};

use crate::{
    disk::{directory::Directory, identity::Identity, open::PASSING},
    manifest::diagnostic::CatalogDiagnosticCode as Code,
    text::fold::fold,
};

/// Why a path was not entered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Breach {
    /// The kind of fault.
    pub code: Code,
    /// The part of a sentence that follows the source's name. No absolute path is in it (D4).
    pub reason: String,
}

impl Breach {
    fn new(code: Code, reason: impl Into<String>) -> Breach {
        Breach { code, reason: reason.into() }
    }
}

/// Where sources may lie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fence {
    root: PathBuf,
    manifest_directory: PathBuf,
}

impl Fence {
    /// A fence around `root`, for paths relative to `manifest_directory`. Both are made absolute;
    /// an empty one is the current directory, as `Path::parent` of a bare file name means it.
    ///
    /// ```
    /// use okf_engine::disk::fence::Fence;
    ///
    /// # let root = tempfile::tempdir()?;
    /// std::fs::create_dir(root.path().join("docs"))?;
    /// let fence = Fence::new(root.path(), root.path())?;
    /// assert_eq!(fence.enter("docs").unwrap().path, root.path().join("docs"));
    /// assert_eq!(fence.enter("../docs").unwrap_err().code.as_str(), "OUTSIDE_ROOT");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// There is no current directory to start from, or a path with `..` in it cannot be resolved
    /// by the file system.
    pub fn new(root: &Path, manifest_directory: &Path) -> io::Result<Fence> {
        Ok(Fence { root: absolute(root)?, manifest_directory: absolute(manifest_directory)? })
    }

    /// The directory that no source leaves.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory that paths start from.
    #[must_use]
    pub fn manifest_directory(&self) -> &Path {
        &self.manifest_directory
    }

    /// Enters the directory that a manifest path names.
    ///
    /// # Errors
    ///
    /// The first check of C1 that fails. A directory that is there, and cannot be opened, is a
    /// [`TargetNotFound`](Code::TargetNotFound) whose reason says so.
    pub fn enter(&self, path: &str) -> Result<Directory, Breach> {
        self.enter_by(path, &mut |_| {})
    }

    /// Enters as [`enter`](Self::enter) does, and shows every directory on the way, the root first,
    /// before anything in it is looked up.
    pub(crate) fn enter_by(
        &self,
        path: &str,
        passing: &mut dyn FnMut(BorrowedFd<'_>),
    ) -> Result<Directory, Breach> {
        check_spelling(path)?;
        let below = self.below_root(path).ok_or_else(|| {
            Breach::new(Code::OutsideRoot, "its path leads outside the catalog root; name a directory inside")
        })?;
        let handle = walk(&self.root, &below, passing)?;
        let file = File::from(handle);
        let metadata = file.metadata().map_err(|error| {
            Breach::new(Code::TargetNotFound, format!("its directory cannot be examined ({})", error.kind()))
        })?;
        Ok(Directory { path: self.root.join(&below), handle: file.into(), identity: Identity::of(&metadata) })
    }

    /// Whether the names alone lead from the root to the path, without asking what links stand for.
    pub(crate) fn is_spelled_below_root(&self, path: &str) -> bool {
        below(&self.root, &self.manifest_directory, path).is_some()
    }

    /// The names that lead from the root to a path of the manifest, folded, so that case makes no difference.
    pub(crate) fn folded_names(&self, path: &str) -> Option<Vec<String>> {
        let below = self.below_root(path)?;
        Some(below.iter().map(|part| fold(&part.to_string_lossy())).collect())
    }

    /// The path as it reads from the root, if it stays inside.
    pub(crate) fn below_root(&self, path: &str) -> Option<PathBuf> {
        if let Some(below) = below(&self.root, &self.manifest_directory, path) {
            return Some(below);
        }
        if self.manifest_directory.starts_with(&self.root) {
            return None;
        }
        // The two may be spelled by way of different links. Nothing hangs on this but the names:
        // the walk starts at the root, and follows no link.
        let root = fs::canonicalize(&self.root).ok()?;
        let manifest_directory = fs::canonicalize(&self.manifest_directory).ok()?;
        below(&root, &manifest_directory, path)
    }
}

/// Names are compared, so `..` must be gone; what it leads to only the file system knows.
fn absolute(path: &Path) -> io::Result<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let path = std::path::absolute(path)?;
    if path.components().any(|component| component == Component::ParentDir) {
        fs::canonicalize(path)
    } else {
        Ok(path)
    }
}

/// The checks that need no file system. Windows forms are refused everywhere: a manifest means the
/// same on every machine.
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

/// `path`, taken from `base`, as it reads from `root`. Decided on names alone.
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

/// Opens the directory at `below`, part by part, each from the handle of the one before, so that
/// what was checked is what was entered. The root may be a link; nothing after it may.
fn walk(root: &Path, below: &Path, passing: &mut dyn FnMut(BorrowedFd<'_>)) -> Result<OwnedFd, Breach> {
    let flags = |last: bool| {
        if last { OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC } else { PASSING }
    };
    let mut parts = below.iter().peekable();
    let root_flags = flags(parts.peek().is_none());
    let start = retry_on_intr(|| open(root, root_flags, Mode::empty())).map_err(unopened_root)?;
    let mut entered: Option<OwnedFd> = None;
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        let from = entered.as_ref().unwrap_or(&start);
        passing(from.as_fd());
        let next = retry_on_intr(|| openat(from, part, flags(last) | OFlags::NOFOLLOW, Mode::empty()));
        match next {
            Ok(handle) => entered = Some(handle),
            Err(errno) => {
                let entry = kind(from, part, AtFlags::SYMLINK_NOFOLLOW);
                return Err(refusal(errno, last, entry, || kind(&start, below, AtFlags::empty())));
            }
        }
    }
    Ok(entered.unwrap_or(start))
}

fn unopened_root(errno: Errno) -> Breach {
    let reason = match errno {
        Errno::NOENT => "the catalog root does not exist".to_owned(),
        Errno::NOTDIR => "the catalog root is not a directory".to_owned(),
        other => format!("the catalog root cannot be opened ({})", said(other)),
    };
    Breach::new(Code::TargetNotFound, reason)
}

fn kind(from: impl AsFd, path: impl AsRef<Path>, flags: AtFlags) -> Result<FileType, Errno> {
    let (from, path) = (from.as_fd(), path.as_ref());
    retry_on_intr(|| statat(from, path, flags)).map(|stat| FileType::from_raw_mode(stat.st_mode))
}

/// Why an entry could not be opened as a directory, given what it is. `destination` tells what the
/// whole path leads to if links are followed; it chooses the code, and is never entered.
fn refusal(
    errno: Errno,
    last: bool,
    entry: Result<FileType, Errno>,
    destination: impl FnOnce() -> Result<FileType, Errno>,
) -> Breach {
    let missing = || Breach::new(Code::TargetNotFound, "its directory does not exist below the catalog root");
    let undetermined = |errno| {
        let reason =
            format!("it cannot be determined what lies on the way to its directory ({})", said(errno));
        Breach::new(Code::ReparsePointInPath, reason)
    };
    match entry {
        Ok(FileType::Symlink) => match destination() {
            Ok(FileType::Directory) if last => {
                Breach::new(Code::ReparsePointInPath, "its directory is a link; name the directory itself")
            }
            Ok(FileType::Directory) => Breach::new(
                Code::ReparsePointInPath,
                "a link lies between the catalog root and its directory; name the directory itself",
            ),
            Ok(_) => Breach::new(
                Code::TargetNotFound,
                "its path leads by way of a link to what is not a directory",
            ),
            Err(errno) if is_absence(errno) => {
                Breach::new(Code::TargetNotFound, "its path leads by way of a link to nothing")
            }
            Err(errno) => undetermined(errno),
        },
        Ok(FileType::Directory) if last => {
            Breach::new(Code::TargetNotFound, format!("its directory cannot be opened ({})", said(errno)))
        }
        Ok(FileType::Directory | FileType::Unknown) => undetermined(errno),
        Ok(_) if last => Breach::new(Code::TargetNotFound, "its path names what is not a directory"),
        Ok(_) => missing(),
        Err(errno) if is_absence(errno) => missing(),
        Err(errno) => undetermined(errno),
    }
}

/// Whether the answer means that nothing can be there: also a circle of links, and a name that is
/// longer than names can be.
fn is_absence(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NAMETOOLONG)
}

/// The operating system's answer in words that do not hang on a locale (D5).
fn said(errno: Errno) -> String {
    format!("{}, os error {}", io::Error::from(errno).kind(), errno.raw_os_error())
}
