"""Under which subject a topic's schemas are: --value-subject and --key-subject, or the properties of Java's clients."""

from __future__ import annotations

from kcli.errors import KcliError, UsageError
from kcli.registry.subjects import NAMED, TOPIC, strategy_named
from kcli.serde.schema_name import schema_name
from kcli.values import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.registry.settings import RegistrySettings
    from kcli.schemas import Schema, Schemas
    from kcli.serde.schemas.readers import References


class Subject(Frozen):
    """The subject of a topic's keys or values (`kind`): named by the user, or found by a strategy."""

    kind: str = "value"
    name: str = ""
    strategy: str = TOPIC

    @property
    def of_schema(self) -> bool:
        """Whether it is made of the schema's name."""
        return not self.name and self.strategy in NAMED

    async def of(self, topic: str, schemas: Schemas, record: str = "") -> str:
        """`record` is the name of the schema. Raises UsageError where the strategy takes a name and the schema has
        none, and what the registry raises."""
        return self.name or await schemas.subject(self.strategy, topic, self.kind, record)

    async def of_read(self, schemas: Schemas, topic: str, schema: Schema, referred: References, message: str) -> str:
        """The subject of a schema that was read; "" where it is not known. Raises nothing."""
        try:
            record = schema_name(schema, referred, message) if self.of_schema else ""
            return await self.of(topic, schemas, record)
        except KcliError:  # it only chooses among the subjects that the registry names
            return ""


def subject_said(kind: str, word: str | None, registry: RegistrySettings | None) -> Subject:
    """What a line says of the subject of keys or values (`kind`): the `word` of its option is a strategy or a name;
    without it the registry's properties say the strategy. Raises UsageError."""
    if word is not None:
        if not word.strip():
            raise UsageError(f"--{kind}-subject is empty; write topic, record, topic-record, associated or a name")
        strategy = strategy_named(word)
        return Subject(kind=kind, strategy=strategy) if strategy else Subject(kind=kind, name=word)
    return Subject(kind=kind, strategy=TOPIC if registry is None else registry.strategy(kind))
