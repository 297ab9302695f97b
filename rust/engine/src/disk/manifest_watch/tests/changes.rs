//! Every way of changing the file is noticed.

use std::{
    fs::{self, File},
    os::unix::fs::symlink,
    path::Path,
    sync::mpsc::channel,
    thread,
    time::{Duration, SystemTime},
};

use super::{DEADLINE, DEBOUNCE, ManifestWatch, NEVER, ROUNDS, Scene, replace, write};
use crate::disk::manifest_watch::POLL_INTERVAL;

#[test]
fn atomic_replacement_is_noticed() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        replace(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn writing_in_place_is_noticed() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn an_editors_backup_and_new_file_is_noticed() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        fs::rename(&scene.file, scene.root.join("catalog.json~")).unwrap();
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn deletion_and_return_half_a_second_later_are_noticed() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        fs::remove_file(&scene.file).unwrap();
        scene.expect(None);
        thread::sleep(Duration::from_millis(500));
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn return_of_the_same_content_is_noticed() {
    let scene = Scene::plain(DEBOUNCE);
    for _ in ROUNDS {
        fs::remove_file(&scene.file).unwrap();
        scene.expect(None);
        write(&scene.file, "0");
        scene.expect(Some("0"));
    }
}

#[test]
fn the_swap_of_a_mounted_configuration_map_is_noticed() {
    let time = SystemTime::now() - Duration::from_secs(100);
    let fill = |directory: &Path, content: &str| {
        fs::create_dir(directory).unwrap();
        let file = directory.join("catalog.json");
        write(&file, content);
        File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
        File::open(directory).unwrap().set_modified(time).unwrap();
    };
    let scene = Scene::new("catalog.json", DEBOUNCE, NEVER, |root| {
        fill(&root.join("..2024_0"), "0");
        symlink("..2024_0", root.join("..data")).unwrap();
        symlink("..data/catalog.json", root.join("catalog.json")).unwrap();
    });
    let mut before = scene.root.join("..2024_0");
    for content in ROUNDS {
        let name = format!("..2024_{content}");
        fill(&scene.root.join(&name), content);
        symlink(&name, scene.root.join("..data_tmp")).unwrap();
        fs::rename(scene.root.join("..data_tmp"), scene.root.join("..data")).unwrap();
        fs::remove_dir_all(&before).unwrap();
        scene.expect(Some(content));
        before = scene.root.join(name);
    }
}

#[test]
fn writing_to_the_target_of_links_is_noticed() {
    let scene = Scene::new("links/catalog.json", DEBOUNCE, NEVER, |root| {
        fs::create_dir(root.join("links")).unwrap();
        fs::create_dir_all(root.join("far/away")).unwrap();
        write(&root.join("far/away/manifest"), "0");
        symlink(root.join("far"), root.join("links/far")).unwrap();
        symlink("far/away/manifest", root.join("links/catalog.json")).unwrap();
    });
    for content in ROUNDS {
        write(&scene.root.join("far/away/manifest"), content);
        scene.expect(Some(content));
    }
}

#[test]
fn a_link_that_leads_elsewhere_is_noticed() {
    let scene = Scene::new("current/catalog.json", DEBOUNCE, NEVER, |root| {
        for content in ["0", "1", "2", "3"] {
            fs::create_dir(root.join(content)).unwrap();
            write(&root.join(content).join("catalog.json"), content);
        }
        symlink("0", root.join("current")).unwrap();
    });
    for content in ROUNDS {
        symlink(content, scene.root.join("next")).unwrap();
        fs::rename(scene.root.join("next"), scene.root.join("current")).unwrap();
        scene.expect(Some(content));
    }
}

#[test]
fn removal_and_return_of_the_directory_are_noticed() {
    let directory = |root: &Path| root.join("a/b");
    let scene = Scene::new("a/b/catalog.json", DEBOUNCE, NEVER, |root| {
        fs::create_dir_all(directory(root)).unwrap();
        write(&root.join("a/b/catalog.json"), "0");
    });
    for content in ROUNDS {
        fs::remove_dir_all(directory(&scene.root)).unwrap();
        scene.expect(None);
        fs::create_dir(directory(&scene.root)).unwrap();
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn removal_and_return_of_the_directories_above_are_noticed() {
    let scene = Scene::new("a/b/c/catalog.json", DEBOUNCE, NEVER, |root| {
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        write(&root.join("a/b/c/catalog.json"), "0");
    });
    for content in ROUNDS {
        fs::remove_dir_all(scene.root.join("a")).unwrap();
        scene.expect(None);
        fs::create_dir_all(scene.root.join("a/b/c")).unwrap();
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn a_directory_that_takes_the_place_of_another_is_noticed() {
    let scene = Scene::new("a/catalog.json", DEBOUNCE, NEVER, |root| {
        fs::create_dir(root.join("a")).unwrap();
        write(&root.join("a/catalog.json"), "0");
    });
    for content in ROUNDS {
        let (next, old) = (scene.root.join("next"), scene.root.join(format!("old{content}")));
        fs::create_dir(&next).unwrap();
        write(&next.join("catalog.json"), content);
        fs::rename(scene.root.join("a"), &old).unwrap();
        fs::rename(&next, scene.root.join("a")).unwrap();
        scene.expect(Some(content));
        let later = format!("{content} later");
        write(&scene.file, &later);
        scene.expect(Some(&later));
    }
}

#[test]
fn a_directory_above_that_takes_the_place_of_another_is_noticed() {
    let fill = |directory: &Path, content: &str| {
        fs::create_dir_all(directory.join("b")).unwrap();
        write(&directory.join("b/catalog.json"), content);
    };
    // No event tells of this change: only polling finds it.
    let scene = Scene::new("a/b/catalog.json", DEBOUNCE, POLL_INTERVAL, |root| fill(&root.join("a"), "0"));
    for content in ROUNDS {
        let (next, old) = (scene.root.join("next"), scene.root.join(format!("old{content}")));
        fill(&next, content);
        fs::rename(scene.root.join("a"), &old).unwrap();
        fs::rename(&next, scene.root.join("a")).unwrap();
        scene.expect(Some(content));
    }
}

#[test]
fn a_half_written_file_and_then_the_whole_one_are_noticed() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        let half = format!("{content} half");
        write(&scene.file, &half);
        scene.expect(Some(&half));
        let whole = format!("{content} half and whole");
        write(&scene.file, &whole);
        scene.expect(Some(&whole));
    }
}

#[test]
fn a_directory_in_the_place_of_the_file_is_noticed_and_so_is_a_file_again() {
    let scene = Scene::plain(DEBOUNCE);
    for content in ROUNDS {
        fs::remove_file(&scene.file).unwrap();
        fs::create_dir(&scene.file).unwrap();
        scene.expect(None);
        fs::remove_dir(&scene.file).unwrap();
        write(&scene.file, content);
        scene.expect(Some(content));
    }
}

#[test]
fn creating_the_file_is_noticed() {
    let scene = Scene::new("a/b/catalog.json", DEBOUNCE, NEVER, |_| ());
    for content in ROUNDS {
        fs::create_dir_all(scene.root.join("a/b")).unwrap();
        write(&scene.file, content);
        scene.expect(Some(content));
        fs::remove_dir_all(scene.root.join("a")).unwrap();
        scene.expect(None);
    }
}

#[test]
fn a_change_after_a_call_that_panicked_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("catalog.json");
    write(&file, "0");
    let (sender, seen) = channel();
    let _watch = ManifestWatch::start_polling(&file, DEBOUNCE, NEVER, move || {
        sender.send(()).unwrap();
        std::panic::resume_unwind(Box::new(()));
    });
    for content in ROUNDS {
        replace(&file, content);
        assert_eq!(seen.recv_timeout(DEADLINE), Ok(()));
    }
}
