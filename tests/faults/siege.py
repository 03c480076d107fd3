# SPDX-License-Identifier: MIT
"""One attack on one broker: an honest client works beside, what the broker takes is watched, and
what the attack leaves is examined. A refusal by name and a cut of the attacker are defences. What
counts as a fault is in Fault."""

import argparse
import enum
import os
import pathlib
import sys
import time

from aftermath import Tool, examine
from honest_client import HonestClient
from watched_broker import BESIDE_QUEUES, MEBIBYTE, Watch

ALONE_SECONDS = 1.5
AFTER_SECONDS = 0.5
MOST_FILES = 6000


class Fault(enum.Enum):
    DIED = "the broker died"
    MEMORY = "too much memory"
    FILES = "too many open files"
    STORE = "the store is too large"
    WAIT = "the honest client was slowed down"
    HONEST = "the honest client was served wrong"
    GENUINE = "genuine clients failed"
    LEFT = "what is left cannot be read or removed"
    RULE = "a rule of this attack is broken"
    ATTACK = "the attack could not be performed"


class Bounds:
    """`filled`: how many queues and topics an attack can fill."""

    def __init__(self, broker, filled=1, memory_mebibytes=None, files=MOST_FILES):
        allowed = broker.queue_mebibytes * filled + BESIDE_QUEUES
        self.memory = (memory_mebibytes or allowed) * MEBIBYTE
        self.store = allowed * MEBIBYTE
        self.files = files


def siege_parser():
    """With the options that all campaigns of sieges have."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionqd", required=True)
    parser.add_argument("--sessionq", help="default: beside sessionqd")
    parser.add_argument("--memory-bound", type=int, help="MiB in place of what is allowed")
    parser.add_argument(
        "--tell-waits",
        action="store_true",
        help="only tell what others wait; for machines that do other work",
    )
    return parser


def parse_siege(parser):
    arguments = parser.parse_args()
    arguments.sessionq = arguments.sessionq or str(
        pathlib.Path(arguments.sessionqd).with_name("sessionq")
    )
    for program in (arguments.sessionqd, arguments.sessionq):
        if not os.access(program, os.X_OK):
            sys.exit(f"no such program: '{program}'")
    return arguments


class Siege:
    def __init__(self, broker, sessionq, attacked, bounds):
        self.broker, self.attacked, self.bounds = broker, attacked, bounds
        self.tool = Tool(sessionq, broker.connection)
        self.faults = {}  # with details

    def run(self, attack):
        """Calls `attack`, which returns when the attack is over. Returns figures as text."""
        began = self.broker.memory()
        with Watch(self.broker) as watch:
            with HonestClient(self.broker) as honest:
                time.sleep(ALONE_SECONDS)
                honest.begin()
                attack()
                time.sleep(AFTER_SECONDS)
            if self.broker.is_alive():
                self.note(Fault.LEFT, *examine(self.broker.port, self.tool, self.attacked))
        self.judge(watch, honest)
        return (
            f"{began / MEBIBYTE:.0f} to {watch.memory / MEBIBYTE:.0f} MiB, {watch.files} files, "
            f"{honest.describe()}"
        )

    def judge(self, watch, honest):
        bounds, store = self.bounds, self.broker.stored_bytes()
        if honest.wrong:
            self.note(Fault.HONEST, honest.wrong)
        if not self.broker.is_alive():
            self.note(Fault.DIED, f"with {self.broker.process.returncode}")
        if watch.memory > bounds.memory:
            self.note(Fault.MEMORY, f"{watch.memory >> 20} MiB, {bounds.memory >> 20} at most")
        if watch.files > bounds.files:
            self.note(Fault.FILES, f"{watch.files}, {bounds.files} at most")
        if store > bounds.store:
            self.note(Fault.STORE, f"{store >> 20} MiB")
        if honest.is_slowed_down():
            self.note(Fault.WAIT, honest.describe())

    def note(self, fault, *details):
        if details:
            self.faults.setdefault(fault, []).extend(details)

    def print_faults(self):
        for fault, details in self.faults.items():
            more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
            print(f"  <-- {fault.value}: {details[0]}{more}", flush=True)
