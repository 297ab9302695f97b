"""Instants that clocks of tests show."""

from __future__ import annotations

from datetime import datetime, timezone

NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
"""Noon in UTC, on a day on which drawn concepts go stale."""


def at_noon() -> datetime:
    """A clock that always shows ``NOON``."""
    return NOON
