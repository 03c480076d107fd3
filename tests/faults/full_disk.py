# SPDX-License-Identifier: MIT
"""Fills the disk under the broker. Sends must be refused with the reason, confirmed messages must
be received and completed, and sending must go on once there is room. The test mounts a small disk,
so it restarts itself in a mount namespace. Where that is not allowed, it skips and says so.

full_disk.py --sessionqd PROGRAM --load PROGRAM
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from broker import Broker
from oracle import Oracle

LONGEST_WAIT = 60.0
DISK = "size=48m"


def wait_for(log, what, read_up_to):
    """Waits for a line with these words after this position of the log."""
    until = time.monotonic() + LONGEST_WAIT
    while True:
        with log.open("rb") as lines:
            lines.seek(read_up_to)
            if any(what in line for line in lines.read().decode().splitlines()):
                return
        if time.monotonic() > until:
            raise RuntimeError(f"no '{what}' within {LONGEST_WAIT:.0f} s")
        time.sleep(0.05)


class Load:
    def __init__(self, arguments, broker, log, role, *more):
        command = [
            arguments.load,
            "--connection",
            broker.connection,
            "--entity",
            "orders",
            "--log",
            str(log),
            "--sessions",
            "8",
            "--role",
            role,
        ]
        self.process = subprocess.Popen(
            [*command, "--rate", "0", "--body-bytes", "4000", *more],
            stdout=subprocess.PIPE,
            text=True,
        )
        self.process.stdout.readline()

    def stop(self):
        self.process.terminate()
        if self.process.wait(60) != 0:
            raise RuntimeError("fault_load failed")


def run(arguments, directory):
    disk, log = directory / "disk", directory / "log"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", DISK, "tmpfs", str(disk)], check=True)
    broker = Broker(arguments.sessionqd, disk / "data", ["orders:session"])
    broker.start()
    loads = []
    try:
        sender = Load(arguments, broker, log, "send")
        loads.append(sender)
        wait_for(log, "is full", 0)
        print(f"full: {shutil.disk_usage(disk).free >> 10} KiB are free", flush=True)
        receiver = Load(arguments, broker, log, "receive")
        loads.append(receiver)
        full_at = log.stat().st_size
        wait_for(log, "C ", full_at)
        wait_for(log, "S s", full_at)
        print("sending goes on", flush=True)
        sender.stop()
        broker.kill()
        broker.start()
        receiver.stop()
    finally:
        for load in loads:
            load.process.kill()
        broker.stop()
        subprocess.run(["umount", str(disk)], check=False)
    oracle = Oracle()
    with log.open(encoding="utf-8") as lines:
        oracle.read(lines)
    violations = oracle.finish()
    print("\n".join(violations))
    print(", ".join(f"{name} {count}" for name, count in sorted(oracle.figures.items())))
    return not violations


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sessionqd", required=True)
    parser.add_argument("--load", required=True)
    arguments = parser.parse_args()
    for program in (arguments.sessionqd, arguments.load):
        if not os.access(program, os.X_OK):
            sys.exit(f"no such program: '{program}'")
    if "SESSIONQ_OWN_MOUNTS" not in os.environ:
        namespace = ["unshare", "--map-root-user", "--mount"]
        if (
            subprocess.run(
                [*namespace, "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                capture_output=True,
                check=False,
            ).returncode
            != 0
        ):
            print("skipped: cannot mount a disk here")
            return
        os.execvpe(
            namespace[0],
            [*namespace, sys.executable, "-B", *sys.argv],
            {**os.environ, "SESSIONQ_OWN_MOUNTS": "1"},
        )
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sessionq-faults-"))
    is_well = run(arguments, directory)
    shutil.rmtree(directory, ignore_errors=True)
    sys.exit(0 if is_well else 1)


if __name__ == "__main__":
    main()
