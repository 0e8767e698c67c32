"""A collection of garbage in the middle of a message runs code of others, which may drop the batch that is read."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import gc
from kcli.proto import core
from kcli.proto.batch import read_batches, seal

def more():
    raise StopIteration

def drop(phase, _):
    if armed and phase == "stop":
        armed.clear()
        messages.drop()

builder = core.Builder()
builder.append(1000, b"k", b"v" * 40_000_000)
sealed = seal(builder.take(), 1, 1000, 1000)
armed, messages = [], core.Messages(more)
read_batches(bytes(sealed.data))[0].give_to(messages, "t", 0)
gc.disable()
gc.callbacks.append(drop)
gc.set_threshold(1)
young = [[] for _ in range(50)]
armed.append(True)
gc.enable()
message = next(messages)
assert message.value == b"v" * 40_000_000, message.value[:10]
"""


@pytest.mark.process
def test_a_batch_that_is_dropped_while_a_message_is_made_stays_until_it_is() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 0, ended.stderr or f"ended by signal {-ended.returncode}"
