# SPDX-License-Identifier: MIT
"""Azure's Python client traces by itself, here with spans that count. Its trace goes on in a
sessionq handler (trace_relay) and from there back to the client."""

import itertools
import json
import os
import subprocess
import sys
import unittest

from azure.core.settings import settings

from cases import CONNECTION, connect, message, run_one, text

TRACE_ID = "0af7651916cd43dd8448eb211c80319c"


class CountedSpan:
    """What the client needs of azure.core.tracing.AbstractSpan."""

    numbers = itertools.count(1)
    links = []

    def __init__(self, span=None, name="span", **options):
        self.name = name
        self.traceparent = f"00-{TRACE_ID}-{next(self.numbers):016x}-01"
        self.links.extend(link.headers for link in options.get("links") or [])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def to_header(self):
        return {"traceparent": self.traceparent, "tracestate": "a=1"}

    def add_attribute(self, key, value):
        pass


class Traces(unittest.TestCase):
    def setUp(self):
        settings.tracing_implementation = CountedSpan
        self.client = connect(CONNECTION)
        self.addCleanup(self.client.close)

    def test_a_trace_of_the_client_goes_through_a_handler_of_sessionq_and_back(self):
        relay = subprocess.Popen(
            [os.environ["SESSIONQ_TRACE_RELAY"], "s77", "s76"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self.assertEqual(relay.stdout.readline(), b"ready\n")
        with self.client.get_queue_sender("s77") as sender:
            sender.send_messages(message("a", "one"))
        with self.client.get_queue_receiver("s76", session_id="a", max_wait_time=20) as receiver:
            received = next(iter(receiver))
            receiver.complete_message(received)
        relay.stdin.close()
        self.assertEqual(relay.wait(20), 0)
        relay.stdout.close()
        seen = json.loads(text(received))
        self.assertEqual(seen["body"], "one")
        self.assertRegex(seen["sent"], f"^00-{TRACE_ID}-0{{8}}[0-9a-f]{{8}}-01$")
        self.assertEqual(seen["handler"][3:35], TRACE_ID)
        self.assertNotEqual(seen["handler"], seen["sent"])
        properties = received.application_properties
        traceparent = properties[b"traceparent"].decode()
        self.assertEqual(traceparent[3:35], TRACE_ID)
        self.assertNotIn(traceparent, (seen["handler"], seen["sent"]))
        self.assertEqual(properties[b"Diagnostic-Id"].decode(), traceparent)
        self.assertEqual(properties[b"tracestate"].decode(), "a=1")
        # The client's own tracing read it.
        self.assertIn({"traceparent": traceparent, "tracestate": "a=1"}, CountedSpan.links)


def main():
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(Traces)
    outcomes = [run_one(case) for case in suite]
    sys.stdout.flush()
    os._exit(0 if all(outcomes) else 1)  # the client's threads would keep the process alive


if __name__ == "__main__":
    main()
