"""AMQP 1.0 as bytes, for attackers: writes any frame, right or wrong, and reads as little as it
likes. The standard library only."""

import base64
import hashlib
import hmac
import os
import socket
import ssl
import struct
import time
import urllib.parse

KEY_NAME = "RootManageSharedAccessKey"
KEY = "SAS_KEY_VALUE"
HOST = "127.0.0.1"
WEB_SOCKET_PATH = "/$servicebus/websocket"


# Values


class Symbol(str):
    pass


class Ulong(int):
    pass


class Ubyte(int):
    pass


class Int(int):
    pass


class Long(int):
    pass


class Described:
    def __init__(self, code, value):
        self.code = code
        self.value = value


def sized(short, body):
    if len(body) < 256:
        return bytes([short, len(body)]) + body
    return bytes([short + 0x10]) + struct.pack(">I", len(body)) + body


def encode(value):
    if value is None:
        return b"\x40"
    if value is True:
        return b"\x41"
    if value is False:
        return b"\x42"
    if isinstance(value, Ubyte):
        return b"\x50" + bytes([value])
    if isinstance(value, Ulong):
        return b"\x80" + struct.pack(">Q", value)
    if isinstance(value, Int):
        return b"\x71" + struct.pack(">i", value)
    if isinstance(value, Long):
        return b"\x81" + struct.pack(">q", value)
    if isinstance(value, int):
        return b"\x70" + struct.pack(">I", value)
    if isinstance(value, Symbol):
        return sized(0xA3, value.encode())
    if isinstance(value, str):
        return sized(0xA1, value.encode())
    if isinstance(value, (bytes, bytearray)):
        return sized(0xA0, bytes(value))
    if isinstance(value, Described):
        return b"\x00\x53" + bytes([value.code]) + encode(value.value)
    if isinstance(value, dict):
        body = b"".join(encode(key) + encode(item) for key, item in value.items())
        return b"\xd1" + struct.pack(">II", len(body) + 4, 2 * len(value)) + body
    body = b"".join(encode(item) for item in value)
    return b"\xd0" + struct.pack(">II", len(body) + 4, len(value)) + body


# Frames

OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END, CLOSE = range(0x10, 0x19)
AMQP_HEADER = b"AMQP\x00\x01\x00\x00"
SASL_HEADER = b"AMQP\x03\x01\x00\x00"


def frame(code, fields, channel=0, payload=b"", kind=0):
    body = encode(Described(code, fields)) + payload
    return struct.pack(">IBBH", len(body) + 8, 2, kind, channel) + body


def sasl(mechanism, response):
    return SASL_HEADER + frame(0x41, [Symbol(mechanism), response], kind=1)


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


def message(body, properties=None, reply_to=None, identifier=1):
    """A request: properties, application properties and a value."""
    encoded = encode(Described(0x73, [Ulong(identifier), None, None, None, reply_to]))
    encoded += encode(Described(0x74, properties or {}))
    return encoded + encode(Described(0x77, body))


def management(operation, body, reply_to="answers"):
    return message(body, {"operation": operation}, reply_to)


def shared_access_token(audience, life=3600):
    resource = urllib.parse.quote_plus(audience)
    until = str(int(time.time()) + life)
    signed = hmac.new(KEY.encode(), f"{resource}\n{until}".encode(), hashlib.sha256).digest()
    signature = urllib.parse.quote_plus(base64.b64encode(signed).decode())
    return f"SharedAccessSignature sr={resource}&sig={signature}&se={until}&skn={KEY_NAME}"


def put_token(audience, token, reply_to="answers"):
    properties = {
        "operation": "put-token",
        "type": "servicebus.windows.net:sastoken",
        "name": audience,
    }
    return message(token, properties, reply_to)


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

    def __init__(self, port, trusted=False, source=None, buffer=None):
        self.socket = socket.socket()
        if buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        if source is not None:
            self.socket.bind((source, 0))
        self.socket.settimeout(5)
        self.socket.connect((HOST, port))
        if trusted:
            hello = sasl("PLAIN", b"\0" + KEY_NAME.encode() + b"\0" + KEY.encode())
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
