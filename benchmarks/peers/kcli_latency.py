"""kcli: seconds from `send` to the acknowledgement, at a steady rate. Prints p50, p99 and CPU in ms as JSON."""

import asyncio
import json
import sys
from time import perf_counter, process_time

from kcli.client import Client
from kcli.settings import ClientSettings, ProducerSettings, parse_bootstrap

bootstrap, topic, linger, rate, seconds = sys.argv[1:6]
value = bytes(100)
took: list[float] = []


async def main() -> None:
    settings = ProducerSettings() if linger == "default" else ProducerSettings(linger=float(linger) / 1000)
    async with Client(ClientSettings(bootstrap=parse_bootstrap(bootstrap))) as client:
        async with client.producer(settings) as producer:
            await producer.send_and_wait(topic, value)
            begin, cpu = perf_counter(), process_time()
            for n in range(int(rate) * int(seconds)):
                wait = begin + n / int(rate) - perf_counter()
                if wait > 0:
                    await asyncio.sleep(wait)
                sent = perf_counter()
                future = await producer.send(topic, value)
                future.add_done_callback(lambda done, at=sent: took.append(perf_counter() - at) if done.result() else 0)
            await producer.flush()
            cpu = process_time() - cpu
    took.sort()
    print(json.dumps([took[len(took) // 2] * 1e3, took[len(took) * 99 // 100] * 1e3, cpu * 1e3]))


asyncio.run(main())
