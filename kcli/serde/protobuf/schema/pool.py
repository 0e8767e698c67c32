"""Types by full name, and resolution of the names in fields by Protobuf's scopes."""

from __future__ import annotations

from kcli.proto import protobuf_code as code
from kcli.serde.protobuf.schema.tokens import refuse
from kcli.serde.protobuf.schema.types import PACKABLE, Enum, Field, Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.serde.protobuf.schema.features import Features

MOST_NAMES = 10_000


class Pool:
    """The types of all parsed files."""

    def __init__(self) -> None:
        self.types: dict[str, Message | Enum] = {}
        self._named: list[tuple[Field, str, str]] = []  # field, its scope, name of its type
        self._extensions: list[tuple[Field, str, str]] = []  # field, its scope, name of the extended message

    def add(self, type: Message | Enum) -> None:
        """Add a type; of two with the same name the first counts. Raises SchemaRefused."""
        if len(self.types) >= MOST_NAMES:
            raise refuse(f"it has more than {MOST_NAMES:,} types")
        self.types.setdefault(type.name, type)

    def field(self, message: Message, field: Field) -> None:
        """Add a field. Raises SchemaRefused."""
        if not 1 <= field.number <= code.LARGEST_NUMBER:
            raise refuse(f"{field.number} is not a valid number for {message.name}.{field.name}")
        other = message.fields.get(field.number)
        if other is not None:
            raise refuse(f"{message.name} has the number {field.number} twice: {other.name} and {field.name}")
        message.fields[field.number] = field

    def name(self, field: Field, scope: str, name: str) -> None:
        """Note the name of a field's type, to be resolved from the scope."""
        self._named.append((field, scope, name))

    def extend(self, field: Field, scope: str, extended: str) -> None:
        self._extensions.append((field, scope, extended))

    def link(self, features: Features) -> None:
        """Resolve the types of the fields added since the last call. Raises SchemaRefused."""
        for field, scope, name in self._named:
            field.type = self._found(scope, name, field.name)
            if isinstance(field.type, Enum):
                field.kind = code.ENUM
            elif field.kind == code.ENUM:
                raise refuse(f"{name}, the type of {field.name}, is not an enum")
            elif field.kind not in (code.GROUP, code.MESSAGE):
                field.kind = code.MESSAGE
            if field.kind in (code.GROUP, code.MESSAGE):
                field.presence = True
            field.packed = field.packed and field.kind in PACKABLE
        for field, scope, extended in self._extensions:
            message = self._found(scope, extended, field.name)
            if isinstance(message, Message) and field.number not in message.fields:
                self.field(message, field)
        self._named.clear()
        self._extensions.clear()

    def _found(self, scope: str, name: str, field: str) -> Message | Enum:
        """Find a type by name, from the innermost scope outwards. Raises SchemaRefused."""
        if name.startswith("."):
            declared = self.types.get(name[1:])
        else:
            declared = None
            while declared is None and scope:
                declared = self.types.get(f"{scope}.{name}")
                scope = scope.rpartition(".")[0]
            declared = declared or self.types.get(name)
        if declared is None:
            raise refuse(f"{name}, the type of {field}, is in none of its files")
        return declared
