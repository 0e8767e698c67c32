"""What can go wrong with a connection and with the bytes on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from kcli.sandbox.cluster.brokers import Brokers
from kcli.sandbox.faults.planned import Planned, key_of

HTTP = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"
TLS_ALERT = b"\x15\x03\x03\x00\x02\x02\x46"  # fatal, protocol_version


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
