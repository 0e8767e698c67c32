"""Plans of new offsets, as pure functions: what a form wants, clamped to the log, and what the row says."""

from __future__ import annotations

from typing import cast

import pytest

from kcli.admin.groups import reset_plan
from kcli.admin.groups.reset_plan import PartitionOffsets
from kcli.changes import offset_forms as forms
from kcli.changes.offset_forms import Wanted
from kcli.changes.offsets import OffsetRow, decide
from kcli.errors import KcliError
from kcli.model import Cluster, OffsetAndMetadata, TopicPartition
from tests.fakes.compared import Compared

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.changes.offset_forms import Form

AT = TopicPartition("orders", 0)


def at(offset: int, epoch: int = -1, metadata: str = "") -> OffsetAndMetadata:
    return OffsetAndMetadata(offset=offset, leader_epoch=epoch, metadata=metadata)


def planned(form: Form, old: OffsetAndMetadata | None = None, *, start: int = 10, end: int = 100) -> OffsetRow:
    return decide(OffsetRow(name="billing", at=AT), PartitionOffsets(start=start, end=end, old=old), form)


NOTHING = forms.given({AT: None}, plain=True)
PLAIN = forms.given({AT: at(40)}, plain=True)
EXACT = forms.given({AT: at(40, 3, "mine")}, plain=False)


@pytest.mark.parametrize(
    ("form", "old", "new", "result", "note"),
    [
        (forms.earliest, 50, 10, "would reset", ""),
        (forms.earliest, 10, 10, "unchanged", ""),
        (forms.earliest, None, 10, "would reset", ""),
        (forms.latest, 50, 100, "would reset", ""),
        (forms.offset(60), 50, 60, "would reset", ""),
        (forms.offset(50), 50, 50, "unchanged", ""),
        (forms.offset(9), 50, 10, "would reset", "clamped: 9 is before the log's start"),
        (forms.offset(9), 10, 10, "unchanged", "clamped: 9 is before the log's start"),
        (forms.offset(10), 50, 10, "would reset", ""),
        (forms.offset(100), 50, 100, "would reset", ""),
        (forms.offset(101), 50, 100, "would reset", "clamped: 101 is past the log's end"),
        (forms.each_at({AT: 90}), 50, 90, "would reset", ""),
        (forms.after_start(5), 50, 15, "would reset", ""),
        (forms.after_start(500), 50, 100, "would reset", "clamped: 510 is past the log's end"),
        (forms.shifted(10), 50, 60, "would reset", ""),
        (forms.shifted(-10), 50, 40, "would reset", ""),
        (forms.shifted(-10), 15, 10, "would reset", "clamped: 5 is before the log's start"),
        (forms.shifted(-10), None, None, "skipped", "no committed offset to shift"),
        (forms.shifted(0), 3, 10, "would reset", "clamped: 3 is before the log's start"),
        (forms.current, 50, 50, "unchanged", ""),
        (forms.current, 3, 3, "unchanged", ""),
        (forms.current, None, 100, "would reset", "nothing is committed: set to the end"),
        (NOTHING, 50, None, "would delete", ""),
        (NOTHING, None, None, "unchanged", ""),
        (PLAIN, 40, 40, "unchanged", ""),
        (PLAIN, 41, 40, "would reset", ""),
        (EXACT, 40, 40, "would reset", ""),
    ],
)  # fmt: skip
def test_E43_a_form_says_what_is_wanted_and_the_log_bounds_it(
    form: Form, old: int | None, new: int | None, result: str, note: str
) -> None:
    change = planned(form, None if old is None else at(old))
    assert (change.after.offset if change.after else None, change.result) == (new, result)
    assert (change.note or "") == note
    assert change.delta == (None if old is None or new is None else new - old)
    assert change.error is None


def test_E43_epoch_and_metadata_are_kept_where_they_are_given() -> None:
    assert planned(EXACT, at(50)).after == at(40, 3, "mine")
    assert planned(EXACT, at(40, 3, "mine")).result == "unchanged"
    assert planned(EXACT, at(40, 3, "yours")).result == "would reset"
    assert planned(PLAIN, at(40, 3, "mine")).after == at(40, 3, "mine")


def test_E43_a_clamped_position_has_no_epoch_of_a_record_that_is_not_there() -> None:
    assert planned(EXACT, start=50).after == at(50, -1, "mine")
    assert planned(EXACT, start=0, end=20).after == at(20, -1, "mine")


def test_E43_a_partition_that_cannot_be_looked_at_fails_alone() -> None:
    lost = KcliError("orders [0]: no broker leads this partition now")
    change = decide(OffsetRow(name="billing", at=AT), lost, forms.earliest)
    assert (change.result, change.error, change.after, change.is_open) == ("failed", lost, None, False)


def test_E43_a_form_may_fail_for_a_partition() -> None:
    change = planned(lambda at, standing: KcliError("orders [0]: no record has the field ts"), at(50))
    assert (change.result, str(change.error)) == ("failed", "orders [0]: no record has the field ts")
    assert change.after == change.before == at(50)


def test_E43_any_function_of_a_partition_is_a_form() -> None:
    change = planned(
        lambda at, standing: Wanted(commit=OffsetAndMetadata(offset=standing.end // 2), note="half"), at(1)
    )
    assert (change.after, change.note, change.is_open) == (at(50), "half", True)


async def test_partitions_are_looked_for_at_a_cost_in_step_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    class Topics:
        async def partitions(self, topic: str) -> list[Compared]:
            return [Compared(n) for n in range(500)]

    async def no_bounds(*_: object) -> tuple[dict[TopicPartition, object], ...]:
        return {}, {}, {}

    monkeypatch.setattr(reset_plan, "bounds", no_bounds)
    wanted = [TopicPartition(topic, n) for topic in ("a", "b") for n in range(501)]
    Compared.times = 0
    found = await reset_plan.standings(cast("Cluster", Topics()), wanted)
    assert {at: str(error) for at, error in found.items()} == {
        TopicPartition(topic, 500): f"{topic} [500]: the topic has partitions 0 to 499 only" for topic in ("a", "b")
    }
    assert Compared.times <= 2 * len(wanted)
