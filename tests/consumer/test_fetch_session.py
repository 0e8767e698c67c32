"""KIP-227 as a table: what is sent after what was answered."""

import pytest

from kcli.consumer.fetch.fetch_session import LAST, Ask, FetchSession
from kcli.model import TopicPartition

A, B, C = (TopicPartition("t", n) for n in range(3))
ONE = Ask(0, 100)


def opened(*ats):
    session = FetchSession()
    session.plan(dict.fromkeys(ats, ONE), by_id=False)
    assert session.answered(0, 7, list(ats))
    return session


def test_E10_the_first_request_is_full_and_opens_a_session():
    plan = FetchSession().plan({A: ONE, B: ONE}, by_id=False)
    assert (plan.session_id, plan.epoch, plan.send, plan.forget) == (0, 0, [A, B], [])


def test_E10_later_requests_say_only_what_changed_and_what_is_forgotten():
    session = opened(A, B, C)
    plan = session.plan({A: ONE, B: ONE._replace(offset=5)}, by_id=False)
    assert (plan.session_id, plan.epoch, plan.send) == (7, 1, [B])
    assert [at for at, _ in plan.forget] == [C]
    assert session.answered(0, 7, [B])
    assert session.plan({A: ONE, B: ONE._replace(offset=5)}, by_id=False).epoch == 2


def test_E10_no_session_given_stays_full():
    session = FetchSession()
    session.plan({A: ONE}, by_id=False)
    assert session.answered(0, 0, [A])
    assert session.plan({A: ONE}, by_id=False)[:3] == (0, 0, [A])


@pytest.mark.parametrize(("error", "session_id"), [(70, 0), (71, 7), (106, 7), (-1, 7)])
def test_E10_an_error_starts_a_new_full_session_and_closes_the_old(error, session_id):
    session = opened(A)
    session.plan({A: ONE}, by_id=False)
    assert not session.answered(error, 0, [])
    assert session.plan({A: ONE}, by_id=False)[:3] == (session_id, 0, [A])


def test_E10_a_broken_connection_closes_the_session_and_opens_another():
    session = opened(A)
    session.broke()
    assert session.plan({A: ONE}, by_id=False)[:2] == (7, 0)


@pytest.mark.parametrize("answer", [[], [A], [A, B, C]])
def test_E10_a_full_answer_with_other_partitions_than_asked_is_not_used(answer):
    session = FetchSession()
    session.plan({A: ONE, B: ONE}, by_id=False)
    assert not session.answered(0, 7, answer)
    assert session.plan({A: ONE, B: ONE}, by_id=False)[:2] == (7, 0)


def test_E10_an_evicted_session_keeps_the_data_and_starts_anew():
    session = opened(A)
    session.plan({A: ONE}, by_id=False)
    assert session.answered(0, 0, [A])
    assert session.plan({A: ONE}, by_id=False)[:2] == (0, 0)


def test_E10_the_epoch_wraps_to_one():
    session = opened(A)
    session.epoch = LAST
    session.plan({A: ONE}, by_id=False)
    session.answered(0, 7, [])
    assert session.epoch == 1


def test_E10_the_farewell_has_the_final_epoch():
    assert opened(A).farewell()[:2] == (7, -1)


def test_C8_ids_and_names_do_not_mix_in_one_session():
    session = opened(A)
    assert session.plan({A: ONE}, by_id=True)[:3] == (7, 0, [A])


def test_C8_a_topic_made_anew_is_forgotten_under_its_old_id():
    session = FetchSession()
    old, new = ONE._replace(topic_id=b"1" * 16), ONE._replace(topic_id=b"2" * 16)
    session.plan({A: old}, by_id=True)
    session.answered(0, 7, [A])
    plan = session.plan({A: new}, by_id=True)
    assert plan.send == [A]
    assert plan.forget == [(A, b"1" * 16)]
