"""What is measured: data sets, programs and how each program is called."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks import optional

PEERS = Path(__file__).parent / "peers"
PYTHON = sys.executable
KCLI = str(Path(PYTHON).with_name("kcli"))
PEER_NAMES = ("confluent", "aiokafka", "kafka_python")
JAVA_ROWS = ("text", "large")
PURE = {"KCLI_PURE_PYTHON": "1"}

OBJECTS = {"confluent": "confluent_objects.py", "aiokafka": "aiokafka_objects.py"}
LOOPS = {
    "objects": {"kcli": "kcli_objects.py"} | OBJECTS,
    "messages": {"kcli": "kcli_messages.py"} | OBJECTS,
    "member": {"kcli": "kcli_member.py", "confluent": "confluent_member.py"},
    "send": {"kcli": "kcli_send.py", "confluent": "confluent_produce.py", "aiokafka": "aiokafka_send.py"},
}
"""What users of a library write: a loop with a call or an object for each record."""

Programs = dict[str, tuple[list[str], dict[str, str]]]


@dataclass(frozen=True)
class Data:
    """A file of lines. A `long` one is for kcli and kcat alone, so that a run ends today. With `batch`, batches have
    at most as many records, and none waits for more. Written to a topic with as many `partitions`."""

    name: str
    label: str
    count: int
    keyed: bool = False
    long: bool = False
    batch: int = 0
    partitions: int = 1


@dataclass(frozen=True)
class Job:
    """One row of the table: what is done, on which data, with which codec."""

    verb: str  # produce | envelopes | send | consume | format | json | search | group | objects | messages | member
    data: Data
    codec: str = "none"
    search: tuple[str, str] = ("", "")  # the option and its words
    tls: bool = False
    idempotent: bool = False  # kcat too, which then has five requests in flight, as kcli has in all rows

    @property
    def label(self) -> str:
        codec = ("" if self.codec == "none" else f", {self.codec}") + (", TLS" if self.tls else "")
        codec += ", idempotent" if self.idempotent else ""
        return {
            "produce": f"produce {self.data.label}{codec}",
            "consume": f"consume {self.data.label}{codec}",
            "format": f"consume -f '%k\\t%s\\n' {self.data.label}{codec}",
            "envelopes": f"produce --input json {self.data.label}{codec}",
            "search": f"consume {self.search[0]} '{self.search[1]}' {self.data.label}{codec}",
            "json": f"consume -J {self.data.label}{codec}",
            "group": f"consume -g {self.data.label}{codec}",
            "send": f"library: `send` in a loop, {self.data.label}{codec}",
            "messages": f"library: a loop over messages, {self.data.label}{codec}",
            "member": f"library: a loop over messages in a group, {self.data.label}{codec}",
            "objects": f"record objects {self.data.label}{codec}",
        }[self.verb]

    @property
    def writes(self) -> bool:
        """The program reads the data and fills a topic of its own."""
        return self.verb in ("produce", "envelopes", "send")


IN_HEADERS = ("--where", 'headers.n == "77"')
SEARCHES = {
    ("--grep", "user-00077"): "LC_ALL=C grep -F user-00077",
    ("--grep", "user-0007[0-9]"): "LC_ALL=C grep -E 'user-0007[0-9]'",
    ("--where", "value.id == 77"): "jq -c 'select(.id == 77)'",
    ("--where", 'value.user == "user-00077"'): "jq -c 'select(.user == \"user-00077\")'",
    IN_HEADERS: "LC_ALL=C grep -E '(^|,)n=77(,|\t)'",
}
"""What is looked for, and what does that behind kcat."""


def jobs(scale: float) -> list[Job]:
    """The matrix of the issue; `scale` 1.0 is a million records of 100 bytes."""
    million = int(1_000_000 * scale)
    text = Data("text", "100 B", million)
    mixed = Data("mixed", "10-200 B", million)
    large = Data("large", "1 KiB", million // 5)
    keyed = Data("keyed", "8 B key + 100 B", million, keyed=True)
    json = Data("json", "JSON 138 B", million)
    text1 = Data("text-tls", "100 B", million, long=True)
    text10 = Data("text10", "100 B", 10 * million, long=True)
    large5 = Data("large5", "1 KiB", million, long=True)
    spread = [
        Data(f"keyed-{n}", f"8 B key + 100 B, {n:,} partitions", million, keyed=True, long=True, partitions=n)
        for n in (10, 100, 1000)
    ]
    sticky = Data("text-1000", "100 B, 1,000 partitions", million, long=True, partitions=1000)
    envelopes = Data("envelopes", "230 B with 3 headers", million, long=True)
    few = Data("text-few", "100 B, one record a batch", million // 50, long=True, batch=1)
    small = [
        Data(f"text-by-{n}-{count}", f"100 B, {n} records a batch", count, long=True, batch=n)
        for n in (3, 10, 30)
        for count in (million // 10, million)
    ]
    single = [
        Data(f"text-single-{count}", "100 B, one record a batch", count, long=True, batch=1)
        for count in (million // 10, million)
    ]
    huge = Data("huge", "1 MB", million // 2000, long=True)
    return [
        *[Job("produce", data) for data in (text, mixed, large, keyed, json)],
        *[Job("produce", data) for data in (*spread, sticky)],
        Job("produce", json, "lz4"),
        Job("produce", json, "zstd"),
        *[Job("consume", data) for data in (text, mixed, large, keyed, json)],
        Job("consume", json, "lz4"),
        Job("consume", json, "zstd"),
        Job("format", keyed),
        Job("json", text),
        Job("json", json),
        *[Job("search", envelopes if search == IN_HEADERS else json, search=search) for search in SEARCHES],
        Job("envelopes", envelopes),
        Job("group", text),
        Job("objects", text),
        Job("send", text),
        Job("messages", text),
        Job("member", Data("text-member", "100 B", million // 5)),
        *[Job(verb, data) for verb in ("produce", "consume") for data in (text10, large5)],
        Job("produce", few),
        Job("produce", few, idempotent=True),
        *[Job("consume", data) for data in (*single, *small, huge)],
        *[Job(verb, data, tls=True) for verb in ("produce", "consume") for data in (text1, large5)],
    ]


def filling(job: Job) -> Job:
    """What writes the topic that a row reads."""
    return Job("envelopes" if job.data.name == "envelopes" else "produce", job.data, job.codec)


def commands(job: Job, bootstrap: str, topic: str) -> Programs:
    """Program name to (argv, environment on top) for a job. A peer that cannot do a job is left out."""
    if job.verb == "produce":
        return _producers(job, bootstrap, topic)
    if job.verb == "envelopes":
        return {"kcli": ([KCLI, "produce", topic, "-b", bootstrap, "--input", "json"], {})}
    if job.verb == "search":
        shown = " -f '%h\\t%s\\n'" if job.search == IN_HEADERS else ""
        reader = f"kcat -C -b {bootstrap} -t {topic} -o beginning -e -q{shown}"
        mine = [KCLI, "consume", topic, "-b", bootstrap, "-o", "beginning", "-e", "-q", *job.search]
        return {"kcli": (mine, {}), "kcat": (["sh", "-c", f"{reader} | {SEARCHES[job.search]}"], {})}
    if job.verb in LOOPS:
        more = [job.codec, "0"] if job.writes else []
        return {
            name: ([PYTHON, str(PEERS / file), bootstrap, topic, *more], {}) for name, file in LOOPS[job.verb].items()
        }
    if job.verb == "group":
        kcli = [KCLI, "consume", topic, "-b", bootstrap, "-g", "GROUP", "-o", "beginning", "-e", "-q"]
        kcat = ["kcat", "-b", bootstrap, "-G", "GROUP", "-X", "auto.offset.reset=earliest", "-e", "-q", topic]
        return {"kcli": (kcli, {}), "kcat": (kcat, {})}
    how = {"consume": [], "format": ["-f", "%k\\t%s\\n"], "json": ["-J"]}[job.verb]
    mine = [KCLI, "consume", topic, "-b", bootstrap, "-o", "beginning", "-e", "-q", *how]
    out: Programs = {"kcli": (mine, {})}
    out["kcat"] = (["kcat", "-C", "-b", bootstrap, "-t", topic, "-o", "beginning", "-e", "-q", *how], {})
    if job.verb == "consume" and not job.data.long:
        for peer in PEER_NAMES:
            out[peer] = ([PYTHON, str(PEERS / f"{peer}_consume.py"), bootstrap, topic], {})
    if job.verb == "consume":
        out |= _optional(job, bootstrap, topic)
    if not job.data.long:
        out["kcli, plain Python"] = (mine, PURE)
    return out


def _optional(job: Job, bootstrap: str, topic: str) -> Programs:
    """Peers whose tools may be missing; those of Java, which take seconds to start, have a few rows."""
    lines: dict[str, list[str] | None] = {}
    if not job.tls and not (job.writes and job.data.batch):
        lines["franz-go"] = optional.franz_line(job.verb, bootstrap, topic, job.codec, keyed=job.data.keyed)
    if not job.tls and job.data.name in JAVA_ROWS and job.codec == "none":
        lines["java"] = optional.java_line(job.verb, bootstrap, topic, job.data.count)
    return {name: (line, {}) for name, line in lines.items() if line is not None}


def _producers(job: Job, bootstrap: str, topic: str) -> Programs:
    keyed = job.data.keyed
    more = ["-K", "\t"] if keyed else []
    if job.data.batch:
        more = ["-X", f"batch.num.messages={job.data.batch}", "-X", "linger.ms=0"]
    rules = ["-X", "enable.idempotence=true"] if job.idempotent else []
    mine = [KCLI, "produce", topic, "-b", bootstrap, "-z", job.codec, *more]
    out: Programs = {"kcli": (mine, {})}
    out["kcat"] = (["kcat", "-P", "-b", bootstrap, "-t", topic, "-z", job.codec, *more, *rules], {})
    if not job.data.long:
        for peer in PEER_NAMES:
            words = [PYTHON, str(PEERS / f"{peer}_produce.py"), bootstrap, topic, job.codec, "1" if keyed else "0"]
            out[peer] = (words, {})
        out["kcli, plain Python"] = (mine, PURE)
    return out | _optional(job, bootstrap, topic)
