"""The other end of `control.py`: find out whether a cluster is a sandbox that takes faults, and inject them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from kcli.errors import ConnectError, KcliError
from kcli.model import Cluster

CONTROL = "kcli.sandbox.control"
BROKER = 4  # a kind of resource
WITHIN = 5.0  # seconds
LONGEST = 1 << 20


class NotASandbox(KcliError):
    """The cluster is no sandbox, or takes no faults."""

    def __init__(self) -> None:
        super().__init__("this is not a sandbox with fault injection")
        self.hinted("sandbox-control")


async def find(cluster: Cluster) -> str:
    """Where the sandbox listens, as `address/token`. Raises NotASandbox; KcliError when no broker can be asked."""
    from kcli.proto.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource

    broker = await cluster.anyone()
    resource = DescribeConfigsResource(
        resource_type=BROKER, resource_name=str(broker.node_id), configuration_keys=[CONTROL]
    )
    answer = await broker.ask(DescribeConfigsRequest(resources=[resource]))
    for result in answer.results:
        for row in result.configs:
            if row.name == CONTROL and row.value and _is_here(row.value):
                return row.value
    raise NotASandbox


def _is_here(value: str) -> bool:
    """A broker may say anything: only this machine is ever told something."""
    host, _, rest = value.partition(":")
    port, slash, token = rest.partition("/")
    return host == "127.0.0.1" and port.isdigit() and bool(slash and token)


async def tell(address: str, do: str, **facts: Any) -> dict[str, Any]:
    """Have it done: `look`, `fault` (name=, with={}), `clear`, `stop` and `start` (broker=). How the sandbox is then:
    its `brokers`, what is `pending`, which `faults` there are. Raises KcliError with its sentence."""
    place, _, token = address.partition("/")
    host, _, port = place.partition(":")
    line = json.dumps(
        {"token": token, "do": do, **{("with" if name == "given" else name): f for name, f in facts.items()}}
    )
    try:
        async with asyncio.timeout(WITHIN):
            reader, writer = await asyncio.open_connection(host, int(port), limit=LONGEST)
            try:
                writer.write(line.encode() + b"\n")
                answer = await reader.readline()
            finally:
                writer.close()
    except TimeoutError:
        raise ConnectError(f"the sandbox's control port {place} does not answer") from None
    except OSError as problem:
        raise ConnectError(f"the sandbox's control port {place}: {problem.strerror or problem}") from problem
    if not answer:
        raise ConnectError(f"the sandbox's control port {place} hung up")
    reply: dict[str, Any] = json.loads(answer)
    if "error" in reply:
        raise KcliError(str(reply["error"]))
    return reply
