"""Ranges, filters, rows and errors, each by itself."""

from __future__ import annotations

import os
import socket
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from kcli.errors import UsageError
from kcli.model import TopicPartition
from kcli.pipeline.errors import told
from kcli.pipeline.session import archive, gateway, session
from kcli.pipeline.session.gateway import (
    SparkFailed,
    command_of,
    log_file,
    prune,
    python_of,
    reached_by,
    spark_home,
    start,
)
from kcli.pipeline.session.java import Java, find_java
from kcli.pipeline.session.session import SessionSettings, conf_of

pytest.importorskip("pyspark", reason="pip install 'kcli-kafka[spark]'")

import pyarrow as pa

from kcli.pipeline.formats.arrow import micros, text
from kcli.pipeline.formats.formats import converter, fitting
from kcli.pipeline.formats.json_cell import Notes
from kcli.pipeline.options import WriteOptions
from kcli.pipeline.progress import Listener, Reporter
from kcli.pipeline.sink.rows import lines_of, sends_of, spans_of
from kcli.pipeline.source.ranges import NOTHING, ranges_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)


def spans(ranges):
    return [(one.partition, one.start, one.end) for one in ranges]


def test_ranges_cover_everything_once_however_they_are_cut():
    starts, ends = {A0: 5, A1: 0}, {A0: 100_005, A1: 50_000}
    assert spans(ranges_of(starts, ends)) == [(0, 5, 100_005), (1, 0, 50_000)]
    for least, most in ((3, 0), (10, 0), (0, 7_000), (6, 40_000)):
        made = ranges_of(starts, ends, least=least, most=most)
        assert len(made) >= least
        assert not most or max(map(len, made)) <= most
        for at in (A0, A1):
            own = [(one.start, one.end) for one in made if one.at == at]
            assert own[0][0] == starts[at]
            assert own[-1][1] == ends[at]
            assert all(left[1] == right[0] for left, right in pairwise(own))
    assert ranges_of({A0: 5}, {A0: 5}) == [NOTHING]
    assert ranges_of({A0: 9}, {A0: 5}) == [NOTHING]


def test_rows_of_arrow_are_a_chunk_and_where_each_stands():
    whole = pa.record_batch(
        [pa.array([b"x", b"k1", None, b""], pa.binary()), pa.array(["no", "v1", "", None])], names=["key", "value"]
    )
    chunk, lines = lines_of(whole.slice(1))
    places = zip(lines.key_starts, lines.key_lengths, lines.value_starts, lines.value_lengths, strict=True)
    rows = [
        (
            None if kn < 0 else bytes(chunk[k : k + kn]),
            None if vn < 0 else bytes(chunk[v : v + vn]),
        )
        for k, kn, v, vn in places
    ]
    assert rows == [(b"k1", b"v1"), (None, b""), (b"", None)]
    data, starts, lengths = spans_of(pa.array([b"abc", None, b"d"], pa.large_binary()))
    assert (bytes(data), list(starts), list(lengths)) == (b"abcd", [0, 3, 3], [3, -1, 1])


@pytest.mark.parametrize("header", [None, {"key": None, "value": b"x"}])
def test_a_header_without_a_name_is_told(header):
    kind = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    batch = pa.record_batch({"value": pa.array([b"v"], pa.binary()), "headers": pa.array([[header]], kind)})
    with pytest.raises(UsageError, match="a header whose key is null"):
        list(sends_of(batch, WriteOptions(topic="t")))


def test_times_too_far_out_are_the_farthest_there_are():
    times = pa.array([1, -1, 2**62], pa.timestamp("ms", "UTC"))
    assert micros(times).cast(pa.int64()).to_pylist() == [1000, -1000, (2**63 // 1000 - 1) * 1000]


def test_text_that_is_no_utf8_is_shown_like_in_java():
    assert text(pa.array([b"a", None, b"\xff"], pa.binary())).to_pylist() == ["a", None, "\ufffd"]


def test_json_by_the_batch_and_by_the_record_are_the_same():
    kind = pa.struct([("id", pa.int64()), ("when", pa.timestamp("us", "UTC")), ("tags", pa.list_(pa.string()))])
    cells = [b'{"id":1,"when":"2024-01-02T03:04:05Z","tags":["a","b"],"x":{}}', b'{"id":null}', b"{}"]
    at_once, _ = converter("json", kind)(pa.array(cells, pa.binary()))
    one_by_one, _ = converter("json", kind)(pa.array([*cells, None], pa.binary()))
    assert at_once.type == one_by_one.type == kind
    assert at_once.to_pylist() == one_by_one.to_pylist()[:3]
    assert one_by_one.to_pylist()[3] is None
    assert at_once.to_pylist()[0]["tags"] == ["a", "b"]


def test_msgpack_becomes_typed_columns_or_says_what_to_install():
    kind = pa.struct([("id", pa.int64())])
    try:
        from msgpack import packb
    except ImportError:
        with pytest.raises(UsageError, match="pip install msgpack"):
            converter("msgpack", kind)
    else:
        read = converter("msgpack", kind)
        cells = [packb({"id": 3, "more": 1}), b"\xc1", packb([1]), packb({"id": 2.5})]
        made, errors = read(pa.array(cells, pa.binary()))
        assert made.to_pylist() == [{"id": 3}, None, None, {"id": None}]
        assert errors == {1: "not msgpack", 2: "not a msgpack map", 3: "2.5 is not int64"}


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (pa.string(), "\ud800 half a pair", "? half a pair"),
        (pa.string(), {"\ud800": 1}, '{"?":1}'),
        (pa.string(), {"a": b"bytes inside"}, None),
        (pa.string(), {b"k": 1}, None),
        (pa.timestamp("us", "UTC"), float("nan"), None),
        (pa.timestamp("us", "UTC"), "\ud800", None),
        (pa.duration("us"), "x", None),
        (pa.int64(), 2.5, None),  # a fraction is not cut off
        (pa.int64(), 2.0, None),
        (pa.map_(pa.string(), pa.int32()), {1: 2, "a": 3}, [("1", 2), ("a", 3)]),
        (pa.map_(pa.int32(), pa.string()), {"a": "b", 7: "c"}, [(7, "c")]),
    ],
)
def test_a_cell_that_fits_badly_becomes_null_and_ends_no_task(kind, value, read):
    notes = Notes()
    assert pa.array([fitting(value, kind, notes)], kind).to_pylist() == [read]
    assert bool(notes) == (read is None or read == [(7, "c")])


def test_a_record_that_cannot_be_read_is_null_among_the_others():
    kind = pa.struct([("a", pa.string())])
    cells = [b'{"a":"\\ud800"}', b'{"a":1}', b"[1]", b"{"]
    made, errors = converter("json", kind)(pa.array(cells, pa.binary()))
    assert made.to_pylist() == [{"a": "?"}, {"a": "1"}, {"a": None}, {"a": None}]
    assert set(errors) == {2, 3}
    msgpack = pytest.importorskip("msgpack")
    read = converter("msgpack", kind)
    keyed_by_a_list = b"\x81\x90\x01"
    cells = [keyed_by_a_list, msgpack.packb({"a": "x"})]
    made, errors = read(pa.array(cells, pa.binary()))
    assert (made.to_pylist(), errors) == ([None, {"a": "x"}], {0: "not msgpack"})


@pytest.mark.parametrize("quote", [b'"', b"'"])
@pytest.mark.parametrize("depth", [600, 900, 5000])
def test_a_record_that_is_nested_deep_ends_no_task(quote: bytes, depth: int) -> None:
    kind = pa.struct([("id", pa.int64()), ("text", pa.string())])
    deep = b"[" * depth + b"]" * depth
    cells = [b"{%bid%b:%b}" % (quote, quote, deep), b"{%btext%b:%b}" % (quote, quote, deep), b'{"id":1}']
    decode = converter("json", kind)
    assert decode is not None
    made, errors = decode(pa.array(cells, pa.binary()))
    bad, text, good = made.to_pylist()
    assert (bad, good) == ({"id": None, "text": None}, {"id": 1, "text": None})
    assert 0 in errors
    if 1 in errors:
        assert (errors[1], text["text"]) == ("a JSON object that is nested too deep", None)
    else:
        assert text["text"] == deep.decode()
    assert 1 in errors or depth < 1000 or sys.version_info >= (3, 14)  # which has no fixed limit for C code


@pytest.mark.parametrize("name", [b"id", b"tx"])
def test_a_msgpack_record_that_is_nested_deep_ends_no_task(name: bytes) -> None:
    pytest.importorskip("msgpack")
    kind = pa.struct([("id", pa.int64()), ("tx", pa.string())])
    cells = [b"\x81\xa2" + name + b"\x91" * depth + b"\x01" for depth in (1000, 5000)]
    decode = converter("msgpack", kind)
    assert decode is not None
    made, errors = decode(pa.array([*cells, b"\x81\xa2id\x01"], pa.binary()))
    *deep, good = made.to_pylist()
    assert good == {"id": 1, "tx": None}
    if sys.version_info < (3, 14):  # which has no fixed limit for C code
        assert deep == [None, None]
    assert set(errors) >= {number for number, row in enumerate(deep) if row is None}


def test_datagrams_tell_how_far_a_task_is():
    with Listener() as live:
        reporter = Reporter(live.address, "a", 3, 10, 20)
        reporter.noted(4, 400, 14)
        reporter.noted(6, 600, 20)
        reporter.done()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            host, _, port = live.address.rpartition(":")
            stranger.sendto(b"hello", (host, int(port)))
        (report,) = live.poll()
        assert (report.topic, report.source, report.rows, report.bytes, report.offset) == ("a", 3, 10, 1000, 20)
        assert report.done
        reporter.close()
    unheard = Reporter("127.0.0.1:1")
    unheard.noted(1, 1, 1)  # nobody listens: nothing happens
    unheard.close()


@pytest.mark.parametrize(
    "said", [b"", b"\xff", b"[]", b"[" * 9000, b"7", b'{"rows":"x"}', b'{"stage":null}', b'{"rows":1.5}', b'{"no":1}']
)
def test_a_strangers_datagram_changes_nothing(said):
    with Listener() as live, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
        host, _, port = live.address.rpartition(":")
        stranger.sendto(said, (host, int(port)))
        reporter = Reporter(live.address, "a", 3, 10, 20)
        reporter.noted(4, 400, 14)
        reporter.close()
        while not live.reports:
            found = live.poll()
        assert [report.rows for report in found] == [4]


def test_what_spark_says_becomes_one_sentence_with_our_exit_code():
    ours = Exception(
        '[PYTHON_DATA_SOURCE_ERROR] Failed: Traceback (most recent call last):\n  File "x", line 1, in f\n'
        '    raise UsageError(f"unknown option {key}")\n'
        "kcli.errors.UsageError: unknown option x; did you mean y?\n SQLSTATE: 38000\n=== Streaming Query ==="
    )
    error = told(ours)
    assert (str(error), error.exit_code) == ("unknown option x; did you mean y?", 2)
    said = "[UNRESOLVED_COLUMN] A column `x` cannot be resolved. SQLSTATE: 42703\nat scala"
    theirs = told(Exception(said), Path("/l"))
    assert str(theirs) == "Spark: A column `x` cannot be resolved.; the log is /l"
    assert theirs.exit_code == 1
    known = UsageError("as it is")
    assert told(known) is known


def java_in(folder, version, modules="java.base"):
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "java").touch(mode=0o755)
    (folder / "release").write_text(f'JAVA_VERSION="{version}"\nMODULES="{modules}"\n')
    return folder


@pytest.mark.process
def test_java_is_looked_for_in_order_and_an_old_one_is_refused(tmp_path, monkeypatch):
    old, new = java_in(tmp_path / "old", "11.0.2"), java_in(tmp_path / "new", "21.0.1")
    monkeypatch.delenv("KCLI_JAVA_HOME", raising=False)
    monkeypatch.setenv("JAVA_HOME", str(new))
    assert (find_java().where, find_java().major) == ("JAVA_HOME", 21)
    with pytest.raises(UsageError, match=r"java_home .*: Java 11\.0\.2; Spark needs 17"):
        find_java(str(old))
    with pytest.raises(UsageError, match="it has no bin/java"):
        find_java(str(tmp_path))
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(new / "bin"))
    assert (find_java().where, find_java().home) == ("PATH", new)
    monkeypatch.setenv("PATH", str(old / "bin"))
    monkeypatch.setattr("kcli.pipeline.session.java._bundled", lambda: None)
    with pytest.raises(UsageError, match=r"the java on PATH is version 11\.0\.2; .* pip install .*spark-java"):
        find_java()


def test_a_jlinked_java_is_not_asked_for_the_module_it_lacks(tmp_path):
    whole = Java(home=java_in(tmp_path / "a", "17", "java.base jdk.incubator.vector"), version="17")
    linked = Java(home=java_in(tmp_path / "b", "25", "java.base java.sql"), version="25")
    vector = "--add-modules=jdk.incubator.vector"
    assert vector in command_of(whole, tmp_path, {}, memory="1g")
    assert vector not in command_of(linked, tmp_path, {}, memory="1g")
    assert "--sun-misc-unsafe-memory-access=allow" in command_of(linked, tmp_path, {}, memory="1g")


@pytest.mark.process
def test_a_jvm_that_does_not_start_is_told_with_its_last_words_and_the_log(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    home = java_in(tmp_path / "java", "17.0.1")
    (home / "bin" / "java").write_text("#!/bin/sh\necho before >&2\necho 'Exception: no memory today' >&2\nexit 1\n")
    log = tmp_path / "logs" / "spark.log"
    with pytest.raises(SparkFailed, match=f"Spark did not start: Exception: no memory today; the log is {log}"):
        start(Java(home=home, version="17.0.1"), {}, log)


@pytest.mark.spark
@pytest.mark.process
def test_a_command_line_that_the_jvm_refuses_is_left_to_sparks_own_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(gateway, "command_of", lambda java, *_, **__: [java.command, "no.such.Main"])
    log = tmp_path / "spark.log"
    jvm = start(find_java(), {"spark.master": "local[1]", "spark.app.name": "x"}, log, memory="512m")
    assert jvm.port
    assert "Could not find or load main class no.such.Main" in log.read_text()
    jvm.stop(30.0)
    monkeypatch.setattr(gateway, "by_script", lambda *_, **__: [])
    with pytest.raises(SparkFailed, match=r"no\.such\.Main"):
        start(find_java(), {"spark.master": "local[1]"}, log)


def test_an_archive_belongs_to_one_spark_and_one_java_and_is_used_only_where_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    one = Java(home=java_in(tmp_path / "a", "17.0.1"), version="17.0.1")
    two = Java(home=java_in(tmp_path / "b", "17.0.1"), version="17.0.1")
    assert archive.path_of(one, spark_home()) != archive.path_of(two, spark_home())
    assert archive.flags(one, spark_home()) == []
    made = archive.path_of(one, spark_home())
    made.parent.mkdir(parents=True)
    made.touch()
    assert archive.flags(one, spark_home())[0] == f"-XX:SharedArchiveFile={made}"


def test_a_log_of_the_session_and_its_settings_are_quiet_and_local(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert log_file().parent == tmp_path / "kcli" / "spark"
    made = conf_of(SessionSettings(conf=(("spark.ui.enabled", "true"), ("a", "b"))))
    assert (made["spark.master"], made["spark.ui.enabled"], made["a"]) == ("local[*,3]", "true", "b")
    assert made["spark.sql.parquet.outputTimestampType"] == "TIMESTAMP_MICROS"
    assert made["spark.driver.host"] == "127.0.0.1"
    assert "spark.driver.host" not in conf_of(SessionSettings(master="spark://x:7077"))


class Cluster:
    """Spark as `session.fit_shuffle` sees it: the executors that have registered, look by look, each with two cores."""

    def __init__(self, *executors: int) -> None:
        self.left, self.seen = list(executors), executors[-1]
        self.chosen: dict[str, int] = {}
        self._jsc = self.sparkContext = self.conf = self

    def sc(self) -> Cluster:
        return self

    def getExecutorMemoryStatus(self) -> Cluster:
        self.seen = self.left.pop(0) if self.left else self.seen
        return self

    def size(self) -> int:
        return self.seen + 1  # and the driver

    @property
    def defaultParallelism(self) -> int:
        return 2 * self.seen

    def set(self, key: str, value: int) -> None:
        self.chosen[key] = value


@pytest.mark.parametrize(
    ("master", "given", "executors", "wanted"),
    [
        ("local[6]", {}, [3], [6]),
        ("spark://x:7077", {}, [0, 0, 1, 3], [6]),
        ("spark://x:7077", {session.PARTITIONS: "7"}, [3], []),
        ("yarn", {session.CHANGING: "true"}, [3], []),
        ("yarn", {}, [0], []),
    ],
)
def test_shuffles_have_a_partition_for_each_core_that_runs_tasks(
    master: str, given: dict[str, str], executors: list[int], wanted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, seconds in (("SETTLED", 0.05), ("PATIENCE", 30 if any(executors) else 0.05), ("EVERY", 0.001)):
        monkeypatch.setattr(session, name, seconds)
    spark = Cluster(*executors)
    session.fit_shuffle(cast("SparkSession", spark), {"spark.master": master, **given})
    assert list(spark.chosen.values()) == wanted


@pytest.mark.slow
def test_archives_and_path_of_the_user_go_beside_kclis_own(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    usual = conf_of(SessionSettings(master="spark://x:7077"))
    ours = usual["spark.archives"]
    assert ours.endswith("#kcli-code")
    theirs = (("spark.archives", "env.tar.gz#env"), ("spark.executorEnv.PYTHONPATH", "./env/lib"))
    made = conf_of(SessionSettings(master="spark://x:7077", conf=theirs))
    assert made["spark.archives"] == f"env.tar.gz#env,{ours}"
    assert made["spark.executorEnv.PYTHONPATH"] == "./kcli-code:./env/lib"
    own = (("spark.archives", "mine.zip#kcli-code"),)
    assert conf_of(SessionSettings(master="spark://x:7077", conf=own))["spark.archives"] == "mine.zip#kcli-code"
    assert "spark.archives" not in conf_of(SessionSettings())


def test_executors_elsewhere_are_not_given_the_path_of_the_drivers_python(monkeypatch):
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    assert python_of({"spark.master": "local[2]"}) == sys.executable
    assert python_of({"spark.master": "spark://x:7077"}) == "python3"
    monkeypatch.setenv("PYSPARK_PYTHON", "/opt/python")
    assert python_of({"spark.master": "yarn"}) == python_of({"spark.master": "local"}) == "/opt/python"
    assert python_of({"spark.master": "yarn", "spark.pyspark.python": "python3.11"}) == "python3.11"


def test_the_newest_logs_are_kept_and_those_of_processes_that_run(tmp_path):
    names = [f"20261121-1200{n:02}-{2**22 + n}.log" for n in range(9)] + [f"20261120-000000-{os.getpid()}.log"]
    for name in (*names, "notes.txt", "mine.log"):
        (tmp_path / name).touch()
    prune(tmp_path, 3)
    left = {one.name for one in tmp_path.iterdir()}
    assert left == {*names[6:9], names[9], "notes.txt", "mine.log"}


def test_tasks_elsewhere_are_told_an_address_that_they_reach(monkeypatch):
    assert reached_by("local[*,3]", {"spark.driver.host": "10.0.0.1"}) == "127.0.0.1"
    assert reached_by("spark://127.0.0.1:7077,other:7077", {}) == "127.0.0.1"
    assert reached_by("sc://127.0.0.1:15002/;token=x", {}) == "127.0.0.1"
    assert reached_by("k8s://https://127.0.0.1:443", {}) == "127.0.0.1"
    assert reached_by("spark://far:7077", {"spark.driver.host": "driver.example"}) == "driver.example"
    monkeypatch.setattr(socket, "gethostbyname", lambda name: "10.1.2.3")
    assert reached_by("yarn", {}) == "10.1.2.3"
    with Listener("driver.example") as live:
        host, _, port = live.address.rpartition(":")
        assert host == "driver.example"
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as stranger:
            stranger.sendto(b'{"stage": 1, "rows": 5, "topic": "t"}', ("127.0.0.1", int(port)))
        deadline = time.monotonic() + 5
        while not live.poll() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [one.rows for one in live.poll()] == [5]


def test_the_doctor_looks_at_the_disk_where_a_folder_will_be_made(tmp_path):
    from kcli.cli.commands.pipeline.doctor import DoctorOptions, _disk

    wanted = tmp_path / "not" / "yet"
    status, said, _ = _disk(DoctorOptions(conf=[f"spark.local.dir={wanted},/other"]))
    assert status in ("ok", "warning")
    assert said.endswith(f"free in {tmp_path}")
