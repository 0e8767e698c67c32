"""A pipeline that is written down, read and checked: each mistake is reported with its line, before anything is
done. Secrets are in no such file."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping

from kcli.cli.commands.pipeline.options import PipelineOptions
from kcli.cli.commands.pipeline.sql import SqlOptions
from kcli.cli.documents.input_file import Map
from kcli.cli.documents.yaml_reader import load
from kcli.cli.parsing.option import Option
from kcli.cli.parsing.registry import declared
from kcli.errors import UsageError
from kcli.pipeline.jobs.sql import Statement, quoted
from kcli.text.suggest import did_you_mean

SECRET = re.compile(r"(?i)password|secret|token|jaas|passphrase|credential|(ssl|private|access)[._-]?key$")
_VARIABLE = re.compile(r"\$\$|\$\{([^}]*)\}|\$")


OptionValues = dict[str, object]
"""The values of options, by their names."""
MODES = ("batch", "once", "continuous")
TOP = "name mode trigger checkpoint profile bootstrap properties source sources steps sink options".split()
SOURCE = {
    "topic": "",
    "from": "offset",
    "partitions": "partitions",
    "isolation": "isolation",
    "key-format": "key_format",
    "value-format": "value_format",
    "key-schema": "key_schema",
    "value-schema": "value_schema",
    "schema-registry": "schema_registry",
    "value-subject": "value_subject",
    "key-subject": "key_subject",
    "value-subject-strategy": "value_subject_strategy",
    "key-subject-strategy": "key_subject_strategy",
    "reader-schema": "reader_schema",
    "key-reader-schema": "key_reader_schema",
    "without-rules": "without_rules",
    "emit-default-values": "emit_default_values",
    "min-partitions": "min_partitions",
    "skip-lost": "skip_lost",
    "on-bad": "on_bad",
    "quarantine": "quarantine",
    "schema-mode": "schema_mode",
    "unwrap": "unwrap",
}
SINK = {
    "topic": "into",
    "files": "out",
    "table": "out",
    "format": "file_format",
    "partition-by": "partition_by",
    "compression": "compression",
    "overwrite": "overwrite",
    "append": "append",
    "file-size": "file_size",
    "compact": "compact",
    "merge": "",
    "warehouse": "warehouse",
    "catalog": "catalog",
    "profile": "to_profile",
    "bootstrap": "to_bootstrap",
    "print": "format",
    "limit": "limit",
    "output-mode": "output_mode",
    "value-format": "to_value_format",
    "key-format": "to_key_format",
    "value-subject": "to_value_subject",
    "key-subject": "to_key_subject",
    "value-subject-strategy": "to_value_subject_strategy",
    "key-subject-strategy": "to_key_subject_strategy",
    "value-schema": "to_value_schema",
    "key-schema": "to_key_schema",
    "schema-registry": "to_schema_registry",
    "register": "register",
}
MERGE = {"key": "merge", "order-by": "order_by", "delete-when": "delete_when"}
"""Below `merge` of a sink."""
OPTIONS = {
    "master": "master",
    "remote": "remote",
    "conf": "conf",
    "packages": "packages",
    "jars": "jars",
    "connector": "connector",
    "java-home": "java_home",
    "python": "python",
    "memory": "memory",
    "spark-ui": "spark_ui",
    "stop-file": "stop_file",
    "metrics": "metrics",
    "prometheus": "prometheus",
    "max-per-batch": "max_per_batch",
    "max-bytes-per-batch": "max_bytes_per_batch",
    "commit-group": "commit_group",
    "watermark": "watermark",
}
STREAM = ("max_per_batch", "max_bytes_per_batch", "commit_group", "watermark", "output_mode")
"""Options that a batch has not."""
PLACES = {"earliest": "beginning", "latest": "end"}
"""As Spark and Kafka call them, beside what -o takes."""
STEP = ("name", "sql")


class Spec:
    """The file: its `steps`, and what it says of the options of `sql`."""

    def __init__(self, path: str, text: str, environment: Mapping[str, str] = os.environ) -> None:
        self.path = path
        self._environment = environment
        self._common: OptionValues = {}
        self._each: dict[str, OptionValues] = {}
        self.steps: list[Statement] = []
        document = load(text, path)
        if not isinstance(document, Map):
            raise UsageError(f"{path}:1: a pipeline must be a map with source, steps and sink")
        self._known(document, TOP)
        self._head(document)
        self._sources(document)
        self._steps(document)
        self._sink(document)
        self._options(document)

    def options(self, line: PipelineOptions) -> SqlOptions:
        """The options of `sql`: the line's where it has them, else the file's; of those that repeat both."""
        given = {name: value for name, value in line.given().items() if name in SqlOptions.names}
        common = {name: value for name, value in self._common.items() if name not in _dropped(line)}
        merged = common | given
        for name in common.keys() & given.keys():
            first, last = common[name], given[name]
            if isinstance(first, list) and isinstance(last, list):
                merged[name] = [*first, *last]
        return SqlOptions(**merged)

    def each(self, options: SqlOptions) -> dict[str, SqlOptions]:
        """The options of each topic that is read: what the file says of it, else `options`."""
        return {topic: options.replace(**values) for topic, values in self._each.items()}

    def wrong(self, of: Map, key: str, why: str) -> UsageError:
        """The error of a key."""
        return UsageError(f"{self.path}:{of.lines.get(key, 1)}: {why}")

    def _known(self, of: Map, names: Collection[str]) -> None:
        for key in of:
            if SECRET.search(key):
                raise self.wrong(
                    of, key, f"{key}: secrets are not allowed in this file; put them into a profile: profile: NAME"
                )
            if key not in names:
                near = did_you_mean(key, names) or f"; known: {', '.join(names)}"
                raise self.wrong(of, key, f"unknown key {key}{near}")

    def _text(self, of: Map, key: str, *, needed: bool = False) -> str | None:
        """A scalar, with the variables of the environment in it."""
        value = of.get(key)
        if value is None:
            if needed:
                raise self.wrong(of, key, f"{key} is missing")
            return None
        if isinstance(value, bool):
            return str(value).lower()
        if not isinstance(value, str):
            raise self.wrong(of, key, f"{key}: expected one value")

        def filled(match: re.Match[str]) -> str:
            if match.group(1) is None:
                if match.group() == "$$":
                    return "$"
                return match.group()
            name, default, usual = match.group(1).partition(":-")
            variable = self._environment.get(name)
            if not variable and default:
                return usual
            if variable is None:
                why = f"{key}: ${{{name}}} is not set in the environment; ${{{name}:-…}} has a default"
                raise self.wrong(of, key, why)
            return variable

        return _VARIABLE.sub(filled, value).rstrip("\n")

    def _value(self, of: Map, key: str, name: str) -> object:
        """The value of an option, checked."""
        option, text = _option(name), self._needed(of, key)
        if option.kind == "flag":
            if text not in ("true", "false"):
                raise self.wrong(of, key, f"{key}: expected true or false, not {text}")
            return text == "true"
        if option.kind == "int":
            if not (text.isascii() and text.isdigit() and int(text) > 0):
                raise self.wrong(of, key, f"{key}: expected a number, not {text}")
            return int(text)
        if option.choices:
            self._check_choice(of, key, text, option.choices)
        return [text] if option.multiple else text

    def _needed(self, of: Map, key: str) -> str:
        text = self._text(of, key)
        if text is None:
            raise self.wrong(of, key, f"{key} has no value")
        return text

    def _check_choice(self, of: Map, key: str, text: str, choices: Collection[str]) -> None:
        if text not in choices:
            near = did_you_mean(text, choices)
            raise self.wrong(of, key, f"{key}: {text} is not one of {', '.join(choices)}{near}")

    def _map(self, of: Map, key: str) -> Map:
        value = of.get(key)
        if not isinstance(value, Map):
            raise self.wrong(of, key, f"{key}: expected keys and values below it")
        return value

    # -- the parts --------------------------------------------------------------------------------------------------

    def _head(self, of: Map) -> None:
        for key in ("name", "trigger", "checkpoint", "profile", "bootstrap"):
            if key in of:
                self._common[key] = self._value(of, key, key)
        if "mode" in of:
            mode = self._needed(of, "mode")
            self._check_choice(of, "mode", mode, MODES)
            self._common[mode] = True
        if "properties" in of:
            self._common["properties"] = self._pairs(of, "properties")

    def _pairs(self, of: Map, key: str) -> list[str]:
        pairs = self._map(of, key)
        for name in pairs:
            if SECRET.search(name):
                raise self.wrong(
                    pairs, name, f"{name}: secrets are not allowed in this file; put them into a profile: profile: NAME"
                )
        return [f"{name}={self._text(pairs, name, needed=True)}" for name in pairs]

    def _sources(self, of: Map) -> None:
        if ("source" in of) == ("sources" in of):
            raise self.wrong(of, "source", "give either source, with a topic, or sources, a list of them")
        key = "source" if "source" in of else "sources"
        sources = [self._map(of, key)] if key == "source" else of[key]
        if not isinstance(sources, list) or not all(isinstance(source, Map) for source in sources) or not sources:
            raise self.wrong(of, key, "sources: expected a list of maps, each with a topic")
        for source in sources:
            self._known(source, SOURCE)
            topic = self._text(source, "topic")
            if not topic:
                raise self.wrong(of, key, "a source has no topic")
            if topic in self._each:
                raise self.wrong(source, "topic", f"{topic} is read twice")
            self._each[topic] = self._source(source)

    def _source(self, of: Map) -> OptionValues:
        merged = {SOURCE[key]: self._value(of, key, SOURCE[key]) for key in of if key != "topic"}
        if "from" in of:
            place = self._needed(of, "from")
            merged["offset"] = [PLACES.get(place, place)]
        if "value-schema" in of and "value-format" not in of:
            raise self.wrong(of, "value-schema", "value-schema requires value-format: json or msgpack")
        return merged

    def _steps(self, of: Map) -> None:
        steps = of.get("steps")
        if steps is None and len(self._each) == 1:
            self.steps = [Statement(sql=f"SELECT * FROM {quoted(next(iter(self._each)))}")]
            return
        if not isinstance(steps, list) or not steps or not all(isinstance(step, Map) for step in steps):
            raise self.wrong(of, "steps", "steps: expected a list of maps, each with sql:")
        names: set[str] = set()
        for number, step in enumerate(steps, 1):
            self._known(step, STEP)
            line = min(step.lines.values())
            sql = self._text(step, "sql")
            if not sql:
                raise UsageError(f"{self.path}:{line}: step {number} has no sql")
            name = self._text(step, "name") or ""
            if name in names and name:
                raise self.wrong(step, "name", f"two steps are named {name}")
            if not name and number < len(steps):
                raise UsageError(f"{self.path}:{line}: step {number} has no name, so no later step can read it")
            names.add(name)
            self.steps.append(Statement(sql=sql, name=name, where=f"{self.path}:{step.lines['sql']}"))
        self.steps[-1] = self.steps[-1].replace(name="")

    def _sink(self, of: Map) -> None:
        if "sink" not in of:
            raise self.wrong(of, "sink", "missing sink, with topic, files, table or print")
        sink = self._map(of, "sink")
        self._known(sink, SINK)
        kinds = [key for key in ("topic", "files", "table", "print") if key in sink]
        if len(kinds) != 1:
            there = f"are {' and '.join(kinds)}" if kinds else "is none"
            why = f"sink: one of topic, files, table and print says where the rows go; there {there}"
            raise self.wrong(of, "sink", why)
        for key in sink:
            if key != "merge":
                self._common[SINK[key]] = self._value(sink, key, SINK[key])
        if "merge" in sink:
            self._merge(self._map(sink, "merge"))
        if kinds == ["files"]:
            self._common.setdefault("file_format", "parquet")
        elif kinds == ["table"]:
            self._common.setdefault("file_format", "iceberg")
        elif "format" in sink:
            raise self.wrong(sink, "format", "format requires files or table")

    def _merge(self, of: Map) -> None:
        self._known(of, MERGE)
        for key in of:
            self._common[MERGE[key]] = self._value(of, key, MERGE[key])

    def _options(self, of: Map) -> None:
        if "options" not in of:
            return
        options = self._map(of, "options")
        self._known(options, OPTIONS)
        for key in options:
            conf = key == "conf"
            self._common[OPTIONS[key]] = self._pairs(options, key) if conf else self._value(options, key, OPTIONS[key])


def _dropped(line: PipelineOptions) -> set[str]:
    """What does not hold of a file when the line says another mode."""
    if line.batch:
        return {*MODES, "trigger", "checkpoint", *STREAM}
    if line.once:
        return {*MODES, "trigger"}
    return set(MODES) if line.continuous else set()


def _option(name: str) -> Option:
    """What `pipeline sql` declares of an option."""
    verbs = declared("pipeline")
    assert isinstance(verbs, dict)
    return next(option for option in verbs["sql"].options if option.name == name)
