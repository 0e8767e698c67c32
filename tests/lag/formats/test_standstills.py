"""Where groups stand still, in a file: what is written is read again, and what is not kcli's is as no file."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kcli.lag.formats import past
from kcli.lag.formats.past import Past, recall
from kcli.lag.history import History
from kcli.lag.partition_lag import NOWHERE
from kcli.model import TopicPartition
from tests.admin.tiny import Tiny

if TYPE_CHECKING:
    from kcli.lag.history import Standstills
    from kcli.lag.partition_lag import Stood

STOOD: Standstills = {
    "billing": {
        TopicPartition("orders", 0): (50, 1000.5, False, ()),
        TopicPartition("orders", 11): (7, 1000.5, True, (600.0, 590.0)),
        TopicPartition("orders", 12): (NOWHERE, 0.0, False, (600.0, 590.0)),
    },
    'a "strange" näme': {TopicPartition("t", 3): (1 << 60, 1_795_265_117.123, False, ())},
}


def test_what_is_written_is_read_again_and_only_by_this_user(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson.still"
    past.write_standstills(str(path), STOOD)
    assert past.read_standstills(str(path)) == STOOD
    past.write_standstills(str(path), {})
    assert past.read_standstills(str(path)) == {}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b"[]",
        b"\xff",
        b'{"kcli":"kcli.lag.still/2","groups":{}}',
        b'{"kcli":"kcli.lag.still/3","groups":{"g":7}}',
        b'{"kcli":"kcli.lag.still/3","groups":{"g":{"t":[[1,{"0":1}]]}}}',
        b'{"kcli":"kcli.lag.still/3","groups":{"g":{"t":[[1,false,[],{"x":1}]]}}}',
        b'{"kcli":"kcli.lag.still/3","groups":{"g":{"t":[[1,false,7,{"0":1}]]}}}',
        b'{"kcli":"kcli.lag.still/3","groups":{"g":{"t":[[1,false,[],{"0":null}]]}}}',
    ],
)
def test_a_file_that_is_damaged_is_as_none(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson.still"
    assert past.read_standstills(str(path)) is None
    path.write_bytes(data)
    assert past.read_standstills(str(path)) is None


@pytest.mark.slow
def test_ten_thousand_topics_and_a_thousand_groups_that_stand_still_fit(tmp_path: Path) -> None:
    path = str(tmp_path / "c.ndjson.still")
    many: Standstills = {
        f"group-{g}": {TopicPartition("t", p): (123_456_789, 1e9 + p % 3, False, ()) for p in range(100)}
        for g in range(1000)
    }
    past.write_standstills(path, many)
    assert len(past.read_standstills(path) or ()) == 1000
    assert os.path.getsize(path) <= past.MOST_STANDSTILLS
    places = [TopicPartition("t", p) for p in range(100)]
    more = many | {f"more-{g}": {at: (1, 1.0 + at.partition, False, ()) for at in places} for g in range(1000)}
    past.write_standstills(path, more)
    assert past.read_standstills(path) is None, "nothing old is kept, and no file grows without end"
    past.write_standstills(path, more)


def test_only_the_process_that_writes_the_history_writes_it_and_only_when_it_changes(tmp_path: Path) -> None:
    first, second = (Past("the/cluster id", folder=str(tmp_path)) for _ in range(2))
    assert first.stood() is None
    first.open(1000.0)
    second.open(1000.0)
    second.stand(STOOD)
    assert first.stood() is None
    first.stand(STOOD)
    assert second.stood() == STOOD
    os.unlink(f"{first.path}.still")
    first.stand({group: dict(some) for group, some in STOOD.items()})
    assert first.stood() is None, "nothing changed"
    first.stand({})
    assert first.stood() == {}


def test_a_watch_of_some_groups_keeps_those_of_others_and_leaves_the_file_to_a_dashboard(tmp_path: Path) -> None:
    path = tmp_path / "c.ndjson.still"
    watch, board = (Past("c", folder=str(tmp_path)) for _ in range(2))
    billing, strange = ({group: set(some)} for group, some in STOOD.items())
    watch.stand_for(billing, {"billing": STOOD["billing"]})
    watch.stand_for(strange | {"calm": {TopicPartition("t", 0)}}, {'a "strange" näme': STOOD['a "strange" näme']})
    assert past.read_standstills(str(path)) == STOOD
    watch.stand_for(billing, {})
    assert (past.read_standstills(str(path)) or {}).keys() == {'a "strange" näme'}
    board.open(1000.0)
    watch.stand_for(strange, {})
    assert (past.read_standstills(str(path)) or {}).keys() == {'a "strange" näme'}
    board.close()
    watch.stand_for(strange, {})
    assert past.read_standstills(str(path)) == {}


def test_a_watch_of_some_topics_keeps_what_is_known_of_the_others(tmp_path: Path) -> None:
    orders, mail = TopicPartition("orders", 0), TopicPartition("mail", 0)
    past = Past("c", folder=str(tmp_path))
    past.stand_for({"g": {orders, mail}}, {"g": {orders: (1, 10.0, False, ()), mail: (2, 20.0, True, ())}})
    newer: dict[TopicPartition, Stood] = {orders: (5, 50.0, False, ()), mail: (1, 5.0, False, ())}
    past.stand_for({"g": {orders}}, {"g": newer, "h": {orders: (1, 1.0, True, ())}})
    found = {"g": {orders: (5, 50.0, False, ()), mail: (2, 20.0, True, ())}}
    assert past.stood() == found, "it has not seen the others"
    past.stand_for({"g": {orders}}, {})
    assert past.stood() == {"g": {mail: (2, 20.0, True, ())}}


async def test_what_stood_still_is_recalled_without_asking_for_the_controller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    tiny, history = Tiny(brokers=1), History()
    past = await recall(tiny, history)  # type: ignore[arg-type]
    assert past is not None
    past.stand_for({"g": {TopicPartition("orders", 0)}}, {"g": {TopicPartition("orders", 0): (1, 10.0, False, ())}})
    tiny.asked.clear()
    await recall(tiny, history)  # type: ignore[arg-type]
    assert history.standstills() == past.stood()
    assert [type(request).__name__ for _, request in tiny.asked] == ["MetadataRequest"]
