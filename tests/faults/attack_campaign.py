# SPDX-License-Identifier: MIT
"""Attacks sessionqd, one attack after another and then many at once, while a replay runs beside
them. The broker must stay within its memory, serve the replay, and give the memory back (R26).

attack_campaign.py --sessionqd PROGRAM --replay PROGRAM [--seconds 4] [--only NAME] [--crowd 40]
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from amqp_wire import Described, encode
from attacks import ATTACKS
from broker import connection_string, free_port
from raw_amqp import Peer, begin
import raw_amqp as amqp

MEBIBYTE = 1 << 20
MOST_DURING = 64 * MEBIBYTE
MOST_AFTER = 16 * MEBIBYTE
MOST_ALONE = 8.0  # seconds; a replay that takes longer waits for something
MOST_SLOWER = 2.0
LEAST_DIFFERENCE = 0.5  # seconds; shorter ones are noise
REPLAYS = 3  # beside an attack; the middle one counts
RECORDS = 20000
NO_MESSAGES = {
    "Name": "s",
    "Properties": {},
    "Rules": [
        {
            "Name": "none",
            "Properties": {"FilterType": "Sql", "SqlFilter": {"SqlExpression": "1=0"}},
        }
    ],
}


class Daemon:
    def __init__(self, program, directory):
        certificate = directory / "certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            + ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext"]
            + ["subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(certificate)]
            + ["-out", str(directory / "chain.pem")],
            check=True,
            capture_output=True,
        )
        topic = {"Name": "news", "Properties": {}, "Subscriptions": [NO_MESSAGES]}
        spaces = [{"Name": "n", "Topics": [topic]}]
        configuration = directory / "config.json"
        configuration.write_text(json.dumps({"UserConfig": {"Namespaces": spaces}}))
        self.ports = {scheme: free_port() for scheme in ("amqp", "amqps", "ws", "wss")}
        where = {scheme: f"127.0.0.1:{port}" for scheme, port in self.ports.items()}
        self.process = subprocess.Popen(
            [program, "--listen", where["amqp"], "--tls-listen", where["amqps"]]
            + ["--ws-listen", where["ws"], "--wss-listen", where["wss"]]
            + ["--tls-cert", str(directory / "chain.pem"), "--tls-key", str(certificate)]
            + ["--config", str(configuration)]
            + ["--queue", "orders:session", "--queue", "plain", "--queue", "records:session"],
            stdout=subprocess.PIPE,
            stderr=(directory / "log").open("w"),
            text=True,
        )
        if "listens on" not in self.process.stdout.readline():
            raise RuntimeError("sessionqd did not start")

    def memory(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) * 1024

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        self.process.terminate()
        self.process.wait(30)


class Peak:
    """The highest memory while it is entered."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.highest = 0
        self.is_over = threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        while not self.is_over.wait(0.02) and self.daemon.is_alive():
            self.highest = max(self.highest, self.daemon.memory())

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()


def fill(port):
    """Messages to peek at and to receive: 40 MB."""
    peer = Peer(port, trusted=True)
    peer.send(begin(0))
    for handle, (queue, size) in enumerate((("plain", 50000), ("orders", 50000))):
        peer.send(amqp.attach(queue, handle, False, "x", queue))
        body = encode(Described(0x75, b"y" * size))
        sent = 0
        while sent < 400:
            properties = Described(0x73, [None] * 10 + [f"s{sent % 20}"])
            peer.send(amqp.transfer(handle, sent, encode(properties) + body))
            sent += 1
            if sent % 50 == 0:
                time.sleep(0.05)
                peer.read(0.1)
    time.sleep(0.5)
    peer.close()


def replay(program, port, records):
    began = time.monotonic()
    done = subprocess.run(
        [program, "--connection", connection_string(port), "--entity", "records"]
        + ["--input", str(records), "--session-key", "session", "--idle-timeout", "0ms"]
        + ["--concurrent-sessions", "64"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"the replay failed: {done.stdout}{done.stderr}")
    return time.monotonic() - began


def settle_down(daemon, most, seconds=10):
    """The memory once it has fallen to `most`, or after so long."""
    until = time.monotonic() + seconds
    while daemon.memory() > most and time.monotonic() < until:
        time.sleep(0.1)
    return daemon.memory()


class Campaign:
    def __init__(self, arguments, directory):
        self.arguments = arguments
        self.daemon = Daemon(arguments.sessionqd, directory)
        self.records = directory / "records.jsonl"
        with self.records.open("w", encoding="ascii") as lines:
            for number in range(RECORDS):
                line = {"session": f"s{number % 500}", "number": number, "text": "z" * 100}
                lines.write(json.dumps(line) + "\n")
        fill(self.daemon.ports["amqp"])
        self.replay()
        self.alone = self.measure_alone()
        if self.alone > MOST_ALONE:
            raise RuntimeError(f"the replay alone takes {self.alone:.2f} s")
        self.base = settle_down(self.daemon, 0, seconds=3)
        self.failures = 0
        print(f"replay alone {self.alone:.2f} s, memory {self.base / MEBIBYTE:.0f} MiB", flush=True)

    def measure_alone(self):
        """Beside a process that computes, because an attacker also takes a processor."""
        compute = [sys.executable, "-c", "while True: pass"]
        with subprocess.Popen(["nice", "-n", "19", *compute]) as busy:
            times = [self.replay() for _ in range(5)]
            busy.kill()
        return statistics.median(times)

    def replay(self):
        return replay(self.arguments.replay, self.daemon.ports["amqp"], self.records)

    def beside(self, names, daemon):
        """How long a replay takes while `daemon` is attacked, and how often it cut."""
        script = pathlib.Path(__file__).with_name("attacks.py")
        attackers = subprocess.Popen(
            [sys.executable, "-B", str(script), json.dumps(names), json.dumps(daemon.ports)]
            + [str(self.arguments.seconds)],
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(0.5)
        took = [self.replay()]
        while len(took) < REPLAYS and attackers.poll() is None:
            took.append(self.replay())
        cuts = attackers.communicate(timeout=300)[0]
        return statistics.median(took), int(cuts or 0), attackers.returncode == 0

    def elsewhere(self, names):
        """How long a replay takes while another broker is attacked: the attackers' own cost."""
        directory = pathlib.Path(tempfile.mkdtemp(prefix="sessionq-elsewhere-"))
        daemon = Daemon(self.arguments.sessionqd, directory)
        try:
            fill(daemon.ports["amqp"])
            return self.beside(names, daemon)[0]
        finally:
            daemon.stop()
            shutil.rmtree(directory, ignore_errors=True)

    def is_slow(self, beside):
        return beside > max(self.alone * MOST_SLOWER, self.alone + LEAST_DIFFERENCE)

    def attack(self, title, names):
        with Peak(self.daemon) as peak:
            beside, cuts, is_well = self.beside(names, self.daemon)
        faults = []
        if not self.daemon.is_alive():
            raise RuntimeError(f"{title}: the broker died")
        if not is_well:
            faults.append("the attackers failed")
        grown = peak.highest - self.base
        kept = settle_down(self.daemon, self.base + MOST_AFTER) - self.base
        if grown > MOST_DURING:
            faults.append("too much memory")
        if kept > MOST_AFTER:
            faults.append("memory kept")
        if self.is_slow(beside):  # other programs may be what slows it down now
            self.alone = max(self.alone, self.measure_alone())
            if self.is_slow(beside):
                faults.append("the replay was slowed down")
        self.failures += 1 if faults else 0
        print(
            f"{title:<18} {grown / MEBIBYTE:6.1f} MiB more, {kept / MEBIBYTE:5.1f} MiB kept, "
            f"replay {beside:5.2f} s ({beside / self.alone:.1f}x), cut {cuts:5d} times"
            + ("" if not faults else "  <-- " + ", ".join(faults)),
            flush=True,
        )

    def run(self):
        for name in ATTACKS:
            if self.arguments.only in (None, name):
                self.attack(name, [name])
        if self.arguments.only is None and self.arguments.crowd > 0:
            names = list(ATTACKS)
            crowd = [names[number % len(names)] for number in range(self.arguments.crowd)]
            self.alone = self.measure_alone()
            print(f"replay alone {self.alone:.2f} s, while {self.elsewhere(crowd):.2f} s", end=" ")
            print("with another broker attacked by all", flush=True)
            self.attack(f"{self.arguments.crowd} at once", crowd)
        return self.failures == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionqd", required=True)
    parser.add_argument("--replay", required=True)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--only", choices=list(ATTACKS))
    parser.add_argument("--crowd", type=int, default=40)
    arguments = parser.parse_args()
    for program in (arguments.sessionqd, arguments.replay):
        if not os.access(program, os.X_OK):
            sys.exit(f"no such program: '{program}'")
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sessionq-attacks-"))
    campaign = Campaign(arguments, directory)
    try:
        is_well = campaign.run()
    finally:
        campaign.daemon.stop()
    if is_well:
        shutil.rmtree(directory, ignore_errors=True)
    else:
        print(f"the broker's log is {directory / 'log'}")
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
