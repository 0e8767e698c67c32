"""Iceberg by a REST catalog, that of Iceberg's own tests: made, added to, replaced, beaten by another writer, without
an answer, without credentials."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from kcli.cli.main import main
from kcli.errors import KcliError
from kcli.pipeline.jobs.lake.snapshots import EVERY, MADE, named_files
from kcli.pipeline.jobs.lake.table import COMMIT, Commit, NotCommitted
from tests.pipeline.jobs.lake.readers import by_duckdb, by_pyiceberg, strays
from tests.pipeline.jobs.lake.rest_catalog import Relay, RestCatalog
from tests.pipeline.jobs.lake.test_commits import batch, check_race, crossed, entries, known, race
from tests.pipeline.jobs.lake.test_expiry import KEPT, SHORT, stream
from tests.pipeline.jobs.test_commands import kcli as kcli

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kcli.pipeline.jobs.lake.iceberg import IcebergTable
    from tests.pipeline.topics import Topics


@pytest.fixture(scope="module")
def rest_catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestCatalog]:
    catalog = RestCatalog(tmp_path_factory.mktemp("catalog"))
    try:
        yield catalog.start()
    finally:
        catalog.stop()


@pytest.fixture
def relay(rest_catalog: RestCatalog) -> Iterator[Relay]:
    relay = Relay(rest_catalog.url)
    yield relay
    relay.close()


def table_at(url: str, name: str) -> IcebergTable:
    from kcli.pipeline.jobs.lake.catalogs import place_of
    from kcli.pipeline.jobs.lake.iceberg import IcebergTable

    return IcebergTable(name, place_of(None, url))


def made(url: str, name: str, **properties: str) -> IcebergTable:
    """A table with a column n, that is there and empty."""
    table = table_at(url, name)
    table.catalog.create_namespace_if_not_exists(table.name[:-1])
    schema = pa.schema([pa.field("n", pa.int64())])
    table.catalog.create_table(table.name, schema, properties={**MADE, **properties})
    return table


def test_an_export_makes_a_table_adds_to_it_and_replaces_it(
    kcli: Callable[..., int], topics: Topics, rest_catalog: RestCatalog, capfd: pytest.CaptureFixture[str]
) -> None:
    topic = topics.make(2)
    topics.fill(topic, [(n % 2, None, None, b"%d" % n, ()) for n in range(20)])
    into = ["--file-format", "iceberg", "--catalog", rest_catalog.url, "--select", "partition, offset"]
    line = ["export", topic, "raw.orders", *into, "--once", "--name", "rest"]
    assert kcli(*line) == 0
    topics.fill(topic, [(n % 2, None, None, b"%d" % n, ()) for n in range(10)])
    assert kcli(*line) == 0
    table = known(table_at(rest_catalog.url, "raw.orders"))
    wanted = sorted((n % 2, n // 2) for n in range(30))
    assert by_pyiceberg(table, "partition", "offset") == wanted
    assert by_duckdb(table, 'SELECT partition, "offset" FROM rows ORDER BY ALL') == wanted
    summaries = [one.summary for one in table.snapshots()]
    texts = [one.additional_properties[COMMIT] for one in summaries if one is not None]
    assert [commit.epoch for text in texts if (commit := Commit.of(text)) is not None] == [0, 1]
    assert not strays(rest_catalog.warehouse, table)
    batch = ["export", topic, "raw.orders", *into]
    assert kcli(*batch) == 2
    assert "the table raw.orders exists: --append adds to it" in capfd.readouterr().err
    assert kcli(*batch, "--overwrite", "-o", "12:") == 0
    table = known(table_at(rest_catalog.url, "raw.orders"))
    assert by_pyiceberg(table, "partition", "offset") == [(n // 3, 12 + n % 3) for n in range(6)]


def test_a_commit_after_another_writers_is_tried_again(
    rest_catalog: RestCatalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = made(rest_catalog.url, "raw.beaten")
    other = table_at(rest_catalog.url, "raw.beaten")
    crossed(table, monkeypatch, lambda: known(other).append(pa.table({"n": pa.array([7], pa.int64())})))
    table.add(entries(table, [1, 2]), "append", first := batch(0))
    assert by_pyiceberg(known(other), "n") == [(1,), (2,), (7,)]
    assert table.last("q") == first
    crossed(table, monkeypatch, lambda: other.add(entries(other, [3]), "append", batch(1)))
    with pytest.raises(NotCommitted, match="another process committed to the table with the same checkpoint"):
        table.add(entries(table, [30]), "append", batch(1))
    assert by_pyiceberg(known(other), "n") == [(1,), (2,), (3,), (7,)]


@pytest.mark.process
@pytest.mark.timeout(240)
def test_of_two_processes_exactly_one_commits_each_batch(rest_catalog: RestCatalog) -> None:
    table = made(rest_catalog.url, "raw.orders2")
    said = race("", rest_catalog.url, 15, "raw.orders2")
    check_race(known(table), said, 15)


def test_snapshots_expire_and_their_files_go(rest_catalog: RestCatalog) -> None:
    table = made(rest_catalog.url, "raw.old", **SHORT)
    stream(table, 0, 2 * EVERY)
    lake = known(table)
    assert KEPT <= len(lake.snapshots()) < KEPT + EVERY
    assert len(by_pyiceberg(lake, "n")) == 6 * EVERY
    left = {str(path) for path in (rest_catalog.warehouse / "raw/old/metadata").glob("*.avro")} - named_files(lake)
    assert len(left) <= 2


def test_a_commit_without_an_answer_may_be_in_the_table_and_the_next_run_looks(relay: Relay) -> None:
    table = made(relay.url, "raw.lost")
    relay.lost.add("/v1/namespaces/raw/tables/lost")
    with pytest.raises(KcliError, match=r"raw\.lost: the catalog did not confirm whether the rows are in") as caught:
        table.add(entries(table, [1]), "append", commit := batch(0))
    assert not isinstance(caught.value, NotCommitted), "its files may be the table's"
    assert [table.last("q"), by_pyiceberg(known(table), "n")] == [commit, [(1,)]]
    commits = [path for method, path, _ in relay.seen if method == "POST" and path in relay.lost]
    assert len(commits) == 1, "what may be in the table is not sent again"


def test_a_catalog_that_is_away_or_refuses_the_token_is_one_sentence(
    relay: Relay, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyiceberg.utils.config import Config

    line = ["pipeline", "export", "orders", "raw.orders", "-b", "127.0.0.1:1", "--dry-run", "--file-format", "iceberg"]
    assert main([*line, "--catalog", "http://127.0.0.1:1"]) == 5
    refused = "http://127.0.0.1:1: the catalog cannot be reached (Connection refused)"
    assert capsys.readouterr().err == f"kcli: {refused}\n"
    relay.wants = "hush"
    assert main([*line, "--catalog", relay.url]) == 5
    said = capsys.readouterr().err
    assert "the catalog refuses the credentials (NotAuthorizedException: no such token)" in said
    assert "PYICEBERG_CATALOG__KCLI__TOKEN" in said
    monkeypatch.setenv("PYICEBERG_CATALOG__KCLI__TOKEN", "hush")
    monkeypatch.setattr("pyiceberg.catalog._ENV_CONFIG", Config())  # as a new process reads it
    made(relay.url, "raw.token").add([], "append", batch(0))
    assert {token for _, _, token in relay.seen[1:]} == {"Bearer hush"}
