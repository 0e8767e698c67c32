"""What a sandbox is started with: settings, keyword arguments, or both."""

from __future__ import annotations

import pytest

from kcli.errors import UsageError
from kcli.sandbox import Sandbox, SandboxSettings
from kcli.sandbox.thread import SandboxThread


def test_keyword_arguments_change_the_settings() -> None:
    settings = SandboxSettings(brokers=2, topics={"t": 3})
    sandbox = Sandbox(settings, brokers=3)
    assert (sandbox.settings.brokers, sandbox.settings.topics) == (3, {"t": 3})
    assert settings.brokers == 2
    with SandboxThread(settings) as running:
        assert running.bootstrap.count(",") == 1


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(TypeError, match="partition"):
        Sandbox(partition=3)


@pytest.mark.parametrize(
    "settings", [SandboxSettings(host="0.0.0.0"), SandboxSettings(brokers=0), SandboxSettings(disks=0)]
)
def test_settings_that_make_no_sense_are_refused(settings: SandboxSettings) -> None:
    with pytest.raises(UsageError):
        Sandbox(settings)


def test_brokers_are_in_the_racks_in_turn() -> None:
    settings = SandboxSettings(racks=("a", None))
    assert [settings.rack(number) for number in range(3)] == ["a", None, "a"]
    assert SandboxSettings().rack(0) is None
