"""sessionqd as the fault tests run it: with a store, on a port of its own, killed and started anew."""

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
        """Answers with how long it took until it listened, in seconds."""
        began = time.monotonic()
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "listens on" not in line:
            raise RuntimeError(f"sessionqd does not start; it ended with {self.process.wait()}")
        return time.monotonic() - began

    def kill(self):
        """At once, as a crash does."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)


def connection_string(port):
    return (
        f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=RootManageSharedAccessKey;SharedAccessKey=SAS_KEY_VALUE;"
        "UseDevelopmentEmulator=true"
    )
