#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionqd_doors_test.py SESSIONQD: peers at the wrong port, and those that ask for transactions,
are refused at once, in words that they understand, and the log names each at a wrong port."""

import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
# pylint: disable=wrong-import-position
from amqp_wire import ACCEPTED, REJECTED, Described, message
from wire_client import RECEIVE, SEND, Client

sessionqd = sys.argv[1]
PATIENCE = 5  # seconds; half of the time that a handshake may take
AMQP = {"SASL": b"AMQP\3\1\0\0", "AMQP": b"AMQP\0\1\0\0"}
HTTP = (
    b"GET /$Resources/queues?api-version=2021-05 HTTP/1.1\r\nHost: a\r\n\r\n",
    b"PUT /orders HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
    b"POST /",
)
UPGRADE = (
    b"GET /$servicebus/websocket HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
    b"Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: amqp\r\n\r\n"
)


def client_hello():
    """What a TLS client says first."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="localhost")
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


@unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
class Doors(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        files = pathlib.Path(cls.directory.name)
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
            + ["-nodes", "-days", "2", "-subj", "/CN=localhost", "-keyout", str(files / "key.pem")]
            + ["-out", str(files / "chain.pem")],
            check=True,
            capture_output=True,
        )
        anywhere = "127.0.0.1:0"
        cls.log = files / "log"
        with cls.log.open("w") as log:
            cls.daemon = subprocess.Popen(
                [sessionqd, "--listen", anywhere, "--tls-listen", anywhere]
                + ["--ws-listen", anywhere, "--wss-listen", anywhere]
                + ["--tls-cert", str(files / "chain.pem"), "--tls-key", str(files / "key.pem")]
                + ["--queue", "orders:session", "--queue", "plain"]
                + ["--ws-origin", "https://app.example"],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        urls = re.findall(r"(\w+)://127\.0\.0\.1:(\d+)", cls.daemon.stdout.readline())
        cls.ports = {scheme: int(port) for scheme, port in urls}

    @classmethod
    def tearDownClass(cls):
        cls.daemon.terminate()
        cls.daemon.communicate(timeout=60)
        cls.directory.cleanup()

    def answer(self, scheme, first):
        """What the port says until it closes. It must not wait for more."""
        began = time.monotonic()
        said = b""
        with socket.create_connection(("127.0.0.1", self.ports[scheme]), PATIENCE) as peer:
            peer.sendall(first)
            while piece := peer.recv(4096):
                said += piece
        self.assertLess(time.monotonic() - began, PATIENCE, (scheme, first))
        return said

    def assert_http(self, said, *words):
        self.assertRegex(said, rb"^HTTP/1\.1 400 Bad Request\r\n")
        head, _, body = said.partition(b"\r\n\r\n")
        self.assertIn(b"Content-Length: %d" % len(body), head)
        for word in words:
            self.assertIn(word, body)

    def test_http(self):
        for request in HTTP:
            self.assert_http(self.answer("amqp", request), b"AMQP", b"not HTTP")
            for scheme in ("amqps", "wss"):
                self.assert_http(self.answer(scheme, request), b"TLS")
            if request.endswith(b"\r\n\r\n"):
                self.assert_http(self.answer("ws", request), b"WebSockets")
        self.assert_http(self.answer("amqp", UPGRADE), b"WebSockets")

    def test_web_pages_that_are_not_allowed(self):
        """What a browser sends for a page that its user opened."""
        for origin in (b"http://localhost:5673", b"null", b"https://app.example.evil"):
            asks = UPGRADE.replace(b"Host:", b"Origin: " + origin + b"\r\nHost:", 1)
            self.assertTrue(self.answer("ws", asks).startswith(b"HTTP/1.1 403 Forbidden\r\n"))
        with socket.create_connection(("127.0.0.1", self.ports["ws"]), PATIENCE) as peer:
            peer.sendall(UPGRADE.replace(b"Host:", b"Origin: https://app.example\r\nHost:", 1))
            self.assertTrue(peer.recv(4096).startswith(b"HTTP/1.1 101 "))

    def test_amqp(self):
        for header in AMQP.values():
            self.assertEqual(self.answer("ws", header), b"AMQP\0\1\0\0")
            for scheme in ("amqps", "wss"):
                self.assertEqual(self.answer(scheme, header), b"AMQP\2\1\0\0")

    def test_tls(self):
        hello = client_hello()
        self.assertEqual(self.answer("amqp", hello)[:4], b"AMQP")
        self.assert_http(self.answer("ws", hello))

    def test_an_endless_request_is_cut(self):
        for scheme in ("amqps", "wss", "ws", "amqp"):
            began = time.monotonic()
            with socket.create_connection(("127.0.0.1", self.ports[scheme]), PATIENCE) as peer:
                try:
                    peer.sendall(b"GET /")
                    while time.monotonic() - began < PATIENCE:
                        peer.sendall(b"x" * 65536)
                except OSError:
                    pass
            self.assertLess(time.monotonic() - began, PATIENCE, scheme)

    def test_the_log_names_them(self):
        self.answer("ws", AMQP["SASL"])
        self.answer("amqp", HTTP[0])
        until = time.monotonic() + PATIENCE
        wanted = ["the peer speaks AMQP without a WebSocket", "it speaks HTTP"]
        while time.monotonic() < until:  # the log is written by another process
            log = self.log.read_text()
            if all(words in log for words in wanted):
                break
            time.sleep(0.05)
        for words in wanted:
            self.assertIn(words, log)

    def test_a_send_and_a_settlement_in_a_transaction_are_refused_and_change_nothing(self):
        client = Client(self.ports["amqp"])
        self.addCleanup(client.close)
        orders, in_transaction = client.attach("plain", SEND), Described(0x34, [b"1"])
        for body, size in ((b"small", 1), (b"large", 70_000)):
            sent = client.transfer(orders, message(body * size), state=in_transaction)
            refused = client.outcome(sent)
            self.assertEqual(REJECTED, refused.code)
            self.assertIn("transactions are not supported", refused.value[0].value[1])
        self.assertEqual(ACCEPTED, client.send(orders, message(b"alone")))
        receiver = client.attach("plain", RECEIVE)
        client.flow(receiver, 10)
        _, number, _, data = client.receive()
        self.assertIn(b"alone", data)
        client.settle(number, number, in_transaction, settled=False)
        self.assertEqual(REJECTED, client.outcome(number).code)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
