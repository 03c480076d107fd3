# SPDX-License-Identifier: MIT
"""Texts of a hostile server: too long, and not fit for a terminal. One class a case."""

from hostile_case import CONSUME, ESCAPES, LONG_TEXT, PEEK, RECEIVE, Case
from hostile_peer import MAX_FRAME_SIZE, answer, error, session_message


# Texts


class LongName(Case):
    """In an open, which the client may repeat where it names the broker."""

    command, lasts, code = CONSUME, 2.0, 0

    def on_open(self, peer):
        self.reached += 1
        peer.open(name=LONG_TEXT[: MAX_FRAME_SIZE - 2000])


class RefusesWithAText(Case):
    says = "no "
    name = "amqp:not-found"

    def on_attach(self, peer, link):
        if link.is_session:
            self.reached += 1
            peer.refuse(link, error(self.name, LONG_TEXT))
        else:
            peer.attach(link)


class RefusesWithALongName(RefusesWithAText):
    name = LONG_TEXT


class RefusesForEver(RefusesWithAText):
    command, lasts, code = CONSUME, 2.0, 0
    most_processor = 0.5


class ClosesWithAText(Case):
    says = "no "

    def on_session(self, peer, link):
        self.reached += 1
        peer.close(error("amqp:connection:forced", LONG_TEXT))


class ClosesForEver(ClosesWithAText):
    command, lasts, code = CONSUME, 2.0, 0
    most_processor = 0.5


class ClosesAtOnce(ClosesForEver):
    def on_begin(self, peer, channel):
        self.reached += 1
        peer.close(error("amqp:connection:forced", LONG_TEXT))


class RejectsTheClaim(Case):
    says = "no "

    def on_claim(self, peer, link, request):
        self.reached += 1
        peer.deliver(link, answer(request, 401, LONG_TEXT))


class RejectsTheClaimForEver(RejectsTheClaim):
    command, lasts, code = CONSUME, 2.0, 0
    most_processor = 0.5


class HugeAnswerToClaim(Case):
    says = "max-message-size"

    def on_claim(self, peer, link, request):
        self.reached += 1
        peer.deliver(link, answer(request, 401, "no " * 10_000_000))


class RejectsThePeek(Case):
    command, says = PEEK, "no "

    def on_request(self, peer, link, request):
        self.reached += 1
        peer.deliver(link, answer(request, 500, LONG_TEXT))


class MessageWithEscapes(Case):
    """Also in the name of its session."""

    command, code, says = (*RECEIVE, "--count", "1"), 0, "title"

    def on_attach(self, peer, link):
        link.session = ESCAPES
        super().on_attach(peer, link)

    def on_session(self, peer, link):
        self.reached += 1
        message = session_message(ESCAPES.encode(), session=ESCAPES)
        peer.deliver(link, message, settled=False)
