# SPDX-License-Identifier: MIT
"""AMQP 1.0 as bytes: values, frames and messages, right or wrong. Shares no code with the product.
The standard library only."""

import base64
import hashlib
import hmac
import struct
import time
import urllib.parse
import uuid

HOST = "127.0.0.1"
KEY_NAME, KEY = "RootManageSharedAccessKey", "SAS_KEY_VALUE"
AMQP_HEADER = b"AMQP\x00\x01\x00\x00"
SASL_HEADER = b"AMQP\x03\x01\x00\x00"
OPEN, BEGIN, ATTACH, FLOW, TRANSFER, DISPOSITION, DETACH, END, CLOSE = range(0x10, 0x19)
MECHANISMS, INIT, CHALLENGE, RESPONSE, OUTCOME = range(0x40, 0x45)
ACCEPTED = 0x24
REJECTED = 0x25


# Values. A plain int is an unsigned integer of 32 bits.


class Symbol(str):
    pass


class Ubyte(int):
    pass


class Ushort(int):
    pass


class Ulong(int):
    pass


class Int(int):
    pass


class Long(int):
    pass


class Described:
    def __init__(self, code, value):
        self.code, self.value = code, value


class Array:
    """Of longs or UUIDs."""

    def __init__(self, items):
        self.items = items


def sized(code, data):
    if len(data) < 256:
        return bytes([code, len(data)]) + data
    return bytes([code | 0x10]) + struct.pack(">I", len(data)) + data


def compound(code, items):
    body = b"".join(encode(item) for item in items)
    return bytes([code]) + struct.pack(">II", len(body) + 4, len(items)) + body


def encode_array(items):
    is_uuid = bool(items) and isinstance(items[0], uuid.UUID)
    code = 0x98 if is_uuid else 0x81
    body = b"".join(item.bytes if is_uuid else struct.pack(">q", item) for item in items)
    return b"\xf0" + struct.pack(">II", len(body) + 5, len(items)) + bytes([code]) + body


ENCODERS = {
    type(None): lambda _: b"\x40",
    bool: lambda value: b"\x41" if value else b"\x42",
    Ubyte: lambda value: b"\x50" + bytes([value]),
    Ushort: lambda value: b"\x60" + struct.pack(">H", value),
    Ulong: lambda value: b"\x80" + struct.pack(">Q", value),
    Int: lambda value: b"\x71" + struct.pack(">i", value),
    Long: lambda value: b"\x81" + struct.pack(">q", value),
    int: lambda value: b"\x70" + struct.pack(">I", value),
    Symbol: lambda value: sized(0xA3, value.encode()),
    str: lambda value: sized(0xA1, value.encode()),
    bytes: lambda value: sized(0xA0, value),
    uuid.UUID: lambda value: b"\x98" + value.bytes,
    Described: lambda value: b"\x00\x53" + bytes([value.code]) + encode(value.value),
    Array: lambda value: encode_array(value.items),
    dict: lambda value: compound(0xD1, [part for entry in value.items() for part in entry]),
    list: lambda value: compound(0xD0, value),
}


def encode(value):
    return ENCODERS[type(value)](value)


FIXED = {0x40: None, 0x41: True, 0x42: False, 0x43: 0, 0x44: 0, 0x45: []}
NUMBERS = {
    0x50: ">B",
    0x51: ">b",
    0x52: ">B",
    0x53: ">B",
    0x54: ">b",
    0x55: ">b",
    0x56: ">?",
    0x60: ">H",
    0x61: ">h",
    0x70: ">I",
    0x71: ">i",
    0x80: ">Q",
    0x81: ">q",
    0x83: ">q",
}


def decode(data, at=0):
    """Returns a value and where the next one begins."""
    code = data[at]
    at += 1
    if code == 0:
        descriptor, at = decode(data, at)
        value, at = decode(data, at)
        return Described(descriptor, value), at
    return decode_body(code, data, at)


def decode_body(code, data, at):
    if code in FIXED:
        return FIXED[code], at
    if code in NUMBERS:
        size = struct.calcsize(NUMBERS[code])
        return struct.unpack_from(NUMBERS[code], data, at)[0], at + size
    if code == 0x98:
        return uuid.UUID(bytes=bytes(data[at : at + 16])), at + 16
    width = ">I" if code & 0x10 else ">B"
    (size,) = struct.unpack_from(width, data, at)
    at += struct.calcsize(width)
    end = at + size
    kind = code & 0xEF
    if kind == 0xA0:
        return bytes(data[at:end]), end
    if kind in (0xA1, 0xA3):
        return bytes(data[at:end]).decode(errors="replace"), end
    (count,) = struct.unpack_from(width, data, at)
    at += struct.calcsize(width)
    items = []
    if kind == 0xE0:
        element = data[at]
        at += 1
        for _ in range(count):
            item, at = decode_body(element, data, at)
            items.append(item)
        return items, end
    for _ in range(count):
        item, at = decode(data, at)
        items.append(item)
    if kind == 0xC1:
        return dict(zip(items[::2], items[1::2])), end
    return items, end


# Frames and messages


def frame(code, fields, channel=0, payload=b"", kind=0):
    body = encode(Described(code, fields)) + payload
    return struct.pack(">IBBH", len(body) + 8, 2, kind, channel) + body


class FrameReader:
    """Reads from a socket. Raises `over` when the peer has ended the stream."""

    def __init__(self, stream, over):
        self.stream, self.over = stream, over
        self.unread = b""

    def fill(self, size):
        """Reads until so much is unread. A timeout loses nothing."""
        while len(self.unread) < size:
            try:
                more = self.stream.recv(1 << 20)
            except TimeoutError:
                raise
            except OSError as ended:
                raise self.over(str(ended)) from ended
            if not more:
                raise self.over("the peer closed the stream")
            self.unread += more

    def read(self, size):
        self.fill(size)
        taken, self.unread = self.unread[:size], self.unread[size:]
        return taken

    def read_frame(self):
        """The next that is not empty: its channel, code, fields and payload."""
        while True:
            self.fill(8)
            size, offset, _, channel = struct.unpack_from(">IBBH", self.unread)
            body = self.read(size)[offset * 4 :]
            if body:
                performative, at = decode(body)
                return channel, performative.code, performative.value, body[at:]


def plain(name=KEY_NAME, key=KEY):
    """SASL's initial response."""
    return b"\0" + name.encode() + b"\0" + key.encode()


def message(
    body=b"", session=None, properties=None, ttl=None, message_id=None, reply_to=None, value=None
):
    """With a value, or with data."""
    parts = b""
    if ttl is not None:
        parts += encode(Described(0x70, [None, None, ttl]))
    fields = [message_id, None, None, None, reply_to] + [None] * 5 + [session]
    while fields and fields[-1] is None:
        fields.pop()
    if fields:
        parts += encode(Described(0x73, fields))
    if properties is not None:
        parts += encode(Described(0x74, properties))
    return parts + encode(Described(0x77, value) if value is not None else Described(0x75, body))


def shared_access_token(audience, life=3600, name=KEY_NAME, key=KEY):
    resource = urllib.parse.quote_plus(audience)
    until = str(int(time.time()) + life)
    signed = hmac.new(key.encode(), f"{resource}\n{until}".encode(), hashlib.sha256).digest()
    signature = urllib.parse.quote_plus(base64.b64encode(signed).decode())
    return f"SharedAccessSignature sr={resource}&sig={signature}&se={until}&skn={name}"


def put_token(audience, token, reply_to="answers"):
    properties = {
        "operation": "put-token",
        "type": "servicebus.windows.net:sastoken",
        "name": audience,
    }
    return message(
        value=token, properties=properties, reply_to=reply_to, message_id=str(uuid.uuid4())
    )
