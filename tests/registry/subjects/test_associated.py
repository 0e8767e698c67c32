"""Subjects that the registry associates with topics: Confluent's client makes the association, its serializer is the
oracle."""

from __future__ import annotations

from confluent_kafka.schema_registry import (
    AssociationCreateOrUpdateInfo,
    AssociationCreateOrUpdateRequest,
    SchemaRegistryClient,
)

from tests.cli.conftest import Shell
from tests.registry.commands import Commands
from tests.registry.subjects.conftest import stored
from tests.registry.subjects.kinds import KINDS, LINE, by_confluent

ORDER = KINDS[0].text("Order")


def associate(url: str, topic: str, **subjects: str) -> None:
    """`subjects` by "key" and "value"."""
    rows = [
        AssociationCreateOrUpdateInfo(subject=subject, association_type=part, lifecycle="WEAK", frozen=False)
        for part, subject in subjects.items()
    ]
    request = AssociationCreateOrUpdateRequest(topic, "lkc-1", f"id-of-{topic}", "topic", rows)
    with SchemaRegistryClient({"url": url}) as at:
        made = at.create_association(request)
    assert [row.subject for row in made.associations or ()] == list(subjects.values())


def test_a_file_and_topic_mean_the_associated_subject(ours: Commands, broker: Shell) -> None:
    topic, path = broker.topic(), ours.file("order.avsc", ORDER)
    number = ours.registered("theirs", path)
    associate(ours.url, topic, value="theirs")
    by = ["--schema-registry", ours.url, "--value-subject", "associated"]
    for spec in ("topic", f"file:{path}"):
        broker.ok("produce", topic, *by, "--value-schema", spec, stdin=LINE.encode())
    assert set(stored(broker, topic)) == {by_confluent(ours.url, KINDS[0], "Order", "associated", topic)}
    wider = ORDER.replace("}]}", '}, {"name": "note", "type": "string", "default": ""}]}')
    more = ["--value-schema", f"file:{ours.file('wider.avsc', wider)}", "--register"]
    broker.ok("produce", topic, *by, *more, stdin=LINE.encode())
    assert [row["version"] for row in ours.rows("versions", "theirs")] == [1, 2]
    assert [row["subject"] for row in ours.rows("list")] == ["theirs"]
    shown = broker.ok("consume", topic, "-e", *by, "-f", "%s{schema} %s{schema-id}\\n").split(b"\n")[:-1]
    assert shown == [f"theirs@1 {number}".encode()] * 2 + [f"theirs@2 {number + 1}".encode()]


def test_keys_are_associated_by_themselves_and_without_it_counts_the_topic(ours: Commands, broker: Shell) -> None:
    topic, path = broker.topic(), ours.file("order.avsc", ORDER)
    ours.registered("keys", path)
    ours.registered(f"{topic}-value", path)
    associate(ours.url, topic, key="keys")
    by = ["--schema-registry", ours.url, "--value-subject", "associated", "--key-subject", "associated"]
    spec = ["--value-schema", "topic", "--key-schema", "topic", "-K", "|"]
    broker.ok("produce", topic, *by, *spec, stdin=f"{LINE}|{LINE}".encode())
    assert (
        broker.ok("consume", topic, "-e", *by, "-f", "%k{schema} %s{schema}\\n") == f"keys@1 {topic}-value@1\n".encode()
    )


def test_an_association_that_is_gone_is_not_used(ours: Commands, broker: Shell) -> None:
    topic, path = broker.topic(), ours.file("order.avsc", ORDER)
    ours.registered("theirs", path)
    associate(ours.url, topic, value="theirs")
    with SchemaRegistryClient({"url": ours.url}) as at:
        assert [row.subject for row in at.get_associations_by_resource_name(topic, "-", "topic", ["value"])] == [
            "theirs"
        ]
        at.delete_associations(f"id-of-{topic}")
        assert at.get_associations_by_resource_name(topic, "-", "topic", ["value"]) == []
    by = ["--schema-registry", ours.url, "--value-subject", "associated"]
    done = broker("produce", topic, *by, "--value-schema", "topic", stdin=LINE.encode())
    assert done.returncode == 1
    assert f"{topic}-value" in done.stderr.decode()


def test_a_registry_that_does_not_say_what_is_associated_stores_nothing(broker: Shell) -> None:
    """A guess would be a schema under the wrong subject."""
    from tests.registry.scripted import Scripted, refusal

    topic = broker.topic()
    with Scripted(refusal(500, 50001)) as server:
        by = ["--schema-registry", server.url, "--value-subject", "associated"]
        done = broker("produce", topic, *by, "--value-schema", "topic", stdin=LINE.encode())
    assert done.returncode == 5
    assert {path.partition("?")[0] for path in server.paths()} == {f"/associations/resources/-/{topic}"}
    assert stored(broker, topic) == []
