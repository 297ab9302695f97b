"""``okf-catalog memory``: list, show, write, forget."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from making.catalogs import write_manifest
from making.commands import result_of
from making.memory import SESSION, TENANT, USER, USER_ALICE, memory_source
from okf_catalog import FileKnowledgeCatalog, FileMemoryStore, KnowledgeAccessScope, MemoryEntry, MemoryTier
from okf_catalog.cli.app import app
from typer.testing import CliRunner

if TYPE_CHECKING:
    from pathlib import Path

WHO = ("--tenant", "acme", "--user", "alice")
ALICES = "memory-user/acme-822b33ad87c148a0/alice-2bd806c97f0e00af"
ACMES = "memory-tenant/acme-822b33ad87c148a0"


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Three memories: two of Alice, and one of the tenant with the name of one of hers."""
    (tmp_path / "diary").mkdir()
    sources = [memory_source(tier, tier.value, "diary") for tier in MemoryTier]
    path = write_manifest(tmp_path, sources)
    with FileKnowledgeCatalog(path, watch_for_changes=False) as catalog:
        store = FileMemoryStore(catalog)
        for tier, name, title in (
            (USER, "likes", "What she likes"),
            (USER, "monday", "Mon"),
            (TENANT, "monday", "M"),
        ):
            front = {"type": "Note", "title": title, "description": "Said"}
            written = store.write(
                USER_ALICE, MemoryEntry(name, front, f"{name} of {tier.value}\nsecond line"), tier
            )
            assert written.written, written
    return path


def run(*arguments: str | Path, typed: str | None = None) -> tuple[int, str, str]:
    return result_of("memory", *arguments, typed=typed)


def test_list_shows_tier_id_and_title(manifest: Path) -> None:
    assert run("list", "--catalog", manifest, *WHO) == (
        0,
        (
            f"user    {ALICES}/likes  What she likes\nuser    {ALICES}/monday  Mon\n"
            f"tenant  {ACMES}/monday  M\n3 concepts.\n"
        ),
        "",
    )
    assert run("list", "--catalog", manifest, *WHO, "--tier", "tenant")[1].endswith("\n1 concept.\n")
    assert run("list", "--catalog", manifest) == (0, "0 concepts.\n", "")


def test_list_prints_json(manifest: Path) -> None:
    code, out, _ = run("list", "--catalog", manifest, "--tenant", "acme", "--json")
    assert code == 0
    assert json.loads(out) == [{"tier": "tenant", "concept_id": f"{ACMES}/monday", "title": "M"}]


def test_show_prints_the_whole_text_of_each_concept_of_that_name(manifest: Path) -> None:
    assert run("show", "monday", "--catalog", manifest, *WHO) == (
        0,
        (
            f"user    {ALICES}/monday\nmonday of user\nsecond line\n\n"
            f"tenant  {ACMES}/monday\nmonday of tenant\nsecond line\n\n"
        ),
        "",
    )
    for which in ((f"{ALICES}/monday",), ("monday", "--tier", "user")):
        shown = run("show", *which, "--catalog", manifest, *WHO)[1]
        assert shown == f"user    {ALICES}/monday\nmonday of user\nsecond line\n\n"


def test_show_says_that_there_is_no_such_concept(manifest: Path) -> None:
    for which in ("tuesday", f"{ACMES}/monday"):
        code, out, err = run("show", which, "--catalog", manifest, "--user", "alice")
        assert (code, out) == (1, "")
        assert err == f"okf-catalog: no concept {which!r} is remembered for user alice\n"


def test_forget_asks_first(manifest: Path) -> None:
    forget = ("forget", "--catalog", manifest, *WHO)
    code, out, err = run(*forget, typed="n\n")
    assert code == 1
    assert "Forgotten" not in out
    assert "Forget what is remembered for tenant acme, user alice: 2 in tier user, 1 in tier tenant?" in err
    assert err.endswith("nothing is forgotten; answer y, or pass --yes\n")
    # Stdin is empty: there is nobody to confirm.
    code, out, err = run(*forget, typed="")
    assert (code, out.strip()) == (1, "")
    assert err.endswith("nothing is forgotten; answer y, or pass --yes\n")
    assert run("list", "--catalog", manifest, *WHO)[1].endswith("3 concepts.\n")
    code, out, _ = run(*forget, "--tier", "user", typed="y\n")
    assert code == 0
    assert out.endswith("Forgotten: 2 concepts in 1 tier.\n")
    assert run("list", "--catalog", manifest, *WHO)[1] == f"tenant  {ACMES}/monday  M\n1 concept.\n"
    assert run(*forget, "--yes") == (0, "Forgotten: 1 concept in 1 tier.\n", "")
    assert run(*forget, "--yes") == (0, "Forgotten: 0 concepts in 0 tiers.\n", "")


def test_forget_says_what_could_not_be_forgotten(manifest: Path) -> None:
    code, out, err = run("forget", "--catalog", manifest, "--tenant", "acme", "--tier", "user", "--yes")
    assert (code, out) == (1, "")
    assert err == (
        "okf-catalog: 0 concepts in 0 tiers forgotten, but the tier 'user' does not apply: "
        "the scope is not local, and has no user_id\n"
    )


def test_memory_commands_escape_control_characters(manifest: Path) -> None:
    front = {"type": "Note", "title": "\x1b[2Jtitle\nnext", "description": "Said"}
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        entry = MemoryEntry("\u202etxt", front, "\x1b]0;owned\x07\r\u2028end")
        assert FileMemoryStore(catalog).write(USER_ALICE, entry, USER).written
    for command in (("list",), ("show", "\u202etxt")):
        code, out, err = run(*command, "--catalog", manifest, *WHO)
        assert (code, err) == (0, "")
        assert not set(out) & set("\x1b\x07\r\u2028\u202e")
        assert "\\u202etxt" in out
    assert "\\x1b]0;owned\\x07\n\\u2028end\n" in out


def test_wrong_usage_and_a_catalog_without_memories_have_different_messages(
    tmp_path: Path, manifest: Path
) -> None:
    code, out, err = run("list", "--catalog", manifest, "--user", "a/b")
    assert (code, out) == (2, "")
    assert "user_id is one segment" in err
    assert run("list", "--catalog", manifest, "--tier", "week")[0] == 2
    (tmp_path / "docs").mkdir()
    write_manifest(tmp_path, [{"id": "docs", "path": "docs"}])
    message = "okf-catalog: the catalog has no enabled memory source\n"
    assert run("list", "--catalog", manifest) == (1, "", message)
    write_manifest(
        tmp_path,
        [{"id": "docs", "path": "."}, {"id": "diary", "path": "diary", "role": "memory", "tier": "user"}],
    )
    code, out, err = run("show", "monday", "--catalog", manifest)
    assert (code, out) == (1, "")
    assert "'diary'" in err
    assert "'docs'" in err


def test_check_says_what_memories_cannot_be_used(tmp_path: Path, manifest: Path) -> None:
    def check(*options: str) -> tuple[int, str]:
        result = CliRunner().invoke(app, ["check", "--catalog", str(manifest), *options])
        assert result.stderr == ""
        return result.exit_code, result.stdout

    # Three tiers in one directory are no duplicates.
    code, out = check("--strict")
    assert code == 0
    assert "is the directory of" not in out
    sources = [
        {"id": "docs", "path": "diary"},
        {"id": "diary", "path": "diary", "role": "memory", "tier": "user"},
    ]
    write_manifest(tmp_path, sources)
    code, out = check()
    assert code == 1
    assert "diary: cannot be used: the directories of the memory source 'diary' and of" in out


def test_help_says_what_the_exit_codes_mean() -> None:
    for command in ("list", "show", "forget"):
        code, out, err = run(command, "--help")
        assert (code, err) == (0, "")
        assert "--catalog" in out
        assert "Exits with" in out


def test_memories_that_cannot_be_listed_are_named_on_stderr(tmp_path: Path, manifest: Path) -> None:
    (tmp_path / "diary" / ALICES / "broken.md").symlink_to("nowhere")
    broken = f'okf-catalog: "{ALICES}/broken.md" is left out: it is a link\n'
    code, out, err = run("list", "--catalog", manifest, *WHO)
    assert (code, err) == (1, broken)
    assert out.endswith("\n3 concepts.\n")
    code, out, err = run("list", "--catalog", manifest, *WHO, "--json")
    assert (code, err, len(json.loads(out))) == (1, broken, 3)
    code, out, err = run("show", "likes", "--catalog", manifest, *WHO)
    assert (code, err) == (1, broken)
    assert "likes of user" in out
    code, out, err = run("show", "broken", "--catalog", manifest, *WHO)
    assert (code, out) == (1, "")
    assert err == f"{broken}okf-catalog: no concept 'broken' is remembered for tenant acme, user alice\n"
    # Another tier is not affected.
    assert run("list", "--catalog", manifest, *WHO, "--tier", "tenant")[0::2] == (0, "")
    code, out, err = run("forget", "--catalog", manifest, *WHO, typed="n\n")
    assert (code, err.startswith(broken)) == (1, True)


def test_a_tier_that_cannot_be_listed_is_named_on_stderr(tmp_path: Path, manifest: Path) -> None:
    (tmp_path / "diary" / "memory-user").rename(tmp_path / "moved")
    (tmp_path / "diary" / "memory-user").symlink_to(tmp_path / "moved")
    code, out, err = run("list", "--catalog", manifest, *WHO)
    assert (code, out) == (1, f"tenant  {ACMES}/monday  M\n1 concept.\n")
    assert err.startswith('okf-catalog: source "memory:user" is unavailable: "memory-user" is a link')


def test_forget_deletes_one_concept(tmp_path: Path, manifest: Path) -> None:
    forget = ("forget", "monday", "--catalog", manifest, *WHO)
    code, _, err = run(*forget, typed="n\n")
    assert code == 1
    assert (
        "Forget 'monday' for tenant acme, user alice, which is listed in tier user, tier tenant? [y/N]:"
        in err
    )
    assert run(*forget, "--tier", "user", "--yes") == (0, "Forgotten: 1 concept.\n", "")
    assert run("list", "--catalog", manifest, *WHO)[1].endswith("2 concepts.\n")
    assert run(*forget, "--yes") == (0, "Forgotten: 1 concept.\n", "")
    none = "okf-catalog: no concept 'monday' is remembered for tenant acme, user alice\n"
    assert run(*forget, "--yes") == (1, "", none)
    code, out, err = run("forget", f"{ALICES}/likes", "--catalog", manifest, *WHO, typed="y\n")
    assert (code, out[-len("Forgotten: 1 concept.\n") :]) == (0, "Forgotten: 1 concept.\n")
    assert "is listed in tier user?" in err
    # An unreadable concept is not listed, and can be forgotten.
    (tmp_path / "diary" / ALICES / "broken.md").write_bytes(b"\0\xff")
    assert run("forget", "broken", "--catalog", manifest, *WHO, "--yes")[0] == 0
    (tmp_path / "diary" / ALICES / "linked.md").symlink_to("nowhere")
    code, out, err = run("forget", "linked", "--catalog", manifest, *WHO, "--yes")
    assert (code, out) == (1, "")
    assert err.startswith(
        f'okf-catalog: 0 concepts forgotten, but memory:user: "{ALICES}/linked.md" is a link'
    )


def test_forget_below_deletes_the_scopes_below_too(tmp_path: Path, manifest: Path) -> None:
    with FileKnowledgeCatalog(manifest, watch_for_changes=False) as catalog:
        store = FileMemoryStore(catalog)
        front = {"type": "Note", "title": "t", "description": "d"}
        for session in ("1", "2"):
            scope = KnowledgeAccessScope("acme", "alice", session)
            assert store.write(scope, MemoryEntry("said", front, "word"), SESSION).written
    forget = ("forget", "--below", "--catalog", manifest)
    code, _, err = run(*forget, *WHO, typed="n\n")
    assert code == 1
    assert (
        "Forget all that is remembered for tenant acme, user alice and for every scope below? [y/N]:" in err
    )
    assert run(*forget, *WHO, "--tier", "session", "--yes") == (
        0,
        "Forgotten: 2 concepts of 2 scopes in 1 tier.\n",
        "",
    )
    code, out, err = run(*forget, *WHO, "--tier", "tenant", "--yes")
    assert (code, out) == (1, "")
    assert "0 concepts of 0 scopes in 0 tiers forgotten, but the tier 'tenant' is shared" in err
    assert run(*forget, *WHO, "--yes")[1] == "Forgotten: 2 concepts of 1 scope in 1 tier.\n"
    # The memories of the tenant stay.
    assert run("list", "--catalog", manifest, *WHO)[1] == f"tenant  {ACMES}/monday  M\n1 concept.\n"
    assert run(*forget, "--tenant", "acme", "--yes")[1] == "Forgotten: 1 concept of 1 scope in 1 tier.\n"
    assert not list((tmp_path / "diary").rglob("*.md"))


def test_forget_refuses_below_for_one_concept(manifest: Path) -> None:
    code, out, err = run("forget", "monday", "--below", "--catalog", manifest, *WHO, "--yes")
    assert (code, out) == (2, "")
    assert "--below is for all that is remembered" in err
    code, out, err = run("forget", "../x", "--catalog", manifest, *WHO, "--yes")
    assert (code, out) == (2, "")
    assert "concept_name is the name or the id of a concept" in err
    assert run("list", "--catalog", manifest, *WHO)[1].endswith("3 concepts.\n")


def test_write_appends_and_with_replace_puts_a_concept_in_place_of_another(manifest: Path) -> None:
    where = ("--catalog", manifest, *WHO, "--tier", "user")
    assert run("write", "likes", "and tea", *where) == (0, "Remembered: likes.\n", "")
    shown = f"user    {ALICES}/likes\nlikes of user\nsecond line\n\nand tea\n\n"
    assert run("show", "likes", *where)[1] == shown
    assert run("write", "likes", "only tea", *where, "--replace", "--title", "Tea")[0] == 0
    assert run("show", "likes", *where)[1] == f"user    {ALICES}/likes\nonly tea\n\n"
    assert f"{ALICES}/likes  Tea\n" in run("list", *where)[1]


def test_write_creates_a_concept_from_stdin_in_the_only_tier_that_applies(manifest: Path) -> None:
    text = "Zoë said:\n\n- tea\n"
    code, out, err = run(
        "write", "new", "--catalog", manifest, "--tenant", "acme", "--type", "Note", typed=text
    )
    assert (code, out, err) == (0, "Remembered: new.\n", "")
    written = (manifest.parent / "diary" / ACMES / "new.md").read_text("utf-8")
    assert written == f'---\ntype: "Note"\ntitle: "new"\ndescription: "new"\n---\n\n{text}'


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("write", "likes", "tea", *WHO), "say which tier; those that apply to the scope: user, tenant."),
        (("write", "likes", " \n", *WHO, "--tier", "user"), "there is nothing to remember"),
        (("write", "a/b", "tea", *WHO, "--tier", "user"), "it holds a '/'"),
        (("write", "likes", "tea", *WHO, "--tier", "user", "--title", " "), "is empty or only white space"),
    ],
)
def test_write_says_what_is_wrong(manifest: Path, arguments: tuple[str, ...], reason: str) -> None:
    code, out, err = run(*arguments, "--catalog", manifest)
    assert (code, out) == (2, "")
    # The words may be broken into the lines of a box.
    assert reason in " ".join(err.replace("│", " ").split())


def test_write_fails_if_nothing_is_written(manifest: Path) -> None:
    (manifest.parent / "diary" / ALICES / "link.md").symlink_to("likes.md")
    for more in ((), ("--replace",)):
        code, out, err = run("write", "link", "tea", "--catalog", manifest, *WHO, "--tier", "user", *more)
        assert (code, out) == (1, "")
        assert "nothing is written" in err
        assert "is a link" in err
