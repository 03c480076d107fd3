# SPDX-License-Identifier: MIT
"""What only a preview of Azure's Python client can: deleting messages without receiving them.
Against the broker in SESSIONQ_CONNECTION, beside the cases of cases.py."""

import datetime
import time
import unittest

from azure.servicebus import ServiceBusSubQueue, exceptions

import cases
from cases import message, receive_all, take, text, texts


def now():
    return datetime.datetime.now(datetime.timezone.utc)


SECOND = datetime.timedelta(seconds=1)


class Preview(unittest.TestCase):
    setUp = cases.Cases.setUp
    send = cases.Cases.send
    session = cases.Cases.session

    def bodies(self, receiver):
        return texts(receiver.peek_messages(100, sequence_number=1))

    def test_the_oldest_messages_are_deleted(self):
        queue = take("p")
        self.send(queue, *(message(None, str(i)) for i in range(5)))
        with self.client.get_queue_receiver(queue) as receiver:
            soon = now() + SECOND
            self.assertEqual(receiver.delete_messages(max_message_count=2, before=soon), 2)
            self.assertEqual(self.bodies(receiver), ["2", "3", "4"])
            self.assertEqual(receiver.delete_messages(before=soon), 3)
            self.assertEqual(receiver.delete_messages(before=soon), 0)
            with self.assertRaisesRegex(exceptions.ServiceBusError, "message-count must be 1 to"):
                receiver.delete_messages(max_message_count=4001)

    def test_a_purge_asks_until_nothing_is_left(self):
        queue = take("p")
        for _ in range(3):
            self.send(queue, *(message(None, "x") for _ in range(1500)))
        with self.client.get_queue_receiver(queue) as receiver:
            self.assertEqual(receiver.purge_messages(before=now() + SECOND), 4500)
            self.assertEqual(self.bodies(receiver), [])

    def test_only_messages_from_before_an_instant_are_deleted(self):
        queue = take("p")
        self.send(queue, message(None, "old"), message(None, "older"))
        with self.client.get_queue_receiver(queue) as receiver:
            enqueued = receiver.peek_messages(1)[0].enqueued_time_utc
            self.assertEqual(receiver.delete_messages(before=enqueued - SECOND), 0)
            time.sleep(0.01)
            self.send(queue, message(None, "new"))
            [new] = receiver.peek_messages(1, sequence_number=3)
            self.assertEqual(receiver.delete_messages(before=new.enqueued_time_utc), 2)
            self.assertEqual(self.bodies(receiver), ["new"])
            time.sleep(0.01)
            self.assertEqual(receiver.purge_messages(), 1)  # the client sends its own time

    def test_a_session_receiver_deletes_what_it_has_not_received(self):
        queue = take("s")
        self.send(queue, *(message("a", str(i)) for i in range(3)), message("b", "other"))
        with self.session(queue, "a") as receiver:
            [first] = receiver.receive_messages(1, max_wait_time=5)
            self.assertEqual(receiver.purge_messages(before=now() + SECOND), 2)
            self.assertEqual(self.bodies(receiver), ["0"])
            receiver.complete_message(first)
        with self.session(queue, "b") as receiver:
            self.assertEqual(self.bodies(receiver), ["other"])

    def test_locked_and_deferred_messages_stay_and_dead_letters_go(self):
        queue = take("p")
        self.send(queue, *(message(None, body) for body in ("dead", "deferred", "locked", "free")))
        with self.client.get_queue_receiver(queue) as receiver:
            dead, deferred, locked = receive_all(receiver, 3)
            receiver.dead_letter_message(dead, reason="bad")
            receiver.defer_message(deferred)
            self.assertEqual(receiver.purge_messages(before=now() + SECOND), 1)
            self.assertEqual(self.bodies(receiver), ["deferred", "locked"])
            receiver.complete_message(locked)
        letters = ServiceBusSubQueue.DEAD_LETTER
        with self.client.get_queue_receiver(queue, sub_queue=letters) as receiver:
            self.assertEqual(text(receiver.peek_messages(1)[0]), "dead")
            self.assertEqual(receiver.purge_messages(before=now() + SECOND), 1)
            self.assertEqual(self.bodies(receiver), [])


if __name__ == "__main__":
    cases.main(Preview)
