"""What every fake broker behind a real `NetworkCluster` has in common: the state of its connections."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kcli.errors import KcliError


class IdleBroker:
    """Connected, with nothing under way and nothing wrong: what `model.BrokerConnection` adds to a broker. A fake
    overrides what its scene is about."""

    node_id = 0
    connected = True
    connecting = False
    met = True
    in_flight = 0
    busy = False
    muted = False
    long_silence = 0.0
    backing_off = False
    last_attempt = 0.0
    failing: tuple[float, KcliError] | None = None

    @property
    def name(self) -> str:
        return f"broker {self.node_id}"

    async def ask(self, request: Any, **_: Any) -> Any:
        raise NotImplementedError

    def post(self, requests: Any, *, timeout: float, after: Any = None, enough: int = 1) -> int:
        return 0

    async def tell(self, request: Any, *, max_version: int | None = None) -> None:
        raise NotImplementedError

    async def versions(self) -> dict[int, tuple[int, int]]:
        return {}

    async def reach(self) -> None:
        await self.versions()

    async def retire(self) -> None:
        await self.close()

    async def close(self) -> None:
        """Nothing is open."""
