"""Payloads as the rules for reading of their schema make them: those in CEL that `kcli consume` runs, by row."""

from __future__ import annotations

from kcli.errors import UsageError
from kcli.pipeline.schemas.framing.opened import Open, compressed, in_json
from kcli.pipeline.schemas.sealed import Known, SealedSchemas
from kcli.schemas import PROTOBUF, SchemaRefused
from kcli.serde.schemas.frames import ID, reader_behind
from kcli.serde.schemas.readers import reader_of


def with_rules(known: Known, name: bytes, way: Open | None) -> Open | None:
    """What opens payloads of a name (`way`, None where they are bare), and runs the rules about them. Raises
    SchemaRefused for a rule that is not run here."""
    if 'READ"' not in known.schema.rule_set or in_json(name):
        return way
    bare = name[:1] + b"\0" + name[2:] if compressed(name) else name
    reader = reader_behind(bare, known.schema, reader_of()(known.schema, list(known.referred)))
    ruled: Open | None = getattr(reader, "payload", None)  # of a reader that runs rules
    if ruled is None:
        return way
    return ruled if way is None else lambda payload: ruled(way(payload))


def check_rules_for_reading(sealed: SealedSchemas, subject: str) -> None:
    """Raise UsageError where the reader's schema, or a version of its subject, has a rule for reading that is not run
    here: values would be others than those that `kcli consume` shows."""
    if not sealed.rules:
        return
    versions = [known for _, known in sealed.written if subject and known.schema.subject == subject]
    if sealed.bare is not None:
        _check_bare(sealed.bare)
        versions.append(sealed.bare)
    for known in {id(one): one for one in (sealed.reader, *versions)}.values():
        try:
            with_rules(known, bytes([ID]) * 5, None)
        except SchemaRefused as problem:
            raise UsageError(f"{problem} (option withoutRules true)") from None


def _check_bare(known: Known) -> None:
    """Raise UsageError where rules would be run about messages of Protobuf that have nothing in front."""
    if known.schema.kind == PROTOBUF and 'READ"' in known.schema.rule_set:
        raise UsageError(
            f"{known.schema.name} has rules for reading, which are run about messages behind a frame only "
            "(option withoutRules true)"
        )
