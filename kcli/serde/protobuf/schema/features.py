"""Defaults of a file for its fields, from its syntax or the features of its edition."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    Features = dict[str, str]
    """`presence`, `enums`, `repeated`, `utf8` and `messages`, with values of FeatureSet in descriptor.proto."""

_SUBJECTS = {
    "EXPLICIT": "presence",
    "IMPLICIT": "presence",
    "LEGACY_REQUIRED": "presence",
    "OPEN": "enums",
    "CLOSED": "enums",
    "PACKED": "repeated",
    "EXPANDED": "repeated",
    "VERIFY": "utf8",
    "NONE": "utf8",
    "LENGTH_PREFIXED": "messages",
    "DELIMITED": "messages",
}

_ALL: Features = {"presence": "EXPLICIT", "enums": "OPEN", "repeated": "PACKED", "messages": "LENGTH_PREFIXED"}
EDITION: Features = _ALL | {"utf8": "VERIFY"}
PROTO2: Features = _ALL | {"enums": "CLOSED", "repeated": "EXPANDED", "utf8": "NONE"}
PROTO3: Features = EDITION | {"presence": "IMPLICIT"}


def changed(features: Features, option: Sequence[str]) -> Features:
    """Return the features after an option's tokens, such as `features.field_presence = IMPLICIT`; other options change
    nothing."""
    if not option or option[0] != "features":
        return features
    return features | {_SUBJECTS[token]: token for token in option if token in _SUBJECTS}
