"""The subject that is shown of a schema with several, and what a reader asks the registry for it."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Shell
from tests.registry.commands import Commands
from tests.registry.scripted import Asked, Scripted, Step, answer, refusal
from tests.registry.subjects.kinds import KINDS, LINE

ORDER = KINDS[0].text("Order")


def everywhere(ours: Commands, topic: str) -> None:
    """One schema under the subject of each strategy, and under another one that is registered last."""
    path = ours.file("order.avsc", ORDER)
    for subject in (f"{topic}-value", "shop.Order", f"{topic}-shop.Order", "zz"):
        ours.registered(subject, path)


@pytest.mark.parametrize(
    ("strategy", "subject"),
    [
        ("", "{topic}-value"), ("topic", "{topic}-value"), ("record", "shop.Order"), ("zz", "zz"),
        ("topic-record", "{topic}-shop.Order"), ("associated", "{topic}-value"),
    ],
)  # fmt: skip
def test_the_subject_shown_is_that_of_the_strategy(strategy: str, subject: str, ours: Commands, broker: Shell) -> None:
    topic = broker.topic()
    everywhere(ours, topic)
    by = ["--schema-registry", ours.url, *(["--value-subject", strategy] if strategy else [])]
    broker.ok("produce", topic, "--schema-registry", ours.url, "--value-schema", "topic", stdin=LINE.encode())
    wanted = subject.format(topic=topic)
    assert broker.ok("consume", topic, "-e", *by, "-f", "%s{schema}\\n") == f"{wanted}@1\n".encode()
    envelope = json.loads(broker.ok("tail", topic, "-e", "-n", "1", *by, "-J", "--decoded"))
    assert (envelope["value_schema"]["subject"], envelope["value_schema"]["version"]) == (wanted, 1)
    given = ["-X", f"value.subject.name.strategy={strategy}"] if strategy not in ("", "zz") else by[2:]
    assert broker.ok("consume", topic, "-e", *by[:2], *given, "-f", "%s{schema}\\n") == f"{wanted}@1\n".encode()


def test_records_are_decoded_by_their_id_whatever_the_strategy(broker: Shell) -> None:
    """No subject goes with an id, and none is made of a strategy until it is shown."""
    topic = broker.topic()

    def route(asked: Asked) -> Step:
        return answer({"schema": ORDER}) if asked.path == "/schemas/ids/7" else refusal(404, 40403)

    broker.ok("produce", topic, "--whole", stdin=b"\0\0\0\0\7\x0e")
    for strategy in ("topic", "record", "topic-record", "associated", "name"):
        for command in ("consume", "tail", "count"):
            with Scripted() as server:
                server.route = route
                by = ["--schema-registry", server.url, "--value-subject", strategy]
                where = ["--where", "value.id == 7"]
                out = broker.ok(command, topic, *where, *by, *([] if command == "count" else ["-e"]))
                assert out.strip() in (b'{"id":7}', b"1")
                assert server.paths() == ["/schemas/ids/7"]


def test_an_association_that_is_not_answered_only_loses_the_subject(broker: Shell) -> None:
    topic = broker.topic()

    def route(asked: Asked) -> Step:
        if asked.path.startswith("/associations"):
            return refusal(403, 40301)
        uses = [{"subject": "a", "version": 3}]
        return answer(uses if asked.path.startswith("/schemas/ids/7/versions") else {"schema": ORDER})

    broker.ok("produce", topic, "--whole", stdin=b"\0\0\0\0\7\x0e")
    with Scripted() as server:
        server.route = route
        by = ["--schema-registry", server.url, "--value-subject", "associated"]
        assert broker.ok("consume", topic, "-e", *by, "-f", "%s{schema} %s\\n") == b'a@3 {"id":7}\n'


def test_encode_has_no_topic(ours: Commands) -> None:
    for spec in ("topic", "topic@2", "topic#shop.Order"):
        done = ours.run("encode", ours.file("one", LINE), "--value-schema", spec, code=2)
        assert "a payload has no topic; give the SUBJECT" in done.err
