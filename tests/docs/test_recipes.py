"""Recipes for schedulers that the tests do not have: each is whole, and its command line is one that kcli takes."""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path
from typing import Any

import yaml

from kcli.cli.parsing import parser, resolver

ROOT = Path(__file__).resolve().parents[2]
AIRFLOW = ROOT / "examples/airflow/orders_to_lake.py"
KUBERNETES = ROOT / "examples/kubernetes/orders-to-lake.yaml"


def check(words: list[str]) -> None:
    """The words are a stream into an Iceberg table, with a checkpoint."""
    chosen = resolver.find(words[1:])
    assert chosen is not None
    command, rest, _ = chosen
    line = parser.parse(command, rest)
    assert words[:4] == ["kcli", "pipeline", "export", "orders"]
    assert line is not None
    values = line.values
    assert [values["once"], values["file_format"], values["checkpoint"]] == [True, "iceberg", "/state/orders"]


def test_the_dag_of_airflow_runs_one_at_a_time() -> None:
    program = ast.parse(AIRFLOW.read_text())
    texts = {node.targets[0].id: node.value for node in program.body if isinstance(node, ast.Assign)}  # type: ignore[attr-defined]
    check(ast.literal_eval(texts["EXPORT"]).split())
    dag = {
        word.arg: word.value
        for node in ast.walk(program)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "DAG"
        for word in node.keywords
    }
    assert ast.literal_eval(dag["max_active_runs"]) == 1
    assert ast.literal_eval(dag["catchup"]) is False


def test_the_job_of_kubernetes_is_a_driver_that_executors_reach() -> None:
    job: dict[str, Any] = yaml.safe_load(KUBERNETES.read_text())
    assert (job["kind"], job["spec"]["concurrencyPolicy"]) == ("CronJob", "Forbid")
    pod = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    words = [*container["command"], *container["args"]]
    check(words)
    used = set(re.findall(r"\$\((\w+)\)", shlex.join(words)))
    assert used == {variable["name"] for variable in container["env"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}


def test_the_page_says_that_they_were_not_run() -> None:
    page = (ROOT / "docs/clusters.md").read_text()
    for recipe in (AIRFLOW, KUBERNETES):
        about = page[page.index(str(recipe.relative_to(ROOT))) :].partition("\n## ")[0]
        assert "not run" in about
