# SPDX-License-Identifier: MIT
"""sessionqd for the fault tests: with a store, on its own port, killed and restarted."""

import socket
import subprocess
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Broker:
    def __init__(self, program, data, queues=(), port=None, config=None):
        self.port = port or free_port()
        self.command = [program, "--listen", f"127.0.0.1:{self.port}", "--data", str(data)]
        if config is not None:
            self.command += ["--config", str(config)]
        for queue in queues:
            self.command += ["--queue", queue]
        self.process = None

    @property
    def connection(self):
        return connection_string(self.port)

    def start(self):
        """Returns the seconds until it listened."""
        began = time.monotonic()
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "listens on" not in line:
            raise RuntimeError(f"sessionqd did not start; exit code {self.process.wait()}")
        return time.monotonic() - began

    def kill(self):
        """Kills it at once, like a crash."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)


def connection_string(port):
    return (
        f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=RootManageSharedAccessKey;"
        "SharedAccessKey=SAS_KEY_VALUE;"
        "UseDevelopmentEmulator=true"
    )
