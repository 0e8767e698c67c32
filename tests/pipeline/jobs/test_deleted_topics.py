"""Streams by a pattern, one of whose topics is deleted or created again: on the sandbox, and on a real Kafka."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

from kcli.admin.topics.topics import NewTopic, create_topics, delete_topics, wait_for_topics
from tests.pipeline.jobs.test_commands import kcli as kcli
from tests.pipeline.topics import Topics

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from kcli.client import Client
    from tests.kafka.cluster import Kafka

    Kcli = Callable[..., int]


async def delete(client: Client, topic: str) -> None:
    await delete_topics(client.cluster, [topic])
    await wait_for_topics(client.cluster, [topic], gone=True)


def scenario(kcli: Kcli, topics: Topics, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Records of two topics, then one of them is deleted, then it is created again."""
    kept, lost = topics.make(1), topics.make(1)
    topics.values(kept, 10)
    topics.values(lost, 10)
    line = ["export", f"{kept[:-1]}*", "out", "--once", "--name", "deleted"]
    assert kcli(*line) == 0
    topics.run(lambda client: delete(client, lost))
    topics.values(kept, 5, start=10)
    capfd.readouterr()
    assert kcli(*line) == 1
    err = capfd.readouterr().err
    assert f"{lost}[0] was read by this query and is not there any more: its topic was deleted" in err
    assert "--skip-lost reads on without it" in err
    assert len(rows(folder)) == 20
    assert kcli(*line, "--skip-lost") == 0
    said = f"kcli: {lost} is not there any more: it was deleted, and what was not read of it is lost (--skip-lost)\n"
    assert capfd.readouterr().err.count(said) == 1
    assert kcli(*line) == 0, "the checkpoint does not know it any more"
    assert len(rows(folder)) == 25

    async def create(client: Client) -> None:
        made = await create_topics(client.cluster, [NewTopic(topic=kept), NewTopic(topic=lost)])
        assert not isinstance(made[lost], Exception)

    topics.run(create)
    topics.values(lost, 7)
    assert kcli(*line) == 0, "a topic that is new is read from its beginning"
    assert len(rows(folder)) == 32
    topics.run(lambda client: delete(client, lost))
    topics.run(create)
    topics.values(lost, 3)
    assert kcli(*line) == 1
    assert (
        f"{lost} is not the topic that the checkpoint was written for: it was deleted and "
        "recreated" in capfd.readouterr().err
    )
    assert kcli(*line, "--skip-lost") == 0
    assert (
        f"{lost} was deleted and created again: it is read from its beginning (--skip-lost)" in capfd.readouterr().err
    )
    assert len(rows(folder)) == 35
    assert sorted(value for topic, value in rows(folder) if topic == kept) == sorted(b"%d" % n for n in range(15))


def rows(folder: Path) -> list[tuple[str, bytes]]:
    return [tuple(row.values()) for row in pq.read_table(folder / "out", columns=["topic", "value"]).to_pylist()]


def test_a_pattern_reads_on_without_a_deleted_topic(
    kcli: Kcli, topics: Topics, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scenario(kcli, topics, tmp_path, capfd)


@pytest.mark.kafka
@pytest.mark.timeout(300)
def test_a_pattern_reads_on_without_a_deleted_topic_of_a_real_kafka(
    kafka: Kafka, kcli: Kcli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KCLI_BOOTSTRAP", kafka.bootstrap)
    scenario(kcli, Topics(kafka.bootstrap, "deleted-topics"), tmp_path, capfd)
