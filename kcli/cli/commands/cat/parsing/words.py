"""What kcat says and how it ends: `% …` on stderr by verbosity, `% ERROR: …`; all failures are exit code 1."""

from __future__ import annotations

import sys

from kcli.cli.output.messages import discard
from kcli.errors import KcliError

FATAL = 1  # exit code


class Fatal(KcliError):
    """The end of a run, as a sentence."""

    exit_code = FATAL


class Misused(Exception):
    """A command line that makes no sense; the usage is printed with it."""


class Done(Exception):
    """Nothing more is to be done: exit code 0 after printing `text`."""

    def __init__(self, text: str = "") -> None:
        super().__init__(text)
        self.text = text


def say(verbosity: int, level: int, sentence: str) -> None:
    """A line of kcat's style on stderr, if the verbosity allows it (-q: 0, else 1, each -v one more)."""
    if verbosity >= level:
        _write(f"% {sentence}\n")


def fail(sentence: str, *, terminating: bool = False) -> None:
    """`% ERROR: …`, which -q does not silence."""
    _write(f"% ERROR: {sentence}{': terminating' if terminating else ''}\n")


def _write(line: str) -> None:
    from kcli.text.escape import visible

    try:
        sys.stderr.write(visible(line[:-1]) + "\n")
        sys.stderr.flush()
    except OSError:
        discard(2)  # its reader left, or its disk is full; the exit code still tells


def broker_words(code: int, otherwise: str) -> str:
    """librdkafka's words for the errors that metadata can carry; scripts look for them."""
    return "Broker: " + BROKER.get(code, otherwise)


BROKER = {
    3: "Unknown topic or partition",
    5: "Leader not available",
    9: "Replica not available",
    17: "Invalid topic",
    29: "Topic authorization failed",
    31: "Cluster authorization failed",
    72: "No matching listener on broker where partition leader is hosted",
}
