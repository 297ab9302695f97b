"""Code that runs in another process: forked, without privileges, or in a fresh interpreter."""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
import time
import warnings
from typing import TYPE_CHECKING, Any

from making.project import TESTS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def fork(act: Callable[[int], None]) -> tuple[int, int]:
    """Forks a child that calls ``act`` with the writing end of a pipe; gives its pid and the reading end."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python warns at every fork of a process that has threads; the tests check that forking works.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reading)
            act(writing)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    return pid, reading


def in_child(act: Callable[[], object], *, seconds: float = 30) -> Any:
    """What ``act`` gives in a forked child; the child is killed when the deadline has passed."""
    pid, reading = fork(lambda writing: _write_all(writing, pickle.dumps(act())))
    deadline = time.monotonic() + seconds
    answer = b""
    try:
        while select.select([reading], [], [], max(deadline - time.monotonic(), 0))[0]:
            part = os.read(reading, 1 << 16)
            if not part:
                break
            answer += part
    finally:
        os.close(reading)
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert answer, "the child gave no answer"
    return pickle.loads(answer)


def _write_all(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]


def without_privileges(act: Callable[[], object]) -> Any:
    """What ``act`` gives in a child that is not root, so that file modes count."""

    def unprivileged() -> object:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        return act()

    return in_child(unprivileged)


def start_python(program: str, *arguments: str | Path) -> subprocess.Popen[str]:
    """Starts a fresh interpreter that can import the helpers of the tests."""
    paths = [str(TESTS), os.environ.get("PYTHONPATH", "")]
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )


def run_python(program: str, *arguments: str | Path) -> str:
    """What a program prints in a fresh interpreter, which must end well and say nothing on stderr."""
    done = subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", program, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout
