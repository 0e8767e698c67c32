"""What went wrong in Spark, in one sentence: our own error out of a Spark trace, else Spark's first words.

Our errors cross Spark as text, the last line of a Python traceback: `kcli.errors.UsageError: the sentence`.
"""

from __future__ import annotations

import re
from pathlib import Path

from kcli.errors import KcliError

_OURS = re.compile(r"^\s*(kcli(?:\.\w+)+)\.(\w+): (.*(?:\n(?!\s|$|kcli\.).*)*)", re.MULTILINE)
_PYTHON = re.compile(r"^(\w+(?:\.\w+)*(?:Error|Exception)): (.+)$", re.MULTILINE)
_JAVA = re.compile(r"^: (?:[a-z]\w*\.)+\w+: (?=.)")
"""Py4J's second line: what Java raised, and why."""
_NOISE = re.compile(r"@[0-9a-f]{6,}|\s*SQLSTATE: \w+|^\[[A-Z_.0-9]+\]\s*")


class PipelineError(KcliError):
    """The error for the user. `exit_code` is that of the error it came from."""

    def __init__(self, message: str, exit_code: int = 1) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def told(error: BaseException, log: Path | None = None) -> KcliError:
    """The error to show for what Spark raised. One of ours stays as it is."""
    if isinstance(error, KcliError):
        return error
    text = _text(error)
    ours = list(_OURS.finditer(text))
    if ours:
        module, name, sentence = ours[-1].groups()
        return PipelineError(_clean(sentence), _exit_code(module, name)).hinted("spark-option")
    where = f"; the log is {log}" if log is not None else ""
    theirs = list(_PYTHON.finditer(text))
    lines = [line for line in text.splitlines() if line.strip()]
    java = next((line for line in lines if _JAVA.match(line)), None)
    first = _JAVA.sub("", java) if java is not None else theirs[-1].group(2) if theirs else lines[0] if lines else ""
    return PipelineError(f"Spark: {_clean(first) or type(error).__name__}{where}")


def _text(error: BaseException) -> str:
    """The whole text of an error, causes included."""
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
