// SPDX-License-Identifier: MIT
// Azure's JavaScript client with sessions, against the broker in SESSIONQ_CONNECTION. Every case
// has queues of its own. Also for version 7.0, see tests/interop/javascript7.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, describe } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { ServiceBusClient } from "@azure/service-bus";
import { test } from "./runner.mjs";

const connection = process.env.SESSIONQ_CONNECTION;
const clients = [];
function connect(options, to = connection) {
  clients.push(new ServiceBusClient(to, options));
  return clients.at(-1);
}
const client = connect();
after(async () => {
  await Promise.race([Promise.allSettled(clients.map((one) => one.close())), sleep(3000)]);
  setTimeout(() => process.exit(), 500).unref(); // ends the process even if a failed case left
  // something open
});

const taken = {};
const take = (kind) => `${kind}${(taken[kind] = (taken[kind] ?? -1) + 1)}`;
const sessionQueue = () => take("s");
const plainQueue = () => take("p");

async function send(queue, ...messages) {
  const sender = client.createSender(queue);
  await sender.sendMessages(messages.length === 1 ? messages[0] : messages);
  await sender.close();
}

async function redrive(queue) {
  const authority = process.env.SESSIONQ_CA;
  const command = ["dead-letters", "redrive", queue];
  if (authority) command.unshift("--ca-file", authority);
  await promisify(execFile)(process.env.SESSIONQ_COMMAND, command);
}

const bodies = (messages) => messages.map((message) => message.body);
const of = (sessionId, body) => ({ sessionId, body });

async function code(action) {
  try {
    await action();
  } catch (error) {
    return error.code;
  }
  return "no error";
}

// Two cases of the other clients are missing. This client cannot accept the session with the empty
// id, and it cannot list sessions.
describe("@azure/service-bus", { concurrency: 8 }, () => {
  test("accept the next session, receive, complete", async () => {
    const queue = sessionQueue();
    await send(queue, of("a", "one"));
    const receiver = await client.acceptNextSession(queue);
    assert.equal(receiver.sessionId, "a");
    assert.ok(receiver.sessionLockedUntilUtc > new Date(Date.now() + 30000));
    const [message] = await receiver.receiveMessages(1);
    assert.equal(message.body, "one");
    assert.equal(message.sessionId, "a");
    assert.equal(message.deliveryCount, 0);
    assert.equal(message.sequenceNumber.toNumber(), 1);
    await receiver.completeMessage(message);
    assert.deepEqual(await receiver.receiveMessages(1, { maxWaitTimeInMs: 200 }), []);
    await receiver.close();
  });

  test("accept a named session that has no messages yet", async () => {
    const queue = sessionQueue();
    const receiver = await client.acceptSession(queue, "later");
    const waiting = receiver.receiveMessages(1);
    await send(queue, of("later", "one"));
    assert.deepEqual(bodies(await waiting), ["one"]);
    await receiver.close();
  });

  test("accept times out if there is no session", async () => {
    const queue = sessionQueue();
    const impatient = connect({ retryOptions: { timeoutInMs: 1000, maxRetries: 0 } });
    const began = Date.now();
    assert.equal(await code(() => impatient.acceptNextSession(queue)), "ServiceTimeout");
    assert.ok(Date.now() - began < 5000);
    await impatient.close();
  });

  test("two clients compete for a session: one is refused until the other leaves", async () => {
    const queue = sessionQueue();
    const other = connect();
    await send(queue, of("a", "one"));
    const first = await client.acceptSession(queue, "a");
    assert.equal(await code(() => other.acceptSession(queue, "a")), "SessionCannotBeLocked");
    const [message] = await first.receiveMessages(1);
    assert.equal(message.body, "one");
    await first.close();
    const second = await other.acceptSession(queue, "a");
    const [again] = await second.receiveMessages(1);
    assert.equal(again.body, "one");
    assert.equal(again.deliveryCount, 0); // leaving is not a failed delivery
    await second.completeMessage(again);
    await other.close();
  });

  test("a client that waits for the next session gets it when it appears", async () => {
    const queue = sessionQueue();
    const waiting = client.acceptNextSession(queue);
    await sleep(300);
    await send(queue, of("late", "one"));
    const receiver = await waiting;
    assert.equal(receiver.sessionId, "late");
    await receiver.close();
  });

  test("receive in order from two sessions", async () => {
    const queue = sessionQueue();
    for (let i = 0; i < 10; ++i) {
      await send(queue, of("a", i), of("b", 100 + i));
    }
    for (const [id, first] of [
      ["a", 0],
      ["b", 100],
    ]) {
      const receiver = await client.acceptSession(queue, id);
      const received = [];
      while (received.length < 10) {
        for (const message of await receiver.receiveMessages(4)) {
          received.push(message.body);
          await receiver.completeMessage(message);
        }
      }
      assert.deepEqual(
        received,
        Array.from({ length: 10 }, (_, i) => first + i),
      );
      await receiver.close();
    }
  });

  test("streaming receive", async () => {
    const queue = sessionQueue();
    const messages = Array.from({ length: 50 }, (_, i) => of("a", i));
    await send(queue, ...messages);
    const receiver = await client.acceptSession(queue, "a");
    const received = [];
    await new Promise((resolve, reject) => {
      receiver.subscribe({
        processMessage: async (message) => {
          received.push(message.body);
          if (received.length === messages.length) {
            resolve();
          }
        },
        processError: async ({ error }) => reject(error),
      });
    });
    assert.deepEqual(received, bodies(messages));
    await receiver.close();
  });

  test("abandon: the message returns first, counted, with the properties set", async () => {
    const queue = sessionQueue();
    await send(queue, of("a", "one"), of("a", "two"));
    const receiver = await client.acceptSession(queue, "a");
    const [message] = await receiver.receiveMessages(1);
    await receiver.abandonMessage(message, { tried: "once" });
    const [again] = await receiver.receiveMessages(1);
    assert.equal(again.body, "one");
    assert.equal(again.deliveryCount, 1);
    assert.equal(again.applicationProperties.tried, "once");
    await receiver.completeMessage(again);
    assert.deepEqual(bodies(await receiver.receiveMessages(1)), ["two"]);
    await receiver.close();
  });

  test("defer, receive deferred, complete", async () => {
    const queue = sessionQueue();
    await send(queue, of("a", "one"), of("a", "two"));
    const receiver = await client.acceptSession(queue, "a");
    const [message] = await receiver.receiveMessages(1);
    await receiver.deferMessage(message);
    assert.deepEqual(bodies(await receiver.receiveMessages(5, { maxWaitTimeInMs: 200 })), ["two"]);
    const [deferred] = await receiver.receiveDeferredMessages(message.sequenceNumber);
    assert.equal(deferred.body, "one");
    await receiver.completeMessage(deferred);
    assert.equal(
      await code(() => receiver.receiveDeferredMessages(message.sequenceNumber)),
      "MessageNotFound",
    );
    await receiver.close();
  });

  test("dead-letter with a reason; its sub-queue is received without sessions", async () => {
    const queue = sessionQueue();
    await send(queue, of("a", "bad"));
    const receiver = await client.acceptSession(queue, "a");
    const [message] = await receiver.receiveMessages(1);
    await receiver.deadLetterMessage(message, {
      deadLetterReason: "reason",
      deadLetterErrorDescription: "description",
      extra: 7,
    });
    await receiver.close();
    const graveyard = client.createReceiver(queue, { subQueueType: "deadLetter" });
    const [dead] = await graveyard.receiveMessages(1);
    assert.equal(dead.body, "bad");
    assert.equal(dead.deadLetterReason, "reason");
    assert.equal(dead.deadLetterErrorDescription, "description");
    assert.equal(dead.applicationProperties.extra, 7);
    await graveyard.renewMessageLock(dead);
    await graveyard.completeMessage(dead);
    assert.deepEqual(await graveyard.receiveMessages(1, { maxWaitTimeInMs: 200 }), []);
    await graveyard.close();
  });

  test("a redriven message is received as it was sent", async () => {
    const queue = sessionQueue();
    const parts = [
      { bodyType: "value", body: { list: [1, 2.5, null], text: "two" } },
      { bodyType: "sequence", body: [1, "two", false] },
      { bodyType: "data", body: Buffer.from([0, 255, 7]) },
    ];
    const sent = parts.map((part, number) => ({
      ...part,
      header: { durable: true, priority: 3 },
      properties: { messageId: `id${number}`, groupId: "a", correlationId: "c", userId: "me" },
      applicationProperties: { int: 2 ** 40, half: 0.5, text: "grüße", at: new Date(1e12) },
      messageAnnotations: { "x-of-mine": 5 },
      footer: { "x-end": 1 },
    }));
    await send(queue, ...sent);
    const contents = async (settle) => {
      const receiver = await client.acceptSession(queue, "a");
      const found = [];
      while (found.length < sent.length) {
        const messages = await receiver.receiveMessages(sent.length, { maxWaitTimeInMs: 5000 });
        assert.notEqual(messages.length, 0);
        for (const message of messages) {
          found.push(structuredClone(message._rawAmqpMessage));
          await settle(receiver, message);
        }
      }
      await receiver.close();
      return found;
    };
    const ofSender = ({ bodyType, body, header, properties, applicationProperties, ...rest }) => {
      const { messageId, absoluteExpiryTime, creationTime, ...kept } = properties;
      const own = Object.entries(applicationProperties ?? {});
      const isMark = ([name]) => name.startsWith("sessionq-redrive-");
      const mark = Object.fromEntries(own.filter(isMark));
      return {
        bodyType,
        body: Buffer.isBuffer(body) ? [...body] : body,
        durable: header.durable,
        priority: header.priority,
        id: mark["sessionq-redrive-message-id"] ?? messageId,
        properties: kept,
        applicationProperties: Object.fromEntries(own.filter((one) => !isMark(one))),
        annotation: rest.messageAnnotations["x-of-mine"],
        footer: rest.footer,
      };
    };
    const before = await contents((receiver, message) =>
      receiver.deadLetterMessage(message, { deadLetterReason: "r" }),
    );
    await redrive(queue);
    const after = await contents((receiver, message) => receiver.completeMessage(message));
    assert.deepEqual(after.map(ofSender), before.map(ofSender));
  });

  test("a message that is abandoned too often is dead-lettered", async () => {
    const queue = plainQueue();
    await send(queue, { body: "poison" });
    const receiver = client.createReceiver(queue);
    for (let i = 0; i < 10; ++i) {
      const [message] = await receiver.receiveMessages(1);
      assert.equal(message.deliveryCount, i);
      await receiver.abandonMessage(message);
    }
    const graveyard = client.createReceiver(queue, { subQueueType: "deadLetter" });
    const [dead] = await graveyard.receiveMessages(1);
    assert.equal(dead.deadLetterReason, "MaxDeliveryCountExceeded");
    await graveyard.completeMessage(dead);
    await receiver.close();
    await graveyard.close();
  });

  test("session state: set, get, clear", async () => {
    const queue = sessionQueue();
    const receiver = await client.acceptSession(queue, "a");
    assert.equal(await receiver.getSessionState(), null);
    await receiver.setSessionState({ step: 3 });
    assert.deepEqual(await receiver.getSessionState(), { step: 3 });
    await receiver.close();
    const again = await client.acceptSession(queue, "a");
    assert.deepEqual(await again.getSessionState(), { step: 3 });
    await again.setSessionState(null);
    assert.equal(await again.getSessionState(), null);
    await again.close();
  });

  test("renew the session lock", async () => {
    const queue = sessionQueue();
    const receiver = await client.acceptSession(queue, "a");
    const before = receiver.sessionLockedUntilUtc;
    await sleep(50);
    const until = await receiver.renewSessionLock();
    assert.ok(until > before);
    assert.equal(receiver.sessionLockedUntilUtc.getTime(), until.getTime());
    await receiver.close();
  });

  test("a renewed lock lasts longer than its first duration", async () => {
    const queue = take("short");
    await send(queue, of("a", "one"));
    const receiver = await client.acceptSession(queue, "a");
    const [message] = await receiver.receiveMessages(1);
    for (let i = 0; i < 3; ++i) {
      await sleep(2500);
      await receiver.renewSessionLock();
    }
    await receiver.completeMessage(message);
    await receiver.close();
  });

  test("a lock without renewal is lost: settling fails, the message returns, counted", async () => {
    const queue = take("short");
    await send(queue, of("a", "one"));
    const receiver = await client.acceptSession(queue, "a", { maxAutoLockRenewalDurationInMs: 0 });
    const [message] = await receiver.receiveMessages(1);
    await sleep(6500);
    assert.equal(await code(() => receiver.completeMessage(message)), "SessionLockLost");
    await receiver.close();
    const again = await client.acceptSession(queue, "a");
    const [same] = await again.receiveMessages(1);
    assert.equal(same.body, "one");
    assert.equal(same.deliveryCount, 1);
    await again.close();
  });

  test("a message lock in a queue without sessions is lost too", async () => {
    const queue = take("shortp");
    await send(queue, { body: "one" });
    const receiver = client.createReceiver(queue, { maxAutoLockRenewalDurationInMs: 0 });
    const [message] = await receiver.receiveMessages(1);
    await sleep(6000);
    assert.equal(await code(() => receiver.completeMessage(message)), "MessageLockLost");
    const [again] = await receiver.receiveMessages(1);
    assert.equal(again.deliveryCount, 1);
    await receiver.completeMessage(again);
    await receiver.close();
  });

  test("peek changes nothing", async () => {
    const queue = sessionQueue();
    await send(queue, of("a", 1), of("b", 2), of("a", 3));
    const receiver = await client.acceptSession(queue, "a");
    assert.deepEqual(bodies(await receiver.peekMessages(10)), [1, 3]);
    assert.deepEqual(bodies(await receiver.peekMessages(10)), []);
    const [message] = await receiver.receiveMessages(1);
    assert.equal(message.body, 1);
    assert.equal(message.deliveryCount, 0);
    await receiver.close();
  });

  test("schedule and cancel", async () => {
    const queue = sessionQueue();
    const sender = client.createSender(queue);
    const [soon] = await sender.scheduleMessages(of("a", "soon"), new Date(Date.now() + 1500));
    const later = await sender.scheduleMessages(
      [of("a", "later"), of("a", "latest")],
      new Date(Date.now() + 60000),
    );
    assert.equal(later.length, 2);
    assert.ok(soon.toNumber() > 0);
    const receiver = await client.acceptSession(queue, "a");
    assert.deepEqual(bodies(await receiver.peekMessages(10)), ["soon", "later", "latest"]);
    await sender.cancelScheduledMessages(later);
    assert.deepEqual(bodies(await receiver.receiveMessages(2, { maxWaitTimeInMs: 4000 })), [
      "soon",
    ]);
    assert.deepEqual(
      await receiver
        .peekMessages(10, { fromSequenceNumber: later[0] })
        .then(bodies)
        .then((all) => all.filter((body) => body !== "soon")),
      [],
    );
    await receiver.close();
    await sender.close();
  });

  test("a scheduled message has its state", async () => {
    const queue = sessionQueue();
    const sender = client.createSender(queue);
    await sender.scheduleMessages(of("a", "later"), new Date(Date.now() + 60000));
    const receiver = await client.acceptSession(queue, "a");
    const [message] = await receiver.peekMessages(1);
    assert.equal(message.state, "scheduled");
    await receiver.close();
    await sender.close();
  });

  test("send one message, an array, and a batch", async () => {
    const queue = sessionQueue();
    const sender = client.createSender(queue);
    await sender.sendMessages(of("a", 1));
    await sender.sendMessages([of("a", 2), of("a", 3)]);
    const batch = await sender.createMessageBatch();
    for (let i = 4; i <= 40; ++i) {
      assert.ok(
        batch.tryAddMessage({
          ...of("a", i),
          messageId: `id-${i}`,
          applicationProperties: { number: i },
        }),
      );
    }
    await sender.sendMessages(batch);
    await sender.close();
    const receiver = await client.acceptSession(queue, "a");
    const received = [];
    while (received.length < 40) {
      for (const message of await receiver.receiveMessages(40)) {
        received.push(message);
        await receiver.completeMessage(message);
      }
    }
    assert.deepEqual(
      bodies(received),
      Array.from({ length: 40 }, (_, i) => i + 1),
    );
    assert.equal(received[39].messageId, "id-40");
    assert.equal(received[39].applicationProperties.number, 40);
    await receiver.close();
  });

  test("a batch of two sessions reaches both", async () => {
    const queue = sessionQueue();
    await send(queue, of("a", 1), of("b", 2));
    for (const [id, body] of [
      ["a", 1],
      ["b", 2],
    ]) {
      const receiver = await client.acceptSession(queue, id);
      assert.deepEqual(bodies(await receiver.receiveMessages(1)), [body]);
      await receiver.close();
    }
  });

  test("a message that is too large is refused, and the next one goes at once", async () => {
    const sender = client.createSender(sessionQueue());
    await sender.sendMessages(of("a", "before"));
    for (const size of [1 << 20, 3 << 20]) {
      const large = sender.sendMessages(of("a", Buffer.alloc(size)));
      assert.equal(await code(() => large), "MessageSizeExceeded");
      const next = sender.sendMessages(of("a", "after"));
      assert.equal(await Promise.race([next, sleep(10_000, "no answer")]), undefined);
    }
  });

  test("large messages and every field pass unchanged", async () => {
    const queue = sessionQueue();
    const sent = {
      body: Buffer.alloc(300000, 7),
      sessionId: "a",
      messageId: "id",
      correlationId: "correlation",
      subject: "subject",
      to: "to",
      replyTo: "reply",
      replyToSessionId: "reply-session",
      contentType: "application/octet-stream",
      timeToLive: 3600000,
      applicationProperties: {
        text: "x",
        number: 1.5,
        flag: true,
        when: new Date(1700000000000),
        none: null,
      },
    };
    await send(queue, sent);
    const receiver = await client.acceptSession(queue, "a");
    const [message] = await receiver.receiveMessages(1);
    assert.ok(sent.body.equals(message.body));
    for (const field of [
      "sessionId",
      "messageId",
      "correlationId",
      "subject",
      "to",
      "replyTo",
      "replyToSessionId",
      "contentType",
      "timeToLive",
    ]) {
      assert.equal(message[field], sent[field], field);
    }
    assert.equal(message.applicationProperties.text, "x");
    assert.equal(message.applicationProperties.number, 1.5);
    assert.equal(message.applicationProperties.flag, true);
    assert.equal(new Date(message.applicationProperties.when).getTime(), 1700000000000);
    assert.ok(message.expiresAtUtc > new Date());
    await receiver.close();
  });

  test("receive and delete", async () => {
    const queue = sessionQueue();
    await send(queue, of("a", 1), of("a", 2));
    const receiver = await client.acceptSession(queue, "a", { receiveMode: "receiveAndDelete" });
    assert.deepEqual(bodies(await receiver.receiveMessages(2)), [1, 2]);
    await receiver.close();
    const again = await client.acceptSession(queue, "a");
    assert.deepEqual(await again.receiveMessages(1, { maxWaitTimeInMs: 200 }), []);
    await again.close();
  });

  test("queues without sessions: compete, settle, defer over management", async () => {
    const queue = plainQueue();
    await send(queue, { body: 1 }, { body: 2 }, { body: 3 });
    const receiver = client.createReceiver(queue);
    const [one, two] = await receiver.receiveMessages(2);
    await receiver.deferMessage(one);
    await receiver.completeMessage(two);
    const [three] = await receiver.receiveMessages(1);
    assert.equal(three.body, 3);
    await receiver.completeMessage(three);
    const [deferred] = await receiver.receiveDeferredMessages([one.sequenceNumber]);
    assert.equal(deferred.body, 1);
    await receiver.deadLetterMessage(deferred, { deadLetterReason: "late" });
    const graveyard = client.createReceiver(queue, {
      subQueueType: "deadLetter",
      receiveMode: "receiveAndDelete",
    });
    const [dead] = await graveyard.receiveMessages(1);
    assert.equal(dead.deadLetterReason, "late");
    await receiver.close();
    await graveyard.close();
  });

  test("errors have the codes that the client knows", async () => {
    const queue = sessionQueue();
    const impatient = connect({ retryOptions: { maxRetries: 0, timeoutInMs: 3000 } });
    assert.equal(
      await code(() => impatient.acceptNextSession("nosuch")),
      "MessagingEntityNotFound",
    );
    assert.equal(
      await code(() => impatient.createSender("nosuch").sendMessages({ body: 1 })),
      "MessagingEntityNotFound",
    );
    assert.match(
      await impatient
        .createReceiver(queue)
        .receiveMessages(1)
        .then(
          () => "",
          (error) => error.message,
        ),
      /requires sessions/,
    );
    assert.match(
      await impatient
        .createSender(queue)
        .sendMessages({ body: 1 })
        .then(
          () => "",
          (error) => error.message,
        ),
      /SessionId was not set/,
    );
    await impatient.close();
  });

  test("accepting a session of a queue without sessions says so", async () => {
    const plain = plainQueue();
    const impatient = connect({ retryOptions: { maxRetries: 0, timeoutInMs: 3000 } });
    assert.match(
      await impatient.acceptNextSession(plain).then(
        () => "",
        (error) => error.message,
      ),
      /does not require sessions/,
    );
    await impatient.close();
  });

  test("a wrong key is rejected", async () => {
    const wrong = connect(
      { retryOptions: { maxRetries: 0, timeoutInMs: 3000 } },
      connection.replace("SAS_KEY_VALUE", "WRONG"),
    );
    assert.equal(
      await code(() => wrong.createSender("s0").sendMessages(of("a", 1))),
      "UnauthorizedAccess",
    );
    await wrong.close();
  });

  test("twenty receivers at once, each with its own session", async () => {
    const queue = sessionQueue();
    await send(queue, ...Array.from({ length: 20 }, (_, i) => of(`session-${i}`, i)));
    const receivers = await Promise.all(
      Array.from({ length: 20 }, () => client.acceptNextSession(queue)),
    );
    assert.equal(new Set(receivers.map((receiver) => receiver.sessionId)).size, 20);
    await Promise.all(
      receivers.map(async (receiver) => {
        const [message] = await receiver.receiveMessages(1);
        assert.equal(receiver.sessionId, `session-${message.body}`);
        await receiver.completeMessage(message);
        await receiver.close();
      }),
    );
  });

  test("the client renews the lock while a handler runs", async () => {
    const queue = take("short");
    await send(queue, of("a", "one"), of("a", "two"));
    const receiver = await client.acceptSession(queue, "a");
    const received = await new Promise((resolve, reject) => {
      const bodies = [];
      receiver.subscribe({
        processMessage: async ({ body }) => {
          bodies.push(body);
          await (bodies.length === 1 ? sleep(8000) : resolve(bodies));
        },
        processError: async ({ error }) => reject(error),
      });
    });
    assert.deepEqual(received, ["one", "two"]);
    await receiver.close();
  });

  test("the loss of a lock is reported while messages stream in", async () => {
    const queue = take("short");
    await send(queue, of("a", "one"));
    const receiver = await client.acceptSession(queue, "a", { maxAutoLockRenewalDurationInMs: 0 });
    const error = await new Promise((resolve) => {
      receiver.subscribe(
        { processMessage: () => sleep(6500), processError: async (told) => resolve(told.error) },
        { autoCompleteMessages: false },
      );
    });
    assert.equal(error.code, "SessionLockLost");
    await receiver.close();
  });
});
