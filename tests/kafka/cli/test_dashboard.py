"""The dashboard's dialogs on a real Apache Kafka: a reset that Kafka's own tool sees, a record that kcat reads, an
undo command that is typed as it was shown, and no faults to order."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.widgets import Input, Select

from kcli.admin.groups.commits import write_commits
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import ClientSettings, parse_bootstrap
from kcli.tui import routes
from kcli.tui.app import Dashboard
from kcli.tui.dialogs.produce import Produce
from kcli.tui.dialogs.reset import Reset
from kcli.tui.screens.group import Group
from kcli.tui.session import LiveSession
from tests.kafka.cluster import Kafka
from tests.programs import kcli
from tests.tui.conftest import seen, shows, until


async def seed(settings: ClientSettings, topic: str, group: str) -> None:
    async with Client(settings) as client:
        await write_commits(
            Coordinators(client.cluster), group, {TopicPartition(topic, 0): OffsetAndMetadata(offset=40)}
        )


async def test_a_reset_a_record_and_no_faults(
    kafka: Kafka, topic_name: Callable[[], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    topic, group = topic_name(), f"g-{topic_name()}"
    assert kcli("topics", "create", topic, "-p", "1", "-b", kafka.bootstrap).code == 0
    lines = "".join(f"{n}\n" for n in range(100)).encode()
    assert kcli("produce", topic, "-b", kafka.bootstrap, stdin=lines).code == 0
    settings = ClientSettings(bootstrap=parse_bootstrap(kafka.bootstrap))
    await seed(settings, topic, group)
    app = Dashboard(LiveSession(settings, interval=0.5), place=routes.Group(group))
    async with app.run_test(size=(200, 40), notifications=True) as pilot:
        await until(pilot, lambda: isinstance(app.screen, Group) and app.screen.partition is not None, 20.0)
        await pilot.press("r")
        await until(pilot, lambda: isinstance(app.screen, Reset))
        app.screen.query_one("#form", Select).value = "shift"
        app.screen.query_one("#amount", Input).value = "-15"
        await shows(pilot, f"--topic {topic}:0 --shift-by -15 --execute", 10.0)
        await shows(pilot, "1 of 1 would change", 10.0)
        app.screen.query_one("#confirm", Input).value = group
        app.screen.query_one("#confirm", Input).focus()
        await pilot.press("enter")
        text = await shows(pilot, "1 reset", 10.0)
        theirs = kafka.tool(
            "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand",
            "--bootstrap-server", kafka.bootstrap, "--describe", "--group", group,
        )  # fmt: skip
        assert re.search(rf"{topic}\s+0\s+25\s+100\s+75", theirs)
        words = re.sub(r"[│\s]+", " ", text[text.index("kcli undo") :])
        back = shlex.split(words[: words.index("--execute")])[1:]
        assert kcli(*back, "--execute", "-b", kafka.bootstrap).code == 0
        await pilot.press("escape", "n")
        await until(pilot, lambda: isinstance(app.screen, Produce))
        app.screen.query_one("#topic", Input).value = topic
        await pilot.press("ctrl+s")
        await shows(pilot, f"1 sent; the last one is in {topic}[0] at offset 100", 15.0)
        await pilot.press("escape", "ctrl+f")
        await shows(pilot, "This cluster is not a sandbox with fault injection", 10.0)
        await pilot.press("escape")
        row = re.compile(rf"{group} .* 61 ")  # 101 records, back at 40; groups of other tests may come before it
        await until(pilot, lambda: row.search(seen(pilot)), 15.0)
