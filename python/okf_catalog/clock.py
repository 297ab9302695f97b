"""What time it is, as the host says."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import TypeAlias

from okf_catalog.checks import check_callable, check_kind, drop_coroutine
from okf_catalog.errors import RefusedValueError

__all__ = ["Clock"]

Clock: TypeAlias = Callable[[], datetime]
"""Tells what time it is, as an aware ``datetime``."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


def check_clock(clock: object) -> None:
    """Refuses what cannot be called.

    Raises:
        RefusedTypeError: ``clock`` is neither ``None`` nor callable.
    """
    check_callable("clock", clock, "without arguments")


def read_clock(clock: Clock) -> datetime:
    """The time of a clock.

    Raises:
        RefusedTypeError: the clock returned no ``datetime``.
        RefusedValueError: it returned one without a time zone.
        Exception: whatever the clock raises, unchanged.
    """
    now = clock()
    drop_coroutine(now)
    check_kind("what clock returns", now, datetime, "an aware datetime")
    if now.utcoffset() is None:
        raise RefusedValueError("clock returns an aware datetime; this one has no time zone")
    return now


def now_of(clock: Clock | None) -> int | None:
    """What a clock says, in microseconds since 1970; ``None`` for the system's time.

    Raises:
        Exception: what ``read_clock`` raises.
    """
    return None if clock is None else (read_clock(clock) - _EPOCH) // _MICROSECOND
