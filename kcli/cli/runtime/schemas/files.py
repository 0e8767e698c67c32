"""Schemas of files as their registry has them: the latest of their subject, or registered by --register."""

from __future__ import annotations

from kcli.errors import KcliError, UsageError
from kcli.schemas import PROTOBUF, Reference, Schema, SchemaNotFound
from kcli.serde.contracts.writable import conditions_of
from kcli.serde.schemas.writers import same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcli.cli.runtime.schemas.spec import SchemaSpec
    from kcli.schemas import Schemas
    from kcli.serde.contracts.rules import Rule
    from kcli.serde.schemas.readers import References

    Found = tuple[SchemaSpec, Schema, References]


class FileSchemas:
    """The files of one command line, for the keys and the values of a topic."""

    def __init__(self, schemas: Schemas, topic: str, *, register: bool, without_rules: bool) -> None:
        self._schemas, self._topic, self._register = schemas, topic, register
        self._without_rules = without_rules
        self._done: list[str] = []

    async def check(self, files: Sequence[Found]) -> None:
        """Of two schemas to register, refuse both where the registry refuses one. Raises KcliError."""
        if not self._register or len(files) < 2:
            return
        for spec, schema, referred in files:
            subject = await spec.subject(self._topic, self._schemas, schema, referred)
            await self._conditions(subject)
            if not referred:  # else the registry cannot read it before it has the files that it imports
                await self._schemas.check(subject, schema.replace(subject=""))

    async def registered(self, spec: SchemaSpec, schema: Schema, referred: References) -> tuple[Schema, list[Rule]]:
        """A file's schema as its registry has it, with --register a new one; and its subject's conditions. Raises
        KcliError."""
        subject = await spec.subject(self._topic, self._schemas, schema, referred)
        if not self._register:
            latest = await self._latest(subject, schema, referred)
            return latest, conditions_of(latest, without=self._without_rules)
        conditions = await self._conditions(subject)
        try:
            schema = await self._with_imports(schema, referred)
            id = await self._schemas.register(subject, schema.replace(subject=""))
        except KcliError as problem:
            for done in self._done:
                problem.args = (f"{problem.args[0]}; {done} is registered, and stays so",)
            raise
        self._done.append(f"the schema of {subject}")
        if id >= 0:
            return schema.replace(id=id), conditions
        return await self._latest(subject, schema, referred), conditions  # its UUID names it

    async def _with_imports(self, schema: Schema, referred: References) -> Schema:
        """A schema whose imports are registered, each under its path, as Confluent's serializer does it. Raises
        KcliError."""
        known: dict[str, Reference] = {}
        if not referred:
            return schema
        from kcli.serde.protobuf.reader import is_descriptor

        for name, text in referred:
            if is_descriptor(text):
                raise UsageError(
                    f"{schema.name} imports {name}, and --register registers the imports of a .proto file only; "
                    "use kcli registry register with --reference"
                )
            id = await self._schemas.register(name, Schema(kind=PROTOBUF, text=text, references=_direct(text, known)))
            subject, version = await self._schemas.use_of(await self._schemas.by_id(id), name)
            if subject != name:
                version = (await self._schemas.latest(name)).version
            known[name] = Reference(name, name, version)
            self._done.append(f"the schema of {name}")
        return schema.replace(references=_direct(schema.text, known))

    async def _conditions(self, subject: str) -> list[Rule]:
        """The conditions of the subject's latest version, which a new one inherits."""
        try:
            latest = await self._schemas.latest(subject)
        except SchemaNotFound:
            return []
        return conditions_of(latest, without=self._without_rules)

    async def _latest(self, subject: str, schema: Schema, referred: References) -> Schema:
        """The latest version. Raises UsageError where it is another schema."""
        latest = await self._schemas.latest(subject)
        needed = await self._schemas.references(latest) if latest.references else []
        if same(latest, schema, [(name, one.text) for name, one in needed], referred):
            return latest
        raise UsageError(
            f"the latest version of {subject} is another schema than the file; --register registers the file"
        )


def _direct(text: str, known: dict[str, Reference]) -> tuple[Reference, ...]:
    """The references of a file among those that are registered."""
    from kcli.serde.protobuf.schema.text import imports_of

    return tuple(known[name] for name in imports_of(text) if name in known)
