"""The app with all commands, and the exit code for every kind of failure."""

import sys
from importlib.metadata import version
from typing import Annotated, Any, NoReturn, cast

import typer
from typer.core import TyperGroup

from okf_catalog import CatalogError
from okf_catalog.cli.check import check
from okf_catalog.cli.context import context
from okf_catalog.cli.init import init
from okf_catalog.cli.memory import memory
from okf_catalog.cli.screen import complain, one_line
from okf_catalog.cli.search import search
from okf_catalog.errors import RefusedTypeError, RefusedValueError

__all__ = ["app"]

FAILED = 1
WRONG_USAGE = 2
INTERRUPTED = 130

# The exception for a wrong command line is in different modules in different versions of typer. In all of
# them it is the base class of this one.
UsageError = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])


class Commands(TyperGroup):
    """Commands whose failures end with one line on stderr and an exit code, never with a traceback."""

    def main(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Runs one command, and exits with its code."""
        try:
            code = super().main(*args, **(kwargs | {"standalone_mode": False}))
            sys.stdout.flush()
        except CatalogError as error:
            for diagnostic in error.diagnostics:
                complain(f"[{diagnostic.code.value}] {diagnostic.message}")
            sys.exit(FAILED)
        except UsageError as error:
            command = error.ctx.command_path if error.ctx else "okf-catalog"
            complain(f"{one_line(error.format_message())} (see {command} --help)")
            sys.exit(WRONG_USAGE)
        except (RefusedTypeError, RefusedValueError) as error:
            # Raised after the catalog was opened, for example for a question that is too long.
            complain(one_line(str(error)))
            sys.exit(WRONG_USAGE)
        except (KeyboardInterrupt, typer.Abort):
            sys.exit(INTERRUPTED)
        except OSError as error:
            complain(one_line(str(error)))
            sys.exit(FAILED)
        except Exception as error:
            if sys.flags.dev_mode:
                raise
            complain(f"internal error, python -X dev shows where: {one_line(repr(error))}")
            sys.exit(FAILED)
        # A `typer.Exit`, as for --version, is returned as its code. A command itself returns `None`.
        sys.exit(code or 0)


app = typer.Typer(
    cls=Commands,
    name="okf-catalog",
    help="Ask one question of many Open Knowledge Format bundles.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(search)
app.command()(context)
app.command()(check)
app.command()(init)
app.add_typer(memory, name="memory")


def _show_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"okf-catalog {version('okf-catalog')}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", help="Show the version and exit.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    pass
