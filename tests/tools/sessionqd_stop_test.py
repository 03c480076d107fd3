#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionqd_stop_test.py SESSIONQ SESSIONQD: an orderly stop answers every send that it stored, so
that no client sends again what is there."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
# pylint: disable=wrong-import-position
from amqp_wire import ACCEPTED, message
from wire_client import RECEIVE, SEND, Client, Closed

sessionq, sessionqd = sys.argv[1:3]
SENDERS = 20
WINDOW = 10  # sends of one client that wait for their answer
BEFORE_THE_STOP = 2000


class Sender(threading.Thread):
    def __init__(self, port, confirmed):
        super().__init__()
        self.client = Client(port)
        self.orders = self.client.attach("orders", SEND)
        self.confirmed = confirmed
        self.count = 0

    def run(self):
        waiting = set()
        try:
            while True:
                if len(waiting) < WINDOW and self.client.sent < self.limit():
                    waiting.add(self.client.transfer(self.orders, message(value="body")))
                else:
                    self.client.step()
                    waiting -= self.take_outcomes()
        except (Closed, OSError):
            self.take_outcomes()
        self.client.close()

    def limit(self):
        """So many messages may be sent in all."""
        return max(self.client.credit.values())

    def take_outcomes(self):
        taken = set(self.client.outcomes)
        for number in taken:
            if self.client.outcomes.pop(number).code == ACCEPTED:
                self.count += 1
                self.confirmed.release()
        return taken


class Stop(unittest.TestCase):
    def start(self, directory, *options):
        command = [sessionqd, "--listen", "127.0.0.1:0", "--data", directory, "--queue", "orders"]
        command += options
        daemon = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.addCleanup(daemon.kill)
        port = int(re.search(r"amqp://127\.0\.0\.1:(\d+)", daemon.stdout.readline()).group(1))
        return daemon, port

    def stop(self, daemon):
        daemon.send_signal(signal.SIGTERM)
        self.assertEqual(daemon.wait(60), 0)
        daemon.stdout.close()

    def stored(self, port):
        connection = (
            f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=RootManageSharedAccessKey;"
            "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true"
        )
        done = subprocess.run(
            [sessionq, "counts", "orders", "--json"],
            capture_output=True,
            check=True,
            env=dict(os.environ, SESSIONQ_CONNECTION=connection),
            timeout=60,
        )
        return json.loads(done.stdout)["active"]

    def test_what_is_stored_was_confirmed(self):
        for _ in range(3):
            with tempfile.TemporaryDirectory() as directory:
                daemon, port = self.start(directory)
                confirmed = threading.Semaphore(0)
                senders = [Sender(port, confirmed) for _ in range(SENDERS)]
                for sender in senders:
                    sender.start()
                for _ in range(BEFORE_THE_STOP):
                    self.assertTrue(confirmed.acquire(timeout=60))
                self.stop(daemon)
                for sender in senders:
                    sender.join(60)
                    self.assertFalse(sender.is_alive())
                daemon, port = self.start(directory)
                self.assertEqual(self.stored(port), sum(sender.count for sender in senders))
                self.stop(daemon)

    def test_only_a_second_signal_to_stop_cuts_a_stop_short(self):
        with tempfile.TemporaryDirectory() as directory:
            daemon, port = self.start(directory, "--drain-seconds", "1")
            client = Client(port)
            self.addCleanup(client.close)
            client.send(client.attach("orders", SEND), message(value="held"))
            client.flow(client.attach("orders", RECEIVE), 1)
            client.receive()  # the stop waits for its settlement
            daemon.send_signal(signal.SIGTERM)
            while daemon.poll() is None:
                for other in (signal.SIGHUP, signal.SIGUSR1):
                    daemon.send_signal(other)
                time.sleep(0.05)
            self.assertEqual(0, daemon.returncode)
            daemon.stdout.close()


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
