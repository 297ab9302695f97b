"""The check of who imports whom and of sizes (``scripts/check_structure.py``), on made-up trees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import check_structure
import pytest
from making.bundles import write_tree
from structure import python, rust, tokens
from structure.imports import ANY

if TYPE_CHECKING:
    from collections.abc import Mapping

PACKAGE = "python/okf_catalog"
CRATE = "rust/engine/src"
SCRIPT = Path(check_structure.__file__)


def faults(
    root: Path, tree: str, files: Mapping[str, str], rules: Mapping[str, set[str]] | None = None
) -> list[str]:
    """What the check says of one tree that holds ``files``."""
    write_tree(root / tree, files)
    return list(check_structure.faults(root, {tree: rules or {}}))


def rust_edges(root: Path, files: Mapping[str, str]) -> dict[str, dict[str, set[str]]]:
    """Importer -> imported file -> names, for files that import something."""
    write_tree(root, files)
    found = {
        str(file): {str(target): names for target, names in targets.items()}
        for file, targets in rust.imports(root).items()
    }
    return {file: targets for file, targets in found.items() if targets}


def python_edges(root: Path, files: Mapping[str, str]) -> dict[str, dict[str, set[str]]]:
    write_tree(root / "pack", files)
    found = {
        str(file): {str(target): names for target, names in targets.items()}
        for file, targets in python.imports(root / "pack").items()
    }
    return {file: targets for file, targets in found.items() if targets}


def numbered_lines(count: int) -> str:
    return "".join(f"x = {number}\n" for number in range(count))


class TestPythonImports:
    @pytest.mark.parametrize(
        ("statement", "names"),
        [
            ("from .b import one, two", {"one", "two"}),
            ("from pack.b import one", {"one"}),
            ("from .b import one as other", {"one"}),
            ("from .b import *", {"*"}),
            ("from . import b", {"b"}),
            ("import pack.b", {"b"}),
            ("import pack.b as other", {"b"}),
            ("def f():\n    from .b import one\n", {"one"}),
            ("if TYPE_CHECKING:\n    from .b import One\n", {"One"}),
            ("try:\n    from .b import one\nexcept ImportError:\n    pass\n", {"one"}),
        ],
    )
    def test_every_kind_of_import_counts(self, tmp_path: Path, statement: str, names: set[str]) -> None:
        found = python_edges(tmp_path, {"__init__.py": "", "a.py": statement, "b.py": ""})
        assert found == {"a.py": {"b.py": names}}

    @pytest.mark.parametrize(
        "statement", ["import json", "from os import path", "from packing.b import c", '"import pack.b"']
    )
    def test_other_packages_and_texts_do_not_count(self, tmp_path: Path, statement: str) -> None:
        assert python_edges(tmp_path, {"__init__.py": "", "a.py": statement, "b.py": ""}) == {}

    def test_dots_count_from_the_package_of_the_importer(self, tmp_path: Path) -> None:
        found = python_edges(
            tmp_path,
            {
                "__init__.py": "",
                "room/__init__.py": "from .inner import deep",
                "room/inner.py": "from ..top import name",
                "top.py": "",
            },
        )
        assert found == {
            "room/__init__.py": {"room/inner.py": {"deep"}},
            "room/inner.py": {"top.py": {"name"}},
        }

    def test_a_name_that_an_init_passes_on_leads_to_its_origin(self, tmp_path: Path) -> None:
        found = python_edges(
            tmp_path,
            {
                "__init__.py": "from .room import Value",
                "room/__init__.py": "from pack.room.values import Value",
                "room/values.py": "class Value: ...",
                "user.py": "from pack import Value",
            },
        )
        assert found["user.py"] == {"room/values.py": {"Value"}}

    def test_a_name_that_an_init_defines_leads_to_the_init(self, tmp_path: Path) -> None:
        found = python_edges(
            tmp_path, {"__init__.py": "VERSION = 1\nimport json", "user.py": "from . import VERSION, json"}
        )
        assert found == {"user.py": {"__init__.py": {"VERSION", "json"}}}

    def test_inits_that_pass_on_each_others_names_end_the_search(self, tmp_path: Path) -> None:
        found = python_edges(
            tmp_path,
            {
                "__init__.py": "",
                "a/__init__.py": "from ..b import name",
                "b/__init__.py": "from ..a import name",
                "user.py": "from .a import name",
            },
        )
        assert set(found["user.py"]) <= {"a/__init__.py", "b/__init__.py"}

    def test_a_stub_stands_for_its_compiled_module(self, tmp_path: Path) -> None:
        files = {
            "__init__.py": "",
            "_engine.pyi": "from pack.rows import Row",
            "rows.py": "from ._engine import Answer",
        }
        assert python_edges(tmp_path, files) == {
            "_engine.pyi": {"rows.py": {"Row"}},
            "rows.py": {"_engine.pyi": {"Answer"}},
        }


class TestRustImports:
    @pytest.mark.parametrize(
        ("code", "names"),
        [
            ("use crate::b::One;", {"One"}),
            ("use super::b::One;", {"One"}),
            ("use self::super::b::One;", {"One"}),
            ("pub(crate) use crate::b::{One, f as g};", {"One", "f"}),
            ("use crate::{b::{self, One}, c};\nfn x() { b::f(); }", {"One", "f"}),
            ("use crate::{\n    b::{\n        One,\n        f,\n    },\n};", {"One", "f"}),
            ("use crate::b;\nfn x() { b::f(1) }", {"f"}),
            ("use crate::b as other;\nfn x() -> other::One { todo!() }", {"One"}),
            ("use crate::b::*;", {"*"}),
            ("fn x() { crate::b::f(); }", {"f"}),
            ("fn x() { use crate::b::f; f(); }", {"f"}),
            ("fn x(y: &'a super::b::One<'a>) {}", {"One"}),
            ("impl From<crate::b::One> for X { fn from(_: u8) {} }", {"One"}),
            ("use crate::b::One::{self, Two};", {"One"}),
            ("mod inner { use super::super::b::One; }", {"One"}),
            ("mod inner { fn x() { crate::b::f::<u8>(); } }", {"f"}),
            ("fn x() { macro_call!(crate::b::f()) }", {"f"}),
        ],
    )  # fmt: skip
    def test_every_way_to_name_an_item_counts(self, tmp_path: Path, code: str, names: set[str]) -> None:
        files = {
            "lib.rs": "mod a; mod b; mod c;",
            "a.rs": code,
            "b.rs": "pub struct One; pub fn f() {}",
            "c.rs": "",
        }
        assert rust_edges(tmp_path, files) == {"a.rs": {"b.rs": names}}

    @pytest.mark.parametrize(
        "code",
        [
            "// use crate::b::One;",
            "/* use crate::b::One; /* nested */ crate::b::f() */",
            "/// [`One`](crate::b::One)\nfn x() {}",
            'const X: &str = "use crate::b::One;";',
            'const X: &str = r#"" crate::b::f() "#;',
            "const X: char = '\"'; // crate::b::f() \"",
            "use std::b::One;",
            "use ::b::One;",
            "use other_crate::b::{One, f};",
            "mod b { pub struct One; }\nuse b::One;",
            "pub(in crate::b) fn x() {}",
            "#[cfg(test)]\nmod tests { use crate::b::One; }",
            "#[cfg(test)]\nuse crate::b::One;",
            "#[cfg(test)]\n#[allow(dead_code)]\npub(crate) fn x<A, B>() { crate::b::f() }",
            "#[cfg(all(test, unix))]\nconst X: u8 = { crate::b::f() };",
            "#[test]\nfn x() { crate::b::f() }",
            "struct X { #[cfg(test)] y: crate::b::One, z: u8 }",
        ],
    )
    def test_comments_texts_tests_and_other_crates_do_not_count(self, tmp_path: Path, code: str) -> None:
        files = {"lib.rs": "mod a; mod b;", "a.rs": code, "b.rs": "pub struct One; pub fn f() {}"}
        assert rust_edges(tmp_path, files) == {}

    def test_code_after_a_test_counts(self, tmp_path: Path) -> None:
        code = (
            "#[cfg(test)] fn x(_: [u8; 2]) {}\n#[cfg(not(test))] use crate::b::One;\nfn z() { super::b::f() }"
        )
        files = {"lib.rs": "", "a.rs": code, "b.rs": "pub struct One; pub fn f() {}"}
        assert rust_edges(tmp_path, files) == {"a.rs": {"b.rs": {"One", "f"}}}

    def test_files_for_tests_do_not_count(self, tmp_path: Path) -> None:
        files = {
            "lib.rs": "#[cfg(test)]\nmod drawn;",
            "a.rs": "#[cfg(test)]\nmod tests;",
            "a/tests.rs": "use crate::b::One;",
            "drawn.rs": "use crate::b::One;",
            "b.rs": "pub struct One;",
        }
        assert rust_edges(tmp_path, files) == {}

    def test_a_parent_imports_a_child_by_use_and_not_by_declaration(self, tmp_path: Path) -> None:
        files = {"lib.rs": "mod a;", "a.rs": "mod child;", "a/child.rs": "pub fn f() {}"}
        assert rust_edges(tmp_path / "declared", files) == {}
        for number, use in enumerate(["use child::f;", "pub use child::f;", "fn x() { child::f() }"]):
            found = rust_edges(tmp_path / str(number), {**files, "a.rs": f"mod child;\n{use}"})
            assert found == {"a.rs": {"a/child.rs": {"f"}}}, use

    def test_a_name_that_a_module_passes_on_leads_to_its_origin(self, tmp_path: Path) -> None:
        files = {
            "lib.rs": "mod a; mod b; pub use b::One;",
            "a.rs": "mod child; pub use child::{f, g as h}; pub use child::inner;",
            "a/child.rs": "pub fn f() {} pub fn g() {} pub mod inner { pub fn i() {} }",
            "a/sibling.rs": "use super::f;",
            "b.rs": "pub struct One; use crate::a::{self, h}; fn x() { a::inner::i() }",
            "c.rs": "use crate::One;",
        }
        found = rust_edges(tmp_path, files)
        assert found["a/sibling.rs"] == {"a/child.rs": {"f"}}
        assert found["b.rs"] == {"a/child.rs": {"g", "i"}}
        assert found["c.rs"] == {"b.rs": {"One"}}

    def test_a_glob_that_passes_names_on_is_followed(self, tmp_path: Path) -> None:
        files = {
            "lib.rs": "",
            "a.rs": "pub use crate::b::*;",
            "b.rs": "pub enum One { Two }",
            "c.rs": "use crate::a::One;",
        }
        assert rust_edges(tmp_path, files)["c.rs"] == {"b.rs": {"One"}}

    def test_modules_that_pass_on_each_others_names_end_the_search(self, tmp_path: Path) -> None:
        files = {
            "lib.rs": "",
            "a.rs": "pub use crate::b::*; pub use crate::b::X;",
            "b.rs": "pub use crate::a::*; pub use crate::a::X;",
            "c.rs": "use crate::a::{X, Y};",
        }
        assert set(rust_edges(tmp_path, files)["c.rs"]) <= {"a.rs", "b.rs"}

    def test_a_function_can_have_the_name_of_its_module(self, tmp_path: Path) -> None:
        files = {
            "lib.rs": "",
            "a.rs": "mod f; use f::f; fn x() { f() }",
            "a/f.rs": "pub fn f() { super::g() }",
        }
        found = rust_edges(
            tmp_path, {**files, "b.rs": "pub fn g() {}", "a.rs": files["a.rs"] + "use crate::b::g;"}
        )
        assert found == {"a.rs": {"a/f.rs": {"f"}, "b.rs": {"g"}}, "a/f.rs": {"b.rs": {"g"}}}

    def test_a_mod_rs_is_the_module_of_its_folder(self, tmp_path: Path) -> None:
        files = {
            "lib.rs": "",
            "a/mod.rs": "pub struct One;",
            "a/b.rs": "use super::One; use crate::c::f;",
            "c.rs": "pub fn f() {}",
        }
        assert rust_edges(tmp_path, files) == {"a/b.rs": {"a/mod.rs": {"One"}, "c.rs": {"f"}}}

    def test_one_name_for_two_systems_leads_to_both(self, tmp_path: Path) -> None:
        files = {
            "lib.rs": "",
            "a.rs": "#[cfg(unix)]\npub use x::f;\n#[cfg(not(unix))]\npub use y::f;",
            "a/x.rs": "pub fn f() {}",
            "a/y.rs": "pub fn f() {}",
            "b.rs": "use crate::a::f;",
        }
        assert set(rust_edges(tmp_path, files)["b.rs"]) == {"a/x.rs", "a/y.rs"}


class TestCircles:
    def test_files_that_import_each_other_are_named_with_the_names(self, tmp_path: Path) -> None:
        files = {
            "__init__.py": "",
            "a.py": "from .b import one",
            "b.py": "from .c import two",
            "c.py": "from .a import x, y",
        }
        (fault,) = faults(tmp_path, PACKAGE, files)
        assert fault == (
            "python/okf_catalog: import circle between a, b, c\n"
            "  a.py -> b.py (one)\n  b.py -> c.py (two)\n  c.py -> a.py (x, y)"
        )

    def test_imports_beside_a_circle_are_not_named(self, tmp_path: Path) -> None:
        files = {
            "a.py": "from .b import one\nfrom .d import f",
            "b.py": "from .a import two",
            "c.py": "from .a import x",
            "d.py": "",
        }
        (fault,) = faults(tmp_path, PACKAGE, files)
        assert fault.splitlines()[1:] == ["  a.py -> b.py (one)", "  b.py -> a.py (two)"]

    def test_folders_can_form_a_circle_that_no_files_form(self, tmp_path: Path) -> None:
        files = {"a/x.py": "from ..b.y import f", "b/y.py": "", "b/z.py": "from ..a.w import g", "a/w.py": ""}
        assert faults(tmp_path, PACKAGE, files) == [
            "python/okf_catalog: import circle between a, b\n  a/x.py -> b/y.py (f)\n  b/z.py -> a/w.py (g)"
        ]

    def test_an_init_that_only_passes_names_on_closes_no_circle(self, tmp_path: Path) -> None:
        files = {
            "__init__.py": "from .a import One\nfrom .b import Two",
            "a.py": "class One: ...",
            "b.py": "from okf_catalog import One\nclass Two(One): ...",
        }
        assert faults(tmp_path, PACKAGE, files) == []

    def test_files_of_one_room_are_checked_too(self, tmp_path: Path) -> None:
        files = {
            "room/__init__.py": "",
            "room/a.py": "from .b import f",
            "room/b.py": "from okf_catalog.room.a import g",
        }
        (fault,) = faults(tmp_path, PACKAGE, files)
        assert fault.startswith("python/okf_catalog/room: import circle between a, b\n")

    def test_a_rust_folder_and_its_file_are_one_room_from_outside(self, tmp_path: Path) -> None:
        files = {
            "lib.rs": "",
            "a.rs": "mod child; use crate::b::f;",
            "a/child.rs": "pub struct One;",
            "b.rs": "use crate::a::child::One; pub fn f() {}",
        }
        assert faults(tmp_path, CRATE, files) == [
            "rust/engine/src: import circle between a, b\n  a.rs -> b.rs (f)\n  b.rs -> a/child.rs (One)"
        ]

    def test_a_rust_child_must_not_import_the_parent_that_imports_it(self, tmp_path: Path) -> None:
        files = {
            "lib.rs": "",
            "a.rs": "mod child; use child::f; pub struct One;",
            "a/child.rs": "use super::One; pub fn f() {}",
        }
        (fault,) = faults(tmp_path, CRATE, files)
        assert fault == (
            "rust/engine/src/a: import circle between a.rs, child\n"
            "  a/child.rs -> a.rs (One)\n  a.rs -> a/child.rs (f)"
        )

    def test_a_rust_child_may_import_a_parent_that_only_declares_it(self, tmp_path: Path) -> None:
        files = {"lib.rs": "", "a.rs": "mod child; pub struct One;", "a/child.rs": "use super::One;"}
        assert faults(tmp_path, CRATE, files) == []

    def test_circles_deep_in_rooms_are_found(self, tmp_path: Path) -> None:
        files = {
            "lib.rs": "",
            "a/b/c.rs": "use super::d::f; pub fn g() {}",
            "a/b/d.rs": "use crate::a::b::c::g; pub fn f() {}",
            "a.rs": "",
            "a/b.rs": "",
        }
        (fault,) = faults(tmp_path, CRATE, files)
        assert fault.startswith("rust/engine/src/a/b: import circle between c, d\n")


class TestRules:
    FILES: ClassVar = {"a.py": "from .b.x import f\nfrom .c import g", "b/x.py": "", "c.py": ""}

    def test_an_empty_table_allows_everything(self, tmp_path: Path) -> None:
        assert faults(tmp_path, PACKAGE, self.FILES, {}) == []

    def test_a_room_may_import_what_its_rule_names(self, tmp_path: Path) -> None:
        assert faults(tmp_path, PACKAGE, self.FILES, {"a": {"b", "c"}, "b": set(), "c": set()}) == []
        assert faults(tmp_path, PACKAGE, self.FILES, {"a": {ANY}, "b": set(), "c": set()}) == []

    def test_an_import_that_no_rule_allows_is_named(self, tmp_path: Path) -> None:
        assert faults(tmp_path, PACKAGE, self.FILES, {"a": {"c"}, "b": {"c"}, "c": set()}) == [
            "python/okf_catalog: a may not import b\n  a.py -> b/x.py (f)"
        ]

    def test_every_room_needs_a_rule_and_every_rule_a_room(self, tmp_path: Path) -> None:
        assert faults(tmp_path, PACKAGE, self.FILES, {"a": {"b", "c", "old"}, "b": set(), "gone": {"b"}}) == [
            "python/okf_catalog: the room c has no rule; say which rooms it may import",
            "python/okf_catalog: the rule of a names old, which is no room",
            "python/okf_catalog: the rule of gone names gone, which is no room",
        ]


class TestSizes:
    def test_a_file_may_have_500_lines(self, tmp_path: Path) -> None:
        assert faults(tmp_path, PACKAGE, {"a.py": numbered_lines(500)}) == []
        assert faults(tmp_path, PACKAGE, {"a.py": numbered_lines(501)}) == [
            "python/okf_catalog/a.py: 501 lines; a file has at most 500"
        ]

    @pytest.mark.parametrize(
        "folder", ["rust/engine/tests", "tests", "benches/rivals", "scripts", "examples"]
    )
    def test_every_folder_of_code_is_measured(self, tmp_path: Path, folder: str) -> None:
        name = "long.rs" if folder.startswith("rust") else "long.py"
        write_tree(tmp_path, {f"{folder}/{name}": "\n" * 501, f"{folder}/target/{name}": "\n" * 501})
        assert list(check_structure.faults(tmp_path, {})) == [
            f"{folder}/{name}: 501 lines; a file has at most 500"
        ]

    @pytest.mark.parametrize("start", ["def f():", "async def f():", "class C:\n  def f(self):"])
    def test_a_python_function_may_have_60_lines_with_its_docstring(self, tmp_path: Path, start: str) -> None:
        body = '   """First.\n\n   Last.\n   """\n' + "   pass\n" * 55
        assert faults(tmp_path, PACKAGE, {"a.py": f"{start}\n{body}"}) == []
        (fault,) = faults(tmp_path, PACKAGE, {"a.py": f"{start}\n{body}   pass\n"})
        assert fault.endswith(": f has 61 lines; a function has at most 60")

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            ("fn f() {", "}"),
            ("impl X { pub(crate) const fn f<A>(a: A) -> [u8; 2] where A: B {", "}}"),
            ("#[cfg(test)] mod tests { #[test] fn f() {", "}}"),
            ('fn f() { let a = \'}\'; let b = "}"; /* } */ let c = r#"}"}"#; let d = b\'}\';', "} // }"),
            ("trait T { fn short(); fn f(&'_ self) {", "}}"),
        ],
    )
    def test_a_rust_function_may_have_60_lines(self, tmp_path: Path, before: str, after: str) -> None:
        assert faults(tmp_path, CRATE, {"lib.rs": before + "\n" * 59 + after}) == []
        assert faults(
            tmp_path, CRATE, {"lib.rs": "\n\n" + before + "\n" * 60 + after + "\n" * 60 + "fn g() {}"}
        ) == ["rust/engine/src/lib.rs:3: f has 61 lines; a function has at most 60"]


def test_unfinished_rust_ends_the_reading() -> None:
    for text in (
        "fn f() { (",
        "/* /* */",
        'const X: &str = "',
        "#[cfg(test)]",
        "#[cfg(test)] pub",
        "use a::{b",
    ):
        found = tokens.tokens(text)
        assert [token.line for token in found] == [1] * len(found), text


def test_the_command_prints_faults_and_fails(tmp_path: Path) -> None:
    write_tree(tmp_path, {"python/okf_catalog/a.py": "from .b import f", "python/okf_catalog/b.py": ""})
    command = [sys.executable, str(SCRIPT), str(tmp_path)]
    passed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (passed.returncode, passed.stdout, passed.stderr) == (0, "structure: no faults\n", "")
    write_tree(tmp_path, {"python/okf_catalog/b.py": "from .a import g"})
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert failed.returncode == 1
    assert failed.stderr == (
        "python/okf_catalog: import circle between a, b\n  a.py -> b.py (f)\n  b.py -> a.py (g)\n"
    )
    assert failed.stdout == "structure: 1 fault\n"
