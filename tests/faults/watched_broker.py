# SPDX-License-Identifier: MIT
"""sessionqd for attacks: with keys of different rights and a bound on its address space. What it
takes of the machine is watched."""

import json
import os
import pathlib
import re
import resource
import subprocess
import threading
import time

from amqp_wire import KEY, KEY_NAME
from broker import connection_string, free_port

MEBIBYTE = 1 << 20
ADDRESS_SPACE = 1536 * MEBIBYTE
BESIDE_QUEUES = 64  # MiB that the broker may take beside what its queues may hold
QUEUE_MEBIBYTES = 64
LOGINS = {
    "all": (KEY_NAME, KEY),
    "listen": ("listener", "LISTENER_VALUE"),
    "send": ("sender", "SENDER_VALUE"),
    "both": ("worker", "WORKER_VALUE"),
}
LOCK = "PT20S"  # an attacker on a loaded machine holds 8,000 messages before it ends
STORE = object()
RIGHTS = {"all": "", "listen": ":listen", "send": ":send", "both": ":listen:send"}


def queue(name, **properties):
    common = {"MaxDeliveryCount": 10, "LockDuration": LOCK}
    return {"Name": name, "Properties": common | properties}


def topic(name, subscriptions):
    return {"Name": name, "Properties": {}, "Subscriptions": subscriptions}


def bound_address_space():
    """In the child, before the program begins."""
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))


class WatchedBroker:
    """`entities`: queues and topics, as the configuration has them. `options`: more of the program;
    STORE stands for its store."""

    def __init__(self, program, directory, entities, queue_mebibytes=QUEUE_MEBIBYTES, options=()):
        self.directory = pathlib.Path(directory)
        self.port = free_port()
        self.log = self.directory / "log"
        self.store = self.directory / "data"
        self.queue_mebibytes = queue_mebibytes
        configuration = self.directory / "config.json"
        spaces = [{"Name": "n", **entities}]
        configuration.write_text(json.dumps({"UserConfig": {"Namespaces": spaces}}))
        command = [program, "--listen", f"127.0.0.1:{self.port}", "--config", str(configuration)]
        command += ["--queue-size", str(queue_mebibytes)]
        for rights, (name, value) in LOGINS.items():
            command += ["--key", f"{name}={value}{RIGHTS[rights]}"]
        command += [str(self.store) if each is STORE else each for each in options]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                preexec_fn=bound_address_space,
            )
        if "listens on" not in self.process.stdout.readline():
            raise RuntimeError(f"sessionqd did not start: {self.log.read_text()}")

    @property
    def connection(self):
        return connection_string(self.port)

    def memory(self):
        """Resident, in bytes. Zero once it has ended."""
        try:
            status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        except OSError:
            return 0
        found = re.search(r"VmRSS:\s+(\d+) kB", status)
        return int(found.group(1)) * 1024 if found else 0

    def open_files(self):
        try:
            return len(os.listdir(f"/proc/{self.process.pid}/fd"))
        except OSError:
            return 0

    def stored_bytes(self):
        return sum(path.stat().st_size for path in self.store.glob("*") if path.is_file())

    def is_alive(self):
        return self.process.poll() is None

    def stop(self):
        if self.is_alive():
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()


class Watch:
    """The most that the broker takes while this is entered. Writes when it grew, for those who look
    for the reason."""

    def __init__(self, broker):
        self.broker = broker
        self.memory = 0
        self.files = 0
        self.is_over = threading.Event()

    def __enter__(self):
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        with (self.broker.directory / "memory").open("w", buffering=1) as log:
            while not self.is_over.wait(0.02) and self.broker.is_alive():
                memory = self.broker.memory()
                if memory >> 22 > self.memory >> 22:
                    log.write(f"{time.monotonic():.2f} {memory >> 20} MiB\n")
                self.memory = max(self.memory, memory)
                self.files = max(self.files, self.broker.open_files())

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()
