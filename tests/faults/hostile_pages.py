# SPDX-License-Identifier: MIT
"""A hostile server whose pages make no progress. A client that asks for page after page ends and
names it. One class a case."""

from hostile_case import PEEK, RECEIVE, SESSIONS, Case
from hostile_peer import answer, session_message


class SamePage(Case):
    """Shows the same message for ever."""

    command = PEEK
    says = "makes no progress: it was asked for messages from sequence number 2"
    numbers = (1,)

    def number(self):
        return self.numbers[min(self.reached, len(self.numbers)) - 1]

    def on_request(self, peer, link, request):
        self.reached += 1
        shown = session_message(b"hello", self.number())
        peer.deliver(link, answer(request, 200, "OK", {"messages": [{"message": shown}]}))


class SamePageToCounts(SamePage):
    command = ("counts", "orders")


class SamePageOfDeadLetters(SamePage):
    command = ("dead-letters", "list", "orders")


class SamePageToRedrive(SamePage):
    command = ("dead-letters", "redrive", "orders")


class NumbersThatFall(SamePage):
    numbers = (100, 99)
    says = "makes no progress: it was asked for messages from sequence number 101"


class NumbersBelowZero(SamePage):
    numbers = (-5,)
    says = "makes no progress"


class TheLastNumber(SamePage):
    numbers = ((1 << 63) - 1,)
    says = "makes no progress"


class SameSessions(Case):
    """Lists the same full page of sessions for ever."""

    command = SESSIONS
    says = "makes no progress: it lists the same sessions"
    sessions = tuple(f"s{number}" for number in range(1000))

    def on_request(self, peer, link, request):
        self.reached += 1
        body = {"skip": 0, "sessions-ids": list(self.sessions)}
        peer.deliver(link, answer(request, 200, "OK", body))


class OneSessionAThousandTimes(SameSessions):
    sessions = ("s1",) * 1000


class OneDeleted(Case):
    """Has deleted one message, for ever."""

    command = ("purge", "orders", "--yes")
    says = "makes no progress: asked to delete up to 500 messages, it has answered 1"

    def on_request(self, peer, link, request):
        self.reached += 1
        peer.deliver(link, answer(request, 200, "OK", {"message-count": 1}))


class CannotDelete(Case):
    """The client receives in order to delete, and the same message comes for ever."""

    command = ("purge", "orders", "--yes", "--wait", "100ms")
    says = "makes no progress: it delivers the same messages"

    def on_request(self, peer, link, request):
        refused = answer(request, 501, "Not Implemented", {}, "amqp:not-implemented")
        peer.deliver(link, refused)

    def on_attach(self, peer, link):
        peer.attach(link)

    def on_credit(self, peer, link, credit):
        for _ in range(credit if link.is_session else 0):
            self.reached += 1
            peer.deliver(link, session_message(b"hello"))


class SessionsOfNothing(CannotDelete):
    """A session after another, without a message."""

    command = ("purge", "orders", "--yes", "--wait", "10ms")
    says = "makes no progress: it grants sessions"

    def on_credit(self, peer, link, credit):
        self.reached += 1


class SameMessageToReceive(Case):
    command = RECEIVE
    says = "makes no progress: it delivers the same messages"

    def on_credit(self, peer, link, credit):
        if peer.holder is link:
            for _ in range(credit):
                self.reached += 1
                peer.deliver(link, session_message(b"hello"), settled=False)
