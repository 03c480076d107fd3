# SPDX-License-Identifier: MIT
"""Attacks sessionqd with what costs the attacker little, one attack after another, each at a broker
of its own with at most 1.5 GB of address space (see siege.py; R26).

costly_campaign.py --sessionqd PROGRAM [--sessionq PROGRAM] [--only NAME ...]
                   [--memory-bound MIB] [--tell-waits] [--expect-faults]
"""

import multiprocessing
import pathlib
import shutil
import sys
import tempfile
import time
from queue import Empty

from costly_attacks import ATTACKS
from honest_client import OWN_QUEUE
from raw_amqp import Cut
from siege import Bounds, Fault, Siege, parse_siege, siege_parser
from watched_broker import WatchedBroker, queue
from wire_client import Closed

LONGEST_ATTACK = 60.0


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
        self.performed, self.answer, self.failures = False, "", []
        self.genuine = multiprocessing.Process(target=be_genuine, args=(attack, port, self.wrong))

    def run(self):
        until = time.monotonic() + LONGEST_ATTACK
        for process in (*self.attackers, self.genuine):
            process.start()
        said = [self.take(self.said, until, (True, "not over")) for _ in self.attackers]
        self.failures = self.take(self.wrong, until + 30, ["the genuine clients hang"])
        for process in (*self.attackers, self.genuine):
            process.kill()
            process.join()
        self.performed = all(one for one, _ in said)
        self.answer = "; ".join(str(one) for _, one in said)

    @staticmethod
    def take(answers, until, otherwise):
        try:
            return answers.get(timeout=max(0.1, until - time.monotonic()))
        except Empty:
            return otherwise


def entities_of(attack):
    """With the queue of the honest client, and one for genuine clients."""
    queues = list(attack.entities.get("Queues", []))
    if "plain" not in [each["Name"] for each in queues]:
        queues.append(queue("plain"))
    queues.append(OWN_QUEUE)
    return {**attack.entities, "Queues": queues}


def besiege(arguments, attack, broker):
    """Returns the faults."""
    bounds = Bounds(broker, memory_mebibytes=arguments.memory_bound)
    siege = Siege(broker, arguments.sessionq, attack.attacked, bounds)
    attack.prepare(broker.port)
    processes = Processes(attack, broker.port)
    figures = siege.run(processes.run)
    print(f"{figures}; {processes.answer}", flush=True)
    siege.note(Fault.GENUINE, *processes.failures)
    if not processes.performed:
        siege.note(Fault.ATTACK, processes.answer)
    log = broker.log.read_text(errors="replace")
    siege.note(Fault.RULE, *attack.inspect(processes.answer, log))
    siege.print_faults()
    return set(siege.faults)


def attempt(arguments, name):
    """Returns the faults of an attack. The broker's directory stays if there are any."""
    attack = ATTACKS[name]
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sessionq-costly-"))
    print(f"{name:<20} ", end="", flush=True)
    broker = WatchedBroker(
        arguments.sessionqd,
        directory,
        entities_of(attack),
        attack.queue_mebibytes,
        attack.options,
    )
    try:
        faults = besiege(arguments, attack, broker)
    finally:
        broker.stop()
    if not faults:
        shutil.rmtree(directory, ignore_errors=True)
    return faults


def faults_of(arguments, name):
    """A wait counts if it is seen twice: the machine has a say in it."""
    faults = attempt(arguments, name)
    if faults == {Fault.WAIT} and not arguments.tell_waits:
        faults = attempt(arguments, name)
    return faults - ({Fault.WAIT} if arguments.tell_waits else set())


def main():
    parser = siege_parser()
    parser.add_argument("--only", nargs="+", choices=list(ATTACKS), default=list(ATTACKS))
    parser.add_argument(
        "--expect-faults", action="store_true", help="fail if an attack finds no fault"
    )
    arguments = parse_siege(parser)
    faulty = [name for name in arguments.only if faults_of(arguments, name)]
    sound = [name for name in arguments.only if name not in faulty]
    print(f"{len(faulty)} of {len(arguments.only)} attacks find a fault: {', '.join(faulty)}")
    if arguments.expect_faults:
        sys.exit(f"no fault: {', '.join(sound)}" if sound else 0)
    sys.exit(1 if faulty else 0)


if __name__ == "__main__":
    main()
