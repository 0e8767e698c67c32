"""Values: what a class inherits, before and after the `__init__` of its base was compiled."""

from __future__ import annotations

import pytest

from kcli.values import FEW, Value


class Place(Value):
    topic: str = ""


class Offset(Place):
    offset: int = 0


class Timed(Offset):
    time: int = 0


def test_a_class_takes_its_own_fields_also_when_many_of_its_base_were_made() -> None:
    places = [Place(topic=str(number)) for number in range(FEW * 2)]
    assert [place.topic for place in places] == [str(number) for number in range(FEW * 2)]
    many = [Offset(topic="t", offset=number) for number in range(FEW * 2)]
    assert [each.offset for each in many] == list(range(FEW * 2))
    assert Timed(topic="t", offset=1, time=2).time == 2

    class Late(Place):
        epoch: int = 0

    class Later(Late):
        leader: int = 0

    assert (Late(topic="t", epoch=3).epoch, Later(topic="t", epoch=3, leader=4).leader) == (3, 4)
    with pytest.raises(TypeError, match="leader"):
        Late(leader=4)  # type: ignore[call-arg]
