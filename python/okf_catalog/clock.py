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
    """The time of a clock, in UTC.

    Raises:
        RefusedTypeError: the clock returned no ``datetime``.
        RefusedValueError: it returned one without a time zone, or one that is no time of a year from 1 to
            9999 in UTC.
        Exception: whatever the clock raises, unchanged.
    """
    since = _since_epoch(clock)
    try:
        return _EPOCH + since
    except OverflowError:
        raise RefusedValueError("clock returns a time from year 1 to 9999 in UTC; this one is not") from None


def now_of(clock: Clock | None) -> int | None:
    """What a clock says, in microseconds since 1970; ``None`` for the system's time.

    Raises:
        Exception: what ``read_clock`` raises.
    """
    return None if clock is None else _since_epoch(clock) // _MICROSECOND


def _since_epoch(clock: Clock) -> timedelta:
    now = clock()
    drop_coroutine(now)
    check_kind("what clock returns", now, datetime, "an aware datetime")
    # Not by its own methods: a subclass may answer differently each time.
    if datetime.utcoffset(now) is None:
        raise RefusedValueError("clock returns an aware datetime; this one has no time zone")
    return datetime.__sub__(now, _EPOCH)
