"""One letter, one word, one meaning: walks all commands of the registry. Each exception has its reason."""

from __future__ import annotations

from pathlib import Path
from re import findall

import pytest

from kcli.cli.main import main
from kcli.cli.parsing.command import Command, options_read
from kcli.cli.parsing.option import Option, Options
from kcli.cli.parsing.parser import parse
from kcli.cli.parsing.registry import SUBJECTS, declared, every, subject, verb
from kcli.cli.parsing.resolver import find
from kcli.grammar.durations import milliseconds, seconds
from tests.each import each

COMMANDS = {path: command for path, command in every() if not command.own_words}  # `kcli cat` has kcat's letters
LETTERS = {
    "-a": ("--all", "all there is of what is otherwise chosen"),
    "-b": ("--bootstrap-server", "kcat's: where the cluster listens"),
    "-c": ("--count", "stop after N records"),
    "-D": ("", "kcat's: between records"),
    "-e": ("--exit", "stop at the end"),
    "-F": ("--command-config", "kcat's: a file of properties"),
    "-f": ("", "kcat's: how a record is printed"),
    "-g": ("--group", "a group"),
    "-H": ("--header", "kcat's: a header"),
    "-J": ("--json", "kcat's: JSON"),
    "-K": ("", "kcat's: between key and value"),
    "-k": ("--key", "kcat's: the key"),
    "-n": ("--count", "stop after N records"),
    "-o": ("--offset", "where to start"),
    "-p": ("--partition", "these partitions"),
    "-q": ("--quiet", "quiet"),
    "-r": ("--replication-factor", "replicas of each partition"),
    "-t": ("--topic", "a topic"),
    "-u": ("", "kcat's: no buffer"),
    "-v": ("--verbose", "verbose"),
    "-w": ("--watch", "again and again"),
    "-X": ("--property", "kcat's: a property"),
    "-y": ("--yes", "the answer to the question"),
    "-Z": ("--null", "kcat's: null"),
    "-z": ("--compression", "kcat's: the codec"),
}
"""What a letter means, and the long option that says it; "" where kcat has none."""
LETTERS_ELSEWHERE = {
    ("topics create", "-p"): ("--partitions", "how many, as kaf, rpk and kcl have it"),
    ("topics alter", "-p"): ("--partitions", "how many, as kaf, rpk and kcl have it"),
    ("groups dlq", "-p"): ("--partitions", "how many, as topics create has it"),
    ("tail", "-n"): ("--lines", "the last N records, as of tail(1)"),
    ("tail", "-c"): ("--lines", "the last N records"),
    ("tail", "-e"): ("--no-follow", "to stop at the end is not to follow"),
    ("topics trim", "-o"): ("--before", "where the log starts from then on"),
    ("groups reset", "-o"): ("--to", "where the group starts from then on"),
    ("streams reset", "-o"): ("--to", "where the application starts from then on"),
    **{
        (path, "-a"): ("--all-topics", "all there is")
        for path in ("leaders elect", "reassign plan", "reassign execute", "reassign cancel")
    },
}
"""Where a letter is said by another long option, and why."""


def options(letter: str) -> list[tuple[str, Option]]:
    return [
        (path, option) for path, command in COMMANDS.items() for option in command.options if letter in option.flags
    ]


def letters() -> list[str]:
    flags = {flag for command in COMMANDS.values() for option in command.options for flag in option.flags}
    return sorted(flag for flag in flags if len(flag) == 2)


@each("letter", letters())
def test_a_letter_means_the_same_everywhere(letter: str) -> None:
    long, _ = LETTERS[letter]
    for path, option in options(letter):
        wanted = LETTERS_ELSEWHERE.get((path, letter), (long, ""))[0]
        spelled = [flag for flag in option.flags if flag.startswith("--")]
        assert wanted in spelled if wanted else not spelled, f"{path} {letter} is {spelled}, not {wanted}"


def test_an_exception_is_one() -> None:
    assert set(letters()) <= LETTERS.keys()
    for (path, letter), (long, _) in LETTERS_ELSEWHERE.items():
        assert any(letter in option.flags and long in option.flags for option in COMMANDS[path].options), (path, letter)
        assert long != LETTERS[letter][0] or path == "lag"


ONE_PARTITION = {"produce": "a record has one; -1 is by key", "txn abort": "a transaction hangs in one partition"}


def test_p_takes_the_same_list_of_partitions() -> None:
    for path, option in options("-p"):
        number = path in ONE_PARTITION or (path, "-p") in LETTERS_ELSEWHERE
        assert (option.metavar, option.kind) == (("N", "int") if number else ("N,N-N", "text")), path


def takes(command: Command, word: str) -> bool:
    return word in command.words.replace("[", " ").replace("|", " ").replace(".", " ").split()


TOPICS_OF_OTHER_WORDS = ("SRC", "DLQ")


@each("path", COMMANDS)
def test_t_and_g_are_taken_wherever_a_topic_or_group_is_an_argument(path: str) -> None:
    command = COMMANDS[path]
    if any(takes(command, word) for word in ("TOPIC", *TOPICS_OF_OTHER_WORDS)):
        assert "-t" in command.by_flag
    if takes(command, "GROUP") or takes(command, "SOURCE"):
        assert "-g" in command.by_flag


ONE_NAME = {
    "produce": "records go to one topic",
    "redrive": "one dead-letter topic, with progress of its own",
    "topics create": "a new topic has a name",
    "coord": "any name has a coordinator, whether it exists or not",
    "groups remove-members": "members are of one group",
    "groups dlq": "a dead-letter topic of its own for each group",
    "txn abort": "a transaction hangs in one partition",
    **dict.fromkeys(
        ("pipeline copy", "pipeline replay", "pipeline profile", "pipeline import", "pipeline export"),
        "Spark's checkpoint is of fixed topics",
    ),
}
"""Commands with a TOPIC or a GROUP that is one name, and why."""


@each("path", COMMANDS)
def test_a_pattern_is_taken_wherever_a_topic_or_group_is_named(path: str) -> None:
    command = COMMANDS[path]
    named = any(takes(command, word) for word in ("TOPIC", "GROUP", *TOPICS_OF_OTHER_WORDS))
    if named:
        assert ("--literal" in command.by_flag) is (path not in ONE_NAME), path


@each("path", COMMANDS)
def test_a_long_topic_or_group_has_its_letter(path: str) -> None:
    for option in COMMANDS[path].options:
        for long, letter in (("--topic", "-t"), ("--group", "-g"), ("--quiet", "-q"), ("--verbose", "-v")):
            assert (long in option.flags) <= (letter in option.flags), f"{path} {long}"


LENGTHS = ("--interval", "--window", "--over", "--jitter", "--trigger", "--timeout", "--max-time", "--older-than")
OTHER_METAVARS = ("LENGTH", "SECONDS")
"""What durations were called."""
TIMES = ("--start", "--end", "--at", "--timestamp", "--to-datetime")


@each("path", COMMANDS)
def test_a_duration_has_one_metavar_and_a_time_another(path: str) -> None:
    for option in COMMANDS[path].options:
        assert option.metavar not in OTHER_METAVARS, f"{path} {option.flags}"
        assert option.metavar != "MS" or option.flags[0].endswith("-ms"), f"{path} {option.flags}"
        if set(option.flags) & {*LENGTHS}:
            assert option.metavar == "DURATION", f"{path} {option.flags}"
        assert (option.metavar == "TIME") is bool(set(option.flags) & {*TIMES}), f"{path} {option.flags}"


OTHER_TIMEOUTS = {"doctor": "of each step; a step that is too slow has failed"}


def test_a_timeout_waits_and_then_exits_with_4() -> None:
    for path, command in COMMANDS.items():
        option = command.by_flag.get("--timeout")
        if option is not None and path not in OTHER_TIMEOUTS:
            waits = option.help.startswith("Wait up to this long until ") and option.help.endswith(", else exit 4.")
            assert waits or option.help == "Exit 4 if no record arrives for this long.", path


@each(
    ("line", "says"),
    [
        (line.format(word), f"{flag} {word}: expected a duration such as 30s, 5m, 1h30m or 7d")
        for word in ("soon", "1x", "-5s", "P1Y")
        for line, flag in (
            ("lag --watch --interval={}", "--interval"),
            ("lag g --max-lag 1 --timeout={}", "--timeout"),
            ("topics stats --unused={}", "--unused"),
            ("topics create t --timeout={}", "--timeout"),
            ("reassign list --over={}", "--over"),
            ("reassign verify --wait --timeout={}", "--timeout"),
            ("txn list --longer-than={}", "--longer-than"),
            ("txn find-hanging --older-than={}", "--older-than"),
            ("tokens create --max-lifetime={}", "--max-lifetime"),
            ("tokens renew x --for={}", "--for"),
            ("consume t --timeout={}", "--timeout"),
            ("consume t --start -1h --time-field f --jitter={}", "--jitter"),
            ("doctor --timeout={}", "--timeout"),
            ("tui --interval={}", "--interval"),
            ("sandbox --users f --session-lifetime={}", "--session-lifetime"),
            ("pipeline replay a b --max-gap={}", "--max-gap"),
            ("pipeline export a b --trigger={} --continuous", "--trigger"),
        )
    ],
)
def test_every_duration_is_refused_alike(line: str, says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line.split()) == 2
    assert says in capsys.readouterr().err


@each(
    ("text", "ms"),
    [("30", 30_000), ("2.5", 2500), ("30s", 30_000), ("1h30m", 5_400_000), ("500ms", 500), ("PT1M", 60_000), ("0", 0)],
)
def test_a_duration_reads_the_same_everywhere(text: str, ms: int) -> None:
    assert milliseconds(text, "--timeout") == ms
    assert seconds(text, "--timeout", None) == ms / 1000


def test_rates_have_one_metavar() -> None:
    for path, command in COMMANDS.items():
        for option in command.options:
            rate = option.flags[0] in ("--rate", "--throttle")
            assert (option.metavar == "RATE") is rate, f"{path} {option.flags}"


def test_to_is_where_something_goes() -> None:
    destinations = {
        "WHERE": "an offset",
        "TOPIC": "",
        "FILE": "",
        "PATH": "a directory",
        "ID,ID…": "brokers",
        "URL": "a registry",
    }
    for path, command in COMMANDS.items():
        option = command.by_flag.get("--to")
        assert option is None or option.metavar in destinations, path


MOVED = [(path, was, now) for path, command in COMMANDS.items() for was, now in command.moved]


@each(("path", "was", "now"), MOVED)
def test_an_old_spelling_answers_with_the_new_one(
    path: str, was: str, now: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert was not in COMMANDS[path].by_flag
    assert now.split()[0] in COMMANDS[path].by_flag
    assert main([*path.split(), was, "1"]) == 2
    assert capsys.readouterr().err == f"kcli: {path}: {was} was renamed; use `{now}`\n"


COMMON = {"list", "describe", "create", "alter", "delete", "set", "unset", "add", "remove"}
VERBS_OF_THEIR_OWN = {
    "topics": {"trim": "deletes records, not the topic", "stats": "figures"},
    "groups": {
        "members": "what a group has",
        "reset": "Kafka's word",
        "delete-offsets": "Kafka's word",
        "remove-members": "Kafka's word (removeMembersFromConsumerGroup)",
        "clone": "offsets of one group for another",
        "why": "a sentence about its lag",
        "peek": "records, not the group",
        "export": "a file for reset --from-file",
        "dlq": "sets a dead-letter queue up, or ends it",
    },
    "streams": {"reset": "Kafka's word"},
    "config": {
        "use": "makes it the default",
        "show": "with the place of each value",
        "check": "",
        "import": "",
        "path": "where the file is",
        "current": "which cluster applies",
    },
    "brokers": {"versions": "what a broker has"},
    "cluster": {"quorum": "", "features": "", "voters": "", "unregister": "Kafka's word: a broker that is gone"},
    "cluster features": {"upgrade": "Kafka's word", "downgrade": "Kafka's word"},
    "logdirs": {"replicas": "what a directory has"},
    "configs": {
        "get": "some of many values",
        "diff": "",
        "append": "Kafka's word for lists",
        "subtract": "Kafka's word for lists",
    },
    "quotas": {"resolve": "which of them holds"},
    "txn": {
        "producers": "what a partition has",
        "find-hanging": "Kafka's word",
        "abort": "Kafka's word",
        "fence": "the producer of an id",
    },
    "acls": {"who-can": ""},
    "tokens": {"renew": "Kafka's word", "expire": "Kafka's word"},
    "leaders": {"elect": "Kafka's word"},
    "reassign": dict.fromkeys(("plan", "execute", "verify", "cancel", "throttle", "disks"), "steps of a move"),
}
"""Verbs, or things, that only a subject has, and why."""
NO_CONVENTION = ("pipeline", "registry")
"""`pipeline` has jobs; `registry` has the words of its API."""


def test_verbs_are_the_same_everywhere() -> None:
    for path in COMMANDS:
        subject, _, word = path.rpartition(" ")
        if subject and subject not in NO_CONVENTION and word not in COMMON:
            assert word in VERBS_OF_THEIR_OWN.get(subject, {}), path
    for subject, words in VERBS_OF_THEIR_OWN.items():
        assert {f"{subject} {word}" for word in words} <= COMMANDS.keys(), subject


@each(
    ("line", "path"),
    [
        ("topic ls", "topics list"),
        ("topic rm t", "topics delete"),
        ("group list", "groups list"),
        ("broker ls", "brokers list"),
        ("acl rm", "acls remove"),
        ("acl list", "acls list"),
        ("user rm bob", "users delete"),
        ("token rm x", "tokens expire"),
        ("quota ls", "quotas list"),
        ("leader ls", "leaders list"),
        ("logdir ls", "logdirs list"),
        ("transactions ls", "txn list"),
        ("clusters ls", "cluster describe"),
        ("cluster list", "cluster describe"),
        ("cluster", "cluster describe"),
        ("cluster voters rm 2", "cluster voters remove"),
        ("profiles ls", "config list"),
        ("profile list", "config list"),
        ("config list", "config list"),
        ("configs rm topic t k", "configs unset"),
        ("configs delete topic t k", "configs unset"),
        ("offset t", "offsets"),
        ("fault", "faults"),
    ],
)
def test_a_subject_has_a_singular_and_a_plural_and_ls_and_rm_are_verbs(line: str, path: str) -> None:
    found = find(line.split())
    assert found is not None
    assert found[2] == path


def test_every_group_has_ls_and_all_groups_that_delete_have_rm() -> None:
    for name in SUBJECTS:
        verbs = declared(name)
        if isinstance(verbs, dict) and name != "pipeline":  # it has nothing to list or delete
            assert verb("ls", verbs) in ("list", "describe"), name
            assert (verb("rm", verbs) is not None) == bool({"delete", "remove", "unset", "expire"} & verbs.keys()), name


SCRIPTS = [
    ("topics --bootstrap-server h:1 --create --topic t --partitions 3 --replication-factor 2", "topics create"),
    ("topics --bootstrap-server h:1 --list", "topics list"),
    ("topics --describe --topic t --bootstrap-server h:1", "topics describe"),
    ("topics --delete --topic t", "topics delete"),
    ("topics --alter --topic t --partitions 6", "topics alter"),
    ("groups --list", "groups list"),
    ("groups --describe --group g", "groups describe"),
    ("groups --describe --group g --members", "groups members"),
    ("groups --delete --group g --group h", "groups delete"),
    ("groups --reset-offsets --group g --topic t:0,1 --to-earliest --execute", "groups reset"),
    ("groups --reset-offsets --group g --all-topics --shift-by -10 --dry-run", "groups reset"),
    ("groups --delete-offsets --group g --topic t", "groups delete-offsets"),
    ("acls --list --topic t", "acls list"),
    ("acls --add --allow-principal User:a --operation read --topic t", "acls add"),
    ("acls --remove --topic t", "acls remove"),
]


@each(("line", "path"), SCRIPTS)
def test_a_line_of_kafkas_scripts_is_one_of_ours(line: str, path: str) -> None:
    found = find(line.split())
    assert found is not None
    command, rest, name = found
    assert name == path
    assert parse(command, rest) is not None


KAFKAS_NAMES = [
    ("consume --topic t --group g --consumer.config f --command-property a=b", "consume -t t -g g -F f -X a=b"),
    (
        "consume t --consumer-property a=b --isolation-level read_committed",
        "consume t -X a=b --isolation read_committed",
    ),
    ("consume t --max-messages 3 --timeout-ms 5 --from-beginning", "consume t -n 3 --timeout-ms 5 --from-beginning"),
    ("produce --topic t --producer-property a=b --compression-codec lz4", "produce -t t -X a=b -z lz4"),
    ("produce t --producer.config f --bootstrap-server h:1", "produce t -F f -b h:1"),
    ("groups describe --all-groups", "groups describe *"),
    ("groups delete --all-groups", "groups delete *"),
    ("groups reset --all-groups --all-topics --to-latest", "groups reset * --all-topics --to-latest"),
    ("topics describe --topics t", "topics describe t"),
    ("configs --describe --entity-type topics --entity-name t", "configs get topics t"),
    ("configs --alter --entity-type topics --entity-name t", "configs set topics t"),
    ("configs unset --entity-type brokers --entity-name 1 --delete-config k", "configs unset brokers 1 k"),
    ("leaders elect --all-topic-partitions", "leaders elect --all-topics"),
    ("reassign execute --reassignment-json-file f.json --throttle 5", "reassign execute f.json --throttle 5"),
    ("reassign verify --reassignment-json-file f.json", "reassign verify f.json"),
    ("txn describe --transactional-id x", "txn describe x"),
    ("txn fence --transactional-id x", "txn fence x"),
    ("txn list --broker-id 1", "txn list --broker 1"),
    (
        "tokens create --owner-principal User:a --renewer-principal User:b",
        "tokens create --owner User:a --renewer User:b",
    ),
    ("tokens list --owner-principal User:a", "tokens list --owner User:a"),
]


@each(("kafkas", "ours"), KAFKAS_NAMES)
def test_kafkas_own_long_names_are_read(kafkas: str, ours: str) -> None:
    def options(line: str) -> Options:
        found = find(line.split())
        assert found is not None
        read = parse(found[0], found[1])
        assert read is not None
        return options_read(found[0], read)

    assert options(kafkas) == options(ours)


def test_what_is_read_beside_the_help_is_in_no_help() -> None:
    for path, command in COMMANDS.items():
        for option in command.options:
            assert not set(option.also) & set(option.flags), path
            assert all(command.by_flag[flag] is option for flag in (*option.flags, *option.also)), f"{path}: twice"


PAGE = (Path(__file__).resolve().parents[3] / "docs" / "conventions.md").read_text()


def test_the_page_has_every_letter_and_every_spelling_that_moved() -> None:
    for letter in letters():
        assert f"`{letter}`" in PAGE, letter
    rows = [row for row in PAGE.splitlines() if row.startswith("| ")]
    for path, was, now in MOVED:
        found = [row for row in rows if f"`{path}`" in row and f"`{now}`" in row]
        assert any(f"`{was}`" in row or f"`{was} " in row for row in found), f"{path} {was}"


def test_look_alikes_are_commands(capsys: pytest.CaptureFixture[str]) -> None:
    section = PAGE.partition("## Names that are easy to confuse")[2].partition("\n## ")[0]
    names = [name for name in findall(r"`([a-z ]+)`", section) if not name.startswith("kcli")]
    assert len(names) > 20
    known = {path for path, _ in every()}
    for name in names:
        first, *rest = name.split()
        found = subject(first)
        assert found is not None, name
        assert not rest or " ".join((found, *rest)) in known, name
    assert main(["--help"]) == 0
    listed = capsys.readouterr().out
    for name in ("meta", "coord", "rollback"):
        assert f"\n│ {name} " in listed


def test_an_option_that_the_page_names_is_one() -> None:
    known = {flag for command in COMMANDS.values() for flag in command.by_flag}
    known |= {was for _, was, _ in MOVED} | {"--describe"}
    for flag in findall(r"(?<![\w-])--[a-z][a-z-]+", PAGE):
        assert flag in known, flag


@each(("path", "was", "now"), MOVED)
def test_the_new_spelling_is_named(path: str, was: str, now: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*path.split(), was, "1"]) == 2
    assert f"{was} was renamed; use `{now}`" in capsys.readouterr().err


@each("line", ["Metadata -v 12", "-v 12 Metadata", "-v 12 3"])
def test_the_version_of_raw_has_no_letter(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["raw", *line.split()]) == 2
    assert capsys.readouterr().err == "kcli: -v is --verbose; the version is --api-version 12\n"
