#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionq_doctor_test.py SESSIONQ SESSIONQD: what the doctor finds, on daemons and on servers that
are none."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
# pylint: disable=wrong-import-position
from amqp_wire import shared_access_token

sessionq, sessionqd = sys.argv[1:3]
QUICK = 30  # seconds; far more than it takes
HIDDEN = "hush-hush-hush"
KEYS = {"all": HIDDEN, "listener": HIDDEN + ":listen", "sender": HIDDEN + ":send"}
QUICKLY = ("--timeout", "500ms")
PLAIN = ";UseDevelopmentEmulator=true"
ALL_CHECKS = [
    "name resolution",
    "TCP connect",
    "SASL",
    "claim",
    "rights",
    "entity",
    "lock length",
    "clock",
    "round trip",
    "limits",
    "session accept",
]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def make_certificate(directory):
    """A certificate that signed itself, so that it is its own authority."""
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        + ["-nodes", "-days", "90", "-subj", "/CN=doctor", "-addext"]
        + ["subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(directory / "key.pem")]
        + ["-out", str(directory / "ca.pem")],
        check=True,
        capture_output=True,
    )


def connection_to(port, host="127.0.0.1", key="all", value=HIDDEN, more=PLAIN):
    return f"Endpoint=sb://{host}:{port};SharedAccessKeyName={key};SharedAccessKey={value}{more}"


class Daemon:
    def __init__(self, *options):
        self.port = free_port()
        self.directory = tempfile.TemporaryDirectory()
        config = pathlib.Path(self.directory.name, "config.json")
        subscriptions = [{"Name": "all", "Properties": {"RequiresSession": True}}]
        topics = [{"Name": "news", "Subscriptions": subscriptions}]
        namespaces = [{"Name": "n", "Topics": topics}]
        config.write_text(json.dumps({"UserConfig": {"Namespaces": namespaces}}))
        command = [sessionqd, "--listen", f"127.0.0.1:{self.port}", "--queue", "orders:session"]
        command += ["--queue", "plain", "--config", str(config), *options]
        command += [part for key in KEYS.items() for part in ("--key", "=".join(key))]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert "listens on" in self.process.stdout.readline()

    def stop(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.terminate()
        self.process.communicate(timeout=QUICK)
        self.directory.cleanup()


@contextlib.contextmanager
def passing_on(host, port, until=b"never"):
    """Passes on what comes to this host. Yields the port. From the first bytes that contain
    `until`, nothing of a connection is passed on any more."""

    def pump(source, target):
        with source, contextlib.suppress(OSError):
            while data := source.recv(65536):
                if until in data:
                    time.sleep(QUICK)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def connect(client):
        broker = socket.create_connection(("127.0.0.1", port))
        for pair in ((client, broker), (broker, client)):
            threading.Thread(target=pump, args=pair, daemon=True).start()

    with server(connect, host) as own_port:
        yield own_port


@contextlib.contextmanager
def server(answer, host="127.0.0.1"):
    """A server that gives each connection to `answer`. Yields its port."""
    with socket.create_server((host, 0)) as listener:
        kept = []

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    kept.append(listener.accept()[0])
                    answer(kept[-1])

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(QUICK)
        for connection in kept:
            connection.close()


class DoctorCase(unittest.TestCase):
    def examine(self, connection, *options, code=0):
        """The findings by check, in order."""
        done = subprocess.run(
            [sessionq, "doctor", "--json", *options],
            capture_output=True,
            text=True,
            timeout=QUICK,
            check=False,
            env=dict(os.environ, SESSIONQ_CONNECTION=connection),
        )
        self.assertNotIn(HIDDEN, done.stdout + done.stderr)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(done.stderr, "")
        findings = [json.loads(line) for line in done.stdout.splitlines()]
        return {finding["check"]: finding for finding in findings}

    def assert_last(self, findings, check, found, change):
        """The last check failed, and says what was found and what to change."""
        self.assertEqual(list(findings)[-1], check, findings)
        self.assert_failed(findings, check, found, change)

    def assert_failed(self, findings, check, found, change):
        finding = findings[check]
        self.assertEqual(finding["result"], "failed")
        self.assertRegex(finding["found"], found)
        self.assertRegex(finding["change"], change)


class OnPlainDaemon(DoctorCase):
    @classmethod
    def setUpClass(cls):
        cls.daemon = Daemon()

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()

    def connection(self, key="all", port=None, **more):
        return connection_to(port or self.daemon.port, key=key, **more)

    def run_it(self, *arguments):
        environment = dict(os.environ, SESSIONQ_CONNECTION=self.connection())
        return subprocess.run(
            [sessionq, *arguments],
            capture_output=True,
            text=True,
            timeout=QUICK,
            check=True,
            env=environment,
        ).stdout

    def test_all_is_well_and_nothing_is_changed(self):
        findings = self.examine(self.connection(), "--entity", "orders")
        self.assertEqual(list(findings), ALL_CHECKS)
        self.assertEqual({finding["result"] for finding in findings.values()}, {"ok"})
        self.assertAlmostEqual(findings["lock length"]["figures"]["seconds"], 60, delta=1)
        self.assertLess(abs(findings["clock"]["figures"]["ahead_seconds"]), 1)
        self.assertRegex(findings["clock"]["found"], "within .* of the broker's")
        self.assertEqual(findings["limits"]["figures"]["idle_time_out_seconds"], 240)
        self.assertFalse(findings["session accept"]["figures"]["granted"])
        self.assertEqual(self.run_it("sessions", "orders"), "")

    def test_the_session_that_it_locks_comes_back_uncounted(self):
        self.run_it("send", "orders", "--session", "ada", "one")
        for _ in range(3):
            findings = self.examine(self.connection(), "--entity", "orders")
            self.assertTrue(findings["session accept"]["figures"]["granted"])
        got = self.run_it("receive", "orders", "--session", "ada", "--wait", "5s", "--count", "1")
        self.assertEqual(json.loads(got)["delivery_count"], 0)
        self.assertEqual(json.loads(got)["body"], "one")

    def test_a_line_is_printed_for_each_check(self):
        lines = self.run_it("doctor", "--entity", "orders").splitlines()
        self.assertEqual([line[9:26].rstrip() for line in lines], ALL_CHECKS)
        self.assertEqual({line[:9].rstrip() for line in lines}, {"ok"})

    def test_the_entity_may_be_that_of_the_connection_string(self):
        findings = self.examine(self.connection(more=PLAIN + ";EntityPath=orders"))
        self.assertEqual(list(findings), ALL_CHECKS)

    def test_without_an_entity_the_broker_alone_is_checked(self):
        findings = self.examine(self.connection())
        self.assertEqual(findings["claim"]["result"], "ok")
        self.assertEqual(findings["entity"]["result"], "skipped")
        self.assertEqual(list(findings)[-1], "limits")

    def test_an_entity_without_sessions(self):
        findings = self.examine(self.connection(), "--entity", "plain")
        self.assertIn("without sessions", findings["entity"]["found"])
        self.assertIn("Receiver", findings["entity"]["change"])
        for check in ("lock length", "clock", "session accept"):
            self.assertEqual(findings[check]["result"], "skipped")

    def test_a_topic_and_its_subscription(self):
        place = self.connection()
        findings = self.examine(place, "--entity", "news", code=1)
        self.assert_failed(findings, "entity", "a topic", "news/subscriptions/NAME")
        findings = self.examine(place, "--entity", "news", "--for", "sending")
        self.assertEqual(findings["entity"]["figures"]["kind"], "topic")
        subscription = "news/subscriptions/all"
        findings = self.examine(place, "--entity", subscription)
        self.assertIn("a subscription with sessions", findings["entity"]["found"])
        self.assertEqual(findings["session accept"]["result"], "ok")
        findings = self.examine(place, "--entity", subscription, "--for", "both", code=1)
        self.assert_failed(findings, "entity", "refuses senders", "that it belongs to")

    def test_a_wrong_key(self):
        wrong = self.connection(value=HIDDEN + "?")
        findings = self.examine(wrong, "--entity", "orders", code=1)
        self.assert_last(findings, "claim", "rejected the key 'all'", "SharedAccessKeyName")

    def signed(self, life):
        token = shared_access_token("sb://127.0.0.1/orders", life, name="all", key=HIDDEN)
        signature = re.search("sig=([^&]*)", token).group(1)
        place = f"Endpoint=sb://127.0.0.1:{self.daemon.port};SharedAccessSignature={token}{PLAIN}"
        return place, signature

    def test_a_signature(self):
        place, _ = self.signed(3600)
        findings = self.examine(place, "--entity", "orders")
        self.assertIn("accepted the signature", findings["claim"]["found"])
        self.assertEqual(findings["session accept"]["result"], "ok")
        self.assertEqual(self.examine(place)["claim"]["result"], "skipped")

    def test_a_signature_that_has_expired(self):
        place, signature = self.signed(-60)
        findings = self.examine(place, "--entity", "orders", code=1)
        self.assert_last(findings, "claim", "the signature expired at 20", "a new one")
        self.assertNotIn(signature, str(findings))

    def test_no_such_entity(self):
        findings = self.examine(self.connection(), "--entity", "odrers", code=1)
        self.assert_last(findings, "entity", "has no 'odrers'", "spelling")

    def test_a_key_without_the_right_to_listen(self):
        sender = self.connection("sender")
        findings = self.examine(sender, "--entity", "orders", code=1)
        self.assert_failed(findings, "rights", "may send, not listen", "Listen")
        self.assertEqual(findings["rights"]["figures"], {"send": True, "listen": False})
        self.assertEqual(findings["session accept"]["result"], "skipped")
        findings = self.examine(sender, "--entity", "orders", "--for", "sending")
        self.assertEqual(findings["rights"]["result"], "ok")

    def test_a_key_without_the_right_to_send(self):
        listener = self.connection("listener")
        findings = self.examine(listener, "--entity", "orders")
        self.assertEqual(findings["rights"]["found"], "may listen, not send")
        findings = self.examine(listener, "--entity", "orders", "--for", "both", code=1)
        self.assert_failed(findings, "rights", "may listen, not send", "Send")

    def test_a_refused_port(self):
        findings = self.examine(self.connection(port=free_port()), code=1)
        self.assert_last(findings, "TCP connect", "refused", "broker runs")

    def test_a_host_that_cannot_be_resolved(self):
        findings = self.examine(self.connection(host="nowhere.invalid"), code=1)
        self.assert_last(findings, "name resolution", "'nowhere.invalid'", "spelling")

    def test_tls_against_a_plain_port(self):
        findings = self.examine(self.connection(more=""), code=1)
        self.assert_last(findings, "TLS", "speaks no TLS", "UseDevelopmentEmulator=true")

    def test_a_wrong_password_in_a_url(self):
        url = f"amqp://ada:{HIDDEN}@127.0.0.1:{self.daemon.port}"
        findings = self.examine(url, code=1)
        self.assert_last(findings, "SASL", "rejected the login .user 'ada'", "password")

    def test_a_url_for_a_broker_without_message_groups(self):
        findings = self.examine(f"amqp://127.0.0.1:{self.daemon.port}", code=1)
        self.assert_last(findings, "SASL", "does not name its product", "Endpoint=sb://")

    def test_the_second_host_of_a_url_is_tried(self):
        url = f"amqp://127.0.0.1:{free_port()},127.0.0.1:{self.daemon.port}?dialect=artemis"
        findings = self.examine(url, code=1)  # the first host failed
        self.assertEqual(findings["SASL"]["result"], "ok")

    def test_a_wrong_connection_string_is_a_mistake_of_usage(self):
        done = subprocess.run(
            [sessionq, "doctor", "--connection", f"Endpoint=sb://h;SharedAccessKey={HIDDEN}"],
            capture_output=True,
            text=True,
            timeout=QUICK,
            check=False,
        )
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertNotIn(HIDDEN, done.stderr)


class OnFrozenDaemon(DoctorCase):
    def test_it_is_told_within_the_bound(self):
        daemon = Daemon()
        self.addCleanup(daemon.stop)
        daemon.process.send_signal(signal.SIGSTOP)
        begun = time.monotonic()
        findings = self.examine(connection_to(daemon.port), *QUICKLY, code=1)
        self.assertLess(time.monotonic() - begun, 10)
        self.assert_last(findings, "SASL", "nobody answered", "frozen")


    def test_so_is_one_that_freezes_on_the_way(self):
        daemon = Daemon()
        self.addCleanup(daemon.stop)
        for until, check in (
            (b"put-token", "claim"),
            (b"doctor-", "rights"),
            (b"sessionq-doctor-", "lock length"),
            (b"com.microsoft:timeout", "session accept"),
        ):
            with self.subTest(check), passing_on("127.0.0.1", daemon.port, until) as port:
                place = connection_to(port)
                findings = self.examine(place, "--entity", "orders", *QUICKLY, code=1)
                self.assert_last(findings, check, "answer|timed out", "frozen")


class OnOtherServers(DoctorCase):
    def test_a_server_that_is_silent(self):
        with server(lambda connection: None) as port:
            findings = self.examine(connection_to(port, more=""), *QUICKLY, code=1)
            self.assert_last(findings, "TLS", "nobody answered", "frozen")

    def test_a_web_server(self):
        with server(lambda connection: connection.sendall(b"HTTP/1.1 400 Bad\r\n\r\n")) as port:
            findings = self.examine(f"amqp://127.0.0.1:{port}", code=1)
            self.assert_last(findings, "SASL", "HTTP", "AMQP 1.0 broker")

    def test_a_proxy_that_repeats_the_password(self):
        def refuse(connection):
            connection.recv(4096)
            connection.sendall(f"HTTP/1.1 403 not with {HIDDEN}\r\n\r\n".encode())

        with server(refuse) as port:
            proxy = ("--proxy", f"http://ada:{HIDDEN}@127.0.0.1:{port}")
            findings = self.examine("amqp://broker.invalid", *proxy, code=1)
            self.assert_last(findings, "proxy tunnel", r"403 not with \*\*\*", "may connect to")


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class OnTlsDaemon(DoctorCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        directory = pathlib.Path(cls.directory.name)
        make_certificate(directory)
        cls.ca_file = str(directory / "ca.pem")
        cls.ports = {scheme: free_port() for scheme in ("tls", "ws", "wss")}
        options = [
            word
            for scheme, port in cls.ports.items()
            for word in (f"--{scheme}-listen", f"127.0.0.1:{port}")
        ]
        cls.daemon = Daemon(
            *options, "--tls-cert", cls.ca_file, "--tls-key", str(directory / "key.pem")
        )

    @classmethod
    def tearDownClass(cls):
        cls.daemon.stop()
        cls.directory.cleanup()

    def connection(self, scheme, more="", host="localhost"):
        return connection_to(self.ports[scheme], host=host, more=more)

    def examine_orders(self, connection, *options, code=0):
        return self.examine(connection, "--entity", "orders", *options, code=code)

    def test_tls_is_told_with_its_certificate(self):
        for host in ("localhost", "127.0.0.1"):
            place = self.connection("tls", host=host)
            findings = self.examine_orders(place, "--ca-file", self.ca_file)
            self.assertEqual({finding["result"] for finding in findings.values()}, {"ok"})
            self.assertEqual(list(findings)[2], "TLS")
            self.assertRegex(findings["TLS"]["found"], r"^TLSv1\.3, .*'CN=doctor', .*90 days left")

    def test_an_authority_that_is_not_trusted(self):
        findings = self.examine_orders(self.connection("tls"), code=1)
        self.assert_last(findings, "TLS", "issued by 'CN=doctor'", "--ca-file")

    def test_a_certificate_for_another_name(self):
        # each address of the loopback network is this machine
        with passing_on("127.0.0.2", self.ports["tls"]) as port:
            place = connection_to(port, host="127.0.0.2", more="")
            findings = self.examine_orders(place, "--ca-file", self.ca_file, code=1)
        self.assert_last(
            findings, "TLS", "for localhost, 127.0.0.1, not for '127.0.0.2'", "a name of the"
        )

    def test_plain_against_a_port_for_tls(self):
        place = self.connection("tls", PLAIN)
        findings = self.examine_orders(place, code=1)
        self.assert_last(findings, "SASL", "speaks TLS", "UseDevelopmentEmulator")
        findings = self.examine(f"amqp://localhost:{self.ports['tls']}", code=1)
        self.assert_last(findings, "SASL", "speaks TLS", "amqps://")

    def test_web_sockets(self):
        sockets = ";TransportType=AmqpWebSockets"
        plain = self.connection("ws", sockets + PLAIN)
        findings = self.examine_orders(plain)
        self.assertEqual(list(findings)[2], "WebSocket")
        self.assertEqual(findings["session accept"]["result"], "ok")
        secure = self.examine_orders(self.connection("wss", sockets), "--ca-file", self.ca_file)
        self.assertEqual(list(secure)[2:4], ["TLS", "WebSocket"])
        self.assertEqual(secure["session accept"]["result"], "ok")
        wrong = self.connection("tls", sockets)
        findings = self.examine_orders(wrong, "--ca-file", self.ca_file, code=1)
        self.assert_last(findings, "WebSocket", "WebSocket", "port")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
