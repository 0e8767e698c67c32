"""Summarizes Spark failures in one sentence: kcli's own error from a Spark trace, or else Spark's first words.

Our errors pass through Spark as text, the last line of a Python traceback: `kcli.errors.UsageError: the sentence`.
"""

from __future__ import annotations

import re
from pathlib import Path

from kcli.errors import KcliError
from kcli.model import TopicPartition

_OURS = re.compile(r"^\s*(kcli(?:\.\w+)+)\.(\w+): (.*(?:\n(?!\s|$|kcli\.).*)*)", re.MULTILINE)
_PYTHON = re.compile(r"^(\w+(?:\.\w+)*(?:Error|Exception)): (.+)$", re.MULTILINE)
_JAVA = re.compile(r"^: (?:[a-z]\w*\.)+\w+: (?=.)")
"""Py4J's second line: Java's exception and its message."""
_NOISE = re.compile(r"@[0-9a-f]{6,}|\s*SQLSTATE: \w+|^\[[A-Z_.0-9]+\]\s*")


_PLACE = re.compile(
    r"^\s*kcli\.pipeline\.formats\.arrow\.(?:BadRecord|UnknownField): (\S+)\[(\d+)\] offset (\d+):", re.MULTILINE
)
FULL = "No space left on device"
_BUSY = re.compile(r"(?:failed|the Python worker) to connect back")


class PipelineError(KcliError):
    """The error for the user. `exit_code` is that of the original error."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def told(error: BaseException, log: Path | None = None) -> KcliError:
    """Return the error to show for a Spark exception. kcli's own errors are returned unchanged."""
    if isinstance(error, KcliError):
        return error
    text = _text(error)
    ours = list(_OURS.finditer(text))
    if ours:
        module, name, sentence = ours[-1].groups()
        return PipelineError(_clean(sentence), _exit_code(module, name)).hinted("spark-option")
    where = f"; the log is {log}" if log is not None else ""
    if busy(error):
        return PipelineError(
            "this machine is too busy: a Python process of Spark did not start within ten seconds; run it again "
            f"when the machine is less busy, or with fewer parallel tasks (master local[1]){where}"
        )
    theirs = list(_PYTHON.finditer(text))
    lines = [line for line in text.splitlines() if line.strip()]
    java = next((line for line in lines if _JAVA.match(line)), None)
    first = _JAVA.sub("", java) if java is not None else theirs[-1].group(2) if theirs else lines[0] if lines else ""
    full = f" {FULL}" if FULL in _whole(error) and FULL not in first else ""
    return PipelineError(f"Spark: {_clean(first) or type(error).__name__}{full}{where}")


def record_of(error: BaseException) -> tuple[TopicPartition, int] | None:
    """Return the record whose fields or values did not fit and ended a batch; None for other errors."""
    found = _PLACE.search(_text(error))
    return None if found is None else (TopicPartition(found[1], int(found[2])), int(found[3]))


def busy(error: BaseException) -> bool:
    """Whether Spark gave up on a Python process that did not start in time."""
    return _BUSY.search(_whole(error)) is not None


def _whole(error: BaseException) -> str:
    """Return the text of an error with Java's traces, which a query's error lacks."""
    parts, cause = [_text(error)], getattr(error, "_cause", None)
    while cause is not None:
        parts.append(str(getattr(cause, "_stackTrace", cause)))
        cause = getattr(cause, "_cause", None)
    return "\n".join(parts)


def _text(error: BaseException) -> str:
    """Return the whole text of an error, including its causes."""
    parts = [str(error)]
    desc = getattr(error, "_desc", None) or getattr(error, "desc", None)
    if desc:
        parts.append(str(desc))
    cause = error.__cause__
    return "\n".join(parts if cause is None else [*parts, _text(cause)])


def _clean(text: str) -> str:
    kept = " ".join(text.split())
    while True:
        shorter = _NOISE.sub("", kept).strip()
        if shorter == kept:
            return kept
        kept = shorter


def _exit_code(module: str, name: str) -> int:
    from importlib import import_module

    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError):
        return 1
    return int(getattr(found, "exit_code", 1))
