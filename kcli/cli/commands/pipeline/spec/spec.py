"""A pipeline that is written down, read and checked: every mistake is told with the line it is in, before anything is
done. Secrets are in no such file."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kcli.cli.commands.pipeline.spec.keys import CHOICES, FLAGS, NUMBERS, OPTIONS, PLACES, SINK, SOURCE, STEP, TOP
from kcli.cli.documents.lined import Map
from kcli.cli.documents.yaml_reader import load
from kcli.errors import UsageError
from kcli.pipeline.jobs.sql.query import Step
from kcli.text.suggest import did_you_mean

if TYPE_CHECKING:
    from kcli.cli.parsing.option import Values

SECRET = re.compile(r"(?i)password|secret|token|jaas|passphrase|credential|(ssl|private|access)[._-]?key$")
_VARIABLE = re.compile(r"\$\$|\$\{([^}]*)\}|\$")


class Spec:
    """The file, as values of options: `common` for all, `each` for single topics; and the `steps`."""

    def __init__(self, path: str, text: str, environment: Mapping[str, str] = os.environ) -> None:
        self.path = path
        self._environment = environment
        self.common: Values = {}
        self.each: dict[str, Values] = {}
        self.steps: list[Step] = []
        document = load(text, path)
        if not isinstance(document, Map):
            raise UsageError(f"{path}:1: a pipeline is a map: source, steps, sink")
        self._known(document, TOP)
        self._head(document)
        self._sources(document)
        self._steps(document)
        self._sink(document)
        self._options(document)

    def wrong(self, of: Map, key: str, why: str) -> UsageError:
        """The error of a key."""
        return UsageError(f"{self.path}:{of.lines.get(key, 1)}: {why}")

    def _known(self, of: Map, names: Any) -> None:
        for key in of:
            if SECRET.search(key):
                raise self.wrong(of, key, f"{key}: no secrets in this file; a profile has them: profile: NAME")
            if key not in names:
                near = did_you_mean(key, names) or f"; there are {', '.join(names)}"
                raise self.wrong(of, key, f"there is no key {key}{near}")

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
            found = self._environment.get(name)
            if not found and default:
                return usual
            if found is None:
                why = f"{key}: ${{{name}}} is not set in the environment; ${{{name}:-…}} has a default"
                raise self.wrong(of, key, why)
            return found

        return _VARIABLE.sub(filled, value).rstrip("\n")

    def _value(self, of: Map, key: str, name: str) -> Any:
        """The value of an option, checked."""
        text = self._text(of, key)
        if text is None:
            raise self.wrong(of, key, f"{key} has no value")
        if name in FLAGS:
            if text not in ("true", "false"):
                raise self.wrong(of, key, f"{key}: true or false, not {text}")
            return text == "true"
        if name in NUMBERS:
            if not (text.isascii() and text.isdigit() and int(text) > 0):
                raise self.wrong(of, key, f"{key}: expected a number, not {text}")
            return int(text)
        if name in CHOICES and text not in CHOICES[name]:
            near = did_you_mean(text, CHOICES[name])
            raise self.wrong(of, key, f"{key}: {text} is none of {', '.join(CHOICES[name])}{near}")
        return text

    def _map(self, of: Map, key: str) -> Map:
        found = of.get(key)
        if not isinstance(found, Map):
            raise self.wrong(of, key, f"{key}: expected keys and values below it")
        return found

    # -- the parts --------------------------------------------------------------------------------------------------

    def _head(self, of: Map) -> None:
        for key in ("name", "trigger", "checkpoint", "profile", "bootstrap"):
            if key in of:
                self.common[key] = self._value(of, key, key)
        if "mode" in of:
            self.common[self._value(of, "mode", "mode")] = True
        if "properties" in of:
            self.common["properties"] = self._pairs(of, "properties")

    def _pairs(self, of: Map, key: str) -> list[str]:
        found = self._map(of, key)
        for name in found:
            if SECRET.search(name):
                raise self.wrong(found, name, f"{name}: no secrets in this file; a profile has them: profile: NAME")
        return [f"{name}={self._text(found, name, needed=True)}" for name in found]

    def _sources(self, of: Map) -> None:
        if ("source" in of) == ("sources" in of):
            raise self.wrong(of, "source", "what is read? source: with a topic, or sources: a list of such")
        found = [self._map(of, "source")] if "source" in of else of["sources"]
        if not isinstance(found, list) or not all(isinstance(one, Map) for one in found) or not found:
            raise self.wrong(of, "sources", "sources: expected a list, each with a topic")
        for one in found:
            self._known(one, SOURCE)
            topic = self._text(one, "topic")
            if not topic:
                raise self.wrong(of, "source" if "source" in of else "sources", "a source has no topic")
            if topic in self.each:
                raise self.wrong(one, "topic", f"{topic} is read twice")
            self.each[topic] = {SOURCE[key]: self._value(one, key, SOURCE[key]) for key in one if key != "topic"}
            place = self.each[topic].get("offset")
            if place is not None:
                self.each[topic]["offset"] = PLACES.get(place, place)
            if "value_schema" in self.each[topic] and "value_format" not in self.each[topic]:
                raise self.wrong(one, "value-schema", "value-schema goes with value-format: json or msgpack")

    def _steps(self, of: Map) -> None:
        found = of.get("steps")
        if found is None and len(self.each) == 1:
            from kcli.pipeline.jobs.sql.query import quoted

            self.steps = [Step(sql=f"SELECT * FROM {quoted(next(iter(self.each)))}")]
            return
        if not isinstance(found, list) or not found or not all(isinstance(one, Map) for one in found):
            raise self.wrong(of, "steps", "steps: expected a list, each with sql:")
        names: set[str] = set()
        for number, one in enumerate(found, 1):
            self._known(one, STEP)
            line = min(one.lines.values())
            sql = self._text(one, "sql")
            if not sql:
                raise UsageError(f"{self.path}:{line}: step {number} has no sql")
            name = self._text(one, "name") or ""
            if name in names and name:
                raise self.wrong(one, "name", f"two steps are named {name}")
            if not name and number < len(found):
                raise UsageError(f"{self.path}:{line}: step {number} has no name, so no later step can read it")
            names.add(name)
            self.steps.append(Step(sql=sql, name=name, where=f"{self.path}:{one.lines['sql']}"))
        self.steps[-1] = self.steps[-1].replace(name="")

    def _sink(self, of: Map) -> None:
        if "sink" not in of:
            raise self.wrong(of, "sink", "where do the rows go? sink: with topic, files or print")
        found = self._map(of, "sink")
        self._known(found, SINK)
        kinds = [key for key in ("topic", "files", "print") if key in found]
        if len(kinds) != 1:
            there = f"are {' and '.join(kinds)}" if kinds else "is none"
            raise self.wrong(of, "sink", f"sink: one of topic, files and print says where the rows go; there {there}")
        for key in found:
            self.common[SINK[key]] = self._value(found, key, SINK[key])
        if kinds == ["files"]:
            self.common.setdefault("to", "parquet")
        elif "format" in found:
            raise self.wrong(found, "format", "format goes with files")

    def _options(self, of: Map) -> None:
        if "options" not in of:
            return
        found = self._map(of, "options")
        self._known(found, OPTIONS)
        for key in found:
            conf = key == "conf"
            self.common[OPTIONS[key]] = self._pairs(found, key) if conf else self._value(found, key, OPTIONS[key])
