"""Mounts, and the limits of the kernel on watches (F1): what is watched, compared, or found late."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from making.catalogs import make_catalog
from making.changes import FILES, write

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux queues events in time")


def test_a_file_system_mounted_over_a_directory_is_seen(tmp_path: Path) -> None:
    make_catalog(tmp_path, {"kb": {"files": FILES}}).close()
    program = (
        "import sys, subprocess, okf_catalog\n"
        "catalog = okf_catalog.FileKnowledgeCatalog(sys.argv[1] + '/catalog.json', watch_for_changes=False)\n"
        "resolver = okf_catalog.GroupedKnowledgeResolver(catalog)\n"
        "count = lambda: len(resolver.search('word').passages)\n"
        "assert count() == 4\n"
        "subprocess.run(['mount', '-t', 'tmpfs', 'none', sys.argv[1] + '/kb/d'], check=True)\n"
        "assert count() == 2\n"
        "open(sys.argv[1] + '/kb/d/new.md', 'w').write('word')\n"
        "assert count() == 3\n"
        "subprocess.run(['umount', sys.argv[1] + '/kb/d'], check=True)\n"
        "assert count() == 4\n"
        "subprocess.run(['mount', '--bind', sys.argv[1] + '/src', sys.argv[1] + '/kb/a.md'], check=True)\n"
        "assert count() == 3\n"
        "open(sys.argv[1] + '/kb/a.md', 'w').write('word')\n"
        "assert count() == 4\n"
        "assert catalog.report().sources[0].compared_because == 'a file is mounted in it'\n"
        "print('seen')\n"
    )
    write(tmp_path / "src", "nothing")
    if shutil.which("unshare") is None:
        pytest.skip("there is no unshare here")
    command = [
        "unshare",
        "--user",
        "--map-root-user",
        "--mount",
        sys.executable,
        "-c",
        program,
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    if "unshare" in done.stderr or "mount:" in done.stderr:
        pytest.skip("nothing can be mounted here")
    assert done.stdout == "seen\n", done.stderr


def outside(program: str, path: Path, *before: str) -> str:
    """What a program prints in a user namespace, where it can mount file systems and lower limits."""
    shell = " && ".join([*before, f'exec {sys.executable} -c "$0" {path}'])
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", shell, HEAD + program]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if any(refused in done.stderr for refused in ("unshare:", "mount:", "/proc/sys/user")):
        pytest.skip("this system allows no namespaces")
    assert done.returncode == 0, done.stderr
    return done.stdout


HEAD = """
import os, pathlib, subprocess, sys, okf_catalog
root = pathlib.Path(sys.argv[1])
catalog = okf_catalog.FileKnowledgeCatalog(root / "catalog.json", watch_for_changes=False)
resolver = okf_catalog.GroupedKnowledgeResolver(catalog)
count = lambda: len(resolver.search("word").passages)
because = lambda: catalog.report().sources[0].compared_because
run = lambda *command: subprocess.run(command, check=True)
"""


def test_a_file_system_mounted_over_a_bundle_or_the_root_is_seen(tmp_path: Path) -> None:
    make_catalog(tmp_path, {"kb": {"files": FILES}}).close()
    program = """
assert count() == 4
run("mount", "-t", "tmpfs", "none", root / "kb")
assert count() == 0
(root / "kb/new.md").write_text("word")
assert count() == 1
run("umount", root / "kb")
assert count() == 4
(root / "kb/a.md").write_text("nothing")
assert count() == 3
run("mount", "-t", "tmpfs", "none", root)
context = resolver.search("word")
assert [d.code.name for d in context.diagnostics] == ["SOURCE_UNAVAILABLE"]
(root / "kb").mkdir()
(root / "kb/new.md").write_text("word")
assert count() == 1
run("umount", root)
assert count() == 3
print(because())
"""
    assert outside(program, tmp_path) == "None\n"


def test_writes_under_another_mount_of_the_bundle_are_seen(tmp_path: Path) -> None:
    make_catalog(tmp_path, {"kb": {"files": FILES}}).close()
    (tmp_path / "twin").mkdir()
    program = """
run("mount", "--bind", root / "kb", root / "twin")
assert count() == 4
(root / "twin/a.md").write_text("nothing")
assert count() == 3
(root / "twin/d/new.md").write_text("word")
assert count() == 4
file = open(root / "twin/f/g.md", "w")
run("umount", "-l", root / "twin")
print("nothing", file=file, flush=True)
assert count() == 3
print(because())
"""
    assert outside(program, tmp_path) == "None\n"


LATE = "found within half a minute"


def test_a_bundle_of_too_many_files_says_what_is_found_late(tmp_path: Path) -> None:
    files = {f"d{i}/{i}.md": "word" for i in range(11)}
    make_catalog(tmp_path, {"kb": {"files": files}}).close()
    program = """
assert count() == 11
(root / "kb/d3/3.md").write_text("nothing")
assert count() == 10
(root / "kb/new.md").write_text("word")
assert count() == 11
os.link(root / "kb/d4/4.md", root / "out")
(root / "kb/d4/x.md").write_text("word")
assert count() == 12
(root / "out").write_text("nothing")
assert count() == 11, "a second name was there when it was listed"
print(because())
"""
    said = outside(program, tmp_path, "echo 160 > /proc/sys/user/max_inotify_watches")
    assert said.startswith("it has more files than the 10 that are watched one by one"), said
    assert LATE in said


def test_a_bundle_within_the_limit_finds_nothing_late(tmp_path: Path) -> None:
    make_catalog(tmp_path, {"kb": {"files": {f"d{i}/{i}.md": "word" for i in range(10)}}}).close()
    program = """
assert count() == 10
os.link(root / "kb/d4/4.md", root / "out")
(root / "out").write_text("nothing")
assert count() == 9
print(because())
"""
    assert outside(program, tmp_path, "echo 160 > /proc/sys/user/max_inotify_watches") == "None\n"


def test_directories_are_watched_before_files(tmp_path: Path) -> None:
    """Each of 30 directories needs a watch, the bundle and its parent need two: 32 in all."""
    files = {**{f"d{i:02}/x.txt": "" for i in range(30)}, "a.md": "word", "d29/b.md": "word"}
    make_catalog(tmp_path, {"kb": {"files": files}}).close()
    program = """
assert count() == 2
(root / "kb/d29/b.md").write_text("nothing")
assert count() == 1
(root / "kb/d07/new.md").write_text("word")
assert count() == 2
print(because())
"""
    said = outside(program, tmp_path, "echo 32 > /proc/sys/user/max_inotify_watches")
    assert said.startswith("the limit of inotify watches"), said
    assert LATE in said


def test_without_events_every_search_compares(tmp_path: Path) -> None:
    """In a user namespace that may not have any inotify queue or watch."""
    with make_catalog(tmp_path, {"kb": {"files": FILES}}):
        pass
    program = (
        "import sys, pathlib, okf_catalog\n"
        "root = pathlib.Path(sys.argv[1])\n"
        "catalog = okf_catalog.FileKnowledgeCatalog(root / 'catalog.json', watch_for_changes=False)\n"
        "resolver = okf_catalog.GroupedKnowledgeResolver(catalog)\n"
        "assert len(resolver.search('word').passages) == 4\n"
        "(root / 'kb/a.md').write_text('nothing')\n"
        "assert len(resolver.search('word').passages) == 3\n"
        "print(catalog.report().sources[0].compared_because)\n"
    )
    shell = f'echo 0 > /proc/sys/user/$0 && exec {sys.executable} -c "$1" {tmp_path}'
    first = (tmp_path / "kb/a.md").read_text(encoding="utf-8")
    for limit, reason in [("max_inotify_instances", "instances"), ("max_inotify_watches", "watches")]:
        write(tmp_path / "kb/a.md", first)
        command = ["unshare", "--user", "--map-root-user", "sh", "-c", shell, limit, program]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        except FileNotFoundError:
            pytest.skip("there is no unshare here")
        if "/proc/sys/user" in done.stderr or "unshare" in done.stderr:
            pytest.skip("limits cannot be lowered here")
        assert done.returncode == 0, done.stderr
        assert reason in done.stdout
