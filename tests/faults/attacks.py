# SPDX-License-Identifier: MIT
"""Attacks on sessionqd. Each is a function that goes on until an instant, and returns how often
the broker cut it off or made it wait. None uses code of the product.

Run as a program, this performs attacks at once: attacks.py NAMES-AS-JSON PORTS-AS-JSON SECONDS
"""

import concurrent.futures
import json
import os
import random
import socket
import struct
import sys
import time

import raw_amqp as amqp
from amqp_wire import SASL_HEADER, Described, Int, Long, Ulong
from amqp_wire import encode, message, put_token, shared_access_token
from raw_amqp import Cut, Peer, begin
from wire_client import SEND, Client, Closed, Management

CHUNK = b"x" * 60000


class Attacker:
    def __init__(self, ports, until, seed):
        self.ports = ports
        self.until = until
        self.random = random.Random(seed)
        # another address than the client's, so that shares by address are seen
        self.source = f"127.0.0.{2 + seed % 200}"
        self.cuts = 0

    @property
    def port(self):
        return self.ports["amqp"]

    def goes_on(self):
        return time.monotonic() < self.until

    def again(self, once):
        """Repeats `once` with new connections. It may end by being cut off or stalled."""
        while self.goes_on():
            try:
                once()
            except (Cut, Closed, TimeoutError, OSError):
                self.cuts += 1
                time.sleep(0.002)
        return self.cuts

    def peer(self, trusted=False, buffer=4096):
        return Peer(self.port, trusted, self.source, buffer)


# Without a token


def endless_message(attacker):
    """A message to $cbs that never ends. Detaches are ignored."""

    def once():
        peer = attacker.peer()
        peer.send(begin(0) + amqp.attach("s", 0, False, "x", "$cbs"))
        peer.send(amqp.transfer(0, 0, CHUNK, more=True))
        more = amqp.transfer(0, 0, CHUNK, more=True, first=False) * 16
        while attacker.goes_on():
            peer.send(more)

    return attacker.again(once)


def unread_pongs(attacker):
    """Pings over WebSocket whose pongs are not read."""
    ping = b"\x89\x80abcd" * 8000

    def once():
        stream = amqp.connect(attacker.ports["ws"], "ws", attacker.source)
        stream.settimeout(2)
        try:
            while attacker.goes_on():
                stream.sendall(ping)
        except socket.timeout:
            time.sleep(1)  # holds what it has
            raise
        finally:
            stream.close()

    return attacker.again(once)


def many_sessions(attacker):
    """5,000 AMQP sessions a connection."""

    def once():
        peer = attacker.peer()
        peer.send(b"".join(begin(channel) for channel in range(5000)))
        time.sleep(0.05)
        while attacker.goes_on():
            peer.read(0.2)

    return attacker.again(once)


def unread_claims(attacker):
    """Requests to $cbs whose answers are not read, on links that are attached again and again."""
    request = amqp.transfer(
        0, 0, put_token("sb://host/" + "a" * 500, "SharedAccessSignature x"), settled=True
    )

    def once():
        peer = attacker.peer()
        peer.send(begin(0))
        number = 0
        while attacker.goes_on():
            number += 1
            peer.send(
                amqp.attach("answers", 1, True, "$cbs", "answers")
                + amqp.attach("requests", 0, False, "requests", "$cbs")
                + request * 90
                + amqp.detach(0)
                + amqp.detach(1)
            )

    return attacker.again(once)


def silent(scheme):
    def attack(attacker):
        """Connections that say nothing."""
        held = []
        while attacker.goes_on():
            try:
                port = attacker.ports[scheme]
                held.append(amqp.connect(port, source=attacker.source, whole=False))
            except OSError:
                attacker.cuts += 1
                time.sleep(0.05)
            if len(held) >= 800:
                time.sleep(0.05)
                held = held[200:]
        return attacker.cuts

    return attack


def dripping(attacker):
    """A protocol header, one byte at a time, on many connections."""
    held = []
    while attacker.goes_on():
        if len(held) < 300:
            try:
                held.append([amqp.connect(attacker.port, source=attacker.source, whole=False), 0])
            except OSError:
                attacker.cuts += 1
        for each in list(held):
            try:
                each[0].send(SASL_HEADER[each[1] : each[1] + 1])
                each[1] = min(each[1] + 1, 6)
            except OSError:
                attacker.cuts += 1
                held.remove(each)
        time.sleep(0.01)
    return attacker.cuts


def garbage(attacker):
    """Random bytes behind a good start."""

    def once():
        peer = attacker.peer()
        peer.send(begin(0))
        peer.send(attacker.random.randbytes(5000))
        while peer.read(1):
            pass

    return attacker.again(once)


# With a token


def trusted(attacker):
    peer = attacker.peer(trusted=True)
    peer.send(begin(0))
    return peer


def unread_peeks(attacker):
    """Answers to peeks that are not read, on 100 AMQP sessions of a connection."""
    peek = amqp.management(
        "com.microsoft:peek-message",
        {"from-sequence-number": Long(0), "message-count": Int(250)},
    )

    def once():
        peer = trusted(attacker)
        for channel in range(1, 100):
            peer.send(
                begin(channel)
                + amqp.attach(f"a{channel}", 1, True, "orders/$management", "answers", channel)
                + amqp.attach(f"r{channel}", 0, False, "requests", "orders/$management", channel)
            )
            peer.send(amqp.transfer(0, 0, peek, channel) * 20)
        while attacker.goes_on():
            peer.read(1)

    return attacker.again(once)


def invented_claims(attacker):
    """Claims for thousands of audiences that do not exist, each 50 KB long."""

    def once():
        peer = attacker.peer()
        peer.send(begin(0) + amqp.attach("a", 1, True, "$cbs", "answers"))
        peer.send(amqp.attach("r", 0, False, "requests", "$cbs") + amqp.flow(1, 10000))
        number = 0
        while attacker.goes_on():
            length = attacker.random.choice((1500, 50000))
            audience = f"sb://host/{number}" + "a" * length
            request = put_token(audience, shared_access_token("sb://host"))
            peer.send(amqp.transfer(0, number, request))
            number += 1
            peer.read()

    return attacker.again(once)


def half_messages(attacker):
    """The first 900 KB of 400 messages."""

    def once():
        peer = trusted(attacker)
        for number in range(400):
            channel = number // 100
            if number % 100 == 0 and channel > 0:
                peer.send(begin(channel))
            handle = number % 100
            peer.send(amqp.attach(f"s{number}", handle, False, "x", "plain", channel))
            peer.send(amqp.transfer(handle, handle, CHUNK, channel, more=True))
            rest = amqp.transfer(handle, handle, CHUNK, channel, more=True, first=False)
            peer.send(rest * 14)
        while attacker.goes_on():
            peer.read(1)

    return attacker.again(once)


def long_names(attacker):
    """Thousands of links with names of 60 KB."""

    def once():
        peer = trusted(attacker)
        name = "n" * 60000
        for number in range(10000):
            channel = number // 1000
            if number % 1000 == 0 and channel > 0:
                peer.send(begin(channel))
            peer.send(amqp.attach(f"{name}{number}", number % 1000, False, "x", "plain", channel))
            peer.read()

    return attacker.again(once)


def many_links(attacker):
    """Ten thousand links, attached and left."""

    def once():
        peer = trusted(attacker)
        for number in range(10000):
            channel = number // 1000
            if number % 1000 == 0 and channel > 0:
                peer.send(begin(channel))
            peer.send(amqp.attach(f"{number}", number % 1000, True, "plain", "x", channel))
            peer.read()
        while attacker.goes_on():
            peer.read(1)

    return attacker.again(once)


def many_values(attacker):
    """A request of 8 MB that is a list of nulls, which take 40 times as much when they are read."""
    nulls = b"\xd0" + struct.pack(">II", 8_000_004, 8_000_000) + b"\x40" * 8_000_000
    request = encode(Described(0x73, [Ulong(1), None, None, None, "answers"]))
    request += encode(Described(0x74, {"operation": "x"})) + b"\x00\x53\x77" + nulls

    def once():
        peer = trusted(attacker)
        peer.send(amqp.attach("a", 1, True, "orders/$management", "answers"))
        peer.send(amqp.attach("r", 0, False, "requests", "orders/$management"))
        while attacker.goes_on():
            peer.send(amqp.transfer(0, 0, request[:60000], more=True))
            for at in range(60000, len(request), 60000):
                last = at + 60000 >= len(request)
                peer.send(
                    amqp.transfer(0, 0, request[at : at + 60000], more=not last, first=False)
                )
            peer.read()

    return attacker.again(once)


def costly_rules(attacker):
    """Thirty rules that look for a text which is nearly in a long property."""
    expression = "a LIKE '%" + "a" * 500 + "b%'"

    def once():
        client = Client(attacker.port, timeout=5)
        try:
            management = Management(client, "news/Subscriptions/s")
            for number in range(30):
                rule = {"sql-filter": {"expression": expression}}
                name = f"rule {number}"
                management.ask("add-rule", {"rule-name": name, "rule-description": rule})
            link = client.attach("news", SEND)
            while attacker.goes_on():
                client.send(link, message(b"x", properties={"a": "a" * 60000}))
        finally:
            client.close()

    return attacker.again(once)


def unread_messages(attacker):
    """Receives with much credit, on 100 AMQP sessions, and reads nothing."""

    def once():
        peer = trusted(attacker)
        for channel in range(1, 100):
            peer.send(
                begin(channel, window=1)
                + amqp.attach(f"m{channel}", 0, True, "plain", "x", channel)
                + amqp.flow(0, 100000, channel)
            )
        time.sleep(2)
        raise Cut("by itself")

    return attacker.again(once)


ATTACKS = {
    "endless message": endless_message,
    "unread pongs": unread_pongs,
    "many sessions": many_sessions,
    "unread claims": unread_claims,
    "silent TCP": silent("amqp"),
    "silent TLS": silent("amqps"),
    "silent WS": silent("ws"),
    "silent WSS": silent("wss"),
    "dripping": dripping,
    "garbage": garbage,
    "unread peeks": unread_peeks,
    "invented claims": invented_claims,
    "half messages": half_messages,
    "long names": long_names,
    "many links": many_links,
    "many values": many_values,
    "unread messages": unread_messages,
    "costly rules": costly_rules,
}


def main():
    names, ports, seconds = json.loads(sys.argv[1]), json.loads(sys.argv[2]), float(sys.argv[3])
    os.nice(19)  # attackers are elsewhere; what they cost here is not measured
    until = time.monotonic() + seconds
    with concurrent.futures.ThreadPoolExecutor(len(names)) as pool:
        attacks = [
            pool.submit(ATTACKS[name], Attacker(ports, until, seed))
            for seed, name in enumerate(names)
        ]
        print(sum(attack.result() for attack in attacks), flush=True)


if __name__ == "__main__":
    main()
