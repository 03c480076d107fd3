// SPDX-License-Identifier: MIT
// Azure's JavaScript client with topics, subscriptions and rules, against the broker in
// SESSIONQ_CONNECTION. Every case has its own topic from topics.json.
import assert from "node:assert/strict";
import { after, describe } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceBusClient } from "@azure/service-bus";
import { test } from "./runner.mjs";

const client = new ServiceBusClient(process.env.SESSIONQ_CONNECTION);
after(async () => {
  await Promise.race([client.close(), sleep(3000)]);
  setTimeout(() => process.exit(), 500).unref(); // ends the process even if a failed case left
  // something open
});

let taken = 0;
const take = () => taken++;
const bodies = (messages) => messages.map((message) => message.body);

async function send(topic, ...messages) {
  const sender = client.createSender(topic);
  await sender.sendMessages(messages.length === 1 ? messages[0] : messages);
  await sender.close();
}

async function receive(receiver, count) {
  const messages = await receiver.receiveMessages(count, { maxWaitTimeInMs: 2000 });
  for (const message of messages) await receiver.completeMessage(message);
  return messages;
}

async function code(action) {
  try {
    await action();
  } catch (error) {
    return error.code;
  }
  return "no error";
}

describe("@azure/service-bus: topics", { concurrency: 8 }, () => {
  test("every subscription receives a sent message, by session or not", async () => {
    const topic = `t${take()}`;
    await send(topic, { sessionId: "a", body: "one" }, { sessionId: "b", body: "two" });
    await send(topic, { sessionId: "a", body: "three" });
    const session = await client.acceptSession(topic, "sessions", "a");
    assert.deepEqual(bodies(await receive(session, 2)), ["one", "three"]);
    await session.setSessionState({ step: 1 });
    assert.deepEqual(await session.getSessionState(), { step: 1 });
    await session.close();
    const next = await client.acceptNextSession(topic, "sessions");
    assert.equal(next.sessionId, "b");
    await next.close();
    const plain = client.createReceiver(topic, "plain");
    assert.deepEqual(bodies(await receive(plain, 3)), ["one", "two", "three"]);
    assert.deepEqual(bodies(await plain.peekMessages(1)), []);
    await plain.close();
  });

  test("filters select, actions change, and subscriptions forward messages", async () => {
    const number = take();
    await send(
      `t${number}`,
      {
        body: "one",
        sessionId: "a",
        subject: "order",
        applicationProperties: { color: "red", size: 4 },
      },
      {
        body: "two",
        sessionId: "a",
        subject: "order",
        applicationProperties: { color: "blue", size: 4, tier: "gold" },
      },
      {
        body: "three",
        sessionId: "a",
        subject: "invoice",
        applicationProperties: { color: "red", size: 4 },
      },
    );
    const red = client.createReceiver(`t${number}`, "red");
    const [message, ...more] = await receive(red, 3);
    assert.equal(message.body, "one");
    assert.equal(message.to, "vault");
    assert.deepEqual(message.applicationProperties, { color: "red", size: 8, RuleName: "red" });
    assert.deepEqual(more, []);
    const archive = client.createReceiver(`archive${number}`);
    assert.deepEqual(bodies(await receive(archive, 2)), ["two"]);
    await red.close();
    await archive.close();
  });

  test("dead letters of a subscription", async () => {
    const topic = `t${take()}`;
    await send(topic, { body: "no session" });
    await send(topic, { sessionId: "a", body: "bad" });
    const session = await client.acceptSession(topic, "sessions", "a");
    const [message] = await session.receiveMessages(1);
    await session.deadLetterMessage(message, { deadLetterReason: "why" });
    await session.close();
    const dead = client.createReceiver(topic, "sessions", { subQueueType: "deadLetter" });
    const both = await receive(dead, 2);
    assert.deepEqual(bodies(both), ["no session", "bad"]);
    assert.deepEqual(
      both.map((one) => one.deadLetterReason),
      ["Session ID is null", "why"],
    );
    await dead.close();
  });

  test("rules are listed, added and removed, and apply from then on", async () => {
    const topic = `t${take()}`;
    const rules = client.createRuleManager(topic, "plain");
    const list = async () => {
      const all = [];
      for await (const rule of rules.listRules()) all.push(rule);
      return all;
    };
    assert.deepEqual(await list(), [
      { name: "$Default", filter: { sqlExpression: "1=1" }, action: {} },
    ]);
    await rules.createRule(
      "sql",
      { sqlExpression: "color = 'red'" },
      { sqlExpression: "SET seen = TRUE" },
    );
    await rules.createRule("correlation", { subject: "s", applicationProperties: { n: 5 } });
    await rules.deleteRule("$Default");
    const [correlation, sql] = await list(); // by name
    assert.deepEqual(sql, {
      name: "sql",
      filter: { sqlExpression: "color = 'red'" },
      action: { sqlExpression: "SET seen = TRUE" },
    });
    assert.equal(correlation.filter.subject, "s");
    assert.deepEqual(correlation.filter.applicationProperties, { n: 5 });
    assert.equal(
      await code(() => rules.createRule("SQL", { sqlExpression: "1=1" })),
      "MessagingEntityAlreadyExists",
    );
    assert.notEqual(
      await code(() => rules.createRule("bad", { sqlExpression: "color =" })),
      "no error",
    );
    assert.equal(await code(() => rules.deleteRule("none")), "MessagingEntityNotFound");
    await send(
      topic,
      { body: "one", sessionId: "a", applicationProperties: { color: "red" } },
      { body: "two", sessionId: "a", subject: "s", applicationProperties: { n: 5 } },
      { body: "three", sessionId: "a" },
    );
    const plain = client.createReceiver(topic, "plain");
    const got = await receive(plain, 3);
    assert.deepEqual(bodies(got), ["one", "two"]);
    assert.equal(got[0].applicationProperties.seen, true);
    await plain.close();
  });

  test("a message scheduled on a topic arrives when due, unless it is cancelled", async () => {
    const topic = `t${take()}`;
    const sender = client.createSender(topic);
    const due = Date.now() + 3000;
    await sender.scheduleMessages({ sessionId: "a", body: "later" }, new Date(due));
    const cancelled = await sender.scheduleMessages(
      { sessionId: "a", body: "never" },
      new Date(due - 500),
    );
    await sender.cancelScheduledMessages(cancelled);
    const plain = client.createReceiver(topic, "plain");
    const [message] = await plain.receiveMessages(1, { maxWaitTimeInMs: 10000 });
    assert.equal(message.body, "later"); // the cancelled one would have come first
    assert.ok(Date.now() >= due);
    await plain.close();
    await sender.close();
  });

  test("receiving from a topic and sending to a subscription fail", async () => {
    const topic = `t${take()}`;
    const receiver = client.createReceiver(topic);
    assert.notEqual(
      await code(() => receiver.receiveMessages(1, { maxWaitTimeInMs: 1000 })),
      "no error",
    );
    assert.notEqual(
      await code(() => send(`${topic}/Subscriptions/plain`, { body: "one" })),
      "no error",
    );
    const none = client.createReceiver(topic, "none");
    assert.equal(
      await code(() => none.receiveMessages(1, { maxWaitTimeInMs: 1000 })),
      "MessagingEntityNotFound",
    );
  });
});
