"""What a command line of kcat's says, each option taking effect in its order."""

from __future__ import annotations

import os

from kcli.cli.commands.cat.parsing.properties import Settings
from kcli.cli.commands.cat.parsing.words import Done, Fatal, Misused, say

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from kcli.config.profiles import Profile
    from kcli.grammar.bound import Bound
    from kcli.registry.settings import RegistrySettings

PACK = " <>bBhHiIqQcs$"
AVRO = "avro"
FLAGS = frozenset("PCLQeEOqvTuZlVhJU")
TAKING = frozenset("GtpbzoDKkHdFXcfsrm")
HEX = [bytes((digit,)) for digit in b"0123456789abcdefABCDEF"]


class CommandLine:
    """The parsed command line. Raises Fatal, Misused, Done."""

    def __init__(self, words: list[str], program: str) -> None:
        self.program = program
        self.mode = ""
        self.topic: str | None = None
        self.group = ""
        self.asked: list[tuple[str, int, int]] = []  # -Q: topic, partition, timestamp
        self.partition = -1
        self.brokers: str | None = None
        self.start: Bound | None = None
        self.start_time = self.stop_time = 0
        self.to_end = self.json = self.nulls = self.tee = self.lines = self.unbuffered = False
        self.go_on = False  # -E
        self.template: bytes | None = None
        self.delimiter, self.key_delimiter = b"\n", None
        self.key: bytes | None = None
        self.headers: list[tuple[str, bytes | None]] = []
        self.count = 0
        self.patience = 5
        self.verbosity = 1
        self.pack: dict[str, str] = {}  # k and s: what the keys and values are unpacked as
        self.registry: RegistrySettings | None = None  # where the schemas of -s avro are
        self.trace = False
        self.settings = Settings(self)
        self._given_delimiter, self._given_key_delimiter = "\n", None
        self.words: list[str] = []
        for letter, value in options(words, self.words):
            self._take(letter, value)
        self.settings.files_of_the_environment()
        self._whole()

    _given_key_delimiter: str | None
    key_delimiter: bytes | None

    def _take(self, letter: str, value: str) -> None:
        simple = SIMPLE.get(letter)
        if simple is not None:
            setattr(self, simple, True)
        elif letter in "PCLQG":
            self.mode = letter
            if letter == "G":
                self.group = value
        elif letter == "t" and self.mode == "Q":
            self.asked.append(_question(value))
        elif letter in TEXTS:
            setattr(self, TEXTS[letter], value)
        elif letter in NUMBERS:
            setattr(self, NUMBERS[letter], c_number(value))
        elif letter in "qv":
            self.verbosity = 0 if letter == "q" else self.verbosity + 1
        elif letter in "kf":
            setattr(self, "key" if letter == "k" else "template", os.fsencode(value))
        elif letter not in "O":  # kcat accepts -O, and does nothing
            getattr(self, f"_{letter}")(value)

    def _o(self, value: str) -> None:
        from kcli.grammar.bound import Bound

        if value[:2] in ("s@", "e@"):
            setattr(self, "start_time" if value[0] == "s" else "stop_time", c_number(value[2:]))
        elif value in PLACES:
            self.start = Bound(PLACES[value])
        else:
            if not value.lstrip("-+").isdecimal():
                say(self.verbosity, 1, f"-o {value}: not an offset; it is read as {c_number(value)}")
            number = c_number(value)
            self.start = Bound("relative", -number) if number < 0 else Bound("offset", number)

    def _z(self, value: str) -> None:
        self.settings.put("compression.codec", value)

    def _s(self, value: str) -> None:
        fields = "ks"
        for name, field in (("key=", "k"), ("value=", "s")):
            if value.startswith(name):
                value, fields = value.removeprefix(name), field
        what = "value" if fields == "s" else "key"
        if not value:
            raise Fatal(f"{what} pack-format must not be empty")
        for token in value if value != AVRO else "":
            if token not in PACK:
                raise Fatal(f"Invalid token '{token}' in {what} pack-format; known: {' '.join(PACK.strip())}")
        self.pack.update(dict.fromkeys(fields, value))

    @property
    def avro(self) -> str:
        """The fields that are Avro: k, s."""
        return "".join(field for field, pack in self.pack.items() if pack == AVRO)

    def _r(self, value: str) -> None:
        if not value:
            raise Fatal("-r url must not be empty")
        self.settings.put("schema.registry.url", value, "-r")

    def _H(self, value: str) -> None:
        name, equals, text = value.partition("=")
        if not name:
            raise Fatal('Expected -H "name=value" or -H "name"')
        self.headers.append((name, os.fsencode(text) if equals else None))

    def _d(self, value: str) -> None:
        for context in value.split(","):
            if context.strip() and context.strip() not in CONTEXTS:
                raise Fatal(f"-d {value}: unknown context {context.strip()!r}; known: {','.join(CONTEXTS)}")
        self.trace = True

    def _F(self, value: str) -> None:
        self.settings.search = False
        if value not in ("-", "none"):
            self.settings.read_file(value)

    def _X(self, value: str) -> None:
        if value in ("list", "help", "dump"):
            self.settings.show(value)
            return
        name, equals, text = value.partition("=")
        if not equals:
            raise Fatal("Expected -X property=value; -X list lists the properties")  # it may be a secret
        self.settings.put(name, text)

    def _U(self, _: str) -> None:
        raise Done  # kcat's unit tests; ours are `make test`

    def _V(self, _: str) -> None:
        from kcli.cli.commands.cat.parsing.usage import version

        raise Done(version())

    def _h(self, _: str) -> None:
        from kcli.cli.commands.cat.parsing.usage import usage

        raise Done(usage(self.program))

    # -- the whole ---------------------------------------------------------------------------------------------------

    def _whole(self) -> None:
        """What can only be decided once all options are known."""
        if self.settings.dump:
            raise Done(self.settings.dumped())
        if self.brokers is None and self.settings.properties.bootstrap is None:
            profile = _profile() if self.program == "kcli cat" else None
            if profile is not None:
                raise Fatal(
                    f"-b <broker,..> missing: kcli cat reads no profile; kcli consume and kcli produce use "
                    f"{profile.name}"
                )
            raise Misused("-b <broker,..> missing")
        if not self.mode:
            self.mode = "C" if os.isatty(0) else "P"
            name = "Consumer" if self.mode == "C" else "Producer"
            say(self.verbosity, 1, f"Auto-selecting {name} mode (use -P or -C to override)")
        if self.mode == "P" and os.environ.get("KCLI_PROFILE"):
            profile = _profile()
            if profile is not None and profile.guard == "read_only":
                raise Fatal(f"refused by read-only profile {profile.name}: producing would change the cluster")
        if self.mode in "PC" and self.topic is None:
            raise Misused("-t <topic> missing")
        if self.mode == "Q" and not self.asked:
            raise Misused("-t <topic>:<partition>:<timestamp> missing")
        if self.pack and self.mode not in "GC":
            raise Fatal("-s serdes only available in the consumer")
        if self.avro:
            self.registry = self.settings.registry()
            if "k" in self.avro and self._given_key_delimiter is None:
                self.key_delimiter = b""  # so that the key is printed
        if self._given_key_delimiter is not None:
            self.key_delimiter = delimiter(self._given_key_delimiter)
        self.delimiter = delimiter(self._given_delimiter)
        if self.mode == "P" and not self.delimiter:
            raise Fatal("Message delimiter -D must not be empty when producing")
        if self.words and self.mode not in "PG":
            raise Misused("file/topic list only allowed in producer(-P)/kafkaconsumer(-G) mode")
        if self.words and self.lines and len(self.words) > 1:
            raise Fatal("Only one file allowed for line mode (-l)")
        if self.mode == "G" and (self.start_time or self.stop_time):
            raise Fatal("-o ..@ timestamps can't be used with -G mode")


def _profile() -> Profile | None:
    """The profile that other commands use. Raises UsageError."""
    from kcli.config.profiles import chosen

    return chosen(None)


SIMPLE = {"e": "to_end", "E": "go_on", "J": "json", "Z": "nulls", "T": "tee", "u": "unbuffered", "l": "lines"}
TEXTS = {"t": "topic", "b": "brokers", "D": "_given_delimiter", "K": "_given_key_delimiter"}
NUMBERS = {"p": "partition", "c": "count", "m": "patience"}
PLACES = {"beginning": "earliest", "end": "latest", "stored": "stored"}
CONTEXTS = """
all generic broker topic metadata feature queue msg protocol cgrp security fetch interceptor plugin consumer admin eos
mock assignor conf
""".split()


def _question(text: str) -> tuple[str, int, int]:
    """-Q -t topic:partition:timestamp."""
    topic, _, rest = text.partition(":")
    partition, colon, moment = rest.partition(":")
    if not colon or not partition.lstrip()[:1].isdecimal() or not moment.lstrip().lstrip("+-")[:1].isdecimal():
        raise Fatal('-t: expected "topic:partition:timestamp"')
    return topic, c_number(partition), c_number(moment)


def options(words: list[str], others: list[str]) -> Iterator[tuple[str, str]]:
    """(letter, value) of a line, as GNU's getopt gives them; what is no option goes to `others`. Raises Misused."""
    rest = iter(words)
    for word in rest:
        if word == "--":
            others.extend(rest)
            return
        if len(word) < 2 or word[0] != "-":
            others.append(word)
            continue
        for place in range(1, len(word)):
            letter = word[place]
            if letter in FLAGS:
                yield letter, ""
                continue
            value = word[place + 1 :] or next(rest, None)
            if letter not in TAKING or value is None:
                raise Misused(f"unknown argument -{letter}" if letter not in TAKING else f"-{letter} takes a value")
            yield letter, value
            break


def c_number(text: str) -> int:
    """strtoll: leading blanks, a sign, digits; 0 where there are none."""
    text = text.lstrip()
    sign, digits = (text[:1], text[1:]) if text[:1] in ("-", "+") else ("", text)
    end = 0
    while end < len(digits) and digits[end] in "0123456789":
        end += 1
    found = min(int(digits[:end] or "0"), 2**63 - 1)
    return -found if sign == "-" else found


def delimiter(text: str) -> bytes:
    r"""-D and -K: \n, \t and \xN… are bytes; the rest is itself."""
    made = os.fsencode(text).replace(b"\\n", b"\n").replace(b"\\t", b"\t")
    out = b""
    while (at := made.find(b"\\x")) >= 0:
        end = at + 2
        while end < len(made) and made[end : end + 1] in HEX:
            end += 1
        if end == at + 2:
            raise Fatal(f"Delimiter {text} expects hex number")
        out += made[:at] + bytes((int(made[at + 2 : end], 16) & 0xFF,))
        made = made[end:]
    return out + made
