"""Pipelines that are written down: what is wrong is told in one sentence, with its line."""

from __future__ import annotations

import pytest

from kcli.cli.commands.pipeline.run import RunOptions
from kcli.cli.commands.pipeline.spec import Spec
from kcli.cli.commands.pipeline.sql import SqlOptions
from kcli.cli.main import main
from kcli.errors import UsageError

GOOD = """name: big
profile: prod
mode: once
source:
  topic: orders
  from: earliest
  value-format: json
  value-schema: id BIGINT
steps:
  - name: some
    sql: SELECT * FROM orders WHERE value.id > ${LEAST:-10}
  - sql: |
      SELECT key, value
      FROM some -- costs $$5
sink:
  topic: big
options:
  max-per-batch: 100
  conf:
    spark.x: y
"""


def test_a_file_is_what_a_line_could_say() -> None:
    spec = Spec("f.yaml", GOOD, {"LEAST": "77"})
    assert [one.name for one in spec.steps] == ["some", ""]
    assert spec.steps[0].sql.endswith("> 77")
    assert spec.steps[1].sql == "SELECT key, value\nFROM some -- costs $5"
    assert spec.steps[1].where == "f.yaml:12"
    options = spec.options(RunOptions())
    assert options == SqlOptions(
        name="big", profile="prod", once=True, into="big", max_per_batch=100, conf=["spark.x=y"]
    )
    orders = options.replace(offset=["beginning"], value_format="json", value_schema="id BIGINT")
    assert spec.each(options) == {"orders": orders}
    assert Spec("f.yaml", GOOD, {}).steps[0].sql.endswith("> 10")


def test_the_line_goes_before_the_file() -> None:
    """Of options that repeat both hold; another mode drops what the file says for its own."""
    spec = Spec("f.yaml", GOOD, {})
    options = spec.options(RunOptions(name="mine", conf=["spark.z=1"], quiet=True, words=["f.yaml"], check=True))
    assert (options.name, options.conf, options.quiet, options.once) == ("mine", ["spark.x=y", "spark.z=1"], True, True)
    assert options.words == []
    batch = spec.options(RunOptions(batch=True))
    assert (batch.batch, batch.once, batch.max_per_batch, batch.into) == (True, False, None, "big")
    assert spec.options(RunOptions(once=True, max_per_batch=7)).max_per_batch == 7
    assert spec.options(RunOptions(continuous=True)).max_per_batch == 100


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("name: big", "nmae: big", "f.yaml:1: unknown key nmae; did you mean name"),
        ("mode: once", "mode: twice", "f.yaml:3: mode: twice is not one of batch, once, continuous"),
        (
            "profile: prod",
            "password: x",
            "f.yaml:2: password: secrets are not allowed in this file; put them into a profile",
        ),
        ("    spark.x: y", "    spark.ssl.keyPassword: y", "f.yaml:20: spark.ssl.keyPassword: secrets are not allowed"),
        ("${LEAST:-10}", "${LEAST}", "f.yaml:11: sql: ${LEAST} is not set in the environment"),
        ("max-per-batch: 100", "max-per-batch: many", "f.yaml:18: max-per-batch: expected a number, not many"),
        ("  - name: some\n    sql:", "  - sql:", "f.yaml:10: step 1 has no name, so no later step can read it"),
        ("sink:\n  topic: big", "sink:\n  format: csv", "f.yaml:15: sink: one of topic, files, table and print"),
        ("  topic: orders\n", "", "f.yaml:4: a source has no topic"),
        ("  value-format: json\n", "", "f.yaml:7: value-schema requires value-format"),
        ("source:\n  topic: orders", "source: orders\nx:", "f.yaml:5: unknown key x"),
        ("steps:", "steps: 3\nstps:", "f.yaml:10: unknown key stps; did you mean steps"),
        (GOOD, "- a\n- b\n", "f.yaml:1: a pipeline must be a map with"),
        (GOOD, "name: [a\n", "f.yaml:1:"),
    ],
)
def test_mistakes_are_told_with_their_line(old, new, said):
    assert old in GOOD
    with pytest.raises(UsageError) as told:
        Spec("f.yaml", GOOD.replace(old, new), {})
    assert str(told.value).startswith(said), told.value
    assert "\n" not in str(told.value)


def test_a_file_is_checked_without_spark_or_a_cluster(tmp_path, capsys):
    file = tmp_path / "p.yaml"
    file.write_text(GOOD.replace("profile: prod\n", "bootstrap: nowhere:1\n"))
    assert main(["pipeline", "run", str(file), "--check"]) == 0
    assert "no mistakes found" in capsys.readouterr().err
    assert main(["pipeline", "run", str(tmp_path / "none.yaml")]) == 2
    assert "none.yaml" in capsys.readouterr().err
