"""`python -m tests.pipeline.versions`: kcli's reader on the newest Spark that it takes, and which table writers exist.

The tests run on the Spark of the extra `spark`, the newest that Delta is published for. The reader takes newer ones:
some of its tests run on the newest, in an environment of its own in build/. Then Maven Central is asked for table
writers that are newer than those of the tests, or made for a newer Spark. The exit code is 1 when a test fails or
Maven does not answer; a newer writer is a note.
"""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from kcli.cli.commands.pipeline.session.frame import DELTA_PACKAGE
from tests.kafka.artifacts import PLUGIN

ROOT = Path(__file__).parents[2]
NEWEST = "4.3"
"""The newest Spark that `session.check_pyspark` takes."""
PINNED = "4.2"
LATER = ("4.3", "4.4", "5.0")
"""Sparks that a writer may come out for next."""
READER = ("tests/pipeline/source/test_source.py", "tests/pipeline/formats/test_json.py")
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>kcli.tests</groupId>
  <artifactId>watched-writer</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
    <dependency>
      <groupId>{group}</groupId>
      <artifactId>{name}</artifactId>
      <version>[{above},)</version>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>
  </dependencies>
</project>
"""
MISSING = ("No versions available", "Could not find artifact", "was not found in")
LIMIT = 900.0


def main() -> int:
    failed = reader()
    for line in notes():
        print(f"note: {line}")
    return failed


def reader() -> int:
    """The exit code of the reader's tests on the newest Spark."""
    python = environment(ROOT / "build" / f"pyspark-{NEWEST}", f"pyspark=={NEWEST}.*")
    line = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not long", *READER]
    done = subprocess.run(line, cwd=ROOT, check=False, timeout=LIMIT)
    print(f"the reader on PySpark {NEWEST}: {'passed' if done.returncode == 0 else 'FAILED'}")
    return done.returncode


def environment(place: Path, package: str) -> Path:
    """The Python of an environment that has a package of its own, and everything else of this one's."""
    python = place / "bin" / "python"
    if not (place / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(place)], check=True, timeout=LIMIT)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package]
        subprocess.run(install, check=True, timeout=LIMIT)
        # behind the environment's own packages, so that the Spark of this one is not found
        own = next((place / "lib").glob("python*")) / "site-packages"
        behind = [ROOT, *dict.fromkeys(Path(path) for path in [sysconfig.get_path("purelib"), *sys.path] if path)]
        (own / "behind.pth").write_text("\n".join(str(path) for path in behind if path.is_dir()) + "\n")
        (place / "complete").touch()
    return python


def notes() -> list[str]:
    """A line for each table writer on Maven Central that the tests do not run yet."""
    group, name, version = DELTA_PACKAGE.split(":")
    found = []
    newest = published(group, name, version)
    if newest != version:
        found.append(f"Delta {newest} is out for Spark {PINNED}, the tests run {version} (DELTA_PACKAGE, POMs, docs)")
    for spark in LATER:
        newest = published(group, name.replace(PINNED, spark), "4.0.0")
        if newest is not None:
            found.append(f"Delta {newest} is out for Spark {spark}: the extra spark of pyproject.toml can take it")
    for spark in (PINNED, *LATER):
        newest = published("org.apache.iceberg", f"iceberg-spark-runtime-{spark}_2.13", "1.0.0")
        if newest is not None:
            found.append(f"Iceberg {newest} is out for Spark {spark}: Spark can write Iceberg tables itself")
    return found


def published(group: str, name: str, above: str) -> str | None:
    """The newest version of an artifact, None where Maven Central has none of that name. Raises RuntimeError where
    Maven does not get an answer."""
    with tempfile.TemporaryDirectory() as folder:
        pom = Path(folder) / "pom.xml"
        pom.write_text(POM.format(group=group, name=name, above=above))
        line = ["mvn", "-B", "-U", "-f", str(pom), PLUGIN, f"-DoutputDirectory={folder}"]
        done = subprocess.run(line, check=False, timeout=LIMIT, capture_output=True, text=True)
        jars = [jar.stem for jar in Path(folder).glob("*.jar")]
    if jars:
        return jars[0].removeprefix(f"{name}-")
    if any(words in done.stdout for words in MISSING):
        return None
    problem = re.findall(r"^\[ERROR\] (.+)$", done.stdout, re.MULTILINE)
    raise RuntimeError(f"Maven was asked for {group}:{name}: {problem[0] if problem else done.stdout[-300:]}")


if __name__ == "__main__":
    sys.exit(main())
