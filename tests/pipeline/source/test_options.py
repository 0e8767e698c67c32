"""Options, places, limits, ranges: nothing of Spark runs here."""

from __future__ import annotations

import json
import pickle

import pytest

from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.connection import sealed_of
from kcli.pipeline.offset_options import from_offsets, places_of, to_json
from kcli.pipeline.options import read_options, schema_of, write_options
from kcli.pipeline.sink.positions import transactional_id
from kcli.pipeline.source.limits import by_rows
from kcli.secret import Secret
from kcli.security import Sasl, Security

A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)
SOME = {"subscribe": "orders"}


def test_names_of_options_know_no_case_and_defaults_are_sparks():
    made = read_options({"Subscribe": "orders", "MAXOFFSETSPERTRIGGER": "5"}, streaming=True)
    assert (made.kind, made.what, made.max_offsets) == ("subscribe", "orders", 5)
    assert made.starting.kind == "latest"
    assert made.fail_on_data_loss
    assert made.max_delay == 900
    assert read_options(SOME, streaming=False).starting.kind == "earliest"
    assert read_options({"path": "orders"}, streaming=False).what == "orders"


def test_a_time_goes_before_times_and_those_before_offsets():
    every = {
        **SOME, "startingOffsets": "earliest", "startingOffsetsByTimestamp": '{"orders":{"0":7}}',
        "startingTimestamp": "9", "endingOffsets": "latest", "endingOffsetsByTimestamp": '{"orders":{"0":8}}',
    }  # fmt: skip
    made = read_options(every, streaming=False)
    assert (made.starting.kind, made.starting.time, made.starting.strict) == ("time", 9, True)
    assert made.ending.kind == "times"
    del every["startingTimestamp"]
    assert read_options(every, streaming=False).starting.each == ((TopicPartition("orders", 0), 7),)


def test_the_columns_follow_the_options():
    assert schema_of(SOME).startswith("`key` BINARY, `value` BINARY, `topic` STRING, `partition` INT")
    assert "headers" in schema_of({**SOME, "includeHeaders": "true"})
    typed = {**SOME, "columns": "VALUE,offset", "valueFormat": "JSON", "valueSchema": "id INT"}
    assert schema_of(typed) == "`value` STRUCT<id INT>, `offset` BIGINT"


@pytest.mark.parametrize(
    ("options", "streaming", "sentence"),
    [
        (
            {},
            False,
            "exactly one of the options subscribe, subscribePattern and assign",
        ),
        ({**SOME, "subscribePattern": "x"}, False, "subscribe and subscribePattern are set"),
        ({"subscribePattern": "("}, False, "is not a regular expression"),
        ({"assign": "[1]"}, False, "option assign [1]: expected JSON"),
        ({**SOME, "failOnDataLoss": "yes"}, False, "option failOnDataLoss must be true or false, not yes"),
        ({**SOME, "maxOffsetsPerTrigger": "-5"}, True, "option maxOffsetsPerTrigger must be a number, not -5"),
        ({**SOME, "maxBytesPerTrigger": "ten"}, True, "option maxBytesPerTrigger must be a size such as 64m, not ten"),
        ({**SOME, "maxTriggerDelay": "soon"}, True, "option maxTriggerDelay must be a duration such as 15m, not soon"),
        ({**SOME, "minOffsetsPerTrigger": "9", "maxOffsetsPerTrigger": "5"}, True, "is more than maxOffsetsPerTrigger"),
        ({**SOME, "endingOffsets": "latest"}, True, "option endingOffsets works only in batches"),
        ({**SOME, "startingOffsets": '{"orders":{"0":-1}}'}, False, "-1 (latest)"),
        ({**SOME, "startingOffsets": '{"orders":{"0":-3}}'}, True, "-3 is not an offset of orders[0]"),
        ({**SOME, "startingOffsets": '{"orders":{"0":true}}'}, True, "expected earliest, latest, or JSON"),
        ({**SOME, "startingOffsetsByTimestampStrategy": "x"}, True, "must be error or latest"),
        ({**SOME, "startingOffsetsByTimestamp": '{"orders":{"0":-1}}'}, False, "-1 is not a time of orders[0]"),
        ({**SOME, "keyFormat": "xml"}, False, "option keyFormat xml: expected one of binary, string, json, msgpack"),
        ({**SOME, "onBad": "skip"}, False, "option onBad must be fail, null or quarantine, not skip"),
        (
            {**SOME, "onBad": "quarantine"},
            False,
            "option onBad=quarantine requires the option quarantine: a folder or topic:NAME",
        ),
        ({**SOME, "quarantine": "/bad"}, False, "option quarantine requires onBad=quarantine or onBad=null"),
        ({**SOME, "columns": "key,valueError"}, False, "valueError refers to the column value, which is not read"),
        ({**SOME, "progressAddr": "here"}, False, "option progressAddr must be HOST:PORT, not here"),
    ],
)
def test_what_makes_no_sense_is_refused(options, streaming, sentence):
    with pytest.raises(UsageError) as found:
        read_options(options, streaming=streaming)
    assert sentence in str(found.value)


def test_sizes_and_durations():
    made = read_options({**SOME, "maxBytesPerTrigger": "64m", "maxTriggerDelay": "2min"}, streaming=True)
    assert (made.max_bytes, made.max_delay) == (64 << 20, 120)
    for text, seconds in {"500ms": 0.5, "7": 0.007, "3 hours": 10800, "1d": 86400, "90s": 90}.items():
        assert read_options({**SOME, "maxTriggerDelay": text}, streaming=True).max_delay == pytest.approx(seconds)


def test_offsets_have_the_shape_of_sparks_checkpoints():
    offsets = {B0: 3, A1: 2, A0: 1}
    assert json.dumps(to_json(offsets)) == '{"a": {"0": 1, "1": 2}, "b": {"0": 3}}'
    assert from_offsets(to_json(offsets)) == offsets
    assert places_of('{"a":{"0":-2,"1":5}}', "x").each == ((A0, -2), (A1, 5))


def test_a_limit_of_rows_is_shared_by_backlog_and_leaves_nobody_out():
    starts = {A0: 0, A1: 100, B0: 7}
    ends = {A0: 1000, A1: 101, B0: 7}
    limited = by_rows(starts, ends, 100)
    assert limited == {A0: 99, A1: 101, B0: 7}
    assert by_rows(starts, ends, 5000) == ends
    assert by_rows(starts, ends, 0) == {A0: 1, A1: 101, B0: 7}


def test_a_cluster_is_named_by_options_and_a_secret_is_only_in_the_pickle():
    sealed = sealed_of(
        {
            "kafka.bootstrap.servers": "one:9092,two",
            "kafka.isolation.level": "read_committed",
            "kafka.compression.type": "zstd",
            "kafka.client.id": "me",
        }
    )
    assert sealed.servers == "one:9092,two:9092"
    assert (sealed.consumer.isolation, sealed.consumer.reset) == ("read_committed", "none")
    assert (sealed.producer.compression, sealed.client.client_id) == ("zstd", "me")
    login = Security(sasl=Sasl(username="u", password=Secret("hunter2")))
    secure = sealed.replace(client=sealed.client.replace(security=login))
    assert "hunter2" not in repr(secure)
    again = pickle.loads(pickle.dumps(secure))
    assert again == secure
    assert again.client.security.sasl.password.reveal() == "hunter2"


def test_a_profile_names_the_cluster_and_an_option_goes_before_it(tmp_path, monkeypatch):
    path = tmp_path / "config.toml"
    path.write_text('[profiles.prod]\nbootstrap = "prod:1"\nread_only = true\nclient.id = "p"\nclient.rack = "r1"\n')
    monkeypatch.setenv("KCLI_CONFIG", str(path))
    sealed = sealed_of({"context": "prod", "kafka.client.id": "mine"})
    assert sealed.servers == "prod:1"
    assert (sealed.client.client_id, sealed.client.rack) == ("mine", "r1")
    assert sealed.client.guard == "read_only"
    with pytest.raises(UsageError, match="unknown profile no"):
        sealed_of({"context": "no"})


@pytest.mark.parametrize("name", ["kafka.auto.offset.reset", "kafka.enable.auto.commit", "kafka.key.deserializer"])
def test_settings_that_the_source_owns_are_refused(name):
    with pytest.raises(UsageError, match=f"option {name} is not supported"):
        sealed_of({"kafka.bootstrap.servers": "x", name: "1"})


def test_two_copies_never_have_the_same_transactional_id():
    names, topics = ("a", "a-b", "a-b-c", "a:b"), ("c", "b-c", "a-b-c-0", "b.c", "c-0")
    places = [TopicPartition(topic, number) for topic in topics for number in (0, 1, 10)]
    ids = {transactional_id(name, at) for name in names for at in places}
    assert len(ids) == len(names) * len(places)
    assert transactional_id("a-b", TopicPartition("c", 0)) != transactional_id("a", TopicPartition("b-c", 0))


def test_a_cluster_has_to_be_named(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("KCLI_PROFILE", raising=False)
    monkeypatch.delenv("KCLI_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=r"option kafka\.bootstrap\.servers is missing"):
        sealed_of({"subscribe": "x"})


def test_where_rows_go_is_an_option_or_the_path():
    assert write_options({"topic": "t"}).topic == "t"
    assert write_options({"path": "t", "checkpointLocation": "/x"}).topic == "t"
    assert write_options({"keepTimestamp": "true"}).keep_timestamp


def test_a_filter_on_times_before_1970_is_no_place_in_the_log():
    """A broker takes the times -1 and -2 for the end and the start."""
    pytest.importorskip("pyspark")
    from datetime import UTC, datetime, timedelta

    from pyspark.sql.datasource import GreaterThanOrEqual
    from pyspark.sql.types import BinaryType, StructField, StructType

    from kcli.pipeline.source.pushdown import PushingReader

    schema = StructType([StructField("value", BinaryType())])
    sealed = sealed_of({"kafka.bootstrap.servers": "h:1"})
    reader = PushingReader(read_options(SOME, streaming=False), sealed, schema)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    wanted = [GreaterThanOrEqual(("timestamp",), epoch + timedelta(milliseconds=n)) for n in (-1, 0, 5)]
    assert list(reader.pushFilters(wanted)) == wanted, "Spark looks again"
    assert reader.times == [5]


def test_options_of_sparks_source_that_do_nothing_here_are_told(capfd):
    pytest.importorskip("pyspark")
    from pyspark.sql.datasource import CaseInsensitiveDict
    from pyspark.sql.types import BinaryType, StructField, StructType

    from kcli.pipeline.data_source import KcliDataSource

    given = {
        **SOME, "kafka.bootstrap.servers": "h:1", "groupIdPrefix": "g", "fetchOffset.numRetries": "3",
        "kafka.partitioner.class": "org.example.Own", "kafka.client.id": "mine", "kafka.group.id": "readers",
    }  # fmt: skip
    KcliDataSource(CaseInsensitiveDict(given)).reader(StructType([StructField("value", BinaryType())]))
    said = capfd.readouterr().err
    for name in ("groupIdPrefix", "fetchOffset.numRetries", "partitioner.class", "kafka.group.id"):
        assert f"{name} has no effect in kcli and is ignored" in said
    assert "client.id" not in said
