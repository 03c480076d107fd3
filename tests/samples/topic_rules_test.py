#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""topic_rules_test.py SAMPLE SESSIONQD CONFIG: the sample of a topic, on a daemon with its file."""

import os
import re
import signal
import subprocess
import sys

sample, sessionqd, config = sys.argv[1:4]
COPIES = """\
audit: order of a lamp for ada
audit: order of books for ada
audit: order of books for ben
books: order of books for ada
books: order of books for ben
large: order of a lamp for ada, of high priority
large: order of books for ben, of high priority
"""

with subprocess.Popen(
    [sessionqd, "--listen", "127.0.0.1:0", "--config", config], stdout=subprocess.PIPE, text=True
) as daemon:
    port = re.search(r"amqp://127\.0\.0\.1:(\d+)", daemon.stdout.readline()).group(1)
    connection = (
        f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=RootManageSharedAccessKey;"
        "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true"
    )
    environment = dict(os.environ, SESSIONQ_CONNECTION=connection)
    try:
        printed = subprocess.check_output([sample], env=environment, text=True, timeout=60)
    finally:
        daemon.send_signal(signal.SIGTERM)
print(printed)
sys.exit(0 if "".join(sorted(printed.splitlines(True))) == COPIES else 1)
