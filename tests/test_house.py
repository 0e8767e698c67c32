"""The measures of the source tree (house.py)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house import (
    back_off_loops,
    circles,
    homeless_tests,
    imports,
    readme_lengths,
    retry_predicates,
    tree,
    type_lines,
    undefined_rules,
)


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


LOOP = """
async def run():
    while True:
        try:
            await step()
        except {error}:
            pass
        await {pause}
"""


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty tree with a package, a page of rules and a folder of tests."""
    for folder in ("kcli/lag", "docs", "tests/lag"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "kcli/lag/__init__.py").touch()
    (tmp_path / "docs/rules.md").write_text("| B12 | what | files | tests |\n")
    monkeypatch.chdir(tmp_path)
    tree.cache_clear()
    yield tmp_path
    tree.cache_clear()


@pytest.mark.parametrize(
    ("error", "pause", "counted"),
    [
        ("KcliError", "asyncio.sleep(1)", ["kcli/lag/loop.py:3"]),
        ("KcliError", "pauses.pause()", []),
        ("TimeoutError", "sleep(1)", []),
    ],
)
def test_a_loop_with_a_pause_of_its_own_is_counted(house: Path, error: str, pause: str, counted: list[str]) -> None:
    (house / "kcli/lag/loop.py").write_text(LOOP.format(error=error, pause=pause))
    assert back_off_loops() == counted


def test_a_second_retry_predicate_is_counted(house: Path) -> None:
    text = "class E:\n    retriable: bool = False\n\ndef may_pass(error) -> bool:\n    return True\n"
    (house / "kcli/lag/again.py").write_text(text)
    assert sorted(retry_predicates()) == ["kcli/lag/again.py:2 retriable", "kcli/lag/again.py:4 may_pass"]


def test_an_id_without_a_row_is_counted_in_comments_and_in_names_of_tests(house: Path) -> None:
    (house / "kcli/lag/a.py").write_text("x = 1  # as it was (B12, B13)\n")
    (house / "tests/lag/test_a.py").write_text("def test_B12_holds(): ...\ndef test_A1_07_holds(): ...\n")
    assert undefined_rules() == ["kcli/lag/a.py B13", "tests/lag/test_a.py A1.07"]


def test_a_readme_has_30_to_60_lines(house: Path) -> None:
    counts = []
    for count in (0, 29, 30, 60, 61):
        (house / "kcli/lag/README.md").write_text("line\n" * count)
        counts += [row.split()[1] for row in readme_lengths()]
    assert counts == ["0", "29", "61"]


def test_a_folder_of_tests_mirrors_a_folder_or_a_module(house: Path) -> None:
    (house / "kcli/lag/status.py").touch()
    for name in ("lag/status", "lag/other", "docs", "unknown"):
        folder = house / "tests" / name
        folder.mkdir(parents=True)
        (folder / "test_a.py").touch()
    assert homeless_tests() == ["tests/lag/other", "tests/unknown"]
