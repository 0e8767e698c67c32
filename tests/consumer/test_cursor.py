"""The cursor's tables: when it may be fetched, and what a late answer may change."""

from itertools import product

import pytest

from kcli.consumer.fetch.cursor import READY, RESOLVING, VALIDATING, Cursor
from kcli.grammar.bound import Bound
from kcli.model import TopicPartition

A = TopicPartition("t", 0)


def ready(offset=10):
    return Cursor(A, Bound("offset", offset), 100)


@pytest.mark.parametrize(("paused", "revoke", "assign", "valid", "ended"), list(product([False, True], repeat=5)))
def test_E26_fetchable_only_when_nothing_speaks_against_it(paused, revoke, assign, valid, ended):
    cursor = ready()
    cursor.paused, cursor.pending_revoke, cursor.pending_assign = paused, revoke, assign
    cursor.state = READY if valid else RESOLVING
    cursor.end = 10 if ended else 11
    assert cursor.fetchable == (valid and not (paused or revoke or assign or ended))


def test_E34_a_seek_is_kept_over_pause_and_resume():
    cursor = ready()
    cursor.seek(Bound("offset", 42))
    cursor.paused = True
    cursor.paused = False
    assert (cursor.position, cursor.fetch_at, cursor.fetchable) == (42, 42, True)


def test_E23_a_slow_look_up_does_not_overwrite_a_newer_seek():
    cursor = Cursor(A, Bound("earliest"), 100)
    asked_under = cursor.generation
    cursor.seek(Bound("offset", 42))
    assert not cursor.resolved(asked_under, 0)
    assert cursor.position == 42


def test_E18_done_is_a_matter_of_position():
    cursor = ready()
    assert not cursor.done
    cursor.end = 10
    assert cursor.done
    cursor.end = 11
    assert not cursor.done


@pytest.mark.parametrize(
    ("end", "end_epoch", "cut"), [(10, 3, None), (12, 3, None), (9, 3, 9), (0, 2, 0), (-1, -1, 10)]
)
def test_C9_the_log_is_cut_only_where_the_epoch_ended_before_the_position(end, end_epoch, cut):
    cursor = ready()
    cursor.epoch = cursor.fetch_epoch = 3
    cursor.leader_epoch = 3
    cursor.validate(4)
    assert cursor.state == VALIDATING
    assert cursor.validated(cursor.generation, end, end_epoch) == cut


def test_C9_an_answer_that_is_older_than_a_seek_changes_nothing():
    cursor = ready()
    cursor.fetch_epoch, cursor.leader_epoch = 3, 3
    cursor.validate(4)
    asked_under = cursor.generation
    cursor.seek(Bound("offset", 5))
    assert cursor.validated(asked_under, 0, 3) is None
    assert (cursor.position, cursor.state) == (5, READY)


def test_C9_without_the_epoch_of_a_record_there_is_nothing_to_validate():
    cursor = ready()
    cursor.validate(1)
    cursor.validate(2)
    assert cursor.state == READY


def test_trouble_waits_longer_each_time_and_success_forgets_it():
    cursor = ready()
    waits = []
    for _ in range(6):
        cursor.failed_once(0.0, "why", 1.0)
        waits.append(cursor.retry_at)
    assert waits == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]
    cursor.succeeded()
    assert (cursor.retry_at, cursor.trouble_since) == (0.0, None)


def test_C7_with_a_hint_the_first_retry_is_at_once():
    cursor = ready()
    cursor.failed_once(5.0, "why", 1.0, at_once=True)
    assert cursor.retry_at == 0.0
    cursor.failed_once(5.0, "why", 1.0, at_once=True)
    assert cursor.retry_at > 5.0
