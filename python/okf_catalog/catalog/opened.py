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

    __slots__ = ("_link", "engine", "max_question_bytes", "on_progress")

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
        self._link = _Link(Generation(engine.snapshot(), engine))
        log_overlap(self._link.generation.overlap)

    @property
    def file_engine(self) -> Catalog:
        """The engine of a catalog over directories, the only kind that has a manifest and memories."""
        return cast("Catalog", self.engine)

    def generation(self) -> Generation:
        """The generation in force. First logs why a reload failed, if one has failed since the last call.

        A generation is one object for all threads, however slow a thread is: links form a chain with rising
        numbers, and ``setdefault`` either appends one or returns the one that another thread has appended.
        There is no lock that a forked process could find locked. Only calls under way hold old links, so that
        a generation that is held for long, by a stream for example, does not hold the later ones.
        """
        engine = self.engine
        if faults := engine.take_unreported_faults():
            log_failed_reload(faults)
        handle = engine.snapshot()
        number = handle.generation
        link = self._link
        # A later generation than that of the handle serves as well: it came into force during this call.
        while link.number < number:
            while link.next:
                link = link.next[None]
            if link.number < number:
                made = _Link(Generation(handle, engine))
                link = link.next.setdefault(None, made)
                if link is made:
                    log_overlap(link.generation.overlap)
            self._link = link
        return link.generation


class _Link:
    """A generation, and the link that was appended after it, which is set once and never replaced."""

    __slots__ = ("generation", "next", "number")

    def __init__(self, generation: Generation) -> None:
        self.generation = generation
        self.number = generation.handle.generation
        self.next: dict[None, _Link] = {}
