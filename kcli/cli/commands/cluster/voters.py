"""`kcli cluster voters`: the controllers with a vote, who gets one and who loses it (KIP-853)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from kcli.admin.cluster.changes import Controller, add_voter, controllers, remove_voter
from kcli.admin.topics.topics import id_text
from kcli.cli.output.render import Document
from kcli.cli.runtime.answer import answer, confirm, excluding, say
from kcli.errors import KcliError, UsageError
from kcli.model import Address, Cluster
from kcli.proto.schema import NO_ID

if TYPE_CHECKING:
    from kcli.cli.output.shapes.shape import Row
    from kcli.cli.parsing.option import Values

LISTENER = "CONTROLLER"


def voters(values: Values) -> int:
    """`kcli cluster voters`."""

    async def work(cluster: Cluster, document: Document) -> None:
        document.rows["voters"] = [
            {**_row(one), "role": "leader" if one.leader else "voter" if one.voter else "observer"}
            for one in await controllers(cluster)
        ]

    return answer(values, "cluster.voters", work)


def _row(one: Controller) -> Row:
    return {
        "node": one.node,
        "directory_id": id_text(one.directory) or None,
        "listeners": [f"{name}://{at.host}:{at.port}" for name, at in one.listeners],
    }


def add(values: Values) -> int:
    """`kcli cluster voters add ID@HOST:PORT[:DIRECTORY]`."""
    node, place, directory = _new_voter(_one_word(values, "ID@HOST:PORT"))

    def find(known: list[Controller]) -> Controller:
        there = next((one for one in known if one.node == node), None)
        if there is not None and there.voter:
            raise KcliError(f"controller {node} votes already")
        if there is None and directory == NO_ID:
            raise KcliError(
                f"controller {node} does not fetch from the leader yet: start it, or name the id of its metadata "
                f"directory: {node}@{place.host}:{place.port}:DIRECTORY"
            )
        name = values["listener"] or next((name for one in known for name, _ in one.listeners), LISTENER)
        known_as = there.directory if there is not None else NO_ID
        return Controller(node=node, directory=directory if directory != NO_ID else known_as, listeners=[(name, place)])

    return _change(values, "add", find, add_voter, ("observer", "voter"))


def remove(values: Values) -> int:
    """`kcli cluster voters remove ID[:DIRECTORY]`."""
    node, directory = _old_voter(_one_word(values, "ID"))

    def find(known: list[Controller]) -> Controller:
        there = [one for one in known if one.node == node and one.voter]
        there = [one for one in there if directory in (NO_ID, one.directory)]
        if not there:
            others = ", ".join(str(one.node) for one in known if one.voter)
            raise KcliError(f"no controller {node} with that directory votes; those that vote are {others}")
        if sum(one.voter for one in known) == 1:
            raise KcliError(f"controller {node} is the only one that votes")
        return there[0]

    return _change(values, "remove", find, remove_voter, ("voter", "observer"))


def _change(
    values: Values,
    verb: str,
    find: Callable[[list[Controller]], Controller],
    act: Callable[[Cluster, Controller], Awaitable[None]],
    roles: tuple[str, str],
) -> int:
    excluding(values)

    async def work(cluster: Cluster, document: Document) -> int | None:
        voter = find(await controllers(cluster))
        row: Row = {**_row(voter), "old": roles[0], "new": roles[1], "result": "would change", "error": None}
        document.rows["voters"] = [row]
        if values["dry_run"]:
            return None
        if not confirm(values, document, str(voter.node)):
            document.rows.clear()
            return 1
        try:
            await act(cluster, voter)
        except KcliError as problem:
            row["result"], row["error"] = "failed", str(problem)
            document.fail(problem, f"controller {voter.node}")
            return None
        row["result"] = "done"
        say(values, f"controller {voter.node} {'votes' if roles[1] == 'voter' else 'votes no more'}")
        return None

    return answer(values, f"cluster.voters.{verb}", work)


# -- what a line names ------------------------------------------------------------------------------------------------


def _one_word(values: Values, what: str) -> str:
    words: list[str] = values["words"]
    if len(words) != 1:
        raise UsageError(f"name one controller: {what}; the quorum changes by one at a time")
    return words[0]


def _new_voter(text: str) -> tuple[int, Address, bytes]:
    """As `kafka-storage format --initial-controllers` has them, where the directory may be left out: it is asked."""
    said = UsageError(f"{text}: expected ID@HOST:PORT or ID@HOST:PORT:DIRECTORY, such as 3000@ctrl3:9093")
    number, at, rest = text.partition("@")
    if not at or not number.isascii() or not number.isdecimal():
        raise said
    host, colon, rest = rest.rpartition("]:") if rest.startswith("[") else rest.partition(":")
    port, _, directory = rest.partition(":")
    if not colon or not host or not (port.isascii() and port.isdecimal() and 0 < int(port) < 1 << 16):
        raise said
    return int(number), Address(host.lstrip("["), int(port)), _directory(directory)


def _old_voter(text: str) -> tuple[int, bytes]:
    number, _, directory = text.partition(":")
    if not number.isascii() or not number.isdecimal():
        raise UsageError(f"{text}: expected ID or ID:DIRECTORY, such as 3000")
    return int(number), _directory(directory)


def _directory(text: str) -> bytes:
    from kcli.proto.as_json import read_id

    return read_id(text, "directory")
