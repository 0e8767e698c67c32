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
from kcli.registry.listing.opened import OpenRegistry
from kcli.registry.settings import RegistrySettings
from kcli.sandbox.thread import SandboxThread
from kcli.schemas import AVRO, Schema
from kcli.security.http import origin_of
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap
from tests.kafka.cluster import Kafka

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kafka.cluster import Node

SESSION = "kcli-outages"
KCLI = (sys.executable, "-m", "kcli")
BAD = ("Traceback", "an error of kcli's own", "No groups yet", "No topics yet", "has no groups")
"""What no screen says while a broker is away."""
SCREENS = {
    "Groups": ("groups", ""), "Group": ("group billing", ""), "Member": ("group readers", "2\n"),
    "Topics": ("topics", ""), "Topic": ("topic orders", ""), "Records": ("records orders", ""),
    "Record": ("group billing", "\n\n"), "Brokers": ("brokers", ""), "Broker": ("broker 1", ""),
    "Heatmap": ("heatmap", ""), "Transactions": ("transactions", ""), "Transaction": ("transactions", "\n"),
    "Acls": ("acls", ""), "Access": ("acls topic orders", ""), "Quotas": ("quotas", ""),
    "Reassignments": ("reassignments", ""), "Subjects": ("schemas", ""), "Subject": ("schemas", "\n"),
    "Clusters": ("clusters", ""), "Faults": ("faults", ""), "Alerts": ("alerts", ""),
}  # fmt: skip
"""The page of each route: the place and the keys that open it from there."""
DIALOGS = {
    "reset": ("group billing", "r"), "produce": ("topic orders", "n"), "menu": ("topics", "a"), "help": ("groups", "?"),
    "delete": ("topics", "aD"), "configs": ("topics", "ac"), "trim": ("topics", "aT"), "elect": ("topics", "ae"),
    "go": ("groups", ":"), "seek": ("records orders", "@"), "quota": ("quotas", "a+"), "acl": ("acls", "a+"),
    "column": ("group billing", "\nc"), "difference": ("group billing", "\nmmd"), "reason": ("group billing", "aK"),
    "broker configs": ("brokers", "ac"), "level": ("schemas", "ac"), "subject": ("schemas", "aD"),
}  # fmt: skip
"""A dialog: the screen and the keys that open it."""
WORDS = {
    "Groups": "Groups (", "Group": "Group billing", "Member": "Member ", "Topics": "Topics (", "Topic": "Topic orders",
    "Records": "Records of orders", "Record": "] at ", "Brokers": "Brokers (", "Broker": "Broker 1",
    "Heatmap": "Heatmap", "Transactions": "Transactions (", "Transaction": "Transaction ", "Acls": "ACLs",
    "Access": "Access to topic", "Quotas": "Quotas", "Reassignments": "Reassignments", "Subjects": "Schemas (",
    "Subject": "Subject orders-value", "Clusters": "Clusters (", "Faults": "Sandbox faults", "Alerts": "Alerts (",
    "reset": "Reset", "produce": "Produce", "menu": "Actions on", "help": "Keys", "delete": "Delete",
    "configs": "Change configs",
    "trim": "Delete records", "elect": "Elect", "go": "Go to a page", "seek": "@", "quota": "Set a quota",
    "acl": "Add an ACL", "column": "field", "difference": "lines differ", "reason": "acknowledge",
    "broker configs": "Change configs of broker", "level": "compatibility level", "subject": "Delete subject",
}  # fmt: skip
"""What shows that a page or a dialog is open."""
QUIT = 5.0
"""Seconds in which `q` ends the program, while brokers come back."""


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

    def go(self, place: str, keys: str = "") -> None:
        """Home, to a place by its words, and on by keys."""
        for _ in range(5):
            self.press("Escape")
            time.sleep(0.15)
        self.type(":")
        time.sleep(0.4)
        self.type(place)
        time.sleep(0.3)
        self.press("Enter")
        time.sleep(1.5)
        for key in keys:
            self.press("Enter") if key == "\n" else self.type(key)
            time.sleep(1.0)

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
    pages = {name: opened for name, opened in SCREENS.items() if name in only or not only}
    for number, (name, opened) in enumerate(pages.items()):
        board.go(*opened)
        yield Outcome(name, "open", "" if board.until(WORDS[name], 10.0) else f"it has no {WORDS[name]!r}")
        for fate in fates(victims[number % len(victims)], kafka):
            time.sleep(seconds)
            yield Outcome(name, fate, verdict(board) or answers(board))
    dialogs = {name: opened for name, opened in DIALOGS.items() if name in only or not only}
    for number, (name, opened) in enumerate(dialogs.items()):
        board.go(*opened)
        yield Outcome(name, "open", "" if board.until(WORDS[name], 10.0) else f"it has no {WORDS[name]!r}")
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
    """Two topics with records, a group that read a part of one, and a transactional id."""
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
        async with client.producer(ProducerSettings(transactional_id="ledger-1")) as done, done.transaction():
            await done.send("payments", b"done", partition=0)


async def register(registry: str) -> None:
    """A subject of two versions."""
    there = OpenRegistry(RegistrySettings(origins=(origin_of(registry),), disk=False))
    for text in ('"string"', '["null", "string"]'):
        await there.client.register("orders-value", Schema(kind=AVRO, text=text))
    await there.close()


def main() -> int:
    parser = argparse.ArgumentParser(description="Outages behind every screen.")
    parser.add_argument("--seconds", type=float, default=6.0, help="how long each state lasts")
    parser.add_argument("--minutes", type=float, default=0.0, help="go through all again until then (default: once)")
    parser.add_argument("only", nargs="*", help="screens and dialogs (default: all)")
    given = parser.parse_args()
    kafka = Kafka(nodes=3)
    kafka.start()
    kafka.wait_ready()
    asyncio.run(seed(kafka.bootstrap))
    with SandboxThread(registry=True) as box:  # for its schema registry alone
        asyncio.run(register(box.registry_url))
        reader = subprocess.Popen(
            [*KCLI, "consume", "payments", "-g", "readers", "-b", kafka.bootstrap],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            return watch(kafka, box.registry_url, given)
        finally:
            reader.kill()
            reader.wait()
            kafka.stop()


def watch(kafka: Kafka, registry: str, given: argparse.Namespace) -> int:
    """Go through all of it, as often as the minutes allow; 1 where something failed."""
    words = ("tui", "-b", kafka.bootstrap, "--interval", "2s", "--schema-registry", registry)
    board, bad, left = Tmux([*KCLI, *words]), 0, False
    end = time.monotonic() + given.minutes * 60
    try:
        assert board.until("billing", 60.0), board.text
        assert board.until("readers", 60.0), board.text
        while True:
            for outcome in screens(board, kafka, given.seconds, given.only):
                sign = "✖" if outcome.problem else "●"
                print(f"{sign} {outcome.name}: {outcome.fate}  {outcome.problem}", flush=True)
                if outcome.problem:
                    bad += 1
                    print(board.text, flush=True)
            if time.monotonic() >= end:
                break
        board.go("groups")
        kafka.nodes[0].pause()
        board.type("q")  # not at once after escape: both together are alt+q
        left = board.ended(QUIT)
        if not left:
            print(board.text, flush=True)
        kafka.nodes[0].resume()
    finally:
        board.end()
    print("it ends at q" if left else "✖ it does not end at q")
    return 1 if bad or not left else 0


if __name__ == "__main__":
    sys.exit(main())
