"""What can go wrong with a connection and with the bytes on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from kcli.errors import UsageError
from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.faults.planned import Planned, key_of
from kcli.sandbox.registry.refusals import Refused

HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
TLS_ALERT = b"\x15\x03\x03\x00\x02\x02\x46"  # fatal, protocol_version
CODES = {404: 40403, 500: 50001, 502: 50003, 503: 50004, 504: 50002}
"""The code that Confluent's registry gives with a status; others are their own code."""
WRONG = '{"type":"record","name":"Wrong","fields":[{"name":"wrong","type":"long"}]}'


class WireFaults:
    """Faults of one request and its answer, and of whole connections; `broker` None is any of them."""

    def __init__(self, planned: Planned, brokers: Brokers) -> None:
        self._planned = planned
        self._brokers = brokers

    def delay(self, api: str, seconds: float, *, times: int = 1, broker: int | None = None) -> None:
        """Act and answer only after `seconds`."""
        self._planned.plan("delay", api, seconds, times=times, broker=broker)

    def never_answer(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """Act, and stay silent; later answers on that connection wait for ever too, as behind a hung broker."""
        self._planned.plan("silent", api, times=times, broker=broker)

    def stop_reading(self, api: str, seconds: float, *, times: int = 1, broker: int | None = None) -> None:
        """Answer, and then read nothing from that connection for `seconds`: its buffers fill up (B5)."""
        self._planned.plan("deaf", api, seconds, times=times, broker=broker)

    def close_before(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """Close the connection when the request comes, without acting on it."""
        self._planned.plan("close", api, times=times, broker=broker)

    def lose_answer(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """Act (append, commit, join), then close instead of answering: append-then-drop."""
        self._planned.plan("cut", api, 0, times=times, broker=broker)

    def cut_answer(self, api: str, after: int, *, times: int = 1, broker: int | None = None) -> None:
        """Send `after` bytes of the answer, then close: half a frame."""
        self._planned.plan("cut", api, after, times=times, broker=broker)

    def byte_by_byte(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """Send the answer one byte at a time."""
        self._planned.plan("dribble", api, times=times, broker=broker)

    def two_at_once(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """Keep the answer back and send it in one write with the next one of that connection. Goes out alone when no
        other request comes soon."""
        self._planned.plan("hold", api, times=times, broker=broker)

    def wrong_correlation_id(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """The answer has the correlation id of another request."""
        self._planned.plan("correlation", api, 1000, times=times, broker=broker)

    def throttle(self, api: str, milliseconds: int, *, times: int = 1, broker: int | None = None) -> None:
        """Answer at once with throttle_time_ms; a good client then waits (B25)."""
        self._planned.plan("throttle", api, milliseconds, times=times, broker=broker)

    def unknown_tags(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """The answer carries tagged fields of a later Kafka, in its header and in every struct of a flexible
        version (B13)."""
        self._planned.plan("tags", api, times=times, broker=broker)

    def alter(self, api: str, change: Callable[[Any], None], *, times: int = 1, broker: int | None = None) -> None:
        """`change(response)` is done to the answer before it goes out: whatever a broker may say wrongly."""
        self._planned.plan("alter", api, change, times=times, broker=broker)

    # -- peers that speak something else --------------------------------------------------------------------------

    def answer_with(self, api: str, raw: bytes, *, times: int = 1, broker: int | None = None) -> None:
        """Send these bytes instead of an answer."""
        self._planned.plan("raw", api, raw, times=times, broker=broker)

    def answer_http(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """Answer as a web server does (B1)."""
        self.answer_with(api, HTTP, times=times, broker=broker)

    def answer_tls_alert(self, api: str, *, times: int = 1, broker: int | None = None) -> None:
        """Answer as a TLS listener does to plaintext (B1)."""
        self.answer_with(api, TLS_ALERT, times=times, broker=broker)

    def answer_size(self, api: str, size: int, *, times: int = 1, broker: int | None = None) -> None:
        """Announce a frame of `size` bytes: -1, 2**31 - 1 (B1, B14)."""
        self.answer_with(api, size.to_bytes(4, "big", signed=True) + bytes(12), times=times, broker=broker)

    # -- connections as such --------------------------------------------------------------------------------------

    def refuse(self, *, times: int = 1, broker: int | None = None) -> None:
        """Accept the next connections and close them at once."""
        self._planned.plan("refuse", None, times=times, broker=broker)

    def drop_connections(self, broker: int | None = None) -> None:
        """Close the connections that are open now."""
        for each in self._brokers:
            if broker in (None, each.node_id):
                each.drop_connections()

    def close_idle(self, seconds: float | None, broker: int | None = None) -> None:
        """Close connections on which nothing came for `seconds`: connections.max.idle.ms (B24). None: never."""
        for each in self._brokers:
            if broker in (None, each.node_id):
                each.close_idle_after(seconds)

    # -- older brokers --------------------------------------------------------------------------------------------

    def speak_only(self, api: str, low: int, high: int, *, broker: int | None = None) -> None:
        """Speak only versions `low` to `high` of an API, and say so. Other versions of ApiVersions are answered with
        UNSUPPORTED_VERSION in a v0 body (B9), of other APIs with the end of the connection. Until `clear`."""
        for each in self._brokers:
            if broker in (None, each.node_id):
                self._planned.limited[each.node_id, key_of(api)] = (low, high)


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
