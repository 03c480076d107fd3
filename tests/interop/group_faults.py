# SPDX-License-Identifier: MIT
"""Faults on brokers with message groups, under load, judged by group_oracle.py:

group_faults.py FAULT --load PROGRAM --work DIR [--rounds N] [--broker artemis|broker-j]

failover    kills the active broker of an Artemis pair; the other takes over
restart     kills Broker-J and restarts it on its store
consumers   kills one of two programs that share the groups, on either broker
rebalance   programs join and leave while Artemis reassigns the groups
"""

import argparse
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import time

from group_oracle import GroupOracle, self_test

HERE = pathlib.Path(__file__).parent
LONGEST_WAIT = 60.0  # until sending and consuming continue after a fault
GROUPS = 24


def broker(kind, *words):
    subprocess.run([HERE / kind, *map(str, words)], check=True)


class Load:
    def __init__(
        self,
        program,
        url,
        entity,
        log,
        role="both",
        rate=3000,
        handle_ms=0,
        drain_seconds=30,
        senders=4,
    ):
        command = [
            program,
            "--connection",
            url,
            "--entity",
            entity,
            "--log",
            str(log),
            "--sessions",
            str(GROUPS),
            "--role",
            role,
        ]
        command += [
            "--rate",
            str(rate),
            "--handle-ms",
            str(handle_ms),
            "--drain-seconds",
            str(drain_seconds),
            "--senders",
            str(senders),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            raise RuntimeError("fault_load did not start")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """Lets it consume the rest, then ends it."""
        self.process.terminate()
        if self.process.wait(90) != 0:
            raise RuntimeError("fault_load failed")


def wait_for_progress(log, port=None):
    """Waits until both sending and consuming continue. Returns how long that took, and the part of
    it after a broker accepted connections on the port, if given."""
    position = log.stat().st_size if log.exists() else 0
    wanted, began = {"S", "C"}, time.monotonic()
    up = began
    while wanted:
        if time.monotonic() - began > LONGEST_WAIT:
            missing = " or ".join(sorted(wanted))
            raise RuntimeError(
                f"no progress: no {missing} within {LONGEST_WAIT:.0f} s; "
                f"{log.name} ends with\n{tail_of(log)}"
            )
        time.sleep(0.02)
        if port and not is_open(port):
            up = time.monotonic()
        if log.exists():
            with log.open("rb") as lines:
                lines.seek(position)
                wanted -= {line[:1].decode() for line in lines.read().splitlines()}
    return time.monotonic() - began, time.monotonic() - up


def tail_of(file, lines=20):
    return (
        "\n".join(file.read_text(errors="replace").splitlines()[-lines:]) if file.exists() else ""
    )


def is_open(port):
    """Returns true if a broker answers there. A listening socket is not enough."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.settimeout(1)
            connection.sendall(b"AMQP\x03\x01\x00\x00")
            return connection.recv(8) == b"AMQP\x03\x01\x00\x00"
    except OSError:
        return False


def wait_for_text(file, position, text, seconds):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(0.1)
        if file.exists():
            with file.open("rb") as lines:
                lines.seek(position)
                if text in lines.read():
                    return
    raise RuntimeError(f"{file} does not say {text} within {seconds} s")


def failover(arguments, log):
    pair = arguments.work / "pair"
    broker("artemis", "start-pair", pair)
    try:
        wait_for_text(pair / "backup/log/out", 0, b"AMQ221032", 30)  # waits to become the backup
        time.sleep(2)
        load = Load(arguments.load, (pair / "url").read_text().strip(), "t.d100000.failover", log)
        active, standby = "primary", "backup"
        ports = {each: int((pair / each / "port").read_text()) for each in (active, standby)}
        waits = []
        try:
            wait_for_progress(log)
            for number in range(arguments.rounds):
                time.sleep(random.uniform(0.5, 2))
                broker("artemis", "kill", pair / active)
                wait, ours = wait_for_progress(log, ports[standby])
                waits.append(wait)
                print(
                    f"failover {number + 1}: {active} killed, progress after {wait:.2f} s, "
                    f"{ours:.2f} s of it with the other up",
                    flush=True,
                )
                position = (pair / active / "log/out").stat().st_size
                broker("artemis", "launch", pair / active)
                wait_for_text(
                    pair / active / "log/out",
                    position,
                    b"AMQ221034" if active == "primary" else b"AMQ221032",
                    30,
                )
                time.sleep(1)
                active, standby = standby, active
            load.stop()
        finally:
            load.kill()
    finally:
        broker("artemis", "stop", pair / "primary")
        broker("artemis", "stop", pair / "backup")
    return False, waits


def restart(arguments, log):
    at = arguments.work / "restarted"
    broker("broker-j", "start", at)
    waits = []
    try:
        load = Load(
            arguments.load,
            (at / "url").read_text().strip(),
            "standard.d100000.restart",
            log,
            senders=GROUPS,
        )
        try:
            wait_for_progress(log)
            for number in range(arguments.rounds):
                time.sleep(random.uniform(2, 6))
                broker("broker-j", "kill", at)
                broker("broker-j", "start", at)
                waits.append(wait_for_progress(log)[0])
                print(
                    f"restart {number + 1}: progress {waits[-1]:.2f} s after it was up", flush=True
                )
            load.stop()
        finally:
            load.kill()
    finally:
        broker("broker-j", "stop", at)
    return True, waits


def consumers(arguments, log):
    at = arguments.work / ("shared-" + arguments.broker)
    broker(arguments.broker, "start", at)
    entity = ("t" if arguments.broker == "artemis" else "standard") + ".d100000.consumers"
    url = (at / "url").read_text().strip()
    waits = []
    try:
        sender = Load(arguments.load, url, entity, log, "send", senders=GROUPS)
        two = [Load(arguments.load, url, entity, log, "receive") for _ in range(2)]
        try:
            wait_for_progress(log)
            for number in range(arguments.rounds):
                time.sleep(random.uniform(0.5, 2))
                two.pop(0).kill()
                waits.append(wait_for_progress(log)[0])
                print(f"consumer {number + 1} killed: progress after {waits[-1]:.2f} s", flush=True)
                two.append(Load(arguments.load, url, entity, log, "receive"))
            sender.stop()
            for each in two:
                each.stop()
        finally:
            for each in [sender, *two]:
                each.kill()
    finally:
        broker(arguments.broker, "stop", at)
    return False, waits  # a killed program has settled more than it logged


def wait_for_share(log, load):
    """Waits until this program receives a message. Returns how long that took."""
    began, mark = time.monotonic(), f"R {load.process.pid}.".encode()
    position = log.stat().st_size
    while time.monotonic() - began < LONGEST_WAIT:
        time.sleep(0.02)
        with log.open("rb") as lines:
            lines.seek(position)
            if any(line.startswith(mark) for line in lines.read().splitlines()):
                return time.monotonic() - began
    raise RuntimeError(f"a program that joined received nothing within {LONGEST_WAIT:.0f} s")


def wait_for_quiet(log):
    """Waits until nothing has been written for three seconds."""
    size, since = -1, time.monotonic()
    while time.monotonic() - since < 3:
        time.sleep(0.1)
        if log.stat().st_size != size:
            size, since = log.stat().st_size, time.monotonic()


def rebalance(arguments, log):
    """Programs join, leave and are killed while each always holds many messages that it has not
    handled."""
    at = arguments.work / "rebalanced"
    broker("artemis", "start", at)
    entity = arguments.queues + ".d100000.rebalance"
    url = (at / "url").read_text().strip()
    waits = []

    def consumer():
        return Load(arguments.load, url, entity, log, "receive", handle_ms=2, drain_seconds=0)

    try:
        sender = Load(arguments.load, url, entity, log, "send", rate=1000)
        sharers = [consumer()]
        try:
            wait_for_progress(log)
            for number in range(arguments.rounds):
                time.sleep(random.uniform(0.5, 2))
                sharers.append(consumer())
                waits.append(wait_for_share(log, sharers[-1]))
                print(
                    f"consumer {number + 1} joined: it has groups after {waits[-1]:.2f} s",
                    flush=True,
                )
                time.sleep(random.uniform(0.5, 2))
                leaver = sharers.pop(0)
                leaver.kill() if number % 2 else leaver.stop()
                waits.append(wait_for_progress(log)[0])
                print(
                    f"another {'was killed' if number % 2 else 'left'}: "
                    f"progress after {waits[-1]:.2f} s",
                    flush=True,
                )
            sender.stop()
            wait_for_quiet(log)
            for each in sharers:
                each.stop()
        finally:
            for each in [sender, *sharers]:
                each.kill()
    finally:
        broker("artemis", "stop", at)
    return False, waits


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("fault", choices=["failover", "restart", "consumers", "rebalance"])
    parser.add_argument("--load", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--broker", choices=["artemis", "broker-j"], default="artemis")
    parser.add_argument(
        "--queues",
        choices=["rebalanced", "hasty"],
        default="rebalanced",
        help="the prefix of the queues, see tests/interop/artemis",
    )
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    arguments = parser.parse_args()
    self_test()
    random.seed(arguments.seed)
    arguments.work = arguments.work.resolve() / arguments.fault
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    log = arguments.work / "load.log"
    print(f"{arguments.fault}: seed {arguments.seed}", flush=True)
    try:
        answers, waits = {
            "failover": failover,
            "restart": restart,
            "consumers": consumers,
            "rebalance": rebalance,
        }[arguments.fault](arguments, log)
    except (RuntimeError, subprocess.SubprocessError):
        for each in sorted(arguments.work.glob("**/log/out")):
            print(f"--- the end of {each}\n{tail_of(each, 40)}")
        raise
    oracle = GroupOracle(answers)
    with log.open(encoding="utf-8") as lines:
        oracle.read(lines)
    violations = oracle.finish()
    print("".join(f"{each}\n" for each in violations), end="")
    figures = ", ".join(f"{name} {count}" for name, count in sorted(oracle.figures.items()))
    print(
        f"{arguments.fault}: {arguments.rounds} faults; {figures}; "
        f"longest wait for progress {max(waits):.2f} s"
    )
    sys.exit(1 if violations else 0)


if __name__ == "__main__":
    main()
