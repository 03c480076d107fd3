# SPDX-License-Identifier: MIT
"""What a case of the campaign is: a server that is honest up to a point."""

from amqp_wire import Symbol
from hostile_peer import MOST_IN_FRAME, answer, session_message

RECEIVE = ("receive", "orders", "--wait", "1s")
CONSUME = ("consume", "orders")
PEEK = ("peek", "orders")
SESSIONS = ("sessions", "orders")
MUCH = b"x" * MOST_IN_FRAME
# Clears the screen, sets the title, writes over the line; in UTF-8 also C1 and right-to-left.
ESCAPES = "\x1b[2J\x1b]0;title\x07\r\n\x00\x9b31m\u202e"
LONG_TEXT = (ESCAPES + "no ") * 1000


class Case:
    """An honest server. A message waits in a session, and there is nothing to peek at."""

    command = RECEIVE
    lasts = None  # seconds until a SIGINT; None: the client ends by itself
    # Seconds that the client may take to end: less than an operation's timeout, 30 s. A busy
    # machine slows the server that feeds it, so its own work has a bound of its own.
    within = 25.0
    most_work = 3.0  # seconds of a processor
    code = 1  # the exit code; None: any
    says = ""  # a pattern of what the client writes
    most_errors = 50  # lines a second
    most_processor = None  # share of a processor; None: it has work to do
    most_grown = 64 << 20  # bytes of memory over what the client starts with
    is_long = False  # takes a minute; only if asked for
    flood_seconds = 2.0
    transport = "Amqp"
    dialect = None  # of message groups; None: Service Bus

    def __init__(self):
        self.reached = 0  # how often the server has misbehaved

    def on_connection(self, peer):
        pass

    def on_sasl(self, peer):
        peer.offer(Symbol("ANONYMOUS"))
        peer.let_in()

    def on_open(self, peer):
        peer.open()

    def on_begin(self, peer, channel):
        peer.begin(channel)

    def on_attach(self, peer, link):
        """One link has the session; the others wait for one."""
        if not link.is_session or peer.holder is None:
            peer.holder = link if link.is_session else peer.holder
            peer.attach(link)

    def on_credit(self, peer, link, credit):
        if peer.holder is link and credit > 0 and link.sent == 0:
            self.on_session(peer, link)

    def on_session(self, peer, link):
        """The client has a session, and credit for its messages."""
        peer.deliver(link, session_message(b"hello"), settled=False)

    def on_disposition(self, peer, channel, fields):
        peer.settle(channel, fields[1], fields[2] if len(fields) > 2 else fields[1])

    def on_detach(self, peer, link):
        peer.part(link)

    def on_claim(self, peer, link, request):
        peer.deliver(link, answer(request, 202, "Accepted"))

    def on_request(self, peer, link, request):
        peer.deliver(link, answer(request, 204, "No Content", {}))


class Honest(Case):
    command = (*RECEIVE, "--count", "1")
    code, says = 0, '"body":"hello"'

    def on_session(self, peer, link):
        self.reached += 1
        super().on_session(peer, link)


class HonestProcessor(Case):
    command, lasts, code, says = CONSUME, 2.0, 0, '"body":"hello"'

    def on_session(self, peer, link):
        self.reached += 1
        super().on_session(peer, link)
