"""kcli: a loop over the messages of a topic with the client that blocks, to the end; prints the bytes of their
values."""

import sys

import kcli

bootstrap, topic = sys.argv[1:3]
size = 0
with kcli.SyncClient(bootstrap) as client, client.consumer(topic, start="earliest", stop_at_end=True) as consumer:
    for message in consumer:
        size += len(message.value or b"")
print(size)
