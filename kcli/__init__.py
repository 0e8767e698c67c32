"""kcli: a command line, a dashboard and a data pipeline for Apache Kafka on one wire-protocol client.

The public names are listed here and imported on first use, so `import kcli` itself costs next to nothing.

    async with kcli.Client("localhost:9092") as client:
        async with client.producer() as producer:
            await producer.send_and_wait("orders", b"first")

    with kcli.SyncClient("localhost:9092") as kafka, kafka.consumer("orders", group="billing") as consumer:
        for message in consumer:
            print(message.value)
"""

from kcli.version import __version__ as __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kcli.admin.admin import Admin as Admin
    from kcli.admin.configs import Operation as Operation
    from kcli.admin.configs import Resource as Resource
    from kcli.admin.results import Results as Results
    from kcli.admin.topics.topics import NewTopic as NewTopic
    from kcli.broker.broker import NetworkBroker as NetworkBroker
    from kcli.client import Client as Client
    from kcli.consumer.consumer import Consumer as Consumer
    from kcli.consumer.poll import Fetched as Fetched
    from kcli.consumer.share.consumer import ShareConsumer as ShareConsumer
    from kcli.consumer.share.settings import ShareSettings as ShareSettings
    from kcli.consumer.workers import Workers as Workers
    from kcli.errors import Aborted as Aborted
    from kcli.errors import AuthError as AuthError
    from kcli.errors import BrokerError as BrokerError
    from kcli.errors import BufferFull as BufferFull
    from kcli.errors import Closed as Closed
    from kcli.errors import ConnectError as ConnectError
    from kcli.errors import DeadlineExceeded as DeadlineExceeded
    from kcli.errors import DecodeError as DecodeError
    from kcli.errors import EncodeError as EncodeError
    from kcli.errors import KcliError as KcliError
    from kcli.errors import UnknownOutcome as UnknownOutcome
    from kcli.errors import UnsupportedVersion as UnsupportedVersion
    from kcli.errors import UsageError as UsageError
    from kcli.grammar.bound import Bound as Bound
    from kcli.lag.snapshot import GroupLag as GroupLag
    from kcli.metrics.hooks import Hooks as Hooks
    from kcli.metrics.values import ClientMetrics as ClientMetrics
    from kcli.metrics.values import ConsumerMetrics as ConsumerMetrics
    from kcli.metrics.values import Histogram as Histogram
    from kcli.metrics.values import ProducerMetrics as ProducerMetrics
    from kcli.metrics.values import RequestMetrics as RequestMetrics
    from kcli.model import Address as Address
    from kcli.model import Broker as Broker
    from kcli.model import Cluster as Cluster
    from kcli.model import GroupMetadata as GroupMetadata
    from kcli.model import OffsetAndMetadata as OffsetAndMetadata
    from kcli.model import TopicPartition as TopicPartition
    from kcli.producer.batches.batch import BatchOutcome as BatchOutcome
    from kcli.producer.batches.batch import RecordMetadata as RecordMetadata
    from kcli.producer.producer import Producer as Producer
    from kcli.proto.columns import Message as Message
    from kcli.proto.columns import Record as Record
    from kcli.proto.messages import api_name as api_name
    from kcli.sandbox.sandbox import Sandbox as Sandbox
    from kcli.sandbox.settings import SandboxSettings as SandboxSettings
    from kcli.sandbox.thread import SandboxThread as SandboxThread
    from kcli.secret import Secret as Secret
    from kcli.security import OAuth as OAuth
    from kcli.security import Sasl as Sasl
    from kcli.security import Security as Security
    from kcli.security import Tls as Tls
    from kcli.settings import ClientSettings as ClientSettings
    from kcli.settings import ConsumerSettings as ConsumerSettings
    from kcli.settings import GroupSettings as GroupSettings
    from kcli.settings import ProducerSettings as ProducerSettings
    from kcli.settings import parse_bootstrap as parse_bootstrap
    from kcli.sync.client import SyncClient as SyncClient
    from kcli.sync.consumer import SyncConsumer as SyncConsumer
    from kcli.sync.producer import SyncProducer as SyncProducer
    from kcli.sync.workers import SyncWorkers as SyncWorkers

_WHERE = {
    "admin.admin": "Admin",
    "admin.configs": "Operation Resource",
    "admin.results": "Results",
    "admin.topics.topics": "NewTopic",
    "broker.broker": "NetworkBroker",
    "client": "Client",
    "consumer.consumer": "Consumer",
    "consumer.poll": "Fetched",
    "consumer.share.consumer": "ShareConsumer",
    "consumer.share.settings": "ShareSettings",
    "consumer.workers": "Workers",
    "errors": "Aborted AuthError BrokerError BufferFull Closed ConnectError DeadlineExceeded DecodeError EncodeError "
    "KcliError UnknownOutcome UnsupportedVersion UsageError",
    "grammar.bound": "Bound",
    "lag.snapshot": "GroupLag",
    "metrics.hooks": "Hooks",
    "metrics.values": "ClientMetrics ConsumerMetrics ProducerMetrics RequestMetrics Histogram",
    "model": "Address Broker Cluster GroupMetadata OffsetAndMetadata TopicPartition",
    "producer.batches.batch": "BatchOutcome RecordMetadata",
    "producer.producer": "Producer",
    "proto.columns": "Message Record",
    "proto.messages": "api_name",
    "sandbox.sandbox": "Sandbox",
    "sandbox.settings": "SandboxSettings",
    "sandbox.thread": "SandboxThread",
    "secret": "Secret",
    "security": "OAuth Sasl Security Tls",
    "settings": "ClientSettings ConsumerSettings GroupSettings ProducerSettings parse_bootstrap",
    "sync.client": "SyncClient",
    "sync.consumer": "SyncConsumer",
    "sync.producer": "SyncProducer",
    "sync.workers": "SyncWorkers",
}
__all__ = ["__version__", *(name for names in _WHERE.values() for name in names.split())]  # noqa: PLE0604


if not TYPE_CHECKING:  # a type checker that saw __getattr__ would accept any name

    def __getattr__(name: str) -> object:
        """Import a public name on first use. Raises AttributeError for an unknown name."""
        from importlib import import_module

        for module, names in _WHERE.items():
            if name in names.split():
                value = globals()[name] = getattr(import_module(f"kcli.{module}"), name)
                return value
        raise AttributeError(f"module 'kcli' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
