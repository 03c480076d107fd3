#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionq_test.py SESSIONQ SESSIONQD: the command line on a broker of its own, and its errors."""

import json
import os
import pty
import signal
import socket
import subprocess

from on_daemon import OnDaemon, main, sessionq


class CommandLine(OnDaemon):
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
        self.assertIn("x?]0;me?\n", self.run_it("sessions", "orders").stdout)
        listed = self.run_it("sessions", "orders", "--json").stdout
        self.assertIn({"session": session}, [json.loads(line) for line in listed.splitlines()])
        self.assertTrue(listed.replace("\n", "").isprintable(), listed)
        self.run_it("state", "set", "orders", "--session", session, body)
        ours, terminal = pty.openpty()
        command = [sessionq, "state", "get", "orders", "--session", session]
        environment = self.environment()
        subprocess.run(command, stdout=terminal, timeout=60, check=True, env=environment)
        self.assertIn(b"?2J?abc", os.read(ours, 4096))
        os.close(ours)
        os.close(terminal)
        self.run_it("state", "clear", "orders", "--session", session)
        self.run_it("receive", "orders", "--session", session, "--count", "1")

    def test_a_mistyped_option_does_not_show_the_secret_behind_it(self):
        said = self.run_it("peek", "orders", "--conection", self.connection, code=2).stderr
        self.assertIn("--conection: no such option; did you mean '--connection'?", said)

    def test_a_mistyped_command_is_named(self):
        said = self.run_it("recieve", "orders", code=2).stderr
        self.assertIn("unknown command 'recieve'; did you mean 'receive'?", said)

    def test_the_connection_stands_anywhere_on_the_line(self):
        given = ("--connection", self.connection)
        for line in (
            (*given, "sessions", "orders"),
            ("sessions", *given, "orders"),
            ("sessions", "orders", *given),
        ):
            self.run_it(*line, connection="")

    def test_a_broker_that_is_not_there_is_a_failure(self):
        with socket.socket() as unused:  # bound, and nobody listens
            unused.bind(("127.0.0.1", 0))
            connection = f"amqp://127.0.0.1:{unused.getsockname()[1]}?dialect=artemis"
            for line in (
                ("send", "orders", "body"),
                ("schedule", "orders", "--delay", "1s", "body"),
                ("cancel", "orders", "1"),
                ("receive", "orders"),
                ("defer", "orders"),
                ("consume", "orders"),
                ("peek", "orders"),
                ("sessions", "orders"),
                ("counts", "orders"),
                ("purge", "orders", "--yes"),
                ("state", "get", "orders", "--session", "a"),
                ("state", "set", "orders", "--session", "a", "text"),
                ("state", "clear", "orders", "--session", "a"),
            ):
                with self.subTest(line):
                    done = self.run_it(*line, code=1, connection=connection)
                    self.assertIn("127.0.0.1", done.stderr)
                    self.assertEqual(done.stdout, "")

    def test_a_processor_runs_until_it_is_interrupted(self):
        self.run_it("send", "orders", "--session", "cid", "five")
        self.assert_consumed("orders", "five")

    def test_a_processor_of_an_entity_without_sessions(self):
        self.run_it("send", "loose", "six", "seven")
        self.run_it("receive", "loose", "--count", "1", "--settle", "dead-letter")
        self.assert_consumed("loose", "seven")
        self.assert_consumed("loose/$DeadLetterQueue", "six")

    def assert_consumed(self, entity, body):
        environment = self.environment()
        command = [sessionq, "consume", entity]
        with subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        ) as consumer:
            self.assertEqual(json.loads(consumer.stdout.readline())["body"], body)
            consumer.send_signal(signal.SIGINT)
            self.assertEqual(consumer.wait(30), 0)
            self.assertEqual(consumer.stderr.read(), "")

    def follow(self, *arguments):
        environment = self.environment()
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
        dot = ("orders", "--session", "dot")
        self.run_it("state", "set", *dot, "[half, way]")
        self.assertEqual(self.run_it("state", "get", *dot).stdout, "[half, way]\n")
        self.assertEqual(
            self.records("state", "get", *dot, "--json"),
            [{"session": "dot", "state": "[half, way]"}],
        )
        self.run_it("state", "set", *dot, given=b"a\0b\xff")
        self.assertEqual(self.run_it("state", "get", *dot).raw, b"a\0b\xff\n")
        self.assertEqual(
            self.records("state", "get", *dot, "--json"),
            [{"session": "dot", "state_base64": "YQBi/w=="}],
        )
        self.run_it("state", "clear", *dot)
        self.assertEqual(self.run_it("state", "get", *dot).stdout, "")
        self.assertEqual(
            self.records("state", "get", *dot, "--json"), [{"session": "dot", "state": None}]
        )

    def test_what_is_wrong_is_named(self):
        unset = self.run_it("peek", "orders", connection="", code=2)
        self.assertIn("SESSIONQ_CONNECTION", unset.stderr)
        self.assertIn("--wait", self.run_it("receive", "orders", "--wait", "soon", code=2).stderr)
        self.assertIn("--session", self.run_it("state", "get", "orders", code=2).stderr)
        unknown_key = "Endpoint=sb://h;Colour=red"
        refused = self.run_it("peek", "orders", connection=unknown_key, code=2)
        self.assertIn("Colour", refused.stderr)
        self.assertIn("nowhere", self.run_it("peek", "nowhere", code=1).stderr)
        of_ada = ("--session", "ada")
        refused = self.run_it("receive", "plain", *of_ada, code=1)
        self.assertIn("--session does not apply", refused.stderr)
        refused = self.run_it("state", "get", "plain", *of_ada, code=1)
        self.assertIn("--session does not apply", refused.stderr)
        refused = self.run_it("receive", "orders", "--deferred", "5", code=1)
        self.assertIn("give --session", refused.stderr)
        self.assertIn("ENTITY", self.run_it("peek", "--help").stdout.upper())


main()
