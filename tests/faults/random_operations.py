# SPDX-License-Identifier: MIT
"""What a random attacker does. An operation is its name and its arguments, drawn in advance: which
come does not depend on what the broker answers, so a seed gives the same sequence again. How far it
gets in its time does depend on it.

Each operation is a function on a Line, which is one connection with what it holds.
"""

import collections
import dataclasses
import socket
import time
import uuid

from amqp_wire import ACCEPTED, ATTACH, DETACH, FLOW, HOST, SASL_HEADER, TRANSFER
from amqp_wire import Array, Described, Int, Long, Symbol, decode, encode, frame, message
from costly_attacks import PEEK_WAIT, ZEROES, modified, rejected, section
from wire_client import RECEIVE, SEND, Client

QUEUES = ("plain", "orders", "short")
SUBSCRIPTIONS = ("news/Subscriptions/a", "news/Subscriptions/b", "lots/Subscriptions/s")
TOPICS = ("news", "lots")
DEAD_LETTERS = tuple(name + "/$DeadLetterQueue" for name in QUEUES + SUBSCRIPTIONS)
SENT_TO = QUEUES + TOPICS
RECEIVED_FROM = QUEUES + SUBSCRIPTIONS + DEAD_LETTERS
IN_SESSIONS = ("orders", "lots/Subscriptions/s")

EDGES = (1 << 10, 32 << 10, 64 << 10, 256 << 10, 1 << 20)
TEXTS = (0, 10, 1000, 32_000, 60_000)
LARGE_TEXTS = (*TEXTS, 300_000, 900_000, 4_000_000, 7_900_000)
ANSWER_SECONDS = 1.0


@dataclasses.dataclass
class Operation:
    name: str
    arguments: dict

    def __str__(self):
        words = ", ".join(f"{key}={value!r}" for key, value in self.arguments.items())
        return f"{self.name}({words})"


class Line:
    """One connection of an attacker. It attaches links as they are needed."""

    def __init__(self, port, login, source):
        self.port, self.source = port, source
        name, key = login or (None, None)
        self.client = Client(port, timeout=5.0, name=name, key=key, source=source)
        self.client.socket.settimeout(ANSWER_SECONDS)
        self.senders, self.receivers, self.managers = {}, {}, {}
        self.held = []  # (entity, delivery number, tag, sequence number)
        self.deferred = []  # (entity, sequence number), as far as this line deferred it
        self.figures = collections.Counter()  # what the broker said

    def pump(self, seconds, frames=20_000):
        """Reads what comes within this time."""
        until = time.monotonic() + seconds
        while frames > 0 and (left := until - time.monotonic()) > 0:
            self.client.socket.settimeout(left)
            try:
                self.client.step()
            except TimeoutError:
                break
            finally:
                self.client.socket.settimeout(ANSWER_SECONDS)
            frames -= 1
        self.collect()

    def collect(self):
        """Keeps what was received. Of answers to requests it keeps the status."""
        by_remote = {
            self.client.remote.get((self.client.names[handle], SEND)): entity
            for entity, handle in self.receivers.items()
        }
        for handle, number, tag, data in self.client.deliveries:
            if handle not in by_remote:
                self.figures[f"status {status_of(data)}"] += 1
            elif len(self.held) < 20_000:
                self.held.append((by_remote[handle], number, bytes(tag), sequence_of(data)))
                self.figures["received"] += 1
        self.client.deliveries.clear()
        for outcome in self.client.outcomes.values():
            self.figures["accepted" if outcome and outcome.code == ACCEPTED else "refused"] += 1
        self.client.outcomes.clear()

    def sender(self, entity):
        if entity not in self.senders:
            self.senders[entity] = self.client.attach(entity, SEND, wait=False)
            self.pump(0.02)
        return self.senders[entity]

    def receiver(self, entity, session):
        if entity not in self.receivers:
            handle = self.attach_receiver(entity, session)
            self.receivers[entity] = handle
        return self.receivers[entity]

    def attach_receiver(self, entity, session):
        if entity not in IN_SESSIONS:
            return self.client.attach(entity, RECEIVE, wait=False)
        handle = len(self.client.names)
        name = f"session-{uuid.uuid4()}"
        self.client.names.append(name)
        source = [entity] + [None] * 6 + [{Symbol("com.microsoft:session-filter"): session}]
        ends = [Described(0x28, source), Described(0x29, [name])]
        rest = [None] * 6 + [{Symbol("com.microsoft:timeout"): 200}]
        self.client.write(ATTACH, [name, handle, RECEIVE, None, None, *ends, *rest])
        return handle

    def ask(self, entity, operation, body, **properties):
        """Sends a request to the entity. Its answer is read with the rest, if anything is."""
        if entity not in self.managers:
            node = entity + "/$management"
            reply_to = str(uuid.uuid4())
            sender = self.client.attach(node, SEND, wait=False)
            answers = self.client.attach(node, RECEIVE, target=reply_to, wait=False)
            self.client.flow(answers, 100_000)
            self.managers[entity] = (sender, reply_to)
        sender, reply_to = self.managers[entity]
        request = message(
            properties={"operation": "com.microsoft:" + operation, **properties},
            message_id=str(uuid.uuid4()),
            reply_to=reply_to,
            value=body,
        )
        self.client.transfer(sender, request)


def status_of(answer):
    at = 0
    while at < len(answer):
        part, at = decode(answer, at)
        if part.code == 0x74:
            return part.value.get("statusCode")
    return None


def sequence_of(data):
    at = 0
    while at < len(data):
        part, at = decode(data, at)
        if part.code == 0x72:
            return part.value.get("x-opt-sequence-number", 0)
        if part.code in (0x75, 0x77):
            break
    return 0


# Sends


def content(size, session, properties, ttl, message_id):
    special = {
        "none": lambda: message(b"x" * size, session, None, ttl, message_id),
        "long": lambda: message(b"x" * size, session, {"a": "a" * 16_000}, ttl, message_id),
        "edge": lambda: message(b"x" * size, session, {"a": "a" * 32_768}, ttl, message_id),
        "many": lambda: message(
            b"x" * size, session, {f"{i}": i for i in range(3000)}, ttl, message_id
        ),
        "zeroes": lambda: section(0x74, [("k", ZEROES)]) + message(b"x" * size, session),
        "annotated": lambda: encode(Described(0x72, {Symbol("x-opt-k"): "a" * 30_000}))
        + message(b"x" * size, session),
    }
    return special[properties]()


def send(line, entity, size, session, properties, ttl, message_id, settled):
    data = content(size, session, properties, ttl, message_id)
    line.client.transfer(line.sender(entity), data, settled=settled)
    line.pump(0.01)


def batch(line, entity, count, size, session):
    one = encode(Described(0x75, message(b"b" * size, session)))
    line.client.transfer(line.sender(entity), one * count, batch=True)
    line.pump(0.02)


def half(line, entity, size, abandons):
    """Part of a message, that goes on never, or of a frame, before the connection is cut."""
    data = frame(TRANSFER, [line.sender(entity), 0, b"tag", 0, False, True], 0, b"h" * size)
    line.client.socket.sendall(data if not abandons else data[: len(data) // 2])
    if abandons:
        line.client.close()


def schedule(line, entity, count, size, delay, session):
    annotation = {Symbol("x-opt-scheduled-enqueue-time"): Long(int((time.time() + delay) * 1000))}
    one = encode(Described(0x72, annotation)) + message(b"s" * size, session)
    entry = {"message-id": "m", "message": one}
    line.ask(entity, "schedule-message", {"messages": [entry] * count})
    line.pump(0.02)


def cancel(line, entity, first, count):
    numbers = Array(list(range(first, first + count)))
    line.ask(entity, "cancel-scheduled-message", {"sequence-numbers": numbers})
    line.pump(0.01)


# Receives


def receive(line, entity, credit, session, seconds):
    line.client.flow(line.receiver(entity, session), credit)
    line.pump(seconds)


OUTCOMES = {
    "accepted": lambda text: Described(0x24, []),
    "released": lambda text: Described(0x26, []),
    "rejected": lambda text: rejected("t" * text),
    "abandoned": lambda text: modified({Symbol("k"): "t" * text}),
    "deferred": lambda text: modified({Symbol("k"): "t" * text}, defers=True),
}


def settle(line, outcome, text, start, share, settled):
    """One disposition for a part of what is held."""
    if not line.held:
        return
    first = int(start * (len(line.held) - 1))
    last = min(len(line.held) - 1, first + int(share * len(line.held)))
    state = OUTCOMES[outcome](min(text, 60_000))
    line.client.settle(line.held[first][1], line.held[last][1], state, settled)
    if outcome == "deferred":
        line.deferred += [(each[0], each[3]) for each in line.held[first : last + 1]]
    del line.held[first : last + 1]
    line.pump(0.02)


def update(line, status, text, start, share):
    """One request for a part of what is held."""
    if not line.held:
        return
    first = int(start * (len(line.held) - 1))
    some = line.held[first : first + 1 + int(share * min(len(line.held), 400))]
    entity = some[0][0]
    ours = [each for each in some if each[0] == entity and len(each[2]) == 16]
    tokens = [uuid.UUID(bytes_le=tag) for _, _, tag, _ in ours]
    if status == "defered":
        line.deferred += [(entity, each[3]) for each in ours]
    body = {"lock-tokens": Array(tokens), "disposition-status": status}
    if text and status == "suspended":
        body["deadletter-description"] = "t" * text
    elif text:
        body["properties-to-modify"] = {f"k{text % 3}": "t" * text}
    line.ask(entity, "update-disposition", body)
    line.pump(0.05)


def receive_deferred(line, entity, start, count, deletes):
    """Of one entity that has deferred messages. Without them, what is not there."""
    numbers = [Long(int(start * 1000))]
    if line.deferred:
        entity = line.deferred[int(start * len(line.deferred))][0]
        numbers = [Long(number) for each, number in line.deferred if each == entity]
    body = {
        "sequence-numbers": Array(numbers[:count]),
        "receiver-settle-mode": 0 if deletes else 1,
    }
    words = {}
    if entity in IN_SESSIONS and entity in line.receivers:
        words["associated-link-name"] = line.client.names[line.receivers[entity]]
    line.ask(entity, "receive-by-sequence-number", body, **words)
    line.pump(0.05)


def set_state(line, entity, size, session):
    handle = line.receiver(entity, session)
    line.pump(0.02)
    body = {"session-id": session, "session-state": b"s" * size}
    name = line.client.names[handle]
    line.ask(entity, "set-session-state", body, **{"associated-link-name": name})
    line.pump(0.02)


def set_states(line, entity, size, count):
    """States of new sessions, each on a link of its own."""
    for number in range(count):
        line.receivers.pop(entity, None)
        set_state(line, entity, size, f"state {number}")


def peek(line, entity, start, count, wait, times, reads):
    properties = {PEEK_WAIT: Long(wait)} if wait else {}
    body = {"from-sequence-number": Long(start), "message-count": Int(count)}
    for _ in range(times):
        line.ask(entity, "peek-message", body, **properties)
    if reads:
        line.pump(0.1)


def list_sessions(line, entity, skip):
    body = {"last-updated-time": Long(253402300799999), "skip": Int(skip), "top": Int(1000)}
    line.ask(entity, "get-message-sessions", body)
    line.pump(0.01)


# Rules


def add_rules(line, entity, first, count, condition, assignments):
    """Rules without action if nothing is assigned."""
    action = "; ".join(f"SET p{each} = a + a" for each in range(assignments))
    for number in range(first, first + count):
        rule = {"sql-filter": {"expression": condition}}
        if action:
            rule["sql-rule-action"] = {"expression": action}
        line.ask(entity, "add-rule", {"rule-name": f"r{number}", "rule-description": rule})
    line.pump(0.02)


def remove_rules(line, entity, first, count):
    for number in range(first, first + count):
        line.ask(entity, "remove-rule", {"rule-name": f"r{number}"})
    line.pump(0.02)


# Connections and links


def links(line, entity, role, count, leaves):
    first = len(line.client.names)
    for _ in range(count):
        line.client.attach(entity, role, wait=False)
    if leaves:
        for handle in range(first, first + count):
            line.client.write(DETACH, [handle, True])
    line.pump(0.02)


def churn(line, count, speaks):
    for _ in range(count):
        with socket.socket() as stream:
            stream.bind((line.source, 0))
            stream.setblocking(False)
            stream.connect_ex((HOST, line.port))
            if speaks:
                try:
                    stream.send(SASL_HEADER[:speaks])
                except OSError:
                    pass


def odd_flow(line, credit, window):
    line.client.write(FLOW, [0, window, 0, 0x7FFFFFFF, 0, 0, credit])


def garbage(line, data):
    line.client.socket.sendall(data)
    line.pump(0.05)


def read_nothing(line, seconds):
    time.sleep(seconds)


def read(line, seconds):
    line.pump(seconds)


def cut(line):
    line.client.close()


# What is drawn


def near(draw, sizes=EDGES):
    """Mostly small, sometimes around a limit."""
    if draw.random() < 0.6:
        return draw.choice((0, 1, 100, 1000, 5000))
    return max(0, draw.choice(sizes) + draw.choice((-3000, -300, -1, 0, 1, 300)))


def session_of(draw):
    return f"s{draw.randrange(6)}"


def session_for(draw, entity):
    return session_of(draw) if entity in ("orders", "lots") else None


def draw_send(draw):
    entity = draw.choice(SENT_TO)
    return {
        "entity": entity,
        "size": near(draw),
        "session": session_for(draw, entity),
        "properties": draw.choice(("none", "none", "long", "edge", "many", "zeroes", "annotated")),
        "ttl": draw.choice((None, None, 1, 500, 60_000)),
        "message_id": draw.choice((None, "same", f"{draw.random()}")),
        "settled": draw.random() < 0.3,
    }


def draw_batch(draw):
    entity = draw.choice(SENT_TO)
    count = draw.choice((1, 10, 250, 700, 4500))
    most = 1_050_000 // count
    return {
        "entity": entity,
        "count": count,
        "size": draw.choice((1, 100, min(1000, most), most)),
        "session": session_for(draw, entity),
    }


def draw_schedule(draw):
    entity = draw.choice(QUEUES)
    count = draw.choice((1, 20, 300))
    return {
        "entity": entity,
        "count": count,
        "size": draw.choice((10, 1000, 1_000_000 // count)),
        "delay": draw.choice((1, 5, 3600)),
        "session": session_for(draw, entity),
    }


def draw_receive(draw):
    return {
        "entity": draw.choice(RECEIVED_FROM),
        "credit": draw.choice((1, 10, 500, 8000)),
        "session": draw.choice((None, session_of(draw))),
        "seconds": draw.choice((0.02, 0.1, 0.5)),
    }


def draw_settle(draw):
    return {
        "outcome": draw.choice(tuple(OUTCOMES)),
        "text": draw.choice(TEXTS),
        "start": draw.random(),
        "share": draw.choice((0.0, 0.1, 1.0)),
        "settled": draw.random() < 0.5,
    }


def draw_update(draw):
    return {
        "status": draw.choice(("completed", "abandoned", "defered", "suspended")),
        "text": draw.choice(LARGE_TEXTS),
        "start": draw.random(),
        "share": draw.choice((0.0, 0.2, 1.0)),
    }


def draw_deferred(draw):
    return {
        "entity": draw.choice(QUEUES + SUBSCRIPTIONS),
        "start": draw.random(),
        "count": draw.choice((1, 10, 500)),
        "deletes": draw.random() < 0.5,
    }


def draw_peek(draw):
    return {
        "entity": draw.choice(RECEIVED_FROM),
        "start": draw.choice((0, 1, 1000, 1_000_000)),
        "count": draw.choice((0, 1, 250, 2**31 - 1)),
        "wait": draw.choice((0, 0, 1000, 60_000)),
        "times": draw.choice((1, 5, 120)),
        "reads": draw.random() < 0.6,
    }


def draw_rules(draw):
    conditions = ("1=1", "a LIKE '%" + "a" * 400 + "b%'", "1=0", "b IN (c, d, e)", "not sql")
    return {
        "entity": draw.choice(SUBSCRIPTIONS),
        "first": draw.randrange(400),
        "count": draw.choice((1, 10, 100)),
        "condition": draw.choice(conditions),
        "assignments": draw.choice((0, 1, 30)),
    }


def draw_links(draw):
    return {
        "entity": draw.choice(RECEIVED_FROM + TOPICS + ("missing",)),
        "role": draw.random() < 0.5,
        "count": draw.choice((1, 10, 300)),
        "leaves": draw.random() < 0.5,
    }


LISTENS, SENDS, NOBODY = "listen", "send", ""

# name: the function, who may do it, how often, and what draws its arguments
OPERATIONS = {
    "send": (send, SENDS, 10, draw_send),
    "batch": (batch, SENDS, 5, draw_batch),
    "half": (
        half,
        SENDS,
        1,
        lambda draw: {
            "entity": draw.choice(SENT_TO),
            "size": draw.choice((10, 60_000)),
            "abandons": draw.random() < 0.5,
        },
    ),
    "schedule": (schedule, SENDS, 3, draw_schedule),
    "cancel": (
        cancel,
        SENDS,
        1,
        lambda draw: {
            "entity": draw.choice(QUEUES),
            "first": draw.randrange(1, 2000),
            "count": draw.choice((1, 100, 4000)),
        },
    ),
    "receive": (receive, LISTENS, 10, draw_receive),
    "settle": (settle, LISTENS, 10, draw_settle),
    "update": (update, LISTENS, 6, draw_update),
    "receive deferred": (receive_deferred, LISTENS, 3, draw_deferred),
    "set state": (
        set_state,
        LISTENS,
        3,
        lambda draw: {
            "entity": draw.choice(IN_SESSIONS),
            "size": near(draw),
            "session": session_of(draw),
        },
    ),
    "set states": (
        set_states,
        LISTENS,
        1,
        lambda draw: {
            "entity": draw.choice(IN_SESSIONS),
            "size": near(draw),
            "count": draw.choice((5, 40)),
        },
    ),
    "peek": (peek, LISTENS, 8, draw_peek),
    "list sessions": (
        list_sessions,
        LISTENS,
        1,
        lambda draw: {"entity": draw.choice(IN_SESSIONS), "skip": draw.choice((0, 5, 100_000))},
    ),
    "add rules": (add_rules, LISTENS, 3, draw_rules),
    "remove rules": (
        remove_rules,
        LISTENS,
        1,
        lambda draw: {
            "entity": draw.choice(SUBSCRIPTIONS),
            "first": draw.randrange(400),
            "count": draw.choice((1, 100)),
        },
    ),
    "links": (links, NOBODY, 2, draw_links),
    "churn": (
        churn,
        NOBODY,
        2,
        lambda draw: {"count": draw.choice((10, 200)), "speaks": draw.choice((0, 3, 8))},
    ),
    "odd flow": (
        odd_flow,
        NOBODY,
        1,
        lambda draw: {
            "credit": draw.choice((0, 1, 2**32 - 1)),
            "window": draw.choice((0, 1, 2**31 - 1)),
        },
    ),
    "garbage": (garbage, NOBODY, 1, lambda draw: {"data": draw.randbytes(draw.choice((5, 500)))}),
    "read nothing": (
        read_nothing,
        NOBODY,
        1,
        lambda draw: {"seconds": draw.choice((0.1, 0.5, 1.5))},
    ),
    "read": (read, NOBODY, 3, lambda draw: {"seconds": draw.choice((0.05, 0.3))}),
    "cut": (cut, NOBODY, 1, lambda draw: {}),
}
MAY = {
    "nobody": (NOBODY,),
    "listen": (NOBODY, LISTENS),
    "send": (NOBODY, SENDS),
    "both": (NOBODY, LISTENS, SENDS),
}
TRESPASS = 0.03  # how often somebody tries what it has no right to


def operations(draw, rights):
    """What an attacker with these rights does, without end."""
    allowed = [name for name, each in OPERATIONS.items() if each[1] in MAY[rights]]
    weights = [OPERATIONS[name][2] for name in allowed]
    while True:
        trespasses = draw.random() < TRESPASS
        names = list(OPERATIONS) if trespasses else draw.choices(allowed, weights)
        name = draw.choice(names)
        yield Operation(name, OPERATIONS[name][3](draw))


def perform(line, operation):
    OPERATIONS[operation.name][0](line, **operation.arguments)
