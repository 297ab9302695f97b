"""The host's clock, and how it is read."""

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import TypeAlias

from okf_catalog.checks import check_callable, check_kind, drop_coroutine
from okf_catalog.errors import RefusedValueError

__all__ = ["Clock"]

Clock: TypeAlias = Callable[[], datetime]
"""Returns the current time as an aware ``datetime``."""

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


def check_clock(clock: object) -> None:
    """Raises if ``clock`` cannot be called.

    Raises:
        RefusedTypeError: ``clock`` is neither ``None`` nor callable.
    """
    check_callable("clock", clock, "without arguments")


def read_clock(clock: Clock) -> datetime:
    """The time of a clock, in UTC.

    Raises:
        RefusedTypeError: the clock did not return a ``datetime``.
        RefusedValueError: the ``datetime`` has no time zone, or its year in UTC is not from 1 to 9999.
        Exception: anything that the clock raises, unchanged.
    """
    since = _since_epoch(clock)
    try:
        return _EPOCH + since
    except OverflowError:
        raise RefusedValueError("clock returns a time from year 1 to 9999 in UTC; this one is not") from None


def now_of(clock: Clock | None) -> int | None:
    """The time of a clock in microseconds since 1970; without a clock ``None``, the engine's system time.

    Raises:
        Exception: as ``read_clock``.
    """
    return None if clock is None else _since_epoch(clock) // _MICROSECOND


def _since_epoch(clock: Clock) -> timedelta:
    now = clock()
    drop_coroutine(now)
    check_kind("what clock returns", now, datetime, "an aware datetime")
    # The methods of `datetime` itself are called: a subclass may return a different value at each call.
    if datetime.utcoffset(now) is None:
        raise RefusedValueError("clock returns an aware datetime; this one has no time zone")
    return datetime.__sub__(now, _EPOCH)
