"""Recording: an exchange between user and agent is written to memory (X10)."""

from datetime import datetime, timezone
from typing import NamedTuple, cast, final

from okf_catalog.checks import check_bool, check_kind, drop_coroutine
from okf_catalog.clock import read_clock
from okf_catalog.memory.entry import MemoryEntry
from okf_catalog.memory.results import MemoryWriteResult
from okf_catalog.memory.store import MemoryStore
from okf_catalog.provider.capture import MemoryCaptureMode, entry_of
from okf_catalog.provider.failures import Failures
from okf_catalog.provider.messages import ASSISTANT, USER, last_text, messages_of
from okf_catalog.provider.sessions import SessionScopes
from okf_catalog.provider.settings import Settings
from okf_catalog.scope import KnowledgeAccessScope

__all__ = ["Recorder"]


class _Write(NamedTuple):
    """An entry to write, for which scope, and to which store."""

    store: MemoryStore
    scope: KnowledgeAccessScope
    entry: MemoryEntry


@final
class Recorder:
    """Writes exchanges to memory. If that fails, it is reported and not raised (X9)."""

    __slots__ = ("_failures", "_sessions", "_settings")

    def __init__(self, settings: Settings, sessions: SessionScopes, failures: Failures) -> None:
        self._settings = settings
        self._sessions = sessions
        self._failures = failures

    def record(self, request: object, response: object, session: object, *, failed: object) -> None:
        """Writes the last texts of user and agent, if capture is enabled and there are any."""
        write = self._prepare(request, response, session, failed=failed)
        if write is None:
            return
        try:
            self._settle(write.store.write(write.scope, write.entry, self._settings.capture_tier))
        except Exception as error:  # noqa: BLE001  # X9.
            self._failures.write_failed(error)

    async def record_async(
        self, request: object, response: object, session: object, *, failed: object
    ) -> None:
        """Does the same without blocking the event loop."""
        write = self._prepare(request, response, session, failed=failed)
        if write is None:
            return
        try:
            self._settle(await write.store.write_async(write.scope, write.entry, self._settings.capture_tier))
        except Exception as error:  # noqa: BLE001  # X9.
            self._failures.write_failed(error)

    def _prepare(
        self, request_messages: object, response_messages: object, session: object, *, failed: object
    ) -> _Write | None:
        """What is to be written; ``None`` if nothing is."""
        request = messages_of("request_messages", request_messages)
        response = messages_of("response_messages", response_messages)
        check_bool("failed", failed)
        settings = self._settings
        if failed or settings.memory_capture is MemoryCaptureMode.DISABLED:
            return None
        said, answered = last_text(request, USER), last_text(response, ASSISTANT)
        if said is None and answered is None:
            return None
        if settings.memory_store is None:
            self._failures.last_memory_error = "nothing was written: there is no memory store"
            return None
        has_scopes = settings.scope_accessor is not None
        scope = self._sessions.recall(session) if has_scopes else KnowledgeAccessScope.LOCAL
        if isinstance(scope, str):
            self._failures.last_memory_error = f"nothing was written: {scope}"
            return None
        try:
            return _Write(settings.memory_store, scope, entry_of(said, answered, self._now()))
        except Exception as error:  # noqa: BLE001  # X9: the host's `clock`.
            self._failures.write_failed(error)
            return None

    def _now(self) -> datetime:
        clock = self._settings.clock
        return datetime.now(timezone.utc) if clock is None else read_clock(clock)

    def _settle(self, result: object) -> None:
        drop_coroutine(result)
        check_kind("what memory_store.write returns", result, MemoryWriteResult, "a MemoryWriteResult")
        result = cast("MemoryWriteResult", result)
        self._failures.last_memory_error = None if result.written else result.error or "nothing was written"
