"""Requests and replies over two topics: a server that answers what a group reads, and a client that waits for replies.

kcli sandbox --port 9092 --topic requests --topic replies &
python examples/request_reply.py localhost:9092 requests replies 100
"""

from __future__ import annotations

import asyncio
import sys
import uuid

import kcli

AT_ONCE = kcli.ProducerSettings(linger=0)


async def serve(client: kcli.Client, requests: str) -> None:
    """Answer each request in the topic that its header names, with the id of the request."""
    async with client.producer(AT_ONCE) as producer, client.consumer(requests, group="upper") as consumer:
        async for message in consumer.messages():
            headers = dict(message.headers)
            topic = (headers["reply-to"] or b"").decode()
            await producer.send(topic, message.value.upper(), headers=[("id", headers["id"])])


class Asking:
    """Sends requests, and gives each reply to the call that waits for it."""

    def __init__(self, producer: kcli.Producer, requests: str, replies: str) -> None:
        self._producer, self._requests, self._replies = producer, requests, replies
        self._waiting: dict[bytes | None, asyncio.Future[bytes]] = {}

    async def receive(self, consumer: kcli.Consumer) -> None:
        async for message in consumer.messages():
            waiting = self._waiting.pop(dict(message.headers)["id"], None)
            if waiting is not None:  # else it is the reply to another client, or came too late
                waiting.set_result(message.value)

    async def ask(self, value: bytes) -> bytes:
        number = uuid.uuid4().bytes
        reply = self._waiting[number] = asyncio.get_running_loop().create_future()
        headers = [("reply-to", self._replies.encode()), ("id", number)]
        await self._producer.send(self._requests, value, headers=headers)
        return await asyncio.wait_for(reply, 30)


async def main(bootstrap: str, requests: str, replies: str, count: str) -> None:
    async with kcli.Client(bootstrap) as client:
        server = asyncio.create_task(serve(client, requests))
        # "latest": its place is known when the block begins, so no reply is missed
        async with client.producer(AT_ONCE) as producer, client.consumer(replies, start="latest") as consumer:
            asking = Asking(producer, requests, replies)
            receiver = asyncio.create_task(asking.receive(consumer))
            for number in range(int(count)):
                print((await asking.ask(b"request %d" % number)).decode())
            receiver.cancel()
        server.cancel()
        await asyncio.gather(server, receiver, return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
