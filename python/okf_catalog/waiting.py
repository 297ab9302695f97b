"""How the ``_async`` methods wait: the blocking call runs in a thread, and the event loop goes on.

``asyncio`` is imported when a coroutine first runs. Importing it takes a third of the time that importing
this package takes, and a caller that has an event loop has imported it already.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from okf_catalog._engine import Cancellation

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["finish_in_thread", "run_cancellable", "run_in_thread"]

_T = TypeVar("_T")


async def run_in_thread(work: Callable[[], _T]) -> _T:
    """Runs ``work`` in a thread, in a copy of the caller's context.

    If the caller is cancelled, the thread still finishes its work.
    """
    import asyncio  # noqa: PLC0415

    return await asyncio.to_thread(work)


async def run_cancellable(work: Callable[[Cancellation], _T]) -> _T:
    """Runs ``work`` in a thread. If the caller is cancelled, the thread stops at its next check."""
    import asyncio  # noqa: PLC0415

    cancellation = Cancellation()
    try:
        return await asyncio.to_thread(work, cancellation)
    finally:
        # After a normal end this has no effect.
        cancellation.cancel()


async def finish_in_thread(work: Callable[[], object]) -> None:
    """Runs ``work`` in a thread, which starts it even if the caller is cancelled at once."""
    import asyncio  # noqa: PLC0415

    await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, work))
