#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sessionq_exact_test.py SESSIONQ SESSIONQD: what `peek` and `receive` print, `send` reads back to
the same bytes (R27), for random messages with every type of AMQP."""

import base64
import json
import random
import struct
import uuid

from on_daemon import OnDaemon, main

MESSAGES = 100
SECTIONS = {"message_annotations": 0x72, "footer": 0x78}
OF_THE_DELIVERY = {"sequence_number", "enqueued"}


def symbol(text):
    return b"\xa3" + bytes([len(text)]) + text.encode()


def string(text):
    raw = text.encode()
    return b"\xb1" + struct.pack(">I", len(raw)) + raw


def compound(code, items):
    body = struct.pack(">I", len(items)) + b"".join(items)
    return bytes([code]) + struct.pack(">I", len(body)) + body


def described(code, value):
    return b"\x00\x53" + bytes([code]) + value


class Values:
    """Encoded values. The same seed gives the same values."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fixed = [b"\x40", b"\x41", b"\x42", b"\x43", b"\x44", b"\x56\x00", b"\x56\x01"]
        self.widths = {0x50: 1, 0x60: 2, 0x70: 4, 0x80: 8, 0x51: 1, 0x61: 2, 0x71: 4, 0x81: 8}
        self.widths |= {0x52: 1, 0x53: 1, 0x54: 1, 0x55: 1, 0x74: 4, 0x84: 8, 0x94: 16, 0x98: 16}

    def simple(self):
        pick = self.random.randrange(9)
        if pick == 0:
            return self.random.choice(self.fixed)
        if pick <= 3:
            code, width = self.random.choice(sorted(self.widths.items()))
            return bytes([code]) + self.random.randbytes(width)
        if pick == 4:
            return b"\x72" + struct.pack(">f", self.random.uniform(-1e9, 1e9))
        if pick == 5:
            return b"\x82" + struct.pack(">d", self.random.uniform(-1e99, 1e99))
        if pick == 6:  # of the years 1 to 9999
            milliseconds = self.random.randrange(-62_135_596_800_000, 253_402_300_799_999)
            return b"\x83" + struct.pack(">q", milliseconds)
        if pick == 7:
            return b"\x73" + struct.pack(">I", self.random.choice([0x41, 0xE9, 0x1F600]))
        raw = self.random.randbytes(self.random.randrange(20))
        return self.random.choice(
            [b"\xa0" + bytes([len(raw)]) + raw, symbol(raw.hex()), string("π" + raw.hex())]
        )

    def any(self, depth=0):
        pick = self.random.randrange(8 if depth < 3 else 5)
        if pick < 5:
            return self.simple()
        items = [self.any(depth + 1) for _ in range(self.random.randrange(4))]
        if pick == 5:
            return compound(0xD0, items)
        if pick == 6:
            keys = [symbol(f"k{number}") for number in range(len(items))]
            return compound(0xD1, [part for pair in zip(keys, items) for part in pair])
        return b"\x00" + symbol("test:described") + self.any(depth + 1)

    def map(self, key, value):
        count = self.random.randrange(1, 5)
        pairs = [part for n in range(count) for part in (key(f"name-{n}"), value())]
        return compound(0xD1, pairs)

    def body(self):
        def data():
            raw = self.random.randbytes(self.random.randrange(300))
            return described(0x75, b"\xb0" + struct.pack(">I", len(raw)) + raw)

        def sequence():
            return described(0x76, compound(0xD0, [self.any(), self.any()]))

        pick = self.random.randrange(5)
        if pick == 0:
            return described(0x77, self.any())
        if pick == 1:
            return sequence()
        if pick == 2:
            return sequence() + sequence()
        return data() if pick == 3 else data() + data()

    def sections(self):
        sections = {
            "message_annotations": self.map(symbol, self.any),
            "footer": self.map(symbol, self.any),
        }
        made = {name: described(SECTIONS[name], value) for name, value in sections.items()}
        return made | {"body": self.body()}


    def properties(self):
        """As JSON has them. A name that ends with a type has a value of it."""
        signed = {f"int{bits}": bits - 1 for bits in (8, 16, 32)}
        unsigned = {f"uint{bits}": bits for bits in (8, 16, 32, 64)}
        made = {}
        for name, bits in signed.items():
            made[name] = {name: self.random.randrange(-(2**bits), 2**bits)}
        for name, bits in unsigned.items():
            made[name] = {name: self.random.randrange(2**bits)}
        for name in ("decimal32", "decimal64", "decimal128"):
            made[name] = {name: f"{self.random.randrange(-10**6, 10**6)}.50"}
        raw = self.random.randbytes(16)
        made["int64"] = self.random.randrange(-(2**63), 2**63)
        made["float64"] = self.random.uniform(-1e99, 1e99)
        made["uuid"] = {"uuid": str(uuid.UUID(bytes=raw))}
        made["char"] = {"char": self.random.choice("Aé😀")}
        made["symbol"] = {"symbol": raw.hex()}
        made["time"] = {"time": f"{self.random.randrange(1, 10000):04}-02-03T04:05:06.789Z"}
        made["string"] = self.random.choice(["", "π", raw.hex()])
        made["null"], made["boolean"] = None, self.random.random() < 0.5
        names = self.random.sample(sorted(made), self.random.randrange(len(made)))
        return {name: made[name] for name in names}


def line(number, sections, properties):
    encoded = {name: base64.b64encode(raw).decode() for name, raw in sections.items()}
    record = {"session": "exact", "id": str(number), "properties": properties, "encoded": encoded}
    return json.dumps(record) + "\n"


def of_the_message(record):
    return {name: value for name, value in record.items() if name not in OF_THE_DELIVERY}


class Exact(OnDaemon):
    maxDiff = None

    def test_what_is_printed_is_sent_again_byte_for_byte(self):
        values = Values(43)
        sent = [values.sections() for _ in range(MESSAGES)]
        given = "".join(
            line(number, sections, values.properties()) for number, sections in enumerate(sent)
        )
        self.run_it("send", "orders", "--input", "json", given=given)

        everything = ("--session", "exact", "--count", str(MESSAGES))
        peeked = self.run_it("peek", "orders", *everything).raw
        self.run_it("send", "copies", "--input", "json", given=peeked)
        received = self.run_it("receive", "copies", *everything).raw
        self.run_it("send", "orders", "--input", "json", given=received)
        both = ("--session", "exact", "--count", str(2 * MESSAGES))
        after = self.records("receive", "orders", *both)

        records = [json.loads(each) for each in peeked.decode().splitlines()]
        self.assertEqual(len(records), MESSAGES)
        self.assertEqual(len(after), 2 * MESSAGES)
        for first, again, sections in zip(records, after[MESSAGES:], sent):
            self.assertEqual(of_the_message(first), of_the_message(again))
            for name, raw in first["encoded"].items():
                if name in ("footer", "body"):  # else the broker adds to it
                    self.assertEqual(base64.b64decode(raw), sections[name], name)


if __name__ == "__main__":
    main()
