"""Adapters are there for those who want them, and do nothing to those who do not."""

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
"""Module: what it imports, in which package that comes, and the extra that brings it."""

OFFLINE = """
import sys

def refuse(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto", "socket.sendmsg"}:
        raise AssertionError(f"{event} {arguments[1:]}")

sys.addaudithook(refuse)
"""


def test_every_module_of_the_package_is_an_adapter_or_shared() -> None:
    files = {path.stem for path in Path(okf_catalog.adapters.__file__).parent.glob("*.py")}
    assert files == {"__init__", "retrieval", *ADAPTERS}


def test_the_package_imports_no_framework_by_itself() -> None:
    frameworks = ("pydantic", *(framework for framework, _, _ in ADAPTERS.values()))
    printed = run_python(
        "import sys, okf_catalog, okf_catalog.adapters.retrieval\n"
        f"print([name for name in sys.modules if name.startswith({frameworks})])"
    )
    assert printed == "[]\n"


@pytest.mark.parametrize("module", ADAPTERS)
def test_without_its_package_an_adapter_says_what_to_install(module: str) -> None:
    framework, package, extra = ADAPTERS[module]
    printed = run_python(
        f"import sys; sys.modules[{framework!r}] = None\n"
        f"try:\n    import okf_catalog.adapters.{module}\n"
        "except ImportError as error:\n    print(error)"
    )
    assert printed == f'okf_catalog.adapters.{module} needs {package}: pip install "okf-catalog[{extra}]"\n'


@pytest.mark.parametrize("module", ADAPTERS)
def test_importing_an_adapter_leaves_the_network_alone(module: str) -> None:
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
def test_each_extra_brings_its_package_and_so_do_the_tests(module: str) -> None:
    tomllib = pytest.importorskip("tomllib")  # Python 3.11
    _, package, extra = ADAPTERS[module]
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [requirement] = settings["project"]["optional-dependencies"][extra]
    assert re.fullmatch(rf"{package}>=[0-9.]+,<[0-9]+(\.[0-9]+)?", requirement)
    assert requirement in settings["dependency-groups"]["test"]


def test_the_tour_names_every_adapter() -> None:
    tour = okf_catalog.adapters.__doc__ or ""
    for module, (_, _, extra) in ADAPTERS.items():
        assert re.search(rf"^``{module}`` .* ``{extra}``$", tour, re.MULTILINE)
