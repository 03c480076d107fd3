# SPDX-License-Identifier: MIT
"""Kills `sessionq dead-letters redrive` at random instants and repeats it, while a consumer takes
what it has sent. The queue detects duplicates. Each dead letter must come back once, those of a
session in order.

kill_redrive.py --sessionqd PROGRAM --sessionq PROGRAM [--rounds 3] [--lock-seconds 5]
                [--seed N]

A round may end without a kill, as a redrive may end first: rounds go on until N had one.
A repeat waits until the locks of the dead letters end that the killed one had. Shorter locks make
rounds shorter. On a busy machine the consumer may lose a short one, which ends the campaign.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from broker import Broker

SESSIONS = 12
PER_SESSION = 12
MOST_KILLS = 3  # of one round
MOST_ROUNDS = 20  # for one with a kill


def queue(lock_seconds):
    properties = {
        "RequiresSession": True,
        "LockDuration": f"PT{lock_seconds}S",
        "RequiresDuplicateDetection": True,
        "DuplicateDetectionHistoryTimeWindow": "PT1H",
    }
    return {"Name": "orders", "Properties": properties}


class Campaign:
    def __init__(self, arguments, broker):
        self.program, self.broker = arguments.sessionq, broker
        self.environment = dict(os.environ, SESSIONQ_CONNECTION=broker.connection)
        self.violations = []
        self.figures = collections.Counter()
        self.shortest_run = None  # seconds of a redrive that was not killed

    def start(self, *arguments):
        return subprocess.Popen(
            [self.program, *arguments, "--json"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self.environment,
        )

    def run(self, *arguments, given=""):
        process = self.start(*arguments)
        out, err = process.communicate(given, timeout=120)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(arguments)}: {err}{out}")
        return [json.loads(line) for line in out.splitlines()]

    def bury(self, number):
        """Sends messages and dead-letters them all. Returns their bodies by session."""
        wanted = {}
        for session in range(SESSIONS):
            name = f"{number}-{session}"
            wanted[name] = [f"{name}-{at}" for at in range(PER_SESSION)]
        lines = [
            json.dumps({"session": name, "body": bodies[at]})
            for at in range(PER_SESSION)
            for name, bodies in wanted.items()
        ]
        self.run("send", "orders", "--input", "json", given="\n".join(lines) + "\n")
        all_of_each = ("--count", str(PER_SESSION), "--wait", "30s")
        dead = self.receive_each(wanted, "--settle", "dead-letter", *all_of_each)
        if dead != wanted:
            raise RuntimeError("not all messages were dead-lettered")
        return wanted

    def receive_each(self, sessions, *arguments):
        """Receives from all sessions at once. Returns the bodies by session."""
        receivers = {
            name: self.start("receive", "orders", "--session", name, *arguments)
            for name in sessions
        }
        came = {}
        for name, receiver in receivers.items():
            out, err = receiver.communicate(timeout=120)
            if receiver.returncode != 0:
                raise RuntimeError(f"receive from {name}: {err}")
            came[name] = [json.loads(line)["body"] for line in out.splitlines()]
        return came

    def redrive(self, kill_after=None):
        """Returns whether it was killed."""
        began = time.monotonic()
        process = self.start("dead-letters", "redrive", "orders", "--wait", "30s")
        killed = False
        if kill_after is not None:
            try:
                process.wait(kill_after)
            except subprocess.TimeoutExpired:
                process.kill()
                killed = True
        out, err = process.communicate(timeout=120)
        if killed:
            self.figures["kills"] += 1
            return True
        if process.returncode != 0:
            raise RuntimeError(f"redrive: {err}{out}")
        report = json.loads(out)
        self.figures["found by their mark"] += report["already_sent"]
        self.figures["runs to the end"] += 1
        took = time.monotonic() - began
        if self.shortest_run is None or took < self.shortest_run:
            self.shortest_run = took  # the first may be slow
        return False

    def consume(self, came, *arguments):
        """Handles what there is. Returns how many messages that were."""
        handled = self.receive_each(came, *arguments)
        for name, bodies in handled.items():
            came[name] += bodies
        return sum(map(len, handled.values()))

    def judge(self, number, wanted, came):
        for name, bodies in wanted.items():
            self.figures["messages"] += len(bodies)
            if came[name] != bodies:
                lost = sorted(set(bodies) - set(came[name]))
                counts = collections.Counter(came[name])
                doubled = [body for body, count in counts.items() if count > 1]
                self.figures["lost"] += len(lost)
                self.figures["doubled"] += len(doubled)
                self.figures["sessions out of order"] += not lost and not doubled
                self.violations.append(
                    f"round {number}, session {name}: lost {lost}, doubled {doubled}, "
                    f"came {came[name]}"
                )
        for command in (("peek", "orders"), ("dead-letters", "list", "orders")):
            if self.run(*command, "--count", "1"):
                self.violations.append(f"round {number}: {' '.join(command)}: messages are left")

    def round(self, number):
        wanted = self.bury(number)
        came = {name: [] for name in wanted}
        if self.shortest_run is not None:  # the first round measures it
            for kills in range(random.randint(1, MOST_KILLS)):
                if not self.redrive(random.uniform(0.0, self.shortest_run)):
                    break
                self.figures["rounds with a kill"] += kills == 0
                left = len(self.run("dead-letters", "list", "orders"))
                self.figures["kills among the dead letters"] += 0 < left < SESSIONS * PER_SESSION
                if random.random() < 0.5:
                    self.figures["handled before a repeat"] += self.consume(
                        came, "--wait", "50ms"
                    )
        self.redrive()
        while any(len(bodies) < PER_SESSION for bodies in came.values()):
            if self.consume(came, "--wait", "1s") == 0:
                break  # lost
        self.judge(number, wanted, came)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionqd", required=True)
    parser.add_argument("--sessionq", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--lock-seconds", type=int, default=5)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    arguments = parser.parse_args()
    random.seed(arguments.seed)
    print(f"seed {arguments.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="sessionq-faults-") as directory:
        config = pathlib.Path(directory, "config.json")
        namespaces = [{"Name": "sbemulatorns", "Queues": [queue(arguments.lock_seconds)]}]
        config.write_text(json.dumps({"UserConfig": {"Namespaces": namespaces}}))
        broker = Broker(arguments.sessionqd, pathlib.Path(directory, "data"), config=config)
        broker.start()
        try:
            campaign = Campaign(arguments, broker)
            for number in range(1 + MOST_ROUNDS * arguments.rounds):
                campaign.round(number)
                print(f"round {number}: {dict(campaign.figures)}", flush=True)
                if campaign.figures["rounds with a kill"] == arguments.rounds:
                    break
            else:
                campaign.violations.append("too few rounds with a kill")
        finally:
            broker.stop()
    print("\n".join(campaign.violations))
    for name in ("kills", "lost", "doubled", "sessions out of order"):
        print(f"{name}: {campaign.figures[name]}")
    sys.exit(1 if campaign.violations else 0)


if __name__ == "__main__":
    main()
