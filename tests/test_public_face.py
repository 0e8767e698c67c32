"""`import kcli`: its names, each of which is there; and what it costs."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
import subprocess
import sys

import pytest

import kcli

PINNED = """
Aborted Address Admin AuthError BatchOutcome Bound Broker BrokerError BufferFull Client ClientMetrics ClientSettings
Closed Cluster ConnectError Consumer ConsumerMetrics ConsumerSettings DeadlineExceeded DecodeError EncodeError Fetched
GroupLag GroupMetadata GroupSettings Histogram Hooks KcliError Message NetworkBroker NewTopic OAuth OffsetAndMetadata
Operation Producer ProducerMetrics ProducerSettings Record RecordMetadata RequestMetrics Resource Results Sandbox
SandboxSettings SandboxThread Sasl Secret Security ShareConsumer ShareSettings SyncClient SyncConsumer SyncProducer
SyncWorkers Tls TopicPartition UnknownOutcome UnsupportedVersion UsageError Workers __version__ api_name
parse_bootstrap
""".split()
"""A name that programs use stays. A new one is added here."""


def test_the_names_are_those_that_were_promised() -> None:
    assert sorted(kcli.__all__) == sorted(PINNED)
    assert set(PINNED) <= set(dir(kcli))


@pytest.mark.parametrize("name", PINNED)
def test_each_name_is_what_it_says(name: str) -> None:
    value = getattr(kcli, name)
    assert getattr(value, "__name__", name) == name


@pytest.mark.parametrize(
    ("name", "signature", "about"),
    [
        ("NewTopic", "(*, topic: 'str' = '', partitions: 'int' = -1,", "A topic to create"),
        (
            "Message",
            "(topic: 'str', partition: 'int', offset: 'int', timestamp: 'int', key: 'Any',",
            "`timestamp` is in",
        ),
        ("Bound", "(kind: 'str', value: 'int' = 0)", "relative (N before the end)"),
        ("OffsetAndMetadata", "(offset: 'int' = -1, leader_epoch: 'int' = -1, metadata: 'str' = '')", "A committed"),
    ],
)
def test_help_shows_fields_types_defaults_and_what_they_mean(name: str, signature: str, about: str) -> None:
    value = getattr(kcli, name)
    assert str(inspect.signature(value)).startswith(signature)
    assert about in pydoc.render_doc(value)


def test_public_tuples_are_tuples_that_can_be_copied_and_pickled() -> None:
    at = kcli.TopicPartition("t", 1)
    assert pickle.loads(pickle.dumps(at)) == copy.copy(at) == ("t", 1)
    assert (at._replace(partition=2), repr(at)) == (("t", 2), "TopicPartition(topic='t', partition=1)")


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'kcli' has no attribute 'Clint'"):
        _ = kcli.Clint  # type: ignore[attr-defined]


@pytest.mark.process
def test_the_import_by_itself_imports_nothing() -> None:
    code = "import sys; before = set(sys.modules); import kcli; print(*(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(done.stdout.split()) == {"kcli", "kcli.version"}


@pytest.mark.process
def test_a_star_import_has_all() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from kcli import *; print(SyncClient.__name__, KcliError.__name__)"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == "SyncClient KcliError\n", done.stderr
