#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""promises_test.py CASE PROMISES SESSIONQD: a promise in process and on a daemon of its own."""

import re
import signal
import subprocess
import sys

case, promises, sessionqd = sys.argv[1:4]


def keeps(*connection: str) -> bool:
    return subprocess.run([promises, case, *connection], timeout=100, check=False).returncode == 0


with subprocess.Popen(
    [
        *(sessionqd, "--listen", "127.0.0.1:0"),
        *("--queue", "orders:session:lock=2"),
        *("--queue", "replies:session:lock=2"),
    ],
    stdout=subprocess.PIPE,
    text=True,
) as daemon:
    port = re.search(r"amqp://127\.0\.0\.1:(\d+)", daemon.stdout.readline()).group(1)
    kept = [
        keeps(),
        keeps(
            f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=RootManageSharedAccessKey;"
            "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true"
        ),
    ]
    daemon.send_signal(signal.SIGTERM)
sys.exit(0 if all(kept) and daemon.returncode == 0 else 1)
