"""`kcat -h` and `kcat -V`."""

from __future__ import annotations


def version() -> str:
    """The program's name and version, and the version of kcat that it follows."""
    from kcli.proto import core
    from kcli.version import __version__

    return f"kcat's command line, by kcli {__version__} (understands kcat 1.7.1; record core: {core.NAME})\n"


def usage(program: str) -> str:
    """The options, one a line."""
    return USAGE.format(program=program, version=version())


USAGE = """Usage: {program} -b HOST:PORT[,…] [-C|-P|-L|-Q|-G GROUP] [OPTIONS] [FILE…|TOPIC…]
{version}
Modes (without one: -P if stdin is no terminal, else -C)
  -C             print records
  -P             send lines, or FILEs as one record each
  -G GROUP       print records of TOPICs as a member of a group; ^RE is a pattern
  -L             brokers, topics, partitions, leaders
  -Q             offsets by time: -t TOPIC:PARTITION:MILLISECONDS, repeatable

All
  -b HOSTS       where the cluster listens
  -t TOPIC       topic
  -p N           partition
  -D TEXT        what ends a record: \\n, \\t, \\xNN, any text (default \\n)
  -K TEXT        delimiter between key and value
  -c N           end after N records
  -m SECONDS     how long to look for the cluster (default 5)
  -X NAME=VALUE  a property of librdkafka; -X list, -X dump
  -F FILE        properties; else $KCAT_CONFIG, ~/.config/kcat.conf
  -z CODEC       none, gzip, snappy, lz4, zstd
  -q, -v, -E     quiet; verbose; continue after errors that are not fatal
  -d CONTEXTS    a line per frame on stderr
  -V, -h         version; this

-P
  -k KEY         the key of records that have none
  -H NAME=VALUE  a header; NAME= empty, NAME null; repeatable
  -Z             with -K: empty keys and values are sent as null
  -T             print what is sent
  -l             FILE has lines

-C, -G
  -o OFFSET      beginning, end, stored, N, -N, s@MS (from), e@MS (to, not included)
  -e             end at the end
  -f FORMAT      %s %S %R value, its length, that as 4 bytes; %k %K key; %T %h %t %p %o %%; \\n \\t \\r \\xNN
  -J             a JSON object a line
  -s [key=|value=]PACK   unpack: < > b B h H i I q Q c s $
                 avro: JSON by the schema that -r has
  -r URL         the schema registry of -s avro
  -Z             null and empty as NULL
  -u             write each record at once

Examples:
  {program} -b localhost:9092 -t orders -P -K: < keyed.txt
  {program} -b localhost:9092 -CJeqt orders -o -10
  {program} -b localhost:9092 -G billing orders '^refunds'

Exit codes: 0 done or interrupted, 1 failure. `kcli produce --help` and `kcli consume --help` have more.
"""
