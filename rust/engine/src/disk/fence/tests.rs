use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use rustix::fs::Dir;
use tempfile::TempDir;

use super::*;

/// A directory with these directories in it, without links on the way to it.
fn tree(directories: &[&str]) -> (TempDir, PathBuf) {
    let guard = tempfile::tempdir().unwrap();
    let base = fs::canonicalize(guard.path()).unwrap();
    for directory in directories {
        fs::create_dir_all(base.join(directory)).unwrap();
    }
    (guard, base)
}

fn fence(root: &Path) -> Fence {
    Fence::new(root, root).unwrap()
}

/// The code of a refusal; its reason is checked for what no reason may carry.
fn refused(fence: &Fence, path: &str) -> &'static str {
    let breach = fence.enter(path).unwrap_err();
    assert!(!breach.reason.contains('/'), "{path}: {}", breach.reason);
    breach.code.as_str()
}

fn names(directory: &Directory) -> Vec<String> {
    let mut names: Vec<String> = Dir::read_from(&directory.handle)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_str().unwrap().to_owned())
        .filter(|name| !name.starts_with('.'))
        .collect();
    names.sort();
    names
}

/// Whether permissions mean nothing here, as for root.
fn is_all_powerful(base: &Path) -> bool {
    let locked = base.join("locked-probe");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, Permissions::from_mode(0o000)).unwrap();
    let opened = fs::read_dir(&locked).is_ok();
    fs::remove_dir(&locked).unwrap();
    opened
}

#[test]
fn a_directory_below_the_root_is_entered() {
    let (_guard, base) = tree(&["a/b", "a/c"]);
    let fence = fence(&base);
    let directory = fence.enter("a").unwrap();
    assert_eq!(directory.path, base.join("a"));
    assert_eq!(directory.identity, Identity::of(&fs::metadata(base.join("a")).unwrap()));
    assert_eq!(names(&directory), ["b", "c"]);
    let around = format!("{}..{}", "../".repeat(99), base.join("a/b").display());
    for spelling in ["a/b", "./a//b/", "a/./b", "a/missing/../b", &around] {
        assert_eq!(fence.enter(spelling).unwrap().path, base.join("a/b"), "{spelling}");
    }
}

#[test]
fn one_directory_has_one_identity() {
    let (_guard, base) = tree(&["a", "b"]);
    let fence = fence(&base);
    let identity = |path| fence.enter(path).unwrap().identity;
    assert_eq!(identity("a"), identity("b/../a/."));
    assert_ne!(identity("a"), identity("b"));
}

#[test]
fn the_root_itself_is_inside() {
    let (_guard, base) = tree(&["a"]);
    for path in [".", "./", "a/..", "a/../"] {
        assert_eq!(names(&fence(&base).enter(path).unwrap()), ["a"], "{path}");
    }
}

#[test]
fn spelling_is_checked_before_anything_else() {
    let (_guard, base) = tree(&["a", "C:", "C:x", "\\x"]);
    let fence = fence(&base);
    assert_eq!(refused(&fence, ""), "EMPTY_PATH");
    for path in ["\0", "a\0b", "/\0", "../\0"] {
        assert_eq!(refused(&fence, path), "INVALID_PATH", "{path:?}");
    }
    let inside = base.join("a");
    let absolute = [
        "/",
        "/x",
        "//x",
        inside.to_str().unwrap(),
        "C:\\x",
        "C:/x",
        "C:x",
        "C:",
        "z:..",
        "\\x",
        "\\",
        "\\\\server\\share",
        "\\\\?\\C:\\x",
        "//server/share",
        "/../x",
    ];
    for path in absolute {
        assert_eq!(refused(&fence, path), "ABSOLUTE_PATH", "{path}");
    }
}

#[test]
fn a_backslash_is_a_character_like_others() {
    let (_guard, base) = tree(&["a\\b", "a\\..", "ab:c", "1:x"]);
    for path in ["a\\b", "a\\..", "ab:c", "1:x"] {
        assert_eq!(fence(&base).enter(path).unwrap().path, base.join(path));
    }
}

#[test]
fn dots_are_legal_if_the_result_stays_inside() {
    let (_guard, base) = tree(&["root/catalogs/a", "root/bundles/b", "outside"]);
    let fence = Fence::new(&base.join("root"), &base.join("root/catalogs")).unwrap();
    assert_eq!(fence.enter("a").unwrap().path, base.join("root/catalogs/a"));
    assert_eq!(fence.enter("../bundles/b").unwrap().path, base.join("root/bundles/b"));
    assert_eq!(fence.enter("../../root/bundles").unwrap().path, base.join("root/bundles"));
    for path in ["../../outside", "../..", "a/../../../outside", "../../missing", "../../../../../../../.."] {
        assert_eq!(refused(&fence, path), "OUTSIDE_ROOT", "{path}");
    }
}

#[test]
fn whole_components_are_compared_and_case_counts() {
    let (_guard, base) = tree(&["root/a", "rootx/a", "roo", "Root/a"]);
    let fence = fence(&base.join("root"));
    for path in ["../rootx/a", "../rootx", "../roo", "../Root/a", "../ROOT"] {
        assert_eq!(refused(&fence, path), "OUTSIDE_ROOT", "{path}");
    }
}

#[test]
fn the_manifest_may_lie_outside_the_root() {
    let (_guard, base) = tree(&["bundles/a", "etc", "b"]);
    let fence = Fence::new(&base.join("bundles"), &base.join("etc")).unwrap();
    assert_eq!(fence.enter("../bundles/a").unwrap().path, base.join("bundles/a"));
    assert_eq!(refused(&fence, "../b"), "OUTSIDE_ROOT");
    assert_eq!(refused(&fence, "."), "OUTSIDE_ROOT");
}

#[test]
fn the_root_may_be_a_link() {
    let (_guard, base) = tree(&["real/a", "real/catalogs"]);
    symlink("real", base.join("link")).unwrap();
    symlink("link", base.join("twice")).unwrap();
    let (real, link, twice) = (base.join("real"), base.join("link"), base.join("twice"));
    let expected = fence(&real).enter("a").unwrap().identity;
    for root in [&real, &link, &twice] {
        for manifest_directory in [&real, &link, &twice] {
            let fence = Fence::new(root, manifest_directory).unwrap();
            let directory = fence.enter("a").unwrap();
            assert_eq!(directory.path, root.join("a"));
            assert_eq!(directory.identity, expected);
            assert_eq!(refused(&fence, "../b"), "OUTSIDE_ROOT");

            let fence = Fence::new(root, &manifest_directory.join("catalogs")).unwrap();
            assert_eq!(fence.enter("../a").unwrap().identity, expected);
            assert_eq!(fence.enter("..").unwrap().path, *root);
        }
    }
    let fence = Fence::new(&link, &base).unwrap();
    assert_eq!(fence.enter("link/a").unwrap().identity, expected);
    assert_eq!(fence.enter("real/a").unwrap().identity, expected);
}

#[test]
fn a_swapped_root_is_seen_at_the_next_entry() {
    let (_guard, base) = tree(&["one/a", "two/a"]);
    symlink("one", base.join("now")).unwrap();
    let fence = fence(&base.join("now"));
    let before = fence.enter("a").unwrap().identity;
    symlink("two", base.join("next")).unwrap();
    fs::rename(base.join("next"), base.join("now")).unwrap();
    assert_ne!(fence.enter("a").unwrap().identity, before);
}

#[test]
fn missing_directories_and_files_are_not_found() {
    let (_guard, base) = tree(&["a"]);
    fs::write(base.join("file"), "").unwrap();
    let status = std::process::Command::new("mkfifo").arg(base.join("fifo")).status().unwrap();
    assert!(status.success());
    let fence = fence(&base);
    let long = "x".repeat(5000);
    let deep = "x/".repeat(5000);
    for path in ["b", "a/b", "b/c/d", "file", "file/a", "fifo", "fifo/a", &long, &deep] {
        assert_eq!(refused(&fence, path), "TARGET_NOT_FOUND", "{path}");
    }
}

#[test]
fn a_missing_root_is_not_found() {
    let (_guard, base) = tree(&[]);
    fs::write(base.join("file"), "").unwrap();
    symlink("nothing", base.join("dangling")).unwrap();
    symlink("circle", base.join("circle")).unwrap();
    for root in ["missing", "file", "dangling", "circle"] {
        let fence = fence(&base.join(root));
        for path in [".", "a", "a/b"] {
            assert_eq!(refused(&fence, path), "TARGET_NOT_FOUND", "{root}: {path}");
        }
    }
}

#[test]
fn links_below_the_root_are_refused() {
    let (_guard, base) = tree(&["root/real/a", "root/b", "outside/a"]);
    let root = base.join("root");
    symlink("real", root.join("inside")).unwrap();
    symlink(&root, root.join("self")).unwrap();
    symlink("../outside", root.join("out")).unwrap();
    symlink("../real/a", root.join("b/target")).unwrap();
    let fence = fence(&root);
    for path in
        ["inside", "inside/", "inside/a", "self", "self/real", "out", "out/a", "b/target", "real/../inside/a"]
    {
        assert_eq!(refused(&fence, path), "REPARSE_POINT_IN_PATH", "{path}");
    }
    // Decided on names: the link is not on the way.
    assert_eq!(fence.enter("out/../real/a").unwrap().path, root.join("real/a"));
}

#[test]
fn links_to_nothing_are_not_found() {
    let (_guard, base) = tree(&["real/a"]);
    fs::write(base.join("file"), "").unwrap();
    symlink("nothing", base.join("dangling")).unwrap();
    symlink("circle", base.join("circle")).unwrap();
    symlink("file", base.join("to-file")).unwrap();
    symlink("real", base.join("link")).unwrap();
    let fence = fence(&base);
    for path in ["dangling", "dangling/a", "circle", "circle/a", "to-file", "to-file/a", "link/b", "link/a/b"]
    {
        assert_eq!(refused(&fence, path), "TARGET_NOT_FOUND", "{path}");
    }
}

#[test]
fn a_link_between_root_and_manifest_is_on_the_way() {
    let (_guard, base) = tree(&["real/a", "b"]);
    symlink("real", base.join("link")).unwrap();
    let fence = Fence::new(&base, &base.join("link")).unwrap();
    assert_eq!(refused(&fence, "a"), "REPARSE_POINT_IN_PATH");
    assert_eq!(fence.enter("../b").unwrap().path, base.join("b"));
}

#[test]
fn what_was_entered_stays_entered() {
    let (_guard, base) = tree(&["a/honest", "elsewhere/secret"]);
    let directory = fence(&base).enter("a").unwrap();
    fs::rename(base.join("a"), base.join("moved")).unwrap();
    symlink("elsewhere", base.join("a")).unwrap();
    assert_eq!(names(&directory), ["honest"]);
    assert_eq!(refused(&fence(&base), "a"), "REPARSE_POINT_IN_PATH");
}

#[test]
fn permissions_decide_what_can_be_said() {
    let (_guard, base) = tree(&["passable/a", "closed/a", "target"]);
    if is_all_powerful(&base) {
        return;
    }
    let chmod = |path: &str, mode| {
        fs::set_permissions(base.join(path), Permissions::from_mode(mode)).unwrap();
    };
    chmod("passable", 0o111);
    chmod("closed", 0o000);
    chmod("target", 0o111);
    let fence = fence(&base);
    let breach = fence.enter("target").unwrap_err();
    assert_eq!(breach.code, Code::TargetNotFound);
    assert!(
        breach.reason.starts_with("its directory cannot be opened (permission denied"),
        "{}",
        breach.reason
    );
    assert_eq!(refused(&fence, "closed"), "TARGET_NOT_FOUND");
    assert_eq!(refused(&fence, "closed/a"), "REPARSE_POINT_IN_PATH");
    if PASSING != OFlags::RDONLY {
        assert!(fence.enter("passable/a").is_ok());
    }
    for path in ["passable", "closed", "target"] {
        chmod(path, 0o755);
    }
}

#[test]
fn names_of_any_script_work() {
    let (_guard, base) = tree(&["Übersicht/été", "知識/注文", "with space/ a "]);
    for path in ["Übersicht/été", "知識/注文", "with space/ a ", "知識/../Übersicht"] {
        assert!(fence(&base).enter(path).is_ok(), "{path}");
    }
}

#[test]
fn relative_fences_are_made_absolute() {
    let here = std::env::current_dir().unwrap();
    let fence = Fence::new(Path::new(""), Path::new("./src")).unwrap();
    assert_eq!(fence.root(), here);
    assert_eq!(fence.manifest_directory(), here.join("src"));
    let (_guard, base) = tree(&["real/a", "real/b"]);
    symlink("real/a", base.join("link")).unwrap();
    let fence = Fence::new(&base.join("link/.."), &base.join("link/../b")).unwrap();
    assert_eq!(fence.root(), base.join("real"));
    assert_eq!(fence.manifest_directory(), base.join("real/b"));
    assert!(Fence::new(&base, &base.join("missing/..")).is_err());
}

#[test]
fn nothing_is_left_open_after_a_refusal() {
    let (_guard, base) = tree(&["a/b/c"]);
    symlink("c", base.join("a/b/link")).unwrap();
    let fence = fence(&base);
    // More than the usual limit of open files.
    for _ in 0..5000 {
        assert_eq!(refused(&fence, "a/b/link"), "REPARSE_POINT_IN_PATH");
        assert!(fence.enter("a/b/c").is_ok());
    }
}
