# SPDX-License-Identifier: MIT
"""Attacks sessionqd with what costs the attacker little, one attack after another, each at a broker
of its own with at most 1.5 GB of address space. An honest client works beside. A refusal by name
and a cut of the attacker are defences. What counts as a fault is in Fault.

costly_campaign.py --sessionqd PROGRAM [--sessionq PROGRAM] [--only NAME ...] [--list]
                   [--memory-bound MIB] [--expect-faults]
"""

import argparse
import enum
import multiprocessing
import os
import pathlib
import shutil
import sys
import tempfile
import time
from queue import Empty

from aftermath import Tool, examine
from costly_attacks import ATTACKS
from honest_client import OWN_QUEUE, HonestClient
from raw_amqp import Cut
from watched_broker import MEBIBYTE, Watch, WatchedBroker, queue
from wire_client import Closed

ALONE_SECONDS = 1.5
AFTER_SECONDS = 0.5
LONGEST_ATTACK = 60.0


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


def perform(attack, port, number, said):
    """In a process of its own, as fast as it can: the client's measure leaves out what it takes of
    this machine."""
    try:
        said.put((True, attack.attack(port, number)))
    except (Closed, Cut, OSError, TimeoutError) as cut:
        said.put((True, f"cut: {cut!r}"))
    except Exception as error:  # a mistake of the attack, which would hide the broker's
        said.put((False, repr(error)))


def be_genuine(attack, port, wrong):
    wrong.put(attack.genuine(port))


class Processes:
    """Of an attack, and of the genuine clients beside it."""

    def __init__(self, attack, port):
        self.said, self.wrong = multiprocessing.Queue(), multiprocessing.Queue()
        self.attackers = [
            multiprocessing.Process(target=perform, args=(attack, port, number, self.said))
            for number in range(attack.processes)
        ]
        self.genuine = multiprocessing.Process(target=be_genuine, args=(attack, port, self.wrong))

    def run(self):
        """Returns whether the attack was performed, what it said, and what genuine clients did."""
        until = time.monotonic() + LONGEST_ATTACK
        for process in (*self.attackers, self.genuine):
            process.start()
        said = [self.take(self.said, until, (True, "not over")) for _ in self.attackers]
        wrong = self.take(self.wrong, until + 30, ["the genuine clients hang"])
        for process in (*self.attackers, self.genuine):
            process.kill()
            process.join()
        return all(one for one, _ in said), "; ".join(str(one) for _, one in said), wrong

    @staticmethod
    def take(answers, until, otherwise):
        try:
            return answers.get(timeout=max(0.1, until - time.monotonic()))
        except Empty:
            return otherwise


class Trial:
    """One attack on one broker."""

    def __init__(self, arguments, attack, directory):
        self.attack = attack
        self.arguments = arguments
        entities = {kind: list(each) for kind, each in attack.entities.items()}
        entities.setdefault("Queues", [])
        entities["Queues"] += [queue(OWN_QUEUE)]
        if "plain" not in [each["Name"] for each in entities["Queues"]]:
            entities["Queues"].append(queue("plain"))
        self.broker = WatchedBroker(
            arguments.sessionqd, directory, entities, attack.queue_mebibytes, attack.options
        )
        self.faults = {}
        self.said = ""

    def run(self):
        attack, broker = self.attack, self.broker
        with Watch(broker) as watch:
            attack.prepare(broker.port)
            began = broker.memory()
            with HonestClient(broker) as honest:
                time.sleep(ALONE_SECONDS)
                honest.begin()
                performed, self.said, genuine = Processes(attack, broker.port).run()
                time.sleep(AFTER_SECONDS)
            if broker.is_alive():
                tool = Tool(self.arguments.sessionq, broker.connection)
                self.note(Fault.LEFT, examine(broker.port, tool, attack.attacked))
        self.note(Fault.ATTACK, [] if performed else [self.said])
        self.note(Fault.GENUINE, genuine)
        self.note(Fault.HONEST, [honest.wrong] if honest.wrong else [])
        self.judge(watch, honest, began)

    def judge(self, watch, honest, began):
        bound = (self.arguments.memory_bound or 0) * MEBIBYTE or self.broker.memory_bound
        print(
            f"{began / MEBIBYTE:.0f} to {watch.memory / MEBIBYTE:.0f} MiB, {watch.files} files, "
            f"{honest.describe()}; {self.said}",
            flush=True,
        )
        if not self.broker.is_alive():
            self.note(Fault.DIED, [f"with {self.broker.process.returncode}"])
        if watch.memory > bound:
            self.note(Fault.MEMORY, [f"{watch.memory >> 20} MiB, {bound >> 20} at most"])
        if self.attack.most_files and watch.files > self.attack.most_files:
            self.note(Fault.FILES, [f"{watch.files}, {self.attack.most_files} at most"])
        if self.broker.stored_bytes() > self.broker.memory_bound:
            self.note(Fault.STORE, [f"{self.broker.stored_bytes() >> 20} MiB"])
        if honest.is_slowed_down():
            self.note(Fault.WAIT, [honest.describe()])
        log = self.broker.log.read_text(errors="replace")
        self.note(Fault.RULE, self.attack.inspect(self.broker.port, self.said, log))

    def note(self, fault, details):
        if details:
            self.faults[fault] = details


def attempt(arguments, name):
    """Returns the faults of an attack. The directory stays if there are any."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sessionq-costly-"))
    trial = Trial(arguments, ATTACKS[name], directory)
    print(f"{name:<20} ", end="", flush=True)
    try:
        trial.run()
    finally:
        trial.broker.stop()
    for fault, details in trial.faults.items():
        more = f" (and {len(details) - 1} more)" if len(details) > 1 else ""
        print(f"  <-- {fault.value}: {details[0]}{more}", flush=True)
    if not trial.faults:
        shutil.rmtree(directory, ignore_errors=True)
    return set(trial.faults)


def faults_of(arguments, name):
    """A wait counts if it is seen twice: the machine has a say in it."""
    faults = attempt(arguments, name)
    if faults == {Fault.WAIT}:
        faults = attempt(arguments, name)
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionqd", required=True)
    parser.add_argument("--sessionq", help="default: beside sessionqd")
    parser.add_argument("--only", nargs="+", choices=list(ATTACKS), default=list(ATTACKS))
    parser.add_argument("--memory-bound", type=int, help="MiB in place of what is allowed")
    parser.add_argument(
        "--expect-faults", action="store_true", help="fail if an attack finds no fault"
    )
    arguments = parser.parse_args()
    arguments.sessionq = arguments.sessionq or str(
        pathlib.Path(arguments.sessionqd).with_name("sessionq")
    )
    for program in (arguments.sessionqd, arguments.sessionq):
        if not os.access(program, os.X_OK):
            sys.exit(f"no such program: '{program}'")
    faulty = [name for name in arguments.only if faults_of(arguments, name)]
    sound = [name for name in arguments.only if name not in faulty]
    print(f"{len(faulty)} of {len(arguments.only)} attacks find a fault: {', '.join(faulty)}")
    if arguments.expect_faults:
        sys.exit(f"no fault: {', '.join(sound)}" if sound else 0)
    sys.exit(1 if faulty else 0)


if __name__ == "__main__":
    main()
