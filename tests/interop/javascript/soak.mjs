// SPDX-License-Identifier: MIT
// Opens and closes session receivers on one broker in a loop and watches the broker's memory, which
// must not grow.
//   node soak.mjs PID [receivers]     with SESSIONQ_CONNECTION; PID is the broker's
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { ServiceBusClient } from "@azure/service-bus";

const pid = process.argv[2];
const receivers = Number(process.argv[3] ?? 1000);
const at_once = 10;
const client_every = 100; // receivers per connection
const allowed_growth_kib = 512; // of resident memory, after the warm-up

const resident_kib = () =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]);

async function consume(client, sessionId) {
  const receiver = await client.acceptSession("s0", sessionId);
  const [message] = await receiver.receiveMessages(1);
  assert.equal(message.body, sessionId);
  await receiver.setSessionState({ seen: true });
  await receiver.completeMessage(message);
  await receiver.setSessionState(null);
  await receiver.close();
}

let client;
let warm;
const began = Date.now();
for (let done = 0; done < receivers; done += at_once) {
  if (done % client_every === 0) {
    await client?.close();
    client = new ServiceBusClient(process.env.SESSIONQ_CONNECTION);
  }
  const ids = Array.from({ length: at_once }, (_, i) => `session-${(done + i) % client_every}`);
  const sender = client.createSender("s0");
  await sender.sendMessages(ids.map((sessionId) => ({ sessionId, body: sessionId })));
  await sender.close();
  await Promise.all(ids.map((id) => consume(client, id)));
  if ((done + at_once) % client_every === 0) {
    console.log(`${done + at_once} receivers, ${Date.now() - began} ms: ${resident_kib()} KiB`);
    warm ??= done + at_once >= receivers / 5 ? resident_kib() : undefined;
  }
}
await client.close();
const grown = resident_kib() - warm;
console.log(`soak: ${receivers} session receivers, ${grown} KiB grown since the first fifth`);
process.exit(grown <= allowed_growth_kib ? 0 : 1);
