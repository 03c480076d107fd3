# SPDX-License-Identifier: MIT
"""Attacks on sessionqd in which little input may cost much: memory, files, or the time of others.
Each is a class with what the broker needs for it, who attacks, and what is looked at afterwards.
None uses code of the product. costly_campaign.py performs and judges them.
"""

import itertools
import socket
import struct
import threading
import time
import uuid

from amqp_wire import ACCEPTED, HOST, Array, Described, Int, Long, Symbol, encode, message
from amqp_wire import plain, put_token, shared_access_token
from raw_amqp import Cut, Peer, attach, begin, flow, sasl, transfer
from watched_broker import LOGINS, QUEUE_MEBIBYTES, STORE, queue, topic
from wire_client import RECEIVE, SEND, Client, Closed, Management
import raw_amqp

TEXT = "t" * 60_000
PEEK_WAIT = "com.sessionq:peek-wait"
NOTICE = 3.0  # seconds in which the broker's answer to an attack is watched
ATTACKER, OTHER_ATTACKER = "127.0.0.2", "127.0.0.3"


def login(port, rights, timeout=60.0):
    name, key = LOGINS[rights]
    return Client(port, timeout, name, key)


def fill(port, entity, count, size=10, sessions=0):
    """Messages of this size, in batches of at most 900 KB."""
    client = login(port, "all")
    link = client.attach(entity, SEND)
    batch, length = [], 0
    for number in range(count):
        session = f"s{number % sessions}" if sessions else None
        one = encode(Described(0x75, message(b"y" * size, session=session)))
        batch.append(one)
        length += len(one)
        if length > 900_000 or len(batch) == 2000 or number == count - 1:
            if client.send(link, b"".join(batch), batch=True) != ACCEPTED:
                raise RuntimeError("the messages to attack are refused")
            batch, length = [], 0
    client.close()


def receive_all(client, link, count):
    """Returns the deliveries' numbers and tags: so many, or fewer if the broker stops before."""
    client.flow(link, count)
    client.socket.settimeout(3)
    held = []
    try:
        while len(held) < count:
            _, number, tag, _ = client.receive()
            held.append((number, tag))
    except TimeoutError:
        pass
    client.socket.settimeout(60)
    return held


def rejected(text):
    return Described(0x25, [Described(0x1D, [Symbol("com.microsoft:dead-letter"), text])])


def modified(annotations, defers=False):
    return Described(0x27, [True, defers, annotations])


STORED = ("--data", STORE)


class Attack:
    """`by`: whose rights it has. `attack` runs in a process of its own, for at least one round."""

    entities = {"Queues": [queue("plain")]}
    attacked = ("plain",)  # what must be readable and removable afterwards
    queue_mebibytes = QUEUE_MEBIBYTES
    options = ()  # of the broker
    processes = 1
    by = ""

    def prepare(self, port):
        """With all rights, before the client's time alone is measured."""

    def attack(self, port, number):
        """Returns what the broker said, as text."""
        raise NotImplementedError

    def genuine(self, port):
        """Runs beside the attack with good behaviour. Returns what went wrong."""
        return []

    def inspect(self, said, log):
        """Returns what else is wrong once the attack is over."""
        return []


# Row 1: outcomes with texts over many deliveries


class OutcomeOverRange(Attack):
    """One disposition of 60 KB over 8,000 deliveries."""

    by = "listen"
    count = 8000

    def __init__(self, outcome, options=()):
        self.outcome, self.options = outcome, options

    def prepare(self, port):
        fill(port, "plain", self.count)

    def attack(self, port, number):
        client = login(port, self.by)
        held = receive_all(client, client.attach("plain", RECEIVE), self.count)
        client.settle(held[0][0], held[-1][0], self.outcome, settled=False)
        time.sleep(NOTICE)
        return f"{len(held)} held"


class UpdateOverTokens(Attack):
    """One request that gives its text to many messages."""

    by = "listen"

    def __init__(self, count, size, is_property):
        self.count, self.size, self.is_property = count, size, is_property

    def prepare(self, port):
        fill(port, "plain", self.count)

    def attack(self, port, number):
        client = login(port, self.by)
        held = receive_all(client, client.attach("plain", RECEIVE), self.count)
        text = "t" * self.size
        body = {"lock-tokens": Array([uuid.UUID(bytes_le=bytes(tag)) for _, tag in held])}
        if self.is_property:
            body |= {"disposition-status": "abandoned", "properties-to-modify": {"k": text}}
        else:
            body |= {"disposition-status": "suspended", "deadletter-description": text}
        answer = Management(client, "plain").ask("update-disposition", body)
        time.sleep(1)
        return f"{len(held)} held, {answer[0]}"


# Row 2: peeks that wait


def held_peek(reply_to, start=1, count=250, number=1):
    properties = {"operation": "com.microsoft:peek-message", PEEK_WAIT: Long(60_000)}
    body = {"from-sequence-number": Long(start), "message-count": Int(count)}
    return message(value=body, properties=properties, reply_to=reply_to, message_id=str(number))


def send_batch(port, rights, entity, count=732, size=1000):
    client = login(port, rights)
    link = client.attach(entity, SEND)
    batch = b"".join([encode(Described(0x75, message(b"b" * size)))] * count)
    code = client.send(link, batch, batch=True)
    client.close()
    return code


class HeldPeeks(Attack):
    """100 waiting peeks a connection, of which nothing is read. Then one batch comes."""

    by = "listen"

    def __init__(self, connections):
        self.connections = connections

    def attack(self, port, number):
        peers = [self.wait(port) for _ in range(self.connections)]
        time.sleep(1)
        code = send_batch(port, "all", "plain")
        time.sleep(NOTICE)
        return f"{len(peers)} wait, the batch has {code:#x}"

    def wait(self, port):
        peer = Peer(port, source=ATTACKER, buffer=4096, login=LOGINS[self.by])
        peer.send(begin(0) + attach("a", 1, True, "plain/$management", "answers"))
        peer.send(attach("r", 0, False, "requests", "plain/$management") + flow(1, 100_000))
        time.sleep(0.02)
        requests = [transfer(0, each, held_peek("answers", number=each)) for each in range(100)]
        peer.send(b"".join(requests))
        return peer


class Followers(Attack):
    """100 honest followers, which read. Nobody attacks. None is cut, and each sees the batch."""

    by = "listen"
    followers, messages = 100, 732

    def attack(self, port, number):
        return "nobody attacks"

    def genuine(self, port):
        wrong = []
        ready = threading.Semaphore(0)
        threads = [
            threading.Thread(target=self.follow, args=(port, ready, wrong))
            for _ in range(self.followers)
        ]
        for thread in threads:
            thread.start()
        for _ in threads:
            ready.acquire()
        time.sleep(1)
        send_batch(port, "all", "plain", self.messages)
        for thread in threads:
            thread.join()
        return wrong

    def follow(self, port, ready, wrong):
        seen = 0
        try:
            client = login(port, self.by, timeout=60)
            peeks = Management(client, "plain")
            ready.release()
            while seen < self.messages:
                peek = held_peek(peeks.reply_to, seen + 1, number=seen)
                _, answer = peeks.ask_with(peek)
                seen += len(answer["messages"]) if answer else 0
            client.close()
        except (Closed, OSError, TimeoutError) as error:
            ready.release()
            wrong.append(f"a follower was cut after {seen} messages: {error!r}")


# Row 3: connections without end


class Churn(Attack):
    """Two processes that connect with 60 sockets each and close, without pause and without key."""

    by = "nobody"
    processes = 2
    attacked = ()
    seconds = 6.0
    clients = 14

    def attack(self, port, number):
        until = time.monotonic() + self.seconds
        connects = 0
        while time.monotonic() < until:
            sockets = [self.connect(port, number) for _ in range(60)]
            for each in sockets:
                each.close()
            connects += len(sockets)
        return f"{connects} connects"

    @staticmethod
    def connect(port, number):
        stream = socket.socket()
        stream.bind(((ATTACKER, OTHER_ATTACKER)[number % 2], 0))
        # Resets at its end, so that this machine does not run out of ports.
        stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.setblocking(False)
        stream.connect_ex((HOST, port))
        return stream

    def genuine(self, port):
        wrong = []
        for number in range(self.clients):
            time.sleep((self.seconds - 1) / self.clients)
            began = time.monotonic()
            try:
                client = login(port, "all", timeout=10)
                code = client.send(client.attach("plain", SEND), message(b"x"))
                client.close()
                if code != ACCEPTED:
                    wrong.append(f"genuine client {number} is refused with {code}")
            except (Closed, OSError) as error:
                took = time.monotonic() - began
                wrong.append(f"genuine client {number} failed after {took:.1f} s: {error!r}")
        return wrong


# Row 4: a message that grows


class Abandons(Attack):
    """One message that is given MB of properties three times. Then whoever receives it."""

    by = "listen"

    def __init__(self, size, most, outcomes):
        self.size, self.outcomes = size, outcomes
        self.options = ("--max-message-size", str(most))

    def prepare(self, port):
        fill(port, "plain", 1)

    def attack(self, port, number):
        client = login(port, self.by)
        link = client.attach("plain", RECEIVE)
        management = Management(login(port, self.by), "plain")
        client.flow(link, 100)
        said = []
        for each, outcome in enumerate(self.outcomes):
            tag = client.receive()[2]
            body = {
                "lock-tokens": Array([uuid.UUID(bytes_le=bytes(tag))]),
                "disposition-status": outcome,
                "properties-to-modify": {f"k{each}": "v" * self.size},
            }
            said.append(management.ask("update-disposition", body)[0])
        return f"the outcomes have {said}"


# Row 5: rules whose actions enlarge


class EnlargingRules(Attack):
    """Rules with 30 assignments each that double a property of 16 KB, and one message."""

    by = "both"
    entities = {"Topics": [topic("news", [{"Name": "s", "Properties": {}}])]}
    attacked = ("news/Subscriptions/s",)

    action = "; ".join(f"SET p{each} = a + a" for each in range(30))

    def __init__(self, rules):
        self.rules = rules

    def attack(self, port, number):
        client = login(port, self.by)
        management = Management(client, "news/Subscriptions/s")
        codes = {self.add(management, each) for each in range(self.rules)}
        body = message(b"x", properties={"a": "a" * 16000})
        sent = client.send(client.attach("news", SEND), body)
        time.sleep(1)
        return f"the rules have {sorted(codes)}, the message {sent:#x}"

    def add(self, management, number):
        rule = {
            "sql-filter": {"expression": "1=1"},
            "sql-rule-action": {"expression": self.action},
        }
        body = {"rule-name": f"r{number}", "rule-description": rule}
        return management.ask("add-rule", body)[0]


class Multiplied(Attack):
    """A batch of small messages, of which each becomes many."""

    by = "both"

    def __init__(self, subscriptions=1, rules=0, messages=4500, options=()):
        names = [f"s{each}" for each in range(subscriptions)]
        self.entities = {"Topics": [topic("news", [queue(name) for name in names])]}
        self.attacked = ("news/Subscriptions/s0",)
        self.rules, self.messages, self.options = rules, messages, options

    def attack(self, port, number):
        client = login(port, self.by)
        management = Management(client, self.attacked[0])
        for each in range(self.rules):
            rule = {
                "sql-filter": {"expression": "1=1"},
                "sql-rule-action": {"expression": "SET p = 'p'"},
            }
            management.ask("add-rule", {"rule-name": f"r{each}", "rule-description": rule})
        batch = encode(Described(0x75, message(b"b" * 100))) * self.messages
        began = time.monotonic()
        code = client.send(client.attach("news", SEND), batch, batch=True)
        took = time.monotonic() - began
        time.sleep(1)
        return f"{code:#x} after {took:.1f} s"


class Expiring(Attack):
    """40,000 messages that become dead letters at once."""

    by = "both"
    entities = {
        "Queues": [
            queue(
                "plain",
                DefaultMessageTimeToLive="PT6S",
                DeadLetteringOnMessageExpiration=True,
            )
        ]
    }
    options = STORED

    def attack(self, port, number):
        began = time.monotonic()
        fill(port, "plain", 40_000)
        time.sleep(max(0.0, began + 6 + NOTICE - time.monotonic()))
        return "expired"


class Deleting(Attack):
    """40,000 messages that are deleted in batches, without a pause."""

    by = "both"
    options = STORED

    def prepare(self, port):
        fill(port, "plain", 40_000)

    def attack(self, port, number):
        client = login(port, self.by)
        management = Management(client, "plain")
        deleted, more = 0, 1
        while more:
            body = {"message-count": Int(4000), "enqueued-time-utc": Long(2**42)}
            status, answer = management.ask("batch-delete-messages", body)
            more = answer.get("message-count", 0) if answer else 0
            deleted += more
        return f"{deleted} deleted, {status}"


class Filled(Attack):
    """As many messages as the queue takes, of a kind that costs more than its bytes."""

    by = "send"
    seconds = 20.0  # at most

    def __init__(self, one, sessions=False):
        self.one, self.per_batch = one, 4500
        self.entities = {"Queues": [queue("plain", RequiresSession=sessions)]}

    def attack(self, port, number):
        client = login(port, self.by)
        link = client.attach("plain", SEND)
        until = time.monotonic() + self.seconds
        code, sent = ACCEPTED, 0
        while code == ACCEPTED and time.monotonic() < until:
            parts = [self.one(sent + each) for each in range(self.per_batch)]
            batch = b"".join(encode(Described(0x75, part)) for part in parts)
            code = client.send(link, batch, batch=True)
            sent += self.per_batch
        return f"{sent} sent, the last has {code:#x}"


# Row 6: session states


class SessionStates(Attack):
    """300 states of 1 MB."""

    by = "listen"
    entities = {"Queues": [queue("orders", RequiresSession=True)]}
    attacked = ("orders",)

    def attack(self, port, number):
        codes = {}
        client = None
        for each in range(300):
            if each % 50 == 0:
                client = login(port, self.by)
                management = Management(client, "orders")
            session = f"state {each}"
            client.attach("orders", RECEIVE, session=session)
            body = {"session-id": session, "session-state": b"%4d" % each * 250_000}
            code = management.ask_with(self.request(client, management, body))[0]
            codes[code] = codes.get(code, 0) + 1
        return f"the states have {codes}"

    @staticmethod
    def request(client, management, body):
        properties = {
            "operation": "com.microsoft:set-session-state",
            "associated-link-name": client.names[-1],
        }
        return message(
            properties=properties,
            message_id=str(uuid.uuid4()),
            reply_to=management.reply_to,
            value=body,
        )


# Row 7: one message for many subscriptions


class FanOut(Attack):
    """1 MB to 500 subscriptions of a broker with a store."""

    by = "send"
    options = STORED
    queue_mebibytes = 1024
    count = 500
    entities = {
        "Topics": [topic("news", [{"Name": f"s{n}", "Properties": {}} for n in range(count)])]
    }
    attacked = ("news/Subscriptions/s0", f"news/Subscriptions/s{count - 1}")

    def attack(self, port, number):
        client = login(port, self.by)
        began = time.monotonic()
        link = client.attach("news", SEND)
        code = client.send(link, message(b"f" * 1_000_000))
        took = time.monotonic() - began
        time.sleep(1)
        return f"{code:#x} after {took:.1f} s"


# Row 10: values that are larger than they look

ZEROES = b"\xf0" + struct.pack(">IIB", 5, 1_000_000, 0x41)




def section(code, entries):
    """A map whose values are encoded already."""
    body = b"".join(encode(key) + value for key, value in entries)
    header = struct.pack(">II", len(body) + 4, 2 * len(entries))
    return b"\x00\x53" + bytes([code]) + b"\xd1" + header + body


def values_without_size():
    """Messages with a million values in ten bytes, wherever a message has values."""
    data = encode(Described(0x75, b"x"))
    key = Symbol("x-opt-k")
    return {
        "an application property": section(0x74, [("k", ZEROES)]) + data,
        "a message annotation": section(0x72, [(key, ZEROES)]) + data,
        "a delivery annotation": section(0x71, [(key, ZEROES)]) + data,
        "the body": b"\x00\x53\x77" + ZEROES,
        "the footer": data + section(0x78, [(key, ZEROES)]),
    }


class ValuesWithoutSize(Attack):
    """Arrays of a million values that take no bytes."""

    by = "send"

    def attack(self, port, number):
        codes = {}
        for place, data in values_without_size().items():
            client = login(port, self.by)
            link = client.attach("plain", SEND)
            try:
                codes[place] = f"{client.send(link, data):#x}"
            except (Closed, OSError) as cut:
                codes[place] = f"cut: {cut}"
            client.close()
        return str(codes)


# Row 12: guesses of keys

MOST_GUESSES = 100  # a second, answered
MOST_LOGGED = 1000  # lines


class KeyGuesses(Attack):
    """Logins with wrong keys, from one address, without pause."""

    by = "nobody"
    attacked = ()
    seconds = 4.0
    threads = 8

    def attack(self, port, number):
        until = time.monotonic() + self.seconds
        counts = [0] * self.threads
        threads = [
            threading.Thread(target=self.guess, args=(port, until, counts, each))
            for each in range(self.threads)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return f"{sum(counts) / self.seconds:.0f} guesses a second"

    def guess(self, port, until, counts, each):
        raise NotImplementedError

    def genuine(self, port):
        """From another address."""
        wrong = []
        for _ in range(6):
            time.sleep(self.seconds / 8)
            try:
                login(port, "listen", timeout=5).close()
            except (Closed, OSError) as error:
                wrong.append(f"a genuine login failed: {error!r}")
        return wrong

    def inspect(self, said, log):
        lines = [line for line in log.splitlines() if self.is_about_guesses(line)]
        wrong = []
        if float(said.split()[0]) > MOST_GUESSES:
            wrong.append(f"{said}, {MOST_GUESSES} at most")
        if not 1 <= len(lines) <= MOST_LOGGED:
            wrong.append(f"{len(lines)} lines of the log are about the guesses")
        return wrong

    @staticmethod
    def is_about_guesses(line):
        words = ("guess", "login", "log in", "logged in", "key", "token", "credential", "signature")
        return ATTACKER in line and any(word in line.lower() for word in words)


class PlainGuesses(KeyGuesses):
    """A new connection for each guess."""

    def guess(self, port, until, counts, each):
        for number in itertools.count():
            if time.monotonic() > until:
                return
            try:
                stream = raw_amqp.connect(port, source=ATTACKER, whole=False)
                stream.settimeout(max(0.1, until - time.monotonic()))
                wrong = plain(LOGINS["all"][0], f"GUESS{each}-{number}")
                stream.sendall(sasl("PLAIN", wrong))
                answer = b""
                while more := stream.recv(4096):
                    answer += more
                    if b"\x00\x53\x44" in answer:  # the outcome
                        counts[each] += 1
                        break
                stream.close()
            except (OSError, Cut):
                time.sleep(0.01)


class TokenGuesses(KeyGuesses):
    """Tokens that are signed with wrong keys, many on a connection, at $cbs."""

    def guess(self, port, until, counts, each):
        number = 0
        while time.monotonic() < until:
            try:
                peer = Peer(port, source=ATTACKER)
                peer.send(begin(0) + attach("a", 1, True, "$cbs", "answers"))
                peer.send(attach("r", 0, False, "requests", "$cbs") + flow(1, 10000))
                while time.monotonic() < until:
                    number += 1
                    peer.send(transfer(0, number, self.request(each, number)))
                    counts[each] += peer.read(0.05).count(b"status-code")
            except (OSError, Cut, TimeoutError):
                time.sleep(0.01)

    @staticmethod
    def request(each, number):
        audience = "sb://localhost/plain"
        return put_token(audience, shared_access_token(audience, key=f"GUESS{each}-{number}"))


ATTACKS = {
    "rejected over 8,000": OutcomeOverRange(rejected(TEXT)),
    "modified over 8,000": OutcomeOverRange(modified({Symbol("k"): TEXT})),
    "deferred over 8,000": OutcomeOverRange(modified({Symbol("k"): TEXT}, defers=True)),
    "rejected over 8,000, stored": OutcomeOverRange(rejected("why"), STORED),
    "modified over 8,000, stored": OutcomeOverRange(modified({Symbol("k"): TEXT}), STORED),
    "description for 100": UpdateOverTokens(100, 7_900_000, is_property=False),
    "description for 400": UpdateOverTokens(400, 7_900_000, is_property=False),
    "property for 400": UpdateOverTokens(400, 900_000, is_property=True),
    "100 held peeks": HeldPeeks(1),
    "2,000 held peeks": HeldPeeks(20),
    "6,000 held peeks": HeldPeeks(60),
    "100 followers": Followers(),
    "churn": Churn(),
    "abandons of 2 MB": Abandons(2_000_000, 8192, ("abandoned", "abandoned", "abandoned")),
    "deferred with 6 MB": Abandons(2_000_000, 8192, ("abandoned", "abandoned", "defered")),
    "300 rules": EnlargingRules(300),
    "2,000 rules": EnlargingRules(2000),
    "a batch, 100 rules": Multiplied(rules=100),
    "a batch, 500 places": Multiplied(subscriptions=500),
    "a batch, 100 places, stored": Multiplied(100, messages=400, options=STORED),
    "40,000 expire, stored": Expiring(),
    "40,000 are deleted, stored": Deleting(),
    "empty messages": Filled(lambda number: message(b"")),
    "many sessions": Filled(lambda number: message(b"", session=f"{number}"), sessions=True),
    "session states": SessionStates(),
    "500 subscriptions": FanOut(),
    "values without size": ValuesWithoutSize(),
    "guesses of keys": PlainGuesses(),
    "guesses by tokens": TokenGuesses(),
}
