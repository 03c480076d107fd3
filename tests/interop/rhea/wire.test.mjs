// SPDX-License-Identifier: MIT
// Our client's frames as an AMQP library that is not ours reads them, compared with Azure Service
// Bus's documentation.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { batchFormat, fieldsOf, key, keyName, sectionsOf, typed, uuidText } from "./peer.mjs";
import { entity, scene, until } from "./scene.mjs";

const fieldOf = (composite, index) => typed(composite.value[index]);
const at = { address: 0, filter: 7 };

scene(
  "connection: anonymous SASL, host name, frame size, idle timeout, product",
  async ({ peer, driver }) => {
    await until("open", () => peer.connections.length === 1);
    const { open } = peer.connections[0].remote;
    assert.equal(open.hostname, "127.0.0.1");
    assert.ok(open.max_frame_size >= 512);
    assert.ok(open.idle_time_out > 0);
    assert.equal(open.properties.product, "sessionq");
    assert.ok(open.container_id.length > 8);
    await driver.do("disconnect");
  },
);

scene(
  "put-token: its map and its signature; one for the entity, one for its $management",
  async ({ peer, driver }) => {
    peer.put(entity, "a", "one");
    await driver.do("accept", { entity });
    await driver.do("state", { of: "r" });
    const audiences = peer.tokens.map((each) => each.properties.name[1]);
    assert.deepEqual(audiences, [
      `sb://127.0.0.1/${entity}`,
      `sb://127.0.0.1/${entity}/$management`,
    ]);
    for (const request of peer.tokens) {
      const [bodyType, token] = request.body;
      assert.equal(bodyType, "string");
      assert.equal(request.to, "$cbs");
      assert.ok(request.replyTo);
      assert.deepEqual(Object.keys(request.properties).sort(), [
        "expiration",
        "name",
        "operation",
        "type",
      ]);
      assert.deepEqual(request.properties.operation, ["string", "put-token"]);
      assert.deepEqual(request.properties.type, ["string", "servicebus.windows.net:sastoken"]);
      const [expirationType, expiration] = request.properties.expiration;
      assert.equal(expirationType, "timestamp");
      assert.ok(token.startsWith("SharedAccessSignature "));
      const parts = Object.fromEntries(
        token
          .slice(22)
          .split("&")
          .map((part) => [part.slice(0, part.indexOf("=")), part.slice(part.indexOf("=") + 1)]),
      );
      assert.equal(decodeURIComponent(parts.sr), request.properties.name[1]);
      assert.equal(decodeURIComponent(parts.skn), keyName);
      assert.equal(
        decodeURIComponent(parts.sig),
        createHmac("sha256", key).update(`${parts.sr}\n${parts.se}`).digest("base64"),
      );
      assert.ok(Number(parts.se) > Date.now() / 1000 + 600);
      assert.ok(Math.abs(Number(parts.se) - expiration / 1000) <= 1);
    }
  },
);

scene(
  "accept next: a null filter, the wait as a uint, peek-lock's modes, a unique reply address",
  async ({ peer, driver }) => {
    peer.put(entity, "a", "one");
    assert.deepEqual(await driver.do("accept", { entity, wait: 3000 }), { session: "a" });
    const [ask] = peer.asks;
    const { raw } = ask;
    assert.equal(raw.source.address, entity);
    const [type, entries] = fieldOf(raw.source, at.filter);
    assert.equal(type, "map");
    assert.deepEqual(entries, [
      [
        ["symbol", "com.microsoft:session-filter"],
        ["null", null],
      ],
    ]);
    assert.equal(raw.snd_settle_mode, 0);
    assert.equal(raw.rcv_settle_mode, 1);
    assert.equal(raw.role, true);
    const properties = fieldsOf(typed(raw.value[13]), "symbol");
    assert.equal(properties["com.microsoft:timeout"][0], "uint");
    assert.ok(
      properties["com.microsoft:timeout"][1] <= 3000 &&
        properties["com.microsoft:timeout"][1] >= 2000,
      `${properties["com.microsoft:timeout"]}`,
    );
    assert.deepEqual(Object.keys(properties), ["com.microsoft:timeout"]);
    assert.ok(raw.target.address.length > 0);
    await driver.do("close", { of: "r" });
    peer.put(entity, "b", "two");
    await driver.do("accept", { entity });
    assert.notEqual(peer.asks[1].raw.target.address, raw.target.address);
    assert.notEqual(peer.asks[1].raw.name, raw.name);
  },
);

scene(
  "accept named: a plain string, also an empty one, and no timeout",
  async ({ peer, driver }) => {
    for (const session of ["Kunde 17", "", "ü".repeat(64)]) {
      assert.deepEqual(await driver.do("accept", { entity, session, as: session }), { session });
      const ask = peer.asks.at(-1);
      assert.deepEqual(fieldOf(ask.raw.source, at.filter)[1], [
        [
          ["symbol", "com.microsoft:session-filter"],
          ["string", session],
        ],
      ]);
      assert.equal("com.microsoft:timeout" in (ask.raw.properties ?? {}), false);
    }
  },
);

scene("receive and delete: settled by the sender, first", async ({ peer, driver }) => {
  peer.put(entity, "a", "one");
  await driver.do("accept", { entity, removes: true });
  assert.equal(peer.asks[0].raw.snd_settle_mode, 1);
  assert.equal(peer.asks[0].raw.rcv_settle_mode, 0);
  const [message] = await driver.do("receive", { of: "r", wait: 2000 });
  assert.equal(message.body, "one");
  assert.deepEqual(
    peer.settled.map((each) => each.outcome),
    ["removed"],
  );
});

scene(
  "receive: the credit is what was asked for, and unused credit is drained",
  async ({ peer, driver }) => {
    peer.put(entity, "a", "one", "two", "three");
    await driver.do("accept", { entity });
    const first = await driver.take(2);
    assert.deepEqual(
      first.map((each) => [each.body, each.session, each.sequence, each.count]),
      [
        ["one", "a", 1, 0],
        ["two", "a", 2, 0],
      ],
    );
    const second = await driver.do("receive", { of: "r", max: 2, wait: 300 });
    assert.deepEqual(
      second.map((each) => each.body),
      ["three"],
    );
    assert.deepEqual(await driver.do("receive", { of: "r", max: 1, wait: 100 }), []);
  },
);

scene("outcomes: unsettled dispositions in the service's form", async ({ peer, driver }) => {
  peer.put(entity, "a", "complete", "abandon", "release", "defer", "dead");
  await driver.do("accept", { entity });
  const settle = async (how, data) => {
    const [message] = await driver.do("receive", { of: "r", wait: 2000 });
    await driver.do("settle", { message: message.handle, how, ...data });
    return [message, peer.settled.at(-1)];
  };
  let [, entry] = await settle("complete");
  assert.deepEqual(
    [entry.outcome, entry.body, entry.settledByClient],
    ["accepted", "complete", false],
  );
  let message;
  [message, entry] = await settle("abandon", {
    properties: { reason: "later", tries: 3, last: false },
  });
  assert.equal(message.body, "abandon");
  assert.deepEqual([entry.outcome, entry.settledByClient], ["modified", false]);
  assert.ok(!entry.raw.undeliverable_here);
  assert.deepEqual(Object.keys(entry.raw.message_annotations).sort(), ["last", "reason", "tries"]);
  assert.equal(entry.raw.message_annotations.reason, "later");
  [message, entry] = await settle("complete"); // it returns first, counted
  assert.deepEqual([message.body, message.count], ["abandon", 1]);
  [message, entry] = await settle("release");
  assert.deepEqual([message.body, entry.outcome], ["release", "released"]);
  [message, entry] = await settle("complete");
  assert.deepEqual([message.body, message.count], ["release", 0]);
  [message, entry] = await settle("defer");
  assert.deepEqual(
    [message.body, entry.outcome, entry.raw.undeliverable_here],
    ["defer", "modified", true],
  );
  [message, entry] = await settle("dead_letter", {
    reason: "broken",
    description: "no such customer",
    properties: { step: "two" },
  });
  assert.deepEqual(
    [message.body, entry.outcome, entry.settledByClient],
    ["dead", "rejected", false],
  );
  assert.equal(entry.raw.error.condition, "com.microsoft:dead-letter");
  assert.deepEqual(entry.raw.error.info, {
    step: "two",
    DeadLetterReason: "broken",
    DeadLetterErrorDescription: "no such customer",
  });
});

scene("$management: session lock and session state", async ({ peer, driver }) => {
  peer.put(entity, "a", "one");
  await driver.do("accept", { entity });
  const name = peer.asks[0].raw.name;
  await driver.do("renew", { of: "r" });
  await driver.do("set_state", { of: "r", value: "half way" });
  assert.equal(await driver.do("state", { of: "r" }), "half way");
  await driver.do("set_state", { of: "r", value: null });
  assert.equal(await driver.do("state", { of: "r" }), null);
  assert.deepEqual(
    peer.requests.map((each) => each.operation.replace("com.microsoft:", "")),
    [
      "renew-session-lock",
      "get-session-state", // the first set keeps what this library has beside the state
      "set-session-state",
      "get-session-state",
      "set-session-state",
      "get-session-state",
    ],
  );
  for (const request of peer.requests) {
    assert.equal(request.address, `${entity}/$management`);
    assert.deepEqual(request.properties["associated-link-name"], ["string", name]);
    assert.equal(request.body[0], "map");
    assert.deepEqual(fieldsOf(request.body)["session-id"], ["string", "a"]);
    assert.equal(typeof request.id, "string");
  }
  const [, , set, , clear] = peer.requests.map((each) => fieldsOf(each.body));
  assert.deepEqual(set["session-state"], ["binary", Buffer.from("half way")]);
  assert.deepEqual(clear["session-state"], ["null", null]);
  assert.equal(new Set(peer.requests.map((each) => each.id)).size, peer.requests.length);
});

scene(
  "$management: the renewed lock lasts as long as the answer says",
  async ({ peer, driver }) => {
    peer.lock = 20000;
    peer.put(entity, "a", "one");
    await driver.do("accept", { entity });
    const before = await driver.do("lock", { of: "r" });
    assert.ok(before > 17000 && before <= 20000, `${before}`);
    peer.lock = 60000;
    await driver.do("renew", { of: "r" });
    const after = await driver.do("lock", { of: "r" });
    assert.ok(after > 55000 && after <= 60000, `${after}`);
  },
);

scene("$management: peeking and listing sessions", async ({ peer, driver }) => {
  peer.put(entity, "a", "one", "two");
  peer.put(entity, "b", "three");
  const seen = await driver.do("peek", { entity, max: 7, from: 2 });
  assert.deepEqual(
    seen.map((each) => each.body),
    ["two", "three"],
  );
  assert.deepEqual(
    (await driver.do("peek", { entity, session: "a" })).map((each) => each.body),
    ["one", "two"],
  );
  assert.deepEqual(await driver.do("peek", { entity, session: "none" }), []);
  const [first, second] = peer.requests.map((each) => fieldsOf(each.body));
  assert.deepEqual(first, { "from-sequence-number": ["long", 2], "message-count": ["int", 7] });
  assert.deepEqual(second["session-id"], ["string", "a"]);
  assert.deepEqual(await driver.do("sessions", { entity }), ["a", "b"]);
  const listing = fieldsOf(
    peer.requests.find((each) => each.operation.endsWith("get-message-sessions")).body,
  );
  assert.equal(listing["last-updated-time"][0], "timestamp");
  assert.deepEqual(listing.skip, ["int", 0]);
  assert.equal(listing.top[0], "int");
});

scene("$management: scheduling and cancelling", async ({ peer, driver }) => {
  const numbers = await driver.do("schedule", {
    entity,
    session: "a",
    bodies: ["one", "two"],
    in: 600000,
  });
  assert.deepEqual(numbers, [1, 2]);
  await driver.do("cancel", { entity, sequences: numbers });
  const [schedule, cancel] = peer.requests;
  assert.equal(schedule.operation, "com.microsoft:schedule-message");
  const [type, entries] = fieldsOf(schedule.body).messages;
  assert.equal(type, "list");
  assert.equal(entries.length, 2);
  for (const entry of entries.map((each) => fieldsOf(each))) {
    assert.equal(entry["message-id"][0], "string");
    assert.deepEqual(entry["session-id"], ["string", "a"]);
    assert.equal(entry.message[0], "binary");
    const inner = sectionsOf(entry.message[1]);
    const annotations = fieldsOf(inner[0x72][0], "symbol");
    assert.equal(annotations["x-opt-scheduled-enqueue-time"][0], "timestamp");
    assert.ok(annotations["x-opt-scheduled-enqueue-time"][1] > Date.now() + 500000);
    assert.deepEqual(inner[0x73][0][1][0], entry["message-id"]);
    assert.deepEqual(inner[0x73][0][1][10], ["string", "a"]);
  }
  assert.equal(cancel.operation, "com.microsoft:cancel-scheduled-message");
  assert.deepEqual(fieldsOf(cancel.body), {
    "sequence-numbers": ["array", { of: "long", items: [1, 2] }],
  });
});

scene("$management: deferred messages are received and settled there", async ({ peer, driver }) => {
  peer.put(entity, "a", "one", "two", "three");
  await driver.do("accept", { entity });
  const name = peer.asks[0].raw.name;
  const messages = await driver.take(3);
  for (const message of messages)
    await driver.do("settle", { message: message.handle, how: "defer" });
  const deferred = await driver.do("receive_deferred", {
    of: "r",
    sequences: messages.map((each) => each.sequence),
  });
  assert.deepEqual(
    deferred.map((each) => each.body),
    ["one", "two", "three"],
  );
  await driver.do("settle", { message: deferred[0].handle, how: "complete" });
  await driver.do("settle", {
    message: deferred[1].handle,
    how: "dead_letter",
    reason: "why",
    description: "because",
  });
  await driver.do("settle", { message: deferred[2].handle, how: "defer", properties: { n: 1 } });
  const [ask, ...updates] = peer.requests;
  assert.equal(ask.operation, "com.microsoft:receive-by-sequence-number");
  assert.deepEqual(fieldsOf(ask.body), {
    "sequence-numbers": ["array", { of: "long", items: [1, 2, 3] }],
    "receiver-settle-mode": ["uint", 1],
    "session-id": ["string", "a"],
  });
  assert.deepEqual(
    updates.map((each) => each.operation),
    Array(3).fill("com.microsoft:update-disposition"),
  );
  const maps = updates.map((each) => fieldsOf(each.body));
  assert.deepEqual(
    maps.map((each) => each["disposition-status"][1]),
    ["completed", "suspended", "defered"],
  );
  assert.deepEqual(maps[1]["deadletter-reason"], ["string", "why"]);
  assert.deepEqual(maps[1]["deadletter-description"], ["string", "because"]);
  assert.equal(maps[2]["properties-to-modify"][0], "map");
  maps.forEach((each, index) => {
    const [type, tokens] = each["lock-tokens"];
    assert.deepEqual([type, tokens.of, tokens.items.length], ["array", "uuid", 1]);
    assert.equal(uuidText(tokens.items[0]), uuidText(peer.messages[index].token));
    assert.deepEqual(each["session-id"], ["string", "a"]);
  });
  for (const request of peer.requests)
    assert.deepEqual(request.properties["associated-link-name"], ["string", name]);
  const error = await driver.fails("receive_deferred", { of: "r", sequences: [99] });
  assert.equal(error.error, "message_not_found");
});

scene(
  "send: one message in its own form, with its session as group-id",
  async ({ peer, driver }) => {
    await driver.do("send", {
      entity,
      session: "a",
      bodies: ["one"],
      properties: { colour: "blue", size: 7, big: true },
    });
    const [sent] = peer.sent;
    assert.deepEqual([sent.address, sent.format, sent.settledByClient], [entity, 0, false]);
    assert.equal(sent.message.group_id, "a");
    assert.equal(sent.message.body.content.toString(), "one");
    assert.deepEqual(sent.message.application_properties, { colour: "blue", size: 7, big: true });
    assert.ok(sent.message.message_id.length > 8);
  },
);

scene("send: several messages as the service's batch", async ({ peer, driver }) => {
  await driver.do("send", { entity, session: "a", bodies: ["one", "two", "three"] });
  assert.equal(peer.sent.length, 1);
  const [sent] = peer.sent;
  assert.equal(sent.format, batchFormat);
  const sections = sectionsOf(sent.bytes);
  const parts = sections[0x75].map(([type, bytes]) => {
    assert.equal(type, "binary");
    return sectionsOf(bytes);
  });
  assert.deepEqual(
    parts.map((each) => each[0x75][0][1].toString()),
    ["one", "two", "three"],
  );
  for (const part of parts) assert.deepEqual(part[0x73][0][1][10], ["string", "a"]);
  assert.deepEqual(
    sections[0x73]?.[0][1][10],
    ["string", "a"],
    "the envelope repeats the session, which the service uses for routing",
  );
});

scene("the echoed filter may be described", async ({ peer, driver }) => {
  const { types } = await import("./peer.mjs");
  peer.hooks.ask = (ask) => ask.grant("a", { filter: types.wrap_described("a", 0x137000000c) });
  assert.deepEqual(await driver.do("accept", { entity }), { session: "a" });
});

scene("a lock without an expiry is renewed at once", async ({ peer, driver }) => {
  peer.hooks.ask = (ask) => ask.grant("a", { properties: undefined });
  await driver.do("accept", { entity, renews: true });
  await until(
    "a renewal",
    () => peer.requests.some((each) => each.operation.endsWith("renew-session-lock")),
    3000,
  );
  await until(
    "the lock's duration is known",
    async () => (await driver.do("lock", { of: "r" })) > 20000,
    3000,
  );
});
