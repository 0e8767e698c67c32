"""A child that outlives its parent."""

from __future__ import annotations

import os
import select
import time

import pytest

from kcli.system import child
from tests.programs import until


def _stays(tell: int) -> None:
    os.write(tell, b"begun")
    time.sleep(20)


@pytest.mark.process
def test_it_holds_no_file_of_its_parent() -> None:
    """A server that ends when its input ends would else wait for the child too."""
    end, begin = os.pipe()
    hear = child.forked(_stays, 5)
    assert os.read(hear, 5) == b"begun"
    os.close(begin)
    assert select.select([end], [], [], 2)[0], "the child holds the writing end"
    assert os.read(end, 1) == b""
    assert not select.select([hear], [], [], 0)[0]  # it still runs, and can answer
    os.close(end)
    os.close(hear)


def _leaves_a_grandchild(tell: int) -> None:
    """Whose number it tells; neither it nor the child ends by itself."""
    if (grandchild := os.fork()) == 0:
        time.sleep(60)
    os.write(tell, f"{os.getpid()} {grandchild} ".encode())
    if MODE == "waits":
        time.sleep(60)


MODE = ""


@pytest.mark.process
@pytest.mark.parametrize("mode", ["waits", "ends"])
def test_all_that_it_started_ends_with_it_or_at_its_deadline(monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    monkeypatch.setattr("tests.system.test_child.MODE", mode)
    hear = child.forked(_leaves_a_grandchild, 1)
    numbers = os.read(hear, 100).split()
    assert select.select([hear], [], [], 10)[0], "the pipe ends when nobody is left that could write to it"
    assert os.read(hear, 1) == b""
    os.close(hear)
    until(lambda: not any(os.path.exists(f"/proc/{int(one)}/cmdline") and _runs(int(one)) for one in numbers), 10)


def _runs(number: int) -> bool:
    try:
        with open(f"/proc/{number}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
