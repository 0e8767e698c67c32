"""ApiVersions and the choice of versions (B9-B13)."""

from __future__ import annotations

import re

import pytest

from kcli.broker.connection.versions import pick
from kcli.errors import ConnectError, KcliError, UnsupportedVersion
from kcli.proto.messages.api_versions import ApiVersion, ApiVersionsResponse, software_version
from kcli.proto.messages.fetch import FetchRequest
from kcli.proto.messages.metadata import MetadataRequest
from kcli.proto.messages.produce import ProduceRequest
from tests.fakes.scripted import SPOKEN, Step

from .peers import answer, lost, pair, question


async def test_B9_the_highest_version_is_tried_first() -> None:
    async with pair() as (far, near):
        await answer(near, 1)
        assert [one.version for one in far.greetings] == [4]


@pytest.mark.parametrize("highest", [0, 1, 2, 3])
async def test_B9_an_older_broker_is_asked_again_at_what_it_names(highest: int) -> None:
    async with pair(spoken={**SPOKEN, 18: (0, highest)}) as (far, near):
        assert await answer(near, 1) == "1"
        assert [one.version for one in far.greetings] == [4, highest]
        assert len(far.links) == 1


async def test_B9_a_broker_that_names_nothing_is_asked_at_version_0() -> None:
    refusal = b"\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x23\x00\x00\x00\x00"
    async with pair() as (far, near):
        far.script["ApiVersions"].append(Step(raw=refusal))
        assert await answer(near, 1) == "1"
        assert [one.version for one in far.greetings] == [4, 0]


async def test_B9_a_liar_is_not_asked_for_ever() -> None:
    refused = ApiVersionsResponse(error_code=35, api_keys=[ApiVersion(api_key=18, min_version=0, max_version=99)])
    async with pair() as (far, near):
        far._versions = lambda asked: (refused, 0)  # type: ignore[method-assign]
        with pytest.raises(ConnectError, match="refuses every version of ApiVersions"):
            await answer(near, 1)
        assert len(far.greetings) == 3


async def test_B9_ranges_beyond_ours_are_no_reason_to_leave_ours() -> None:
    async with pair(spoken={**dict.fromkeys(range(100), (0, 99)), 18: (0, 4)}) as (far, near):
        assert await answer(near, 1) == "1"
        assert far.seen[0].version == 6
        assert (await near.versions())[3] == (0, 99)


async def test_B9_a_broker_that_resets_at_version_4_is_asked_the_third_time_at_version_0() -> None:
    async with pair() as (far, near):
        far.script["ApiVersions"].extend([Step(reset=True)] * 2)
        assert await answer(near, 1) == "1"
        assert [one.version for one in far.greetings] == [4, 4, 0]
        await far.stop()
        await lost(near)
        async with far:
            far.greetings.clear()
            assert await answer(near, 2) == "2"
            assert [one.version for one in far.greetings] == [0]  # it is remembered


async def test_B9_an_error_of_the_handshake_is_told_in_words() -> None:
    async with pair() as (far, near):
        far.script["ApiVersions"].append(ApiVersionsResponse(error_code=42))
        with pytest.raises(KcliError, match="INVALID_REQUEST"):
            await near.ask(question(1))


def test_B10_the_version_is_the_highest_both_speak() -> None:
    assert pick(MetadataRequest, {3: (0, 9)}, "b") == 9
    assert pick(MetadataRequest, {3: (0, 99)}, "b") == MetadataRequest.versions.last
    assert pick(MetadataRequest, {3: (0, 99)}, "b", 4) == 4
    assert pick(ProduceRequest, {0: (0, 13)}, "b", 12) == 12


def test_B10_produce_below_3_is_advertised_and_never_picked() -> None:
    assert pick(ProduceRequest, {0: (0, 3)}, "b") == 3
    with pytest.raises(UnsupportedVersion):
        pick(ProduceRequest, {0: (0, 2)}, "b")


async def test_B10_each_broker_gets_its_own_version() -> None:
    async with pair(spoken={**SPOKEN, 10: (0, 5)}) as (old, near_old), pair() as (new, near_new):
        assert (await answer(near_old, 1), await answer(near_new, 2)) == ("1", "2")
        assert (old.seen[0].version, new.seen[0].version) == (5, 6)


async def test_B10_versions_belong_to_a_connection_and_change_with_it() -> None:
    async with pair(spoken={**SPOKEN, 10: (0, 5)}) as (far, near):
        await answer(near, 1)
        await far.stop()
        await lost(near)
        far.spoken[10] = (0, 6)
        async with far:
            await answer(near, 2)
        assert [one.version for one in far.seen] == [5, 6]
        assert (await near.versions())[10] == (0, 6)


@pytest.mark.parametrize("version", ["0.1.0", "1.0.dev0+g12", "-1-", "ä", "1.0rc1+x y", "."])
def test_B11_our_version_is_one_the_broker_accepts(version: str) -> None:
    assert re.fullmatch(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?", software_version(version))


async def test_B11_who_we_are_is_said() -> None:
    async with pair() as (far, near):
        await answer(near, 1)
        assert far.greetings[0].request is not None
        assert far.greetings[0].request.client_software_name == "kcli"
        assert far.greetings[0].client_id == "kcli"


def test_B12_no_common_version_names_api_and_both_ranges() -> None:
    with pytest.raises(UnsupportedVersion) as caught:
        pick(FetchRequest, {1: (0, 3)}, "broker 1 at h:9092")
    first, last = FetchRequest.versions.first, FetchRequest.versions.last
    assert f"broker 1 at h:9092 supports versions 0-3 of Fetch, and kcli supports {first}-{last}" in str(caught.value)
    with pytest.raises(UnsupportedVersion, match="kcli is too old"):
        pick(FetchRequest, {1: (90, 99)}, "b")
    with pytest.raises(UnsupportedVersion, match="does not offer the API Fetch"):
        pick(FetchRequest, {}, "b")


async def test_B13_api_keys_nobody_knows_are_kept_and_harm_nothing() -> None:
    async with pair(spoken={**SPOKEN, 30_000: (7, 9)}) as (_, near):
        assert await answer(near, 1) == "1"
        assert (await near.versions())[30_000] == (7, 9)
