//! A path with its symbolic links resolved, and the directories in which a change can make it lead elsewhere.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::disk::identity::Identity;

/// At most this many links of a path are followed. No system follows more.
const MAX_LINKS: usize = 40;

/// A path as it was when it was resolved.
#[derive(Debug, Default)]
pub(super) struct ResolvedPath {
    /// Each directory that contains a link of the path, and the directory of the file itself. The paths are free of
    /// links. The identity is that of the directory which is there: another one may replace it.
    pub(super) directories: Vec<(PathBuf, Option<Identity>)>,
    /// The path of every entry that was passed, free of links. Only changes of these entries matter.
    pub(super) entries: BTreeSet<PathBuf>,
}

impl ResolvedPath {
    /// Resolves an absolute path, as far as its entries exist.
    pub(super) fn of(file: &Path) -> Self {
        let mut resolved = Self::default();
        let mut directory = PathBuf::from("/");
        let mut pending = Vec::new();
        push_parts(&mut pending, file);
        let mut links = 0;
        while let Some(part) = pending.pop() {
            if part == ".." {
                directory.pop();
                continue;
            }
            let entry = directory.join(part);
            resolved.entries.insert(entry.clone());
            match fs::symlink_metadata(&entry) {
                Ok(metadata) if metadata.is_symlink() && links < MAX_LINKS => {
                    links += 1;
                    resolved.add(&directory);
                    let Ok(target) = fs::read_link(&entry) else { break };
                    if target.is_absolute() {
                        directory = PathBuf::from("/");
                    }
                    push_parts(&mut pending, &target);
                }
                Ok(metadata) if metadata.is_dir() && !pending.is_empty() => directory = entry,
                _ => break,
            }
        }
        resolved.add(&directory);
        resolved
    }

    fn add(&mut self, directory: &Path) {
        if !self.directories.iter().any(|(path, _)| path == directory) {
            let identity = fs::metadata(directory).ok().map(|metadata| Identity::of(&metadata));
            self.entries.insert(directory.to_owned());
            self.directories.push((directory.to_owned(), identity));
        }
    }
}

/// Puts the parts of a path before those that are still pending.
fn push_parts(pending: &mut Vec<OsString>, path: &Path) {
    let parts = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    pending.extend(parts);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A temporary directory. Its path has no links.
    fn root() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(root.path()).unwrap();
        (root, path)
    }

    fn directories(path: &ResolvedPath) -> Vec<&Path> {
        path.directories.iter().map(|(path, _)| &**path).collect()
    }

    #[test]
    fn a_file_without_links_depends_on_its_directory() {
        let (_root, root) = root();
        fs::write(root.join("catalog.json"), "").unwrap();
        let path = ResolvedPath::of(&root.join("catalog.json"));
        assert_eq!(directories(&path), [&root]);
        assert!(path.entries.contains(&root.join("catalog.json")));
        assert!(!path.entries.contains(&root.join("catalog.json~")));
    }

    #[test]
    fn a_mounted_configuration_map_depends_on_both_directories() {
        let (_root, root) = root();
        fs::create_dir(root.join("..2024_1")).unwrap();
        fs::write(root.join("..2024_1/catalog.json"), "").unwrap();
        symlink("..2024_1", root.join("..data")).unwrap();
        symlink("..data/catalog.json", root.join("catalog.json")).unwrap();
        let path = ResolvedPath::of(&root.join("catalog.json"));
        assert_eq!(directories(&path), [&root, &root.join("..2024_1")]);
        for entry in ["catalog.json", "..data", "..2024_1", "..2024_1/catalog.json"] {
            assert!(path.entries.contains(&root.join(entry)), "{entry}");
        }
    }

    #[test]
    fn a_missing_file_depends_on_the_last_directory_that_exists() {
        let (_root, root) = root();
        let path = ResolvedPath::of(&root.join("a/b/catalog.json"));
        assert_eq!(directories(&path), [&root]);
        assert!(path.entries.contains(&root.join("a")));
        fs::write(root.join("a"), "no directory").unwrap();
        assert_eq!(directories(&ResolvedPath::of(&root.join("a/b/catalog.json"))), [&root]);
    }

    #[test]
    fn links_are_resolved_as_the_system_resolves_them() {
        let (_root, root) = root();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir_all(root.join("c/d")).unwrap();
        symlink(root.join("c/d"), root.join("a/b/away")).unwrap();
        let path = ResolvedPath::of(&root.join("a/./b/away/../catalog.json"));
        assert_eq!(directories(&path), [&root.join("a/b"), &root.join("c")]);
    }

    #[test]
    fn resolving_a_circle_of_links_ends() {
        let (_root, root) = root();
        symlink("two", root.join("one")).unwrap();
        symlink("one", root.join("two")).unwrap();
        symlink("x/x/x/x/x/x/x/x", root.join("x")).unwrap();
        assert_eq!(directories(&ResolvedPath::of(&root.join("one"))), [&root]);
        assert_eq!(directories(&ResolvedPath::of(&root.join("x"))), [&root]);
    }

    #[test]
    fn a_directory_that_replaces_another_changes_the_resolved_path() {
        let (_root, root) = root();
        fs::create_dir(root.join("a")).unwrap();
        let before = ResolvedPath::of(&root.join("a/catalog.json"));
        fs::rename(root.join("a"), root.join("b")).unwrap();
        fs::create_dir(root.join("a")).unwrap();
        assert_ne!(ResolvedPath::of(&root.join("a/catalog.json")).directories, before.directories);
    }
}
