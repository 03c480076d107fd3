#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionq_receiving_test.py SESSIONQ SESSIONQD: receive, defer, purge and counts. What cannot be
written stays at the broker."""

import json
import os
import signal
import subprocess

from on_daemon import OnDaemon, main, sessionq


class Receiving(OnDaemon):
    def send(self, session, *bodies):
        self.run_it("send", "orders", "--session", session, *bodies)

    def peeked(self, session):
        shown = self.records("peek", "orders", "--session", session)
        return [(record["body"], record["delivery_count"]) for record in shown]

    def test_messages_are_set_aside_and_received_by_number(self):
        self.send("d", "one", "two", "three")
        deferred = self.records("defer", "orders", "--session", "d", "--count", "2")
        self.assertEqual([record["body"] for record in deferred], ["one", "two"])
        one, two = (str(record["sequence_number"]) for record in deferred)
        (single,) = self.records("defer", "orders", "--session", "d")  # one, if nothing is said
        self.assertEqual(single["body"], "three")
        states = [m.get("state") for m in self.records("peek", "orders", "--session", "d")]
        self.assertEqual(states, ["deferred"] * 3)
        by_number = ("receive", "orders", "--session", "d", "--deferred")
        self.assertEqual(self.bodies(*by_number, two, "--deferred", one), ["two", "one"])
        self.assertIn("no such message", self.run_it(*by_number, one, code=1).stderr)
        self.assertEqual(self.bodies(*by_number, str(single["sequence_number"])), ["three"])

    def test_a_message_is_settled_as_asked(self):
        self.send("s", "one", "two")
        of_s = ("receive", "orders", "--session", "s", "--wait", "300ms")
        self.assertEqual(self.bodies(*of_s, "--settle", "release"), ["one", "two"])
        self.assertEqual(self.peeked("s"), [("one", 0), ("two", 0)])
        self.assertEqual(self.bodies(*of_s, "--settle", "abandon"), ["one", "two"])
        self.assertEqual(self.peeked("s"), [("one", 1), ("two", 1)])
        dead = ("--settle", "dead-letter", "--reason", "Bad\x07", "--description", "very")
        self.assertEqual(self.bodies(*of_s, *dead), ["one", "two"])
        self.assertEqual(self.peeked("s"), [])
        letters = self.records("peek", "orders/$DeadLetterQueue", "--session", "s")
        self.assertEqual([letter["body"] for letter in letters], ["one", "two"])
        expected = {"reason": "Bad\x07", "description": "very"}
        self.assertEqual(letters[0]["dead_letter"], expected)

    def test_a_reader_that_goes_away_costs_no_message(self):
        self.send("p", "one", "two")
        for command in (
            ["receive", "orders", "--session", "p"],
            ["consume", "orders"],
        ):
            reader, writer = os.pipe()
            os.close(reader)
            done = subprocess.run(
                [sessionq, *command],
                stdout=writer,
                stderr=subprocess.PIPE,
                timeout=100,
                env=self.environment(),
            )
            os.close(writer)
            self.assertEqual(done.returncode, -signal.SIGPIPE, done.stderr)
            self.assertEqual(done.stderr, b"")
            self.assertEqual(self.peeked("p"), [("one", 0), ("two", 0)])
        self.assertEqual(
            self.bodies("receive", "orders", "--session", "p", "--count", "2"), ["one", "two"]
        )

    def test_a_full_disk_costs_no_message(self):
        self.send("f", "one")
        with open("/dev/full", "wb", buffering=0) as full:
            for command in (("receive", "orders", "--session", "f"), ("consume", "orders")):
                done = self.run_it(*command, stdout=full, code=1)
                self.assertIn("cannot write standard output: No space left", done.stderr)
                self.assertEqual(self.peeked("f"), [("one", 0)])
        self.bodies("receive", "orders", "--session", "f", "--count", "1")

    def test_purge_removes_one_session_or_all(self):
        for session in ("p1", "p2", "p3"):
            self.send(session, *(str(i) for i in range(30)))
        self.assertIn("--yes", self.run_it("purge", "orders", code=2).stderr)
        self.assertEqual(len(self.peeked("p2")), 30)
        quick = ("--yes", "--json")
        for before in ("1h", "2020-01-31T12:00:00Z"):
            old = self.run_it("purge", "orders", "--before", before, *quick)
            self.assertEqual(json.loads(old.stdout), {"removed": 0})
        done = self.run_it("purge", "orders", "--session", "p2", *quick)
        self.assertEqual(json.loads(done.stdout), {"removed": 30})
        self.assertEqual(self.peeked("p2"), [])
        (late,) = self.run_it(
            "schedule", "orders", "--session", "p1", "--delay", "1h", "late"
        ).stdout.split()
        done = self.run_it("purge", "orders", *quick)
        self.assertGreaterEqual(json.loads(done.stdout)["removed"], 60)
        self.assertIn("messages are left: ", done.stderr)
        self.assertEqual([body for body, _ in self.peeked("p1")], ["late"])
        self.run_it("cancel", "orders", late)
        self.assertNotIn("left", self.run_it("purge", "orders", *quick).stderr)

    def test_an_entity_without_sessions_is_received_from_and_purged(self):
        self.run_it("send", "loose", "one", "two", "three")
        quick = ("--wait", "300ms")
        (one,) = self.records("defer", "loose")
        self.assertEqual(one["body"], "one")
        released = self.bodies("receive", "loose", *quick, "--settle", "release")
        self.assertEqual(released, ["two", "three"])
        by_number = ("receive", "loose", "--deferred", str(one["sequence_number"]))
        self.assertEqual(self.bodies(*by_number), ["one"])
        dead = ("--count", "1", "--settle", "dead-letter", "--reason", "Bad")
        self.assertEqual(self.bodies("receive", "loose", *dead), ["two"])
        for entity in ("loose", "loose/$DeadLetterQueue"):
            done = self.run_it("purge", entity, "--yes", "--json")
            self.assertEqual(json.loads(done.stdout), {"removed": 1})
            self.assertEqual(self.records("peek", entity), [])

    def test_dead_letters_are_listed_shown_and_removed(self):
        for session, reason in (("l1", "Bad"), ("l1", "Worse"), ("l2", "Bad")):
            self.send(session, f"body of {session}")
            dead = ("--count", "1", "--settle", "dead-letter", "--reason", reason)
            self.run_it("receive", "orders", "--session", session, *dead)
        listed = ("dead-letters", "list", "orders", "--session")
        one, two = self.records(*listed, "l1")
        reasons = [letter["dead_letter"]["reason"] for letter in (one, two)]
        self.assertEqual(reasons, ["Bad", "Worse"])
        self.assertNotIn("body", one)
        self.assertEqual(self.records(*listed, "l1", "--reason", "Worse"), [two])
        self.assertEqual(self.records(*listed, "l1", "--count", "1"), [one])
        self.assertEqual(self.records(*listed, "l1", "--older-than", "1h"), [])
        number = str(two["sequence_number"])
        (shown,) = self.records("dead-letters", "show", "orders", number)
        self.assertEqual((shown["body"], shown["dead_letter"]["reason"]), ("body of l1", "Worse"))
        gone = self.run_it("dead-letters", "show", "orders", "999999", code=1).stderr
        self.assertIn("has no message 999999", gone)
        purge = ("dead-letters", "purge", "orders", "--session", "l1", "--reason", "Bad")
        self.assertIn("--yes", self.run_it(*purge, code=2).stderr)
        done = self.run_it(*purge, "--yes", "--json")
        self.assertEqual(json.loads(done.stdout), {"removed": 1})
        self.assertEqual(self.records(*listed, "l1"), [two])  # its deliveries are as before
        self.assertEqual(len(self.records(*listed, "l2")), 1)
        all_letters = len(self.records("dead-letters", "list", "orders"))
        done = self.run_it("dead-letters", "purge", "orders", "--yes", "--json")
        self.assertEqual(json.loads(done.stdout), {"removed": all_letters})
        self.assertEqual(self.records("dead-letters", "list", "orders"), [])
        nowhere = self.run_it("dead-letters", "list", "nowhere", code=1).stderr
        self.assertIn("nowhere", nowhere)

    def test_dead_letters_are_sent_back(self):
        for body in ("one", "two", "three"):
            self.send("r", body)
        reasons = {"one": "Bad", "two": "Worse", "three": "Bad"}
        for reason in reasons.values():
            dead = ("--count", "1", "--settle", "dead-letter", "--reason", reason)
            self.run_it("receive", "orders", "--session", "r", *dead)
        self.send("r", "newer")
        redrive = ("dead-letters", "redrive", "orders", "--session", "r")
        counted = self.run_it(*redrive, "--dry-run", "--limit", "2", "--json")
        self.assertEqual(json.loads(counted.stdout), {"selected": 2})
        self.assertIn("3 would be sent", self.run_it(*redrive, "--dry-run").stderr)
        done = self.run_it(*redrive, "--reason", "Bad", "--json")
        expected = {"selected": 2, "sent": 2, "already_sent": 0, "left": 0}
        self.assertEqual(json.loads(done.stdout), expected | {"sessions": 1, "busy_sessions": 0})
        self.assertEqual(done.stderr, "")  # the progress is for terminals
        self.assertEqual([body for body, _ in self.peeked("r")], ["newer", "one", "three"])
        self.assertEqual(self.run_it(*redrive).stderr, "1 sent\n")
        self.assertEqual(self.records("dead-letters", "list", "orders", "--session", "r"), [])
        copy = self.records("peek", "orders", "--session", "r")[-1]
        self.assertEqual(copy["properties"]["sessionq-redrive-source"], "orders/$deadletterqueue")
        nowhere = self.run_it("dead-letters", "redrive", "nowhere", code=1).stderr
        self.assertIn("nowhere", nowhere)
        self.assertNotIn("sent", nowhere)  # nothing was selected
        topic = self.run_it("dead-letters", "redrive", "t/subscriptions/s", code=2).stderr
        self.assertIn("--through-topic is not given", topic)

    def test_counts_are_those_of_the_entity(self):
        def counts(entity):
            return json.loads(self.run_it("counts", entity, "--json").stdout)

        empty = {"active": 0, "deferred": 0, "scheduled": 0, "dead_letters": 0, "sessions": 0}
        self.assertEqual(counts("copies"), empty)
        self.run_it("send", "copies", "--session", "a", "1", "2", "3", "4")
        self.run_it("send", "copies", "--session", "b", "1")
        self.run_it("schedule", "copies", "--session", "b", "--delay", "1h", "later")
        self.run_it("defer", "copies", "--session", "a")
        dead = ("--count", "1", "--settle", "dead-letter")
        self.run_it("receive", "copies", "--session", "a", *dead)
        full = {"active": 3, "deferred": 1, "scheduled": 1, "dead_letters": 1, "sessions": 2}
        self.assertEqual(counts("copies"), full)
        rows = dict(row.split() for row in self.run_it("counts", "copies").stdout.splitlines())
        self.assertEqual(rows, {name: str(count) for name, count in full.items()})
        self.assertEqual(counts("copies/$DeadLetterQueue")["active"], 1)

    def test_a_queue_without_sessions_is_counted_too(self):
        self.run_it("send", "plain", "one")
        table = self.run_it("counts", "plain").stdout
        self.assertIn(f"{'active':15}1\n", table)
        self.assertIn(f"{'sessions':15}0\n", table)
        self.assertIn("nowhere", self.run_it("counts", "nowhere", code=1).stderr)

    def test_a_topic_shows_scheduled_messages_alone_and_the_reason_is_told(self):
        for command in ("peek", "sessions"):
            error = self.run_it(command, "news", code=1).stderr
            self.assertIn("receive from its subscriptions", error)
        self.run_it("schedule", "news", "--session", "ada", "--delay", "1h", "later")
        (shown,) = self.records("peek", "news")
        self.assertEqual(("later", "scheduled"), (shown["body"], shown["state"]))
        (counts,) = self.records("counts", "news", "--json")
        self.assertEqual((0, 1, None), tuple(
            counts[name] for name in ("active", "scheduled", "dead_letters")
        ))
        for command in (("watch", "--once", "news"), ("dead-letters", "list", "news")):
            error = self.run_it(*command, code=1).stderr
            self.assertIn("no such entity: 'news/$DeadLetterQueue'", error)
            self.assertNotIn("token", error)

    def test_sessions_are_json_whatever_their_ids(self):
        self.send("x\x1b\u202ey", "one")
        found = self.records("sessions", "orders", "--json")
        self.assertIn({"session": "x\x1b\u202ey"}, found)
        self.bodies("receive", "orders", "--session", "x\x1b\u202ey", "--count", "1")


main()
