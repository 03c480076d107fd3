# SPDX-License-Identifier: MIT
"""The client over the transport SESSIONQ_TRANSPORT: amqp, amqps, ws or wss. It sends a message into
a session of the queue of that name, receives it and completes it."""

import os
from urllib.parse import urlsplit

from azure.servicebus import ServiceBusClient, ServiceBusMessage, TransportType

CONNECTION = os.environ["SESSIONQ_CONNECTION"]
TRANSPORT = os.environ["SESSIONQ_TRANSPORT"]

options = {"retry_total": 0}
if TRANSPORT.startswith("ws"):
    options["transport_type"] = TransportType.AmqpOverWebsocket
if TRANSPORT != "amqp":
    # Otherwise the client ignores the port in a connection string.
    endpoint = CONNECTION.partition(";")[0].partition("=")[2]
    options["custom_endpoint_address"] = f"sb://localhost:{urlsplit(endpoint).port}"
    options.setdefault("transport_type", TransportType.Amqp)
if TRANSPORT in ("amqps", "wss"):
    options["connection_verify"] = os.environ["SESSIONQ_CA"]

with ServiceBusClient.from_connection_string(CONNECTION, **options) as client:
    with client.get_queue_sender(TRANSPORT) as sender:
        sender.send_messages(ServiceBusMessage(f"over {TRANSPORT}", session_id="a"))
    with client.get_queue_receiver(TRANSPORT, session_id="a") as receiver:
        [message] = receiver.receive_messages(1, max_wait_time=5)
        assert str(message) == f"over {TRANSPORT}", message
        assert message.session_id == "a", message.session_id
        receiver.complete_message(message)
        assert receiver.peek_messages(1) == []
print(f"connected: {TRANSPORT}")
