#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionq_proxy_test.py SESSIONQ SESSIONQD: the command line behind tinyproxy."""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from on_daemon import OnDaemon, main, sessionq

PROXY = shutil.which("tinyproxy") or shutil.which("tinyproxy", path="/usr/sbin:/sbin")
QUICK = 20  # seconds; far more than it takes
HIDDEN = "hush-hush"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Proxied(OnDaemon):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.port = free_port()
        cls.log = pathlib.Path(cls.directory.name, "proxy.log")
        config = pathlib.Path(cls.directory.name, "proxy.conf")
        config.write_text(
            f"Port {cls.port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 20\n"
            f'LogFile "{cls.log}"\nLogLevel Connect\nBasicAuth ada {HIDDEN}\n'
        )
        cls.proxy = subprocess.Popen([PROXY, "-d", "-c", str(config)], stdout=subprocess.DEVNULL)
        until = time.monotonic() + QUICK
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", cls.port)) == 0:
                    return
            time.sleep(0.02)
        raise RuntimeError("tinyproxy did not start")

    @classmethod
    def tearDownClass(cls):
        cls.proxy.terminate()
        cls.proxy.wait(QUICK)
        super().tearDownClass()

    def run_behind(self, *arguments, **environment):
        clean = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        done = subprocess.run(
            [sessionq, "--connection", self.connection, *arguments],
            capture_output=True,
            text=True,
            timeout=QUICK * 3,
            env=clean | environment,
            check=False,
        )
        self.assertNotIn(HIDDEN, done.stdout + done.stderr)
        return done

    def url(self, password=HIDDEN):
        return f"http://ada:{password}@127.0.0.1:{self.port}"

    def tunnels(self):
        return self.log.read_text().count("Request (file descriptor")

    def test_a_message_goes_through_it_and_back(self):
        before = self.tunnels()
        sent = self.run_behind("send", "plain", "hello", "--proxy", self.url())
        self.assertEqual((sent.returncode, sent.stderr), (0, "1 sent\n"))
        got = self.run_behind("receive", "plain", "--count", "1", "--proxy", self.url())
        self.assertEqual(got.returncode, 0)
        self.assertIn('"hello"', got.stdout)
        self.assertGreaterEqual(self.tunnels(), before + 2)

    def test_the_environment_names_it_if_asked(self):
        before = self.tunnels()
        done = self.run_behind("counts", "plain", "--proxy", "environment", HTTPS_PROXY=self.url())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(self.tunnels(), before)

    def test_hosts_of_no_proxy_are_reached_directly(self):
        before = self.tunnels()
        done = self.run_behind(
            "counts",
            "plain",
            "--proxy",
            "environment",
            HTTPS_PROXY=self.url(),
            NO_PROXY="example.com,127.0.0.1",
        )
        self.assertEqual(done.returncode, 0)
        self.assertEqual(self.tunnels(), before)

    def test_the_environment_is_not_read_without_being_asked(self):
        done = self.run_behind("counts", "plain", HTTPS_PROXY=f"http://127.0.0.1:{free_port()}")
        self.assertEqual(done.returncode, 0)

    def test_a_wrong_password_is_told(self):
        done = self.run_behind("counts", "plain", "--proxy", self.url("wrong"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "40[17]")
        self.assertNotIn("wrong", done.stderr)

    def test_the_doctor_goes_through_it(self):
        done = self.run_behind("doctor", "--entity", "orders", "--proxy", self.url())
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, f"ok +TCP connect +proxy 127.0.0.1:{self.port}")
        self.assertRegex(done.stdout, r"ok +proxy tunnel +to 127\.0\.0\.1:")
        self.assertRegex(done.stdout, "ok +session accept")
        done = self.run_behind("doctor", "--proxy", self.url("wrong"))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "failed +proxy tunnel .*40[17].*user and password")

    def test_another_scheme_is_refused_before_anything_is_sent(self):
        done = self.run_behind("counts", "plain", "--proxy", f"socks5://a:{HIDDEN}@127.0.0.1")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--proxy: ", done.stderr)


if __name__ == "__main__":
    if PROXY is None:
        print("skipped: no tinyproxy")
        sys.exit(77)
    main()
