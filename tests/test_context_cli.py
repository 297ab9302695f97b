"""``okf-catalog context``: the message a model would get, and what became of each source."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NoReturn

import pytest
from making.bundles import write_tree
from making.catalogs import write_manifest
from making.commands import complaint, run
from making.frame import parsed
from making.memory import USER_ALICE
from making.providing import user
from okf_catalog import (
    FileMemoryStore,
    KnowledgeAccessScope,
    KnowledgeContextProvider,
    MemoryEntry,
    MemoryTier,
    open_knowledge,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GUIDE = "---\ntitle: Refund guide {}\n---\nThe refund is {}\n"
FILES = {
    **{f"prolific/{number}.md": GUIDE.format(number, "explained at some length " * 3) for number in range(4)},
    "small/policy.md": "---\ntitle: Refund policy\n---\nA refund takes five days.\n",
}


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A source with many matches, a source with one, and memories of users."""
    write_tree(tmp_path, FILES)
    (tmp_path / "memory").mkdir()
    return write_manifest(
        tmp_path,
        [
            {"id": "prolific", "path": "prolific", "priority": 10},
            {"id": "small", "path": "small"},
            {"id": "notes", "path": "memory", "role": "memory", "tier": "user"},
        ],
    )


def remember(catalog: Path, scope: KnowledgeAccessScope, text: str) -> None:
    frontmatter = {"type": "AgentMemory", "title": "What was said", "description": "In earlier days"}
    with open_knowledge(catalog, watch_for_changes=False) as knowledge:
        assert isinstance(knowledge.memory, FileMemoryStore)
        result = knowledge.memory.write(scope, MemoryEntry("said", frontmatter, text), MemoryTier.USER)
        assert result.written, result.error


def document(catalog: Path, *arguments: str) -> Any:
    return json.loads(run("context", "refund", "--catalog", catalog, "--json", *arguments))


def sources(catalog: Path, *arguments: str) -> dict[str, tuple[int, int, int]]:
    """How many passages of each source were found, given and cut."""
    return {
        source["source_id"]: (source["found"], source["given"], source["cut"])
        for source in document(catalog, *arguments)["sources"]
    }


def test_context_shows_the_message_and_the_tokens_of_each_source(catalog: Path) -> None:
    scoring = ("--scoring", "weighted_terms")
    shown = run("context", "refund", "--catalog", catalog, "--budget", "30", "--strategy", "merged", *scoring)
    assert shown.splitlines() == [
        '<okf-context id="knowledge:prolific:0">',
        "Refund guide 0",
        "… (truncated)",
        "</okf-context>",
        "",
        "source    found  given  cut  tokens",
        "prolific      4      1    1      21",
        "small         1      0    0       0",
        "",
        "21 of 30 tokens spent.",
    ]


@pytest.mark.parametrize("budget", ["1", "30", "70", "120", "2000", "9" * 30])
@pytest.mark.parametrize("strategy", ["grouped_by_source", "merged"])
def test_context_prints_the_message_of_a_provider_and_its_tokens_add_up(
    catalog: Path, budget: str, strategy: str
) -> None:
    remember(catalog, KnowledgeAccessScope.LOCAL, "A refund was asked for.")
    shown = document(catalog, "--budget", budget, "--strategy", strategy)
    with open_knowledge(catalog, watch_for_changes=False) as knowledge:
        provider = KnowledgeContextProvider(
            knowledge, knowledge.memory, token_budget=int(budget), resolver_strategy=strategy
        )
        provided = provider.provide([user("refund")])
    assert shown["message"] == (provided.messages[0].text if provided.messages else None)
    assert shown["instructions"] == provided.instructions
    assert shown["tokens"] == provided.tokens == sum(source["tokens"] for source in shown["sources"])
    assert [block["concept_id"] for block in shown["blocks"]] == [
        block.concept_id for block in provided.blocks
    ]
    assert shown["left_out"] == provided.left_out
    assert sum(source["found"] - source["given"] for source in shown["sources"]) == provided.left_out


def test_strategy_quota_and_shares_reach_the_provider(catalog: Path) -> None:
    only_knowledge = "--budget", "90", "--knowledge-share", "1", "--memory-share", "0"
    assert sources(catalog, *only_knowledge)["small"] == (1, 0, 0)
    fair = sources(catalog, *only_knowledge, "--strategy", "merged", "--quota", "1")
    assert fair["small"] == (1, 1, 0)
    assert fair["prolific"][1] >= 1
    remember(catalog, KnowledgeAccessScope.LOCAL, "A refund was asked for.")
    only_memory = "--budget", "60", "--knowledge-share", "0", "--memory-share", "1"
    assert sources(catalog, *only_memory)["memory:user"] == (1, 1, 0)


def test_context_asks_in_sentences_unless_told_otherwise(catalog: Path, asked: list[tuple[str, str]]) -> None:
    for options, scoring in (
        ([], "bm25f"),
        (["--scoring", "bm25f"], "bm25f"),
        (["--scoring", "weighted_terms"], "weighted_terms"),
    ):
        asked.clear()
        assert document(catalog, *options)["message"] is not None
        assert {given for given, _ in asked} == {scoring}


def test_context_gives_whole_bodies_on_request(catalog: Path) -> None:
    write_tree(catalog.parent, {"small/policy.md": "---\ntitle: Policy\n---\nA refund\n\nTakes five days.\n"})
    shown = document(catalog, "--content", "body")["message"]
    assert "\nPolicy\nA refund\n\nTakes five days.\n</okf-context>" in shown
    assert "five days" not in document(catalog)["message"]


def test_context_labels_drafts_and_stale_concepts(catalog: Path) -> None:
    front = "---\ntitle: Policy\nstatus: deprecated\nstale_after: 2024-01-01\n---\n"
    write_tree(catalog.parent, {"small/policy.md": f"{front}A refund\n"})
    assert "\nPolicy [deprecated] [stale]\nA refund\n" in document(catalog)["message"]


def test_context_leaves_out_stale_concepts_on_request(catalog: Path) -> None:
    write_tree(catalog.parent, {"small/policy.md": "---\nstale_after: 2024-01-01\n---\nrefund\n"})
    assert "small" in sources(catalog)
    assert "small" not in sources(catalog, "--stale", "strict")
    assert "small" in sources(catalog, "--stale", "200000")


def test_context_reads_the_memory_of_the_given_scope(catalog: Path) -> None:
    remember(catalog, USER_ALICE, "Alice was promised a refund.")
    assert "memory:user" not in sources(catalog)
    assert "memory:user" not in sources(catalog, "--tenant", "acme", "--user", "bob")
    given = document(catalog, "--tenant", "acme", "--user", "alice", "--session", "s-1")
    assert given["sources"][-1]["source_id"] == "memory:user"
    (*_, (name, lines)) = parsed(given["message"])
    assert name.startswith("memory:memory:user:memory-user/acme-")
    assert lines == ["What was said", "Alice was promised a refund."]


def test_context_without_matches_says_so_and_succeeds(catalog: Path) -> None:
    shown = run("context", "zebra", "--catalog", catalog)
    assert shown.startswith("0 of 2000 tokens spent.\n[NO_MATCHES] ")
    given = json.loads(run("context", "zebra", "--catalog", catalog, "--json"))
    assert (given["message"], given["instructions"], given["sources"]) == (None, None, [])


def test_context_of_a_catalog_without_memory_gives_knowledge(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    catalog = write_manifest(tmp_path, [{"id": "small", "path": "small"}])
    assert sources(catalog) == {"small": (1, 1, 0)}


@pytest.mark.parametrize("terminal", [{}, {"FORCE_COLOR": "1", "TERM": "xterm", "COLUMNS": "200"}])
@pytest.mark.parametrize("content", ["snippet", "body"])
def test_control_characters_never_reach_the_terminal(
    catalog: Path, terminal: dict[str, str], content: str
) -> None:
    files = {
        "small/\x1b]0;name\x07.md": '---\ntitle: "refund \\e[2J\\n\\x9b1m"\n---\n',
        "small/b.md": "refund \x1b]0;owned\x07 \x08\x7f\u009b31m \u202eevil\u2066\n",
    }
    write_tree(catalog.parent, files)
    asked: list[str | Path] = ["context", "refund", "--catalog", catalog, "--content", content]
    shown = run(*asked, env=terminal)
    for character in "\x07\x08\x7f\x9b\u202e\u2066":
        assert character not in shown
    assert "\x1b]" not in shown
    assert "\x1b[2J" not in shown
    assert r"refund \x1b]0;owned\x07 \x08\x7f\x9b31m \u202eevil\u2066" in shown
    assert "&#27;]0;name&#7;" in shown
    assert run(*asked, "--json", env=terminal).isascii()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--budget", "0"], "--budget"),
        (["--budget", "some"], "--budget"),
        (["--quota", "0"], "--quota"),
        (["--strategy", "best"], "grouped_by_source"),
        (["--scoring", "bm25"], "'weighted_terms', 'bm25f'"),
        (["--content", "all"], "'snippet', 'body'"),
        (["--stale", "never"], "'use', 'strict' or a number of days"),
        (["--knowledge-share", "0.7"], "at most 1 together"),
        (["--knowledge-share", "nan"], "knowledge_budget_share is a number from 0 to 1, not nan"),
        (["--memory-share", "-1"], "memory_budget_share is a number from 0 to 1, not -1"),
        (["--tenant", "a/b"], "tenant_id is one segment"),
        (["--user", "_local"], "user_id cannot be '_local'"),
        (["--session", ""], "session_id is one segment"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(catalog: Path, arguments: Sequence[str], says: str) -> None:
    said = complaint("context", "refund", "--catalog", catalog, *arguments, code=2)
    assert says in said
    assert said.count("\n") == 1


@pytest.mark.parametrize("text", ["", " \u3000", "x\udcff"])
def test_context_refuses_an_invalid_question_before_it_opens_a_catalog(text: str) -> None:
    assert "text " in complaint("context", text, "--catalog", "missing.json", code=2)


def test_context_warns_of_memories_that_would_be_published(tmp_path: Path) -> None:
    write_tree(tmp_path, FILES)
    sources = [
        {"id": "small", "path": "small"},
        {"id": "notes", "path": "small", "role": "memory", "tier": "user"},
    ]
    warning, refusal = complaint(
        "context", "refund", "--catalog", write_manifest(tmp_path, sources), code=1
    ).splitlines()
    for said in (warning, refusal):
        assert "'small'" in said
        assert "'notes'" in said


def test_context_shows_internal_errors(catalog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> NoReturn:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(FileMemoryStore, "read", broken)
    assert "Input/output error" in complaint("context", "refund", "--catalog", catalog, code=1)
