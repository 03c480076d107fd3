# SPDX-License-Identifier: MIT
"""Runs `sessionq` against hostile servers, several at a time. The client must keep its memory
within a bound, fail soon or reconnect with backoff, and say why without control characters.

hostile_campaign.py --sessionq PROGRAM [--jobs 6] [--long] [CASE...]
"""

import argparse
import functools
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ProcessPoolExecutor

import hostile_case
import hostile_messages
import hostile_pages
import hostile_protocol
import hostile_words
from amqp_wire import HOST, KEY
from broker import connection_string
from hostile_case import Case
from hostile_peer import Over, Peer

MEBIBYTE = 1 << 20
GIVEN_UP_AT = 512 * MEBIBYTE  # the machine is to survive
MOST_CONNECTIONS = 12  # backoff from 100 ms to 30 s: five in a second, eight in ten
LONGEST_LINE = 4096  # bytes: a peer's name and text of an error have 1,024 each at most
STOP_WITHIN = 15.0


def cases_in(*modules):
    return {
        name: each
        for module in modules
        for name, each in vars(module).items()
        if isinstance(each, type) and issubclass(each, Case) and each is not Case
    }


CASES = cases_in(
    hostile_case, hostile_messages, hostile_pages, hostile_protocol, hostile_words
)


class Server:
    """Accepts connections, and serves each on a thread of its own."""

    def __init__(self, case):
        self.case = case
        self.connections = 0
        self.faults = []
        self.is_first = threading.Event()
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
            self.is_first.set()
            threading.Thread(target=self.serve, args=(stream,), daemon=True).start()

    def serve(self, stream):
        stream.settimeout(120)
        with stream:
            try:
                Peer(stream, self.case).serve()
            except (Over, TimeoutError):
                pass
            except Exception as error:  # a fault of this program, which the case must not hide
                self.faults.append(f"the server failed: {error!r}")

    def close(self):
        self.listener.close()


def resident(pid):
    """Its memory, and the most that it had."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    except OSError:
        return 0, 0
    found = [re.search(rf"{name}:\s+(\d+) kB", status) for name in ("VmRSS", "VmHWM")]
    return tuple(int(one.group(1)) * 1024 if one else 0 for one in found)


class Client:
    """`sessionq`, watched until it has ended."""

    def __init__(self, program, case, server, directory):
        path = directory / type(case).__name__
        self.messages, self.errors = path.with_suffix(".messages"), path.with_suffix(".errors")
        self.began = time.monotonic()
        self.process = subprocess.Popen(
            [program, *case.command],
            stdin=subprocess.DEVNULL,
            stdout=self.messages.open("wb"),
            stderr=self.errors.open("wb"),
            env=dict(os.environ, SESSIONQ_CONNECTION=connection_to(server.port, case)),
        )
        server.is_first.wait(10)
        self.start = self.peak = resident(self.process.pid)[0]
        self.faults = []
        self.stop_at = self.began + case.lasts if case.lasts is not None else None
        self.end_by = self.began + (case.lasts + STOP_WITHIN if case.lasts else case.within)
        self.code = self.usage = self.ended = None
        self.watch()

    def watch(self):
        while True:
            self.peak = max(self.peak, resident(self.process.pid)[1])
            pid, status, self.usage = os.wait4(self.process.pid, os.WNOHANG)
            now = time.monotonic()
            if pid != 0:
                break
            if self.stop_at is not None and now > self.stop_at:
                self.stop_at = None
                self.process.send_signal(signal.SIGINT)
            if now > self.end_by or self.peak > GIVEN_UP_AT:
                self.faults.append("did not end" if now > self.end_by else "given up")
                self.end_by = now + 60
                self.peak = min(self.peak, GIVEN_UP_AT)
                self.process.kill()
            time.sleep(0.005)
        self.ended = now
        self.process.returncode = self.code = os.waitstatus_to_exitcode(status)

    @property
    def seconds(self):
        return self.ended - self.began

    @property
    def work(self):
        return self.usage.ru_utime + self.usage.ru_stime

    @property
    def processor(self):
        return self.work / self.seconds

    def words(self):
        """The messages that it printed, and its errors."""
        return [path.read_text(errors="replace") for path in (self.messages, self.errors)]


def connection_to(port, case):
    if case.dialect is not None:
        return f"amqp://{HOST}:{port}/?dialect={case.dialect}"
    return connection_string(port) + f";TransportType={case.transport}"


def is_control(character):
    code = ord(character)
    return code < 0x20 or 0x7F <= code < 0xA0 or 0x202A <= code <= 0x202E


def judge_words(case, client):
    """Yields what is wrong with what the client wrote."""
    messages, errors = client.words()
    if any(is_control(character) for character in (messages + errors).replace("\n", "")):
        yield "control characters"
    if KEY in messages + errors:
        yield "the key"
    lines = errors.split("\n")
    if any(len(line.encode()) > LONGEST_LINE for line in lines):
        yield "a long line"
    if len(lines) > case.most_errors * max(1.0, client.seconds):
        yield f"{len(lines)} errors"
    if not re.search(case.says, messages + errors):
        yield f"does not say '{case.says}'"
    if client.code == 1 and case.lasts is None and not errors.strip():
        yield "no words"


def judge(case, client, server):
    yield from client.faults
    yield from server.faults
    yield from judge_words(case, client)
    if case.reached == 0:
        yield "the server did not misbehave"
    if client.peak - client.start > case.most_grown:
        yield "too much memory"
    if server.connections > MOST_CONNECTIONS:
        yield "too many connections"
    if client.work > case.most_work:
        yield f"{client.work:.1f} s of work"
    if case.most_processor is not None and client.processor > case.most_processor:
        yield "the processor was busy"
    if case.code is not None and client.code != case.code:
        yield f"exit code {client.code}"


def run(program, directory, name):
    case = CASES[name]()
    server = Server(case)
    client = Client(program, case, server, directory)
    server.close()
    found = list(judge(case, client, server))
    messages, errors = client.words()
    first = (errors or messages).split("\n")[0]
    shown = "".join("?" if is_control(one) else one for one in first)
    told = (
        f"{name:<26} {(client.peak - client.start) / MEBIBYTE:6.1f} MiB more, "
        f"{client.seconds:5.1f} s, processor {client.processor:4.0%}, "
        f"{server.connections:3d} connections, {case.reached:5d} times: {shown[:110]}"
        + ("" if not found else "\n    <-- " + ", ".join(found))
    )
    sys.stdout.write(told + "\n")  # whole, because others write too
    sys.stdout.flush()
    return [f"{name}: {fault}" for fault in found]


def main():
    # A shell lets what it starts in the background ignore SIGINT, and clients would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionq", required=True)
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--long", action="store_true", help="also cases that take a minute")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    arguments = parser.parse_args()
    if not os.access(arguments.sessionq, os.X_OK):
        sys.exit(f"no such program: '{arguments.sessionq}'")
    if unknown := set(arguments.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(unknown)}")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sessionq-hostile-"))
    chosen = arguments.cases or [
        name for name, case in CASES.items() if arguments.long or not case.is_long
    ]
    chosen.sort(key=lambda name: -CASES[name].within)  # those that wait run beside the others
    judged = functools.partial(run, arguments.sessionq, directory)
    with ProcessPoolExecutor(arguments.jobs) as pool:  # a busy server does not slow another's down
        found = list(pool.map(judged, chosen))
    print(f"{found.count([])} of {len(found)} cases hold")
    faults = [fault for one in found for fault in one]
    if not faults:
        shutil.rmtree(directory)
        return
    print(f"the client's output is in {directory}")
    sys.exit("\n".join(faults))


if __name__ == "__main__":
    main()
