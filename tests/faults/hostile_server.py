"""A hostile broker. The command line consumes from it and must stay within its memory, neither spin
nor hang, and say what is wrong in words that are fit for a terminal. The broker uses no code of the
product.

hostile_server.py --sessionq PROGRAM [--seconds 2] [CASE...]
"""

import argparse
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

from amqp_wire import ACCEPTED, AMQP_HEADER, ATTACH, BEGIN, CLOSE, DETACH, DISPOSITION, END, FLOW
from amqp_wire import HOST, MECHANISMS, OPEN, OUTCOME, SASL_HEADER, TRANSFER
from amqp_wire import Described, Int, Long, Symbol, Ubyte, Ushort
from amqp_wire import decode, encode, frame, message

MEBIBYTE = 1 << 20
BUDGET = 64 * MEBIBYTE  # max_buffered_bytes by default
SLACK = 16 * MEBIBYTE
LARGEST_MESSAGE = 112 * MEBIBYTE  # beyond what Azure Service Bus takes, a message is not awaited
MOST_CONNECTIONS = 12  # a second; a backoff grows from 100 ms
MOST_PROCESSOR = 0.5  # of one, where the server sends nothing
LONGEST_STOP = 15  # seconds
LONGEST_LINE = 3000
ACCEPT = Described(ACCEPTED, [])
NASTY = "\x1b[2J\x1b]0;title\x07\u009b31m\u202e" * 1300
TICKS_OF_1970 = 621355968000000000


class Broken(Exception):
    """The client has gone."""


class Connection:
    """What an honest broker does. Cases override what they spoil."""

    def __init__(self, stream):
        self.stream = stream
        self.unread = b""
        self.names = {}  # node of each link, by channel and the client's handle
        self.answers = {}  # where answers go, by node
        self.number = 0
        stream.settimeout(60)

    # frames

    def send(self, data):
        try:
            self.stream.sendall(data)
        except OSError as error:
            raise Broken from error

    def read_exactly(self, size):
        while len(self.unread) < size:
            try:
                more = self.stream.recv(1 << 20)
            except OSError as error:
                raise Broken from error
            if not more:
                raise Broken
            self.unread += more
        taken, self.unread = self.unread[:size], self.unread[size:]
        return taken

    def read_frame(self):
        while True:
            size, offset, _, channel = struct.unpack(">IBBH", self.read_exactly(8))
            body = self.read_exactly(size - 8)[offset * 4 - 8 :]
            if body:
                read, at = decode(body)
                return channel, read.code, read.value, body[at:]

    def run(self):
        self.read_exactly(8)
        self.on_sasl()
        self.read_exactly(8)
        self.send(AMQP_HEADER)
        handlers = {
            OPEN: self.on_open,
            BEGIN: self.on_begin,
            ATTACH: self.on_attach,
            FLOW: self.on_flow,
            TRANSFER: self.on_transfer,
            DISPOSITION: self.on_disposition,
            DETACH: self.on_detach,
            END: lambda channel, *_: self.send(frame(END, [], channel)),
            CLOSE: lambda *_: self.send(frame(CLOSE, [])),
        }
        while True:
            channel, code, fields, payload = self.read_frame()
            handlers[code](channel, fields + [None] * 16, payload)

    # what is answered

    def on_sasl(self):
        self.send(SASL_HEADER + frame(MECHANISMS, [Symbol("ANONYMOUS")], kind=1))
        self.read_frame()
        self.send(frame(OUTCOME, [Ubyte(0)], kind=1))

    def on_open(self, *_):
        self.send(frame(OPEN, ["hostile", None, 65536]))

    def on_begin(self, channel, *_):
        self.send(frame(BEGIN, [Ushort(channel), 0, 2048, 2048, 1023], channel))

    def on_attach(self, channel, fields, _):
        name, handle, client_receives = fields[0], fields[1], fields[2]
        source, target = fields[5], fields[6]
        node = source.value[0] if client_receives else target.value[0]
        self.names[(channel, handle)] = node
        is_session = client_receives and not node.startswith("$") and "$management" not in node
        ours = [node if client_receives else "client"]
        properties = None
        if client_receives and not is_session:
            self.answers[node] = (channel, handle)
        if is_session:
            ours += [None] * 6 + [{Symbol("com.microsoft:session-filter"): "victim"}]
            until = TICKS_OF_1970 + int((time.time() + 30) * 10_000_000)
            properties = {Symbol("com.microsoft:locked-until-utc"): Long(until)}
        theirs = (target.value or [None])[0] if target is not None else None
        ends = [Described(0x28, ours), Described(0x29, [theirs or node])]
        answer = [name, handle, not client_receives, None, None, *ends, None, None]
        answer += [0 if client_receives else None, None, None, None, properties]
        self.send(frame(ATTACH, answer, channel))
        if not client_receives:
            self.send(frame(FLOW, [0, 2048, 0, 2048, handle, 0, 1000], channel))
        elif is_session:
            self.on_session(channel, handle)

    def on_session(self, channel, handle):
        """A client has locked a session."""

    def on_flow(self, channel, fields, _):
        handle, count, credit, drain = fields[4], fields[5], fields[6], fields[8]
        if drain and credit:
            answer = [0, 2048, 0, 2048, handle, (count or 0) + credit, 0, 0, True]
            self.send(frame(FLOW, answer, channel))

    def on_transfer(self, channel, fields, payload):
        node = self.names[(channel, fields[0])]
        if not fields[4]:
            self.send(frame(DISPOSITION, [True, fields[1], fields[1], True, ACCEPT], channel))
        request, at = None, 0
        while at < len(payload):
            section, at = decode(payload, at)
            if section.code == 0x73:
                request = section.value[0]
        if node in self.answers:
            self.answer(*self.answers[node], request)

    def answer(self, channel, handle, request):
        self.transfer(channel, handle, self.reply(request, 202, "Accepted"))

    @staticmethod
    def reply(request, status, words):
        properties = Described(0x73, [None] * 5 + [request])
        facts = {"status-code": Int(status), "statusCode": Int(status)}
        facts |= {"status-description": words, "statusDescription": words}
        return encode(properties) + message(properties=facts, value={})

    def transfer(self, channel, handle, payload, more=False, first=True):
        if first:
            self.number += 1
            tag = self.number.to_bytes(16, "big")
            fields = [handle, self.number - 1, tag, 0, False, more]
        else:
            fields = [handle, None, None, None, None, more]
        self.send(frame(TRANSFER, fields, channel, payload))

    def on_disposition(self, channel, fields, _):
        self.send(frame(DISPOSITION, [False, fields[1], fields[2], True, fields[4]], channel))

    def on_detach(self, channel, fields, _):
        self.send(frame(DETACH, [fields[0], True], channel))


# Cases. Each is a connection that spoils something, with what the client may keep.


class Case(Connection):
    most_memory = SLACK
    floods = False  # the server sends all the time, so the client computes all the time

    def flood(self, data):
        while True:
            self.send(data)


class BeyondCredit(Case):
    """Messages without end, whatever the credit."""

    floods = True
    most_memory = BUDGET + SLACK

    def on_flow(self, channel, fields, _):
        if fields[4] is None or self.names.get((channel, fields[4])) != "orders":
            return
        while True:
            self.transfer(channel, fields[4], message(b"x" * 30000, session="victim"))


class EndlessMessage(Case):
    """One message without end."""

    floods = True
    most_memory = LARGEST_MESSAGE + SLACK

    def on_flow(self, channel, fields, _):
        if fields[4] is None or self.names.get((channel, fields[4])) != "orders":
            return
        self.transfer(channel, fields[4], b"x" * 60000, more=True)
        while True:
            self.transfer(channel, fields[4], b"x" * 60000, more=True, first=False)


class EndlessAnswer(Case):
    """An answer to a claim without end."""

    floods = True

    def answer(self, channel, handle, request):
        self.transfer(channel, handle, b"x" * 60000, more=True)
        while True:
            self.transfer(channel, handle, b"x" * 60000, more=True, first=False)


class HugeFrame(Case):
    """A frame of a gigabyte."""

    floods = True

    def on_session(self, channel, handle):
        self.send(struct.pack(">IBBH", 1 << 30, 2, 0, channel))
        self.flood(b"x" * 60000)


class Flows(Case):
    """Flows that ask for an answer, as fast as they go."""

    floods = True

    def on_session(self, channel, handle):
        self.flood(frame(FLOW, [0, 2048, 0, 2048, handle, 0, 0, 0, False, True], channel) * 500)


class Begins(Case):
    """AMQP sessions that the server begins."""

    floods = True

    def on_session(self, channel, handle):
        number = channel
        while True:
            number = number % 60000 + 1
            self.send(frame(BEGIN, [None, 0, 2048, 2048, 1023], number))


class Links(Case):
    """Links that the server attaches and detaches."""

    floods = True

    def on_session(self, channel, handle):
        ends = [Described(0x28, ["a"]), Described(0x29, ["b"])]
        number = 0
        while True:
            number += 1
            name = "n" * 500 + str(number)
            one = frame(ATTACH, [name, 500, False, None, None, *ends, None, None, 0], channel)
            self.send(one + frame(DETACH, [500, True], channel))


class Limits(Case):
    """Limits that leave no room."""

    def on_open(self, *_):
        self.send(frame(OPEN, ["hostile", None, 1, Ushort(0)]))


class NastyMechanisms(Case):
    """Mechanisms with control characters."""

    def on_sasl(self):
        self.send(SASL_HEADER + frame(MECHANISMS, [Symbol(NASTY)], kind=1))
        self.read_frame()


class NastyClaim(Case):
    """A claim that is refused with control characters."""

    def answer(self, channel, handle, request):
        self.transfer(channel, handle, self.reply(request, 401, NASTY))


class NastyDetach(Case):
    """A link that is ended with control characters."""

    def on_session(self, channel, handle):
        why = Described(0x1D, [Symbol("amqp:not-allowed"), NASTY])
        self.send(frame(DETACH, [handle, True, why], channel))


class NastyClose(Case):
    """A connection that is ended with control characters."""

    def on_session(self, channel, handle):
        why = Described(0x1D, [Symbol("amqp:" + NASTY), NASTY])
        self.send(frame(CLOSE, [why]))


class NastyMessage(Case):
    """A message with control characters."""

    def on_flow(self, channel, fields, _):
        if fields[4] is not None and self.names.get((channel, fields[4])) == "orders":
            self.transfer(channel, fields[4], message(NASTY.encode(), session=NASTY[:100]))
        super().on_flow(channel, fields, _)


class Garbage(Case):
    """Random bytes behind a good start."""

    floods = True

    def on_session(self, channel, handle):
        self.flood(os.urandom(5000))


class Silent(Case):
    """Nothing, from the start."""

    def run(self):
        while True:
            self.read_exactly(1)


class SilentBehindOpen(Case):
    """Nothing behind the open."""

    def on_begin(self, *_):
        pass


class SilentBehindLock(Case):
    """Nothing behind the lock of a session."""

    def on_disposition(self, *_):
        pass

    def on_detach(self, *_):
        pass


class HangUp(Case):
    """The end of the connection, once a session is locked."""

    def on_session(self, channel, handle):
        raise Broken


CASES = {
    case.__name__: case
    for case in (
        *(BeyondCredit, EndlessMessage, EndlessAnswer, HugeFrame, Flows, Begins, Links, Limits),
        *(NastyMechanisms, NastyClaim, NastyDetach, NastyClose, NastyMessage, Garbage),
        *(Silent, SilentBehindOpen, SilentBehindLock, HangUp),
    )
}


class Server:
    """Serves the connections of one client."""

    def __init__(self, case):
        self.case = case
        self.connections = 0
        self.faults = []
        self.listener = socket.create_server((HOST, 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                stream, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self.serve, args=[stream], daemon=True).start()

    def serve(self, stream):
        with stream:
            try:
                self.case(stream).run()
            except Broken:
                pass
            except Exception as fault:  # pylint: disable=broad-except
                self.faults.append(repr(fault))

    def close(self):
        self.listener.close()


def resident(process):
    status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    found = re.search(r"VmRSS:\s+(\d+) kB", status)
    return int(found.group(1)) * 1024 if found else 0


def processor_time(process):
    fields = pathlib.Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").split()
    return (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def is_printable(text):
    return all(line.isprintable() for line in text.split("\n"))


def is_fit_for_terminal(text):
    return is_printable(text) and all(len(line) <= LONGEST_LINE for line in text.split("\n"))


def consume(program, case, seconds):
    """Returns what is wrong, and a line of figures."""
    server = Server(case)
    connection = f"Endpoint=sb://{HOST}:{server.port};SharedAccessKeyName=k;SharedAccessKey=secret;"
    client = subprocess.Popen(
        [program, "consume", "orders"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(os.environ, SESSIONQ_CONNECTION=connection + "UseDevelopmentEmulator=true"),
    )
    said = {}
    readers = [
        threading.Thread(target=lambda name=name, pipe=pipe: said.update({name: pipe.read()}))
        for name, pipe in (("out", client.stdout), ("err", client.stderr))
    ]
    for reader in readers:
        reader.start()
    start, highest, until = None, 0, time.monotonic() + seconds
    while client.poll() is None and time.monotonic() < until:
        now = resident(client)
        start = start or now
        highest = max(highest, now)
        time.sleep(0.01)
    computed = processor_time(client) if client.poll() is None else 0
    ended = time.monotonic()
    if client.poll() is None:
        client.send_signal(signal.SIGINT)
    faults = list(server.faults)
    try:
        client.wait(LONGEST_STOP)
    except subprocess.TimeoutExpired:
        faults.append(f"does not stop within {LONGEST_STOP} s")
        client.kill()
        client.wait()
    stopped = time.monotonic() - ended
    for reader in readers:
        reader.join()
    server.close()
    words = said["err"].decode(errors="replace")
    if client.returncode not in (0, 1, -signal.SIGINT):  # the signal ends it while it connects
        faults.append(f"ended with {client.returncode}")
    if highest - (start or 0) > case.most_memory + 8 * MEBIBYTE:  # what it takes to start
        faults.append("too much memory")
    if server.connections > MOST_CONNECTIONS * seconds:
        faults.append("connects too often")
    if not case.floods and computed > MOST_PROCESSOR * seconds:
        faults.append("spins")
    out = said["out"].decode(errors="replace")
    if not is_fit_for_terminal(words) or not is_printable(out):
        faults.append(f"not fit for a terminal: {(words + out)[:300]!r}")
    if "secret" in words:
        faults.append("prints the key")
    figures = (
        f"{(highest - (start or 0)) / MEBIBYTE:6.1f} MiB more, "
        f"{server.connections:2d} connections, "
        f"{computed:5.2f} s computed, stopped in {stopped:4.1f} s"
    )
    return faults, figures, words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionq", required=True)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--show", action="store_true", help="print what the client says")
    parser.add_argument("cases", nargs="*", default=list(CASES))
    arguments = parser.parse_args()
    failed = False
    for name in arguments.cases:
        faults, figures, words = consume(arguments.sessionq, CASES[name], arguments.seconds)
        failed = failed or bool(faults)
        told = "" if not faults else "  <-- " + ", ".join(faults)
        print(f"{name:<17} {figures}{told}", flush=True)
        if arguments.show:
            print("   ", "\n    ".join(words.splitlines()[:4]))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
