"""What goes wrong inside a provider: it is reported to the host, and the agent goes on (X9)."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import final

from okf_catalog.catalog.log import log
from okf_catalog.catalog.source import SourceRole
from okf_catalog.checks import drop_coroutine

__all__ = ["Failures"]


@final
class Failures:
    """Reports exceptions to the host, and remembers the last thing that went wrong with memory."""

    __slots__ = ("_on_internal_error", "last_memory_error")

    def __init__(self, on_internal_error: Callable[[Exception], object] | None) -> None:
        self._on_internal_error = on_internal_error
        self.last_memory_error: str | None = None

    @contextmanager
    def caught(self, role: SourceRole) -> Generator[None]:
        """Catches and reports every ``Exception``, so that this side of the context stays empty."""
        try:
            yield
        except Exception as error:  # noqa: BLE001  # X9.
            self.side_failed(role, error)

    def side_failed(self, role: SourceRole | None, error: Exception) -> None:
        """Reports that one side failed, or with ``None`` the whole context."""
        if role is SourceRole.MEMORY:
            self.last_memory_error = f"memory could not be read: {type(error).__name__}"
        self._report(error)

    def write_failed(self, error: Exception) -> None:
        """Reports that an exchange was not written."""
        # Only the type: the text of an exception may have a directory of the host in it.
        self.last_memory_error = f"nothing was written: {type(error).__name__}"
        self._report(error)

    def _report(self, error: Exception) -> None:
        if self._on_internal_error is None:
            log.warning("a context provider goes on without what failed: %r", error, exc_info=error)
            return
        try:
            drop_coroutine(self._on_internal_error(error))
        except Exception:  # noqa: BLE001  # X9.
            log.exception("on_internal_error raised, for %r", error)
