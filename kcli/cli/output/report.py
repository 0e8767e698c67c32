"""`--report FILE`: a JSON line per settled batch, so that a script knows which records arrived (R1)."""

from __future__ import annotations

from json import dumps

from kcli.cli.output.written import check
from kcli.errors import KcliError
from kcli.system.files import is_stream, new_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.producer.producer import BatchOutcome


class Report:
    """An open report. Lines are complete when they are written. A reader that leaves (`| head -1`) ends the report and
    nothing else: what was accepted is delivered (D46). So does a file that takes no more, but that is a failure, and
    `problem` says it."""

    def __init__(self, path: str, *, force: bool = False) -> None:
        """Open a new file; its name is there at once, for it has to tell what arrived when the process is killed.
        Raises UsageError."""
        check(path, "--report", force=force)
        if not is_stream(path):
            with new_file(path, replace=force):
                pass
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  # open as long as the command runs
        self._path = path
        self._read = True
        self.problem: KcliError | None = None

    def add(self, outcome: BatchOutcome) -> None:
        """`unknown`: sent, and no answer tells whether it arrived; sending it again may duplicate it."""
        status = "acked" if outcome.error is None else "unknown" if outcome.unknown else "failed"
        line = {
            "status": status,
            "topic": outcome.topic,
            "partition": outcome.partition,
            "count": outcome.count,
            "base_offset": outcome.base_offset if outcome.base_offset >= 0 else None,
            "error": None if outcome.error is None else str(outcome.error),
        }
        if not self._read:
            return
        left = dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        try:
            while left:
                left = left[self._file.write(left) :]
        except BrokenPipeError:
            self._read = False
        except OSError as problem:
            self._read = False
            self.problem = KcliError(f"--report {self._path}: {problem.strerror}; the report is incomplete")

    def close(self) -> None:
        self._file.close()
