# SPDX-License-Identifier: MIT
"""A client that does nothing wrong, beside an attack. It sends a message to its own queue, receives
it and completes it, again and again. It notes how long each round takes, and checks that what was
confirmed comes once and in order.

A round takes longer on a busy machine, which says nothing about the broker. The kernel tells how
long each thread was ready to run and had no processor (/proc/PID/schedstat). The client subtracts
that of the broker's threads and its own. The rest is the broker's: its turns, its disk, its order.
For the longest wait it subtracts the time too that the host took from a virtual machine.
"""

import multiprocessing
import os
import statistics
import struct
import time
from queue import Empty

from amqp_wire import ACCEPTED, Described, decode, message
from watched_broker import queue
from wire_client import RECEIVE, SEND, Client, Closed

OWN_QUEUE = queue("own", LockDuration="PT1M")  # longer than an attack delays its settlements
PAUSE = 0.004
TIMEOUT = 30.0
LEAST_DIFFERENCE = 0.005  # seconds; a shorter middle wait is noise
LONGEST_MORE = 0.05  # seconds above the longest wait alone
MOST_SLOWER = 2.0
ALONE, DURING = 0, 1
SAMPLES = 200_000
TICKS = os.sysconf("SC_CLK_TCK")


class Delays:
    """How long threads have waited for a processor so far, in seconds, and the machine itself."""

    def __init__(self, pids):
        self.threads = {}
        for pid in pids:
            try:
                for thread in os.listdir(f"/proc/{pid}/task"):
                    with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as facts:
                        self.threads[thread] = int(facts.read().split()[1]) / 1e9
            except OSError:
                pass  # it has ended
        with open("/proc/stat", encoding="ascii") as facts:
            self.stolen = int(facts.readline().split()[8]) / TICKS / os.cpu_count()

    def since(self, before):
        """The longest of a thread, and all together. Delays may overlap, so what the machine took
        is between the two."""
        each = [self.threads[one] - before.threads.get(one, 0.0) for one in self.threads]
        return max(each), sum(each) + self.stolen - before.stolen


def data_of(payload):
    """The body of a message."""
    at = 0
    while at < len(payload):
        section, at = decode(payload, at)
        if section.code == 0x75:
            return section.value
    return None


class Rounds:
    """The client's connection, and what it has sent and received."""

    def __init__(self, port, entity):
        self.client = Client(port, timeout=TIMEOUT)
        self.sender = self.client.attach(entity, SEND)
        self.receiver = self.client.attach(entity, RECEIVE)
        self.client.flow(self.receiver, 1_000_000)
        self.next = 0

    def round(self):
        """Returns what is wrong, or nothing."""
        body = struct.pack(">Q", self.next) + b"h" * 1000
        code = self.client.send(self.sender, message(body))
        if code != ACCEPTED:
            return f"a send to its own queue is refused with {code}"
        _, number, _, payload = self.client.receive()
        self.client.settle(number, number, Described(ACCEPTED, []))
        received = data_of(payload)
        if received != body:
            came = struct.unpack(">Q", received[:8])[0] if received else None
            return f"message {came} came instead of {self.next}"
        self.next += 1
        return None

    def left(self):
        """Whether something came that was not sent, or came again."""
        self.client.socket.settimeout(0.3)
        try:
            while not self.client.deliveries:
                self.client.step()
            return "a message came twice"
        except TimeoutError:
            return None


def live(port, broker, entity, begins, stops, waits, told):
    """The process of the client. `waits`: for each period a count of rounds, and two times for each
    round: without the machine's longest delay, and without all of them."""
    try:
        rounds = Rounds(port, entity)
        while not stops.is_set():
            period = DURING if begins.is_set() else ALONE
            began, before = time.monotonic(), Delays((broker, os.getpid()))
            wrong = rounds.round()
            longest, together = Delays((broker, os.getpid())).since(before)
            waited = time.monotonic() - began
            if wrong:
                told.put(wrong)
                return
            if begins.is_set():
                period = DURING  # the attack began during the round
            note(waits[period], waited - longest, waited - together)
            time.sleep(PAUSE)
        told.put(rounds.left())
    except (Closed, OSError, TimeoutError) as error:
        told.put(f"it was cut: {error!r}")


def note(waits, *seconds):
    count = int(waits[0])
    if 2 * count + 2 < len(waits):
        waits[2 * count + 1 : 2 * count + 3] = [max(0.0, each) for each in seconds]
        waits[0] = count + 1


class HonestClient:
    """Lives while it is entered, in a process of its own. `begin` tells it that the attack
    begins."""

    def __init__(self, broker, entity=OWN_QUEUE["Name"]):
        self.begins, self.stops = multiprocessing.Event(), multiprocessing.Event()
        self.waits = [multiprocessing.Array("d", SAMPLES, lock=False) for _ in range(2)]
        self.told = multiprocessing.Queue()
        self.wrong = "it said nothing"
        arguments = (broker.port, broker.process.pid, entity, self.begins, self.stops, self.waits)
        self.process = multiprocessing.Process(target=live, args=(*arguments, self.told))

    def __enter__(self):
        self.process.start()
        return self

    def begin(self):
        self.begins.set()

    def __exit__(self, *_):
        self.stops.set()
        try:
            self.wrong = self.told.get(timeout=TIMEOUT + 5)
        except Empty:
            self.wrong = "it hangs"
        self.process.join(5)
        if self.process.is_alive():
            self.process.kill()

    def seconds(self, period, which):
        waits = self.waits[period]
        return list(waits[1 + which : 1 + 2 * int(waits[0]) : 2])

    def middle(self, period):
        """Rather too long: it subtracts the longest delay only. Busy machines cancel out."""
        return statistics.median(self.seconds(period, 0) or [0.0])

    def longest(self, period):
        """Rather too short: it subtracts all delays, so that a busy machine is not the broker."""
        return max(self.seconds(period, 1), default=0.0)

    def is_slowed_down(self):
        """At most twice as long as alone, and nothing 50 ms longer than that."""
        middle = max(
            self.middle(ALONE) * MOST_SLOWER, self.middle(ALONE) + LEAST_DIFFERENCE
        )
        longest = self.longest(ALONE) * MOST_SLOWER + LONGEST_MORE
        return self.middle(DURING) > middle or self.longest(DURING) > longest

    def describe(self):
        return (
            f"honest {self.middle(ALONE) * 1000:.1f} to {self.middle(DURING) * 1000:.1f} ms, "
            f"longest {self.longest(ALONE) * 1000:.0f} to {self.longest(DURING) * 1000:.0f} ms"
        )
