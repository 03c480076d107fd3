# SPDX-License-Identifier: MIT
"""Kills the broker at random instants while messages are sent and consumed, and restarts it. The
oracle then checks that nothing confirmed was lost or came back.

kill_broker.py --sessionqd PROGRAM --load PROGRAM [--topics] [--rounds 3] [--seed N] [--keep]

With --topics, messages are forwarded before they are consumed: from a queue to a topic, and by one
of its subscriptions to another queue. None may be lost on the way, and none may exist twice.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from broker import Broker
from oracle import Oracle, self_test

LONGEST_WAIT = 30.0  # until the load continues after the restart
MOST_UNDER_LOAD = 0.8  # seconds from then to the next kill


WAYS = {
    "Queues": [
        {"Name": "inbox", "Properties": {"ForwardTo": "news"}},
        {"Name": "archive", "Properties": {"RequiresSession": True}},
    ],
    "Topics": [
        {
            "Name": "news",
            "Subscriptions": [
                {"Name": "direct", "Properties": {"RequiresSession": True}},
                {"Name": "onward", "Properties": {"ForwardTo": "archive"}},
            ],
        }
    ],
}


class Load:
    def __init__(self, arguments, broker, role, entity, log):
        command = [
            arguments.load,
            "--connection",
            broker.connection,
            "--entity",
            entity,
            "--log",
            str(log),
            "--sessions",
            "24",
            "--role",
            role,
        ]
        self.role, self.entity, self.log = role, entity, log
        self.process = subprocess.Popen(
            command + ["--rate", "0"], stdout=subprocess.PIPE, text=True
        )
        if not self.process.stdout.readline():
            raise RuntimeError("fault_load did not start")

    def stop(self):
        """Lets it consume the rest, then ends it."""
        self.process.terminate()
        if self.process.wait(60) != 0:
            raise RuntimeError("fault_load failed")


class Progress:
    """Waits until sending, consuming or both continue."""

    def __init__(self, load):
        self.load = load
        self.read_up_to = load.log.stat().st_size if load.log.exists() else 0

    def wait(self):
        wanted, until = (
            {"send": {"S"}, "receive": {"C"}, "both": {"S", "C"}}[self.load.role],
            time.monotonic() + LONGEST_WAIT,
        )
        while wanted:
            if time.monotonic() > until:
                raise RuntimeError(
                    f"no progress at {self.load.entity}: "
                    f"no {' or '.join(sorted(wanted))} within {LONGEST_WAIT:.0f} s"
                )
            time.sleep(0.02)
            with self.load.log.open("rb") as lines:
                lines.seek(self.read_up_to)
                wanted = wanted - {line[:1].decode() for line in lines.read().splitlines()}


def wait_for_progress(loads):
    for progress in [Progress(load) for load in loads]:
        progress.wait()


def start(arguments, directory):
    """Starts a broker and its load."""
    if not arguments.topics:
        broker = Broker(arguments.sessionqd, directory / "data", ["orders:session"])
        roles = [("both", "orders", "log")]
    else:
        config = directory / "config.json"
        config.write_text(
            json.dumps({"UserConfig": {"Namespaces": [{"Name": "sbemulatorns", **WAYS}]}})
        )
        broker = Broker(arguments.sessionqd, directory / "data", config=config)
        roles = [
            ("send", "inbox", "sent"),
            ("receive", "news/Subscriptions/direct", "direct"),
            ("receive", "archive", "archived"),
        ]
    took = broker.start()
    loads = []
    try:
        for role, entity, log in roles:
            loads.append(Load(arguments, broker, role, entity, directory / log))
    except BaseException:
        stop_all(broker, loads)
        raise
    return broker, loads, took


def stop_all(broker, loads):
    for load in loads:
        load.process.kill()
    broker.stop()


def judge(loads):
    """Judges each log of a consumer. Sends are in the same log or in another one."""
    sent = [load.log for load in loads if load.role == "send"]
    violations = []
    for load in loads:
        if load.role == "send":
            continue
        oracle = Oracle()
        for log in [*sent, load.log]:
            with log.open(encoding="utf-8") as lines:
                oracle.read(lines)
        violations += oracle.finish()
        print(
            load.entity
            + ": "
            + ", ".join(f"{name} {count}" for name, count in sorted(oracle.figures.items()))
        )
    return violations


def run(arguments, directory):
    broker, loads, took = start(arguments, directory)
    starts = [took]
    try:
        waits = []
        for number in range(arguments.rounds):
            began = time.monotonic()
            wait_for_progress(loads)
            waits.append(time.monotonic() - began)
            time.sleep(random.uniform(0, MOST_UNDER_LOAD))
            broker.kill()
            starts.append(broker.start())
            print(
                f"round {number + 1}: progress after {waits[-1]:.2f} s, "
                f"broker back after {starts[-1]:.2f} s",
                flush=True,
            )
        wait_for_progress(loads)
        for load in loads:
            load.stop()
        broker.kill()
        broker.start()
        for load in loads:
            if load.role != "send":
                rest = Load(
                    arguments, broker, "receive", load.entity, load.log
                )  # finds messages that should be gone
                time.sleep(1)
                rest.stop()
    finally:
        stop_all(broker, loads)
    violations = judge(loads)
    print("\n".join(violations))
    print(
        f"{arguments.rounds} kills; slowest start {max(starts):.2f} s, "
        f"longest wait for progress {max(waits):.2f} s"
    )
    return not violations


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionqd", required=True)
    parser.add_argument("--load", required=True)
    parser.add_argument(
        "--topics", action="store_true", help="forward messages from entity to entity"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--keep", action="store_true", help="keep the log and the store")
    arguments = parser.parse_args()
    self_test()
    for program in (arguments.sessionqd, arguments.load):
        if not os.access(program, os.X_OK):
            sys.exit(f"no such program: '{program}'")
    random.seed(arguments.seed)
    print(f"seed {arguments.seed}", flush=True)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sessionq-faults-"))
    is_well = False
    try:
        is_well = run(arguments, directory)
    finally:
        if is_well and not arguments.keep:
            shutil.rmtree(directory)
        else:
            print(f"log and store: {directory}")
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
