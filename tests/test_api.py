"""The public names, signatures and members of the package, which do not change."""

from __future__ import annotations

import contextlib
import copy
import doctest
import importlib
import inspect
import io
import json
import pickle
import subprocess
import sys
import textwrap
import typing
from pathlib import Path
from typing import Any

import okf_catalog
import pytest
from making.asking import RESOLVERS, host
from okf_catalog import (
    FileKnowledgeCatalog,
    FileMemoryStore,
    KnowledgeContextProvider,
    KnowledgeResolver,
    KnowledgeResolverRouter,
)

if typing.TYPE_CHECKING:
    from collections.abc import Callable

PUBLIC: dict[str, Any] = {name: getattr(okf_catalog, name) for name in okf_catalog.__all__}
ALIASES = {"Clock", "CountTokens", "RewriteQuery", "ScopeAccessor", "SourceVisibilityPolicy"}
"""Type aliases; Python 3.10 takes them for classes."""

MODULES = (
    "ask.batch",
    "ask.context",
    "ask.policy",
    "ask.query",
    "ask.resolver",
    "ask.resolvers",
    "ask.scoring",
    "ask.staleness",
    "ask.strategy",
    "ask.unit",
    "catalog.catalog",
    "catalog.file",
    "catalog.freshness",
    "catalog.in_memory",
    "catalog.manifest",
    "catalog.remarks",
    "catalog.report",
    "catalog.source",
    "clock",
    "diagnostics",
    "errors",
    "host.knowledge",
    "host.opening",
    "memory.entry",
    "memory.files",
    "memory.paths",
    "memory.results",
    "memory.store",
    "provider.budget",
    "provider.capture",
    "provider.context",
    "provider.messages",
    "provider.provider",
    "provider.rewriting",
    "provider.scope",
    "scope",
    "section",
    "values",
)
"""Where the public names are defined, apart from the engine's."""

SIGNATURES = {
    "CatalogDiagnostic": "(code, message)",
    "CatalogError": "(diagnostics)",
    "CatalogReport": "(generation, sources)",
    "ChatMessage": "(role, text)",
    "ContextBlock": "(role, source_id, concept_id, text, truncated)",
    "FileKnowledgeCatalog": "(catalog_file_path, *, catalog_root=None, watch_for_changes=True, "
    "reload_debounce=datetime.timedelta(microseconds=250000), max_file_bytes=16777216, max_threads=None, "
    "freshness=Freshness.EXACT, on_progress=None, max_question_bytes=65536)",
    "FileKnowledgeCatalog.close": "(self)",
    "FileKnowledgeCatalog.reload": "(self)",
    "FileKnowledgeCatalog.reload_async": "(self)",
    "FileKnowledgeCatalog.refresh": "(self)",
    "FileKnowledgeCatalog.report": "(self)",
    "FileMemoryStore": "(catalog, *, clock=None)",
    "FileMemoryStore.delete": "(self, scope, tier, concept_name)",
    "FileMemoryStore.delete_async": "(self, scope, tier, concept_name)",
    "FileMemoryStore.delete_scope": "(self, scope, tier=None, *, below=False)",
    "FileMemoryStore.delete_scope_async": "(self, scope, tier=None, *, below=False)",
    "FileMemoryStore.enumerate": "(self, scope)",
    "FileMemoryStore.enumerate_async": "(self, scope)",
    "FileMemoryStore.read": "(self, scope, query)",
    "FileMemoryStore.read_async": "(self, scope, query)",
    "FileMemoryStore.text": "(self, scope, concept_id)",
    "FileMemoryStore.write": "(self, scope, entry, tier, *, replace=False)",
    "FileMemoryStore.write_async": "(self, scope, entry, tier, *, replace=False)",
    "Freshness.manual": "()",
    "GroupedKnowledgeResolver": "(catalog, *, default_source_visibility_policy=None, "
    "default_scoring=KnowledgeScoring.WEIGHTED_TERMS, clock=None)",
    "Knowledge.close": "(self)",
    "KnowledgeAccessScope": "(tenant_id=None, user_id=None, session_id=None)",
    "KnowledgeCatalogSnapshot": "(version, sources, manifest_directory, generation)",
    "KnowledgeCatalogSource": "(id, path, priority=0, enabled=True, role=SourceRole.KNOWLEDGE, tier=None)",
    "KnowledgeContext": "(query, generation, passages, diagnostics)",
    "KnowledgeContextProvider": "(resolver, memory_store=None, *, token_budget=2000, "
    "knowledge_budget_share=0.6, memory_budget_share=0.4, resolver_strategy=None, fairness_quota=None, "
    "stale_policy=StalePolicy.USE, scoring=KnowledgeScoring.BM25F, block_content='snippet', "
    "rewrite_query=None, scope_accessor=None, "
    "memory_capture=MemoryCaptureMode.DISABLED, "
    "capture_tier=MemoryTier.USER, count_tokens=None, on_internal_error=None, clock=None)",
    "KnowledgeContextProvider.provide": "(self, messages, *, session=None)",
    "KnowledgeContextProvider.provide_async": "(self, messages, *, session=None)",
    "KnowledgeContextProvider.store": "(self, request_messages, response_messages, *, session=None, "
    "failed=False)",
    "KnowledgeContextProvider.store_async": "(self, request_messages, response_messages, *, session=None, "
    "failed=False)",
    "KnowledgeDiagnostic": "(code, source_id, message)",
    "KnowledgePassage": "(*, source_id, concept_id, title, excerpt, score, bundle_relative_path, trust_tier, "
    "status, stale_after, concept_type, description, snippet=None, is_stale=False, section=None)",
    "KnowledgeQuery": "(text, tag=None, *, stale_policy=StalePolicy.USE, resolver_strategy=None, "
    "fairness_quota=None, scope=KnowledgeAccessScope(tenant_id=None, user_id=None, session_id=None), "
    "permitted_source_ids=None, source_visibility_policy=None, scoring=None, "
    "unit=KnowledgeUnit.CONCEPT)",
    "KnowledgeResolverRouter": "(catalog, *, default_strategy=KnowledgeResolverStrategy.GROUPED_BY_SOURCE, "
    "default_fairness_quota=None, default_source_visibility_policy=None, "
    "default_scoring=KnowledgeScoring.WEIGHTED_TERMS, clock=None)",
    "KnowledgeSection": "(heading, text, first_line, last_line)",
    "MemoryConcept": "(tier, concept_id, title)",
    "MemoryConcepts": "(concepts=(), diagnostics=())",
    "MemoryDeleteResult": "(tiers_deleted, error, concepts_deleted=0, scopes_deleted=0)",
    "MemoryEntry": "(concept_name, frontmatter_if_creating, section_markdown)",
    "MemoryOverlapError": "(memory_source_id, other_source_id)",
    "MemoryReadResult": "(passages, diagnostics)",
    "MemoryStore.delete": "(self, scope, tier, concept_name)",
    "MemoryStore.delete_scope": "(self, scope, tier=None, *, below=False)",
    "MemoryStore.enumerate": "(self, scope)",
    "MemoryStore.read": "(self, scope, query)",
    "MemoryStore.write": "(self, scope, entry, tier, *, replace=False)",
    "MemoryWriteResult": "(written, error)",
    "MergedKnowledgeResolver": "(catalog, *, default_fairness_quota=None, "
    "default_source_visibility_policy=None, default_scoring=KnowledgeScoring.WEIGHTED_TERMS, clock=None)",
    "PriorityWeightedKnowledgeResolver": "(catalog, *, default_fairness_quota=None, "
    "default_source_visibility_policy=None, default_scoring=KnowledgeScoring.WEIGHTED_TERMS, clock=None)",
    "ProvidedContext": "(instructions=None, messages=(), blocks=(), tokens=0, left_out=0, diagnostics=())",
    "RemarkCount": "(code, count)",
    "SourceProblem": "(path, reason)",
    "SourceRemark": "(path, line, code, sentence)",
    "SourceReport": "(source, directory, concepts, problems, duplicate_of, failure, compared_because=None, "
    "remarks=(), remark_count=0, remark_counts=())",
    "StalePolicy": "(grace_days)",
    "StalePolicy.tolerate": "(grace_days)",
    "memory_path": "(tier, scope)",
    "open_knowledge": "(catalog_file_path, *, default_strategy=KnowledgeResolverStrategy.GROUPED_BY_SOURCE, "
    "default_fairness_quota=None, default_source_visibility_policy=None, "
    "default_scoring=KnowledgeScoring.WEIGHTED_TERMS, catalog_root=None, "
    "watch_for_changes=True, reload_debounce=datetime.timedelta(microseconds=250000), "
    "max_file_bytes=16777216, max_threads=None, freshness=Freshness.EXACT, on_progress=None, "
    "max_question_bytes=65536, clock=None)",
    "parse_manifest": "(text, *, manifest_directory)",
}

MEMBERS = {
    "ConceptStatus": {"DRAFT": "draft", "STABLE": "stable", "DEPRECATED": "deprecated"},
    "KnowledgeDiagnosticCode": {
        code: code for code in ("SOURCE_UNAVAILABLE", "NO_MATCHES", "NO_ENABLED_SOURCES")
    },
    "KnowledgeResolverStrategy": {
        "GROUPED_BY_SOURCE": "grouped_by_source",
        "MERGED": "merged",
        "PRIORITY_WEIGHTED": "priority_weighted",
    },
    "KnowledgeScoring": {"WEIGHTED_TERMS": "weighted_terms", "BM25F": "bm25f"},
    "KnowledgeUnit": {"CONCEPT": "concept", "SECTION": "section"},
    "MemoryCaptureMode": {"DISABLED": "disabled", "ENABLED": "enabled"},
    "MemoryTier": {"SESSION": "session", "USER": "user", "TENANT": "tenant"},
    "RemarkCode": {
        code: code
        for code in (
            "INVALID_TEXT",
            "FRONTMATTER_NOT_READ",
            "FIELD_NOT_READ",
            "FIELD_IGNORED",
            "DUPLICATE_KEY",
            "MISSING_TYPE",
            "UNKNOWN_STATUS",
            "UNREADABLE_DATE",
            "NAME_NOT_READ",
            "MEMORIES_LEFT_OUT",
        )
    },
    "SourceRole": {"KNOWLEDGE": "knowledge", "MEMORY": "memory"},
    "TrustTier": {
        "UNVERIFIED": "unverified",
        "MACHINE_CONFIRMED": "machine_confirmed",
        "HUMAN_REVIEWED": "human_reviewed",
    },
}


def bare_signature(function: Callable[..., object]) -> str:
    """The names, kinds and defaults of the parameters."""
    signature = inspect.signature(function)
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def look_up(name: str) -> Any:
    found: Any = okf_catalog
    for part in name.split("."):
        found = getattr(found, part)
    return found


def own_members(name: str) -> dict[str, Any]:
    """The public methods and properties of a class, without its fields."""
    found = dict[str, Any]()
    classes: tuple[type, ...] = PUBLIC[name].__mro__
    for one in reversed(classes):
        if one.__module__.startswith("okf_catalog"):
            found |= {key: value for key, value in vars(one).items() if not key.startswith("_")}
    return {
        key: value
        for key, value in found.items()
        if callable(value) or isinstance(value, property | classmethod) or inspect.isgetsetdescriptor(value)
    }


CLASSES = [name for name, value in PUBLIC.items() if isinstance(value, type) and name not in ALIASES]


def test_all_lists_every_name_once_in_order() -> None:
    assert okf_catalog.__all__ == sorted(set(okf_catalog.__all__))


def test_all_lists_everything_public() -> None:
    defined = {"KnowledgePassage"}
    for name in MODULES:
        defined |= set(importlib.import_module(f"okf_catalog.{name}").__all__)
    assert defined == PUBLIC.keys()


@pytest.mark.parametrize(("name", "signature"), SIGNATURES.items(), ids=SIGNATURES.keys())
def test_signatures_do_not_change(name: str, signature: str) -> None:
    assert bare_signature(look_up(name)) == signature


@pytest.mark.parametrize("name", ["KnowledgeResolver", "KnowledgeResolverRouter", "Knowledge"])
def test_all_resolvers_have_the_same_methods(name: str) -> None:
    assert bare_signature(look_up(f"{name}.search")) == "(self, query, /)"
    assert bare_signature(look_up(f"{name}.search_async")) == "(self, query, /)"
    assert bare_signature(look_up(f"{name}.search_batch")) == "(self, queries, /, *, limit=None)"
    assert inspect.iscoroutinefunction(look_up(f"{name}.search_async"))


@pytest.mark.parametrize(("name", "members"), MEMBERS.items(), ids=MEMBERS.keys())
def test_members_of_choices_do_not_change(name: str, members: dict[str, str]) -> None:
    assert {member.name: member.value for member in PUBLIC[name]} == members


def test_every_resolver_implements_the_protocol(catalog: FileKnowledgeCatalog) -> None:
    for make in RESOLVERS.values():
        assert isinstance(make(catalog), KnowledgeResolver)
    other: object = catalog
    assert not isinstance(other, KnowledgeResolver)


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - ALIASES))
def test_every_public_object_names_the_module_users_import_it_from(name: str) -> None:
    assert PUBLIC[name].__module__ == "okf_catalog"
    assert PUBLIC[name].__qualname__ == name


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - ALIASES))
def test_everything_public_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(PUBLIC[name])
    # A docstring that the dataclass decorator generates is a signature, not an explanation.
    assert not PUBLIC[name].__doc__.startswith(f"{name}(")


@pytest.mark.parametrize(
    "name",
    [f"{name}.{member}" for name in CLASSES if name != "KnowledgePassage" for member in own_members(name)],
)
def test_every_public_method_has_a_docstring(name: str) -> None:
    assert inspect.getdoc(look_up(name))


def test_examples_in_docstrings_run() -> None:
    finder, runner = doctest.DocTestFinder(), doctest.DocTestRunner()
    output = io.StringIO()
    for name, value in PUBLIC.items():
        for test in finder.find(value, name, module=False, globs=PUBLIC.copy()):
            runner.run(test, out=output.write)
    assert runner.failures == 0, output.getvalue()
    assert runner.tries >= 4


def test_the_example_of_the_package_docstring_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, rest = (okf_catalog.__doc__ or "").partition("::\n")
    example = textwrap.dedent(rest.partition("\nIds such as")[0])
    assert "open_knowledge(" in example
    monkeypatch.chdir(Path(__file__).parent.parent / "examples" / "acme")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(example, {})
    assert output.getvalue().count("\n") > 1


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - ALIASES))
def test_type_hints_of_public_classes_can_be_resolved(name: str) -> None:
    """Libraries that build values from JSON resolve type hints."""
    typing.get_type_hints(PUBLIC[name])
    if isinstance(PUBLIC[name], type):
        for member in own_members(name).values():
            if inspect.isfunction(member):
                typing.get_type_hints(member)


def test_the_package_ships_its_types() -> None:
    assert (Path(okf_catalog.__file__).parent / "py.typed").is_file()
    assert (Path(okf_catalog.__file__).parent / "_engine.pyi").is_file()


SCRIPT = """
import json, sys
before = set(sys.modules)
import okf_catalog
print(json.dumps(sorted(set(sys.modules) - before)))
"""


def test_importing_the_package_imports_only_what_it_needs() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], check=True, capture_output=True, text=True)
    modules: list[str] = json.loads(run.stdout)
    assert "okf_catalog.ask.query" in modules
    ours = [name for name in modules if name.partition(".")[0] == "okf_catalog"]
    others = {name.partition(".")[0] for name in modules} - {"okf_catalog"}
    assert not [name for name in ours if name.startswith("okf_catalog.cli")]
    assert others <= sys.stdlib_module_names
    assert not others & {"asyncio", "concurrent", "socket", "ssl", "subprocess", "http", "urllib.request"}
    assert run.stderr == ""


def handles(catalog: FileKnowledgeCatalog) -> dict[str, Any]:
    return {
        "catalog": catalog,
        "batch": KnowledgeResolverRouter(catalog).search_batch(["word", "other"]),
        "store": FileMemoryStore(catalog),
        "provider": KnowledgeContextProvider(KnowledgeResolverRouter(catalog)),
        **{name: make(catalog) for name, make in RESOLVERS.items()},
    }


def test_handles_refuse_to_pickle_and_say_what_to_do(catalog: FileKnowledgeCatalog) -> None:
    for name, handle in handles(catalog).items():
        for act in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=r"cannot be pickled; (open|call|pickle) ") as raised:
                act(handle)
            assert "other process" in str(raised.value) or name == "batch"


def test_the_repr_of_a_handle_says_what_it_is_and_its_size(
    catalog: FileKnowledgeCatalog, shelf: Path
) -> None:
    path = repr(str(shelf / "catalog.json"))
    assert repr(catalog) == f"<FileKnowledgeCatalog {path}, 5 sources, generation 1>"
    assert repr(KnowledgeResolverRouter(catalog)) == f"<KnowledgeResolverRouter of {catalog!r}>"
    provider = KnowledgeContextProvider(host(catalog), token_budget=500)
    assert repr(provider) == f"<KnowledgeContextProvider of {host(catalog)!r}, 500 tokens>"
    assert repr(host(catalog)) == f"<Knowledge of {catalog!r}>"
    batch = KnowledgeResolverRouter(catalog).search_batch(["word", "other"])
    assert repr(batch) == "<KnowledgeBatch of 2 answers, generation 1>"
    catalog.close()
    assert repr(catalog) == f"<FileKnowledgeCatalog {path}, closed>"


def test_handles_refuse_new_attributes(catalog: FileKnowledgeCatalog) -> None:
    for handle in handles(catalog).values():
        with pytest.raises(AttributeError):
            handle.other = 1
