"""`kcli lag` over time, as its user sees it: recordings whose truth is known, and the sandbox."""

from __future__ import annotations

import asyncio
import json
import signal
import time
import urllib.error
import urllib.request
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from kcli import SyncClient
from kcli.cli.commands.lag import watch
from kcli.cli.commands.lag.options import LagOptions
from kcli.cli.commands.lag.prometheus import serve
from kcli.cli.main import main
from kcli.cli.output.refreshes import News
from kcli.cli.runtime import refresh
from kcli.cli.runtime.signals import Stop
from kcli.errors import ConnectError
from kcli.lag.assertion import LagAssertion
from kcli.lag.formats.past import Past
from kcli.lag.formats.recording import line
from kcli.lag.history import History
from kcli.lag.watch import LagSnapshot
from kcli.metrics.server import reply
from kcli.model import TopicPartition
from kcli.settings import GroupSettings
from kcli.text.numbers import human_time
from tests.cli.conftest import Shell, inside
from tests.lag.test_history import snapshot_of
from tests.programs import KCLI, Background

if TYPE_CHECKING:
    from kcli.lag.history import Standstills


def recorded(path: Path, *, seconds: int, rate: int, speed: int, backlog: int = 0) -> str:
    """A group that reads `speed` of `rate` offsets a second, looked at every 5 s."""
    with path.open("w") as out:
        for t in range(0, seconds, 5):
            end = backlog + rate * t
            out.write(line(1_700_000_000.0 + t, snapshot_of({0: min(speed * t, end)}, end)))
    return str(path)


def test_a_replay_shows_rates_eta_and_time_lag(tmp_path: Path) -> None:
    file = recorded(tmp_path / "r.ndjson", seconds=100, rate=100, speed=300, backlog=40_000)
    ran = inside("lag", "--replay", file, "--by", "partition", "--format", "ndjson")
    assert ran.code == 0, ran.err
    rows = [json.loads(text) for text in ran.out.splitlines()]
    assert len(rows) == 20
    last = rows[-1]
    assert last["time"] == "2023-11-14T22:14:55.000Z"
    assert (last["lag"], last["status"]) == (40_000 - 200 * 95, "BEHIND")
    assert last["in_rate"] == pytest.approx(100, rel=0.05)
    assert last["out_rate"] == pytest.approx(300, rel=0.05)
    assert last["eta"] == pytest.approx(21_000 / 200, rel=0.2)
    assert last["time_lag_kind"] == "at least"


def test_a_recording_becomes_a_web_page(tmp_path: Path) -> None:
    file = recorded(tmp_path / "r.ndjson", seconds=100, rate=100, speed=60)
    ran = inside("lag", "--replay", file, "--html", str(tmp_path / "page.html"))
    assert (ran.code, ran.out, ran.err) == (0, b"", f"kcli: the page is {tmp_path}/page.html\n")
    html = (tmp_path / "page.html").read_text()
    assert "<title>r.ndjson: consumer lag</title>" in html
    assert '"t[0]":[' in html
    assert inside("lag", "--replay", file, "--html", str(tmp_path / "page.html"), "-q", "--force").err == ""


def test_no_page_is_written_of_what_is_no_recording(tmp_path: Path) -> None:
    file, page = tmp_path / "r.ndjson", tmp_path / "page.html"
    file.write_text("{}\n")
    ran = inside("lag", "--replay", str(file), "--html", str(page))
    assert (ran.code, page.exists()) == (1, False)
    file.write_text("")
    ran = inside("lag", "--replay", str(file), "--html", str(page))
    assert (ran.code, ran.err) == (1, f"kcli: --replay {file}: the recording has no refresh\n")
    assert not page.exists()


def test_the_table_is_for_people(tmp_path: Path) -> None:
    file = recorded(tmp_path / "r.ndjson", seconds=100, rate=100, speed=60)
    ran = inside("lag", "g", "--replay", file)
    assert ran.code == 0, ran.err
    tables = ran.out.decode().split("\n\n")
    assert len(tables) == 20
    head, row = tables[-1].splitlines()
    assert head.split() == [
        "GROUP", "TOPIC", "LAG", "IN", "RATE", "OUT", "RATE", "ETA", "TIME", "LAG", "STATUS", "MEMBERS",
        "HOSTS", "NOTE",
    ]  # fmt: skip
    assert row.split() == ["g", "t", "3800", "100", "60", "–", "~38s", "GROWING", "0", "–", "–"]
    assert "g: t[0]: OK is now GROWING" in ran.err


@pytest.mark.parametrize(
    ("words", "speed", "code", "sentence"),
    [
        (("--max-lag", "100"), 60, 0, ""),  # at the first look it holds
        (("--max-lag", "100", "--for", "10s"), 60, 3, "g is 200 offsets behind, over 100"),
        (("--max-lag", "100", "--for", "10s", "--timeout", "30"), 60, 4, "g is 1,200 offsets behind, over 100"),
        (("--max-lag", "100000", "--for", "60"), 60, 0, ""),
        (("--max-lag", "1000", "--for", "60"), 60, 3, "g is 1,200 offsets behind, over 1,000"),
        (("--max-lag", "0", "--timeout", "10m"), 150, 0, ""),
        (("--max-time", "20", "--for", "1m"), 60, 3, "behind, over 20 s"),
        (("--max-time", "20", "--for", "1m"), 100, 0, ""),
    ],
)
def test_assertions_end_with_their_exit_code(
    tmp_path: Path, words: tuple[str, ...], speed: int, code: int, sentence: str
) -> None:
    backlog = 1000 if speed == 150 else 0
    file = recorded(tmp_path / "r.ndjson", seconds=100, rate=100, speed=speed, backlog=backlog)
    ran = inside("lag", "g", "--replay", file, "-q", *words)
    assert (ran.code, ran.out, sentence in ran.err) == (code, b"", True), ran.err
    said = inside("lag", "g", "--replay", file, "-q", "-J", *words)
    documents = [json.loads(line) for line in said.out.splitlines()]
    if code in (0, 3):
        assert documents[-1]["ok"] is (code == 0)
    if code == 3:
        (error,) = documents[-1]["errors"]
        assert (error["about"], error["error"], error["limit"].split()[0]) == ("g", "AssertionFailed", words[0])
        assert error["partition"] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--for", "5m"), "--for and --timeout need an assertion: --max-lag or --max-time"),
        (("--watch", "--interval", "soon"), "--interval soon: expected a duration"),
        (("--prometheus", "nine"), "--prometheus nine: expected [HOST]:PORT, such as :9308"),
        (("--replay", "/no/such/file"), "--replay /no/such/file: No such file or directory"),
        (
            ("--html", "x.html"),
            "--html writes a recording: kcli lag record --refreshes 60 | kcli lag --replay - --html x.html",
        ),
        (("--replay", "x", "--html", "/"), "--html /: it is a folder; name a file"),
        (("--replay", "x", "--html", "/no/such/x.html"), "--html /no/such/x.html: there is no folder /no/such"),
        (("--replay", "x", "--html", "y", "--max-lag", "1"), "--html and --max-lag cannot be combined"),
        (("record", "--replay", "x"), "record reads the cluster and --replay a file; use only one"),
        (("--prometheus", ":0", "--replay", "x"), "--prometheus reads the cluster and --replay a file"),
        (("record", "--max-lag", "0"), "record only stores the data; use --max-lag and --max-time"),
        (("--prometheus", ":0", "--max-time", "5m"), "--prometheus only serves the data; use --max-lag"),
        (("--watch", "--interval", "0"), "--interval 0: must be more than 0, such as 500ms"),
        (("--watch", "--window", "0s"), "--window 0s: must be more than 0, such as 500ms"),
    ],
)
def test_bad_input_gets_one_sentence(words: tuple[str, ...], sentence: str) -> None:
    ran = inside("lag", *words)
    assert (ran.code, ran.out) == (2, b"")
    assert ran.err.startswith(f"kcli: {sentence}")


def test_a_recording_is_narrowed_as_the_cluster_would_be(tmp_path: Path) -> None:
    file = recorded(tmp_path / "r.ndjson", seconds=20, rate=100, speed=100)
    for words, code in (((), 0), (("-t", "other"), 3), (("--state", "Empty"), 3), (("nosuch",), 3)):
        ran = inside("lag", *words, "--replay", file, "--max-lag", "0", "-q")
        assert (ran.code, words) == (code, words)
    assert inside("lag", "-t", "other", "--by", "partition", "--format", "ndjson", "--replay", file).out == b""


def test_an_empty_recording_is_no_proof(tmp_path: Path) -> None:
    file = tmp_path / "r.ndjson"
    file.write_text("")
    ran = inside("lag", "--replay", str(file), "--max-lag", "0")
    assert (ran.code, ran.err) == (1, f"kcli: --replay {file}: the recording has no refresh\n")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--max-time", "5m"), 1),
        (("--max-lag", "0", "--for", "1s"), 1),
        (("--max-lag", "0", "--timeout", "300ms", "--interval", "100ms"), 4),
        (("--max-lag", "0", "--timeout", "300ms", "--interval", "5m"), 4),  # the last look is when the time is up
    ],
)
def test_an_assertion_over_time_about_a_group_that_is_not_there_does_not_hold(
    kcli: Shell, words: tuple[str, ...], code: int
) -> None:
    ran = kcli("lag", "nobody-here", *words)
    assert (ran.returncode, b"nobody-here: this group does not exist" in ran.stderr) == (code, True), ran.stderr


def test_what_stays_wrong_is_said_once(kcli: Shell) -> None:
    ran = kcli("lag", "nobody-here", "--max-lag", "5", "--timeout", "500ms", "--interval", "100ms")
    assert (ran.returncode, ran.stderr) == (4, b"kcli: nobody-here: this group does not exist\n")
    ran = kcli("lag", "nobody-here", "--watch", "--refreshes", "4", "--interval", "100ms")
    assert (ran.returncode, ran.stderr) == (1, b"kcli: nobody-here: this group does not exist\n")


def test_a_status_that_goes_to_and_fro_does_not_flood_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Four partitions that are BEHIND at every third refresh, for ten minutes."""
    file, end, committed = tmp_path / "r.ndjson", 0, 0
    with file.open("w") as out:
        for n in range(120):
            end += 1 if n % 3 else 500
            committed = end if n % 3 else committed
            out.write(line(1_700_000_000.0 + 5 * n, snapshot_of(dict.fromkeys(range(4), committed), end)))
    assert main(["lag", "g", "--by", "partition", "--replay", str(file), "--format", "ndjson"]) == 0
    shown = capsys.readouterr()
    seen = [json.loads(row)["status"] for row in shown.out.splitlines() if '"partition":0' in row]
    assert sum(one != other for one, other in pairwise(seen)) == 79
    assert shown.err == ""


def test_what_was_well_in_between_is_said_again() -> None:
    news = News()
    lines = (["a", "b"], ["a"], ["b", "a", "b"], [], ["a"])
    assert [news.of(line) for line in lines] == [["a", "b"], [], ["b"], [], ["a"]]


def test_a_share_group_that_is_through_is_idle_however_old_its_start_is(tmp_path: Path) -> None:
    """The first record is held, or was released: the start stands, and the coordinator counts what is left."""
    file = tmp_path / "r.ndjson"
    with file.open("w") as out:
        for n in range(20):
            shot = snapshot_of({0: 10}, 100)
            shot.groups[0].described.type = "share"
            shot.groups[0].samples[0].counted = 0
            out.write(line(1_700_000_000.0 + 5 * n, shot))
    for level in ("group", "topic", "partition"):
        ran = inside("lag", "g", "--by", level, "--replay", str(file), "--format", "ndjson")
        rows = [json.loads(text) for text in ran.out.splitlines()]
        assert {(row["lag"], row["status"]) for row in rows} <= {(0, "OK"), (0, "IDLE")}
        assert rows[-1]["status"] == "IDLE"
    assert inside("lag", "g", "--max-lag", "0", "--max-time", "1s", "--replay", str(file)).code == 0


@pytest.mark.process
def test_an_assertion_waits_for_a_group_that_is_still_to_come(kcli: Shell, tmp_path: Path) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"a\n")
    words = ["lag", f"late-{topic}", "--max-lag", "0", "--timeout", "60s", "--interval", "100ms", "-b", kcli.bootstrap]
    with Background([*KCLI, *words], stdout=tmp_path / "out") as waiting:
        told = (tmp_path / "out").with_suffix(".err")
        deadline = time.monotonic() + 20
        while "does not exist" not in told.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert waiting.process.poll() is None
        kcli.ok("consume", topic, "-g", f"late-{topic}", "-e", "-o", "beginning")
        assert waiting.process.wait(20) == 0


async def test_a_look_that_brokers_hold_up_does_not_outlast_the_timeout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Silent:
        looks = 0

        async def refresh(self) -> LagSnapshot:
            self.looks += 1
            await asyncio.sleep(0 if self.looks == 1 else 3600)
            return LagSnapshot(time=1.0)

    monkeypatch.setattr(refresh, "GRACE", 0.05)
    monkeypatch.setattr(watch, "watch_of", lambda plan, cluster, history: Silent())
    plan = SimpleNamespace(assertion=LagAssertion(0, None), timeout=0.1, interval=0.01, looks=None)
    async with asyncio.timeout(10):
        shots = watch._snapshots(plan, Stop(), None, watch.Memory(History(), None))  # type: ignore[arg-type]
        seen = [shot async for shot in shots]
    assert len(seen) == 1
    assert "brokers did not respond in time" in capsys.readouterr().err


async def test_an_assertion_without_a_timeout_ends_when_nobody_can_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        looks = 0

        async def refresh(self) -> LagSnapshot:
            self.looks += 1
            if self.looks > 1:
                raise ConnectError("nobody there")
            return LagSnapshot(time=1.0)

    monkeypatch.setattr(watch, "watch_of", lambda plan, cluster, history: Gone())
    plan = SimpleNamespace(assertion=LagAssertion(0, None, 60.0), timeout=None, interval=0.01, looks=None)
    looks = watch._snapshots(plan, Stop(), None, watch.Memory(History(), None))  # type: ignore[arg-type]
    assert (await anext(looks)).time == 1.0
    with pytest.raises(ConnectError):
        await asyncio.wait_for(anext(looks), 10)


def test_what_stands_still_is_kept_each_minute_also_after_a_clock_was_set_back() -> None:
    class Kept:
        times = 0

        def stand_for(self, watched: object, stood: object) -> None:
            self.times += 1

    kept = Kept()
    memory = watch.Memory(History(), kept)  # type: ignore[arg-type]
    written = []
    for now in (10_000.0, 10_005.0, 6_400.0, 6_405.0, 6_460.0):
        memory.add(LagSnapshot(time=now))
        written.append(kept.times)
    assert written == [1, 1, 2, 2, 3]


def test_a_recording_with_a_broken_line_says_where(tmp_path: Path) -> None:
    file = tmp_path / "r.ndjson"
    file.write_text(line(1.0, snapshot_of({0: 5}, 10)) + "oops\n")
    ran = inside("lag", "--replay", str(file))
    assert ran.code == 1
    assert f"{file}:2: not a line of a lag recording" in ran.err


@pytest.mark.parametrize("left", [1, 40, -3])
def test_a_recording_that_was_cut_off_is_replayed_up_to_its_last_whole_line(tmp_path: Path, left: int) -> None:
    file = tmp_path / "r.ndjson"
    whole = line(1.0, snapshot_of({0: 5}, 10)) + line(2.0, snapshot_of({0: 7}, 10))
    cut = line(3.0, snapshot_of({0: 10}, 10)).replace('"g"', '"gé"').encode()
    left = cut.index("é".encode()) + 1 if left == 40 else left  # in the middle of a letter
    file.write_bytes(whole.encode() + cut[:left])
    ran = inside("lag", "--replay", str(file), "--by", "group", "--format", "ndjson")
    assert (ran.code, [json.loads(row)["lag"] for row in ran.out.splitlines()]) == (0, [5, 3])
    assert ran.err == f"kcli: {file}:3: the recording ends in the middle of a line, which is ignored\n"
    file.write_bytes(cut[:left])
    assert inside("lag", "--replay", str(file)).code == 1, "nothing of it is whole"


def test_watching_recording_and_replaying_the_sandbox(kcli: Shell, tmp_path: Path) -> None:
    topic = kcli.topic(2)
    kcli.ok("produce", topic, "-p", "0", stdin=b"a\nb\nc\n")
    kcli.ok("consume", topic, "-g", f"g-{topic}", "-n", "2", "-o", "beginning")
    kcli.ok("produce", topic, "-p", "1", stdin=b"d\n")
    words = (f"g-{topic}", "--interval", "100ms", "--refreshes", "3")
    looks = kcli.ok("lag", *words, "--watch", "--by", "group", "--format", "ndjson")
    assert [json.loads(text)["lag"] for text in looks.splitlines()] in ([1, 1, 1], [2, 2, 2])
    document = kcli.ok("lag", *words, "--watch", "-J")
    assert all(json.loads(text)["schema"] == "kcli.lag.watch.topic/1" for text in document.splitlines())
    recording = tmp_path / "incident.ndjson"
    recording.write_bytes(kcli.ok("lag", "record", *words))
    assert len(recording.read_text().splitlines()) == 3
    again = kcli.ok("lag", "--replay", str(recording), "--by", "group", "--format", "ndjson")
    assert [json.loads(text)["lag"] for text in again.splitlines()] == [
        json.loads(text)["lag"] for text in looks.splitlines()
    ]


def test_an_exact_time_lag_is_the_age_of_the_first_unread_record(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, "--timestamp", "-2m", stdin=b"a\nb\n")
    kcli.ok("consume", topic, "-g", f"g-{topic}", "-n", "1", "-o", "beginning")
    (row,) = kcli.ok("lag", f"g-{topic}", "--exact", "--format", "ndjson").splitlines()
    seen = json.loads(row)
    assert seen["time_lag_kind"] == "exact"
    assert 119 <= seen["time_lag"] <= 180


@pytest.mark.process
def test_ctrl_c_ends_a_watch_with_success(kcli: Shell, tmp_path: Path) -> None:
    words = ["lag", "--watch", "--interval", "100ms", "--format", "json", "-b", kcli.bootstrap]
    with Background([*KCLI, *words], stdout=tmp_path / "out") as watching:
        watching.wait_for(1)
        watching.process.send_signal(signal.SIGINT)
        assert watching.process.wait(10) == 0


@pytest.mark.process
def test_metrics_are_served(kcli: Shell, tmp_path: Path) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"a\nb\n")
    kcli.ok("consume", topic, "-g", f"g-{topic}", "-n", "1", "-o", "beginning")
    out = tmp_path / "out"
    words = ["lag", "--prometheus", ":0", "--interval", "100ms", "-b", kcli.bootstrap]
    with Background([*KCLI, *words], stdout=out) as serving:
        deadline = time.monotonic() + 20
        page, where = "", ""
        while time.monotonic() < deadline and "kafka_consumergroup_lag{" not in page:
            time.sleep(0.05)
            told = out.with_suffix(".err").read_text()
            if "metrics at " in told:
                where = told.split("metrics at ")[1].split()[0]
                try:
                    page = urllib.request.urlopen(where, timeout=5).read().decode()
                except urllib.error.HTTPError as early:
                    early.close()
                    assert early.code == 503  # noqa: PT017
        assert f'kafka_consumergroup_lag{{consumergroup="g-{topic}",topic="{topic}",partition="0"}} 1' in page
        serving.process.send_signal(signal.SIGINT)
        assert serving.process.wait(10) == 0


class Flaky:
    """Looks when it is their turn: the second one fails, to the third no broker answers."""

    def __init__(self) -> None:
        self.turns = [asyncio.Event() for _ in range(5)]
        self._history = History()
        self._looks = 0

    async def refresh(self) -> LagSnapshot:
        self._looks += 1
        await self.turns[self._looks - 1].wait()
        if self._looks == 2:
            raise ConnectError("nobody there")
        if self._looks == 3:
            return LagSnapshot(time=15.0, brokers={1: ConnectError("nobody there")})
        time = 5.0 * self._looks
        return LagSnapshot(time=time, groups=self._history.add(time, snapshot_of({0: 3}, 10)))


async def test_while_looks_fail_the_metrics_say_so_and_no_stale_figure_is_served(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    flaky = Flaky()
    turns = flaky.turns

    async def page() -> str:
        return (await asyncio.to_thread(lambda: urllib.request.urlopen(where, timeout=20).read())).decode()

    async def page_with(text: str) -> str:
        while True:
            got = await page()
            if text in got:
                return got
            await asyncio.sleep(0.01)

    monkeypatch.setattr(watch, "watch_of", lambda plan, cluster, history: flaky)
    common = {"assertion": None, "timeout": None, "interval": 0.01, "looks": None, "watch": True}
    plan = SimpleNamespace(**common, options=LagOptions(quiet=True), prometheus=("127.0.0.1", 0))
    stop = Stop()
    looks = partial(watch._snapshots, plan, stop, None, watch.Memory(History(), None))  # type: ignore[arg-type]
    serving = asyncio.create_task(serve(plan, stop, looks))  # type: ignore[arg-type]
    async with asyncio.timeout(30):
        told = ""
        while "metrics at " not in told:
            await asyncio.sleep(0.01)
            told += capsys.readouterr().err
        where = told.split("metrics at ")[1].split()[0]
        turns[0].set()
        while True:
            try:
                well = await page_with("kcli_lag_up 1\n")
                break
            except urllib.error.HTTPError as early:
                early.close()
                assert early.code == 503  # noqa: PT017
        assert "kafka_consumergroup_lag{" in well
        turns[1].set()
        lost = await page_with("kcli_lag_up 0\n")
        assert [text for text in lost.splitlines() if not text.startswith("#")] == [
            "kcli_lag_up 0", "kcli_lag_look_timestamp_seconds 5",
        ]  # fmt: skip
        turns[2].set()
        told = ""
        while "did not list its groups" not in told:
            await asyncio.sleep(0.01)
            told += capsys.readouterr().err
        assert await page() == lost, "that no broker answers is no news"
        turns[3].set()
        assert "kafka_consumergroup_lag{" in await page_with("kcli_lag_up 1\n")
    serving.cancel()
    await asyncio.wait({serving})


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /metrics HTTP/1.1\r\n", "200 OK"),
        ("GET /metrics?x=1 HTTP/1.1\r\n", "200 OK"),
        ("HEAD / HTTP/1.1\r\n", "200 OK"),
        ("GET /other HTTP/1.1\r\n", "404 Not Found"),
        ("POST /metrics HTTP/1.1\r\n", "405 Method Not Allowed"),
        ("\x16\x03\x01", "405 Method Not Allowed"),
    ],
)
def test_the_metrics_port_answers_http(line: str, status: str) -> None:
    assert reply(line, "page").startswith(f"HTTP/1.1 {status}\r\n".encode())


def test_times_for_people() -> None:
    given = [0.2, 59.4, 60, 3599, 3600, 86399, 86400, 400_000]
    assert [human_time(one) for one in given] == [
        "0s", "59s", "1m00s", "59m59s", "1h00m", "23h59m", "1d00h", "4d15h",
    ]  # fmt: skip


def test_ages_survive_a_restart_of_watch_and_why_knows_them(kcli: Shell) -> None:
    topic = kcli.topic()
    kcli.ok("produce", topic, stdin=b"".join(b"%d\n" % n for n in range(10)))
    kcli.ok("groups", "reset", "--create", topic, "-t", topic, "--to", "4", "--execute", "-q", "--no-undo")
    cluster_id = kcli.ok("cluster", "describe", "--format", "plain").decode().split("\t")[0]
    stood: Standstills = {topic: {TopicPartition(topic, 0): (4, time.time() - 600.0, False, ())}}
    Past(cluster_id).stand_for({topic: {TopicPartition(topic, 0)}}, stood)
    group = GroupSettings(group=topic, auto_commit=False)
    with SyncClient(kcli.bootstrap) as kafka, kafka.consumer(topic, group=group) as consumer:
        while not consumer.poll(0.1):
            pass
        for _ in range(2):
            (row,) = json.loads(kcli.ok("lag", topic, "--watch", "--refreshes", "1", "--by", "group", "-J"))["groups"]
            assert row["status"] == "STUCK"
        (row,) = json.loads(kcli.ok("groups", "why", topic, "--over", "1s", "-J", "-q"))["groups"]
    assert row["why"].startswith(f"{topic}[0] has a reader that has not moved for 10m")
