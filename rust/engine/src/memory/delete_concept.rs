//! Deletes the file of one concept (Y12).

use std::os::fd::{AsFd, BorrowedFd};

use rustix::{
    fs::{AtFlags, FileType, statat, unlinkat},
    io::{Errno, retry_on_intr},
};

use crate::{
    disk::{above::is_mounted_in, open::sync_directory},
    memory::{
        directories::open,
        failure::{Action, Cause, Failure, FailureKind},
    },
};

/// Deletes the file of a concept below the directory of a scope. `name` is the path of the concept below that
/// directory, without `.md`. Whether the file existed.
///
/// # Errors
/// It is a link or not a regular file, or the system refuses. The path of the failure starts in `directory`.
pub(super) fn delete_concept(directory: BorrowedFd<'_>, name: &str) -> Result<bool, Failure> {
    let inner = match name.rsplit_once('/') {
        Some((directories, _)) => match open(directory, directories)? {
            Some(handle) if is_mounted_in(directory, handle.as_fd()).unwrap_or(true) => {
                let kind = FailureKind::failed(Action::Enter, Cause::MountedInside);
                return Err(Failure::at(directories, kind));
            }
            Some(handle) => Some(handle),
            None => return Ok(false),
        },
        None => None,
    };
    let parent = inner.as_ref().map_or(directory, |handle| handle.as_fd());
    let file = format!("{}.md", name.rsplit('/').next().unwrap_or(name));
    delete_file(parent, &file).map_err(|kind| Failure::at(format!("{name}.md"), kind))
}

fn delete_file(parent: BorrowedFd<'_>, file: &str) -> Result<bool, FailureKind> {
    match retry_on_intr(|| statat(parent, file, AtFlags::SYMLINK_NOFOLLOW)) {
        Ok(stat) => match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => {}
            FileType::Symlink => return Err(FailureKind::Link),
            _ => return Err(FailureKind::NotAFile),
        },
        // No file can have a name that long.
        Err(Errno::NOENT | Errno::NAMETOOLONG) => return Ok(false),
        Err(errno) => return Err(FailureKind::failed(Action::Delete, errno)),
    }
    match retry_on_intr(|| unlinkat(parent, file, AtFlags::empty())) {
        Ok(()) => {}
        Err(Errno::NOENT) => return Ok(false),
        Err(errno) => return Err(FailureKind::failed(Action::Delete, errno)),
    }
    sync_directory(parent).map_err(|error| FailureKind::NotSynced(Action::Delete, error))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn only_a_regular_file_below_the_scope_is_deleted() {
        let temporary = tempfile::tempdir().unwrap();
        let path = |name: &str| temporary.path().join(name);
        fs::create_dir_all(path("scope/inner/directory.md")).unwrap();
        for file in ["outside.md", "scope/a.md", "scope/inner/b.md"] {
            fs::write(path(file), "").unwrap();
        }
        symlink("../outside.md", path("scope/link.md")).unwrap();
        let scope = fs::File::open(path("scope")).unwrap();
        let delete = |name: &str| delete_concept(scope.as_fd(), name);
        assert!(delete("a").unwrap() && !delete("a").unwrap());
        assert!(delete("inner/b").unwrap() && !delete("missing/c").unwrap());
        assert!(!delete(&"x".repeat(300)).unwrap());
        for (name, words) in [
            ("link", r#""link.md" is a link; no memory is read, written or deleted through one"#),
            ("inner/directory", r#""inner/directory.md" is not a regular file"#),
            ("../outside", r#"".." is not the path of a scope or of a concept in one"#),
        ] {
            assert_eq!(delete(name).unwrap_err().to_string(), words);
        }
        assert!(path("outside.md").exists() && path("scope/link.md").is_symlink());
    }
}
