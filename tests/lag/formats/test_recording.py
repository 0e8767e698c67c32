"""Lines of a recording: what is written comes back, and is read group by group."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from kcli.admin.groups.rows import Described, Member
from kcli.errors import DecodeError, KcliError
from kcli.lag.figures import Sample
from kcli.lag.formats.recording import line, read, time_of
from kcli.lag.snapshot import GroupSnapshot, Snapshot
from kcli.model import TopicPartition

if TYPE_CHECKING:
    from collections.abc import Iterable

NAMES = ('say "groups":[ twice', "ü,]}", "plain")


def snapshot(names: Iterable[str] = NAMES) -> Snapshot:
    groups = []
    for name in names:
        member = Member(member_id="m", client_id="c", host="h", assignment=[TopicPartition(name, 0)])
        samples = [Sample(group=name, topic=name, partition=n, committed=1, end=2 + n, start=0) for n in range(3)]
        groups.append(GroupSnapshot(described=Described(group=name, members=[member]), samples=samples))
    return Snapshot(groups=groups, failed={"groups": KcliError("no")}, brokers={2: KcliError("down")})


@pytest.mark.parametrize("names", [NAMES, NAMES[:1], ()])
def test_a_line_is_one_object_and_comes_back(names: tuple[str, ...]) -> None:
    text = line(12.5, snapshot(names))
    whole = json.loads(text)
    assert text == json.dumps(whole, ensure_ascii=False, separators=(",", ":")) + "\n"
    assert list(whole) == ["kcli", "time", "groups", "failed", "brokers"]
    for form in (text, json.dumps(whole, indent=1), json.dumps(dict(reversed(whole.items())))):
        time, back = read(form)
        assert time == 12.5
        assert line(time, back) == text


def test_no_more_than_a_group_is_parsed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    many = line(1.0, snapshot(f"group-{n}" for n in range(100)))
    sizes: list[int] = []
    loads: Any = json.loads

    def noted(text: str) -> Any:
        sizes.append(len(text))
        return loads(text)

    monkeypatch.setattr("json.loads", noted)
    assert len(read(many)[1].groups) == 100
    assert sizes
    assert max(sizes) < 200


def test_a_line_that_is_cut_or_changed_is_refused() -> None:
    text = line(1.0, snapshot()).rstrip()
    for end in range(len(text)):
        with pytest.raises(DecodeError):
            read(text[:end])
    for bad in (text.replace("},{", "}{"), text.replace('"groups":[', '"groups":[,'), text + "x"):
        assert bad != text
        with pytest.raises(DecodeError):
            read(bad)
    with pytest.raises(DecodeError, match="has no 'type'"):
        read(text.replace('"type":', '"kind":'))
    with pytest.raises(DecodeError, match="recording of version"):
        read(text.replace("samples/1", "samples/2").replace('"type":', '"kind":'))


@pytest.mark.parametrize("time", [0.0, 12.5, 1_700_000_000.0, 1_795_265_117.123])
def test_the_time_of_a_line_is_read_from_its_beginning(time: float) -> None:
    text = line(time, snapshot())
    assert time_of(text.encode()) == time == read(text)[0]


def test_the_time_of_a_line_that_kcli_did_not_write_so_is_not_known() -> None:
    text = line(12.5, snapshot())
    for other in (
        text[:-1],
        text[:-40],
        text.replace("samples/1", "samples/2"),
        text.replace("12.5", "NaN"),
        " " + text,
    ):
        assert time_of(other.encode()) is None


WRONG = {
    '"committed":1': (
        '"committed":9223372036854775808',
        '"committed":-2',
        '"committed":"1"',
        '"committed":1.5',
        '"committed":true',
        '"committed":[1]',
        '"committed":1' + "0" * 400,
        '"committed":1' + "0" * 9000,
    ),
    '"partition":0': ('"partition":null', '"partition":9223372036854775808', '"partition":{}'),
    '"owned":null': ('"owned":1', '"owned":"no"'),
    '"group":"plain"': ('"group":7', '"group":null', '"group":["plain"]', '"group":"\\ud800"'),
    '"assignment":[["plain",0]]': ('"assignment":[["plain","0"]]', '"assignment":[[[],0]]', '"assignment":[7]'),
    '"time":12.5': ('"time":1' + "0" * 400, '"time":NaN', '"time":-1', '"time":[]', '"time":"\\u001b"'),
    '"failed":{': ('"failed":{"a":"\\udfff",', '"failed":[', '"failed":7,"x":{'),
    '"brokers":{': ('"brokers":{"x":"","y":', '"brokers":{"1' + "0" * 5000 + '":"",', '"brokers":7,"x":{'),
}


@pytest.mark.parametrize("good", list(WRONG))
def test_a_line_with_a_value_of_another_kind_is_refused_in_one_sentence(good: str) -> None:
    text = line(12.5, snapshot(["plain"]))
    assert good in text
    for bad in WRONG[good]:
        with pytest.raises(DecodeError) as problem:
            read(text.replace(good, bad))
        assert str(problem.value).isprintable()
        assert len(str(problem.value)) < 400


@pytest.mark.parametrize("place", ['"groups":[', '"members":[', '"failed":{"groups":', ""])
def test_a_line_that_is_nested_too_deeply_is_refused_in_one_sentence(place: str) -> None:
    text = line(12.5, snapshot(["plain"]))
    assert place in text
    deep = place.replace("[", "[" * 200_000) if "[" in place else place + "[" * 200_000
    with pytest.raises(DecodeError, match="it is nested too deeply"):
        read(text.replace(place, deep, 1))
