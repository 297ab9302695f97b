"""Measurements in a process of their own: ``python -m benches.probe WHAT MANIFEST`` prints JSON.

In a process that already holds a corpus, the time of opening and the memory of a catalog would be wrong.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from benches import corpus, documents
from benches.ours import CAN_SCORE_SENTENCES, Ours
from benches.timing import timed

if TYPE_CHECKING:
    from collections.abc import Callable

_STATUS = Path("/proc/self/status")
_KEY_WORDS = ("overview", "e", "the knowledge of", "zqxj")
_CLEAR = Path("/proc/self/clear_refs")
"""Linux resets the peak of this process when `5` is written here."""


def ask(what: str, manifest: Path, *arguments: object, python: Path | str = sys.executable) -> dict[str, Any]:
    """Runs a measurement in a new process. Another Python may have another version of the package."""
    command = [str(python), "-m", "benches.probe", what, str(manifest), *map(str, arguments)]
    root = Path(__file__).resolve().parent.parent
    answer = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, check=True).stdout
    found: dict[str, Any] = json.loads(answer)
    return found


# Opening


def opening(manifest: Path, rounds: int) -> dict[str, Any]:
    """Seconds to open a catalog and answer once, to read its files, and to parse their frontmatter."""
    paths = documents.files(manifest)
    fronts = [frontmatter(path.read_bytes()) for path in paths]
    loader = getattr(yaml, "CSafeLoader", None)
    seconds: dict[str, list[float]] = {"ours": [], "files": [], "yaml": []}
    for turn in range(rounds):
        seconds["ours"].append(timed(lambda: _open(manifest)))
        seconds["files"].append(timed(lambda: [_read(path) for path in paths]))
        # This is by far the slowest, and varies little: for many files, once is enough.
        if loader is not None and (turn == 0 or len(paths) < 20_000):
            seconds["yaml"].append(timed(lambda: [yaml.load(front, Loader=loader) for front in fronts]))
    return seconds


def opened(manifest: Path, rounds: int) -> dict[str, Any]:
    """Seconds to open a catalog and count terms once; the median of some rounds."""
    seconds = sorted(timed(lambda: _open(manifest)) for _ in range(rounds))
    return {"seconds": seconds[len(seconds) // 2]}


def _open(manifest: Path) -> int:
    with Ours(manifest) as ours:
        return len(ours.search("overview").passages)


def _read(path: Path) -> int:
    with path.open("rb", buffering=0) as file:
        return len(file.read())


def frontmatter(data: bytes) -> str:
    text = data.decode("utf-8", "replace")
    return text.split("\n---\n", 1)[0].removeprefix("---\n") if text.startswith("---\n") else ""


# Memory


def memory(manifest: Path) -> dict[str, Any]:
    """Bytes that an open, searched catalog adds to the process: in the end, and at the peak."""
    before = _resident()
    peak_before = _peak()
    ours = Ours(manifest)
    for text in _KEY_WORDS:
        ours.search(text)
    grown = {"resident": _resident() - before, "peak": _peak() - peak_before}
    ours.close()
    return grown


def sentences(manifest: Path) -> dict[str, Any]:
    """Bytes that an open catalog adds once it has counted terms, and once it has answered sentences too.

    ``asked`` is missing in a version that cannot score sentences.
    """
    before = _resident()
    with Ours(manifest) as ours:
        for text in _KEY_WORDS:
            ours.search(text)
        grown = {"opened": _resident() - before}
        if CAN_SCORE_SENTENCES:
            sentences = ours.under("bm25f")
            for text in _KEY_WORDS:
                sentences.top(f"how do i find the {text} of this concept")
            grown["asked"] = _resident() - before
        return grown


def broad(manifest: Path, count: int) -> dict[str, Any]:
    """A stream of questions whose words are in every concept: its seconds, and its peak memory in bytes."""
    texts = _broad_texts(count)
    with Ours(manifest) as ours:
        ours.batch(texts[:10], limit=20)
        before = _forget_peak()
        passages = 0

        def run() -> None:
            nonlocal passages
            passages = ours.stream(texts, limit=20)

        seconds = timed(run)
        return {"seconds": seconds, "peak": _peak() - before, "questions": len(texts), "passages": passages}


def _broad_texts(count: int) -> list[str]:
    words = corpus.IN_EVERY_CONCEPT
    texts: list[str] = []
    for length in range(1, 9):
        for chosen in product(words, repeat=length):
            texts.append(" ".join(chosen))
            if len(texts) == count:
                return texts
    return texts


def _resident() -> int:
    return _status("VmRSS") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _maxrss_unit()


def _peak() -> int:
    return _status("VmHWM") or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _maxrss_unit()


def _forget_peak() -> int:
    """Resets the peak if the system allows that, and returns it."""
    with suppress(OSError):
        _CLEAR.write_text("5", encoding="ascii")
    return _peak()


def _status(name: str) -> int:
    if not _STATUS.exists():
        return 0
    for line in _STATUS.read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    return 0


def _maxrss_unit() -> int:
    return 1 if sys.platform == "darwin" else 1024


_PROBES: dict[str, Callable[..., dict[str, Any]]] = {
    "opening": opening,
    "opened": opened,
    "memory": memory,
    "sentences": sentences,
    "broad": broad,
}


def main(arguments: list[str]) -> None:
    what, manifest, *rest = arguments
    print(json.dumps(_PROBES[what](Path(manifest), *map(int, rest))))


if __name__ == "__main__":
    main(sys.argv[1:])
