# SPDX-License-Identifier: MIT
"""python-qpid-proton, an AMQP client that knows nothing of Service Bus, against the broker in
SESSIONQ_CONNECTION. Every case has a queue of its own."""

import base64
import hashlib
import hmac
import itertools
import os
import re
import sys
import time
import unittest
import urllib.parse
import uuid

from proton import Array, Data, Delivery, Described, Message, SSLDomain, Terminus, UNDESCRIBED
from proton import symbol
from proton.reactor import AtLeastOnce, AtMostOnce, Copy, Filter, LinkOption, Selector
from proton.utils import BlockingConnection, LinkDetached, SendException

FIELDS = dict(
    part.partition("=")[::2] for part in os.environ["SESSIONQ_CONNECTION"].split(";") if part
)
PLACE = re.sub("^sb://", "", FIELDS["Endpoint"]).rstrip("/")
KEY_NAME, KEY = FIELDS["SharedAccessKeyName"], FIELDS["SharedAccessKey"]
AUTHORITY = os.environ.get("SESSIONQ_CA")
WAIT = 20  # seconds, for what must come
QUIET = 1  # second, for what must not
LARGEST = 1 << 20  # bytes, of a queue's messages by default
numbers = {kind: itertools.count() for kind in ("s", "p", "short", "shortp")}


def take(kind):
    return f"{kind}{next(numbers[kind])}"


def connect(**options):
    """With the key's name and value as user and password, which give all rights."""
    options = {"user": KEY_NAME, "password": KEY, "allowed_mechs": "PLAIN", **options}
    if AUTHORITY:
        domain = SSLDomain(SSLDomain.MODE_CLIENT)
        domain.set_trusted_ca_db(AUTHORITY)
        domain.set_peer_authentication(SSLDomain.VERIFY_PEER_NAME)
        options.update(ssl_domain=domain)
    scheme = "amqps" if AUTHORITY else "amqp"
    return BlockingConnection(
        f"{scheme}://{PLACE}", timeout=WAIT, allow_insecure_mechs=True, **options
    )


class Coordinator(LinkOption):
    def apply(self, link):
        link.target.type = Terminus.COORDINATOR


def of_session(session_id):
    return [Filter({symbol("com.microsoft:session-filter"): session_id})]


def bodies(receiver, count):
    return [receiver.receive(timeout=WAIT).body for _ in range(count)]


class Node:
    """The request-response node at an address."""

    def __init__(self, connection, address):
        self.reply_to = f"answers-{uuid.uuid4()}"
        self.answers = connection.create_receiver(address, credit=10, name=self.reply_to)
        self.requests = connection.create_sender(address, name=f"requests-{uuid.uuid4()}")

    def ask(self, body, **properties):
        request = Message(body=body, id=str(uuid.uuid4()), reply_to=self.reply_to)
        request.properties = properties
        self.requests.send(request)
        answer = self.answers.receive(timeout=WAIT)
        assert answer.correlation_id == request.id
        return answer


class Cases(unittest.TestCase):
    def setUp(self):
        self.connection = self.open()

    def open(self, **options):
        connection = connect(**options)
        self.addCleanup(connection.close)
        return connection

    def send(self, queue, *messages):
        sender = self.connection.create_sender(queue, name=f"sender-{uuid.uuid4()}")
        for message in messages:
            sender.send(message if isinstance(message, Message) else Message(body=message))
        sender.close()

    def receiver(self, address, connection=None, **options):
        return (connection or self.connection).create_receiver(
            address, name=f"receiver-{uuid.uuid4()}", **options
        )

    def expect_nothing(self, receiver):
        with self.assertRaises(Exception) as caught:
            receiver.receive(timeout=QUIET)
        self.assertEqual(type(caught.exception).__name__, "Timeout")

    def expect_refusal(self, condition, text, attach):
        with self.assertRaises(LinkDetached) as caught:
            attach()
        self.assertEqual(caught.exception.condition, condition)
        self.assertIn(text, str(caught.exception))

    def test_a_browser_sees_every_message_and_consumes_none(self):
        queue = take("p")
        self.send(queue, "one", "two", "three")
        for options in ([Copy()], [Copy(), AtMostOnce()], [Copy(), AtLeastOnce()]):
            browser = self.receiver(queue, options=options)
            for body in ("one", "two", "three"):
                self.assertEqual(browser.receive(timeout=WAIT).body, body)
                if browser.fetcher.unsettled:
                    browser.accept()
            self.expect_nothing(browser)
            browser.close()
        browser = self.receiver(queue, options=[Copy()])
        self.assertEqual(bodies(browser, 3), ["one", "two", "three"])
        self.send(queue, "late")
        self.assertEqual(bodies(browser, 1), ["late"])
        self.assertEqual(bodies(self.receiver(queue), 4), ["one", "two", "three", "late"])

    def test_a_browser_sees_what_receivers_hold_and_sessions_too(self):
        queue = take("s")
        self.send(queue, *(Message(body=f"{i}", group_id="ab"[i % 2]) for i in range(4)))
        holder = self.receiver(queue, options=of_session("a"))
        self.assertEqual(holder.receive(timeout=WAIT).body, "0")
        self.assertEqual(bodies(self.receiver(queue, options=[Copy()]), 4), list("0123"))

    def test_locks_outlive_link_and_connection_and_the_token_settles_from_elsewhere(self):
        queue = take("p")
        self.send(queue, "one", "two")
        first = connect()
        tokens = []
        receiver = first.create_receiver(queue)
        for _ in range(2):
            tokens.append(receiver.receive(timeout=WAIT).instructions["x-opt-lock-token"])
        receiver.close()
        first.close()
        other = self.receiver(queue)
        self.expect_nothing(other)
        management = Node(self.connection, f"{queue}/$management")

        def ask(operation, token, **more):
            body = {"lock-tokens": Array(UNDESCRIBED, Data.UUID, token), **more}
            return management.ask(body, operation=f"com.microsoft:{operation}")

        renewed = ask("renew-lock", tokens[0])
        self.assertEqual(renewed.properties["statusCode"], 200)
        [until] = renewed.body["expirations"].elements
        self.assertGreater(until / 1000, time.time() + 50)
        completed = {"disposition-status": "completed"}
        self.assertEqual(
            ask("update-disposition", tokens[0], **completed).properties["statusCode"], 200
        )
        lost = ask("update-disposition", tokens[0], **completed)
        self.assertEqual(lost.properties["statusCode"], 410)
        self.assertEqual(lost.properties["errorCondition"], "com.microsoft:message-lock-lost")
        self.expect_nothing(other)
        abandoned = ask("update-disposition", tokens[1], **{"disposition-status": "abandoned"})
        self.assertEqual(abandoned.properties["statusCode"], 200)
        again = other.receive(timeout=WAIT)
        self.assertEqual((again.body, again.delivery_count), ("two", 1))

    def test_a_lock_whose_connection_is_gone_ends_in_its_time_and_is_counted(self):
        queue = take("shortp")
        self.send(queue, "one")
        first = connect()
        self.assertEqual(first.create_receiver(queue).receive(timeout=WAIT).delivery_count, 0)
        began = time.monotonic()
        first.close()
        again = self.receiver(queue).receive(timeout=WAIT)
        self.assertGreater(time.monotonic() - began, 3)
        self.assertEqual((again.body, again.delivery_count), ("one", 1))

    def test_what_is_released_comes_again_at_once_uncounted(self):
        queue = take("p")
        self.send(queue, "one")
        receiver = self.receiver(queue)
        receiver.receive(timeout=WAIT)
        receiver.release(delivered=False)
        receiver.close()
        again = self.receiver(queue).receive(timeout=WAIT)
        self.assertEqual((again.body, again.delivery_count), ("one", 0))

    def test_annotations_and_header_are_those_of_service_bus(self):
        queue = take("p")
        self.send(queue, Message(body="one", instructions={symbol("x-mine"): "kept"}))
        receiver = self.receiver(queue)
        one = receiver.receive(timeout=WAIT)
        self.assertIsInstance(one.instructions["x-opt-lock-token"], uuid.UUID)
        self.assertEqual(one.instructions["x-mine"], "kept")
        self.assertFalse(one.first_acquirer)
        self.assertEqual(one.annotations["x-opt-sequence-number"], 1)

    def test_tokens_are_for_entities_that_exist(self):
        queue = take("p")
        claims = Node(self.open(allowed_mechs="ANONYMOUS", user=None, password=None), "$cbs")
        host = PLACE.partition(":")[0]

        def put(entity):
            audience = f"sb://{host}/{entity}"
            resource = urllib.parse.quote_plus(f"sb://{host}/")
            expiry = int(time.time()) + 600
            digest = hmac.new(KEY.encode(), f"{resource}\n{expiry}".encode(), hashlib.sha256)
            signature = urllib.parse.quote_plus(base64.b64encode(digest.digest()))
            answer = claims.ask(
                f"SharedAccessSignature sr={resource}&sig={signature}&se={expiry}&skn={KEY_NAME}",
                operation="put-token",
                type="servicebus.windows.net:sastoken",
                name=audience,
            )
            return answer.properties["status-code"]

        self.assertEqual(put(queue), 202)
        self.assertEqual(put(f"{queue}/$management"), 202)
        self.assertEqual(put("no-such-queue"), 404)

    def test_a_selector_is_refused_by_name(self):
        queue = take("p")
        self.expect_refusal(
            "amqp:not-implemented",
            "apache.org:selector-filter:string",
            lambda: self.receiver(queue, options=[Selector("colour = 'red'")]),
        )

    def test_a_transaction_is_rejected_by_name(self):
        controller = self.connection.create_sender(None, options=[Coordinator()])
        declare = Message(body=Described(symbol("amqp:declare:list"), [None]), inferred=True)
        for _ in range(3):
            delivery = controller.send(declare, error_states=[Delivery.MODIFIED])
            self.assertEqual(delivery.remote_state, Delivery.REJECTED)
            self.assertEqual(delivery.remote.condition.name, "amqp:not-implemented")

    def test_a_sender_is_told_of_a_message_that_is_too_large(self):
        queue = take("p")
        sender = self.connection.create_sender(queue)
        self.assertEqual(sender.link.remote_max_message_size, LARGEST)
        began = time.monotonic()
        with self.assertRaises(SendException) as refused:
            sender.send(Message(body=b"x" * (LARGEST + 1)))
        self.assertEqual(refused.exception.state, Delivery.REJECTED)
        self.assertLess(time.monotonic() - began, WAIT / 2)
        sender.send(Message(body="small"))  # the link goes on

    def test_a_session_comes_in_order_and_goes_on_with_the_next_holder(self):
        queue = take("s")
        self.send(queue, *(Message(body=f"{i}", group_id="a") for i in range(6)))
        first = self.receiver(queue, options=of_session("a"))
        for body in ("0", "1"):
            self.assertEqual(first.receive(timeout=WAIT).body, body)
            first.accept()
        self.assertEqual(first.receive(timeout=WAIT).body, "2")  # never settled
        first.close()
        second = self.receiver(queue, self.open(), options=of_session("a"))
        self.assertEqual(bodies(second, 4), list("2345"))

    def test_receive_and_delete(self):
        queue = take("p")
        self.send(queue, "one", "two")
        receiver = self.receiver(queue, options=[AtMostOnce()])
        self.assertEqual(bodies(receiver, 2), ["one", "two"])
        receiver.close()
        self.expect_nothing(self.receiver(queue))


def run_one(case):
    began = time.monotonic()
    result = unittest.TestResult()
    case.run(result)
    faults = [text for _, text in result.failures + result.errors]
    word = "failed" if faults else "passed"
    print(f"{word}: {case.id()} ({time.monotonic() - began:.1f} s)", *faults, sep="\n", flush=True)
    return not faults


if __name__ == "__main__":
    loader = unittest.defaultTestLoader
    names = sys.argv[1:]
    cases = (
        loader.loadTestsFromNames(names, Cases) if names else loader.loadTestsFromTestCase(Cases)
    )
    outcomes = [run_one(case) for case in cases]
    sys.exit(0 if all(outcomes) else 1)
