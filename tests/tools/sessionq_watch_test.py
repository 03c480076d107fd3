#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionq_watch_test.py SESSIONQ SESSIONQD: `sessionq watch` on a broker of its own, and `top` on
a processor of `sessionq consume`."""

import pathlib
import re
import signal
import socket
import subprocess
import time

from on_daemon import OnDaemon, main, sessionq, sessionqd
from terminal import Terminal


class Watch(OnDaemon):
    def test_once_and_json(self):
        self.run_it("send", "orders", "--session", "ada", "one", "two")
        self.run_it("send", "orders", "--session", "b\x1b[2Jen", "three")
        self.run_it("state", "set", "orders", "--session", "cid", "text")
        shown = self.run_it("watch", "orders", "--once").stdout
        for text in ("orders", "3 messages: 3 active", "3 sessions, 0 dead letters", "b?[2Jen"):
            self.assertIn(text, shown)
        (look,) = self.records("watch", "orders", "--once", "--json")
        self.assertEqual(look["messages"], {"active": 3, "deferred": 0, "scheduled": 0})
        self.assertEqual(look["has_all_messages"], True)
        sessions = {each["session"]: each for each in look["sessions"]}
        self.assertEqual(set(sessions), {"ada", "b\x1b[2Jen", "cid"})
        self.assertEqual(sessions["ada"]["active"], 2)
        self.assertFalse(sessions["ada"]["has_state"])
        self.assertTrue(sessions["cid"]["has_state"])
        self.assertGreaterEqual(sessions["ada"]["oldest_age"], 0)
        self.assertIsNone(sessions["cid"]["oldest_age"])

    def test_an_entity_without_sessions(self):
        self.run_it("send", "loose", "one")
        self.run_it("receive", "loose", "--count", "1", "--settle", "dead-letter")
        self.run_it("send", "loose", "two", "three")
        (look,) = self.records("watch", "loose", "--once", "--json")
        self.assertEqual((look["messages"]["active"], look["dead_letters"]), (2, 1))
        self.assertEqual((look["session_count"], look["sessions"]), (0, []))

    def test_the_broker_goes_away(self):
        with socket.socket() as unused:  # bound, and nobody listens
            unused.bind(("127.0.0.1", 0))
            connection = f"amqp://127.0.0.1:{unused.getsockname()[1]}?dialect=artemis"
            said = self.run_it("watch", "x", "--once", code=1, connection=connection).stderr
            self.assertIn("127.0.0.1", said)
            terminal = Terminal([sessionq, "watch", "x"], SESSIONQ_CONNECTION=connection)
            self.addCleanup(terminal.close)
            terminal.shows("no answer for ", "127.0.0.1")
            terminal.type("q")
            self.assertEqual(terminal.ends(), 0)

    def test_the_broker_comes_back(self):
        def daemon(port):
            command = [sessionqd, "--listen", f"127.0.0.1:{port}", "--queue", "orders:session"]
            started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            self.addCleanup(started.stdout.close)
            self.addCleanup(started.wait)
            self.addCleanup(started.kill)
            return started, re.search(r"127\.0\.0\.1:(\d+)", started.stdout.readline()).group(1)

        first, port = daemon(0)
        connection = re.sub(r"127\.0\.0\.1:\d+", f"127.0.0.1:{port}", self.connection)
        command = [sessionq, "watch", "orders", "--interval", "0.2"]
        terminal = Terminal(command, SESSIONQ_CONNECTION=connection)
        self.addCleanup(terminal.close)
        terminal.shows("0 messages")
        first.kill()
        first.wait()
        terminal.shows("no answer for ")
        daemon(port)
        self.run_it("send", "orders", "--session", "ada", "one", connection=connection)
        terminal.shows("1 message:", "ada")
        terminal.shows_no("no answer")
        terminal.type("q")
        self.assertEqual(terminal.ends(), 0)

    def test_a_silent_broker_does_not_hold_q_up(self):
        with socket.socket() as silent:
            silent.bind(("127.0.0.1", 0))
            silent.listen()
            connection = f"amqp://127.0.0.1:{silent.getsockname()[1]}"
            terminal = Terminal([sessionq, "watch", "x"], SESSIONQ_CONNECTION=connection)
            self.addCleanup(terminal.close)
            terminal.shows("looking at x")
            peer, _ = silent.accept()
            began = time.monotonic()
            terminal.type("q")
            self.assertEqual(terminal.ends(), 0)
            self.assertLess(time.monotonic() - began, 5)
            self.assertTrue(terminal.is_restored())
            peer.close()

    def test_a_bad_connection_string_is_a_mistake(self):
        self.run_it("watch", "x", "--once", code=2, connection="nonsense")

    def test_live(self):
        self.run_it("send", "copies", "--session", "ada", "one")
        command = [sessionq, "watch", "copies", "--interval", "0.2"]
        terminal = Terminal(command, SESSIONQ_CONNECTION=self.connection)
        self.addCleanup(terminal.close)
        terminal.shows("1 message: 1 active", "ada", "came 0, went 0")
        self.run_it("send", "copies", "--session", "ben", "two", "three")
        terminal.shows("3 messages", "ben")
        self.run_it("receive", "copies", "--wait", "0")
        terminal.shows("2 messages")
        terminal.shows_no("ada")
        terminal.type("\t")
        terminal.shows("age of active messages")
        terminal.type("q")
        self.assertEqual(terminal.ends(), 0)
        self.assertTrue(terminal.is_restored())


class Top(OnDaemon):
    def test_a_processor_of_consume(self):
        path = str(pathlib.Path(self.directory.name, "consume.sock"))
        consume = [sessionq, "consume", "orders", "--describe-socket", path]
        environment = self.environment()
        consumer = subprocess.Popen(consume, stdout=subprocess.DEVNULL, env=environment)
        self.addCleanup(consumer.wait)
        self.addCleanup(consumer.kill)
        terminal = Terminal([sessionq, "top", path, "--interval", "0.1"])
        self.addCleanup(terminal.close)
        terminal.shows("orders  running", "healthy", "8 slots")
        self.run_it("send", "orders", "--session", "ada", "one", "two")
        counted = re.compile(r"messages_handled +2 .*sessions_opened +1 ", re.DOTALL)
        terminal.wait_until(counted.search, "two messages of a session")
        terminal.type("\t")
        terminal.shows("accepting", "a session")
        terminal.type("\t")
        terminal.shows("handler time", "round trip, settle", "<= ")
        terminal.type("\t")
        terminal.shows("Quantiles are upper bounds")
        (told,) = self.records("top", path, "--once", "--json")
        self.assertEqual(told["processor"]["counters"]["messages_completed"], 2)
        consumer.send_signal(signal.SIGTERM)
        terminal.shows("no answer for ")
        terminal.type("q")
        self.assertEqual(terminal.ends(), 0)
        self.assertEqual(consumer.wait(60), 0)


main()
