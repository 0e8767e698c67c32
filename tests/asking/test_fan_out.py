"""Split and gather: one request per broker, the good answers beside the errors, and only what may pass asked again."""

from __future__ import annotations

from typing import Any

import pytest

from kcli import codes
from kcli.asking.fan_out import gather
from kcli.errors import AuthError, BrokerError, ConnectError, DeadlineExceeded, DecodeError, KcliError, TlsError
from tests.producer.world import play


class Scene:
    """Things that live at two brokers and answer by a script; each answers its name when the script is over."""

    def __init__(self, **script: list[KcliError]) -> None:
        self.script = script
        self.asked: list[list[str]] = []
        self.forgotten: list[str] = []

    async def locate(self, things: list[str]) -> tuple[list[tuple[Any, list[str]]], dict[str, KcliError]]:
        low = [thing for thing in things if thing < "c"]
        high = [thing for thing in things if thing >= "c"]
        return [(object(), part) for part in (low, high) if part], {}

    async def ask(self, _: Any, things: list[str]) -> dict[str, str | KcliError]:
        self.asked.append(things)
        return {thing: self.script[thing].pop(0) if self.script.get(thing) else thing for thing in things}

    def forget(self, thing: str) -> None:
        self.forgotten.append(thing)

    async def run(self, *things: str, patience: float = 10.0, most: int = 99) -> dict[str, str | KcliError]:
        return await gather(things, self, self.ask, patience=patience, most=most)


def test_C17_each_broker_is_asked_once_about_all_it_has_in_pieces_of_a_size() -> None:
    async def scene() -> None:
        world = Scene()
        assert await world.run("d", "a", "b", "c", "a", most=1) == {"d": "d", "a": "a", "b": "b", "c": "c"}
        assert sorted(world.asked) == [["a"], ["b"], ["c"], ["d"]]
        world.asked.clear()
        assert list(await world.run("d", "a", "b", "c")) == ["d", "a", "b", "c"], "in the order asked"
        assert sorted(world.asked) == [["a", "b"], ["d", "c"]]
        assert await world.run() == {}

    play(scene())


@pytest.mark.parametrize(
    ("error", "again", "forgotten"),
    [
        (BrokerError(codes.NOT_LEADER_OR_FOLLOWER), True, True),
        (BrokerError(codes.NOT_COORDINATOR), True, True),
        (BrokerError(codes.COORDINATOR_LOAD_IN_PROGRESS), True, False),  # it lives there, and is not ready yet
        (BrokerError(codes.REQUEST_TIMED_OUT), True, False),
        (ConnectError("gone"), True, True),
        (DeadlineExceeded("hangs"), True, True),
        (AuthError("who?"), False, False),
        (TlsError("expired"), False, False),
        (DecodeError("what?"), False, False),
        (BrokerError(codes.GROUP_AUTHORIZATION_FAILED), False, False),
    ],
    ids=str,
)
def test_what_may_pass_is_asked_again_and_looked_up_again_only_where_its_place_is_in_doubt(
    error: KcliError, again: bool, forgotten: bool
) -> None:
    async def scene() -> None:
        world = Scene(a=[error])
        answers = await world.run("a", "b", "c")
        assert answers == {"a": "a" if again else error, "b": "b", "c": "c"}
        assert world.asked == [["a", "b"], ["c"], ["a"]][: 3 if again else 2]
        assert world.forgotten == (["a"] if forgotten else [])

    play(scene())


def test_what_still_fails_when_patience_is_over_stands_beside_the_good_answers() -> None:
    async def scene() -> None:
        world = Scene(a=[BrokerError(codes.NOT_COORDINATOR) for _ in range(99)])
        answers = await world.run("a", "c", patience=2.0)
        assert isinstance(answers["a"], BrokerError)
        assert answers["c"] == "c"
        assert 3 <= len(world.asked) <= 10, "with growing pauses"

    play(scene())
