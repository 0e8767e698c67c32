"""kcli: a loop over the messages of a topic as a member of a group that may not pause for five seconds; prints the
bytes of their values."""

import sys
import uuid

import kcli

bootstrap, topic = sys.argv[1:3]
member = kcli.GroupSettings(group=uuid.uuid4().hex, max_poll_interval=5.0)
size = 0
with kcli.SyncClient(bootstrap) as client:
    at = kcli.TopicPartition(topic, 0)
    left = client.admin.list_offsets({at: -1})[at].offset
    with client.consumer(topic, group=member) as consumer:
        for message in consumer:
            size += len(message.value or b"")
            left -= 1
            if not left:
                break
print(size)
