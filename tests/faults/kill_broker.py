"""Kills the broker at random instants while messages are sent and consumed, starts it anew, and asks the oracle whether anything it had confirmed was
lost or came back.

kill_broker.py --sessionqd PROGRAM --load PROGRAM [--rounds 3] [--seed N] [--keep]
"""

import argparse
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from broker import Broker
from oracle import Oracle, self_test

LONGEST_WAIT = 30.0  # for the load to go on after the broker has come back
MOST_UNDER_LOAD = 0.8  # seconds from there to the next kill


class Load:
    def __init__(self, program, connection, log, role="both"):
        command = [program, "--connection", connection, "--entity", "orders", "--log", str(log), "--sessions", "24", "--role", role, "--rate", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        if not self.process.stdout.readline():
            raise RuntimeError("fault_load does not start")

    def stop(self):
        """Consumes what is left, then ends."""
        self.process.terminate()
        if self.process.wait(60) != 0:
            raise RuntimeError("fault_load failed")


class Progress:
    """Waits until both sending and consuming have gone on."""

    def __init__(self, log):
        self.log = log
        self.read_up_to = 0

    def wait(self):
        self.read_up_to = self.log.stat().st_size if self.log.exists() else 0
        wanted, until = {"S", "C"}, time.monotonic() + LONGEST_WAIT
        while wanted:
            if time.monotonic() > until:
                raise RuntimeError(f"nothing goes on: no {' or '.join(sorted(wanted))} within {LONGEST_WAIT:.0f} s")
            time.sleep(0.02)
            with self.log.open("rb") as lines:
                lines.seek(self.read_up_to)
                wanted -= {line[:1].decode() for line in lines.read().splitlines()}


def run(arguments, directory):
    log = directory / "log"
    broker = Broker(arguments.sessionqd, directory / "data", ["orders:session"])
    starts = [broker.start()]
    load = Load(arguments.load, broker.connection, log)
    try:
        progress = Progress(log)
        waits = []
        for number in range(arguments.rounds):
            began = time.monotonic()
            progress.wait()
            waits.append(time.monotonic() - began)
            time.sleep(random.uniform(0, MOST_UNDER_LOAD))
            broker.kill()
            starts.append(broker.start())
            print(f"round {number + 1}: going on after {waits[-1]:.2f} s, broker back after {starts[-1]:.2f} s", flush=True)
        progress.wait()
        load.stop()
        broker.kill()
        broker.start()
        rest = Load(arguments.load, broker.connection, log, "receive")  # finds whatever should not be there any more
        time.sleep(1)
        rest.stop()
    finally:
        load.process.kill()
        broker.stop()
    oracle = Oracle()
    with log.open(encoding="utf-8") as lines:
        oracle.read(lines)
    violations = oracle.finish()
    print("\n".join(violations))
    figures = ", ".join(f"{name} {count}" for name, count in sorted(oracle.figures.items()))
    print(f"{arguments.rounds} kills; {figures}; slowest start {max(starts):.2f} s, longest until going on {max(waits):.2f} s")
    return not violations


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionqd", required=True)
    parser.add_argument("--load", required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--keep", action="store_true", help="leave the log and the store behind")
    arguments = parser.parse_args()
    self_test()
    random.seed(arguments.seed)
    print(f"seed {arguments.seed}", flush=True)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sessionq-faults-"))
    is_well = False
    try:
        is_well = run(arguments, directory)
    finally:
        if is_well and not arguments.keep:
            shutil.rmtree(directory)
        else:
            print(f"log and store: {directory}")
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
