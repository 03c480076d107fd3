#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""replay_test.py REPLAY SESSIONQD: the sample `replay` with a broker on the network."""

import json
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

program, sessionqd = sys.argv[1:3]
SIZES = [10_000, 700_000, 40, 90_000, 1_000]


def replay(
    port: str, records: pathlib.Path, entity: str = "records"
) -> subprocess.CompletedProcess:
    connection = (
        f"Endpoint=sb://127.0.0.1:{port};SharedAccessKeyName=RootManageSharedAccessKey;"
        "SharedAccessKey=SAS_KEY_VALUE;UseDevelopmentEmulator=true"
    )
    command = [program, "--connection", connection, "--entity", entity, "--json"]
    command += ["--input", str(records), "--session-key", "session", "--idle-timeout", "0ms"]
    return subprocess.run(command, capture_output=True, text=True, timeout=25, check=False)


def write(path: pathlib.Path, sizes: list) -> pathlib.Path:
    with path.open("w", encoding="ascii") as lines:
        for number, size in enumerate(sizes):
            record = {"session": f"s{number % 7}", "number": number, "text": "z" * size}
            lines.write(json.dumps(record) + "\n")
    return path


def check_large_records(port: str, directory: pathlib.Path) -> None:
    """Few of them fit into a batch, and one fits into no message."""
    whole = replay(port, write(directory / "whole.jsonl", SIZES * 20))
    assert whole.returncode == 0, whole
    report = json.loads(whole.stdout.splitlines()[-1])
    assert report["messages"] == 100, report
    assert report["lost"] + report["duplicated"] + report["out_of_order"] == 0, report

    refused = replay(port, write(directory / "large.jsonl", [100, 100, 2_000_000, 100]))
    assert refused.returncode == 2, refused
    complaint = "large.jsonl:3: the record is larger than a message of 'records' may be"
    assert complaint in refused.stderr, refused.stderr


def check_entity_without_sessions(port: str, directory: pathlib.Path) -> None:
    """It ends at once: no wait can mend that."""
    refused = replay(port, write(directory / "whole.jsonl", [100]), "plain")
    assert refused.returncode == 1, refused
    complaint = "replay: the use of sessions does not match the entity: 'plain' has no sessions"
    assert refused.stderr.count(complaint) == 1, refused.stderr


with tempfile.TemporaryDirectory() as name, subprocess.Popen(
    [sessionqd, "--listen", "127.0.0.1:0", "--queue", "records:session", "--queue", "plain"],
    stdout=subprocess.PIPE,
    text=True,
) as daemon:
    try:
        listens = re.search(r"amqp://127\.0\.0\.1:(\d+)", daemon.stdout.readline())
        for check in (check_large_records, check_entity_without_sessions):
            check(listens.group(1), pathlib.Path(name))
    finally:
        daemon.send_signal(signal.SIGTERM)
sys.exit(daemon.returncode)
