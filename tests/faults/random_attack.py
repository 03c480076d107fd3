# SPDX-License-Identifier: MIT
"""Attacks sessionqd at random: peers of mixed rights perform operations that a seed determines (see
random_operations.py), and the broker is judged as in siege.py. Afterwards every entity that was
attacked can be read and emptied (R26, R28).

random_attack.py --sessionqd PROGRAM [--seed N] [--seeds COUNT] [--seconds S] [--show COUNT]
                 [--memory-bound MIB] [--tell-waits] [--self-test]

--show prints the first operations of each attacker of a seed, and attacks nobody.
"""

import collections
import itertools
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from queue import Empty

from aftermath import DEAD_LETTERS, Examination, Wrong
from amqp_wire import message
from honest_client import OWN_QUEUE
from random_operations import QUEUES, SUBSCRIPTIONS, TOPICS, Line, operations, perform
from siege import Bounds, Fault, Siege, parse_siege, siege_parser
from watched_broker import LOGINS, WatchedBroker, queue, topic
from wire_client import SEND, Client, Closed

QUEUE_MEBIBYTES = 8
FILLED = len(QUEUES) + len(TOPICS) + 1  # the honest client's queue too
ATTACKERS = ("nobody", "listen", "listen", "send", "both", "both")
LOCK = "PT5S"  # short, so that what attackers hold is examined soon
SUBSCRIPTION = {"MaxDeliveryCount": 10, "LockDuration": LOCK}
ENTITIES = {
    "Queues": [
        OWN_QUEUE,
        queue("plain", LockDuration=LOCK),
        queue("orders", LockDuration=LOCK, RequiresSession=True),
        queue(
            "short", LockDuration=LOCK, MaxDeliveryCount=2, DeadLetteringOnMessageExpiration=True
        ),
    ],
    "Topics": [
        topic("news", [{"Name": name, "Properties": SUBSCRIPTION} for name in "ab"]),
        topic("lots", [{"Name": "s", "Properties": SUBSCRIPTION | {"RequiresSession": True}}]),
    ],
}
MOST_WRONG = 5  # of a reader, until it ends
PATIENCE = 30.0  # seconds beyond its time until an attacker is ended


def sequence(seed, number):
    """The operations of one attacker."""
    return operations(random.Random(f"{seed}/{number}"), ATTACKERS[number])


class RandomAttacker:
    """Lives in a process of its own, until its time is over."""

    def __init__(self, port, seed, number, until, log):
        self.port, self.until, self.log = port, until, log
        self.source = f"127.0.0.{10 + number}"
        self.login = LOGINS.get(ATTACKERS[number])
        self.sequence = sequence(seed, number)
        self.line = None
        self.counts, self.figures = collections.Counter(), collections.Counter()

    def run(self):
        """Returns how often it did what, and what the broker said."""
        for operation in self.sequence:
            if time.monotonic() > self.until:
                break
            self.log.write(f"{time.monotonic():.2f} {operation}\n")
            self.perform(operation)
        self.leave()
        return self.counts, self.figures

    def perform(self, operation):
        try:
            if self.line is None:
                self.line = Line(self.port, self.login, self.source)
            perform(self.line, operation)
            self.counts[operation.name] += 1
        except (Closed, OSError):
            self.figures["cut"] += 1
            self.leave()
            time.sleep(0.005)

    def leave(self):
        if self.line is not None:
            self.figures += self.line.figures
            self.line.client.close()
            self.line = None


def attack(broker, seed, number, until, said):
    """Writes beside the broker's log what it does when."""
    try:
        with (broker.directory / f"attacker {number}").open("w", buffering=1) as log:
            attacker = RandomAttacker(broker.port, seed, number, until, log)
            said.put((*attacker.run(), None))
    except Exception as error:  # a mistake here would look like a weak attack
        nothing = collections.Counter()
        said.put((nothing, nothing, f"attacker {number}: {error!r}"))


def keep_reading(port, until, said):
    """An honest reader with all rights. It shows what is attacked meanwhile, and is not cut."""
    os.nice(10)
    wrong = []
    for entity in itertools.cycle((*QUEUES, *SUBSCRIPTIONS)):
        if time.monotonic() > until or len(wrong) >= MOST_WRONG:
            break
        for part in (entity, entity + DEAD_LETTERS):
            try:
                Examination(port, None, part).peek_all()
            except Wrong as found:
                wrong.append(str(found))
            except (Closed, OSError) as cut:
                wrong.append(f"whoever peeks at {part} is cut: {cut!r}")
    said.put(wrong)


class RandomAttack:
    """All attackers of a seed."""

    def __init__(self, broker, seed, seconds):
        self.broker, self.seed, self.seconds = broker, seed, seconds
        self.counts, self.figures = collections.Counter(), collections.Counter()
        self.mistakes, self.unread = [], []

    def run(self):
        said, read = multiprocessing.Queue(), multiprocessing.Queue()
        until = time.monotonic() + self.seconds
        reader = multiprocessing.Process(target=keep_reading, args=(self.broker.port, until, read))
        attackers = [
            multiprocessing.Process(
                target=attack, args=(self.broker, self.seed, number, until, said)
            )
            for number in range(len(ATTACKERS))
        ]
        for each in (*attackers, reader):
            each.start()
        for _ in attackers:
            self.note(said, until + PATIENCE)
        try:
            self.unread = read.get(timeout=PATIENCE)
        except Empty:
            self.unread = ["the reader hangs"]
        for each in (*attackers, reader):
            each.kill()
            each.join()

    def note(self, said, until):
        try:
            counts, figures, mistake = said.get(timeout=max(0.1, until - time.monotonic()))
        except Empty:
            self.mistakes.append("an attacker hangs")
            return
        self.counts += counts
        self.figures += figures
        if mistake:
            self.mistakes.append(mistake)


class Trial:
    """One seed. `sabotage` is given the broker while it is attacked."""

    def __init__(self, arguments, seed, sabotage=None):
        self.arguments, self.seed, self.sabotage = arguments, seed, sabotage
        self.attacked = (*QUEUES, *SUBSCRIPTIONS)
        self.memory_bound, self.most_files = arguments.memory_bound, None

    def run(self, keeps=True):
        """Returns the faults. If there are any, `keeps` keeps the broker's directory."""
        directory = pathlib.Path(tempfile.mkdtemp(prefix="sessionq-random-"))
        broker = WatchedBroker(self.arguments.sessionqd, directory, ENTITIES, QUEUE_MEBIBYTES)
        try:
            faults = self.besiege(broker)
        finally:
            broker.stop()
        if faults and keeps:
            print(f"  the broker's log is {directory / 'log'}", flush=True)
        else:
            shutil.rmtree(directory, ignore_errors=True)
        return faults

    def besiege(self, broker):
        bounds = Bounds(broker, FILLED, self.memory_bound)
        bounds.files = self.most_files or bounds.files
        siege = Siege(broker, self.arguments.sessionq, self.attacked, bounds)
        attackers = RandomAttack(broker, self.seed, self.arguments.seconds)
        print(f"seed {self.seed}: ", end="", flush=True)
        figures = siege.run(lambda: self.attack(attackers, broker))
        siege.note(Fault.ATTACK, *attackers.mistakes)
        siege.note(Fault.GENUINE, *attackers.unread)
        print(f"{figures}, {sum(attackers.counts.values())} operations", flush=True)
        if self.arguments.verbose:
            for counts in (attackers.counts, attackers.figures):
                print("  " + ", ".join(f"{name} {n}" for name, n in sorted(counts.items())))
        siege.print_faults()
        return set(siege.faults)

    def attack(self, attackers, broker):
        saboteur = None
        if self.sabotage:
            saboteur = threading.Timer(self.arguments.seconds / 2, self.sabotage, (broker,))
            saboteur.start()
        attackers.run()
        if saboteur:
            saboteur.join()


def faults_of(arguments, seed):
    """A wait counts if the seed shows it twice: the machine has a say in it."""
    faults = Trial(arguments, seed).run()
    if faults == {Fault.WAIT} and not arguments.tell_waits:
        faults = Trial(arguments, seed).run()
    return faults - ({Fault.WAIT} if arguments.tell_waits else set())


# The judgement can fail


def stop_for_a_while(broker):
    os.kill(broker.process.pid, signal.SIGSTOP)
    time.sleep(0.4)
    os.kill(broker.process.pid, signal.SIGCONT)


def intrude(broker):
    """A message in the honest client's queue that it did not send."""
    client = Client(broker.port)
    client.send(client.attach(OWN_QUEUE["Name"], SEND), message(b"x" * 100))
    client.close()


def self_test(arguments):
    """Each part of the judgement finds what is wrong on purpose."""
    arguments.seconds = 1.5
    small, files, missing = (Trial(arguments, 1) for _ in range(3))
    small.memory_bound = 1
    files.most_files = 1
    missing.attacked = ("missing",)
    trials = {
        Fault.MEMORY: small,
        Fault.FILES: files,
        Fault.LEFT: missing,
        Fault.WAIT: Trial(arguments, 1, stop_for_a_while),
        Fault.HONEST: Trial(arguments, 1, intrude),
        Fault.DIED: Trial(arguments, 1, lambda broker: broker.process.kill()),
    }
    unseen = [fault.value for fault, trial in trials.items() if fault not in trial.run(False)]
    print(f"not found: {', '.join(unseen)}" if unseen else "all faults made on purpose are found")
    return not unseen


def show(seed, count):
    for number, rights in enumerate(ATTACKERS):
        print(f"attacker {number}, rights: {rights}")
        for operation in itertools.islice(sequence(seed, number), count):
            print(f"  {str(operation)[:200]}")


def read_arguments():
    parser = siege_parser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=1, help="so many, from --seed on")
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--show", type=int, help="print so many operations instead")
    parser.add_argument("--verbose", action="store_true", help="count the operations")
    parser.add_argument("--self-test", action="store_true")
    arguments = parse_siege(parser)
    return arguments


def main():
    arguments = read_arguments()
    if arguments.show:
        show(arguments.seed, arguments.show)
        return True
    if arguments.self_test:
        return self_test(arguments)
    seeds = range(arguments.seed, arguments.seed + arguments.seeds)
    faulty = [str(seed) for seed in seeds if faults_of(arguments, seed)]
    print(f"{len(faulty)} of {len(seeds)} seeds find a fault: {', '.join(faulty)}")
    return not faulty


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
