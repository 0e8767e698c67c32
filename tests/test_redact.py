"""What a peer says back is shown without our secrets, and with its own words whole."""

from __future__ import annotations

import pytest

from kcli import redact
from kcli.redact import redacted, remember
from kcli.secret import Secret


@pytest.mark.parametrize(
    ("secret", "said", "shown"),
    [
        ("hunter2", "no such password: hunter2.", "no such password: ***."),
        ("hunter2", "user=alice,password=hunter2", "user=alice,password=***"),
        ("tok", "invalid_token", "invalid_token"),
        ("tok", '{"status":"invalid_token","token":"tok"}', '{"status":"invalid_token","token":"***"}'),
        ("a.b", "a.b and axb", "*** and axb"),
        ("longer-secret", "xlonger-secretx", "x***x"),
        ("ab", "ab", "ab"),
        ("abc", "no such password: abc.", "no such password: ***."),  # three characters
        ("7letter", "x7letterx 7letter", "x7letterx ***"),
        ("8letters", "x8lettersx 8letters", "x***x ***"),
    ],
)
def test_a_secret_is_hidden_and_words_stay_whole(secret: str, said: str, shown: str) -> None:
    remember(secret)
    assert redacted(said) == shown


def test_a_secret_that_begins_with_another_is_hidden_to_its_end() -> None:
    """The client's secret is "correct-horse", the token made of it "correct-horse-battery"."""
    remember("correct-horse")
    remember("correct-horse-battery")
    remember("battery-correct-horse-battery")
    assert redacted("rejected: correct-horse-battery") == "rejected: ***"
    assert redacted("rejected: battery-correct-horse-battery, correct-horse") == "rejected: ***, ***"


def test_a_secret_that_was_never_revealed_is_not_looked_for() -> None:
    Secret("correct horse")
    assert redacted("correct horse") == "correct horse"
    Secret("battery staple").reveal()
    assert redacted("battery staple") == "***"


def test_each_test_begins_without_secrets() -> None:
    assert redact._sent == set()
