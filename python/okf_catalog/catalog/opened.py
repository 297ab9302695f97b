"""An opened catalog, as the rest of the package uses it."""

from collections.abc import Callable
from typing import cast, final

from okf_catalog._engine import Catalog
from okf_catalog.catalog.generation import Engine, Generation
from okf_catalog.catalog.limits import MAX_QUESTION_BYTES
from okf_catalog.catalog.log import log_failed_reload, log_overlap

__all__ = ["OpenedCatalog"]


@final
class OpenedCatalog:
    """The engine of one catalog, the generation in force, and the options that every call needs.

    Resolvers and memory stores look this up once, when they are made.
    """

    __slots__ = ("_generation", "engine", "max_question_bytes", "on_progress")

    def __init__(
        self,
        engine: Engine,
        *,
        max_question_bytes: int = MAX_QUESTION_BYTES,
        on_progress: Callable[[str, int, int], object] | None = None,
    ) -> None:
        self.engine = engine
        self.max_question_bytes = max_question_bytes
        self.on_progress = on_progress
        self._generation = Generation(engine.snapshot(), engine)
        log_overlap(self._generation.overlap)

    @property
    def file_engine(self) -> Catalog:
        """The engine of a catalog over directories, the only kind that has a manifest and memories."""
        return cast("Catalog", self.engine)

    def generation(self) -> Generation:
        """The generation in force. First logs why a reload failed, if one has failed since the last call.

        A generation is one object for all threads, however slow a thread is: generations form a chain with
        rising numbers, and ``setdefault`` either appends a new one or returns the one that another thread
        has appended. There is no lock that a forked process could find locked.
        """
        engine = self.engine
        if faults := engine.take_unreported_faults():
            log_failed_reload(faults)
        generation = self._generation
        while (handle := engine.snapshot()).generation != generation.handle.generation:
            while generation.next:
                generation = generation.next[None]
            if generation.handle.generation < handle.generation:
                made = Generation(handle, engine)
                generation = generation.next.setdefault(None, made)
                if generation is made:
                    log_overlap(generation.overlap)
            self._generation = generation
        return generation
