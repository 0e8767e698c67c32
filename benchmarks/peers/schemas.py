"""confluent-kafka reads framed values of a topic, `fastavro`, `confluent` or `google` decodes them: JSON to stdout."""

import io
import json
import sys

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, TopicPartition


def fastavro_reader(client, topic):
    import fastavro

    schema = fastavro.parse_schema(json.loads(client.get_latest_version(f"{topic}-value").schema.schema_str))
    return lambda value: fastavro.schemaless_reader(io.BytesIO(value[5:]), schema, None)


def confluent_reader(client, topic):
    from confluent_kafka.schema_registry.avro import AvroDeserializer
    from confluent_kafka.serialization import MessageField, SerializationContext

    read, context = AvroDeserializer(client), SerializationContext(topic, MessageField.VALUE)
    return lambda value: read(value, context)


def google_reader(client, topic):
    from google.protobuf import descriptor_pb2, descriptor_pool
    from google.protobuf.json_format import MessageToDict
    from google.protobuf.message_factory import GetMessageClass

    kinds = {"int64": 3, "int32": 5, "string": 9, "double": 1, "bool": 8}
    text = client.get_latest_version(f"{topic}-value").schema.schema_str
    file = descriptor_pb2.FileDescriptorProto(name="order.proto", syntax="proto3")
    order = file.message_type.add(name="Order")
    for part in text[text.index("{") + 1 : text.rindex("}")].split(";")[:-1]:
        kind, name, _, number = part.split()
        order.field.add(name=name, number=int(number), label=1, type=kinds[kind])
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    parse = GetMessageClass(pool.FindMessageTypeByName("Order")).FromString
    return lambda value: MessageToDict(parse(value[6:]), preserving_proto_field_name=True)


def main():
    from confluent_kafka.schema_registry import SchemaRegistryClient

    how, bootstrap, topic, registry = sys.argv[1:5]
    client = SchemaRegistryClient({"url": registry})
    makers = {"fastavro": fastavro_reader, "confluent": confluent_reader, "google": google_reader}
    read = makers[how](client, topic.removesuffix("-part"))
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False,
                         "enable.partition.eof": True, "fetch.queue.backoff.ms": 10})  # fmt: skip
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    left = True
    while left:
        out = []
        for message in consumer.consume(10_000, timeout=1.0):
            error = message.error()
            if error is None:
                out.append(json.dumps(read(message.value())))
            elif error.code() == KafkaError._PARTITION_EOF:
                left = False
            else:
                raise SystemExit(str(error))
        if out:
            sys.stdout.write("\n".join(out) + "\n")
    consumer.close()


main()
