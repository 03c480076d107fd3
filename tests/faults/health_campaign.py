# SPDX-License-Identifier: MIT
"""Each fault is named, and forgotten when it is over. A consumer (health_probe) runs on a sessionqd
of its own, a fault is provoked, and what the consumer tells of its health or its log must name the
cause within the bound of the headers. When the fault ends it must be healthy within a second.

health_campaign.py --sessionqd PROGRAM --probe PROGRAM --sessionq PROGRAM [CASE...]

The bounds of health are set to 1 s and connection_idle_timeout to 4 s. `slack` is what a busy
machine may add.
"""

import argparse
import json
import os
import pathlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time

from broker import Broker, connection_string, free_port

slack = 5
silence = 2  # half of connection_idle_timeout


class Failed(Exception):
    pass


class Probe:
    def __init__(self, program, connection, entity="orders", *options):
        self.process = subprocess.Popen(
            [program, connection, entity, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.lines = queue.Queue()
        self.seen = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            self.lines.put(json.loads(line))
        self.lines.put(None)

    def until(self, what, matches, within):
        """The first line that matches, from now on, and the seconds until it came."""
        began = time.monotonic()
        while True:
            left = began + within + slack - time.monotonic()
            try:
                line = self.lines.get(timeout=max(left, 0.001))
            except queue.Empty:
                line = None
            if line is None:
                raise Failed(f"not told within {within} s: {what}; told: {self.seen[-8:]}")
            self.seen.append(line)
            if matches(line):
                return line, time.monotonic() - began

    def ready(self):
        self.until("ready", lambda line: line.get("told") == "ready", 5)

    def names(self, cause, within, state="degraded"):
        def matches(line):
            causes = [each["cause"] for each in line.get("causes", [])]
            return line.get("told") == "change" and cause in causes and line["state"] == state

        return self.until(cause, matches, within + 1)[1]

    def logs(self, event, within, **fields):
        def matches(line):
            return line.get("event") == event and all(
                line.get(name) == value for name, value in fields.items()
            )

        return self.until(f"event {event} {fields}", matches, within)[1]

    def recovers(self):
        def matches(line):
            return line.get("told") == "change" and line["state"] == "healthy"

        return self.until("healthy", matches, 1)[1]

    def health(self):
        self.say("health")
        return self.until("health", lambda line: line.get("told") == "health", 2)[0]

    def say(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Scene:
    """A broker, its consumer, and what a case may do with them."""

    def __init__(self, programs, directory):
        self.programs = programs
        queues = ["orders:session", "plain"]
        self.broker = Broker(programs.sessionqd, directory / "data", queues)
        self.broker.start()
        self.probe = None

    def consume(self, entity="orders", *options, connection=None):
        self.probe = Probe(
            self.programs.probe, connection or self.broker.connection, entity, *options
        )
        return self.probe

    def consume_ready(self, *options):
        self.consume("orders", *options).ready()
        return self.probe

    def send(self, session, body):
        subprocess.run(
            [self.programs.sessionq, "send", "orders", "--session", session],
            input=body,
            text=True,
            env=dict(os.environ, SESSIONQ_CONNECTION=self.broker.connection),
            check=True,
            stdout=subprocess.DEVNULL,
        )

    def freeze(self):
        self.broker.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.broker.process.send_signal(signal.SIGCONT)

    def end(self):
        if self.probe is not None:
            self.probe.end()
        if self.broker.process.poll() is None:
            self.thaw()
        self.broker.stop()


def steady(scene):
    probe = scene.consume_ready()
    for i in range(20):
        scene.send(f"s{i % 3}", "ok")
    time.sleep(5)
    health = probe.health()
    if health["state"] != "healthy" or any(line.get("told") == "change" for line in probe.seen):
        raise Failed(f"a false alarm: {probe.seen}")


def frozen(scene):
    probe = scene.consume_ready()
    scene.freeze()
    probe.names("broker_silent", silence)
    scene.thaw()
    probe.recovers()


def frozen_for_long(scene):
    probe = scene.consume_ready()
    scene.freeze()
    probe.names("not_connected", 4 + 1)
    probe.logs("connect_failed", 10)
    scene.thaw()
    probe.recovers()


def killed(scene):
    probe = scene.consume_ready()
    scene.broker.kill()
    probe.logs("connection_lost", 1)
    probe.names("not_connected", 1)
    scene.broker.start()
    probe.recovers()


def wrong_port(scene):
    probe = scene.consume(connection=connection_string(free_port()))
    line, _ = probe.until("an error", lambda line: line.get("told") == "error", 5)
    if "127.0.0.1" not in line["text"]:
        raise Failed(line["text"])


def wrong_host(scene):
    connection = scene.broker.connection.replace("127.0.0.1", "no-such-host.invalid")
    probe = scene.consume(connection=connection)
    line, _ = probe.until("an error", lambda line: line.get("told") == "error", 10)
    if "no-such-host.invalid" not in line["text"]:
        raise Failed(line["text"])


def wrong_key(scene):
    connection = scene.broker.connection.replace("SAS_KEY_VALUE", "another")
    probe = scene.consume(connection=connection)
    line, _ = probe.until(
        "unauthorized",
        lambda line: line.get("told") == "error"
        or any(each["cause"] == "accept_refused" for each in line.get("causes", [])),
        5,
    )
    if "another" in json.dumps(line):
        raise Failed("it tells the key")


def wrong_queue(scene):
    probe = scene.consume("misspelt")
    probe.logs("accept_failed", 5, code="entity_not_found", entity="misspelt")
    probe.names("accept_refused", 0, state="failed")


def without_sessions(scene):
    probe = scene.consume("plain")
    probe.logs("accept_failed", 5, code="session_required")
    probe.names("accept_refused", 0, state="failed")


def handler_hangs(scene):
    probe = scene.consume_ready()
    scene.send("ada", "hang")
    probe.names("handler_slow", 1)
    probe.say("free")
    probe.recovers()


def workers_starved(scene):
    probe = scene.consume_ready("workers=1")
    scene.send("ada", "hang")
    scene.send("ben", "ok")
    probe.names("workers_busy", 1)
    probe.say("free")
    probe.recovers()


def handler_throws_and_parks(scene):
    probe = scene.consume_ready("policy=park")
    scene.send("ada", "throw")
    probe.logs("handler_failed", 1, fate="parked", session="ada", attempt="1")
    probe.names("sessions_parked", 0)


def handler_throws_and_dead_letters(scene):
    probe = scene.consume_ready("policy=dead-letter")
    scene.send("ada", "throw")
    probe.logs("handler_failed", 1, fate="dead_lettered", session="ada", entity="orders")


def settlements_unanswered(scene):
    probe = scene.consume_ready()
    scene.send("ada", "hang")
    time.sleep(1)
    scene.freeze()
    probe.say("free")
    probe.names("settlement_unanswered", 1)
    scene.thaw()
    probe.recovers()


def buffer_full(scene):
    probe = scene.consume_ready("bytes=65536")
    for session in "abcd":
        for _ in range(2):
            scene.send(session, "hang" + "x" * 40_000)
    probe.names("buffer_full", 1)


def sessions_lost(scene):
    probe = scene.consume_ready()
    scene.send("ada", "hang")
    time.sleep(1)
    scene.broker.kill()
    probe.logs("session_lost", 2, session="ada", code="connection_lost")
    scene.broker.start()


def doubtful_setting(scene):
    probe = scene.consume("orders", "calls=4", "prefetch=1")
    probe.logs("doubtful_setting", 2)


def paused(scene):
    probe = scene.consume_ready()
    probe.say("pause")
    probe.logs("processor_paused", 1)
    scene.broker.kill()
    time.sleep(3)
    if probe.health()["causes"]:
        raise Failed(f"a paused processor needs nothing: {probe.seen[-1]}")
    scene.broker.start()
    probe.say("resume")
    probe.logs("connected", 5)


cases = [
    steady,
    frozen,
    frozen_for_long,
    killed,
    wrong_port,
    wrong_host,
    wrong_key,
    wrong_queue,
    without_sessions,
    handler_hangs,
    workers_starved,
    handler_throws_and_parks,
    handler_throws_and_dead_letters,
    settlements_unanswered,
    buffer_full,
    sessions_lost,
    doubtful_setting,
    paused,
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionqd", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--sessionq", required=True)
    parser.add_argument("cases", nargs="*")
    programs = parser.parse_args()
    wanted = [case for case in cases if not programs.cases or case.__name__ in programs.cases]
    failures = 0
    for case in wanted:
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as directory:
            scene = Scene(programs, pathlib.Path(directory))
            try:
                case(scene)
                said = "named"
            except Failed as failure:
                said = f"FAILED: {failure}"
                failures += 1
            finally:
                scene.end()
        print(f"{case.__name__:34} {time.monotonic() - began:5.1f} s  {said}", flush=True)
    return 1 if failures or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
