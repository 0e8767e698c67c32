"""The way to one address, step by step, with the engine's own pieces: DNS, TCP, TLS, ApiVersions, SASL."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

from kcli.broker.connection.handshake import agree_on_versions
from kcli.broker.connection.resolve import not_a_port, open_socket, resolve
from kcli.broker.connection.versions import METADATA, VOTE
from kcli.broker.security.access import Access
from kcli.cli.commands.doctor.endpoint import Endpoint, reason, shown
from kcli.cli.commands.doctor.steps import FAILED, OK, SKIPPED, WARNING, Check, Fault
from kcli.errors import ConnectError, DeadlineExceeded, KcliError
from kcli.model import Address
from kcli.settings import ClientSettings

LOOKS = 4  # times of a step for it and the second looks behind it


class Checks(Endpoint):
    """One address. `steps` are those tried so far; `connection` is open when all of them passed."""

    def __init__(
        self,
        address: Address,
        settings: ClientSettings,
        access: Access | None,
        seconds: float,
        broker: int | None = None,
    ) -> None:
        super().__init__(address, settings, access, seconds)
        self.broker = broker
        self.steps: list[Check] = []
        self._found: list[tuple[int, tuple[Any, ...]]] = []

    @property
    def failed(self) -> Check | None:
        """The step at which it ended."""
        return next((step for step in self.steps if step.status == FAILED), None)

    async def run(self) -> None:
        """Up to an authenticated connection, or to the step that fails."""
        rungs: list[tuple[str, Callable[[], Awaitable[str | Fault]]]] = [("DNS", self._resolve), ("TCP", self._reach)]
        if self.access is not None and self.access.context is not None:
            rungs.append(("TLS", self._secure))
        rungs.append(("ApiVersions", self._agree))
        if self.access is not None and self.access.sasl is not None:
            rungs.append(("SASL", self._authenticate))
        for at, (name, rung) in enumerate(rungs):
            if not await self.take(name, rung):
                for later, _ in rungs[at + 1 :]:
                    self.steps.append(Check(step=later, address=self.name, broker=self.broker, status=SKIPPED))
                return

    async def take(self, name: str, rung: Callable[[], Awaitable[str | Fault]]) -> bool:
        """One step, timed; False when it fails. A rung that returns a Fault warns."""
        begin = time.perf_counter()
        step = Check(step=name, address=self.name, broker=self.broker)
        self.steps.append(step)
        try:
            async with asyncio.timeout(self.seconds * LOOKS):
                outcome = await rung()
            step.status, step.result = OK, str(outcome)
            if isinstance(outcome, Fault):
                step.fail(outcome, WARNING)
        except Fault as wrong:
            step.fail(wrong)
        except TimeoutError:
            step.fail(Fault("silent", f"no response within {self.seconds:g} s"))
        step.milliseconds = (time.perf_counter() - begin) * 1000
        return step.status != FAILED

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()

    # -- the rungs --------------------------------------------------------------------------------------------------

    async def _resolve(self) -> str:
        host = self.there.host
        try:
            async with asyncio.timeout(self.seconds):
                self._found = await resolve(host, self.there.port)
        except TimeoutError:
            raise Fault("name", f"{host} is not resolved within {self.seconds:g} s", host=host) from None
        except OSError as problem:
            raise Fault("name", f"{host} does not resolve: {problem.strerror or problem}", host=host) from None
        way = f" via {shown(self.there)}" if self.there != self.address else ""
        return ", ".join(dict.fromkeys(str(where[0]) for _, where in self._found)) + way

    async def _reach(self) -> str:
        """Every address of the name is tried, as the client does (B23)."""
        loop = asyncio.get_running_loop()
        reasons: dict[str, str] = {}
        fault = "unreachable"
        if wrong := not_a_port(self.there.port):
            raise Fault(fault, wrong)
        for family, where in self._found:
            sock = open_socket(family)
            try:
                async with asyncio.timeout(self.seconds * 0.9 / len(self._found)):
                    await loop.sock_connect(sock, where)
                self.reached = family, where
                dead = "".join(f"; {one}: {why}" for one, why in reasons.items())
                return f"connected to {where[0]}{dead}"
            except OSError as problem:
                reasons[str(where[0])], fault = reason(problem)
            finally:
                sock.close()
        raise Fault(fault, "; ".join(f"{one}: {why}" for one, why in reasons.items()))

    async def _secure(self) -> str | Fault:
        from kcli.cli.commands.doctor.tls import describe, diagnose

        try:
            self.connection = await self.dial()
        except ConnectError as problem:
            raise await diagnose(self, problem) from problem
        return describe(self)

    async def _agree(self) -> str:
        from kcli.cli.commands.doctor.diagnose import generation, hung_up, lacking

        try:
            if self.connection is None:
                self.connection = await self.open()
            try:
                self.versions = await agree_on_versions(self.connection, self.seconds)
            except ConnectError:
                if not self.connection.hung_up:
                    raise
                self.connection = await self.dial()
                self.versions = await agree_on_versions(self.connection, self.seconds, 0)  # B9
        except DeadlineExceeded:
            raise Fault("silent", "it accepts connections but does not respond") from None
        except KcliError as problem:
            raise await hung_up(self, problem) from problem
        self.connection.versions = self.versions
        if VOTE in self.versions and METADATA not in self.versions:
            raise Fault("controller", "a KRaft controller responds there, not a broker")
        missing = lacking(self.versions)
        if missing:
            raise Fault("too-old", missing)
        return generation(self.versions)

    async def _authenticate(self) -> str:
        from kcli.broker.connection.handshake import OtherForm
        from kcli.broker.security.authentication import FOR_EVER, authenticate
        from kcli.broker.security.secured import SecuredConnection
        from kcli.cli.commands.doctor.diagnose import refused

        access, host = self.access, self.address.host
        assert access is not None
        assert access.sasl is not None
        assert isinstance(self.connection, SecuredConnection)
        try:
            try:
                until = await authenticate(self.connection, access, host, self.seconds)
            except OtherForm:  # the same password in its other form, as the client tries it
                self.connection.close()
                self.connection = await self.dial()
                assert isinstance(self.connection, SecuredConnection)
                self.connection.versions = await agree_on_versions(self.connection, self.seconds)
                until = await authenticate(self.connection, access, host, self.seconds)
        except KcliError as problem:
            raise await refused(self, problem) from problem
        who = f" as {access.sasl.username}" if access.sasl.username else ""
        left = until - asyncio.get_running_loop().time()
        return f"{access.sasl.mechanism}{who}{f', for {left:.0f} s' if until < FOR_EVER else ''}"
