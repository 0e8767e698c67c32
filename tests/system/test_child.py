"""A child that outlives its parent."""

from __future__ import annotations

import os
import select
import time

import pytest

from kcli.system import child


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
