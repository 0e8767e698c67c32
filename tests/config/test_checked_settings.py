"""Settings refuse a wrong value where it is given, by name, with what they take."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kcli
from kcli.settings import CODECS, PARTITIONERS
from kcli.text.checked import LONGEST, REFUSED
from tests.each import each
from tests.effort import tries

KINDS = (kcli.ClientSettings, kcli.ProducerSettings, kcli.ConsumerSettings, kcli.GroupSettings, kcli.ShareSettings)
FIELDS = [(kind, f) for kind in KINDS for f in kind.__fields__]
TEXTS = {
    "isolation": ("read_uncommitted", "read_committed"),
    "reset": ("earliest", "latest", "none"),
    "protocol": ("classic", "consumer"),
    "guard": ("", "read_only", "protected"),
    "compression": CODECS,
    "partitioner": PARTITIONERS,
    "acks": ("all", "-1", "0", "1"),
}
"""Settings that take only some words."""


class Thing:
    """A value that no setting takes."""


things = st.one_of(
    st.builds(Thing),
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-2, 10),
    st.floats(),
    st.text(max_size=8),
    st.binary(max_size=8),
    st.sampled_from([word for words in TEXTS.values() for word in words]),
    st.lists(st.one_of(st.text(max_size=3), st.integers(), st.none()), max_size=3),
    st.lists(st.text(max_size=3), max_size=3).map(tuple),
    st.tuples(st.tuples(st.text(max_size=3), st.integers())),
    st.just({}),
)


def takes(name: str, annotation: str, value: Any) -> bool:
    """Whether the annotation allows a value of this type, and the words allow this text."""
    if value is None:
        return "None" in annotation
    if isinstance(value, str):
        return name == "acks" or ("str" in annotation and value.lower() in TEXTS.get(name, (value.lower(),)))
    if isinstance(value, bool):
        return annotation.startswith("bool")
    if isinstance(value, int):
        return annotation.startswith(("int", "float"))
    if isinstance(value, float):
        return annotation == "float" and 0 <= value <= LONGEST
    return isinstance(value, tuple | list) and annotation.startswith("tuple")


@settings(max_examples=tries(600))
@given(st.sampled_from(FIELDS), things)
def test_a_wrong_value_is_a_usage_error_that_names_the_setting(field: Any, value: Any) -> None:
    kind, f = field
    if f.extra.take(value) is REFUSED:
        for give in (kind, kind().replace):
            with pytest.raises(kcli.UsageError, match=rf"^{f.name} .*expected "):
                give(**{f.name: value})
        return
    assert takes(f.name, f.annotation, value), (f.name, value)
    try:
        made = kind(**{f.name: value})
    except kcli.UsageError as problem:  # it contradicts the default of another setting
        text = str(problem)
        assert f.name in text, text
        return
    assert made.replace(**{f.name: value}) == made == kind().replace(**{f.name: value})


def test_every_setting_has_a_kind_that_takes_its_default() -> None:
    for _, f in FIELDS:
        assert f.extra is not None, f.name
        if f.name != "group":  # "" is no group's name: a consumer may be made without a group
            assert f.extra.take(f.default) == f.default, f.name


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    (kcli.ConsumerSettings, {"isolation": "commited"}, "isolation 'commited': expected read_uncommitted or read_comm"),
    (kcli.ConsumerSettings, {"isolation": "commited"}, "did you mean read_committed"),
    (kcli.ConsumerSettings, {"reset": "earlist"}, "reset 'earlist': expected earliest, latest or none; did you mean e"),
    (kcli.ConsumerSettings, {"reset": "smallest"}, "reset 'smallest': expected earliest, latest or none"),
    (kcli.ConsumerSettings, {"fetch_min_bytes": -1}, "fetch_min_bytes -1: expected a whole number, 0 or more"),
    (kcli.ConsumerSettings, {"partition_max_bytes": 2**31}, "partition_max_bytes 2147483648: expected a whole number"),
    (kcli.ConsumerSettings, {"check_crcs": 1}, "check_crcs 1: expected True or False"),
    (kcli.GroupSettings, {"protocol": "next"}, "protocol 'next': expected classic or consumer"),
    (kcli.GroupSettings, {"protocol": "clasic"}, "did you mean classic"),
    (kcli.GroupSettings, {"group": ""}, "group '': expected the name of a group"),
    (kcli.GroupSettings, {"group": None}, "group None: expected the name of a group"),
    (kcli.GroupSettings, {"assignors": "range"}, "assignors 'range': expected a tuple of range, roundrobin, sticky or"),
    (kcli.GroupSettings, {"assignors": ("rang",)}, "did you mean range"),
    (kcli.GroupSettings, {"assignors": ()}, r"assignors \(\): expected a tuple of"),
    (kcli.GroupSettings, {"heartbeat_interval": 45}, "heartbeat_interval 45: expected less than session_timeout, 45 s"),
    (kcli.GroupSettings, {"session_timeout": 2}, "heartbeat_interval 3: expected less than session_timeout, 2 s"),
    (kcli.GroupSettings, {"remote_assignor": "range"}, "remote_assignor needs protocol='consumer'"),
    (kcli.GroupSettings, {"protocol": "consumer", "session_timeout": 6}, "session_timeout .* cannot be used with"),
    (kcli.ProducerSettings, {"acks": 2}, "acks 2: expected 'all' or -1, 1 or 0"),
    (kcli.ProducerSettings, {"acks": "al"}, "acks 'al': .*did you mean all"),
    (kcli.ProducerSettings, {"acks": 1}, "acks 1: an idempotent producer needs acks=all; set idempotence=False"),
    (kcli.ProducerSettings, {"max_in_flight": 6}, "max_in_flight 6: an idempotent producer has at most 5"),
    (kcli.ProducerSettings, {"max_in_flight": 0}, "max_in_flight 0: expected a whole number, 1 or more"),
    (
        kcli.ProducerSettings,
        {"transactional_id": ""},
        "transactional_id '': expected a text that is not empty",
    ),
    (kcli.ProducerSettings, {"transactional_id": "x", "idempotence": False}, "transactional_id needs idempotence=True"),
    (kcli.ProducerSettings, {"linger": math.nan}, "linger nan: expected a number of seconds, 0 or more"),
    (kcli.ProducerSettings, {"linger": math.inf}, "linger inf: expected a number of seconds"),
    (kcli.ProducerSettings, {"linger": "5"}, "linger '5': expected a number of seconds"),
    (kcli.ProducerSettings, {"delivery_timeout": 20}, r"delivery_timeout 20: .*linger \+ request_timeout, 30.005 s"),
    (
        kcli.ProducerSettings,
        {"compression": "brotli"},
        "compression 'brotli': expected none, gzip, snappy, lz4 or",
    ),
    (kcli.ProducerSettings, {"compression": "gzip", "compression_level": 10}, "compression_level 10: gzip has levels"),
    (kcli.ProducerSettings, {"partitioner": "murmur"}, "partitioner 'murmur': .*or a function; did you mean murmur2"),
    (kcli.ClientSettings, {"bootstrap": "localhost:9092"}, "bootstrap of type str: expected addresses, as parse_boot"),
    (kcli.ClientSettings, {"security": "user:secret"}, "security of type str: expected a kcli.Security, or None"),
    (kcli.ClientSettings, {"guard": "readonly"}, "guard 'readonly': expected read_only or protected; did you mean"),
    (kcli.ClientSettings, {"request_timeout": 0}, "request_timeout 0: expected a number of seconds, more than 0"),
    (kcli.ClientSettings, {"client_id": "\ud800"}, "client_id .*: expected a text"),
    (kcli.ShareSettings, {"max_records": 0}, "max_records 0: expected a whole number, 1 or more"),
]


@each(("kind", "values", "says"), WRONG)
def test_the_error_says_what_is_expected(kind: Any, values: dict[str, Any], says: str) -> None:
    with pytest.raises(kcli.UsageError, match=says) as caught:
        kind(**values)
    assert "secret" not in str(caught.value)
    with pytest.raises(kcli.UsageError, match=says):
        kind().replace(**values)


def test_an_unknown_setting_is_named_with_the_nearest_one() -> None:
    with pytest.raises(TypeError, match="ProducerSettings has no setting 'bacth_size'; did you mean batch_size"):
        kcli.ProducerSettings(bacth_size=5)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="GroupSettings has no setting 'session'"):
        kcli.GroupSettings().replace(session=5)


def test_words_are_taken_in_any_case_and_in_kafkas_spelling() -> None:
    assert kcli.ProducerSettings(acks="ALL") == kcli.ProducerSettings(acks=-1)  # type: ignore[arg-type]
    assert kcli.ProducerSettings(acks="0", idempotence=False).acks == 0  # type: ignore[arg-type]
    assert kcli.ProducerSettings(compression="ZSTD").compression == "zstd"
    assert kcli.ConsumerSettings(isolation="READ_COMMITTED", reset="Latest").isolation == "read_committed"
    assert kcli.GroupSettings(protocol="CONSUMER").protocol == "consumer"
    java = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
    assert kcli.GroupSettings(assignors=[java, "RANGE"]).assignors == ("cooperative-sticky", "range")  # type: ignore[arg-type]
    assert kcli.ClientSettings(bootstrap=[("localhost", 9092)]).bootstrap == kcli.parse_bootstrap("localhost:9092")  # type: ignore[arg-type]


def test_settings_are_compared_hashed_shown_and_kept() -> None:
    one = kcli.GroupSettings(group="g")
    assert one == kcli.GroupSettings(group="g") != kcli.GroupSettings(group="h")
    assert hash(one) == hash(kcli.GroupSettings(group="g"))
    assert repr(one).startswith("GroupSettings(group='g', protocol='classic'")
    with pytest.raises(AttributeError, match=r"use replace\(group=...\)"):
        one.group = "h"


PLACES: list[tuple[Any, str]] = [
    (-5, "-5: expected a whole number, 0 or more"),
    ("5", "'5': expected an offset or a Bound"),
    (True, "True: expected an offset or a Bound"),
    (kcli.Bound("ofset", 3), "of kind 'ofset': expected .*did you mean offset"),
    (kcli.Bound("offset", -3), "-3: expected a whole number, 0 or more"),
]


@each(("place", "says"), PLACES)
async def test_a_place_in_a_partition_is_checked(place: Any, says: str) -> None:
    at = kcli.TopicPartition("t", 0)
    async with kcli.Client("localhost:1") as client, client.consumer() as consumer:
        consumer.assign({at: 0})
        with pytest.raises(kcli.UsageError, match=f"seek: offset {says}"):
            consumer.seek(at, place)
        with pytest.raises(kcli.UsageError, match=f"start of t partition 0 {says}"):
            consumer.assign({at: place})
        with pytest.raises(kcli.UsageError, match=f"start of t partition 1 {says}"):
            consumer.incremental_assign({kcli.TopicPartition("t", 1): place})
        if not isinstance(place, kcli.Bound):
            with pytest.raises(kcli.UsageError, match=f"end of t partition 0 {says}"):
                consumer.stop_at({at: place})
        for wrong in ("t", 5, ("t", "0")):
            with pytest.raises(kcli.UsageError, match="is not a partition: expected a TopicPartition"):
                consumer.seek(wrong, 0)  # type: ignore[arg-type]
        assert consumer.assignment == {at}


async def test_a_commit_checks_its_offsets() -> None:
    at = kcli.TopicPartition("t", 0)
    async with kcli.Client("localhost:1") as client:
        async with client.consumer(group=kcli.GroupSettings(group="g", auto_commit=False)) as consumer:
            for offset in (-1, "3", True, kcli.OffsetAndMetadata(-7)):
                with pytest.raises(kcli.UsageError, match=r"commit of t partition 0 .*: expected"):
                    await consumer.commit({at: offset})  # type: ignore[dict-item]


async def test_an_address_that_is_none_is_a_usage_error() -> None:
    with pytest.raises(kcli.UsageError, match=r"bootstrap: one:port has no valid port \(1-65535\)"):
        kcli.Client("one:port")
    async with kcli.Client("localhost:1") as client:
        with pytest.raises(kcli.UsageError, match="group: expected the name of a group"):
            client.consumer(group=kcli.GroupSettings())


async def test_settings_of_another_kind_are_refused() -> None:
    group: Any = kcli.GroupSettings(group="g")
    with pytest.raises(kcli.UsageError, match="settings of type GroupSettings: expected ClientSettings"):
        kcli.Client(group)
    async with kcli.Client("localhost:1") as client:
        with pytest.raises(kcli.UsageError, match="settings of type GroupSettings: expected ProducerSettings"):
            client.producer(group)
        with pytest.raises(kcli.UsageError, match="settings of type GroupSettings: expected ConsumerSettings"):
            client.consumer(settings=group)
        with pytest.raises(kcli.UsageError, match="group of type ConsumerSettings: expected GroupSettings"):
            client.consumer(group=kcli.ConsumerSettings())  # type: ignore[arg-type]
