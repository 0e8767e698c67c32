"""`import kcli`: its names, each of which is there; and what it costs."""

from __future__ import annotations

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
