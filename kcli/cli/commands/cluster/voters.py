"""`kcli cluster voters`: the controllers with a vote: list, add, remove (KIP-853)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kcli.admin.cluster.changes import Controller, controllers
from kcli.changes.change import DONE
from kcli.changes.cluster import controller, plan_vote
from kcli.cli.output.tables.document import Document
from kcli.cli.output.tables.rows import Row, column, shape
from kcli.cli.parsing.command import command
from kcli.cli.parsing.groups import ChangeOptions, ControllerOptions, ReadOptions
from kcli.cli.runtime.answer import answer
from kcli.cli.runtime.change import apply_plan
from kcli.errors import KcliError, UsageError
from kcli.model import Address, Cluster
from kcli.proto.schema import NO_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Annotated

    import typer

    from kcli.changes import change as changes
    from kcli.changes.change import Plan
    from kcli.cli.output.tables.shape import Shape

LISTENER = "CONTROLLER"


class ControllerRow(Row, section="voters"):
    node: int = column("Id of the controller.", rank=1)
    directory_id: str | None = column("Id of its metadata directory; null before 3.9.", rank=3, unit="word")
    listeners: list[str] = column("Addresses it listens on; reported for voters only.")


class VoterRow(ControllerRow):
    role: str = column("leader, voter or observer; brokers are observers too.", before="directory_id", unit="word")


class ChangeRow(ControllerRow):
    old: str = column("Its role before.", rank=1)
    new: str = column("Its role after.", rank=1)
    result: str = column("would change, done, failed or unknown.", unit="word", rank=1)
    error: str | None = column("Error of this row; null without one.", table=False, unit="sentence")


VOTERS = shape("cluster.voters", "Controllers, one a row.", VoterRow)
ADD = shape("cluster.voters.add", "The controller whose vote changed, or would change.", ChangeRow)
REMOVE = shape("cluster.voters.remove", "The controller whose vote changed, or would change.", ChangeRow)


class VotersOptions(ControllerOptions, ReadOptions):
    """Which servers to ask, and how to print the rows."""


@command(
    "cluster voters",
    help="List the controllers of the KRaft quorum.",
    examples="""
kcli cluster voters
kcli cluster voters -J | jq '.voters[] | select(.role != "observer")'""",
)
def voters(options: VotersOptions) -> int:
    """Print the members of the KRaft quorum with their directories and listeners. `voters add` gives a controller a
    vote; `voters remove` takes it away (KIP-853, kraft.version 1).
    """

    async def work(cluster: Cluster, document: Document) -> None:
        document.of(VoterRow)[:] = [
            VoterRow(**controller(one), role="leader" if one.leader else "voter" if one.voter else "observer")
            for one in await controllers(cluster)
        ]

    return answer(options, VOTERS, work)


class RemoveOptions(ControllerOptions, ChangeOptions):
    """Which servers to ask, and the options of a plan."""


class AddOptions(RemoveOptions):
    listener: Annotated[
        str | None,
        typer.Option(
            "--listener", metavar="NAME", help="Name of its listener (default: the listener of the voters, CONTROLLER)."
        ),
    ] = None


@command(
    "cluster voters add",
    help="Give a controller a vote.",
    words="ID@HOST:PORT",
    examples="""
kcli cluster voters add 3000@ctrl3:9093
kcli cluster voters add 3000@ctrl3:9093:Hk2mN3xTQ0iC1lmJ0o4mTg --execute""",
)
def add(options: AddOptions) -> int:
    """Give a controller a vote in the quorum. Name it by its id and the address at which the others reach it. kcli gets
    its directory from the leader, so it must already be fetching from the leader. The plan comes first; --execute
    applies it.
    """
    node, place, directory = _new_voter(_only_word(options.words, "ID@HOST:PORT"))

    def find(known: list[Controller]) -> Controller:
        there = next((controller for controller in known if controller.node == node), None)
        if there is not None and there.voter:
            raise KcliError(f"controller {node} is already a voter")
        if there is None and directory == NO_ID:
            raise KcliError(
                f"controller {node} does not fetch from the leader yet: start it, or add the id of its metadata "
                f"directory: {node}@{place.host}:{place.port}:DIRECTORY"
            )
        name = options.listener or next((name for controller in known for name, _ in controller.listeners), LISTENER)
        known_as = there.directory if there is not None else NO_ID
        return Controller(node=node, directory=directory if directory != NO_ID else known_as, listeners=[(name, place)])

    return _change(options, ADD, find, adds=True)


@command(
    "cluster voters remove",
    help="Remove a controller's vote.",
    words="VOTER",
    examples="""
kcli cluster voters remove 3000
kcli cluster voters remove 3000:Hk2mN3xTQ0iC1lmJ0o4mTg --execute""",
)
def remove(options: RemoveOptions) -> int:
    """Remove the vote of a controller, even of one that is gone for good. The plan comes first; --execute applies
    it."""
    node, directory = _old_voter(_only_word(options.words, "ID"))

    def find(known: list[Controller]) -> Controller:
        there = [controller for controller in known if controller.node == node and controller.voter]
        there = [controller for controller in there if directory in (NO_ID, controller.directory)]
        if not there:
            others = ", ".join(str(controller.node) for controller in known if controller.voter)
            of_directory = "" if directory == NO_ID else " with that directory"
            raise KcliError(f"controller {node} is not a voter{of_directory}; the voters are {others}")
        if sum(controller.voter for controller in known) == 1:
            raise KcliError(f"controller {node} is the only voter")
        return there[0]

    return _change(options, REMOVE, find, adds=False)


def _change(options: ChangeOptions, shape: Shape, find: Callable[[list[Controller]], Controller], *, adds: bool) -> int:

    async def planned(cluster: Cluster) -> Plan:
        return plan_vote(find(await controllers(cluster)), adds=adds)

    def done(rows: Sequence[changes.Row]) -> str:
        return "; ".join(f"{row.about} {'votes' if adds else 'votes no more'}" for row in rows if row.result == DONE)

    return apply_plan(options, shape, ChangeRow, planned, done=done)


def _only_word(words: list[str], what: str) -> str:
    if len(words) != 1:
        raise UsageError(f"give one controller: {what}; the quorum can change only one voter at a time")
    return words[0]


def _new_voter(text: str) -> tuple[int, Address, bytes]:
    """As `kafka-storage format --initial-controllers` has them; without a directory kcli asks the controller."""
    refused = UsageError(f"{text}: expected ID@HOST:PORT or ID@HOST:PORT:DIRECTORY, such as 3000@ctrl3:9093")
    number, at, rest = text.partition("@")
    if not at or not number.isascii() or not number.isdecimal():
        raise refused
    host, colon, rest = rest.rpartition("]:") if rest.startswith("[") else rest.partition(":")
    port, _, directory = rest.partition(":")
    if not colon or not host or not (port.isascii() and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise refused
    return int(number), Address(host.lstrip("["), int(port)), _directory(directory)


def _old_voter(text: str) -> tuple[int, bytes]:
    number, _, directory = text.partition(":")
    if not number.isascii() or not number.isdecimal():
        raise UsageError(f"{text}: expected ID or ID:DIRECTORY, such as 3000")
    return int(number), _directory(directory)


def _directory(text: str) -> bytes:
    from kcli.proto.as_json import read_id

    return read_id(text, "directory")
