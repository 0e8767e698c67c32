"""The measures of the source tree (house.py)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.house import circles, imports, type_lines


def test_a_circle_is_found_and_a_chain_is_none() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": set[str](), "f": {"f", "outside"}}
    assert [sorted(circle) for circle in circles(graph)] == [["a", "b", "c"]]


def test_imports_in_functions_and_for_types_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kcli").mkdir()
    (tmp_path / "kcli/a.py").write_text("TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from kcli.b import Thing\n")
    (tmp_path / "kcli/b.py").write_text("def run():\n    from kcli import a\n")
    assert imports.__wrapped__() == {"kcli.a": {"kcli.b"}, "kcli.b": {"kcli.a"}}


def test_blocks_for_types_are_no_source_lines() -> None:
    assert type_lines(ast.parse("import a\nif TYPE_CHECKING:\n    import b\n    import c\nx = 1\n")) == {2, 3, 4}
