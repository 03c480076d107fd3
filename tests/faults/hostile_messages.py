# SPDX-License-Identifier: MIT
"""Messages and answers of a hostile server, which take memory. One class a case."""

import struct

from amqp_wire import Described, Int, encode
from hostile_case import CONSUME, MUCH, PEEK, RECEIVE, SESSIONS, Case
from hostile_peer import answer, session_message
from raw_amqp import transfer


# Messages


class BeyondCredit(Case):
    says = "without credit"

    def on_session(self, peer, link):
        self.reached += 1
        message = session_message(MUCH)
        for _ in range(20_000):
            peer.deliver(link, message, settled=False)


class BeyondCreditAgain(BeyondCredit):
    command, lasts, code = CONSUME, 3.0, 0


class LargeMessages(Case):
    """As many as the credit allows, whatever the window is. Each session ends by that, and the
    client takes the next one."""

    command, lasts, code, says = CONSUME, 3.0, None, "hello"
    # What a processor may buffer, a message of each session, 16 MiB, and what sessions that ended
    # still have with handlers.
    most_grown = 96 << 20
    most_errors = 200  # of eight slots
    size = 1 << 20

    def on_credit(self, peer, link, credit):
        if link is peer.holder and credit > 0:
            self.on_session(peer, link, credit)

    def on_session(self, peer, link, credit=1):
        self.reached += 1
        peer.deliver(link, session_message(b"hello"), settled=False)
        message = session_message(b"x" * self.size)
        for _ in range(credit - 1):
            peer.deliver(link, message, settled=False)


class LargeMessagesOfSessions(LargeMessages):
    """Every link has a session of its own."""

    # Eight handlers, of which one prints while the others wait with their messages.
    most_grown = 112 << 20

    def on_attach(self, peer, link):
        link.session = link.name
        peer.attach(link)

    def on_credit(self, peer, link, credit):
        if link.is_session and credit > 0:
            self.on_session(peer, link, credit)


class HugeAfterSmall(LargeMessages):
    """The client has learnt that messages are small, and gives credit for as many."""

    small = 300

    def on_session(self, peer, link, credit=1):
        for _ in range(credit):
            self.small -= 1
            is_small = self.small > 0
            self.reached += not is_small
            body = b"hello" if is_small else b"x" * self.size
            peer.deliver(link, session_message(body), settled=False)


class HugeAfterSmallOfSessions(HugeAfterSmall, LargeMessagesOfSessions):
    small = 1000
    # Where a session ends, the settlement of each small message on its way fails and is told.
    most_errors = LargeMessages.most_errors + small / LargeMessages.lasts


class HugeAfterSmallSettled(HugeAfterSmall):
    """It settles what it sends, so nothing of it is answered."""

    def on_session(self, peer, link, credit=1):
        honest = peer.deliver
        peer.deliver = lambda link, message, settled: honest(link, message, settled=True)
        super().on_session(peer, link, credit)
        peer.deliver = honest


class EndlessMessage(Case):
    """The client takes messages as large as Service Bus's largest, of 100 MiB."""

    command = ("receive", "orders", "--wait", "15s")
    says = "does not end"
    most_grown = 120 << 20  # of messages that have not ended it keeps 112 MiB
    flood_seconds = 15.0

    def endless(self, peer, link, part=MUCH):
        self.reached += 1
        peer.send(transfer(link.handle, 0, part, link.channel, more=True, settled=False))
        peer.flood(transfer(link.handle, 0, part, link.channel, more=True, first=False))

    def on_session(self, peer, link):
        self.endless(peer, link)


class EndlessAnswerToClaim(EndlessMessage):
    most_grown, says = Case.most_grown, "max-message-size"

    def on_claim(self, peer, link, request):
        self.endless(peer, link)


class EndlessAnswer(EndlessMessage):
    command = PEEK

    def on_request(self, peer, link, request):
        self.endless(peer, link)


class EndlessMessageOfNothing(EndlessMessage):
    command, lasts, code, says = CONSUME, 1.0, None, ""
    most_grown, flood_seconds = Case.most_grown, 3.0

    def on_session(self, peer, link):
        self.endless(peer, link, b"")


class AnswersToNothing(Case):
    """Answers that nobody asked for, and none to what was asked."""

    command, says = PEEK, "127.0.0.1|management"

    def on_request(self, peer, link, request):
        self.reached += 1
        request[0x73][0] = "nobody"
        message = answer(request, 200, "OK", {"text": "y" * 5000})
        peer.flood(transfer(link.handle, link.sent, message, link.channel))


class BeyondWindow(Case):
    """Frames of a message, more than the session's window takes, at once."""

    command, lasts, code = CONSUME, 3.0, 0

    def on_session(self, peer, link):
        self.reached += 1
        peer.send(transfer(link.handle, 0, b"x", link.channel, more=True, settled=False))
        part = transfer(link.handle, 0, b"x", link.channel, more=True, first=False)
        peer.send(part * 50_000)


# Answers that are small until they are decoded


class AnswerOfNulls(Case):
    command, code = PEEK, None
    body = b"\xd0" + struct.pack(">II", 4 + 8_000_000, 8_000_000) + b"\x40" * 8_000_000

    def on_request(self, peer, link, request):
        self.reached += 1
        whole = answer(request, 200, "OK", None)
        at = len(whole) - len(encode(Described(0x77, None)))
        peer.deliver(link, whole[:at] + b"\x00\x53\x77" + self.body)


class AnswerOfCountedNulls(AnswerOfNulls):
    """An array: four billion elements without a byte each."""

    body = b"\xf0" + struct.pack(">II", 5, 0xFFFFFFFF) + b"\x40"


class NestedAnswer(AnswerOfNulls):
    """Lists within lists, a million deep."""

    depth = 1_000_000
    body = b"".join(
        b"\xd0" + struct.pack(">II", 9 * left - 4, 1) for left in range(depth, 0, -1)
    ) + b"\x45"


class AnswerOfNestedWords(AnswerOfNulls):
    """A description that is a list."""

    says = ""

    def on_request(self, peer, link, request):
        self.reached += 1
        properties = Described(0x73, [None] * 5 + [request[0x73][0]])
        words = ("statusCode", Int(500), "statusDescription")
        entries = b"".join(encode(word) for word in words) + self.body
        said = b"\x00\x53\x74\xd1" + struct.pack(">II", len(entries) + 4, 4) + entries
        peer.deliver(link, encode(properties) + said + encode(Described(0x77, {})))


class EndlessPages(Case):
    """Always another full page of sessions that were not listed yet."""

    command, code, says = SESSIONS, 1, "more than 128 MiB"
    most_grown = 256 << 20  # what the client collects, while its list grows

    def on_request(self, peer, link, request):
        self.reached += 1
        ids = [f"{self.reached}-{number}-" + "i" * 10_000 for number in range(1000)]
        peer.deliver(link, answer(request, 200, "OK", {"skip": 0, "sessions-ids": ids}))


class MessageOfProperties(Case):
    """Four million, without a name and a value each."""

    most_grown = 80 << 20  # its 12 MB are also printed, in base64
    command, code = (*RECEIVE, "--count", "1"), None
    entries = b"\xa1\x00\x40" * 4_000_000
    section = b"\x00\x53\x74\xd1" + struct.pack(">II", len(entries) + 4, 8_000_000) + entries

    def on_session(self, peer, link):
        self.reached += 1
        whole = session_message(b"hello")
        at = len(whole) - len(encode(Described(0x75, b"hello")))
        peer.deliver(link, whole[:at] + self.section + whole[at:], settled=False)


class MessageOfNulls(MessageOfProperties):
    most_grown = 88 << 20  # its 8 MiB are also printed, in base64, as the body and as a section

    def on_session(self, peer, link):
        self.reached += 1
        whole = session_message(b"hello")
        at = len(whole) - len(encode(Described(0x75, b"hello")))
        peer.deliver(link, whole[:at] + b"\x00\x53\x77" + AnswerOfNulls.body, settled=False)


# Message groups


class BeyondCreditOfGroups(Case):
    """The client grants more while messages come, until it has buffered enough."""

    command, lasts, code = CONSUME, 3.0, None
    most_grown = LargeMessages.most_grown
    dialect = "artemis"

    def on_credit(self, peer, link, credit):
        if link.is_answering and link.sent == 0:
            self.on_session(peer, link)

    def on_session(self, peer, link):
        self.reached += 1
        message = session_message(b"x" * 8000)
        for _ in range(20_000):
            peer.deliver(link, message, settled=False)


class EndlessMessageOfGroups(EndlessMessage):
    """No session has begun, so the client's log tells."""

    command, lasts, code = CONSUME, 12.0, None
    dialect = "artemis"

    def on_credit(self, peer, link, credit):
        if link.is_answering and link.sent == 0:
            self.on_session(peer, link)


class LargeMessagesOfGroups(LargeMessages):
    dialect = "artemis"

    def on_credit(self, peer, link, credit):
        if link.is_answering and credit > 0:
            self.on_session(peer, link, credit)


class HugeAfterSmallOfGroups(HugeAfterSmall):
    dialect = "artemis"

    def on_credit(self, peer, link, credit):
        if link.is_answering and credit > 0:
            self.on_session(peer, link, credit)


class UndecodableMessage(Case):
    """One among others: a property is an array of a million times true, in ten bytes. Each message
    is shown and settled."""

    command, code = (*RECEIVE, "--count", "3"), 0
    says = r"(?s)hello1.*malformed application property 'k'.*hello3"
    section = b"\x00\x53\x74\xc1\x0e\x02\xa1\x01k\xf0\x00\x00\x00\x05\x00\x0f\x42\x40\x41"

    def messages(self):
        body = len(encode(Described(0x75, b"hello1")))
        whole = [session_message(f"hello{number}".encode(), number) for number in (1, 2, 3)]
        whole[1] = whole[1][:-body] + self.section + whole[1][-body:]
        return whole

    def on_session(self, peer, link):
        self.reached += 1
        for message in self.messages():
            peer.deliver(link, message, settled=False)


class UndecodableMessageToPeek(UndecodableMessage):
    command = PEEK

    def on_request(self, peer, link, request):
        shown = [] if self.reached else [{"message": message} for message in self.messages()]
        self.reached += 1
        peer.deliver(link, answer(request, 200 if shown else 204, "OK", {"messages": shown}))
