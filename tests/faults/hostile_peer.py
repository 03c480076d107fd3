# SPDX-License-Identifier: MIT
"""The server's half of an AMQP connection, as far as `sessionq` needs it. Honest, unless the case
it serves does something else instead. Shares no code with the product. The standard library only.
"""

import time

from amqp_wire import ACCEPTED, AMQP_HEADER, ATTACH, BEGIN, CLOSE, DETACH, DISPOSITION, END, FLOW
from amqp_wire import INIT, MECHANISMS, OPEN, OUTCOME, SASL_HEADER, TRANSFER
from amqp_wire import Described, FrameReader, Int, Long, Symbol, Ubyte, decode, encode, frame
from raw_amqp import transfer

SESSION = "s1"
SESSION_FILTER = Symbol("com.microsoft:session-filter")
LOCKED_UNTIL = Symbol("com.microsoft:locked-until-utc")
TICKS_TO_1970 = 621_355_968_000_000_000  # of 100 ns
ERROR = 0x1D
CREDIT = 1000
MAX_FRAME_SIZE = 16384  # what `sessionq` takes
MOST_IN_FRAME = MAX_FRAME_SIZE - 384  # beside the performative


class Over(Exception):
    """The connection has ended."""


class Link:
    """`is_answering`: the client receives."""

    def __init__(self, channel, fields):
        self.channel = channel
        self.name, self.handle, self.is_answering = fields[:3]
        end = fields[5] if self.is_answering else fields[6]
        self.address = end.value[0]
        wanted = end.value[7] if self.is_answering and len(end.value) > 7 else None
        self.is_session = isinstance(wanted, dict) and SESSION_FILTER in wanted
        self.sent = 0
        self.is_attached = False
        self.session = SESSION  # which it is granted


def error(name, text):
    return Described(ERROR, [Symbol(name), text])


def session_message(body, number=1, session=SESSION):
    parts = Described(0x72, {Symbol("x-opt-sequence-number"): Long(number)})
    properties = Described(0x73, [f"m{number}"] + [None] * 9 + [session])
    return encode(parts) + encode(properties) + encode(Described(0x75, body))


def sections(message):
    at, found = 0, {}
    while at < len(message):
        section, at = decode(message, at)
        found[section.code] = section.value
    return found


def answer(request, status, text, body=None, condition=None):
    """To a request to $cbs or to a management node."""
    properties = Described(0x73, [None] * 5 + [request[0x73][0]])
    said = {"status-code": Int(status), "status-description": text}
    said.update({"statusCode": Int(status), "statusDescription": text})
    if condition is not None:
        said["errorCondition"] = Symbol(condition)
    return encode(properties) + encode(Described(0x74, said)) + encode(Described(0x77, body))


class Peer:
    def __init__(self, stream, case):
        self.stream = stream
        self.case = case
        self.reader = FrameReader(stream, Over)
        self.links = {}  # by channel and handle
        self.sent = 0  # deliveries
        self.holder = None  # the link that has the session
        self.requests = {}  # beginnings of what the client sends, by channel and handle

    # Bytes

    def send(self, data):
        try:
            self.stream.sendall(data)
        except OSError as ended:
            raise Over from ended

    def flood(self, data):
        """Sends it again and again for a while, reads nothing, and hangs up."""
        many = data * max(1, (1 << 18) // len(data))
        until = time.monotonic() + self.case.flood_seconds
        while time.monotonic() < until:
            self.send(many)
        raise Over

    def be_silent(self):
        """Reads what comes and answers nothing, until the client hangs up."""
        while True:
            self.reader.read(1)

    def be_deaf(self):
        """Neither reads nor hangs up, also where the client does."""
        time.sleep(2 * self.case.within)
        raise Over

    # The conversation

    def serve(self):
        self.case.on_connection(self)
        self.reader.read(len(SASL_HEADER))
        self.case.on_sasl(self)
        self.reader.read(len(AMQP_HEADER))
        self.case.on_open(self)
        while True:
            self.step(*self.reader.read_frame())

    def offer(self, mechanisms):
        self.send(SASL_HEADER + frame(MECHANISMS, [mechanisms], kind=1))

    def let_in(self):
        while self.reader.read_frame()[1] != INIT:
            pass
        self.send(frame(OUTCOME, [Ubyte(0)], kind=1))

    def open(self, max_frame_size=65536, channel_max=255, idle=None, name="hostile"):
        fields = [name, None, max_frame_size, channel_max, idle]
        self.send(AMQP_HEADER + frame(OPEN, fields))

    def begin(self, channel, handle_max=1023):
        self.send(frame(BEGIN, [channel, 0, 0x7FFFFFFF, 0x7FFFFFFF, handle_max], channel))

    def attach(self, link):
        """Grants what the client asks for."""
        link.is_attached = True
        filters = {SESSION_FILTER: link.session} if link.is_session else None
        until = TICKS_TO_1970 + int((time.time() + 60) * 10_000_000)
        source = Described(0x28, [link.address] + [None] * 6 + [filters])
        fields = [link.name, link.handle, not link.is_answering, None, None]
        fields += [source, Described(0x29, [link.address]), None, None]
        fields += [0 if link.is_answering else None, None, None, None]
        fields += [{LOCKED_UNTIL: Long(until)} if link.is_session else None]
        self.send(frame(ATTACH, fields, link.channel))
        if not link.is_answering:
            credit = [0, 0x7FFFFFFF, 0, 0x7FFFFFFF, link.handle, 0, CREDIT]
            self.send(frame(FLOW, credit, link.channel))

    def refuse(self, link, why=None):
        fields = [link.name, link.handle, not link.is_answering, None, None, None, None]
        fields += [None, None, 0 if link.is_answering else None]
        self.send(frame(ATTACH, fields, link.channel))
        self.detach(link, why)

    def detach(self, link, why=None):
        self.send(frame(DETACH, [link.handle, True, why], link.channel))

    def part(self, link):
        """Answers a detach."""
        if link.is_attached:
            self.detach(link)
        else:
            self.refuse(link)

    def settle(self, channel, first, last):
        settled = [False, first, last, True, Described(ACCEPTED, [])]
        self.send(frame(DISPOSITION, settled, channel))

    def close(self, why=None):
        self.send(frame(CLOSE, [why]))

    def deliver(self, link, message, settled=True):
        """In frames that are as full as can be."""
        number, self.sent, link.sent = self.sent, self.sent + 1, link.sent + 1
        for at in range(0, max(1, len(message)), MOST_IN_FRAME):
            more = at + MOST_IN_FRAME < len(message)
            part = message[at : at + MOST_IN_FRAME]
            self.send(transfer(link.handle, number, part, link.channel, more, at == 0, settled))

    def answer_drain(self, link, count):
        """What is not sent by now is not sent on this credit."""
        drained = [0, 0x7FFFFFFF, 0, 0x7FFFFFFF, link.handle, count, 0, None, True]
        self.send(frame(FLOW, drained, link.channel))

    def answering(self, link):
        """The link on which the answers to this link's requests go back."""
        for each in self.links.values():
            if each.is_answering and each.address == link.address:
                return each
        raise Over

    def step(self, channel, code, fields, payload):
        if code == BEGIN:
            self.case.on_begin(self, channel)
        elif code == ATTACH:
            link = Link(channel, fields)
            self.links[channel, link.handle] = link
            self.case.on_attach(self, link)
        elif code == FLOW and len(fields) > 6 and (channel, fields[4]) in self.links:
            link = self.links[channel, fields[4]]
            self.case.on_credit(self, link, (fields[5] or 0) + fields[6] - link.sent)
            if len(fields) > 8 and fields[8]:
                self.answer_drain(link, (fields[5] or 0) + fields[6])
        elif code == TRANSFER:
            self.take(self.links[channel, fields[0]], fields, payload)
        elif code == DISPOSITION:
            self.case.on_disposition(self, channel, fields)
        elif code == DETACH and (link := self.links.pop((channel, fields[0]), None)) is not None:
            self.holder = None if self.holder is link else self.holder
            self.case.on_detach(self, link)
        elif code == END:
            self.send(frame(END, [], channel))
        elif code == CLOSE:
            self.close()
            raise Over

    def take(self, link, fields, payload):
        begun = self.requests.pop((link.channel, link.handle), b"") + payload
        if len(fields) > 5 and fields[5]:
            self.requests[link.channel, link.handle] = begun
        elif link.address == "$cbs":
            self.case.on_claim(self, self.answering(link), sections(begun))
        else:
            self.case.on_request(self, self.answering(link), sections(begun))
