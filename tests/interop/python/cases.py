# SPDX-License-Identifier: MIT
"""Azure's Python client with sessions, against the broker in SESSIONQ_CONNECTION. Every case has
queues of its own. Also for versions below 7.9, whose AMQP library is uamqp."""

import asyncio
import concurrent.futures
import datetime
import itertools
import os
import subprocess
import sys
import threading
import time
import unittest
import uuid

from azure.servicebus import (
    NEXT_AVAILABLE_SESSION,
    AutoLockRenewer,
    ServiceBusClient,
    ServiceBusMessage,
    ServiceBusReceiveMode,
    ServiceBusSubQueue,
    TransportType,
)
from azure.servicebus import __version__, aio, exceptions
from azure.servicebus.amqp import AmqpAnnotatedMessage

CONNECTION = os.environ["SESSIONQ_CONNECTION"]
IS_UAMQP = tuple(map(int, __version__.split(".")[:2])) < (7, 9)
numbers = {kind: itertools.count() for kind in ("s", "p", "short", "shortp")}


def take(kind):
    return f"{kind}{next(numbers[kind])}"


def message(session_id, body, **more):
    return ServiceBusMessage(body, session_id=session_id, **more)


def text(received):
    return b"".join(received.body).decode()


def texts(received):
    return [text(one) for one in received]


def decode(part):
    return part.decode() if isinstance(part, bytes) else part


def receive_all(receiver, count):
    """Receives until it has this many, or none comes. The client returns what it has soon after
    the first."""
    received = []
    while len(received) < count:
        more = receiver.receive_messages(count - len(received), max_wait_time=5)
        if not more:
            break
        received += more
    return received


def connect(connection=CONNECTION, kind=ServiceBusClient, **options):
    authority = os.environ.get("SESSIONQ_CA")
    if authority:
        # Over TLS this client ignores the port in a connection string.
        options.update(connection_verify=authority, transport_type=TransportType.Amqp)
        options.update(custom_endpoint_address=f"sb://localhost:{os.environ['SESSIONQ_TLS_PORT']}")
    return kind.from_connection_string(connection, **options)


class Cases(unittest.TestCase):
    def setUp(self):
        self.client = connect()
        self.addCleanup(self.client.close)

    def send(self, queue, *messages):
        with self.client.get_queue_sender(queue) as sender:
            sender.send_messages(list(messages) if len(messages) > 1 else messages[0])

    def session(self, queue, session_id=NEXT_AVAILABLE_SESSION, client=None, **options):
        return (client or self.client).get_queue_receiver(queue, session_id=session_id, **options)

    def test_accept_the_next_session_receive_complete(self):
        queue = take("s")
        self.send(queue, message("a", "one"))
        with self.session(queue, max_wait_time=5) as receiver:
            self.assertEqual(receiver.session.session_id, "a")
            now = datetime.datetime.now(datetime.timezone.utc)
            self.assertGreater(
                receiver.session.locked_until_utc, now + datetime.timedelta(seconds=30)
            )
            [one] = receiver.receive_messages(1, max_wait_time=5)
            self.assertEqual(text(one), "one")
            self.assertEqual(one.session_id, "a")
            self.assertEqual(one.delivery_count, 0)
            self.assertEqual(one.sequence_number, 1)
            receiver.complete_message(one)
            self.assertEqual(receiver.receive_messages(1, max_wait_time=1), [])

    def test_accept_a_named_session_that_has_no_messages_yet(self):
        queue = take("s")
        with self.session(queue, "later") as receiver:
            threading.Timer(0.3, self.send, (queue, message("later", "one"))).start()
            self.assertEqual(texts(receiver.receive_messages(1, max_wait_time=5)), ["one"])

    def test_the_session_with_the_empty_id_is_a_session_like_others(self):
        queue = take("s")
        self.send(queue, message("", "one"))
        with self.session(queue, "") as receiver:
            self.assertEqual(receiver.session.session_id, "")
            self.assertEqual(texts(receiver.receive_messages(1, max_wait_time=5)), ["one"])

    @unittest.skipIf(IS_UAMQP, "waits for 65 s, whatever max_wait_time is")
    def test_accept_with_nothing_there_ends_with_a_time_out(self):
        began = time.monotonic()
        with connect(retry_total=0) as client:
            with self.assertRaises(exceptions.OperationTimeoutError):
                with self.session(take("s"), client=client, max_wait_time=2):
                    pass
        self.assertLess(time.monotonic() - began, 10)

    def test_two_clients_compete_for_one_session(self):
        queue = take("s")
        self.send(queue, message("a", "one"))
        with connect(retry_total=0) as other:
            with self.session(queue, "a") as first:
                with self.assertRaises(exceptions.SessionCannotBeLockedError):
                    with self.session(queue, "a", client=other):
                        pass
                [one] = first.receive_messages(1, max_wait_time=5)
            with self.session(queue, "a", client=other) as second:
                [again] = second.receive_messages(1, max_wait_time=5)
                self.assertEqual(text(again), text(one))
                self.assertEqual(again.delivery_count, 0)
                second.complete_message(again)

    def test_a_client_that_waits_for_the_next_session_gets_one_when_it_appears(self):
        queue = take("s")
        late = threading.Timer(0.5, self.send, (queue, message("late", "one")))
        late.start()
        with self.session(queue, max_wait_time=10) as receiver:
            self.assertEqual(receiver.session.session_id, "late")
        late.join()

    def test_receive_in_order_across_two_sessions(self):
        queue = take("s")
        for i in range(10):
            self.send(queue, message("a", str(i)), message("b", str(100 + i)))
        for session_id, first in (("a", 0), ("b", 100)):
            received = []
            with self.session(queue, session_id) as receiver:
                while len(received) < 10:
                    for one in receiver.receive_messages(4, max_wait_time=5):
                        received.append(int(text(one)))
                        receiver.complete_message(one)
            self.assertEqual(received, [first + i for i in range(10)])

    def test_streaming_receive(self):
        queue = take("s")
        self.send(queue, *(message("a", str(i)) for i in range(50)))
        received = []
        with self.session(queue, "a", prefetch_count=10, max_wait_time=2) as receiver:
            for one in receiver:
                received.append(int(text(one)))
                receiver.complete_message(one)
        self.assertEqual(received, list(range(50)))

    def test_abandon_brings_the_same_message_again_before_later_ones(self):
        queue = take("s")
        self.send(queue, message("a", "one"), message("a", "two"))
        with self.session(queue, "a") as receiver:
            [one] = receiver.receive_messages(1, max_wait_time=5)
            receiver.abandon_message(one)
            [again] = receiver.receive_messages(1, max_wait_time=5)
            self.assertEqual(text(again), "one")
            self.assertEqual(again.delivery_count, 1)
            receiver.complete_message(again)
            self.assertEqual(texts(receiver.receive_messages(1, max_wait_time=5)), ["two"])

    def test_defer_receive_deferred_complete(self):
        queue = take("s")
        self.send(queue, message("a", "one"), message("a", "two"))
        with self.session(queue, "a") as receiver:
            [one] = receiver.receive_messages(1, max_wait_time=5)
            receiver.defer_message(one)
            self.assertEqual(texts(receiver.receive_messages(1, max_wait_time=5)), ["two"])
            [deferred] = receiver.receive_deferred_messages(one.sequence_number)
            self.assertEqual(text(deferred), "one")
            receiver.complete_message(deferred)
            with self.assertRaises(exceptions.MessageNotFoundError):
                receiver.receive_deferred_messages(one.sequence_number)

    def test_dead_letter_with_a_reason(self):
        queue = take("s")
        self.send(queue, message("a", "bad"))
        with self.session(queue, "a") as receiver:
            [one] = receiver.receive_messages(1, max_wait_time=5)
            receiver.dead_letter_message(one, reason="reason", error_description="description")
        with self.client.get_queue_receiver(
            queue, sub_queue=ServiceBusSubQueue.DEAD_LETTER
        ) as graveyard:
            [dead] = graveyard.receive_messages(1, max_wait_time=5)
            self.assertEqual(text(dead), "bad")
            self.assertEqual(dead.dead_letter_reason, "reason")
            self.assertEqual(dead.dead_letter_error_description, "description")
            graveyard.renew_message_lock(dead)
            graveyard.complete_message(dead)
            self.assertEqual(graveyard.receive_messages(1, max_wait_time=1), [])

    @unittest.skipIf(IS_UAMQP, "it cannot send values and sequences")
    def test_a_redriven_message_is_received_as_it_was_sent(self):
        queue = take("s")
        bodies = [
            {"data_body": [b"one", b"\xfftwo"]},
            {"value_body": {"list": [1, 2.5, None], "id": uuid.uuid4(), "raw": b"\x00"}},
            {"sequence_body": [[1, "two"], [b"three"]]},
        ]
        properties = {"int": 2**30, "small": 5, "float": 0.5, "text": "grüße", "yes": True}
        properties |= {"id": uuid.uuid4(), "large": 1_700_000_000}
        for number, body in enumerate(bodies):
            sent = AmqpAnnotatedMessage(
                **body,
                header={"durable": True, "priority": 3},
                properties={
                    "message_id": f"id{number}",
                    "group_id": "a",
                    "correlation_id": "c",
                    "content_encoding": "gzip",
                    "user_id": b"me",
                    "group_sequence": 7,
                },
                application_properties=properties,
                annotations={"x-of-mine": [1, "two"]},
                footer={"x-end": 1},
            )
            self.send(queue, sent)
        before = self.contents(queue, "dead-letter")
        self.assertEqual(len(before), len(bodies))
        command = [os.environ["SESSIONQ_COMMAND"], "dead-letters", "redrive", queue]
        authority = os.environ.get("SESSIONQ_CA")
        command[1:1] = ["--ca-file", authority] if authority else []
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        after = self.contents(queue, "complete")
        for content in after:  # what a redrive adds
            marks = content["application_properties"]
            for name in [name for name in marks if name.startswith("sessionq-redrive-")]:
                value = marks.pop(name)
                if name == "sessionq-redrive-message-id":
                    content["message_id"] = value
        self.assertEqual(after, before)

    def contents(self, queue, settle):
        """All that this client shows of the messages of session a, by the names of sections."""
        found = []
        with self.session(queue, "a") as receiver:
            for received in receive_all(receiver, 3):
                raw = received.raw_amqp_message
                properties = dict(raw.properties.items())
                for name in ("message_id", "creation_time", "absolute_expiry_time"):
                    properties.pop(name, None)
                annotations = {decode(name): value for name, value in raw.annotations.items()}
                found.append(
                    {
                        "kind": raw.body_type,
                        "body": raw.body if raw.body_type.value == "value" else list(raw.body),
                        "header": (raw.header.durable, raw.header.priority),
                        "properties": properties,
                        "message_id": decode(raw.properties.message_id),
                        "application_properties": {
                            decode(name): decode(value)
                            for name, value in raw.application_properties.items()
                        },
                        "annotation": annotations["x-of-mine"],
                        "footer": raw.footer,
                    }
                )
                if settle == "complete":
                    receiver.complete_message(received)
                else:
                    receiver.dead_letter_message(received, reason="r", error_description="d")
        return found

    def test_a_message_that_is_abandoned_too_often_is_dead_lettered(self):
        queue = take("p")
        self.send(queue, ServiceBusMessage("poison"))
        with self.client.get_queue_receiver(queue) as receiver:
            for i in range(10):
                [one] = receiver.receive_messages(1, max_wait_time=5)
                self.assertEqual(one.delivery_count, i)
                receiver.abandon_message(one)
        with self.client.get_queue_receiver(
            queue, sub_queue=ServiceBusSubQueue.DEAD_LETTER
        ) as graveyard:
            [dead] = graveyard.receive_messages(1, max_wait_time=5)
            self.assertEqual(dead.dead_letter_reason, "MaxDeliveryCountExceeded")
            graveyard.complete_message(dead)

    def test_session_state(self):
        queue = take("s")
        with self.session(queue, "a") as receiver:
            self.assertIsNone(receiver.session.get_state())
            receiver.session.set_state("step 3")
            self.assertEqual(receiver.session.get_state(), b"step 3")
        with self.session(queue, "a") as again:
            self.assertEqual(again.session.get_state(), b"step 3")
            again.session.set_state(None)
            self.assertIsNone(again.session.get_state())

    def test_renew_the_lock(self):
        with self.session(take("s"), "a") as receiver:
            before = receiver.session.locked_until_utc
            time.sleep(0.05)
            self.assertGreater(receiver.session.renew_lock(), before)

    def test_a_renewer_keeps_a_session(self):
        queue = take("short")
        self.send(queue, message("a", "one"))
        with AutoLockRenewer() as renewer, self.session(queue, "a") as receiver:
            renewer.register(receiver, receiver.session, max_lock_renewal_duration=30)
            [one] = receiver.receive_messages(1, max_wait_time=5)
            time.sleep(7)
            receiver.complete_message(one)

    def test_a_lock_that_is_not_renewed_is_lost(self):
        queue = take("short")
        self.send(queue, message("a", "one"))
        with self.session(queue, "a") as receiver:
            [one] = receiver.receive_messages(1, max_wait_time=5)
            time.sleep(6)
            with self.assertRaises(exceptions.SessionLockLostError):
                receiver.complete_message(one)
        with self.session(queue, "a") as again:
            [same] = again.receive_messages(1, max_wait_time=5)
            self.assertEqual(same.delivery_count, 1)

    def test_a_messages_own_lock_is_lost_as_well(self):
        queue = take("shortp")
        self.send(queue, ServiceBusMessage("one"))
        with self.client.get_queue_receiver(queue) as receiver:
            [one] = receiver.receive_messages(1, max_wait_time=5)
            time.sleep(6)
            lost = exceptions.ServiceBusError if IS_UAMQP else exceptions.MessageLockLostError
            with self.assertRaises(lost):
                receiver.complete_message(one)
            [again] = receiver.receive_messages(1, max_wait_time=5)
            self.assertEqual(again.delivery_count, 1)
            receiver.complete_message(again)

    def test_peek_takes_nothing(self):
        queue = take("s")
        self.send(queue, message("a", "1"), message("b", "2"), message("a", "3"))
        with self.session(queue, "a") as receiver:
            self.assertEqual(texts(receiver.peek_messages(10)), ["1", "3"])
            [one] = receiver.receive_messages(1, max_wait_time=5)
            self.assertEqual(one.delivery_count, 0)

    def test_schedule_and_cancel(self):
        queue = take("s")
        now = datetime.datetime.now(datetime.timezone.utc)
        with self.client.get_queue_sender(queue) as sender:
            [soon] = sender.schedule_messages(
                message("a", "soon"), now + datetime.timedelta(seconds=1.5)
            )
            later = sender.schedule_messages(
                [message("a", "x"), message("a", "y")], now + datetime.timedelta(seconds=60)
            )
            self.assertGreater(soon, 0)
            self.assertEqual(len(later), 2)
            sender.cancel_scheduled_messages(later)
        with self.session(queue, "a") as receiver:
            self.assertEqual(texts(receiver.receive_messages(2, max_wait_time=5)), ["soon"])
            self.assertEqual(receiver.peek_messages(10, sequence_number=later[0] + 1000), [])

    def test_sends_one_a_list_and_a_batch(self):
        queue = take("s")
        with self.client.get_queue_sender(queue) as sender:
            sender.send_messages(message("a", "1"))
            sender.send_messages([message("a", "2"), message("a", "3")])
            batch = sender.create_message_batch()
            for i in range(4, 41):
                batch.add_message(
                    message("a", str(i), message_id=f"id-{i}", application_properties={"number": i})
                )
            sender.send_messages(batch)
        received = []
        with self.session(queue, "a") as receiver:
            while len(received) < 40:
                for one in receiver.receive_messages(40, max_wait_time=5):
                    received.append(one)
                    receiver.complete_message(one)
        self.assertEqual([int(text(one)) for one in received], list(range(1, 41)))
        self.assertEqual(received[39].message_id, "id-40")
        self.assertEqual(received[39].application_properties[b"number"], 40)

    def test_a_batch_of_two_sessions_reaches_both(self):
        queue = take("s")
        self.send(queue, message("a", "1"), message("b", "2"))
        for session_id, body in (("a", "1"), ("b", "2")):
            with self.session(queue, session_id) as receiver:
                self.assertEqual(texts(receiver.receive_messages(1, max_wait_time=5)), [body])

    def test_a_message_that_is_too_large_is_refused_and_the_next_one_goes_at_once(self):
        with self.client.get_queue_sender(take("s")) as sender:
            sender.send_messages(message("a", "before"))
            for size in (1 << 20, 3 << 20):
                with self.assertRaises(exceptions.MessageSizeExceededError):
                    sender.send_messages(message("a", b"x" * size))
                began = time.monotonic()
                sender.send_messages(message("a", "after"))
                self.assertLess(time.monotonic() - began, 2)

    def test_large_messages_and_every_field(self):
        queue = take("s")
        sent = message(
            "a",
            b"\7" * 300000,
            message_id="id",
            correlation_id="c",
            subject="s",
            to="t",
            reply_to="r",
            reply_to_session_id="rs",
            content_type="x/y",
            time_to_live=datetime.timedelta(hours=1),
        )
        self.send(queue, sent)
        with self.session(queue, "a") as receiver:
            [one] = receiver.receive_messages(1, max_wait_time=5)
            self.assertEqual(b"".join(one.body), b"\7" * 300000)
            for field in (
                "message_id",
                "correlation_id",
                "subject",
                "to",
                "reply_to",
                "reply_to_session_id",
                "content_type",
                "time_to_live",
            ):
                self.assertEqual(getattr(one, field), getattr(sent, field), field)

    def test_receive_and_delete(self):
        queue = take("s")
        self.send(queue, message("a", "1"), message("a", "2"))
        with self.session(
            queue, "a", receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE
        ) as receiver:
            self.assertEqual(texts(receive_all(receiver, 2)), ["1", "2"])
        with self.session(queue, "a") as again:
            self.assertEqual(again.receive_messages(1, max_wait_time=1), [])

    def test_queues_without_sessions(self):
        queue = take("p")
        self.send(queue, ServiceBusMessage("1"), ServiceBusMessage("2"))
        with self.client.get_queue_receiver(queue) as receiver:
            [one] = receiver.receive_messages(1, max_wait_time=5)
            receiver.defer_message(one)
            [two] = receiver.receive_messages(1, max_wait_time=5)
            receiver.complete_message(two)
            [deferred] = receiver.receive_deferred_messages([one.sequence_number])
            receiver.dead_letter_message(deferred, reason="late")

    def test_refusals(self):
        queue, plain = take("s"), take("p")
        with connect(retry_total=0) as client:
            # The answer to its token is 404, and this client does not tell which code it was.
            unknown = "authentication failed" if IS_UAMQP else "client-error"
            with self.assertRaisesRegex(exceptions.ServiceBusError, unknown):
                with self.session("nosuch", "a", client=client):
                    pass
            with self.assertRaisesRegex(exceptions.ServiceBusError, "does not require sessions"):
                with self.session(plain, "a", client=client):
                    pass
            with self.assertRaisesRegex(exceptions.ServiceBusError, "requires sessions"):
                with client.get_queue_receiver(queue) as receiver:
                    receiver.receive_messages(1, max_wait_time=2)
            with self.assertRaisesRegex(exceptions.ServiceBusError, "SessionId was not set"):
                with client.get_queue_sender(queue) as sender:
                    sender.send_messages(ServiceBusMessage("x"))

    def test_a_wrong_key_is_refused(self):
        with connect(CONNECTION.replace("SAS_KEY_VALUE", "WRONG"), retry_total=0) as client:
            # With a custom endpoint (over TLS here) new versions report a connection error.
            refused = (
                exceptions.ServiceBusConnectionError
                if os.environ.get("SESSIONQ_CA") and not IS_UAMQP
                else exceptions.ServiceBusAuthenticationError
            )
            with self.assertRaises(refused):
                with client.get_queue_sender("s0") as sender:
                    sender.send_messages(message("a", "x"))

    def test_a_topics_subscriptions(self):
        def notice(session_id, body, subject, tier, amount):
            return message(
                session_id,
                body,
                subject=subject,
                application_properties={"tier": tier, "amount": amount},
            )

        with self.client.get_topic_sender("filters") as sender:
            sender.send_messages(
                [
                    notice("a", "1", "blue", "gold", 5),
                    notice("a", "2", "red", "gold", 50),
                    notice("b", "3", "blue", "tin", 50),
                ]
            )
        with self.client.get_subscription_receiver(
            "filters", "sessions", session_id="a"
        ) as receiver:
            self.assertEqual(texts(receive_all(receiver, 2)), ["1", "2"])
        for subscription, expected in (
            ("plain", ["1", "2", "3"]),
            ("gold", ["2"]),
            ("blue", ["1"]),
        ):
            with self.client.get_subscription_receiver(
                "filters", subscription, receive_mode=ServiceBusReceiveMode.RECEIVE_AND_DELETE
            ) as receiver:
                got = texts(receive_all(receiver, len(expected)))
                self.assertEqual(got, expected, subscription)
                self.assertEqual(receiver.receive_messages(1, max_wait_time=1), [])

    def test_the_asynchronous_client(self):
        queue = take("s")

        async def converse():
            async with connect(kind=aio.ServiceBusClient) as client:
                async with client.get_queue_sender(queue) as sender:
                    await sender.send_messages([message("a", "one"), message("a", "two")])
                async with client.get_queue_receiver(
                    queue, session_id=NEXT_AVAILABLE_SESSION, max_wait_time=5
                ) as receiver:
                    self.assertEqual(receiver.session.session_id, "a")
                    await receiver.session.set_state("step 1")
                    self.assertEqual(await receiver.session.get_state(), b"step 1")
                    await receiver.session.renew_lock()
                    [one] = await receiver.receive_messages(1, max_wait_time=5)
                    [two] = await receiver.receive_messages(1, max_wait_time=5)
                    await receiver.complete_message(one)
                    await receiver.defer_message(two)
                    [deferred] = await receiver.receive_deferred_messages(two.sequence_number)
                    await receiver.complete_message(deferred)
                    self.assertEqual(await receiver.receive_messages(1, max_wait_time=1), [])

        asyncio.run(asyncio.wait_for(converse(), 60))

    @unittest.skipIf(IS_UAMQP, "cannot list sessions")
    def test_list_sessions(self):
        queue = take("s")
        want = {f"session-{i:03}" for i in range(120)}  # more than a page
        self.send(queue, *(message(session_id, "x") for session_id in sorted(want)))
        self.assertEqual(set(self.client.list_queue_sessions(queue)), want)
        now = datetime.datetime.now(datetime.timezone.utc)
        hour = datetime.timedelta(hours=1)

        def with_state_since(time):
            return list(self.client.list_queue_sessions(queue, state_updated_after=time))

        self.assertEqual(with_state_since(now - hour), [])
        with self.session(queue, "session-007") as receiver:
            receiver.session.set_state("stirred")
        self.assertEqual(with_state_since(now - hour), ["session-007"])
        self.assertEqual(with_state_since(now + hour), [])

    def test_ten_receivers_at_once_each_with_a_session_of_its_own(self):
        queue = take("s")
        self.send(queue, *(message(f"session-{i}", str(i)) for i in range(10)))

        def consume():
            with (
                connect() as client,
                self.session(queue, client=client, max_wait_time=10) as receiver,
            ):
                [one] = receiver.receive_messages(1, max_wait_time=10)
                receiver.complete_message(one)
                return receiver.session.session_id, text(one)

        with concurrent.futures.ThreadPoolExecutor(10) as threads:
            received = [future.result() for future in [threads.submit(consume) for _ in range(10)]]
        self.assertEqual(sorted(received), sorted((f"session-{i}", str(i)) for i in range(10)))


def run_one(case):
    began = time.monotonic()
    result = unittest.TestResult()
    case.run(result)
    faults = [text for _, text in result.failures + result.errors]
    word = "failed" if faults else "skipped" if result.skipped else "passed"
    lines = [f"{word}: {case.id()} ({time.monotonic() - began:.1f} s)", *faults]
    sys.stdout.write("\n".join(lines) + "\n")  # in one write, because other cases report at the
    # same time
    sys.stdout.flush()
    return not faults


def main(kind=Cases):
    """The cases of `kind`: those named, or all; several at once, since most of their time the
    client waits."""
    cases = list(
        unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:], kind)
        if sys.argv[1:]
        else unittest.defaultTestLoader.loadTestsFromTestCase(kind)
    )
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(run_one, cases))
    os._exit(0 if all(outcomes) else 1)  # the client's threads would keep the process alive


if __name__ == "__main__":
    main()
