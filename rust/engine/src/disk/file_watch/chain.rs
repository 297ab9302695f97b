//! The way to a file through its links, and where on it something can change.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    path::{Component, Path, PathBuf},
};

use crate::disk::identity::Identity;

/// More links than this are followed by no system.
const MOST_LINKS: usize = 40;

/// The way to a file, as it was when it was followed.
#[derive(Debug, Default)]
pub(super) struct Chain {
    /// Each directory that holds a link of the way, and the one that holds its end, free of links. What
    /// is there now is part of it: another directory may take its place.
    pub(super) directories: Vec<(PathBuf, Option<Identity>)>,
    /// Everything on the way, free of links: changes elsewhere are none of ours.
    pub(super) places: BTreeSet<PathBuf>,
}

impl Chain {
    /// Follows the way to `file`, an absolute path, as far as it leads.
    pub(super) fn follow(file: &Path) -> Self {
        let mut chain = Self::default();
        let mut at = PathBuf::from("/");
        let mut todo = Vec::new();
        push_parts(&mut todo, file);
        let mut links = 0;
        while let Some(part) = todo.pop() {
            if part == ".." {
                at.pop();
                continue;
            }
            let place = at.join(part);
            chain.places.insert(place.clone());
            match fs::symlink_metadata(&place) {
                Ok(metadata) if metadata.is_symlink() && links < MOST_LINKS => {
                    links += 1;
                    chain.add(&at);
                    let Ok(target) = fs::read_link(&place) else { break };
                    if target.is_absolute() {
                        at = PathBuf::from("/");
                    }
                    push_parts(&mut todo, &target);
                }
                Ok(metadata) if metadata.is_dir() && !todo.is_empty() => at = place,
                _ => break,
            }
        }
        chain.add(&at);
        chain
    }

    fn add(&mut self, directory: &Path) {
        if !self.directories.iter().any(|(path, _)| path == directory) {
            let identity = fs::metadata(directory).ok().map(|metadata| Identity::of(&metadata));
            self.places.insert(directory.to_owned());
            self.directories.push((directory.to_owned(), identity));
        }
    }
}

/// Puts the parts of a path before what is still to do.
fn push_parts(todo: &mut Vec<OsString>, path: &Path) {
    let parts = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    todo.extend(parts);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A directory without links on the way to it.
    fn root() -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(root.path()).unwrap();
        (root, path)
    }

    fn directories(chain: &Chain) -> Vec<&Path> {
        chain.directories.iter().map(|(path, _)| &**path).collect()
    }

    #[test]
    fn a_plain_file_hangs_on_its_directory() {
        let (_root, root) = root();
        fs::write(root.join("catalog.json"), "").unwrap();
        let chain = Chain::follow(&root.join("catalog.json"));
        assert_eq!(directories(&chain), [&root]);
        assert!(chain.places.contains(&root.join("catalog.json")));
        assert!(!chain.places.contains(&root.join("catalog.json~")));
    }

    #[test]
    fn a_mounted_configuration_map_hangs_on_both_directories() {
        let (_root, root) = root();
        fs::create_dir(root.join("..2024_1")).unwrap();
        fs::write(root.join("..2024_1/catalog.json"), "").unwrap();
        symlink("..2024_1", root.join("..data")).unwrap();
        symlink("..data/catalog.json", root.join("catalog.json")).unwrap();
        let chain = Chain::follow(&root.join("catalog.json"));
        assert_eq!(directories(&chain), [&root, &root.join("..2024_1")]);
        for place in ["catalog.json", "..data", "..2024_1", "..2024_1/catalog.json"] {
            assert!(chain.places.contains(&root.join(place)), "{place}");
        }
    }

    #[test]
    fn a_way_that_ends_early_hangs_on_where_it_ends() {
        let (_root, root) = root();
        let chain = Chain::follow(&root.join("a/b/catalog.json"));
        assert_eq!(directories(&chain), [&root]);
        assert!(chain.places.contains(&root.join("a")));
        fs::write(root.join("a"), "no directory").unwrap();
        assert_eq!(directories(&Chain::follow(&root.join("a/b/catalog.json"))), [&root]);
    }

    #[test]
    fn links_lead_up_and_away_as_for_the_system() {
        let (_root, root) = root();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::create_dir_all(root.join("c/d")).unwrap();
        symlink(root.join("c/d"), root.join("a/b/away")).unwrap();
        let chain = Chain::follow(&root.join("a/./b/away/../catalog.json"));
        assert_eq!(directories(&chain), [&root.join("a/b"), &root.join("c")]);
    }

    #[test]
    fn a_circle_of_links_ends() {
        let (_root, root) = root();
        symlink("two", root.join("one")).unwrap();
        symlink("one", root.join("two")).unwrap();
        symlink("x/x/x/x/x/x/x/x", root.join("x")).unwrap();
        assert_eq!(directories(&Chain::follow(&root.join("one"))), [&root]);
        assert_eq!(directories(&Chain::follow(&root.join("x"))), [&root]);
    }

    #[test]
    fn another_directory_in_the_same_place_is_another_way() {
        let (_root, root) = root();
        fs::create_dir(root.join("a")).unwrap();
        let before = Chain::follow(&root.join("a/catalog.json"));
        fs::rename(root.join("a"), root.join("b")).unwrap();
        fs::create_dir(root.join("a")).unwrap();
        assert_ne!(Chain::follow(&root.join("a/catalog.json")).directories, before.directories);
    }
}
