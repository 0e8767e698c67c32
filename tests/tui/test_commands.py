"""The command below everything, pasted elsewhere, reaches the same cluster and shows the same."""

from __future__ import annotations

import ast
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kcli import tui
from kcli.admin.groups.commits import write_commits
from kcli.asking.coordinators import Coordinators
from kcli.cli.commands.tui import TuiOptions, _live, _of_profile, aim
from kcli.cli.parsing import registry
from kcli.cli.parsing.groups import ConnectionOptions
from kcli.cli.runtime.connection import Connection
from kcli.client import Client
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.tui.app import Dashboard
from kcli.tui.session import LiveSession
from tests.tui.conftest import seen, shows, until
from tests.tui.world import World, a_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.tui.conftest import Open


@pytest.fixture
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two profiles, of which one is the usual one."""
    file = tmp_path / "config.toml"
    file.write_text(
        'default_profile = "prod"\n[profiles.prod]\nbootstrap = "p:1"\n[profiles.test]\nbootstrap = "t:2"\n'
    )
    monkeypatch.setenv("KCLI_CONFIG", str(file))
    monkeypatch.chdir(tmp_path)
    for name in ("KCLI_PROFILE", "KCLI_BOOTSTRAP", "KCLI_BOOTSTRAP_SERVERS"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("profiles")
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, "--profile prod"),  # the default of this shell is not that of another
        ({"profile": "test"}, "--profile test"),
        ({"bootstrap": "b1:9092,b2:9092"}, "-b b1:9092,b2:9092"),
        ({"properties": ["bootstrap.servers=b1:1", "ssl.ca.location=/ca", "sasl.password=secret"]},
         "-b b1:1 -X ssl.ca.location=/ca -X 'sasl.password=***'"),
        ({"bootstrap": "b:1", "broker_map": ["x=localhost"]}, "-b b:1 --broker-map x=localhost"),
        ({"bootstrap": "b:1", "config_file": "a file"}, "-b b:1 -F 'a file'"),
    ],
)  # fmt: skip
def test_a_command_says_which_cluster_it_means(values: dict[str, Any], expected: str) -> None:
    Path("a file").touch()
    options = ConnectionOptions(**values)
    assert aim(options, Connection(options)) == expected


@pytest.fixture
def world() -> Iterator[World]:
    with a_world() as one:
        yield one


@pytest.mark.usefixtures("profiles")
def test_pages_read_at_the_isolation_of_the_properties(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    monkeypatch.setattr(tui.session, "LiveSession", lambda _, isolation, **__: made.append(isolation))
    for given, isolation in (([], "read_committed"), (["isolation.level=read_uncommitted"], "read_uncommitted")):
        _live(TuiOptions(properties=given), 5.0, 60.0)()
        assert made.pop() == isolation
    file = Path(os.environ["KCLI_CONFIG"])
    file.write_text(file.read_text() + 'isolation.level = "read_uncommitted"\n')
    for name in ("prod", "test"):
        _of_profile(name, TuiOptions(), 5.0, 60.0)()
    assert made == ["read_committed", "read_uncommitted"]


async def test_every_command_names_the_cluster(world: World) -> None:
    async with world.open() as pilot:
        assert isinstance(pilot.app, Dashboard)
        where = f"-b {world.sandbox.bootstrap}"
        await shows(pilot, f"$ kcli lag --watch {where}")
        await pilot.press("ctrl+t")
        await shows(pilot, f"$ kcli topics list {where}")
        await pilot.press("y")
        assert pilot.app.clipboard == f"kcli topics list {where}"
        await pilot.press("n")
        await shows(pilot, where)
        await pilot.press("ctrl+o")
        assert pilot.app.clipboard.startswith("kcli produce")
        assert pilot.app.clipboard.endswith(where)


async def test_the_order_is_in_the_command_where_the_command_has_it(world: World) -> None:
    async with world.open() as pilot:
        where = f"-b {world.sandbox.bootstrap}"
        await pilot.press("ctrl+t")
        await shows(pilot, f"$ kcli topics list {where}")
        for keys, command in [
            ("S", "stats --sort size"), ("I", "stats --sort rate"), ("C", "stats --sort offsets"),
            ("W", "stats --sort last_write"), ("i", "stats --internal --sort last_write"),
            ("W", "list --internal"), ("N", "list --internal"),
        ]:  # fmt: skip
            await pilot.press(keys)
            await shows(pilot, f"$ kcli topics {command} {where}")
        await pilot.press("ctrl+b")
        await shows(pilot, "127.0.0.1")
        await pilot.press("enter")
        await shows(pilot, f"$ kcli logdirs replicas --broker 1 {where}")
        await pilot.press("S")
        await shows(pilot, f"$ kcli logdirs replicas --broker 1 --sort size {where}")


async def test_kclis_own_groups_are_hidden_counted_and_shown_on_request(world: World) -> None:
    async with Client(world.settings()) as client:
        at = {TopicPartition(world.topic, 0): OffsetAndMetadata(offset=1)}
        await write_commits(Coordinators(client.cluster), "kcli-copy.orders.mail.0badcafe", at)
    async with world.open() as pilot:
        await shows(pilot, "Groups (1), 1 of kcli's own hidden: i")
        assert "kcli-copy" not in seen(pilot)
        assert " ▏◌1 ▏lag 120 ▏" in seen(pilot)  # it is in no count
        await pilot.press("i")
        await shows(pilot, "kcli-copy.orders.mail.0badcafe")
        await shows(pilot, "Groups (2), 1 of kcli's own")
        await shows(pilot, f"$ kcli lag --internal --watch -b {world.sandbox.bootstrap}")
        await pilot.press("i")
        await shows(pilot, "Groups (1), 1 of kcli's own hidden: i")
        assert "kcli-copy" not in seen(pilot)


async def test_an_unguarded_profile_is_named_in_the_head_and_in_commands(world: World) -> None:
    session = LiveSession(world.settings(), name="staging", aim="--profile staging", interval=0.2)
    async with Dashboard(session).run_test(size=(120, 30)) as pilot:
        await shows(pilot, "$ kcli lag --watch --profile staging")
        assert "staging" in seen(pilot).splitlines()[0]


async def test_the_filter_is_in_the_command(dashboard: Open) -> None:
    async with dashboard() as pilot:
        await shows(pilot, "ORPHANED")
        await pilot.press("slash", *"fraud")
        await until(pilot, lambda: "$ kcli lag fraud --by group --watch -b " in seen(pilot))
        await pilot.press("escape", "ctrl+t")
        await shows(pilot, "Topics (2)")
        await pilot.press("slash", *"pay !orders")
        await until(pilot, lambda: seen(pilot).find(" | grep -iF pay | grep -viF orders") > 0)


def test_every_command_that_a_sentence_of_the_dashboard_names_is_there() -> None:
    commands = {name for name, _ in registry.every()}
    with_verbs = {name.split()[0] for name in commands if " " in name}
    named: dict[str, str] = {}
    for path in Path(tui.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                named |= dict.fromkeys(re.findall(r"kcli ([a-z]+ [a-z-]+)", node.value), path.name)
    named = {words: file for words, file in named.items() if words.split()[0] in with_verbs}
    assert {words: file for words, file in named.items() if words not in commands} == {}
    assert "quotas alter" in named
