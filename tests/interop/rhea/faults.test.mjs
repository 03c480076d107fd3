// SPDX-License-Identifier: MIT
// Documented refusals and faults as an application sees them: each is its own error in bounded
// time, nothing is lost, and every call ends.
import assert from "node:assert/strict";
import { types } from "./peer.mjs";
import { entity, scene, sleep, until } from "./scene.mjs";

const refusals = [
  ["com.microsoft:session-cannot-be-locked", "session_locked_elsewhere"],
  ["amqp:not-found", "entity_not_found"],
  ["amqp:not-allowed", "session_required"],
  ["com.microsoft:entity-disabled", "entity_disabled"],
  ["com.microsoft:server-busy", "server_busy"],
  ["amqp:unauthorized-access", "unauthorized"],
  ["com.microsoft:auth-failed", "unauthorized"],
  ["amqp:internal-error", "connection_lost"],
  ["amqp:resource-limit-exceeded", "quota_exceeded"],
  ["com.microsoft:argument-error", "invalid_argument"],
  ["vendor:something-new", "protocol_error"],
];

scene(
  "accept: each refusal is its own error with the broker's text, and the connection stays",
  async ({ peer, driver }) => {
    for (const [condition, code] of refusals) {
      peer.hooks.ask = (ask) => ask.refuse(condition, `because of ${condition}`);
      const error = await driver.fails("accept", { entity, session: "a" });
      assert.deepEqual(
        [error.error, error.condition, error.text],
        [code, condition, `because of ${condition}`],
      );
      assert.ok(error.ms < 2000, `${condition}: ${error.ms} ms`);
    }
    peer.hooks.ask = undefined;
    await driver.do("accept", { entity, session: "a" });
    assert.equal(peer.connectionCount, 1);
  },
);

scene("accept: a detach without an error ends it", async ({ peer, driver }) => {
  peer.hooks.ask = (ask) => ask.refuse();
  for (const how of [{ session: "a" }, {}]) {
    const error = await driver.fails("accept", { entity, ...how });
    assert.equal(error.error, "connection_lost");
    assert.ok(error.ms < 2000);
  }
});

scene(
  "accept next: the broker's timeout means no session, not an error",
  async ({ peer, driver }) => {
    assert.deepEqual(await driver.do("accept", { entity, wait: 200 }), { session: null });
    const error = await driver.fails("accept", { entity, timeout: 300 });
    assert.equal(error.error, "no_session_available");
    assert.ok(error.ms < 1500, `${error.ms}`);
    assert.equal(peer.asks.length, 2);
  },
);

scene(
  "R19: accept: an unanswered accept ends at its deadline, others go on, and the broker is told",
  async ({ peer, driver }) => {
    peer.hooks.ask = (ask) => ask.named !== "silent";
    const error = await driver.fails("accept", { entity, session: "silent", timeout: 500 });
    assert.equal(error.error, "timeout");
    assert.ok(error.ms >= 450 && error.ms < 1500, `${error.ms}`);
    assert.deepEqual(await driver.do("accept", { entity, session: "a" }), { session: "a" });
    await until("the broker learns that it was given up", () => peer.asks[0].left, 1000);
    assert.equal(peer.connectionCount, 1);
  },
);

scene(
  "R19: accept: an answer that arrives after the deadline leaves the session free",
  async ({ peer, driver }) => {
    peer.put(entity, "late", "one");
    peer.hooks.ask = (ask) => ask.named !== "late";
    peer.once("gaveUp", (ask) => ask.grant("late"));
    const error = await driver.fails("accept", { entity, session: "late", timeout: 400 });
    assert.equal(error.error, "timeout");
    await until("nobody holds it", () => peer.asks[0].answered && peer.held.length === 0, 1000);
    peer.hooks.ask = undefined;
    assert.deepEqual(await driver.do("accept", { entity, session: "late" }), { session: "late" });
    const [message] = await driver.take(1);
    assert.deepEqual([message.body, message.count], ["one", 0]);
  },
);

scene("accept: a session with another id is not accepted", async ({ peer, driver }) => {
  peer.hooks.ask = (ask) => ask.grant("other");
  const error = await driver.fails("accept", { entity, session: "a" });
  assert.equal(error.error, "protocol_error");
  await until("it is released", () => peer.held.length === 0, 1000);
});

const losses = [
  ["com.microsoft:session-lock-lost", "lock_lost"],
  ["amqp:link:stolen", "lock_lost"],
  ["amqp:link:detach-forced", "connection_lost"],
  ["amqp:internal-error", "connection_lost"],
  ["amqp:not-found", "entity_not_found"],
  ["com.microsoft:entity-disabled", "entity_disabled"],
  ["amqp:unauthorized-access", "unauthorized"],
  [undefined, "connection_lost"],
];

scene(
  "receiver: the loss of its link is reported once, with its reason, to waiting and settling calls",
  async ({ peer, driver }) => {
    for (const [condition, code] of losses) {
      const session = `of ${condition}`;
      peer.put(entity, session, "one");
      await driver.do("accept", { entity, session });
      const [message] = await driver.take(1);
      const waiting = driver.fails("receive", { of: "r", wait: 10000 });
      await sleep(50);
      peer.holder(entity, session).detach(condition, "it is over");
      const error = await waiting;
      assert.equal(error.error, code, `${condition}`);
      assert.ok(error.ms < 2000, `${condition}: ${error.ms}`);
      assert.equal((await driver.do("loss", { of: "r" })).error, code);
      const settling = await driver.fails("settle", { message: message.handle, how: "complete" });
      assert.equal(settling.error, "lock_lost");
      assert.ok(settling.ms < 500, `${settling.ms}`);
      assert.deepEqual(peer.settled, []);
    }
    assert.equal(peer.connectionCount, 1);
  },
);

scene(
  "settle: a refusal, no answer, and a link that ends before the answer",
  async ({ peer, driver }) => {
    peer.put(entity, "a", "refused", "unanswered", "cut");
    peer.hooks.settle = (entry, delivery, held) => {
      if (entry.body === "refused")
        held.refuseSettlement(delivery, "com.microsoft:message-lock-lost");
      if (entry.body === "cut") held.detach("amqp:link:detach-forced");
      return false;
    };
    await driver.do("accept", { entity });
    const messages = await driver.take(3);
    const refused = await driver.fails("settle", { message: messages[0].handle, how: "complete" });
    assert.deepEqual(
      [refused.error, refused.condition],
      ["lock_lost", "com.microsoft:message-lock-lost"],
    );
    const unanswered = await driver.fails("settle", {
      message: messages[1].handle,
      how: "complete",
      timeout: 400,
    });
    assert.equal(unanswered.error, "timeout");
    assert.ok(unanswered.ms >= 350 && unanswered.ms < 1500, `${unanswered.ms}`);
    assert.equal(
      (await driver.fails("settle", { message: messages[1].handle, how: "complete" })).error,
      "already_settled",
    );
    const cut = await driver.fails("settle", { message: messages[2].handle, how: "complete" });
    assert.equal(cut.error, "connection_lost");
    assert.ok(cut.ms < 1500, `${cut.ms}`);
  },
);

scene("lock renewal: refused as lost, refused for now, not answered", async ({ peer, driver }) => {
  await driver.do("accept", { entity, session: "a" });
  const answers = [
    [
      { status: 410, description: "gone", errorCondition: "com.microsoft:session-lock-lost" },
      "lock_lost",
    ],
    [
      { status: 404, description: "gone", errorCondition: "com.microsoft:session-lock-lost" },
      "lock_lost",
    ],
    [
      { status: 503, description: "busy", errorCondition: "com.microsoft:server-busy" },
      "server_busy",
    ],
    [false, "timeout"],
  ];
  for (const [answer, code] of answers) {
    peer.hooks.manage = () => answer;
    const error = await driver.fails("renew", { of: "r", timeout: 500 });
    assert.equal(error.error, code);
    assert.ok(error.ms < 1500, `${error.ms}`);
  }
});

scene(
  "R12: a broker clock that is ahead is detected by a new message and by an early lock loss",
  async ({ peer, driver }) => {
    peer.ahead = 60000;
    // A message shows the difference of the clocks less the time that it travelled.
    const travel = 200;
    const near = async (ms) => {
      const left = await driver.do("lock", { of: "r" });
      assert.ok(left > ms - 3000 && left <= ms + travel, `${left}`);
    };
    await driver.do("accept", { entity, session: "a" });
    await near(90000);
    peer.put(entity, "a", "fresh");
    await driver.take(1);
    await driver.do("renew", { of: "r" });
    await near(30000);
    await driver.do("accept", { entity, session: "b" });
    await near(30000);
    // Another connection has not seen it. Its session's lock expires early.
    await driver.do("connect", { connection: peer.connection });
    await driver.do("accept", { entity, session: "c" });
    await near(90000);
    await sleep(5100);
    peer.holder(entity, "c").detach("com.microsoft:session-lock-lost", "it has expired");
    await until("the loss", async () => (await driver.do("loss", { of: "r" })) !== null);
    await driver.do("accept", { entity, session: "c" });
    await near(8000);
  },
);

scene(
  "R13: an automatically renewed lock is lost if the broker says so, not if it is busy",
  async ({ peer, driver }) => {
    peer.lock = 2000;
    let busy = 0;
    peer.hooks.manage = () =>
      ++busy <= 2
        ? { status: 503, description: "busy", errorCondition: "com.microsoft:server-busy" }
        : undefined;
    await driver.do("accept", { entity, session: "a", renews: true });
    await sleep(3000);
    assert.equal(await driver.do("loss", { of: "r" }), null);
    assert.ok(busy > 3);
    peer.hooks.manage = () => ({
      status: 410,
      description: "gone",
      errorCondition: "com.microsoft:session-lock-lost",
    });
    const error = await driver.fails("receive", { of: "r", wait: 10000 });
    assert.equal(error.error, "lock_lost");
    assert.ok(error.ms < 3000, `${error.ms}`);
  },
);

scene(
  "R12: a broker clock far from ours neither loses a lock nor keeps it for a day",
  async ({ peer, driver }) => {
    const actual = 6000; // what the broker grants, in its own time
    for (const skew of [-600_000, 600_000]) {
      const session = `skewed by ${skew}`;
      let until = Date.now() + actual;
      let lapsed = false;
      const ticks = (ms) => {
        const bytes = Buffer.alloc(8);
        bytes.writeBigInt64BE(BigInt(ms) * 10000n + 621355968000000000n);
        return types.wrap_long(bytes);
      };
      peer.hooks.ask = (ask) => {
        ask.link.local.attach.properties = {
          "com.microsoft:locked-until-utc": ticks(until + skew),
        };
        ask.grant(session, { properties: "given" });
      };
      peer.hooks.manage = () => {
        lapsed ||= Date.now() > until;
        until = Date.now() + actual;
        return { body: { expiration: types.wrap_timestamp(until + skew) } };
      };
      await driver.do("accept", { entity, session, renews: true, as: session });
      await sleep(8000);
      assert.equal(lapsed || Date.now() > until, false, session);
      assert.equal(await driver.do("loss", { of: session }), null);
    }
  },
);

scene(
  "$management: a link that the broker closes is reopened by the next request",
  async ({ peer, driver }) => {
    await driver.do("accept", { entity, session: "a" });
    let link;
    peer.on("sender", (receiver) => {
      if (receiver.remote.attach.target.address.endsWith("$management")) link = receiver;
    });
    await driver.do("renew", { of: "r" });
    peer.hooks.manage = () => {
      peer.hooks.manage = undefined;
      link.close({ condition: "amqp:link:detach-forced", description: "idle" });
      return false;
    };
    const error = await driver.fails("renew", { of: "r" });
    assert.equal(error.error, "connection_lost");
    assert.ok(error.ms < 2000, `${error.ms}`);
    await driver.do("renew", { of: "r" });
    assert.equal(await driver.do("loss", { of: "r" }), null);
  },
);

scene(
  "drain: a late answer is awaited, and a message that crosses it is not lost",
  async ({ peer, driver }) => {
    peer.hooks.drain = (held) => setTimeout(() => held.drained(), 500);
    await driver.do("accept", { entity, session: "a" });
    const late = await driver.ask("receive", { of: "r", wait: 0 });
    assert.deepEqual(late.value, []);
    assert.ok(late.ms >= 450 && late.ms < 1500, `${late.ms}`);
    peer.hooks.drain = (held) => {
      peer.put(entity, "a", "crossed");
      held.drained();
    };
    const crossed = await driver.do("receive", { of: "r", wait: 0 });
    assert.deepEqual(
      crossed.map((each) => each.body),
      ["crossed"],
    );
  },
);

scene("drain: without an answer the call still ends", async ({ peer, driver }) => {
  peer.hooks.drain = () => {};
  await driver.do("accept", { entity, session: "a" });
  const answer = await driver
    .ask("receive", { of: "r", wait: 0, timeout: 1000 })
    .catch((error) => error);
  assert.ok(answer.ms < 2500, `${answer.ms}`);
  peer.put(entity, "a", "later");
  assert.deepEqual(
    (await driver.take(1)).map((each) => each.body),
    ["later"],
  );
  const close = await driver.ask("close", { of: "r" }).catch((error) => error);
  assert.ok(close.ms < 8000, `${close.ms}`);
  await until("the session is released", () => peer.held.length === 0, 8000);
});

scene(
  "connection forced: the receiver is told, and the next call reconnects",
  async ({ peer, driver }) => {
    peer.put(entity, "a", "one");
    await driver.do("accept", { entity });
    await driver.take(1);
    const waiting = driver.fails("receive", { of: "r", wait: 10000 });
    await sleep(50);
    peer.connections[0].close({ condition: "amqp:connection:forced", description: "upgrade" });
    const error = await waiting;
    assert.equal(error.error, "connection_lost");
    assert.equal(error.condition, "amqp:connection:forced");
    assert.ok(error.ms < 2000, `${error.ms}`);
    assert.deepEqual(await driver.do("accept", { entity }), { session: "a" });
    assert.equal(peer.connectionCount, 2);
  },
);

scene("connection: a connection that is cut is handled the same", async ({ peer, driver }) => {
  await driver.do("accept", { entity, session: "a" });
  const waiting = driver.fails("receive", { of: "r", wait: 10000 });
  await sleep(50);
  peer.cut(peer.connections[0]);
  const error = await waiting;
  assert.equal(error.error, "connection_lost");
  assert.ok(error.ms < 2000, `${error.ms}`);
  assert.deepEqual(await driver.do("accept", { entity, session: "a" }), { session: "a" });
});

scene(
  "connection: heartbeats keep an idle connection",
  async ({ peer, driver }) => {
    await sleep(6000); // the peer disconnects after four seconds of silence
    assert.equal(peer.connections.length, 1);
    await driver.do("accept", { entity, session: "a" });
    assert.equal(peer.connectionCount, 1);
  },
  { peerOptions: { idleTimeOut: 2000 } },
);

scene(
  "connection: a silent broker is detected and disconnected",
  async ({ peer, driver }) => {
    await driver.do("accept", { entity, session: "a" });
    const { socket } = peer.connections[0];
    socket.write = () => true;
    const error = await driver.fails("receive", { of: "r", wait: 30000, timeout: 30000 });
    assert.equal(error.error, "connection_lost");
    assert.ok(error.ms < 15000, `${error.ms}`);
    assert.deepEqual(await driver.do("accept", { entity, session: "b" }), { session: "b" });
  },
  { connect: { idle_timeout: 4000 } },
);

scene("send: refusals, no answer, no credit, too large", async ({ peer, driver }) => {
  const { codec } = await import("./peer.mjs");
  const send = { entity, session: "a", bodies: ["one"] };
  const answered = async (state, code) => {
    peer.hooks.sent = (sent, delivery) => {
      delivery.update(true, state.described());
      return false;
    };
    assert.equal((await driver.fails("send", send)).error, code);
  };
  await answered(
    codec.rejected({ error: { condition: "amqp:resource-limit-exceeded", description: "full" } }),
    "quota_exceeded",
  );
  await answered(
    codec.rejected({ error: { condition: "amqp:not-allowed", description: "no SessionId" } }),
    "session_required",
  );
  await answered(
    codec.rejected({ error: { condition: "com.microsoft:server-busy", description: "slow" } }),
    "server_busy",
  );
  await answered(codec.released(), "server_busy");
  peer.hooks.sent = () => false;
  const unanswered = await driver.fails("send", { ...send, timeout: 400 });
  assert.equal(unanswered.error, "timeout");
  assert.ok(unanswered.ms >= 350 && unanswered.ms < 1500, `${unanswered.ms}`);
  peer.hooks.sent = undefined;
  const before = peer.sent.length;
  const large = await driver.fails("send", { ...send, bodies: ["x".repeat(300_000)] });
  assert.equal(large.error, "message_too_large");
  assert.equal(peer.sent.length, before);
  peer.hooks.openSender = () => false;
  const creditless = await driver.fails("send", { ...send, entity: "closed", timeout: 400 });
  assert.equal(creditless.error, "timeout");
  peer.hooks.openSender = (address, link) => {
    if (address !== "missing") return undefined;
    link.close({
      condition: "amqp:not-found",
      description: "The messaging entity could not be found.",
    });
    return false;
  };
  assert.equal(
    (await driver.fails("send", { ...send, entity: "missing" })).error,
    "entity_not_found",
  );
  await driver.do("send", send);
  assert.equal(peer.connectionCount, 1);
});

scene(
  "send: a link ends before the answer; the next send uses a new link",
  async ({ peer, driver }) => {
    peer.hooks.sent = (sent, delivery, receiver) => {
      peer.hooks.sent = undefined;
      receiver.close({ condition: "amqp:link:detach-forced", description: "idle" });
      return false;
    };
    const error = await driver.fails("send", { entity, session: "a", bodies: ["one"] });
    assert.equal(error.error, "connection_lost");
    await driver.do("send", { entity, session: "a", bodies: ["two"] });
  },
);

scene(
  "a message that cannot be decoded is rejected, and later ones arrive",
  async ({ peer, driver }) => {
    await driver.do("accept", { entity, session: "a" });
    const held = peer.holder(entity, "a");
    const waiting = driver.ask("receive", { of: "r", wait: 3000 });
    await until("credit", () => held.link.credit > 0);
    const outcome = new Promise((resolve) =>
      held.link.once("rejected", ({ delivery }) => resolve(delivery.remote_state)),
    );
    held.link.send(Buffer.from([0x00, 0x53, 0x75, 0xa0, 0x7f, 0x01]), Buffer.alloc(16, 7), 0);
    assert.equal((await outcome).error.condition, "amqp:decode-error");
    peer.put(entity, "a", "good");
    const got = (await waiting).value;
    assert.deepEqual(
      (got.length ? got : await driver.take(1)).map((each) => each.body),
      ["good"],
    );
  },
);
