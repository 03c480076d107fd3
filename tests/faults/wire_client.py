# SPDX-License-Identifier: MIT
"""A small AMQP 1.0 client on a plain socket, which shares no code with the product. It speaks as
much of Service Bus's dialect as the campaigns need."""

import socket
import struct
import uuid

from amqp_wire import ACCEPTED, AMQP_HEADER, HOST, SASL_HEADER
from amqp_wire import ATTACH, BEGIN, CLOSE, DETACH, DISPOSITION, FLOW, INIT, OPEN, OUTCOME, TRANSFER
from amqp_wire import KEY, KEY_NAME, Described, FrameReader, Symbol
from amqp_wire import decode, frame, message, plain, put_token

SEND, RECEIVE = False, True  # the role of a link's own end
CREDIT = 1_000_000


class Closed(Exception):
    pass


class Client:
    """One connection with one AMQP session. Everything is synchronous. Without a name it has no
    rights, until it puts a token."""

    def __init__(self, port, timeout=120.0, name=KEY_NAME, key=KEY, source=None):
        own = (source, 0) if source else None
        self.socket = socket.create_connection((HOST, port), timeout, own)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = FrameReader(self.socket, Closed)
        self.sent = 0
        self.credit = {}  # by the peer's handle
        self.names = []  # of the links, by handle
        self.remote = {}  # the peer's handles by link name and role
        self.outcomes = {}  # by delivery number
        self.deliveries = []  # (handle, delivery number, tag, bytes)
        self.partial = {}
        self.detached = {}
        self.login(name, key)

    def login(self, name, key):
        self.socket.sendall(SASL_HEADER)
        self.reader.read(8)
        if name is None:
            self.write(INIT, [Symbol("ANONYMOUS"), b"campaign"], kind=1)
        else:
            self.write(INIT, [Symbol("PLAIN"), plain(name, key)], kind=1)
        while self.reader.read_frame()[1] != OUTCOME:
            pass
        self.socket.sendall(AMQP_HEADER)
        self.reader.read(8)
        self.write(OPEN, ["campaign", "localhost", 1 << 20])
        begin = [None, 0, 0x7FFFFFFF, 0x7FFFFFFF, 0xFFFF]
        self.write(BEGIN, begin)
        self.wait_for(lambda code, _: code == BEGIN)

    def write(self, code, fields, payload=b"", kind=0):
        self.socket.sendall(frame(code, fields, payload=payload, kind=kind))

    def step(self):
        """Reads one frame and notes what it says."""
        _, code, fields, payload = self.reader.read_frame()
        if code == ATTACH:
            self.remote[(fields[0], fields[2])] = fields[1]
        elif code == FLOW and len(fields) > 6 and fields[4] is not None:
            self.credit[fields[4]] = (fields[5] or 0) + fields[6]
        elif code == TRANSFER:
            self.on_transfer(fields, payload)
        elif code == DISPOSITION:
            last = fields[2] if len(fields) > 2 and fields[2] is not None else fields[1]
            for number in range(fields[1], last + 1):
                self.outcomes[number] = fields[4] if len(fields) > 4 else None
        elif code == DETACH:
            self.detached[fields[0]] = fields[2] if len(fields) > 2 else None
        elif code == CLOSE:
            raise Closed(fields[0].value[:2] if fields and fields[0] else None)
        return code, fields

    def on_transfer(self, fields, payload):
        handle = fields[0]
        first, data = self.partial.pop(handle, (fields, b""))
        if len(fields) > 5 and fields[5]:
            self.partial[handle] = (first, data + payload)
        else:
            self.deliveries.append((handle, first[1], first[2], data + payload))

    def wait_for(self, done):
        while not done(*self.step()):
            pass

    def attach(self, address, role, target=None, session=None, wait=True):
        handle = len(self.names)
        name = f"{role}-{handle}-{uuid.uuid4()}"
        self.names.append(name)
        source = [address if role == RECEIVE else name]
        if session is not None:
            source += [None] * 6 + [{Symbol("com.microsoft:session-filter"): session}]
        if role == RECEIVE:
            ends = [Described(0x28, source), Described(0x29, [target or name])]
        else:
            ends = [Described(0x28, source), Described(0x29, [address])]
        fields = [name, handle, role, None, None, *ends]
        if role == SEND:
            fields += [None, None, 0]
        self.write(ATTACH, fields)
        if wait:
            self.wait_for(lambda code, fields: code == ATTACH and fields[0] == name)
            if role == SEND:
                remote = self.remote[(name, RECEIVE)]
                while remote not in self.credit:
                    self.step()
        return handle

    def flow(self, handle, credit):
        self.write(FLOW, [0, 0x7FFFFFFF, 0, 0x7FFFFFFF, handle, 0, credit])

    def transfer(self, handle, data, batch=False, settled=False, state=None):
        """Sends in frames of 60,000 bytes. Returns the delivery's number."""
        number, self.sent = self.sent, self.sent + 1
        kind = 0x80013700 if batch else 0
        tag = struct.pack(">I", number)
        for at in range(0, max(1, len(data)), 60_000):
            more = at + 60_000 < len(data)
            fields = [handle, number, tag, kind, settled, more]
            if state is not None:
                fields += [None, state]
            self.write(TRANSFER, fields, data[at : at + 60_000])
        return number

    def outcome(self, number):
        while number not in self.outcomes:
            self.step()
        return self.outcomes.pop(number)

    def send(self, handle, data, batch=False):
        """Returns the outcome's code."""
        outcome = self.outcome(self.transfer(handle, data, batch))
        return outcome.code if outcome is not None else None

    def settle(self, first, last, state, settled=True):
        self.write(DISPOSITION, [RECEIVE, first, last, settled, state])

    def receive(self):
        while not self.deliveries:
            self.step()
        return self.deliveries.pop(0)

    def close(self):
        self.socket.close()


class Requests:
    """A node that answers requests."""

    def __init__(self, client, node):
        self.client = client
        self.reply_to = str(uuid.uuid4())
        self.sender = client.attach(node, SEND)
        receiver = client.attach(node, RECEIVE, target=self.reply_to)
        client.flow(receiver, CREDIT)

    def ask_with(self, request):
        """Returns the status code and the body of the answer, or the code of the outcome."""
        number = self.client.transfer(self.sender, request)
        outcome = self.client.outcome(number)
        if outcome is not None and outcome.code != ACCEPTED:
            return outcome.code, None
        answer = self.client.receive()[3]
        at, status, value = 0, None, None
        while at < len(answer):
            section, at = decode(answer, at)
            if section.code == 0x74:
                words = section.value  # $cbs has another name for it
                status = words.get("statusCode", words.get("status-code"))
            elif section.code == 0x77:
                value = section.value
        return status, value

    def put_token(self, audience, token):
        """At `$cbs`."""
        return self.ask_with(put_token(audience, token, self.reply_to))[0]


class Management(Requests):
    """The `$management` node of an entity."""

    def __init__(self, client, entity):
        super().__init__(client, entity + "/$management")

    def ask(self, operation, body, **properties):
        return self.ask_with(
            message(
                properties={"operation": "com.microsoft:" + operation, **properties},
                message_id=str(uuid.uuid4()),
                reply_to=self.reply_to,
                value=body,
            )
        )
