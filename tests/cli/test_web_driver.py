"""`kcli tui` where no terminal is but something that draws for it: a browser, by textual-serve."""

from __future__ import annotations

import os
import subprocess

import pytest

from kcli.cli.main import main
from tests.ports import free_port
from tests.programs import KCLI


@pytest.mark.process
def test_a_web_driver_is_as_good_as_a_terminal() -> None:
    env = os.environ | {"TEXTUAL_DRIVER": "textual.drivers.web_driver:WebDriver", "COLUMNS": "100", "ROWS": "30"}
    words = [*KCLI, "tui", "-b", f"127.0.0.1:{free_port()}"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env) as ran:
        assert ran.stdout is not None
        try:
            assert ran.stdout.readline() == b"__GANGLION__\n", ran.stderr and ran.stderr.read()
        finally:
            ran.kill()


@pytest.mark.process
def test_neither_is_a_sentence() -> None:
    env = {name: value for name, value in os.environ.items() if name != "TEXTUAL_DRIVER"}
    ran = subprocess.run(
        [*KCLI, "tui"], stdin=subprocess.DEVNULL, capture_output=True, env=env, timeout=60, check=False
    )
    assert (ran.returncode, b"the dashboard needs a terminal" in ran.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["gruops"], "unknown screen 'gruops'; screens: alerts, groups"),
        (["topic", "one", "two"], "unknown screen 'topic one two'"),
        (["--theme", "pink"], "--theme pink: unknown theme"),
        (["--alert", "pigeon"], "--alert pigeon: expected bell"),
        (["--replay", "nothing.ndjson"], "--replay nothing.ndjson: No such file"),
    ],
)
def test_what_is_mistyped_is_refused_at_the_start_with_web_too(
    words: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def serve(*_: object) -> int:
        raise AssertionError("it is served")

    monkeypatch.setattr("kcli.tui.web.serve", serve)
    monkeypatch.delenv("TEXTUAL_DRIVER", raising=False)
    line = ["tui", "-b", "127.0.0.1:1", *words]
    assert main([*line, "--web"]) == 2
    served = capsys.readouterr().err
    assert sentence in served
    monkeypatch.setenv("TEXTUAL_DRIVER", "textual.drivers.web_driver:WebDriver")  # else it wants a terminal first
    assert main(line) == 2
    assert capsys.readouterr().err == served
