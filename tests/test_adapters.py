"""Adapters: importing the package imports none of them, and each names the package that it needs."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import okf_catalog.adapters
import pytest
from making.processes import run_python
from making.project import ROOT

ADAPTERS = {
    "agent_framework": ("agent_framework", "agent-framework-core", "agent-framework"),
    "langchain": ("langchain_core", "langchain-core", "langchain"),
    "llama_index": ("llama_index", "llama-index-core", "llama-index"),
    "pydantic_ai": ("pydantic_ai", "pydantic-ai-slim", "pydantic-ai"),
}
"""Adapter module: the module it imports, the package that holds it, and the extra that installs it."""

OFFLINE = """
import sys

def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg"}:
        raise AssertionError(f"{event} {arguments[1:]}")

sys.addaudithook(refuse)
"""


def test_every_adapter_module_is_in_the_table_of_adapters() -> None:
    files = {path.stem for path in Path(okf_catalog.adapters.__file__).parent.glob("*.py")}
    assert files == {"__init__", "retrieval", *ADAPTERS}


def test_importing_the_package_imports_no_framework() -> None:
    frameworks = ("pydantic", *(framework for framework, _, _ in ADAPTERS.values()))
    printed = run_python(
        "import sys, okf_catalog, okf_catalog.adapters.retrieval\n"
        f"print([name for name in sys.modules if name.startswith({frameworks})])"
    )
    assert printed == "[]\n"


@pytest.mark.parametrize("module", ADAPTERS)
def test_an_adapter_without_its_framework_says_what_to_install(module: str) -> None:
    framework, package, extra = ADAPTERS[module]
    printed = run_python(
        f"import sys; sys.modules[{framework!r}] = None\n"
        f"try:\n    import okf_catalog.adapters.{module}\n"
        "except ImportError as error:\n    print(error)"
    )
    assert printed == f'okf_catalog.adapters.{module} needs {package}: pip install "okf-catalog[{extra}]"\n'


@pytest.mark.parametrize("module", ADAPTERS)
def test_importing_an_adapter_opens_no_connection(module: str) -> None:
    framework, _, _ = ADAPTERS[module]
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    assert (
        run_python(
            f"{OFFLINE}\nimport okf_catalog.adapters.{module} as adapter\nprint(adapter.__all__ != [])"
        )
        == "True\n"
    )


@pytest.mark.parametrize("module", ADAPTERS)
def test_each_extra_and_the_test_group_install_the_framework(module: str) -> None:
    tomllib = pytest.importorskip("tomllib")  # Python 3.11
    _, package, extra = ADAPTERS[module]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [requirement] = settings["project"]["optional-dependencies"][extra]
    assert re.fullmatch(rf"{package}>=[0-9.]+,<[0-9]+(\.[0-9]+)?", requirement)
    assert requirement in settings["dependency-groups"]["test"]


def test_the_docstring_of_the_package_names_every_adapter() -> None:
    tour = okf_catalog.adapters.__doc__ or ""
    for module, (_, _, extra) in ADAPTERS.items():
        assert re.search(rf"^``{module}`` .* ``{extra}``$", tour, re.MULTILINE)
