# SPDX-License-Identifier: MIT
"""A hostile server that breaks the protocol, or wears the client out. One class a case."""

import base64
import hashlib
import random
import re
import struct

from amqp_wire import ACCEPTED, ATTACH, BEGIN, CHALLENGE, DETACH, DISPOSITION, END, FLOW
from amqp_wire import MECHANISMS, OPEN, SASL_HEADER
from amqp_wire import Described, Symbol, frame
from hostile_case import CONSUME, ESCAPES, LONG_TEXT, MUCH, PEEK, RECEIVE, Case
from hostile_peer import MAX_FRAME_SIZE, Over, error

EMPTY_FRAME = struct.pack(">IBBH", 8, 2, 0, 0)


# Frames


class FrameBeyondTheSize(Case):
    says = "frame"
    size = MAX_FRAME_SIZE + 1

    def on_session(self, peer, link):
        self.reached += 1
        peer.send(struct.pack(">IBBH", self.size, 2, 0, link.channel))
        peer.flood(MUCH)


class FrameOfFourGigabytes(FrameBeyondTheSize):
    size = 0xFFFFFFFF


class FrameOfFourBytes(FrameBeyondTheSize):
    size = 4


class EndlessFrames(Case):
    command, lasts, code = CONSUME, 1.0, None
    flood_seconds = 3.0

    def noise(self, link):
        del link
        return EMPTY_FRAME

    def on_session(self, peer, link):
        self.reached += 1
        peer.flood(self.noise(link))


class EndlessFlows(EndlessFrames):
    """Each wants an answer, and the server does not read."""

    def noise(self, link):
        fields = [0, 0x7FFFFFFF, 0, 0x7FFFFFFF, link.handle, 0, 0, None, None, True]
        return frame(FLOW, fields, link.channel)


class EndlessFlowsOfTheSession(EndlessFrames):
    def noise(self, link):
        fields = [0, 0x7FFFFFFF, 0, 0x7FFFFFFF, None, None, None, None, None, True]
        return frame(FLOW, fields, link.channel)


class EndlessLinks(EndlessFrames):
    """The server attaches links, which the client refuses, and does not read."""

    def noise(self, link):
        fields = ["n" * 200, 1000, True, None, None, Described(0x28, ["a"]), Described(0x29, ["b"])]
        attach = frame(ATTACH, fields, link.channel)
        return attach + frame(DETACH, [1000, True], link.channel)


class EndlessSessions(EndlessFrames):
    lasts = 6.0
    says = "only the client may begin"

    def noise(self, link):
        return b"".join(
            frame(BEGIN, [None, 0, 1000, 1000, 255], channel) for channel in range(10, 5000)
        )


class RandomBytes(Case):
    says = "frame"

    def on_session(self, peer, link):
        self.reached += 1
        peer.flood(random.Random(1).randbytes(50_000))


class NestedLists(EndlessFrames):
    """Lists within lists, as deep as a frame takes."""

    lasts = 3.0

    def noise(self, link):
        depth, body = 7000, b"\x45"
        for _ in range(depth):
            body = b"\xd0" + struct.pack(">II", len(body) + 4, 1) + body
        body = b"\x00\x53\x13" + body[: MAX_FRAME_SIZE - 100]
        return struct.pack(">IBBH", len(body) + 8, 2, 0, link.channel) + body


class SettlesEverything(Case):
    """Also what was never sent."""

    command, code, says = (*RECEIVE, "--count", "1"), 0, "hello"

    def on_session(self, peer, link):
        self.reached += 1
        for role in (True, False):
            fields = [role, 0, 0xFFFFFFFF, True, Described(ACCEPTED, [])]
            peer.send(frame(DISPOSITION, fields, link.channel) * 1000)
        super().on_session(peer, link)


class HandleBeyondTheMost(Case):
    says = "handle-max"

    def on_attach(self, peer, link):
        self.reached += 1
        link.handle = 0xFFFFFFF0
        super().on_attach(peer, link)


# Opens and begins


class FrameSizeOfNothing(Case):
    """Some brokers refuse a connection so, and their close says why. It is awaited."""

    says = "max-frame-size"
    within = 40.0

    def on_open(self, peer):
        self.reached += 1
        peer.open(max_frame_size=0)


class OneChannel(Case):
    says = "no more links"

    def on_open(self, peer):
        self.reached += 1
        peer.open(channel_max=0)


class OneHandle(Case):
    """The client has attached its links before it knows."""

    command, lasts, code = CONSUME, 2.0, 0

    def on_begin(self, peer, channel):
        self.reached += 1
        peer.begin(channel, handle_max=0)


class HeartbeatEveryMillisecond(Case):
    command, lasts, code = CONSUME, 2.0, 0
    most_processor = 0.25

    def on_open(self, peer):
        self.reached += 1
        peer.open(idle=1)


class OpensAgain(Case):
    says = "opened twice"

    def on_session(self, peer, link):
        self.reached += 1
        peer.send(frame(OPEN, ["hostile"]))


# Links that come and go


class DetachesForEver(Case):
    """The session is granted and lost, again and again."""

    command, lasts, code = CONSUME, 2.0, 0

    def on_attach(self, peer, link):
        peer.attach(link)
        if link.is_session:
            self.reached += 1
            peer.detach(link, error("com.microsoft:session-lock-lost", LONG_TEXT))


class EndsForEver(DetachesForEver):
    def on_attach(self, peer, link):
        peer.attach(link)
        if link.is_session:
            self.reached += 1
            peer.send(frame(END, [error("amqp:internal-error", LONG_TEXT)], link.channel))


class HangsUpForEver(Case):
    """Once a session is granted."""

    command, lasts, code = CONSUME, 2.0, 0
    most_processor = 0.5

    def on_session(self, peer, link):
        self.reached += 1
        raise Over


# Silence


class Silent(Case):
    says = "in time|deadline passed"
    within = 40.0
    most_processor = 0.1

    def on_connection(self, peer):
        self.reached += 1
        peer.be_silent()


class SilentAfterOpen(Silent):
    command, is_long, within = PEEK, True, 70.0

    def on_connection(self, peer):
        pass

    def on_begin(self, peer, channel):
        self.reached += 1
        peer.be_silent()


class SilentAtAttach(SilentAfterOpen):
    """Not an answer is not the answer that there is no session."""

    command, says = RECEIVE, "deadline passed"

    def on_begin(self, peer, channel):
        peer.begin(channel)

    def on_attach(self, peer, link):
        if link.is_session:
            self.reached += 1
            peer.be_silent()
        super().on_attach(peer, link)


class SilentAfterClaim(SilentAfterOpen):
    def on_begin(self, peer, channel):
        peer.begin(channel)

    def on_claim(self, peer, link, request):
        self.reached += 1


class SilentAfterAttach(SilentAfterOpen):
    command, says, code = RECEIVE, "no session", 0

    def on_begin(self, peer, channel):
        peer.begin(channel)

    def on_attach(self, peer, link):
        if link.is_session:
            self.reached += 1
        else:
            peer.attach(link)


class SilentAfterMessage(Case):
    """Neither settlements nor detaches are answered. The client waits ten seconds for them."""

    command, lasts, code = CONSUME, 1.0, 1
    most_processor = 0.1

    def on_disposition(self, peer, channel, fields):
        self.reached += 1

    def on_detach(self, peer, link):
        pass


# SASL


class Garbage(Case):
    """The server does not hang up. Nobody will answer a close, so none is awaited."""

    says = "SASL|AMQP|peer"
    within = 3.0
    words = SASL_HEADER + bytes(range(256)) * 4

    def on_connection(self, peer):
        self.reached += 1
        peer.send(self.words)
        peer.be_deaf()


class AnotherProtocol(Garbage):
    words = ("HTTP/1.1 200 " + ESCAPES * 2000).encode()


class GarbageMechanisms(Case):
    says = "mechanism"
    within = 3.0

    def on_sasl(self, peer):
        self.reached += 1
        peer.offer(Symbol(ESCAPES * 10))
        peer.be_deaf()


class EndlessMechanisms(Case):
    """The client answers each, and the server does not read."""

    says = ""

    def on_sasl(self, peer):
        self.reached += 1
        peer.offer(Symbol("ANONYMOUS"))
        peer.flood(frame(MECHANISMS, [Symbol("ANONYMOUS")], kind=1))


class EndlessChallenges(Case):
    says = "SASL"

    def on_sasl(self, peer):
        self.reached += 1
        peer.offer(Symbol("ANONYMOUS"))
        peer.flood(frame(CHALLENGE, [b"guess"], kind=1))


class GarbageForAnOpen(Garbage):
    """SASL has gone well."""

    def on_connection(self, peer):
        pass

    def on_open(self, peer):
        super().on_connection(peer)


# WebSocket


class EndlessHead(Case):
    """An answer to the WebSocket handshake that does not end."""

    transport = "AmqpWebSockets"
    says = "WebSocket|HTTP|answer"

    def on_connection(self, peer):
        self.reached += 1
        peer.send(b"HTTP/1.1 101 Switching Protocols\r\n")
        peer.flood(b"X: " + MUCH + b"\r\n")


class AnotherProtocolThanHttp(Garbage):
    """Its greeting is no head of HTTP, and does not end like one."""

    transport = "AmqpWebSockets"
    says = "does not speak HTTP"
    words = b"220 mail.example ESMTP\r\n"


class EndlessPings(Case):
    """The client answers each, and the server does not read."""

    transport = "AmqpWebSockets"
    says = "lost|connect"

    def shake_hands(self, peer):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += peer.reader.read(1)
        key = re.search(rb"Sec-WebSocket-Key: (\S+)", head).group(1)
        salt = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key + salt).digest())
        peer.send(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Protocol: AMQPWSB10\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n"
        )

    def on_connection(self, peer):
        self.shake_hands(peer)
        self.reached += 1
        peer.flood(b"\x89\x7d" + b"p" * 125)


class EndlessEmptyFragments(EndlessPings):
    def on_connection(self, peer):
        self.shake_hands(peer)
        self.reached += 1
        peer.send(b"\x02\x00")
        peer.flood(b"\x00\x00")


class EndlessWebSocketMessage(EndlessPings):
    """One frame of four exabytes."""

    def on_connection(self, peer):
        self.shake_hands(peer)
        self.reached += 1
        peer.send(b"\x82\x7f" + struct.pack(">Q", 1 << 62) + SASL_HEADER)
        peer.flood(struct.pack(">IBBH", 400, 2, 1, 0) + b"\0" * 392)
