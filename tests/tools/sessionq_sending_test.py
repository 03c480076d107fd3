#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionq_sending_test.py SESSIONQ SESSIONQD: send, schedule and cancel."""

import json
import subprocess
import tempfile
import time

from on_daemon import OnDaemon, main, sessionq


class Sending(OnDaemon):
    def test_options_become_members(self):
        self.run_it(
            *("send", "orders", "--session", "all", "--id", "m-1", "--correlation-id", "c"),
            *("--subject", "s", "--content-type", "text/plain", "--reply-to", "r"),
            *("--reply-to-session", "rs", "--to", "t", "--priority", "7", "--time-to-live", "1h"),
            *("--property", "colour=red", "--property", "n:int=-5", "--property", "yes:bool=true"),
            *("--property", "at:time=2026-01-31T12:00:00Z"),
            "[1,2]",
        )
        (record,) = self.records("peek", "orders", "--session", "all")
        for fact in ("sequence_number", "enqueued", "expires"):
            self.assertTrue(record.pop(fact))
        self.assertEqual(
            record,
            {
                "session": "all",
                "id": "m-1",
                "subject": "s",
                "correlation_id": "c",
                "reply_to": "r",
                "reply_to_session": "rs",
                "to": "t",
                "content_type": "text/plain",
                "delivery_count": 0,
                "time_to_live": "3600s",
                "priority": 7,
                "properties": {
                    "at": {"time": "2026-01-31T12:00:00Z"},
                    "colour": "red",
                    "n": -5,
                    "yes": True,
                },
                "body": "[1,2]",
            },
        )
        again = self.run_it("peek", "orders", "--session", "all").raw
        self.run_it("send", "copies", "--input", "json", given=again)
        (copy,) = self.records("peek", "copies", "--session", "all")
        for fact in ("sequence_number", "enqueued", "expires"):
            self.assertTrue(copy.pop(fact))
        self.assertEqual(copy, record)

    def test_records_come_from_a_file_over_the_options(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write('{"session":"f","body":"one","properties":{"a":1}}\n\n{"body":"two"}\n')
            file.flush()
            more = ("--session", "g", "--property", "b=2", "--json")
            done = self.run_it("send", "orders", "--input", "json", "--file", file.name, *more)
        self.assertEqual(json.loads(done.stdout), {"sent": 2})
        (one,) = self.records("peek", "orders", "--session", "f")
        self.assertEqual((one["body"], one["properties"]), ("one", {"a": 1, "b": "2"}))
        (two,) = self.records("peek", "orders", "--session", "g")
        self.assertEqual((two["body"], two["properties"]), ("two", {"b": "2"}))

    def test_a_wrong_line_is_named_and_its_batch_is_not_sent(self):
        given = '{"session":"w","body":"fine"}\n{"session":"w","bdoy":"wrong"}\n'
        done = self.run_it("send", "orders", "--input", "json", given=given, code=2)
        self.assertIn("line 2: unknown member 'bdoy'; did you mean 'body'?", done.stderr)
        self.assertIn("0 sent", done.stderr)
        self.assertEqual(self.records("peek", "orders", "--session", "w"), [])
        missing = self.run_it("send", "orders", "--file", "/nowhere/at-all", code=2)
        self.assertIn("/nowhere/at-all", missing.stderr)

    def test_bytes_that_are_not_text(self):
        raw = b"a\0b\xff\xfe\x1b[2J\r\n\n\xe2\x80\xae"
        self.run_it("send", "orders", "--session", "raw", "--input", "whole", given=raw)
        self.run_it("send", "orders", "--session", "raw", given=raw)
        shown = self.run_it("peek", "orders", "--session", "raw").raw
        self.assertTrue(shown.decode().replace("\n", "").isprintable())
        records = [json.loads(line) for line in shown.splitlines()]
        self.assertEqual(records[0]["body_base64"], "YQBi//4bWzJKDQoK4oCu")
        self.assertEqual(records[1]["body_base64"], "YQBi//4bWzJKDQ==")
        self.assertEqual([record["body"] for record in records[2:]], ["", "\u202e"])
        again = [("send", "copies", "--input", "json"), ("peek", "copies", "--session", "raw")]
        self.run_it(*again[0], given=shown)
        copies = self.records(*again[1])
        keys = ("body", "body_base64", "id")
        self.assertEqual(
            [[copy.get(key) for key in keys] for copy in copies],
            [[record.get(key) for key in keys] for record in records],
        )

    def test_empty_input_sends_nothing(self):
        for form in ("lines", "json"):
            done = self.run_it("send", "orders", "--input", form, "--json")
            self.assertEqual(json.loads(done.stdout), {"sent": 0})

    def test_lines_of_a_pipe_are_sent_as_they_come(self):
        command = [sessionq, "send", "orders", "--session", "pipe"]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=self.environment()
        ) as sender:
            sender.stdin.write(b"one\ntw")
            sender.stdin.flush()
            follow = [sessionq, "peek", "orders", "--session", "pipe", "--follow", "--count", "2"]
            with subprocess.Popen(
                follow, stdout=subprocess.PIPE, env=self.environment()
            ) as browser:
                self.assertEqual(json.loads(browser.stdout.readline())["body"], "one")
                sender.stdin.write(b"o")
                sender.stdin.close()
                self.assertEqual(json.loads(browser.stdout.readline())["body"], "two")
                self.assertEqual(browser.wait(60), 0)
            self.assertEqual(sender.wait(60), 0)

    def test_a_batch_that_is_too_large_goes_in_parts(self):
        line = "x" * 90_000
        given = (line + "\n") * 30
        done = self.run_it("send", "orders", "--session", "l", given=given)
        self.assertIn("30 sent", done.stderr)
        self.assertEqual(self.bodies("peek", "orders", "--session", "l"), [line] * 30)

    def test_an_id_is_for_one_message(self):
        twice = ("send", "orders", "--session", "i", "--id", "same", "one", "two")
        self.assertIn("--id", self.run_it(*twice, code=2).stderr)
        self.assertEqual(self.records("peek", "orders", "--session", "i"), [])

    def test_the_broker_refuses(self):
        self.assertIn("session", self.run_it("send", "orders", "without", code=1).stderr)
        self.assertIn("nowhere", self.run_it("send", "nowhere", "body", code=1).stderr)

    def test_messages_are_scheduled_and_cancelled(self):
        done = self.run_it("schedule", "orders", "--session", "s", "--delay", "1h", "one", "two")
        numbers = done.stdout.split()
        self.assertEqual(len(numbers), 2)
        self.assertIn("2 scheduled", done.stderr)
        records = self.records("peek", "orders", "--session", "s")
        self.assertEqual([record["state"] for record in records], ["scheduled"] * 2)
        self.assertEqual([str(record["sequence_number"]) for record in records], numbers)
        done = self.run_it("cancel", "orders", *numbers, "--json")
        self.assertEqual(json.loads(done.stdout), {"cancelled": 2})
        self.assertEqual(self.records("peek", "orders", "--session", "s"), [])
        self.assertIn("0 cancelled", self.run_it("cancel", "orders", numbers[0], code=1).stderr)

    def test_records_have_their_own_times(self):
        given = '{"session":"t","scheduled":"2126-01-31T12:00:00Z"}\n{"session":"t","delay":"1h"}\n'
        records = self.records("schedule", "orders", "--input", "json", "--json", given=given)
        self.assertEqual(records[0]["scheduled"], "2126-01-31T12:00:00Z")
        self.assertLess(records[1]["scheduled"], "2126")
        timeless = self.run_it("schedule", "orders", "--session", "t", "x", code=2)
        self.assertIn("--delay", timeless.stderr)
        for record in records:
            self.run_it("cancel", "orders", str(record["sequence_number"]))

    def test_a_delayed_message_becomes_available(self):
        self.run_it("send", "orders", "--session", "d", "--delay", "1s", "later")
        (record,) = self.records("peek", "orders", "--session", "d")
        self.assertEqual(record["state"], "scheduled")
        started = time.monotonic()
        got = self.bodies("receive", "orders", "--session", "d", "--count", "1", "--wait", "60s")
        self.assertEqual(got, ["later"])
        self.assertLess(time.monotonic() - started, 55)


main()
