// SPDX-License-Identifier: MIT
// The client over the transport SESSIONQ_TRANSPORT: amqp, amqps, ws or wss. It sends a message into
// a session of the queue of that name, receives it and completes it.
import assert from "node:assert/strict";
import { ServiceBusClient } from "@azure/service-bus";
import WebSocket from "ws";

const transport = process.env.SESSIONQ_TRANSPORT;
const client = new ServiceBusClient(process.env.SESSIONQ_CONNECTION, {
  retryOptions: { maxRetries: 0, timeoutInMs: 10000 },
  ...(transport.startsWith("ws") && { webSocketOptions: { webSocket: WebSocket } }),
});
const sender = client.createSender(transport);
await sender.sendMessages({ sessionId: "a", body: `over ${transport}` });
const receiver = await client.acceptSession(transport, "a");
const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: 5000 });
assert.equal(message.body, `over ${transport}`);
assert.equal(message.sessionId, "a");
await receiver.completeMessage(message);
assert.deepEqual(await receiver.peekMessages(1), []);
await client.close();
console.log(`connected: ${transport}`);
process.exit(0);
