# SPDX-License-Identifier: MIT
"""A test case with a sessionqd of its own. The program's arguments are SESSIONQ SESSIONQD."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sessionq, sessionqd = sys.argv[1:3]


class OnDaemon(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        config = pathlib.Path(cls.directory.name, "config.json")
        fleeting = {
            "RequiresSession": True,
            "DefaultMessageTimeToLive": "PT0.1S",
            "DeadLetteringOnMessageExpiration": True,
        }
        queues = [{"Name": "fleeting", "Properties": fleeting}, {"Name": "loose"}]
        topics = [{"Name": "news", "Subscriptions": [{"Name": "all"}]}]
        namespaces = [{"Name": "test", "Queues": queues, "Topics": topics}]
        config.write_text(json.dumps({"UserConfig": {"Namespaces": namespaces}}))
        command = [sessionqd, "--listen", "127.0.0.1:0", "--config", str(config)]
        command += ["--queue", "orders:session", "--queue", "plain", "--queue", "copies:session"]
        cls.daemon = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        port = re.search(r"amqp://127\.0\.0\.1:(\d+)", cls.daemon.stdout.readline()).group(1)
        cls.connection = (
            f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=RootManageSharedAccessKey;"
            "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true"
        )

    @classmethod
    def tearDownClass(cls):
        cls.daemon.send_signal(signal.SIGTERM)
        assert cls.daemon.wait(30) == 0
        cls.daemon.stdout.close()
        cls.directory.cleanup()

    def environment(self, connection=None):
        connection = self.connection if connection is None else connection
        return dict(os.environ, SESSIONQ_CONNECTION=connection)

    def run_it(self, *arguments, code=0, given=b"", connection=None, **more):
        """Runs a command. `given` is standard input, as bytes or text."""
        done = subprocess.run(
            [sessionq, *arguments],
            input=given.encode() if isinstance(given, str) else given,
            stderr=subprocess.PIPE,
            timeout=100,
            env=self.environment(connection),
            **({"stdout": subprocess.PIPE} | more),
        )
        done.stdout = done.stdout or b""
        done.raw, done.stdout = done.stdout, done.stdout.decode(errors="surrogateescape")
        done.stderr = done.stderr.decode()
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("SAS_KEY_VALUE", done.stdout + done.stderr)
        return done

    def records(self, *arguments, **more):
        """The lines that a command prints. Each must be JSON, and fit for a terminal."""
        lines = self.run_it(*arguments, **more).raw.decode().splitlines()
        for line in lines:
            self.assertTrue(line.isprintable(), line)
        return [json.loads(line) for line in lines]

    def bodies(self, *arguments):
        return [record["body"] for record in self.records(*arguments)]


def main():
    unittest.main(argv=sys.argv[:1])
