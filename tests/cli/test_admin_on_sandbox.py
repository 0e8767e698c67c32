"""Administration commands with the real client, end to end on the embedded broker."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from kcli.admin.topics.topics import NewTopic, create_topics
from kcli.changes import topics
from kcli.cli.main import main
from kcli.client import Client
from kcli.model import Cluster, Group
from kcli.proto.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from kcli.sandbox.thread import SandboxThread
from kcli.settings import ClientSettings, parse_bootstrap


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> Iterator[SandboxThread]:
    with SandboxThread(brokers=3, auto_create=False) as running:
        monkeypatch.setenv("KCLI_BOOTSTRAP", running.bootstrap)
        yield running


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(list(words))
    out, err = capsys.readouterr()
    return code, out, err


def test_topics_groups_lag_and_offsets(sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "topics", "create", "orders", "-p", "6", "-q")[0] == 0
    code, out, _ = run(capsys, "topics", "describe", "orders", "-J")
    assert code == 0
    assert {row["leader"] is not None for row in json.loads(out)["partitions"]} == {True}
    code, out, _ = run(capsys, "offsets", "orders", "--format", "ndjson")
    assert [json.loads(line)["end"] for line in out.splitlines()] == [0] * 6
    asyncio.run(commit(sandbox.bootstrap, "billing", "orders"))
    code, out, err = run(capsys, "lag", "billing", "--by", "partition", "-J")
    assert (code, err) == (0, "")
    assert [(row["partition"], row["lag"]) for row in json.loads(out)["partitions"]] == [(0, 0)]
    code, out, err = run(capsys, "lag", "biling")
    assert (code, err) == (1, "kcli: biling: this group does not exist; did you mean billing?\n")
    assert run(capsys, "groups", "delete", "billing", "--execute")[0] == 0
    assert run(capsys, "groups", "list") == (0, "", "")
    assert run(capsys, "topics", "delete", "orders", "--execute")[0] == 0
    assert run(capsys, "topics", "list") == (0, "", "")


UNKNOWN = "it is unknown whether it took effect; check before you repeat it"


@pytest.mark.parametrize(
    ("api", "words", "found"),
    [
        ("CreateTopics", ("topics", "create", "fresh"), ("topics", "describe", "fresh")),
        ("DeleteTopics", ("topics", "delete", "orders", "--execute"), ()),
        ("CreateAcls", ("acls", "add", "--allow", "a", "--operation", "read", "--topic", "t", "--execute"), ("acls",)),
    ],
)
def test_D22_a_change_without_an_answer_is_not_said_to_have_failed(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str], api: str, words: tuple[str, ...],
    found: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert run(capsys, "topics", "create", "orders", "-p", "2")[0] == 0
    if api == "CreateTopics":  # the first request is a check, which is repeated

        async def create(cluster: Cluster, wanted: Sequence[NewTopic], *, dry_run: bool = False) -> object:
            if not dry_run:
                sandbox.faults.wire.lose_answer(api, times=1)
            return await create_topics(cluster, wanted, dry_run=dry_run)

        monkeypatch.setattr(topics, "create_topics", create)
    else:
        sandbox.faults.wire.lose_answer(api, times=1)
    code, _, err = run(capsys, *words)
    assert code == 1
    assert UNKNOWN in err
    assert "no ACL was changed" not in err
    if found:
        assert run(capsys, *found)[1] != ""
    else:
        assert run(capsys, "topics", "describe", "orders")[0] == 1


def test_D22_what_is_only_checked_fails_when_no_answer_comes(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    sandbox.faults.wire.lose_answer("CreateTopics", times=1)
    assert run(capsys, "topics", "create", "orders")[0] == 0, "the check before it is repeated"
    sandbox.faults.wire.lose_answer("IncrementalAlterConfigs", times=1)
    code, _, err = run(capsys, "configs", "set", "topic", "orders", "retention.ms=5", "--execute", "--no-undo")
    assert (code, UNKNOWN in err) == (5, False)
    nothing = "kcli: topic orders has no overrides; --all shows effective values\n"
    assert run(capsys, "configs", "get", "topic", "orders") == (0, "", nothing)


def test_D22_a_group_that_is_gone_after_a_lost_answer_was_deleted(
    sandbox: SandboxThread, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(capsys, "topics", "create", "orders")[0] == 0
    asyncio.run(commit(sandbox.bootstrap, "billing", "orders"))
    sandbox.faults.wire.lose_answer("DeleteGroups", times=1)
    code, out, _ = run(capsys, "groups", "delete", "billing", "--execute", "--no-undo", "-J")
    assert (code, [row["result"] for row in json.loads(out)["groups"]]) == (0, ["deleted"])


async def commit(bootstrap: str, group: str, topic: str) -> None:
    """Commit offset 0 of partition 0, as a consumer without a membership does."""
    part = OffsetCommitRequestPartition(partition_index=0, committed_offset=0)
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        broker = await client.cluster.coordinator(Group(group))
        await client.cluster.refresh([topic])
        ids = client.cluster.topic_id(topic)
        row = OffsetCommitRequestTopic(name=topic, topic_id=ids, partitions=[part])
        answer = await broker.ask(OffsetCommitRequest(group_id=group, topics=[row]))
        assert answer.topics[0].partitions[0].error_code == 0
