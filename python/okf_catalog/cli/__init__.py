"""The command line, ``okf-catalog``: one question to a catalog, or a look at what is in it, or a new one.

It needs the extra ``cli`` (typer and rich). Nothing else of the package imports it.
"""

import logging
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line of this process and leaves with its exit code.

    0 is done, 1 a catalog that cannot open or a command that refuses, 2 wrong usage or a missing extra, 130 a
    pressed Ctrl-C.
    """
    try:
        # Here and not above, since what these import may be missing.
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
    # Commands that show what the package logs say so; without any handler it would be written as it is.
    logging.getLogger("okf_catalog").addHandler(logging.NullHandler())
    app(prog_name="okf-catalog")


def _behave_in_pipes() -> None:
    """Ends as other tools do when a reader such as ``head`` leaves, and prints whatever the encoding."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
