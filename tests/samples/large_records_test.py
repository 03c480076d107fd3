#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""large_records_test.py REPLAY SESSIONQD: records of which few fit into a batch, and one that fits
into no message."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

program, sessionqd = sys.argv[1:3]
SIZES = [10_000, 700_000, 40, 90_000, 1_000]


def replay(port: str, records: pathlib.Path) -> subprocess.CompletedProcess:
    connection = (
        f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=RootManageSharedAccessKey;"
        "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true"
    )
    command = [program, "--connection", connection, "--entity", "records", "--json"]
    command += ["--input", str(records), "--session-key", "session", "--idle-timeout", "0ms"]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def write(path: pathlib.Path, sizes: list) -> pathlib.Path:
    with path.open("w", encoding="ascii") as lines:
        for number, size in enumerate(sizes):
            record = {"session": f"s{number % 7}", "number": number, "text": "z" * size}
            lines.write(json.dumps(record) + "\n")
    return path


def check(port: str, directory: pathlib.Path) -> None:
    whole = replay(port, write(directory / "whole.jsonl", SIZES * 20))
    assert whole.returncode == 0, whole
    report = json.loads(whole.stdout.splitlines()[-1])
    assert report["messages"] == 100, report
    assert report["lost"] + report["duplicated"] + report["out_of_order"] == 0, report

    refused = replay(port, write(directory / "large.jsonl", [100, 100, 2_000_000, 100]))
    assert refused.returncode == 2, refused
    complaint = "large.jsonl:3: the record is larger than a message of 'records' may be"
    assert complaint in refused.stderr, refused.stderr


with tempfile.TemporaryDirectory() as name, subprocess.Popen(
    [sessionqd, "--listen", "127.0.0.1:0", "--queue", "records:session"],
    stdout=subprocess.PIPE,
    text=True,
) as daemon:
    try:
        listens = re.search(r"amqp://127\.0\.0\.1:(\d+)", daemon.stdout.readline())
        check(listens.group(1), pathlib.Path(name))
    finally:
        daemon.send_signal(signal.SIGTERM)
sys.exit(daemon.returncode)
