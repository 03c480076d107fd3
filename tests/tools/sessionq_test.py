#!/usr/bin/env python3
"""sessionq_test.py SESSIONQ SESSIONQD: the command line on a broker of its own, and its errors."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import unittest

sessionq, sessionqd = sys.argv[1:3]


class CommandLine(unittest.TestCase):
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
        namespaces = [{"Name": "test", "Queues": queues}]
        config.write_text(json.dumps({"UserConfig": {"Namespaces": namespaces}}))
        command = [sessionqd, "--listen", "127.0.0.1:0", "--config", str(config)]
        command += ["--queue", "orders:session", "--queue", "plain"]
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

    def run_it(self, *arguments, code=0, given="", connection=None):
        if connection is None:
            connection = self.connection
        done = subprocess.run(
            [sessionq, *arguments],
            input=given,
            capture_output=True,
            text=True,
            timeout=60,
            env=dict(os.environ, SESSIONQ_CONNECTION=connection),
        )
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertNotIn("SAS_KEY_VALUE", done.stdout + done.stderr)
        return done

    def bodies(self, *arguments):
        return [json.loads(line)["body"] for line in self.run_it(*arguments).stdout.splitlines()]

    def test_messages_are_sent_seen_and_received(self):
        self.run_it("send", "orders", "--session", "ada", "one", "two")
        self.run_it("send", "orders", "--session", "ben", given="three\nfour\n")
        self.assertEqual(self.bodies("peek", "orders"), ["one", "two", "three", "four"])
        one_of_ben = ("--session", "ben", "--count", "1")
        self.assertEqual(self.bodies("peek", "orders", *one_of_ben), ["three"])
        self.assertEqual(self.run_it("sessions", "orders").stdout.split(), ["ada", "ben"])
        all_of_ben = ("--session", "ben", "--wait", "100ms")
        self.assertEqual(self.bodies("receive", "orders", *all_of_ben), ["three", "four"])
        self.assertEqual(self.bodies("receive", "orders", "--count", "1"), ["one"])
        self.assertEqual(self.bodies("peek", "orders"), ["two"])
        self.assertEqual(self.bodies("receive", "orders", "--wait", "100ms"), ["two"])
        self.assertIn("no session", self.run_it("receive", "orders", "--wait", "0").stderr)

    def test_messages_without_sessions_are_received(self):
        self.run_it("send", "loose", "nine", "ten")
        self.assertEqual(self.bodies("receive", "loose", "--count", "1"), ["nine"])
        self.assertEqual(self.bodies("receive", "loose", "--wait", "100ms"), ["ten"])
        self.assertEqual(self.bodies("receive", "loose", "--wait", "0"), [])

    def test_dead_letters_are_received(self):
        self.run_it("send", "fleeting", "--session", "ada", "too late")
        dead = "fleeting/$DeadLetterQueue"
        received = self.run_it("receive", dead, "--count", "1", "--wait", "30s").stdout
        self.assertEqual(json.loads(received)["body"], "too late")
        self.assertIn("TTLExpired", json.loads(received)["dead_letter"]["reason"])
        self.assertEqual(self.bodies("receive", dead, "--wait", "0"), [])

    def test_a_terminal_gets_no_control_characters(self):
        session, body = "x\x1b]0;me\x07", "\x9b2J\u202eabc"
        self.run_it("send", "orders", "--session", session, body)
        shown = self.run_it("peek", "orders", "--session", session).stdout
        self.assertEqual(json.loads(shown)["body"], body)
        self.assertTrue(shown.rstrip("\n").isprintable(), shown)
        self.assertIn(session, self.run_it("sessions", "orders").stdout)
        ours, terminal = pty.openpty()
        environment = dict(os.environ, SESSIONQ_CONNECTION=self.connection)
        command = [sessionq, "sessions", "orders"]
        subprocess.run(command, stdout=terminal, timeout=60, check=True, env=environment)
        self.assertIn(b"x?]0;me?", os.read(ours, 4096))
        os.close(ours)
        os.close(terminal)
        self.run_it("receive", "orders", "--session", session, "--count", "1")

    def test_a_mistyped_option_does_not_show_the_secret_behind_it(self):
        said = self.run_it("peek", "orders", "--conection", self.connection, code=2).stderr
        self.assertIn("--conection: no such option", said)

    def test_a_processor_runs_until_it_is_interrupted(self):
        self.run_it("send", "orders", "--session", "cid", "five")
        environment = dict(os.environ, SESSIONQ_CONNECTION=self.connection)
        command = [sessionq, "consume", "orders"]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, env=environment
        ) as consumer:
            self.assertEqual(json.loads(consumer.stdout.readline())["body"], "five")
            consumer.send_signal(signal.SIGINT)
            self.assertEqual(consumer.wait(30), 0)

    def follow(self, *arguments):
        environment = dict(os.environ, SESSIONQ_CONNECTION=self.connection)
        command = [sessionq, "peek", *arguments, "--follow"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)

    def test_a_browser_follows_until_it_is_interrupted(self):
        self.run_it("send", "orders", "--session", "eve", "six")
        of_eve = ("--session", "eve")
        with self.follow("orders", *of_eve) as browser:
            self.assertEqual(json.loads(browser.stdout.readline())["body"], "six")
            for body in ("seven", "eight"):
                self.run_it("send", "orders", "--session", "eve", body)
                self.assertEqual(json.loads(browser.stdout.readline())["body"], body)
            browser.send_signal(signal.SIGINT)
            self.assertEqual(browser.wait(30), 0)
            self.assertEqual(browser.stdout.read(), "")
        received = self.bodies("receive", "orders", *of_eve, "--count", "3")
        self.assertEqual(received, ["six", "seven", "eight"])

    def test_a_browser_follows_until_it_has_shown_enough(self):
        with self.follow("plain", "--count", "2") as browser:
            self.run_it("send", "plain", "nine", "ten", "eleven")
            self.assertEqual(browser.wait(30), 0)
            shown = [json.loads(line)["body"] for line in browser.stdout]
        self.assertEqual(shown, ["nine", "ten"])
        self.assertIn("nowhere", self.run_it("peek", "nowhere", "--follow", code=1).stderr)

    def test_state_is_kept_and_cleared(self):
        self.run_it("state", "orders", "--session", "dot", "--set", "half way")
        self.assertEqual(self.run_it("state", "orders", "--session", "dot").stdout, "half way\n")
        self.run_it("state", "orders", "--session", "dot", "--clear")
        self.assertEqual(self.run_it("state", "orders", "--session", "dot").stdout, "")

    def test_what_is_wrong_is_named(self):
        unset = self.run_it("peek", "orders", connection="", code=2)
        self.assertIn("SESSIONQ_CONNECTION", unset.stderr)
        self.assertIn("--wait", self.run_it("receive", "orders", "--wait", "soon", code=2).stderr)
        self.assertIn("--session", self.run_it("state", "orders", code=2).stderr)
        unknown_key = "Endpoint=sb://h;Colour=red"
        refused = self.run_it("peek", "orders", connection=unknown_key, code=2)
        self.assertIn("Colour", refused.stderr)
        self.assertIn("nowhere", self.run_it("peek", "nowhere", code=1).stderr)
        of_ada = ("--session", "ada")
        self.assertIn("use a Receiver", self.run_it("receive", "plain", *of_ada, code=1).stderr)
        self.assertIn("ENTITY", self.run_it("peek", "--help").stdout.upper())


unittest.main(argv=sys.argv[:1])
