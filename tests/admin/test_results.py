"""What methods of `Admin` return: a value or an error for each item, of one type everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import kcli

if TYPE_CHECKING:
    from kcli.sandbox.thread import SandboxThread


def test_a_program_that_checks_stops_at_the_first_error_and_hears_of_the_others(sandbox: SandboxThread) -> None:
    with kcli.SyncClient(sandbox.bootstrap) as kafka:
        kafka.admin.create_topics([kcli.NewTopic(topic="a"), kcli.NewTopic(topic="b")]).check()
        again = kafka.admin.create_topics([kcli.NewTopic(topic=name) for name in "abc"])
        assert set(again) == {"a", "b", "c"}
        assert set(again.errors) == {"a", "b"}
        with pytest.raises(kcli.BrokerError, match="a") as raised:
            again.check()
        assert raised.value.code.name == "TOPIC_ALREADY_EXISTS"
        assert len(raised.value.__notes__) == 1


def test_every_change_answers_with_results(sandbox: SandboxThread) -> None:
    at = kcli.TopicPartition("a", 0)
    with kcli.SyncClient(sandbox.bootstrap) as kafka:
        admin, resource = kafka.admin, kcli.Resource("topic", "a")
        found = [
            admin.create_topics([kcli.NewTopic(topic="a")]), admin.create_partitions({"a": 3}),
            admin.alter_configs({resource: [kcli.Operation(name="retention.ms", value="1000")]}),
            admin.describe_configs([resource]), admin.list_offsets({at: -1}), admin.delete_records({at: 0}),
            admin.commit("g", {at: 0}), admin.committed(["g"]), admin.describe_groups(["g"]),
            admin.delete_commits("g", [at]), admin.delete_groups(["g"]), admin.topics(["a"]),
            admin.delete_topics(["a"]),
        ]  # fmt: skip
    for one in found:
        assert type(one) is kcli.Results
        assert len(one.check()) == 1
        assert None not in one.values()
