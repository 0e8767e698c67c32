"""The topic that a pipeline writes to: whose cluster it is in, whether it is there, as options of the sink."""

from __future__ import annotations

import asyncio

from kcli.admin.topics.topics import NewTopic, create_topics, describe_topics, wait_for_topics
from kcli.asking.leaders import TopicMissing
from kcli.cli.commands.consume.selection import partitions
from kcli.cli.commands.copy.target import cluster_id
from kcli.cli.commands.pipeline.session.frame import Frame, cluster_options, jvm_options
from kcli.cli.output import text
from kcli.cli.parsing.record_groups import TargetOptions
from kcli.cli.runtime.connection import connection_of
from kcli.client import Client
from kcli.errors import KcliError, UsageError


class Target:
    """`check` asks the cluster. `elsewhere` are the options of another cluster than the one that is read. Raises
    UsageError."""

    def __init__(
        self, frame: Frame, topic: str, compression: str | None, elsewhere: TargetOptions | None = None
    ) -> None:
        self.topic = topic
        options = elsewhere or TargetOptions()
        self.elsewhere = bool(options.to_profile or options.to_bootstrap)
        if not self.elsewhere and options.to_properties:
            raise UsageError("--to-X sets properties of DST's cluster: add --to-profile or --to-bootstrap")
        self.connection = (
            connection_of(options.to_profile, options.to_bootstrap, options.to_properties)
            if self.elsewhere
            else frame.connection
        )
        self._compression = text.codec(compression) if compression is not None else None
        self.count = 0
        self._cluster: str | None = None

    def check(self, *, create: bool = False) -> None:
        """The topic is there, or is created, with what the broker does by default. Raises KcliError, with the nearest
        name where it is not there."""

        async def ask() -> None:
            async with Client(self.connection.client()) as client:
                if create:
                    await self._create(client)
                await self.prepare(client)

        asyncio.run(ask())

    async def _create(self, client: Client) -> None:
        found = await describe_topics(client.cluster, [self.topic])
        if not isinstance(found[self.topic], TopicMissing):
            return
        made = (await create_topics(client.cluster, [NewTopic(topic=self.topic)]))[self.topic]
        if isinstance(made, KcliError):
            raise made
        await wait_for_topics(client.cluster, [self.topic])

    async def prepare(self, client: Client) -> None:
        """How many partitions it has, and in which cluster it is."""
        self.count = len(await partitions(client.cluster, self.topic))
        self._cluster = await cluster_id(client.cluster)

    @property
    def cluster(self) -> str:
        """Which cluster it is in, after `look`, whichever of its servers were asked: for the name of a pipeline."""
        return f"cluster://{self._cluster or self.connection.servers()[1]}"

    def options(self, *, progress: str, timestamps: bool) -> dict[str, str]:
        """Of kcli's sink."""
        spark_options = cluster_options(self.connection) | {"topic": self.topic, "progressAddr": progress}
        if timestamps:
            spark_options["keepTimestamp"] = "true"
        return spark_options | self._compressed("compression.level")

    def jvm_options(self) -> dict[str, str]:
        """Of Spark's own, which writes no timestamps."""
        spark_options = jvm_options(self.connection) | {"topic": self.topic}
        codec = self._compression[0] if self._compression is not None else ""
        return spark_options | self._compressed(f"compression.{codec}.level")

    def _compressed(self, level: str) -> dict[str, str]:
        if self._compression is None:
            return {}
        codec, number = self._compression
        spark_options = {"kafka.compression.type": codec}
        return spark_options if number is None else spark_options | {f"kafka.{level}": str(number)}
