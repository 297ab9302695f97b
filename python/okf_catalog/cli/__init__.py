"""The command line, ``okf-catalog``: search a catalog, check it, or make a new one.

It needs the extra ``cli`` (typer and rich). No other part of the package imports it.
"""

import logging
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line of this process, and exits with its code.

    0 is success, 1 a catalog that cannot open or a command that fails, 2 wrong usage or a missing extra, 130
    Ctrl-C.
    """
    try:
        # Imported here, because typer and rich may be missing.
        from okf_catalog.cli.app import app
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("okf_catalog"):
            raise
        hint = 'pip install "okf-catalog[cli]"'
        sys.stderr.write(f"okf-catalog: the command line needs typer and rich: {hint}\n")
        sys.exit(2)
    _behave_in_pipes()
    # Without a handler Python would print the log records. Commands that show them add their own handler.
    logging.getLogger("okf_catalog").addHandler(logging.NullHandler())
    app(prog_name="okf-catalog")


def _behave_in_pipes() -> None:
    """Ends silently when a reader such as ``head`` closes the pipe, and prints in every encoding."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
