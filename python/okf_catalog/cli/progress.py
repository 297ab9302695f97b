"""Progress bars while files are read."""

from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from okf_catalog.cli.screen import visible

__all__ = ["progress_bars"]


@contextmanager
def progress_bars() -> Generator[Callable[[str, int, int], None]]:
    """A bar on stderr for each source that takes more than a moment to read; none without a terminal."""
    console = Console(stderr=True)
    columns = TextColumn("reading {task.description}"), BarColumn(), MofNCompleteColumn()
    progress = Progress(*columns, console=console, transient=True)
    bars: dict[str, TaskID] = {}

    def tell(source_id: str, done: int, total: int) -> None:
        if not console.is_terminal:
            return
        if source_id not in bars:
            # Started only now, because it writes to the terminal even without a bar.
            progress.start()
            bars[source_id] = progress.add_task(visible(source_id), total=total)
        progress.update(bars[source_id], completed=done, total=total)

    try:
        yield tell
    finally:
        if bars:
            progress.stop()
