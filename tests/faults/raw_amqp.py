# SPDX-License-Identifier: MIT
"""Frames and connections for attackers: writes any frame, right or wrong, and reads as little as it
likes. The standard library only."""

import base64
import os
import socket
import ssl
import struct

from amqp_wire import ATTACH, BEGIN, DETACH, FLOW, INIT, OPEN, TRANSFER
from amqp_wire import AMQP_HEADER, HOST, SASL_HEADER
from amqp_wire import Described, Symbol, Ulong, frame, message, plain

WEB_SOCKET_PATH = "/$servicebus/websocket"


# Frames


def sasl(mechanism, response):
    return SASL_HEADER + frame(INIT, [Symbol(mechanism), response], kind=1)


def begin(channel, window=0x7FFFFFFF):
    return frame(BEGIN, [None, 0, window, window, 1023], channel)


def attach(name, handle, is_receiver, source, target, channel=0, properties=None):
    return frame(
        ATTACH,
        [
            name,
            handle,
            is_receiver,
            None,
            None,
            Described(0x28, [source]),
            Described(0x29, [target]),
            None,
            None,
            None if is_receiver else 0,
            None,
            None,
            None,
            properties,
        ],
        channel,
    )


def detach(handle, channel=0):
    return frame(DETACH, [handle, True], channel)


def flow(handle, credit, channel=0, next_incoming=0):
    return frame(
        FLOW, [next_incoming, 0x7FFFFFFF, 0, 0x7FFFFFFF, handle, 0, credit], channel
    )


def transfer(handle, number, payload, channel=0, more=False, first=True, settled=True):
    fields = [handle]
    if first:
        fields += [number, struct.pack(">I", number), 0, settled, more]
    else:
        fields += [None, None, None, None, more]
    return frame(TRANSFER, fields, channel, payload)


def management(operation, body, reply_to="answers"):
    properties = {"operation": operation}
    return message(value=body, properties=properties, reply_to=reply_to, message_id=Ulong(1))


# Connections


class Cut(Exception):
    """The broker ended the connection."""


def connect(port, scheme="amqp", source=None, whole=True):
    """A stream. `whole`: with the handshakes of TLS and of the WebSocket."""
    plain = socket.socket()
    if source is not None:
        plain.bind((source, 0))
    plain.settimeout(20)
    plain.connect((HOST, port))
    if not whole:
        return plain
    stream = plain
    if scheme in ("amqps", "wss"):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        stream = context.wrap_socket(plain)
    if scheme in ("ws", "wss"):
        key = base64.b64encode(os.urandom(16)).decode()
        stream.sendall(
            f"GET {WEB_SOCKET_PATH} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: AMQPWSB10\r\n\r\n".encode()
        )
        head = b""
        while b"\r\n\r\n" not in head:
            more = stream.recv(4096)
            if not more:
                raise Cut("during the WebSocket handshake")
            head += more
    return stream


class Peer:
    """A connection that writes what it is given and reads nothing unless it is asked to."""

    def __init__(self, port, trusted=False, source=None, buffer=None, login=None):
        """`login`: name and key, where not all rights are wanted."""
        self.socket = socket.socket()
        if buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        if source is not None:
            self.socket.bind((source, 0))
        self.socket.settimeout(5)
        self.socket.connect((HOST, port))
        if trusted or login:
            hello = sasl("PLAIN", plain(*login) if login else plain())
        else:
            hello = sasl("ANONYMOUS", b"attacker")
        self.send(hello + AMQP_HEADER + frame(OPEN, ["attacker", None, 65536, 65535]))

    def send(self, data):
        """Writes what the broker takes within five seconds. Raises Cut when it has hung up."""
        try:
            self.socket.sendall(data)
        except socket.timeout as stalled:
            raise TimeoutError from stalled
        except OSError as error:
            raise Cut(str(error)) from error

    def read(self, seconds=0.0, most=1 << 20):
        """What has come, after at most this wait. Raises Cut at the end."""
        self.socket.settimeout(seconds if seconds > 0 else 0.001)
        try:
            data = self.socket.recv(most)
        except (socket.timeout, BlockingIOError):
            return b""
        except OSError as error:
            raise Cut(str(error)) from error
        finally:
            self.socket.settimeout(5)
        if not data:
            raise Cut("closed")
        if b"resource-limit-exceeded" in data:
            raise Cut("told")
        return data

    def close(self):
        self.socket.close()
