"""A small AMQP 1.0 client on a plain socket, which shares no code with the product. It speaks as
much of Service Bus's dialect as the campaigns need."""

import socket
import struct
import uuid

SEND, RECEIVE = False, True  # the role of a link's own end
CREDIT = 1_000_000
KEY_NAME, KEY = "RootManageSharedAccessKey", "SAS_KEY_VALUE"


class Symbol(str):
    pass


class UByte(int):
    pass


class UInt(int):
    pass


class ULong(int):
    pass


class Int(int):
    pass


class Described:
    def __init__(self, code, value):
        self.code, self.value = code, value


class Array:
    """Of longs or UUIDs."""

    def __init__(self, items):
        self.items = items


def variable(code, data):
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


def encode(value):
    if value is None:
        return b"\x40"
    if isinstance(value, bool):
        return b"\x41" if value else b"\x42"
    if isinstance(value, UByte):
        return b"\x50" + bytes([value])
    if isinstance(value, UInt):
        return b"\x70" + struct.pack(">I", value)
    if isinstance(value, ULong):
        return b"\x80" + struct.pack(">Q", value)
    if isinstance(value, Int):
        return b"\x71" + struct.pack(">i", value)
    if isinstance(value, int):
        return b"\x81" + struct.pack(">q", value)
    if isinstance(value, Symbol):
        return variable(0xA3, value.encode())
    if isinstance(value, str):
        return variable(0xA1, value.encode())
    if isinstance(value, bytes):
        return variable(0xA0, value)
    if isinstance(value, uuid.UUID):
        return b"\x98" + value.bytes
    if isinstance(value, Described):
        return b"\x00" + encode(ULong(value.code)) + encode(value.value)
    if isinstance(value, Array):
        return encode_array(value.items)
    if isinstance(value, dict):
        return compound(0xD1, [part for entry in value.items() for part in entry])
    return compound(0xD0, value)


FIXED = {0x40: 0, 0x41: 0, 0x42: 0, 0x43: 0, 0x44: 0, 0x45: 0}
NUMBERS = {
    0x50: ">B",
    0x51: ">b",
    0x52: ">B",
    0x53: ">B",
    0x54: ">b",
    0x55: ">b",
    0x56: ">B",
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
        return {0x41: True, 0x42: False, 0x43: 0, 0x44: 0, 0x45: []}.get(code), at
    if code in NUMBERS:
        size = struct.calcsize(NUMBERS[code])
        return struct.unpack_from(NUMBERS[code], data, at)[0], at + size
    if code == 0x98:
        return uuid.UUID(bytes=bytes(data[at : at + 16])), at + 16
    is_wide = code & 0x10
    size, = struct.unpack_from(">I" if is_wide else ">B", data, at)
    at += 4 if is_wide else 1
    end = at + size
    kind = code & 0xEF
    if kind == 0xA0:
        return bytes(data[at:end]), end
    if kind in (0xA1, 0xA3):
        return bytes(data[at:end]).decode(errors="replace"), end
    count, = struct.unpack_from(">I" if is_wide else ">B", data, at)
    at += 4 if is_wide else 1
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


def message(body=b"", session=None, properties=None, ttl=None, message_id=None, reply_to=None,
            value=None):
    parts = b""
    if ttl is not None:
        parts += encode(Described(0x70, [None, None, UInt(ttl)]))
    fields = [message_id, None, None, None, reply_to] + [None] * 5 + [session]
    while fields and fields[-1] is None:
        fields.pop()
    if fields:
        parts += encode(Described(0x73, fields))
    if properties is not None:
        parts += encode(Described(0x74, properties))
    return parts + encode(Described(0x77, value) if value is not None else Described(0x75, body))


class Closed(Exception):
    pass


class Client:
    """One connection with one AMQP session. Everything is synchronous."""

    def __init__(self, port, timeout=120.0):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.unread = b""
        self.handles = 0
        self.sent = 0
        self.credit = {}  # by the peer's handle
        self.remote = {}  # handles by link name
        self.outcomes = {}  # by delivery number
        self.deliveries = []  # (handle, delivery number, tag, bytes)
        self.partial = {}
        self.detached = {}
        self.login()

    def login(self):
        self.socket.sendall(b"AMQP\x03\x01\x00\x00")
        self.read_exactly(8)
        plain = b"\0" + KEY_NAME.encode() + b"\0" + KEY.encode()
        self.write(Described(0x41, [Symbol("PLAIN"), plain]), kind=1)
        while self.read_frame()[0].code != 0x44:
            pass
        self.socket.sendall(b"AMQP\x00\x01\x00\x00")
        self.read_exactly(8)
        self.write(Described(0x10, ["campaign", "localhost", UInt(1 << 20)]))
        begin = [None, UInt(0), UInt(0x7FFFFFFF), UInt(0x7FFFFFFF), UInt(0xFFFF)]
        self.write(Described(0x11, begin))
        self.wait_for(lambda frame: frame.code == 0x11)

    def write(self, performative, payload=b"", kind=0):
        body = encode(performative) + payload
        self.socket.sendall(struct.pack(">IBBH", len(body) + 8, 2, kind, 0) + body)

    def read_exactly(self, size):
        while len(self.unread) < size:
            more = self.socket.recv(1 << 20)
            if not more:
                raise Closed
            self.unread += more
        taken, self.unread = self.unread[:size], self.unread[size:]
        return taken

    def read_frame(self):
        while True:
            size, offset, _, _ = struct.unpack(">IBBH", self.read_exactly(8))
            body = self.read_exactly(size - 8)[offset * 4 - 8 :]
            if body:
                frame, at = decode(body)
                return frame, body[at:]

    def step(self):
        """Reads one frame and notes what it says."""
        frame, payload = self.read_frame()
        fields = frame.value
        if frame.code == 0x12:
            self.remote[(fields[0], fields[2])] = fields[1]
        elif frame.code == 0x13 and len(fields) > 6 and fields[4] is not None:
            self.credit[fields[4]] = (fields[5] or 0) + fields[6]
        elif frame.code == 0x14:
            self.on_transfer(fields, payload)
        elif frame.code == 0x15:
            for number in range(fields[1], (fields[2] if len(fields) > 2 and fields[2] is not None
                                            else fields[1]) + 1):
                self.outcomes[number] = fields[4] if len(fields) > 4 else None
        elif frame.code == 0x16:
            self.detached[fields[0]] = fields[2] if len(fields) > 2 else None
        elif frame.code == 0x18:
            raise Closed(fields[0].value[:2] if fields and fields[0] else None)
        return frame

    def on_transfer(self, fields, payload):
        handle = fields[0]
        first, data = self.partial.pop(handle, (fields, b""))
        if len(fields) > 5 and fields[5]:
            self.partial[handle] = (first, data + payload)
        else:
            self.deliveries.append((handle, first[1], first[2], data + payload))

    def wait_for(self, done):
        while True:
            frame = self.step()
            if done(frame):
                return frame

    def attach(self, address, role, target=None, session=None, wait=True):
        handle, self.handles = self.handles, self.handles + 1
        name = f"{role}-{handle}-{uuid.uuid4()}"
        source = [address if role == RECEIVE else name]
        if session is not None:
            source += [None] * 6 + [{Symbol("com.microsoft:session-filter"): session}]
        if role == RECEIVE:
            ends = [Described(0x28, source), Described(0x29, [target or name])]
        else:
            ends = [Described(0x28, source), Described(0x29, [address])]
        fields = [name, UInt(handle), role, None, None, *ends]
        if role == SEND:
            fields += [None, None, UInt(0)]
        self.write(Described(0x12, fields))
        if wait:
            self.wait_for(lambda frame: frame.code == 0x12 and frame.value[0] == name)
            if role == SEND:
                remote = self.remote[(name, RECEIVE)]
                while remote not in self.credit:
                    self.step()
        return handle

    def flow(self, handle, credit):
        fields = [None, UInt(0x7FFFFFFF), UInt(0), UInt(0x7FFFFFFF)]
        fields[0] = UInt(0)
        self.write(Described(0x13, [*fields, UInt(handle), UInt(0), UInt(credit)]))

    def transfer(self, handle, data, batch=False, settled=False):
        """Sends in frames of 60,000 bytes. Returns the delivery's number."""
        number, self.sent = self.sent, self.sent + 1
        kind = UInt(0x80013700 if batch else 0)
        tag = struct.pack(">I", number)
        for at in range(0, max(1, len(data)), 60_000):
            more = at + 60_000 < len(data)
            fields = [UInt(handle), UInt(number), tag, kind, settled, more]
            self.write(Described(0x14, fields), data[at : at + 60_000])
        return number

    def outcome(self, number):
        while number not in self.outcomes:
            self.step()
        return self.outcomes.pop(number)

    def send(self, handle, data, batch=False):
        """Returns the outcome's code: 0x24 is accepted."""
        outcome = self.outcome(self.transfer(handle, data, batch))
        return outcome.code if outcome is not None else None

    def settle(self, first, last, state):
        self.write(Described(0x15, [RECEIVE, UInt(first), UInt(last), True, state]))

    def receive(self):
        while not self.deliveries:
            self.step()
        return self.deliveries.pop(0)

    def close(self):
        self.socket.close()


class Management:
    """The `$management` node of an entity."""

    def __init__(self, client, entity):
        self.client = client
        node = entity + "/$management"
        self.reply_to = str(uuid.uuid4())
        self.sender = client.attach(node, SEND)
        receiver = client.attach(node, RECEIVE, target=self.reply_to)
        client.flow(receiver, CREDIT)

    def ask(self, operation, body, **properties):
        """Returns the status code and the body of the answer, or the code of the outcome."""
        number = self.client.transfer(
            self.sender,
            message(
                properties={"operation": "com.microsoft:" + operation, **properties},
                message_id=str(uuid.uuid4()),
                reply_to=self.reply_to,
                value=body,
            ),
        )
        outcome = self.client.outcome(number)
        if outcome is not None and outcome.code != 0x24:
            return outcome.code, None
        answer = self.client.receive()[3]
        at, status, value = 0, None, None
        while at < len(answer):
            section, at = decode(answer, at)
            if section.code == 0x74:
                status = section.value.get("statusCode")
            elif section.code == 0x77:
                value = section.value
        return status, value
