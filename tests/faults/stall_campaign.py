# SPDX-License-Identifier: MIT
"""What one client asks for must not make the others wait. Each case attacks a broker of its own,
while another client sends a message a millisecond to a queue of its own. Tells its longest wait
alone and during the attack, and with --turns the longest turn of the broker's loops: the processor
time in which a loop does not look for input. Fails if a turn takes longer than --longest.

stall_campaign.py --sessionqd PROGRAM [--turns loop_turns.so] [--seconds N]
                  [--longest MILLISECONDS] [CASE...]

A busy machine delays the processes themselves, so the waits say little there. Turns do not depend
on it, apart from the processor's caches.
"""

import argparse
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from broker import free_port
from amqp_wire import ACCEPTED, Array, Described, Int, Long, encode, message
from wire_client import RECEIVE, SEND, Client, Closed, Management


class Broker:
    def __init__(self, program, rules, directory, turns=None):
        config = {
            "Queues": [
                {"Name": "ping", "Properties": {}},
                {"Name": "plain", "Properties": {}},
                {"Name": "sessions", "Properties": {"RequiresSession": True}},
                {"Name": "short", "Properties": {"DeadLetteringOnMessageExpiration": True}},
            ],
            "Topics": [
                {
                    "Name": "news",
                    "Properties": {},
                    "Subscriptions": [{"Name": "s", "Properties": {}, "Rules": rules}],
                }
            ],
        }
        path = directory / "config.json"
        spaces = [{"Name": "n", **config}]
        path.write_text(json.dumps({"UserConfig": {"Namespaces": spaces}}))
        self.port = free_port()
        self.turns = directory / "turns"
        preloaded = {"LD_PRELOAD": turns, "LOOP_TURNS": str(self.turns)} if turns else {}
        self.process = subprocess.Popen(
            [program, "--listen", f"127.0.0.1:{self.port}", "--config", str(path)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | preloaded,
        )
        if "listens on" not in self.process.stdout.readline():
            raise RuntimeError("sessionqd did not start")

    def turns_since(self, moment):
        """Those of more than a millisecond: processor time in milliseconds, and page faults."""
        if not self.turns.exists():
            return []
        lines = [line.split() for line in self.turns.read_text().splitlines()]
        return [
            (float(line[1]), int(line[3])) for line in lines if float(line[0]) >= moment
        ]

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()


def ping(port, queue, begin, stop, found):
    """Puts the longest wait alone and during the attack into `found`, in milliseconds."""
    client = Client(port)
    link = client.attach(queue, SEND)
    body = message(b"ping")
    while not stop.is_set():
        at = time.monotonic()
        client.send(link, body)
        waited = (time.monotonic() - at) * 1000
        during = 1 if begin.is_set() else 0
        found[during] = max(found[during], waited)
        found[2 + during] += 1
        if waited > 5:
            found[4 + during] += 1
        time.sleep(0.001)


def like_rules(count, expression):
    return [
        {
            "Name": f"r{i}",
            "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": expression}},
        }
        for i in range(count)
    ]


BACKTRACKING = "a LIKE '%" + "a" * 500 + "b%'"
MANY_LIKES = " OR ".join(["a LIKE '%aab%'"] * 50)


class Case:
    rules = like_rules(1, "1=1")
    pinged = "ping"
    repeats = True  # False: the attack uses up what was prepared

    def prepare(self, port):
        pass

    def attack(self, port):
        raise NotImplementedError


class Rules(Case):
    """Messages with a long property, and rules that look for a text in it."""

    def __init__(self, count, expression, size):
        self.rules, self.size = like_rules(count, expression), size

    def attack(self, port):
        client = Client(port)
        link = client.attach("news", SEND)
        body = message(b"x", properties={"a": "a" * self.size})
        codes = {client.send(link, body) for _ in range(2)}
        return {ACCEPTED: "accepted"}.get(min(codes), "refused")


class ManyProperties(Case):
    """Properties that a rule must look through, because none has the name."""

    rules = like_rules(2000, "b IN (" + ",".join(["c"] * 500) + ")")

    def attack(self, port):
        client = Client(port)
        link = client.attach("news", SEND)
        properties = {f"{i:x}": True for i in range(8000)}
        return client.send(link, message(b"x", properties=properties))


def fill(port, queue, count, sessions=False, ttl=None):
    client = Client(port)
    link = client.attach(queue, SEND)
    for at in range(0, count, 2000):
        parts = []
        for i in range(at, min(count, at + 2000)):
            session = f"s{i}" if sessions else None
            one = message(b"x", session=session, ttl=ttl, message_id=str(i))
            parts.append(encode(Described(0x75, one)))
        if client.send(link, b"".join(parts), batch=True) != ACCEPTED:
            raise RuntimeError("the messages are refused")
    client.close()


class ListSessions(Case):
    """Pages of many sessions, far behind the first."""

    def __init__(self, top):
        self.top = top

    def prepare(self, port):
        fill(port, "sessions", 300_000, sessions=True)

    def attack(self, port):
        management = Management(Client(port), "sessions")
        listed = 0
        for skip in (0, 150_000, 299_000):
            body = {"last-updated-time": Long(253402300799999)}
            body |= {"skip": Int(skip), "top": Int(self.top)}
            status, page = management.ask("get-message-sessions", body)
            listed += len(page["sessions-ids"]) if status == 200 else 0
        return f"{listed} listed"


class PeekSession(Case):
    """A search for a session among the messages of a queue without sessions."""

    def prepare(self, port):
        fill(port, "plain", 500_000)

    def attack(self, port):
        management = Management(Client(port), "plain")
        body = {"from-sequence-number": Long(1), "message-count": Int(1), "session-id": "none"}
        return [management.ask("peek-message", body)[0] for _ in range(3)]


class Expire(Case):
    """Messages of the same queue whose time to live ends at the same moment."""

    pinged = "short"
    repeats = False

    def prepare(self, port):
        fill(port, "short", 200_000, ttl=5_000)

    def attack(self, port):
        time.sleep(6)


class Batch(Case):
    """A transfer of very many very small messages."""

    def attack(self, port):
        client = Client(port)
        link = client.attach("plain", SEND)
        one = encode(Described(0x75, message(b"")))
        whole = client.send(link, one * (1_000_000 // len(one)), batch=True)
        return whole, {client.send(link, one * 4500, batch=True) for _ in range(3)}


class Deferred(Case):
    """One request for all deferred messages."""

    repeats = False
    count = 50_000

    def prepare(self, port):
        fill(port, "plain", self.count)

    def attack(self, port):
        client = Client(port)
        link = client.attach("plain", RECEIVE)
        client.flow(link, self.count)
        first = client.receive()[1]
        held = 1
        while held < self.count:
            client.receive()
            held += 1
            if held % 1000 == 0:
                client.settle(first, first + held - 1, Described(0x27, [None, True]))
        management = Management(client, "plain")
        numbers = list(range(1, 4501))
        return [
            management.ask(
                "receive-by-sequence-number",
                {"sequence-numbers": Array(wanted), "receiver-settle-mode": 1},
            )[0]
            for wanted in (numbers, numbers[:-1] + [1])
        ]


class Sequences(Case):
    """Requests with as many items as fit."""

    def attack(self, port):
        management = Management(Client(port), "plain")
        answers = []
        for count in (4_500, 5_000, 900_000):  # the last one is no request any more
            numbers = Array(list(range(1, count + 1)))
            body = {"sequence-numbers": numbers}
            answers.append(management.ask("cancel-scheduled-message", body)[0])
        return answers


class Schedule(Case):
    """Requests that schedule as many messages as they may."""

    def attack(self, port):
        management = Management(Client(port), "plain")
        entry = {"message-id": "m", "message": message(b"", message_id="m")}
        return management.ask("schedule-message", {"messages": [entry] * 4500})[0]


class Range(Case):
    """One disposition for all messages that a client holds, and one that ends with them."""

    repeats = False
    count = 100_000

    def prepare(self, port):
        fill(port, "plain", self.count)

    def attack(self, port):
        client = Client(port, timeout=3)
        link = client.attach("plain", RECEIVE)
        client.flow(link, self.count)
        first = client.receive()[1]
        held = 1
        try:
            while held < self.count:
                client.receive()
                held += 1
        except TimeoutError:
            pass  # the broker sends no more before some are settled
        client.settle(first, first + held - 1, Described(0x26, []))
        time.sleep(1)
        client.flow(link, 2 * self.count)
        try:
            while True:
                client.receive()
        except TimeoutError:
            pass
        client.close()
        time.sleep(1)
        return f"{held} held"


class Ranges(Case):
    """Dispositions that name none of the many messages that a client holds."""

    count = 20_000

    def prepare(self, port):
        fill(port, "plain", self.count)
        self.client = None

    def attack(self, port):
        if self.client is None:
            self.client = Client(port, timeout=3)
            link = self.client.attach("plain", RECEIVE)
            self.client.flow(link, self.count)
            try:
                while True:
                    self.last = self.client.receive()[1]
            except TimeoutError:
                pass  # the broker sends no more before some are settled
        for _ in range(2_000):
            self.client.settle(self.last + 1, self.last + 2_000_000_000, Described(0x24, []))
        return f"{self.last + 1} held"


class Leave(Case):
    """Connections with a thousand links each that are cut at once."""

    def attack(self, port):
        clients = [Client(port) for _ in range(5)]
        for client in clients:
            for _ in range(1_000):
                client.attach("plain", RECEIVE, wait=False)
            last = client.attach("plain", SEND)
        for client in clients:
            client.close()
        time.sleep(0.2)
        return last + 1


class Rules2000(Case):
    """Pages of all rules of a subscription."""

    rules = like_rules(2000, "a LIKE '" + "x" * 1000 + "'")

    def attack(self, port):
        management = Management(Client(port), "news/Subscriptions/s")
        status, page = management.ask("enumerate-rules", {"top": Int(5000), "skip": Int(0)})
        return len(page["rules"]) if status == 200 else status


CASES = {
    "rules-backtracking": Rules(30, BACKTRACKING, 60_000),
    "rules-1mb": Rules(30, BACKTRACKING, 1_000_000),
    "rules-2000": Rules(2000, BACKTRACKING, 30_000),
    "rules-many-likes": Rules(200, MANY_LIKES, 30_000),
    "rules-properties": ManyProperties(),
    "rules-list": Rules2000(),
    "list-sessions": ListSessions(1000),
    "list-all-sessions": ListSessions(500_000),
    "peek-session": PeekSession(),
    "expire": Expire(),
    "batch": Batch(),
    "sequences": Sequences(),
    "schedule": Schedule(),
    "deferred": Deferred(),
    "range": Range(),
    "ranges": Ranges(),
    "leave": Leave(),
}


def attack(case, port, seconds, said):
    """Attacks in a process of its own, which takes no processor from the two that are measured."""
    os.nice(19)
    until = time.monotonic() + seconds
    rounds = 0
    while rounds == 0 or (case.repeats and time.monotonic() < until):
        try:
            answer = case.attack(port)
        except (Closed, ConnectionError) as cut:
            answer = f"cut: {cut}"
        rounds += 1
    said.put((answer, rounds))


def run(case, arguments):
    with tempfile.TemporaryDirectory() as directory:
        broker = Broker(
            arguments.sessionqd, case.rules, pathlib.Path(directory), arguments.turns
        )
        begin, stop = multiprocessing.Event(), multiprocessing.Event()
        found = multiprocessing.Array("d", 6)
        said = multiprocessing.Queue()
        pinging = multiprocessing.Process(
            target=ping, args=(broker.port, case.pinged, begin, stop, found)
        )
        attacking = multiprocessing.Process(
            target=attack, args=(case, broker.port, arguments.seconds, said)
        )
        try:
            case.prepare(broker.port)
            pinging.start()
            time.sleep(2)
            begin.set()
            began = time.monotonic()
            attacking.start()
            answer, rounds = said.get(timeout=arguments.seconds + 300)
            time.sleep(0.5)
            stop.set()
            pinging.join(120)
            turns = broker.turns_since(began)
        finally:
            stop.set()
            broker.stop()
            for process in (pinging, attacking):
                if process.is_alive():
                    process.kill()
    return list(found), turns, answer, rounds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionqd", required=True)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--turns", help="the library loop_turns, for the length of turns")
    parser.add_argument("--longest", type=float, default=5)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    arguments = parser.parse_args()
    failed = []
    for name in arguments.cases or CASES:
        found, turns, said, rounds = run(CASES[name], arguments)
        longest, faults = max(turns, default=(0, 0))
        print(
            f"{name:20} alone {found[0]:7.1f} ms ({found[4]:.0f} of {found[2]:.0f} above 5 ms), "
            f"attacked {found[1]:8.1f} ms ({found[5]:.0f} of {found[3]:.0f}); "
            f"longest turn {longest:.1f} ms with {faults} page faults "
            f"({sum(one > 5 for one, _ in turns)} above 5 ms); "
            f"{rounds} rounds, answer {said}",
            flush=True,
        )
        if longest > arguments.longest:
            failed.append(name)
    if failed:
        print("turns took too long: " + ", ".join(failed))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
