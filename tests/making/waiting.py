"""Waiting for something that happens by itself, with a deadline."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


SOON = timedelta(milliseconds=20)
"""A debounce that a test can wait for."""


def wait_until(condition: Callable[[], bool], *, seconds: float = 30) -> None:
    """Looks every 10 milliseconds; fails the test when the deadline has passed."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} seconds"
        time.sleep(0.01)
