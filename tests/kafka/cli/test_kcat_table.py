"""A part of the table of tests/cli, run by kcat and by `kcli cat` against a real Apache Kafka, and rows of its own."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from tests.cli.commands.cat.kcat_pair import Result, Row, Scene, comparable, table
from tests.kafka.cluster import Kafka

pytestmark = pytest.mark.needs("kcat")

OF_ITS_OWN = [
    Row("read", "-L -t no-such-topic", "", ""),
    Row("read", "-L -J -t no-such-topic", "", ""),
    Row("read", "-L -t 'bad name'", "", ""),
    Row("refused", "-C -t no-such-topic -e", "", ""),
    Row("refused", "-Q -t no-such-topic:0:1", "", ""),
    Row("refused", "-G {group} no-such-topic -e", "", ""),
    Row("refused", "-G {group} {mixed} no-such-topic -e", "", ""),
]
COMPARED = [row for row in table() if row.kind in ("read", "sorted", "write", "write3", "group", "resume")]
ROWS = [row for n, row in enumerate(COMPARED) if n % 4 == 0 or row.kind in ("group", "resume", "write3")] + OF_ITS_OWN


class Both:
    """The scene, and what kcat does with every row: under way in threads while ours run."""

    def __init__(self, scene: Scene, pool: ThreadPoolExecutor) -> None:
        self.scene = scene
        self.own = scene.create(ROWS)
        theirs = scene.create(ROWS)
        self.found: list[Future[Result]] = [pool.submit(scene.theirs, *both) for both in zip(ROWS, theirs)]


@pytest.fixture(scope="module")
def both(kafka: Kafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with ThreadPoolExecutor(4) as pool:
        yield Both(Scene(kafka.bootstrap, tmp_path_factory.mktemp("kcat")), pool)


@pytest.mark.parametrize("number", range(len(ROWS)), ids=lambda n: f"{ROWS[n].kind}:{ROWS[n].words}")
def test_kcat_and_kcli_cat_do_the_same_on_a_real_kafka(both: Both, number: int) -> None:
    row = ROWS[number]
    ours = both.scene.ours(row, both.own[number])
    theirs = both.found[number].result(100)
    if row.kind == "refused":
        assert (ours.code, ours.out) == (theirs.code, theirs.out) == (1, b"")
        assert ours.err.startswith(b"% ERROR: ")
    else:
        assert comparable(row, ours) == comparable(row, theirs), (ours.err, theirs.err)
