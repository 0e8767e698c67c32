"""`--report FILE`: a JSON line per settled batch, so that a script knows which records arrived (R1)."""

from __future__ import annotations

from json import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.producer.producer import BatchOutcome


class Report:
    """An open report. Lines are complete when they are written. A reader that leaves (`| head -1`) ends the report and
    nothing else: what was accepted is delivered (D46)."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115  # open as long as the command runs
        self._read = True

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
        try:
            self._file.write(dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        except BrokenPipeError:
            self._read = False

    def close(self) -> None:
        self._file.close()
