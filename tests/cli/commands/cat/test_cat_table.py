"""A table of command lines, run by kcat and by `kcli cat` against one sandbox: same bytes on stdout, same exit code.

kinds: read – stdout; sorted, group – stdout without the order over partitions; resume – the same twice in one group;
write – what stands in the topic afterwards, too; refused, nobroker – nothing on stdout, something on stderr, exit code
1; ok – exit code 0 and something on stdout (-V, -h: our own words); differs – on purpose, and in docs/kcat.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cli.commands.cat.kcat_pair import Result, Row, Scene, comparable, table

pytestmark = [
    pytest.mark.process,  # each test: kcat runs beside all of them, whatever their order
    pytest.mark.needs("kcat"),
]

ROWS = table()
DOCUMENT = Path(__file__).resolve().parents[4] / "docs" / "kcat.md"


class Both:
    """The scene, and what kcat does with every row: under way in threads while ours run."""

    def __init__(self, scene: Scene, pool: ThreadPoolExecutor, rows: list[Row]) -> None:
        self.scene = scene
        self.own = scene.create(rows)
        self.found: list[Future[Result]] = [
            pool.submit(scene.theirs, row, own) for row, own in zip(rows, scene.create(rows))
        ]


@pytest.fixture(scope="module")
def both(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with ThreadPoolExecutor(12) as pool:
        yield Both(Scene(bootstrap, tmp_path_factory.mktemp("kcat")), pool, ROWS)


def test_the_table_has_at_least_150_rows() -> None:
    compared = [row for row in ROWS if row.kind != "differs"]
    assert len({row.words + row.stdin for row in compared}) >= 150


@pytest.mark.parametrize("number", range(len(ROWS)), ids=lambda n: f"{n + 2}:{ROWS[n].kind}:{ROWS[n].words}")
def test_kcat_and_kcli_cat_do_the_same(both: Both, number: int) -> None:
    row = ROWS[number]
    ours = both.scene.ours(row, both.own[number])
    theirs = both.found[number].result(60)
    if row.kind == "differs":
        assert (ours.code, ours.out) != (theirs.code, theirs.out)
        assert f"`{row.note}`" in DOCUMENT.read_text()
    elif row.kind == "ok":
        assert (ours.code, theirs.code, bool(ours.out)) == (0, 0, bool(theirs.out))
    elif row.kind in ("refused", "nobroker"):
        assert (ours.code, ours.out) == (theirs.code, theirs.out) == (1, b""), (ours, theirs)
        assert ours.err.startswith((b"% ", b"Error: "))
        assert b"Traceback" not in ours.err
    else:
        assert comparable(row, ours) == comparable(row, theirs), (ours.err, theirs.err)
