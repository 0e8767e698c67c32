"""`python -m tests.tui.outages`: every screen and every dialog of the dashboard while a broker of three dies, freezes
and comes back, in tmux, against a real Kafka.

For each the broker is killed, started again, frozen and let go. What must not be on the screen: a traceback, an empty
list for an error. What must be: keys that are acted upon, and the age or the failure in words. Prints a line for each,
and exits with 1 where one failed. `--seconds` is how long each state lasts (default 6).
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

from kcli.admin.groups.commits import write_commits
from kcli.admin.topics.topics import NewTopic, create_topics, wait_for_topics
from kcli.asking.coordinators import Coordinators
from kcli.client import Client
from kcli.model import OffsetAndMetadata, TopicPartition
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from tests.kafka.cluster import Kafka

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kafka.cluster import Node

SESSION = "kcli-outages"
BAD = ("Traceback", "an error of kcli's own", "No groups yet", "No topics yet", "has no groups")
"""What no screen says while a broker is away."""
SCREENS = (
    "groups", "group billing", "topics", "topic orders", "records orders", "brokers", "broker 1", "heatmap",
    "transactions", "acls", "acls topic orders", "quotas", "reassignments", "clusters",
)  # fmt: skip
DIALOGS = {
    "reset": ("group billing", "r"), "produce": ("topic orders", "n"), "menu": ("topics", "a"), "help": ("groups", "?"),
    "delete": ("topics", "aD"), "configs": ("topics", "ac"), "trim": ("topics", "aT"), "elect": ("topics", "ae"),
    "go": ("groups", ":"), "seek": ("records orders", "@"), "quota": ("quotas", "a+"), "acl": ("acls", "a+"),
}  # fmt: skip
"""A dialog: the screen and the keys that open it."""


class Outcome(NamedTuple):
    """A screen under one fate: what is wrong with it, "" for nothing."""

    name: str
    fate: str
    problem: str


class Tmux:
    """The dashboard in a window of 140×40."""

    def __init__(self, words: list[str]) -> None:
        _tmux("new-session", "-d", "-s", SESSION, "-x", "140", "-y", "40", "exec " + " ".join(words))

    @property
    def text(self) -> str:
        return _tmux("capture-pane", "-p", "-t", SESSION)

    def press(self, *keys: str) -> None:
        for key in keys:
            _tmux("send-keys", "-t", SESSION, key)

    def type(self, text: str) -> None:
        _tmux("send-keys", "-t", SESSION, "-l", text)

    def until(self, word: str, seconds: float) -> bool:
        """Whether the screen has the word within this time."""
        end = time.monotonic() + seconds
        while word not in self.text:
            if time.monotonic() > end:
                return False
            time.sleep(0.2)
        return True

    def go(self, place: str) -> None:
        """Home, and to a place by its words."""
        for _ in range(5):
            self.press("Escape")
            time.sleep(0.15)
        self.type(":")
        time.sleep(0.4)
        self.type(place)
        time.sleep(0.3)
        self.press("Enter")
        time.sleep(1.5)

    def ended(self, seconds: float) -> bool:
        """Whether it ends by itself within this time."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if subprocess.run(["tmux", "has-session", "-t", SESSION], capture_output=True, check=False).returncode:
                return True
            time.sleep(0.3)
        return False

    def end(self) -> None:
        subprocess.run(["tmux", "kill-session", "-t", SESSION], capture_output=True, check=False)


def _tmux(*words: str) -> str:
    return subprocess.run(["tmux", *words], capture_output=True, text=True, check=True, timeout=20).stdout


def verdict(board: Tmux) -> str:
    """What is wrong with what is on the screen now: a forbidden word, or keys that nothing answers."""
    text = board.text
    found = next((word for word in BAD if word in text), "")
    return f"it says {found!r}" if found else ""


def answers(board: Tmux) -> str:
    """Whether the help opens and closes while the broker is away."""
    board.type("?")
    if not board.until("Keys", 5.0):
        return "keys are not acted upon within 5 s"
    board.press("Escape")
    time.sleep(0.3)
    return ""


def fates(node: Node, kafka: Kafka) -> Iterator[str]:
    """Kill, start, freeze and let go; each is done before its name is given."""
    node.kill()
    yield "killed"
    node.start()
    kafka.wait_ready()
    yield "started again"
    node.pause()
    yield "frozen"
    node.resume()
    yield "let go"


def screens(board: Tmux, kafka: Kafka, seconds: float, only: list[str]) -> Iterator[Outcome]:
    """Every screen under every fate, then every dialog while a broker dies and comes back behind it; or those of these
    names `only`."""
    victims = kafka.nodes
    for number, place in enumerate(place for place in SCREENS if place in only or not only):
        board.go(place)
        for fate in fates(victims[number % len(victims)], kafka):
            time.sleep(seconds)
            yield Outcome(place, fate, verdict(board) or answers(board))
    chosen = {name: opened for name, opened in DIALOGS.items() if name in only or not only}
    for number, (name, (place, keys)) in enumerate(chosen.items()):
        board.go(place)
        for key in keys:
            board.type(key)
            time.sleep(0.5)
        node = victims[number % len(victims)]
        node.kill()
        time.sleep(seconds)
        yield Outcome(name, "killed behind it", verdict(board))
        board.press("Escape")
        time.sleep(0.5)
        yield Outcome(name, "left while it is away", verdict(board) or answers(board))
        node.start()
        kafka.wait_ready()


async def seed(bootstrap: str) -> None:
    """Two topics with records, and a group that read a part of each."""
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        topics = {"orders": 6, "payments": 3}
        new = [NewTopic(topic=name, partitions=n, replication_factor=3) for name, n in topics.items()]
        await create_topics(client.cluster, new)
        await wait_for_topics(client.cluster, topics)
        async with client.producer(ProducerSettings()) as producer:
            for topic, partitions in topics.items():
                for n in range(300):
                    await producer.send(topic, b'{"n": %d}' % n, partition=n % partitions)
            await producer.flush()
        at = {TopicPartition("orders", n): OffsetAndMetadata(offset=10) for n in range(6)}
        await write_commits(Coordinators(client.cluster), "billing", at)


def main() -> int:
    parser = argparse.ArgumentParser(description="Outages behind every screen.")
    parser.add_argument("--seconds", type=float, default=6.0, help="how long each state lasts")
    parser.add_argument("only", nargs="*", help="screens and dialogs (default: all)")
    given = parser.parse_args()
    kafka = Kafka(nodes=3)
    kafka.start()
    kafka.wait_ready()
    asyncio.run(seed(kafka.bootstrap))
    board = Tmux([sys.executable, "-m", "kcli", "tui", "-b", kafka.bootstrap, "--interval", "2s"])
    bad, left = 0, False
    try:
        assert board.until("billing", 60.0), board.text
        for outcome in screens(board, kafka, given.seconds, given.only):
            print(f"{'✖' if outcome.problem else '●'} {outcome.name}: {outcome.fate}  {outcome.problem}", flush=True)
            if outcome.problem:
                bad += 1
                print(board.text, flush=True)
        board.go("groups")
        board.type("q")  # not at once after escape: both together are alt+q
        left = board.ended(15.0)
    finally:
        board.end()
        kafka.stop()
    print("it ends at q" if left else "✖ it does not end at q")
    return 1 if bad or not left else 0


if __name__ == "__main__":
    sys.exit(main())
