# SPDX-License-Identifier: MIT
"""Each fault is named, and forgotten when it is over. A consumer (health_probe) runs on a sessionqd
of its own, a fault is provoked, and what the consumer tells of its health or its log must name the
cause within the bound of the headers. When the fault ends it must be healthy within a second.

health_campaign.py --sessionqd PROGRAM --probe PROGRAM --sessionq PROGRAM --proxy PROGRAM [CASE...]

The bounds of health are set to 1 s and connection_idle_timeout to 4 s. `--slack` is what a busy
machine may add; on a quiet one everything holds with 0.1 s.
"""

import argparse
import concurrent.futures
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

silence = 2  # half of connection_idle_timeout


class Failed(Exception):
    pass


class Skipped(Exception):
    pass


class Probe:
    slack = 5.0
    slowest_recovery = 0.0

    def __init__(self, program, connection, entity="orders", *options, environment=None):
        self.process = subprocess.Popen(
            [program, connection, entity, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
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
            left = began + within + self.slack - time.monotonic()
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

    def handles(self):
        """A handler hangs. One that begins after "free" would hang on."""
        self.until("handling", lambda line: line.get("told") == "handling", 5)

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

    def recovers(self, within=1):
        def matches(line):
            return line.get("told") == "change" and line["state"] == "healthy"

        took = self.until("healthy", matches, within)[1]
        Probe.slowest_recovery = max(Probe.slowest_recovery, took)

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
        self.directory = directory
        self.socket = directory / "socket"
        queues = ["orders:session", "short:session:lock=5", "plain"]
        self.broker = Broker(programs.sessionqd, directory / "data", queues)
        self.broker.start()
        self.probe = None
        self.proxy = None

    def consume(self, entity="orders", *options, connection=None, environment=None):
        self.probe = Probe(
            self.programs.probe,
            connection or self.broker.connection,
            entity,
            f"socket={self.socket}",
            *options,
            environment=environment,
        )
        return self.probe

    def consume_ready(self, *options):
        self.consume("orders", *options).ready()
        return self.probe

    def command(self, *arguments, body="", connection=None, environment=None, seconds=60):
        return subprocess.run(
            [self.programs.sessionq, *arguments],
            input=body,
            text=True,
            env=dict(
                environment or os.environ,
                SESSIONQ_CONNECTION=connection or self.broker.connection,
            ),
            capture_output=True,
            check=False,
            timeout=seconds,
        )

    def send(self, session, body, queue="orders"):
        done = self.command("send", queue, "--session", session, body=body)
        if done.returncode != 0:
            raise Failed(done.stderr)

    def doctor_says(self, words, entity="orders", connection=None, environment=None, fails=True):
        """What doctor prints, which must have these words and the exit code of a failure."""
        done = self.command(
            "doctor",
            "--entity",
            entity,
            "--timeout",
            "2s",
            connection=connection,
            environment=environment,
        )
        said = done.stdout + done.stderr
        if words not in said or (done.returncode == 1) != fails:
            raise Failed(f"doctor ended with {done.returncode} and said: {said}")
        if "SAS_KEY_VALUE" in said:
            raise Failed("doctor tells the key")

    def doctor_finds(self, words, fails=True):
        """What doctor says of the running consumer alone."""
        environment = dict(os.environ)
        environment.pop("SESSIONQ_CONNECTION", None)
        done = subprocess.run(
            [self.programs.sessionq, "doctor", "--processor", str(self.socket)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        said = done.stdout + done.stderr
        if words not in said or (done.returncode == 1) != fails:
            raise Failed(f"doctor ended with {done.returncode} and said: {said}")

    def slow_way(self, script):
        """The connection string of a proxy that does to the broker's connections what it says."""
        path = self.directory / "script"
        path.write_text(script, encoding="utf-8")
        self.proxy = subprocess.Popen(
            [self.programs.proxy, "--port", str(self.broker.port), "--script", str(path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        return connection_string(int(self.proxy.stdout.readline().rsplit(":", 1)[1]))

    def freeze(self):
        self.broker.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.broker.process.send_signal(signal.SIGCONT)

    def end(self):
        if self.probe is not None:
            self.probe.end()
        if self.proxy is not None:
            self.proxy.kill()
            self.proxy.wait()
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
    scene.doctor_says("nobody answered")
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
    scene.doctor_says("refused")
    scene.broker.start()
    probe.recovers()
    scene.doctor_says("session accept", fails=False)


def wrong_port(scene):
    connection = connection_string(free_port())
    scene.doctor_says("refused", connection=connection)
    probe = scene.consume(connection=connection)
    line, _ = probe.until("an error", lambda line: line.get("told") == "error", 5)
    if "127.0.0.1" not in line["text"]:
        raise Failed(line["text"])


def wrong_host(scene):
    connection = scene.broker.connection.replace("127.0.0.1", "no-such-host.invalid")
    scene.doctor_says("no-such-host.invalid", connection=connection)
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
    scene.doctor_says("SASL", connection=connection)


def wrong_queue(scene):
    scene.doctor_says("misspelt", entity="misspelt")
    probe = scene.consume("misspelt")
    probe.logs("accept_failed", 5, code="entity_not_found", entity="misspelt")
    probe.names("accept_refused", 0, state="failed")


def without_sessions(scene):
    scene.doctor_says("has no sessions", entity="plain", fails=False)
    probe = scene.consume("plain")
    probe.logs("accept_failed", 5, code="session_required")
    probe.names("accept_refused", 0, state="failed")


def handler_hangs(scene):
    probe = scene.consume_ready()
    scene.send("ada", "hang")
    probe.names("handler_slow", 1)
    scene.doctor_finds("handler_slow")
    probe.say("free")
    probe.recovers()
    scene.doctor_finds("running, healthy", fails=False)


def workers_starved(scene):
    probe = scene.consume_ready("workers=1")
    scene.send("ada", "hang")
    scene.send("ben", "ok")
    probe.names("workers_busy", 1)
    scene.doctor_finds("workers_busy")
    probe.say("free")
    probe.recovers()


def handler_throws_and_parks(scene):
    probe = scene.consume_ready("policy=park")
    scene.send("ada", "throw")
    probe.logs("handler_failed", 1, fate="parked", session="ada", attempt=1)
    probe.names("sessions_parked", 0)
    scene.doctor_finds("sessions_parked")


def handler_throws_and_dead_letters(scene):
    probe = scene.consume_ready("policy=dead-letter")
    scene.send("ada", "throw")
    probe.logs("handler_failed", 1, fate="dead_lettered", session="ada", entity="orders")
    scene.doctor_finds("1 threw", fails=False)


def settlements_unanswered(scene):
    probe = scene.consume_ready()
    scene.send("ada", "hang")
    probe.handles()
    scene.freeze()
    probe.say("free")
    probe.names("settlement_unanswered", 1)
    scene.doctor_finds("settlement_unanswered")
    scene.thaw()
    probe.recovers()


def buffer_full(scene):
    probe = scene.consume_ready("bytes=65536")
    for session in "abcd":
        for _ in range(2):
            scene.send(session, "hang" + "x" * 40_000)
    probe.names("buffer_full", 1)
    scene.doctor_finds("buffer_full")


def sessions_lost(scene):
    probe = scene.consume_ready()
    scene.send("ada", "hang")
    probe.handles()
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
    scene.doctor_finds("paused", fails=False)
    scene.broker.kill()
    time.sleep(3)
    if probe.health()["causes"]:
        raise Failed(f"a paused processor needs nothing: {probe.seen[-1]}")
    scene.broker.start()
    probe.say("resume")
    probe.logs("connected", 5)


def wrong_clock(scene):
    """The consumer's clock is a minute ahead, so a lock that it gets looks expired."""
    library = pathlib.Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1")
    if scene.programs.no_faketime or not library.exists():
        raise Skipped("no libfaketime here")
    clock = scene.directory / "clock"
    clock.write_text("+60\n", encoding="utf-8")
    environment = dict(
        os.environ,
        LD_PRELOAD=str(library),
        FAKETIME_TIMESTAMP_FILE=str(clock),
        FAKETIME_NO_CACHE="1",
        FAKETIME_DONT_FAKE_MONOTONIC="1",
        DONT_FAKE_MONOTONIC="1",
    )
    scene.doctor_says("clock", entity="short", environment=environment, fails=False)
    probe = scene.consume("short", environment=environment)
    probe.ready()
    scene.send("ada", "hang", queue="short")
    probe.names("clocks_differ", 1)
    clock.write_text("+0\n", encoding="utf-8")
    probe.say("free")
    scene.send("ben", "hang", queue="short")
    probe.logs("health_changed", 5)
    probe.say("free")
    probe.recovers(3)


def lock_stolen(scene):
    """The consumer is frozen until its lock has ended, and another one takes the session. With a
    second slot it would itself be granted the session again."""
    probe = scene.consume("short", "sessions=1")
    probe.ready()
    scene.send("ada", "hang", queue="short")
    probe.names("handler_slow", 1)
    probe.process.send_signal(signal.SIGSTOP)
    give_up = time.monotonic() + 30
    while scene.command("receive", "short", "--session", "ada").returncode != 0:
        if time.monotonic() > give_up:
            raise Failed("the lock never ended")
        time.sleep(0.2)
    probe.process.send_signal(signal.SIGCONT)
    probe.logs("session_lost", 1, session="ada", entity="short", code="lock_lost")
    probe.say("free")
    probe.recovers()


def broker_slow(scene):
    probe = scene.consume(connection=scene.slow_way("2s delay conns=all for=12s delay=2500ms"))
    probe.ready()
    time.sleep(3)
    scene.send("ada", "ok")
    probe.names("settlement_unanswered", 3 + 1)
    probe.recovers(5)  # within a second of the answer, which was to take 4 s more


def disk_full(scene):
    """Senders are told; consumers go on."""
    if "SESSIONQ_OWN_MOUNTS" not in os.environ:
        raise Skipped("cannot mount a disk here")
    disk = scene.directory / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)], check=True)
    broker, scene.broker = scene.broker, Broker(
        scene.programs.sessionqd, disk / "data", ["orders:session"]
    )
    broker.stop()
    try:
        scene.broker.start()
        scene.send("ada", "ok")
        with (disk / "filler").open("wb") as filler:
            try:
                while True:
                    filler.write(bytes(1 << 20))
                    filler.flush()
            except OSError:
                pass
        scene.send("ben", "x" * 100_000)  # it takes what is reserved
        done = scene.command("send", "orders", "--session", "ben", body="x" * 100_000)
        if done.returncode == 0 or "is full" not in done.stderr:
            raise Failed(f"a send to a full disk: {done.returncode} {done.stderr}")
        probe = scene.consume_ready()
        give_up = time.monotonic() + 10
        while scene.command("peek", "orders").stdout:
            if time.monotonic() > give_up:
                raise Failed("what is there is not consumed")
        if probe.health()["state"] != "healthy":
            raise Failed(f"a false alarm: {probe.seen}")
    finally:
        scene.end()
        subprocess.run(["umount", str(disk)], check=False)


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
    wrong_clock,
    lock_stolen,
    broker_slow,
    disk_full,
]


def enter_own_mounts():
    """Starts again where a disk may be mounted, if that is allowed here."""
    namespace = ["unshare", "--map-root-user", "--mount"]
    trial = [*namespace, "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    if (
        "SESSIONQ_OWN_MOUNTS" not in os.environ
        and subprocess.run(trial, capture_output=True, check=False).returncode == 0
    ):
        os.execvpe(
            namespace[0],
            [*namespace, sys.executable, "-B", *sys.argv],
            {**os.environ, "SESSIONQ_OWN_MOUNTS": "1"},
        )


def holds(case, programs):
    """Runs a case on a broker of its own and prints what came of it."""
    began = time.monotonic()
    passed = True
    with tempfile.TemporaryDirectory() as directory:
        scene = Scene(programs, pathlib.Path(directory))
        try:
            case(scene)
            said = "named"
        except Failed as failure:
            said = f"FAILED: {failure}"
            passed = False
        except Skipped as skipped:
            said = f"skipped: {skipped}"
        finally:
            scene.end()
    print(f"{case.__name__:34} {time.monotonic() - began:5.1f} s  {said}", flush=True)
    return passed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionqd", required=True)
    parser.add_argument("--probe", required=True)
    parser.add_argument("--sessionq", required=True)
    parser.add_argument("--proxy", required=True)
    parser.add_argument("--no-faketime", action="store_true")
    parser.add_argument("--slack", type=float, default=Probe.slack, help="seconds")
    parser.add_argument("--jobs", type=int, default=3, help="cases at once; they mostly wait")
    parser.add_argument("cases", nargs="*")
    programs = parser.parse_args()
    Probe.slack = programs.slack
    enter_own_mounts()
    wanted = [case for case in cases if not programs.cases or case.__name__ in programs.cases]
    with concurrent.futures.ThreadPoolExecutor(programs.jobs) as at_once:
        passed = list(at_once.map(lambda case: holds(case, programs), wanted))
    print(f"the slowest recovery took {Probe.slowest_recovery:.2f} s")
    return 0 if passed and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
