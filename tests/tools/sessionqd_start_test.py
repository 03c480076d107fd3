#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionqd_start_test.py SESSIONQ SESSIONQD: a daemon that cannot use its data names it and ends.

It ends at once and changes nothing.
"""

import json
import os
import pathlib
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import unittest

sessionq, sessionqd = sys.argv[1:3]
QUICK = 20  # seconds; far more than it takes


def start(data, *queues, options=()):
    command = [sessionqd, "--listen", "127.0.0.1:0", "--data", str(data), *options]
    for queue in queues or ("orders:session",):
        command += ["--queue", queue]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


class Start(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="sessionqd-start-"))
        self.data = self.directory / "data"
        self.store = self.data / "sessionq.db"
        bodies = ["x" * 3000 + str(i) for i in range(100)]
        self.run_daemon(lambda connection: subprocess.run(
            [sessionq, "send", "orders", "--session", "a", *bodies], check=True,
            capture_output=True, env=dict(os.environ, SESSIONQ_CONNECTION=connection)))

    def tearDown(self):
        shutil.rmtree(self.directory)

    def run_daemon(self, use=lambda connection: None, options=(), stop=signal.SIGTERM):
        """Returns what `use` returned. The log of the daemon is in self.log then."""
        daemon = start(self.data, options=options)
        try:
            port = re.search(r"amqp://127\.0\.0\.1:(\d+)", daemon.stdout.readline()).group(1)
            return use(
                f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=RootManageSharedAccessKey;"
                "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true"
            )
        finally:
            daemon.send_signal(stop)
            _, self.log = daemon.communicate(timeout=60)

    def peeked(self, options=()):
        return self.run_daemon(lambda connection: subprocess.run(
            [sessionq, "peek", "orders"], check=True, capture_output=True, text=True,
            env=dict(os.environ, SESSIONQ_CONNECTION=connection)).stdout.count("\n"), options)

    def refused(self, words, *queues, data=None):
        """Ends with 1 and one line on standard error, which says what and why. No file changes."""
        files = self.data.iterdir() if self.data.is_dir() else ()
        before = {file: file.read_bytes() for file in files}
        daemon = start(data or self.data, *queues)
        try:
            out, err = daemon.communicate(timeout=QUICK)
        finally:
            daemon.kill()
        self.assertEqual((daemon.returncode, out), (1, ""), err)
        self.assertRegex(err, r"\Asessionqd: [^\n]+\n\Z")
        self.assertIn(words, err)
        self.assertIn(str(data or self.data), err)
        for file, content in before.items():
            self.assertEqual(file.read_bytes(), content, file)

    def test_help_is_no_failure(self):
        help_text = subprocess.run([sessionqd, "--help"], check=True, capture_output=True,
                                   text=True, timeout=QUICK).stdout
        self.assertIn("--listen", help_text)

    def test_a_port_that_is_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            ended = subprocess.run([sessionqd, "--listen", address, "--queue", "orders"],
                                   capture_output=True, text=True, timeout=QUICK, check=False)
        self.assertEqual(ended.returncode, 1)
        self.assertEqual(ended.stderr, f"sessionqd: cannot listen on {address}: "
                                       "the port is in use\n")

    def test_entities_that_no_option_names_are_listed_and_deleted(self):
        def offline(*options, code=0):
            done = subprocess.run([sessionqd, "--data", str(self.data), *options], text=True,
                                  capture_output=True, timeout=QUICK, check=False)
            self.assertEqual(code, done.returncode, done.stderr)
            return done.stdout + done.stderr

        topics = [{"Name": "news", "Subscriptions": [{"Name": "all"}]}]
        config = self.directory / "config.json"
        config.write_text(json.dumps({"UserConfig": {"Namespaces": [
            {"Name": "n", "Queues": [], "Topics": topics}]}}))
        self.run_daemon(options=("--config", str(config)))
        self.assertEqual("news: topic, 0 messages, 0 dead letters\n"
                         "news/Subscriptions/all: subscription, 0 messages, 0 dead letters\n"
                         "orders: queue, 100 messages, 0 dead letters\n",
                         offline("--list-entities"))
        self.assertIn("'nobody' is not in", offline("--delete-entity", "orders",
                                                    "--delete-entity", "nobody", code=1))
        self.assertIn("deleted orders: queue, 100 messages", offline("--delete-entity", "ORDERS"))
        offline("--delete-entity", "news/subscriptions/all")
        self.assertEqual("news: topic, 0 messages, 0 dead letters\n", offline("--list-entities"))
        self.assertEqual(0, self.peeked())
        for option in (["--list-entities"], ["--delete-entity", "orders"]):
            done = subprocess.run([sessionqd, *option], capture_output=True, text=True, check=False)
            self.assertEqual((2, True), (done.returncode, "needs --data" in done.stderr))

    def test_one_that_is_in_use(self):
        def second(_):
            daemon = start(self.data)
            _, err = daemon.communicate(timeout=QUICK)
            self.assertEqual(daemon.returncode, 1)
            self.assertIn(f"'{self.store}' is in use by another process", err)
        self.run_daemon(second)
        self.assertEqual(self.peeked(), 100)

    def test_one_that_is_cut_short_or_overwritten(self):
        whole = self.store.read_bytes()
        for cut in (len(whole) // 2, len(whole) - 4096, 100, 0):
            self.store.write_bytes(whole[:cut])
            self.refused("is damaged")
        middle = len(whole) // 2 // 4096 * 4096
        self.store.write_bytes(whole[:middle] + b"\x5a" * 4096 + whole[middle + 4096:])
        self.refused("is damaged")
        self.store.write_bytes(b"#!/bin/sh\n" * 1000)
        self.refused("is not a database")
        self.store.write_bytes(whole)
        self.assertEqual(self.peeked(), 100)

    def test_one_of_another_version_or_program(self):
        with sqlite3.connect(self.store) as store:
            store.execute("PRAGMA user_version = 1000")
            store.execute("UPDATE ledger SET version = 1000")
        store.close()
        self.refused("has schema version 1000")
        self.store.unlink()
        with sqlite3.connect(self.store) as store:
            store.execute("CREATE TABLE theirs (x)")
        store.close()
        self.refused("is not a sessionq database")

    def test_one_with_an_altered_message(self):
        whole = self.store.read_bytes()
        at = whole.index(b"x" * 500 + b"42") + 100
        self.store.write_bytes(whole[:at] + b"y" + whole[at + 1:])
        self.refused("message 43 of 'orders' was altered")
        self.refused("--on-damage set-aside")
        self.assertEqual(self.peeked(["--on-damage", "set-aside"]), 99)
        self.assertIn("message 43 of 'orders' was altered", self.log)
        self.assertIn("messages: 1 of 100 rows are set aside or missing", self.log)
        kept = self.data / "sessionq.db.damaged-1"
        self.assertIn(str(kept), self.log)
        self.assertEqual(kept.read_bytes()[at:at + 1], b"y")
        self.assertEqual(self.peeked(), 99)
        self.assertEqual(self.log, "")

    def test_one_with_a_damaged_log(self):
        bodies = ["y" * 3000 + str(i) for i in range(40)]

        def send(connection):
            for body in bodies:
                subprocess.run(
                    [sessionq, "send", "orders", "--session", "b", body], check=True,
                    capture_output=True, env=dict(os.environ, SESSIONQ_CONNECTION=connection))
        self.run_daemon(send, stop=signal.SIGKILL)
        log = self.data / "sessionq.db-wal"
        whole = log.read_bytes()
        at = len(whole) // 2
        log.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
        self.refused("confirmed commits are lost")
        served = self.peeked(["--on-damage", "set-aside"])
        self.assertGreater(served, 100)
        self.assertLess(served, 140)
        self.assertIn("confirmed commits are lost", self.log)
        kept = self.data / "sessionq.db.damaged-1-wal"
        self.assertEqual(kept.read_bytes()[at], whole[at] ^ 1)
        self.assertEqual(self.peeked(), served)

    def test_one_that_others_could_read(self):
        for file in self.data.iterdir():
            file.chmod(0o644)
        self.data.chmod(0o755)
        former = os.umask(0o022)
        try:
            modes = self.run_daemon(
                lambda _: {file.name: file.stat().st_mode & 0o777 for file in self.data.iterdir()})
        finally:
            os.umask(former)
        self.assertEqual(
            modes,
            {"sessionq.db": 0o600, "sessionq.db-wal": 0o600, "reserve": 0o600, "commits": 0o600})
        self.assertIn(f"the directory '{self.data}' of the store can be read by other users",
                      self.log)
        self.assertEqual(self.data.stat().st_mode & 0o777, 0o755)

    def test_one_whose_queue_cannot_become_another(self):
        daemon = start(self.data, "orders")
        _, err = daemon.communicate(timeout=QUICK)
        self.assertEqual(daemon.returncode, 1)
        self.assertIn("'orders' was created with sessions", err)
        self.assertEqual(self.peeked(), 100)

    def test_a_directory_that_cannot_be_had(self):
        file = self.directory / "file"
        file.write_text("mine")
        self.refused("cannot be created", data=file)
        self.assertEqual(file.read_text(), "mine")
        self.refused("cannot be created", data=file / "data")
        self.store.unlink()
        self.store.mkdir()
        daemon = start(self.data)
        _, err = daemon.communicate(timeout=QUICK)
        self.assertEqual(daemon.returncode, 1)
        self.assertIn(f"'{self.store}' is a link, or no regular file", err)

    @unittest.skipIf(
        os.geteuid() == 0 and not shutil.which("setpriv"), "the superuser can write everywhere"
    )
    def test_a_directory_that_cannot_be_written(self):
        command = [sessionqd, "--listen", "127.0.0.1:0", "--data", str(self.data)]
        command += ["--queue", "orders:session"]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command]
        self.directory.chmod(0o755)
        for mode, of in ((0o555, 0o444), (0o755, 0o000)):
            self.store.chmod(of)
            self.data.chmod(mode)
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=QUICK, check=False
            )
            self.data.chmod(0o755)
            self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
            self.assertIn(f"'{self.store}' cannot be used", done.stderr)
        self.store.chmod(0o600)
        self.assertEqual(self.peeked(), 100)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
