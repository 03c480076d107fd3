# SPDX-License-Identifier: MIT
"""Azure's Python client at the same work. Prints one line of JSON.
  peer.py steady QUEUE SESSIONS WARM MESSAGES     SESSIONS receivers at once
  peer.py rolling QUEUE SLOTS WARM SESSIONS       SLOTS loops: accept the next session, receive and
                                                  complete its one message, close

The first WARM messages or sessions are not timed. It uses the client's API with threads: with
asyncio, steady consumption was slower and closing a receiver took a second. It receives batches
without prefetch, as the client's documentation recommends for sessions. Prefetch was not faster.
With it, a left session's fetched messages stayed locked.
"""

import json
import os
import sys
import threading
import time
import traceback

from azure.servicebus import NEXT_AVAILABLE_SESSION, ServiceBusClient

BATCH = 100
PATIENCE = 60


class Count:
    """Of what is done; the clock runs from the last one to warm up to the last one."""

    def __init__(self, warm, timed):
        self.lock, self.warm, self.all, self.done, self.began = (
            threading.Lock(),
            warm,
            warm + timed,
            0,
            None,
        )

    def one(self):
        with self.lock:
            self.done += 1
            if self.done == self.warm:
                self.began = time.perf_counter()
            elif self.done == self.all:
                print(json.dumps({"seconds": time.perf_counter() - self.began}), flush=True)
                os._exit(0)


def next_session(client, queue):
    return client.get_queue_receiver(queue, session_id=NEXT_AVAILABLE_SESSION)


def steady(client, queue, count, accepted):
    with next_session(client, queue) as receiver:
        accepted.wait()
        while True:
            for message in receiver.receive_messages(
                max_message_count=BATCH, max_wait_time=PATIENCE
            ):
                receiver.complete_message(message)
                count.one()


def rolling(client, queue, count, _):
    while True:
        with next_session(client, queue) as receiver:
            (message,) = receiver.receive_messages(max_message_count=1, max_wait_time=PATIENCE)
            receiver.complete_message(message)
        count.one()


def main():
    mode, queue, *counts = sys.argv[1:]
    at_once, warm, timed = map(int, counts)
    client = ServiceBusClient.from_connection_string(os.environ["SESSIONQ_CONNECTION"])
    work = {"steady": steady, "rolling": rolling}[mode]
    count, accepted = Count(warm, timed), threading.Barrier(at_once)

    def run():
        try:
            work(client, queue, count, accepted)
        except Exception:
            traceback.print_exc()
            os._exit(1)

    for _ in range(at_once):
        threading.Thread(target=run).start()


main()
