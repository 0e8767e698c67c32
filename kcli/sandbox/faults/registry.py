"""Faults of the registry beside the brokers: late answers, refusals, and a schema in place of another."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from kcli.errors import UsageError
from kcli.sandbox.registry.refusals import Refused

CODES = {404: 40403, 500: 50001, 502: 50003, 503: 50004, 504: 50002}
"""The code that Confluent's registry gives with a status; others are their own code."""
WRONG = '{"type":"record","name":"Wrong","fields":[{"name":"wrong","type":"long"}]}'


class _Ordered:
    """One fault, and how often it is still to happen."""

    def __init__(self, kind: str, value: Any, path: str | None, times: int) -> None:
        self.kind, self.value, self.path, self.times = kind, value, path, times


class RegistryFaults:
    """`there` is whether the sandbox has a registry. Faults for the same thing stack: they happen in the order in which
    they were ordered."""

    def __init__(self, there: bool) -> None:
        self._there = there
        self._ordered: list[_Ordered] = []

    def delay_registry(self, seconds: float, *, path: str | None = None, times: int = 1) -> None:
        """The registry's next `times` answers come `seconds` late: to requests whose path begins with `path`, such as
        /schemas/ids."""
        self._order("delay_registry", seconds, path, times)

    def fail_registry(self, status: int, *, path: str | None = None, times: int = 1) -> None:
        """The registry's next `times` answers have this HTTP status, such as 500, 404 or 401: to requests whose path
        begins with `path`."""
        if not 400 <= status <= 599:
            raise UsageError(f"status {status}: a refusal has an HTTP status from 400 to 599")
        self._order("fail_registry", status, path, times)

    def wrong_schema(self, id: int, *, times: int = 1) -> None:
        """The registry's next `times` answers about this id are another schema."""
        self._order("wrong_schema", id, None, times)

    def _order(self, kind: str, value: Any, path: str | None, times: int) -> None:
        if not self._there:
            raise UsageError("this sandbox has no registry").hinted("sandbox-registry")
        self._ordered.append(_Ordered(kind, value, path, times))

    # -- what `Faults` asks -------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Forget what has not happened yet."""
        self._ordered.clear()

    @property
    def pending(self) -> int:
        """How many faults are still to happen."""
        return sum(fault.times for fault in self._ordered)

    def waiting(self) -> list[dict[str, Any]]:
        """The faults that are still to happen, as plain values."""
        nothing = {"broker": None, "topic": None, "partition": None}
        return [
            {**nothing, "fault": fault.kind, "api": fault.path, "what": str(fault.value), "times": fault.times}
            for fault in self._ordered
        ]

    # -- what the registry asks ---------------------------------------------------------------------------------------

    async def happen(self, path: str) -> None:
        """Wait, and raise Refused, as it was ordered for a request of this path."""
        seconds = self._taken("delay_registry", path)
        if seconds is not None:
            await asyncio.sleep(seconds)
        status = self._taken("fail_registry", path)
        if status is not None:
            raise Refused(status, CODES.get(status, status), "the sandbox was asked to refuse this")

    def answered(self, parts: Sequence[str]) -> object | None:
        """The answer in place of the right one, None for that."""
        for fault in self._ordered:
            if fault.kind == "wrong_schema" and list(parts[-3:]) == ["schemas", "ids", str(fault.value)]:
                self._use(fault)
                return {"schema": WRONG}
        return None

    def _taken(self, kind: str, path: str) -> Any:
        for fault in self._ordered:
            if fault.kind == kind and path.startswith(fault.path or "/"):
                self._use(fault)
                return fault.value
        return None

    def _use(self, fault: _Ordered) -> None:
        fault.times -= 1
        if fault.times <= 0:
            self._ordered.remove(fault)
