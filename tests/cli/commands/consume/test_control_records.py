"""`consume --print-control-records`: markers beside the records they are about."""

from __future__ import annotations

import json

from tests.cli.conftest import Shell


def test_E14_markers_are_printed_on_request_and_only_then(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, "--transactional-id", topic, "--batch", "2", stdin=b"a\nb\nc\n")
    assert kcli.ok("consume", topic, "-e") == b"a\nb\nc\n"
    assert kcli.ok("consume", topic, "-e", "-o", "2:3") == b""
    got = [json.loads(line) for line in kcli.ok("consume", topic, "-e", "-J", "--print-control-records").splitlines()]
    assert [(one["offset"], one["key"]) for one in got] == [
        (0, None),
        (1, None),
        (2, "COMMIT"),
        (3, None),
        (4, "COMMIT"),
    ]
    said = got[2]["value"]
    assert said["type"] == "COMMIT"
    assert said.keys() >= {"producer_id", "producer_epoch", "coordinator_epoch"}
    assert kcli.ok("consume", topic, "-e", "-f", "%k\\n", "--print-control-records", "--header", "__control") == (
        b"COMMIT\nCOMMIT\n"
    )
    only = kcli.ok("consume", topic, "-e", "-f", "%o %k\\n", "--print-control-records", "--isolation", "read_committed")
    assert only == b"0 \n1 \n2 COMMIT\n3 \n4 COMMIT\n"
    assert kcli.ok("consume", topic, "-n", "3", "-f", "%o\\n", "--print-control-records") == b"0\n1\n2\n"


def test_E14_a_group_that_prints_markers_goes_on_behind_them(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, "--transactional-id", topic, stdin=b"a\n")
    words = ["consume", topic, "-g", topic, "--from-beginning", "-e", "-f", "%o\\n", "--print-control-records"]
    assert kcli.ok(*words) == b"0\n1\n"
    assert kcli.ok(*words) == b""
