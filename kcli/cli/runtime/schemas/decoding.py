"""Keys and values decoded by a schema registry: the options, and the summary at the end."""

from __future__ import annotations

from kcli.cli.runtime.schemas.spec import SchemaSpec, subject_said
from kcli.errors import UsageError
from kcli.registry.subjects import split
from kcli.serde.json_schema.reader import FORBIDDEN
from kcli.serde.schemas.bare import BareDecoder
from kcli.serde.schemas.decoder import FRAMES, FieldDecoder, SchemaDecoder
from kcli.serde.schemas.labels import Labels
from kcli.serde.schemas.readers import reader_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    from kcli.cli.parsing.record_groups import SchemaOptions
    from kcli.client import Client
    from kcli.model import TopicPartition
    from kcli.registry.settings import RegistrySettings
    from kcli.serde.payload_time import Decode
    from kcli.serde.schemas.decoder import Field

    class Decodes(Protocol):
        """What has batches decoded before it hands them out: a consumer."""

        decode: Decode | None


KINDS = ("key", "value")
REASONS = 5
"""How many reasons are named."""


class Decoding:
    """The decoding of one command line. `registry` is where the schemas are. Raises UsageError."""

    def __init__(
        self, options: SchemaOptions, registry: RegistrySettings | None, formats: dict[str, str] | None = None
    ) -> None:
        """`formats` are those of "key" and "value" that need no schema."""
        self.registry = registry
        self.strict: bool = options.fail_on_undecoded
        self._valid: bool = options.fail_on_invalid
        self._reader_of = reader_of(
            logical=options.logical != "raw",
            wrapped=options.avro_json,
            camel=options.proto_names == "json",
            validate=options.validate or self._valid,
            rules=not options.without_rules,
        )
        said = {"key": options.key_subject, "value": options.value_subject}
        self._subjects = {kind: subject_said(kind, word, registry) for kind, word in said.items()}
        self._specs = {
            kind: SchemaSpec(spec, self._subjects[kind], registered=registry is not None)
            for kind, spec in (("key", options.key_schema), ("value", options.value_schema))
            if spec is not None
        }
        self._formats = formats or {}
        for kind in self._formats:
            if kind in self._specs:
                raise UsageError(f"--{kind}-format and --{kind}-schema cannot be combined")
        self._fields: list[Field] = []
        self.labelled = False
        self.waits = False
        """Whether only what `passed` and `printed` name is counted: a part of a batch may be printed."""
        self.kinds: tuple[str, ...] = KINDS
        """What of a record is decoded."""
        self.filtered: tuple[str, ...] = ()
        """What of a record filters look at."""
        self.must_answer = False
        """Whether the run ends where the registry does not answer."""

    def label(self) -> None:
        """Keep by which schema each key and value is decoded, for lines that name it."""
        self.labelled = True

    def attach(self, consumer: Decodes, client: Client) -> None:
        """Have a consumer hand out decoded batches. The consumers of a command share what they found."""
        if not self._fields:
            self._fields = [field for kind in self.kinds if (field := self.field(kind, client)) is not None]
            for field in self._fields if self.labelled else ():
                schemas = None if self.registry is None else client.schemas
                field.labels = Labels(field.kind, schemas, self._subjects[field.kind].of_read)
            for field in self._fields if self.waits else ():
                field.undecoded.wait()
        consumer.decode = SchemaDecoder(self._fields).batch

    def of_values(self, client: Client) -> Decode | None:
        """A decoder of values alone, that counts for no summary: a search for a time reads records again. It raises
        KcliError where the registry does not answer: the search would end elsewhere."""
        field = self.field("value", client, must_answer=True)
        return None if field is None else SchemaDecoder([field]).batch

    def field(self, kind: str, client: Client, *, must_answer: bool = False) -> Field | None:
        """The decoder of keys, or of values; None without a schema and a registry."""
        if kind in self._formats:
            from kcli.serde.binary.formats import FormatDecoder

            return FormatDecoder(kind, self._formats[kind])
        spec = self._specs.get(kind)
        if self.registry is None and spec is not None:
            return BareDecoder(kind, lambda topic: spec.schema(topic, client), self._reader_of, spec.message)
        if self.registry is None:
            return None
        strict = {"every_name": kind in self.filtered, "must_answer": must_answer or self.must_answer}
        if spec is None:
            context = split(self._subjects[kind].name)[0]
            return FieldDecoder(kind, client.schemas, self._reader_of, context=context, **strict)
        from kcli.serde.schemas.named import NamedDecoder

        return NamedDecoder(
            kind, client.schemas, lambda topic: spec.schema(topic, client), self._reader_of, spec.message, **strict
        )

    def passed(self, at: TopicPartition, before: int) -> None:
        """What is in front of an offset was printed, or filtered out."""
        for field in self._fields:
            field.undecoded.passed(at.topic, at.partition, before)

    def printed(self, at: TopicPartition, offset: int) -> None:
        """One record was printed."""
        for field in self._fields:
            field.undecoded.printed(at.topic, at.partition, offset)

    def count_all(self) -> None:
        """Whatever is decoded from now on is printed."""
        self.waits = False
        for field in self._fields:
            field.undecoded.count_all()

    @property
    def unanswered(self) -> int:
        """The exit code of a registry that did not answer, where a filter looked at what it has; 0 without one."""
        fields = [field.undecoded for field in self._fields if field.kind in self.filtered]
        return max((code for one in fields for why, code in one.unanswered.items() if one.reasons[why]), default=0)

    @property
    def denied(self) -> int:
        """The exit code of a registry that refused the credentials; 0 without one."""
        return max((field.undecoded.denied for field in self._fields), default=0)

    @property
    def failed(self) -> bool:
        """Whether --fail-on-undecoded or --fail-on-invalid holds against what was read. A schema that is not used, or
        that the registry did not say, leaves open whether its values are valid."""
        reasons = [(reason, field.undecoded) for field in self._fields for reason in field.undecoded.reasons]
        invalid = any(
            reason.startswith(FORBIDDEN) or reason in own.refused or reason in own.unanswered for reason, own in reasons
        )
        return bool(self.strict and reasons) or (self._valid and invalid)

    def said(self, *, unknown: bool) -> list[str]:
        """A sentence for the keys, and one for the values, that are shown as stored; with `unknown` also for fields
        that their schema does not have."""
        sentences = [self._sentence(field) for field in self._fields if field.undecoded.total]
        sentences += [_unframed(field) for field in self._fields if field.undecoded.unframed]
        if unknown:
            sentences += [_unknown(field) for field in self._fields if field.unknown]
        if self.unanswered:
            sentences.append("the registry did not report their schemas, so it is unknown which of these records match")
        return sentences

    def _sentence(self, field: Field) -> str:
        return undecoded_sentence(field, "filtered" if field.kind in self.filtered else "shown")


def _unframed(field: Field) -> str:
    """Which keys are no frames, and the format that shows them."""
    (topic, partition), (offset, length) = next(iter(field.undecoded.unframed.items()))
    more = len(field.undecoded.unframed) - 1
    others = f" (and of {more} more partition{'s' * (more > 1)})" if more else ""
    format = {8: "int64", 16: "uuid"}.get(length, "FORMAT")
    return (
        f"keys of {topic}[{partition}]{others} are shown as stored after offset {offset}: fewer than half of the "
        f"first {FRAMES} that start like a schema frame could be decoded; --{field.kind}-format {format} shows them"
    )


def _unknown(field: Field) -> str:
    if field.unknown == 1:
        return f"1 field of a {field.kind} is not in its schema and is not shown"
    return f"{field.unknown:,} fields of {field.kind}s are not in their schema and are not shown"


def undecoded_sentence(field: Field, taken: str) -> str:
    """How many could not be decoded, why, and where the first is; `taken` is what is done with them instead."""
    undecoded = field.undecoded
    total = undecoded.total
    some = [f"{count:,} × {reason}" for reason, count in undecoded.reasons.most_common(REASONS)]
    if len(undecoded.reasons) > REASONS:
        some.append(f"{len(undecoded.reasons) - REASONS} more reasons")
    assert undecoded.first is not None
    topic, partition, offset = undecoded.first
    return (
        f"{total:,} {field.kind}{'' if total == 1 else 's'} could not be decoded and {'is' if total == 1 else 'are'} "
        f"{taken} as stored: {'; '.join(some)} (the first: {topic}[{partition}] offset {offset})"
    )
