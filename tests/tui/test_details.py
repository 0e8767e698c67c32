"""What stands on the screens beside the tables of test_screens: brokers and their disks, how records are kept, the
record a group reads next, schemas, the plot below the groups; and what does nothing does not offer itself."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from kcli.admin.configs import Config
from kcli.admin.storage import LogDir, ReplicaSize
from kcli.admin.topics.topics import NewTopic, Partition, Topic, create_topics, wait_for_topics
from kcli.client import Client
from kcli.lag import record_times
from kcli.tui import routes
from kcli.tui.screens.brokers import replicas_on
from kcli.tui.screens.faults import Faults
from kcli.tui.screens.record import decoded, schema
from kcli.tui.tail import Seen
from kcli.tui.text.formatting import clocked, kept, spread
from kcli.tui.widgets.columns import fitting
from kcli.tui.widgets.configs import Configs, config_columns
from kcli.tui.widgets.pager import Pager
from kcli.tui.widgets.plot import Plot
from kcli.tui.widgets.rows import Rows
from tests.tui.conftest import seen, shows, until, visit
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.tui.conftest import Open

pytestmark = pytest.mark.long


@pytest.fixture
def world() -> Iterator[World]:
    with a_world(control=True) as one:
        yield one


async def test_a_broker_tells_its_kafka_and_opens_its_partitions_disks_and_configs(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("ctrl+b")
        text = await shows(pilot, " ms")
        assert "KAFKA" in text
        assert " 4.4 " in text
        await pilot.press("enter")
        text = await shows(pilot, "Broker 1  leads ")
        assert "● leader" in text
        await pilot.press("2")
        text = await shows(pilot, "/memory/1")
        assert "$ kcli logdirs list --broker 1" in text
        assert "Open" not in text.splitlines()[-1]
        await pilot.press("3")
        await shows(pilot, "$ kcli configs get broker 1 --all")
        await shows(pilot, "server.properties")
        await pilot.press("1", "enter")
        await shows(pilot, "Topic orders")


def test_a_broker_has_the_partitions_that_the_metadata_puts_there() -> None:
    topic = Topic(topic="t", partitions=[
        Partition(topic="t", partition=0, leader=1, replicas=[1, 2], isr=[1, 2]),
        Partition(topic="t", partition=1, leader=2, replicas=[2, 1], isr=[2]),
        Partition(topic="t", partition=2, leader=2, replicas=[2, 3], isr=[2, 3]),
    ])  # fmt: skip
    place = LogDir(broker=1, directory="/d", replicas=[
        ReplicaSize(topic="t", partition=0, broker=1, directory="/d", size=7),
        ReplicaSize(topic="t", partition=1, broker=1, directory="/e", size=9, future=True),
    ])  # fmt: skip
    found = [(one.partition.partition, one.leads, one.behind, one.size) for one in replicas_on(1, [topic], [place])]
    assert found == [(0, True, False, 7), (1, False, True, None)]


def told(source: str = "topic", **values: str) -> list[Config]:
    return [Config(name=name.replace("_", "."), value=value, source=source) for name, value in values.items()]


@pytest.mark.parametrize(
    ("configs", "expected"),
    [
        (told("default", cleanup_policy="delete", retention_ms="604800000", retention_bytes="-1"),
         ("delete", "7d", "")),
        (told("default", cleanup_policy="delete") + told(retention_ms="5400000", retention_bytes="1073741824"),
         ("delete", "1h30m, 1.0 GiB", "retention.ms=5400000 retention.bytes=1073741824")),
        (told(cleanup_policy="compact") + told("default", retention_ms="604800000"),
         ("compact", "", "cleanup.policy=compact")),
        (told("default", cleanup_policy="compact,delete", retention_ms="-1"), ("compact,delete", "for ever", "")),
        (told("default", cleanup_policy="delete") + told(retention_ms="\x1b[31m", max_message_bytes="9"),
         ("delete", "for ever", "retention.ms=\\x1b[31m max.message.bytes=9")),
        (told("all brokers", cleanup_policy="delete", retention_ms="3600000", max_message_bytes="9"),
         ("delete", "1h00m", "")),  # the cluster's defaults are not set on it
        ([*told("broker", segment_bytes="9"), *told("default", segment_ms="9"), *told(min_insync_replicas="2")],
         ("", "", "min.insync.replicas=2")),
        ([Config(name="some.password", value=None, source="topic", secret=True)], ("", "", "some.password=(secret)")),
        ([], ("", "", "")),
    ],
)  # fmt: skip
def test_how_records_are_kept_is_said_in_a_word(configs: list[Config], expected: tuple[str, str, str]) -> None:
    assert kept(configs) == expected


async def test_topics_tell_whether_replicas_are_in_sync_and_what_was_set(world: World) -> None:
    async with Client(world.settings()) as client:
        wanted = NewTopic(topic="short", partitions=1, configs={"retention.ms": "3600000", "max.message.bytes": "2000"})
        await create_topics(client.cluster, [wanted])
        await wait_for_topics(client.cluster, {"short": 1})
    async with world.open(size=(140, 30)) as pilot:
        await pilot.press("ctrl+t")
        text = await shows(pilot, "max.message.bytes=2000 retention.ms=3600000")
        line = next(one for one in text.splitlines() if "short" in one)
        assert "● in sync" in line
        assert "1h00m" in line
        assert "7d" in next(one for one in text.splitlines() if "orders" in one)


async def test_the_page_of_a_topic_says_what_a_config_is_without_what_was_set(world: World) -> None:
    async with Client(world.settings()) as client:
        await create_topics(
            client.cluster,
            [NewTopic(topic="days", partitions=1, configs={"max.message.bytes": "2000", "retention.ms": "5"})],
        )
        await wait_for_topics(client.cluster, {"days": 1})
    async with world.open(size=(140, 60)) as pilot:
        await visit(pilot, "topic days")
        await pilot.press("3")
        await shows(pilot, "max.message.bytes")
        words = [line.split() for line in seen(pilot).replace("▌", " ").splitlines()]
        lines = {one[0]: one[1:] for one in words if one}
        assert lines["max.message.bytes"] == ["2000", "topic", "1048588"]
        assert lines["retention.ms"] == ["5", "topic", "–"], "brokers keep its default in hours, and do not report it"
        assert lines["cleanup.policy"] == ["delete", "default", "delete"], "nothing sets it: it is the default"


def test_the_longest_number_of_a_config_is_whole_on_the_narrowest_screen() -> None:
    most = str(2**63 - 1)
    rows = [
        Config(name="follower.replication.throttled.replicas", value="", source="default"),
        Config(name="flush.ms", value=most, source="topic", inherited="7"),
    ]
    columns = config_columns()
    drawn = {column.id: size for column, size in fitting(columns, 0, rows, 79, {})}
    assert drawn["value"] >= len(most)
    assert "inherited" not in drawn
    assert "inherited" in {column.id for column, _ in fitting(columns, 0, rows, 120, {})}


async def test_a_value_that_is_cut_is_whole_below_the_configs(dashboard: Open) -> None:
    async with dashboard(size=(80, 24)) as pilot:
        await visit(pilot, routes.Broker(1))
        await pilot.press("3")
        await shows(pilot, "advertised.listeners")
        table = pilot.app.screen.query_one("#configs", Rows)
        place = next(n for n, row in enumerate(table.shown) if row.name == "advertised.listeners")
        address = table.shown[place].value
        table.cursor = place
        text = await shows(pilot, f"advertised.listeners = {address}  (server.properties)")
        assert text.count(address) == 1, "the table has no room for it"
        table.cursor = place + 1
        text = await shows(pilot, "alter.config.policy.class.name: no value  (default)")
        assert address not in text
        height = table.size.height
        await pilot.resize_terminal(300, 24)
        await until(pilot, lambda: table.size.height == height + 2)
        assert address in seen(pilot), "there is room for all values"
        configs = pilot.app.screen.query_one(Configs)
        await pilot.app.pop_screen()
        configs._show()  # as after an answer that came when the page was left


async def test_a_low_screen_has_no_plot_beside_the_configs_of_a_topic(dashboard: Open) -> None:
    async with dashboard(size=(80, 24)) as pilot:
        page = await visit(pilot, routes.Topic("orders"))
        await shows(pilot, "written per second")
        await pilot.press("3")
        await until(pilot, lambda: not page.query_one(Plot).is_on_screen)
        await shows(pilot, "cleanup.policy")
        await pilot.press("1")
        await shows(pilot, "written per second")


async def test_enter_on_a_partition_of_a_topic_shows_its_last_records(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("ctrl+t")
        await shows(pilot, "in sync")
        await pilot.press("enter")
        await shows(pilot, "OF THE LARGEST")
        await pilot.press("enter")
        text = await shows(pilot, "order 198")
        assert "Records of orders[0] at 80  the last ones" in text
        assert "$ kcli consume orders -p 0 -o 80" in text
        assert "order 150" not in text


async def test_the_record_a_group_reads_next_is_marked_and_the_cursor_is_on_it(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("enter")
        await shows(pilot, "COMMITTED")
        await pilot.press("enter")
        text = await shows(pilot, "▶ next")
        assert "what billing reads next" in text
        line = next(one for one in text.splitlines() if "▶ next" in one)
        assert line.startswith("▌")
        assert "order 80" in line
        assert sum(" read " in one for one in text.splitlines() if "order 7" in one) == 3


def record(value: bytes | None, headers: Any = ()) -> Seen:
    return Seen(1, "t", 0, 5, 1_700_000_000_000, None, value, list(headers))


def test_a_record_shows_what_it_tells_of_its_schema() -> None:
    framed = schema(record(b'\x00\x00\x00\x00\x2a{"user": {"id": 1}}', [("__value_schema_id", b"abc")]))
    assert "Confluent wire format, then JSON" in framed
    assert "id 42 in the schema registry" in framed
    assert "abc" in framed
    assert "user.id  integer" in framed
    connect = schema(record(b'{"schema": {"type": "string"}, "payload": "x"}'))
    assert "declared beside the payload (Kafka Connect):" in connect
    assert '"type": "string"' in connect
    assert "It names no schema" in schema(record(b"\xff\x00\x1b[31m"))
    assert "\x1b" not in schema(record(b'{"\x1b[31m": 1}'))
    assert schema(record(None)) == "null has no schema"
    assert decoded(b'\x00\x00\x00\x00\x2a{"user": 1}') == '{\n  "user": 1\n}'


async def test_json_has_the_colours_of_the_theme_and_other_text_has_none(dashboard: Open) -> None:
    async with dashboard() as pilot:
        value = b'{"id": 1, "name": "x", "ok": true}'
        page = await visit(pilot, routes.Record("orders", 0, 1, Seen(1, "orders", 0, 1, 0, None, value, ())))
        await shows(pilot, '"name": "x"')
        pager = page.query_one("#text-decoded", Pager)

        def colours(line: int) -> dict[str, str]:
            styles = [(part.text.strip(), part.style) for part in pager.render_line(line)]
            return {text: style.color.name for text, style in styles if text and style and style.color}

        def tone(kind: str) -> str:
            color = pager.get_component_rich_style(f"pager--{kind}").color
            return color.name if color is not None else ""

        drawn = colours(1) | colours(2) | colours(3)
        assert drawn['"id"'] == drawn['"name"'] == tone("key")
        assert (drawn["1"], drawn['"x"'], drawn["true"]) == (tone("number"), tone("string"), tone("word"))
        assert len({tone("key"), tone("number"), tone("string"), tone("word")}) == 4
        pager.json = False
        assert len(set((colours(1) | colours(2) | colours(3)).values())) == 1


async def test_the_schema_is_a_tab_and_a_filter_leaves_the_lines_that_hold_it(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("ctrl+t")
        await shows(pilot, "in sync")
        await pilot.press("t")
        await shows(pilot, '{"order": 29')
        await pilot.press("enter")
        await shows(pilot, "Decoded")
        await pilot.press("5")
        text = await shows(pilot, "fields of this value:")
        assert "order  integer" in text
        assert "who    string" in text
        await pilot.press("slash", *"string")
        await until(pilot, lambda: "order  integer" not in seen(pilot) and "who    string" in seen(pilot))
        await pilot.press("escape")
        await shows(pilot, "order  integer")


async def test_below_the_groups_stands_why_the_one_under_the_cursor_is_as_it_is(dashboard: Open) -> None:
    async with dashboard(size=(110, 32)) as pilot:
        await shows(pilot, "audit lag  no member reads for this group, and 390 offsets wait")
        await pilot.press("down")
        await shows(pilot, "fraud lag  no member reads for this group")
        await pilot.resize_terminal(80, 24)
        await until(pilot, lambda: not pilot.app.screen.query_one(Plot).is_on_screen)
        reason = "◌ ORPHANED: no member reads for this group, and 60 offsets wait"
        await shows(pilot, f"Groups (3)  {reason}")
        await pilot.resize_terminal(70, 24)
        await until(pilot, lambda: seen(pilot).splitlines()[1].strip() == reason)


def test_values_are_spread_over_equal_parts_of_time_without_losing_a_peak() -> None:
    seconds = [(float(n), float(value)) for n, value in enumerate([9, 1, 2, 3, 8, 4])]
    assert spread(seconds, 0.0, 5.0, 3) == [9, 3, 8]
    minutes = [(0.0, 5.0), (60.0, 6.0), (120.0, 7.0), *((120.0 + n, 8.0) for n in range(1, 31))]
    assert spread(minutes, 0.0, 150.0, 5) == [5, 5, 6, 6, 8], "a point a minute is as wide as thirty in half of one"
    assert spread([(7.0, 1.0), (9.0, None)], 0.0, 10.0, 5) == [1, None], "nothing is known of before"
    assert spread([(7.0, 1.0)], 7.0, 7.0, 5) == [1]
    assert spread([], 0.0, 1.0, 5) == []


def test_a_time_of_another_day_has_its_date() -> None:
    noon = datetime(2026, 11, 28, 12).timestamp()
    assert clocked(noon - 3600, noon) == "11:00:00"
    assert clocked(noon - 86_400, noon) == "27 Nov 12:00:00"
    assert clocked(noon - 86_400, noon, "%H:%M") == "27 Nov 12:00"


async def test_the_footer_offers_to_open_a_row_only_where_there_is_one(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "⏎ Open")
        await pilot.press("slash", *"nonsense", "enter")
        await shows(pilot, "fits the filter")
        await until(pilot, lambda: "⏎ Open" not in seen(pilot))
        await pilot.press("escape")
        await shows(pilot, "⏎ Open")


async def test_enter_is_offered_only_where_it_opens_something(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("enter")
        await shows(pilot, "COMMITTED")
        assert "Read" in seen(pilot).splitlines()[-1]
        await pilot.press("4")
        await until(pilot, lambda: "Open" not in seen(pilot).splitlines()[-1])


async def test_each_tab_has_a_command_of_its_own(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await pilot.press("enter")
        await shows(pilot, "$ kcli lag audit --by partition --watch")
        await pilot.press("2")
        await shows(pilot, "$ kcli groups members audit")
        await pilot.press("3")
        await until(pilot, lambda: "$ kcli lag audit --watch" in seen(pilot))


async def test_time_lag_is_exact_at_the_first_look_and_no_place_is_asked_about_twice(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    times = record_times.record_times

    async def counted(cluster: Any, offsets: Any, **options: Any) -> Any:
        asked.extend(offsets.items())
        return await times(cluster, offsets, **options)

    monkeypatch.setattr(record_times, "record_times", counted)
    async with world.open() as pilot:
        first = pilot.app.state.snapshot  # type: ignore[attr-defined]
        assert all(one.time_lag_exact for group in first.groups for one in group.partitions)
        await until(pilot, lambda: pilot.app.state.snapshot.time > first.time + 0.5)  # type: ignore[attr-defined]
        line = next(one for one in seen(pilot).splitlines() if "billing" in one and "→ orders" not in one)
        assert ">" not in line
    assert sorted(offset for _, offset in asked) == [40, 40]


async def test_only_so_many_places_are_asked_about_in_a_look(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcli.tui.session.LiveSession.dated", 1)
    async with world.open(interval=60.0) as pilot:
        first = pilot.app.state.snapshot  # type: ignore[attr-defined]
        assert [one.time_lag_exact for group in first.groups for one in group.partitions].count(True) == 1


async def test_an_answer_that_comes_when_its_page_is_gone_does_nothing(world: World) -> None:
    async with world.open() as pilot:
        page = await visit(pilot, "faults")
        assert isinstance(page, Faults)
        await shows(pilot, "move_leader")
        assert page.is_there
        await pilot.press("escape")
        await until(pilot, lambda: page not in pilot.app.screen_stack)
        assert not page.is_there
        page.renamed()
        page.on_rows_moved(Rows.Moved(Rows([], key=id), None))


async def test_each_tab_of_the_faults_has_its_command(world: World) -> None:
    async with world.open() as pilot:
        await pilot.press("ctrl+f")
        await shows(pilot, "$ kcli faults error")
        await pilot.press("3")
        text = await shows(pilot, "$ kcli faults kill 1")
        assert "`" not in text


def test_the_cursor_of_a_page_that_is_not_there_says_nothing_wrong(world: World) -> None:
    from kcli.tui.screens.group import Group

    assert "any more" in Group.heading.__get__(_Away(look=object()))  # type: ignore[attr-defined]
    assert Group.heading.__get__(_Away(look=None)) == "Group g"  # type: ignore[attr-defined]


class _Away:
    """A group's page before its group is known."""

    standing = None
    group = "g"

    def __init__(self, look: object) -> None:
        self.state = self
        self.snapshot = look
