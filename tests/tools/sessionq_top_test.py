#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionq_top_test.py SESSIONQ: `sessionq top` on the socket of a processor that is a fixture."""

import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

from terminal import Terminal

sessionq = sys.argv[1]

FIXTURE = json.loads(pathlib.Path(__file__).with_name("processor_fixture.json").read_text())


class Processor:
    """Answers at a Unix socket as a processor does. Each answer counts 100 messages more."""

    def __init__(self, path):
        self.path = path
        self.document = json.loads(json.dumps(FIXTURE))
        self.listener = None
        self.asked = threading.Condition()

    def answer(self):
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        self.listener.listen()
        threading.Thread(target=self.run, args=(self.listener,), daemon=True).start()

    def run(self, listener):
        while True:
            try:
                peer, _ = listener.accept()
            except OSError:
                return
            with self.asked:
                self.document["processor"]["counters"]["messages_received"] += 100
                answer = json.dumps(self.document).encode()
                self.asked.notify()
            with peer:
                peer.sendall(answer)

    def wait_for_questions(self, count):
        with self.asked:
            for _ in range(count):
                assert self.asked.wait(60)

    def go_away(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        os.unlink(self.path)


class OnProcessor(unittest.TestCase):

    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.path = str(pathlib.Path(self.directory.name, "orders.sock"))
        self.processor = Processor(self.path)
        self.processor.answer()

    def tearDown(self):
        if os.path.exists(self.path):
            self.processor.go_away()
        self.directory.cleanup()

    def run_it(self, *arguments, code=0):
        done = subprocess.run(
            [sessionq, "top", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=100,
            env={name: value for name, value in os.environ.items() if "SESSIONQ" not in name},
        )
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def screen(self, *arguments, **more):
        command = [sessionq, "top", self.path, "--interval", "0.1", *arguments]
        terminal = Terminal(command, **more)
        self.addCleanup(terminal.close)
        return terminal


class Once(OnProcessor):
    def test_a_table(self):
        shown = self.run_it(self.path, "--once").stdout
        for text in (
            "orders, invoices  running  degraded",
            "workers_busy (2) at 'orders', session 'ada' for 12.5s",
            "Raise worker_threads",
            "4 slots: 1 accepting, 3 open; 1 session parked, 1 settling",
            "handler time",
            "roll latency",
            "####",
            "日本",
            "b?[2J?en",
        ):
            self.assertIn(text, shown)
        self.assertTrue(shown.replace("\n", "").isprintable())

    def test_json_is_what_the_processor_tells(self):
        shown = self.run_it(self.path, "--once", "--json").stdout
        self.assertTrue(shown.rstrip("\n").isprintable())
        self.assertEqual(json.loads(shown), self.processor.document)
        self.assertEqual(shown.count("\n"), 1)

    def test_json_goes_on_without_an_answer(self):
        command = [sessionq, "top", self.path, "--json", "--interval", "100ms"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as looking:
            received = [
                json.loads(looking.stdout.readline())["processor"]["counters"]["messages_received"]
                for _ in range(3)
            ]
            self.assertEqual(received, [received[0] + 100 * n for n in range(3)])
            self.processor.go_away()
            line = json.loads(looking.stdout.readline())
            while "error" not in line:
                line = json.loads(looking.stdout.readline())
            self.assertIn("No such file", line["error"])
            self.processor.answer()
            while "error" in line:
                line = json.loads(looking.stdout.readline())
            self.assertEqual(line["version"], 1)
            looking.terminate()

    def test_without_a_terminal_it_says_what_to_use(self):
        self.assertIn("--once or --json", self.run_it(self.path, code=2).stderr)

    def test_no_processor_is_a_failure(self):
        said = self.run_it(self.path + "x", "--once", code=1).stderr
        self.assertIn(f"{self.path}x: No such file or directory", said)

    def test_an_answer_that_is_no_description_is_a_failure(self):
        self.processor.document = {"processor": {"counters": {}}, "version": 2}
        self.processor.document["processor"]["counters"]["messages_received"] = 0
        self.assertIn("version 2", self.run_it(self.path, "--once", code=1).stderr)

    def test_a_description_without_slots(self):
        for name in ("slots", "parked", "settling"):
            del self.processor.document["processor"][name]
        self.processor.document["processor"]["state"] = "created"
        del self.processor.document["metrics"]
        shown = self.run_it(self.path, "--once").stdout
        self.assertIn("slots: not told", shown)
        self.assertIn("created", shown)

    def test_bad_options(self):
        for interval in ("0", "0.09", "3601", "x", "-1"):
            said = self.run_it(self.path, f"--interval={interval}", code=2).stderr
            self.assertIn("is not 0.1 to 3600 seconds", said)


class LiveScreen(OnProcessor):
    def test_pages_keys_and_quitting(self):
        screen = self.screen()
        screen.shows("orders, invoices", "degraded", "workers_busy", " Overview ", "q quit")
        screen.shows("messages_received")
        screen.wait_until(lambda text: "received -" not in text, "a rate")
        screen.type("\t")
        shown = screen.shows("ada", "parked-one", "日本", "b?[2J?en", "waits for")
        self.assertLessEqual(max(map(len, shown.split("\n"))), 80)
        screen.type("\t")
        screen.shows("handler time", "roll latency", "<= 1.95ms")
        screen.type("\x1b[Z")  # shift-tab
        screen.shows("parked-one")
        screen.type("q")
        self.assertEqual(screen.ends(), 0)
        self.assertTrue(screen.is_restored())

    def test_sorting_and_filtering(self):
        def ids(text):
            return [line.split(" ")[0] for line in text.split("\n")[3:9]]

        screen = self.screen()
        screen.shows("workers_busy")
        screen.type("\ts")
        ascending = ["-", "ada", "b?[2J?en", "cid", "parked-one", "日本"]
        screen.wait_until(lambda text: ids(text) == ascending, "upwards")
        screen.shows("by session (up)")
        screen.type("r")
        screen.wait_until(lambda text: ids(text) == ascending[::-1], "downwards")
        screen.shows("by session (down)")
        screen.type("/PARK")
        screen.shows("show rows with: PARK")
        screen.shows_no("ada")
        screen.type("\x7f\x7f\x7f\x7fq")
        screen.shows("no row contains 'q'")
        screen.type("\x1b")
        screen.shows("ada", "by session (down)")
        screen.type("q")
        self.assertEqual(screen.ends(), 0)

    def test_pause_and_help(self):
        screen = self.screen()
        screen.shows("messages_received")
        screen.type("p")
        before = self.page_behind_help(screen)
        self.assertIn("PAUSED", before)
        self.processor.wait_for_questions(3)  # looks that the screen does not show
        self.assertEqual(self.page_behind_help(screen), before)
        screen.type(" ")
        screen.shows_no("PAUSED")
        screen.type("q")
        self.assertEqual(screen.ends(), 0)

    def page_behind_help(self, screen):
        """The whole page: all of it is drawn again, and its end last."""
        screen.type("h")
        screen.shows("show only rows that contain a text")
        screen.shows_no("messages_received", "q quit  at ")
        screen.type("x")
        return screen.shows("messages_received", "q quit  at ")

    def test_a_processor_that_goes_away_and_comes_back(self):
        screen = self.screen()
        screen.shows("workers_busy")
        self.processor.go_away()
        screen.shows("no answer for ", "No such file or directory", "workers_busy")
        self.processor.answer()
        screen.shows_no("no answer")
        screen.type("q")
        self.assertEqual(screen.ends(), 0)

    def test_it_waits_for_a_processor(self):
        self.processor.go_away()
        screen = self.screen()
        screen.shows("no answer for ", "looking at " + self.path[:20])
        self.processor.answer()
        screen.shows("workers_busy")
        screen.type("q")
        self.assertEqual(screen.ends(), 0)

    def test_a_silent_processor_does_not_hold_keys_up(self):
        self.processor.go_away()
        with socket.socket(socket.AF_UNIX) as silent:
            silent.bind(self.path)
            silent.listen()
            screen = self.screen()
            screen.shows("looking at")
            peer, _ = silent.accept()
            screen.type("h")
            screen.shows("the next page")
            screen.type("q")
            self.assertEqual(screen.ends(), 0)
            peer.close()
        os.unlink(self.path)
        self.processor.answer()

    def test_sizes(self):
        screen = self.screen(columns=120, rows=40)
        screen.shows("longest_ready_wait", "q quit")
        screen.resize(80, 24)
        screen.wait_until(lambda text: "q quit" in text.split("\n")[23], "80x24")
        for columns, rows in ((20, 5), (5, 2), (1, 1)):
            screen.resize(columns, rows)
            screen.wait_until(lambda text: text[:1] in ("o", "~"), (columns, rows))
        screen.resize(200, 60)
        screen.wait_until(lambda text: "q quit" in text.split("\n")[59], "200x60")
        screen.type("q")
        self.assertEqual(screen.ends(), 0)

    def test_signals_restore_the_terminal(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            screen = self.screen()
            screen.shows("workers_busy")
            screen.process.send_signal(number)
            self.assertEqual(screen.ends(), 0)
            self.assertTrue(screen.is_restored())

    def test_it_stops_and_goes_on(self):
        screen = self.screen()
        screen.shows("workers_busy")
        screen.type("\x1a")
        _, status = os.waitpid(screen.process.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        screen.shows_no("workers_busy")
        self.assertTrue(screen.is_restored())
        screen.process.send_signal(signal.SIGCONT)
        screen.shows("workers_busy")
        screen.type("\t")
        screen.shows("parked-one")
        screen.type("q")
        self.assertEqual(screen.ends(), 0)

    def test_a_terminal_without_utf8(self):
        screen = self.screen(LC_ALL="C")
        screen.shows("workers_busy")
        screen.type("\t")
        screen.shows("b?[2J?en", "??")
        screen.type("q")
        self.assertEqual(screen.ends(), 0)

    def test_an_unknown_terminal_is_named(self):
        screen = self.screen(TERM="nonsuch")
        screen.shows("no terminal 'nonsuch'", "--once or --json")
        self.assertEqual(screen.ends(), 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
