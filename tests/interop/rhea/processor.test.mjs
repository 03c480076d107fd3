// SPDX-License-Identifier: MIT
// A session processor under faults: nothing is lost, the order stays, connection attempts are
// bounded (R17), and it never falls silent (R16).
import assert from "node:assert/strict";
import { entity, scene, sleep, until } from "./scene.mjs";

const handled = (driver) => driver.told("message").map((each) => each.message.body);

// Returns the order within each session without repeats.
function inOrder(driver) {
  const bySession = {};
  for (const { message } of driver.told("message")) {
    const seen = (bySession[message.session] ??= []);
    if (!seen.includes(message.sequence)) seen.push(message.sequence);
  }
  for (const [session, seen] of Object.entries(bySession)) {
    assert.deepEqual(
      seen,
      [...seen].sort((a, b) => a - b),
      `the order of session ${session}`,
    );
  }
}

async function completes(peer, driver, count, ms) {
  await until(`${count} completed`, () => peer.completed(entity).length >= count, ms);
  const knows = async () => {
    const { completed, settlement_failures } = await driver.do("describe", { of: "p" });
    return completed + settlement_failures >= count; // what the broker did while its link ended is
    // unknown to the client
  };
  await until("the processor knows", knows, 3000);
}

function fill(peer, sessions = 4, each = 5) {
  for (let i = 0; i < each; ++i)
    for (let s = 0; s < sessions; ++s) peer.put(entity, `s${s}`, `s${s}-${i}`);
  return sessions * each;
}

scene(
  "processor: rolls over sessions in order, drains before leaving, releases what it held",
  async ({ peer, driver }) => {
    const count = fill(peer);
    await driver.do("start", { entity });
    await completes(peer, driver, count);
    assert.deepEqual(handled(driver).length, count);
    inOrder(driver);
    await until("all were left", () => peer.held.length === 0);
    assert.equal(
      driver.told("closed").filter((each) => each.why === "idle").length,
      driver.told("opened").length,
    );
    assert.deepEqual(driver.told("error"), []);
    assert.ok(peer.settled.every((each) => each.outcome === "accepted"));
    assert.equal((await driver.do("stop", { of: "p" })).complete, true);
  },
);

scene(
  "processor: with idle timeout zero, a drain that finds the session empty is enough",
  async ({ peer, driver }) => {
    let drains = 0;
    peer.hooks.drain = (held) => {
      ++drains;
      held.drained();
    };
    const count = fill(peer, 6, 1);
    await driver.do("start", { entity, idle: 0 });
    await completes(peer, driver, count);
    await until("all were left", () => peer.held.length === 0);
    assert.ok(drains >= 6, `${drains}`);
    assert.deepEqual(driver.told("error"), []);
  },
);

scene(
  "processor: a link lost between transfer and settlement repeats the message, in order",
  async ({ peer, driver }) => {
    let cuts = 0;
    peer.hooks.settle = (entry, delivery, held) => {
      if (entry.body !== "s0-2" || cuts++ > 0) return true;
      held.detach("amqp:link:detach-forced", "moved");
      return false;
    };
    const count = fill(peer);
    await driver.do("start", { entity });
    await completes(peer, driver, count);
    inOrder(driver);
    assert.deepEqual([...new Set(handled(driver))].length, count);
    assert.ok(handled(driver).filter((body) => body === "s0-2").length === 2);
    assert.equal(driver.told("closed").filter((each) => each.why === "connection_lost").length, 1);
  },
);

for (const [what, condition, why] of [
  ["session-lock-lost", "com.microsoft:session-lock-lost", "lock_lost"],
  ["a detach without an error", undefined, "connection_lost"],
  ["an idle link detached by force", "amqp:link:detach-forced", "connection_lost"],
]) {
  scene(`processor: ${what} under a running handler`, async ({ peer, driver }) => {
    peer.put(entity, "a", "a-0", "a-1", "a-2");
    await driver.do("start", { entity, takes: 200 });
    await until("a handler runs", () => driver.told("message").length === 1);
    peer.holder(entity, "a").detach(condition, "gone");
    await completes(peer, driver, 3);
    inOrder(driver);
    assert.deepEqual(handled(driver), ["a-0", "a-0", "a-1", "a-2"]);
    assert.deepEqual(driver.told("closed").map((each) => each.why)[0], why);
    assert.equal((await driver.do("describe", { of: "p" })).lost, 1);
  });
}

scene(
  "processor: reconnects and goes on after a forced close, as in an upgrade",
  async ({ peer, driver }) => {
    const count = fill(peer, 4, 10);
    await driver.do("start", { entity, slots: 4, takes: 10 });
    await until("some are handled", () => driver.told("message").length > 8);
    peer.connections[0].close({ condition: "amqp:connection:forced", description: "upgrade" });
    await completes(peer, driver, count);
    inOrder(driver);
    assert.equal(new Set(handled(driver)).size, count);
    assert.ok(handled(driver).length <= count + 4 * 2, "only messages in progress come twice");
    assert.equal(peer.connectionCount, 2);
  },
);

scene("processor: reconnects and goes on after a cut connection", async ({ peer, driver }) => {
  const count = fill(peer, 4, 10);
  await driver.do("start", { entity, slots: 4, takes: 10 });
  for (let i = 0; i < 3; ++i) {
    const before = driver.told("message").length;
    await until("some are handled", () => driver.told("message").length > before + 3);
    peer.cut(peer.connections.at(-1));
  }
  await completes(peer, driver, count, 15000);
  inOrder(driver);
  assert.equal(new Set(handled(driver)).size, count);
});

scene(
  "R17: processor: connections that are closed at once are tried less and less often",
  async ({ peer, driver }) => {
    await driver.do("start", { entity, slots: 8 });
    const close = (connection) =>
      connection.close({ condition: "amqp:connection:forced", description: "not now" });
    peer.on("open", close);
    peer.connections.forEach(close);
    await sleep(4000);
    assert.ok(peer.connectionCount <= 12, `${peer.connectionCount} connections in four seconds`);
    peer.off("open", close);
    peer.put(entity, "a", "one");
    await completes(peer, driver, 1, 20000);
  },
);

for (const [what, refuse] of [
  ["busy", (ask) => ask.refuse("com.microsoft:server-busy")],
  ["failing", (ask) => ask.refuse("amqp:internal-error")],
  ["that refuses without a reason", (ask) => ask.refuse()],
  ["gone", (ask) => ask.refuse("amqp:not-found")],
  ["that rejects this client", (ask) => ask.refuse("amqp:unauthorized-access")],
]) {
  scene(
    `R17: processor: an entity ${what}: bounded attempts, a report, and progress afterwards`,
    async ({ peer, driver }) => {
      peer.hooks.ask = refuse;
      await driver.do("start", { entity, slots: 4 });
      await sleep(3000);
      const asked = peer.asks.length;
      assert.ok(asked >= 8 && asked <= 4 * 9, `${asked} accepts in three seconds`);
      assert.ok(driver.told("error").length > 0);
      assert.ok(driver.told("error").every((each) => each.source === "accept"));
      await until(
        "it reports that it is degraded",
        async () => (await driver.do("describe", { of: "p" })).degraded.length > 0,
      );
      peer.hooks.ask = undefined;
      peer.put(entity, "a", "one");
      await completes(peer, driver, 1, 20000);
    },
  );
}

scene(
  "R5: processor: a broker that reports no session at once is asked at intervals, silently",
  async ({ peer, driver }) => {
    peer.hooks.ask = (ask) => ask.refuse("com.microsoft:timeout");
    await driver.do("start", { entity, slots: 4 });
    await sleep(2000);
    const asked = peer.asks.length;
    assert.ok(asked >= 20 && asked <= 4 * 21, `${asked}`);
    const { empty_accepts, accept_failures, degraded } = await driver.do("describe", { of: "p" });
    assert.ok(empty_accepts >= 20);
    assert.deepEqual([accept_failures, degraded], [0, []]);
    assert.deepEqual(driver.told("error"), []);
    peer.hooks.ask = undefined;
    peer.put(entity, "a", "one");
    await completes(peer, driver, 1);
  },
);

scene(
  "R19: processor: an unanswered accept is given up, reported, and retried",
  async ({ peer, driver }) => {
    let silent = 2;
    peer.hooks.ask = () => silent-- <= 0;
    peer.put(entity, "a", "one");
    await driver.do("start", { entity, slots: 2, wait: 500 });
    await until("both are given up", () => peer.asks.slice(0, 2).every((each) => each.left), 9000);
    await completes(peer, driver, 1, 9000);
    assert.deepEqual(
      [...new Set(driver.told("error").map((each) => each.failure.error))],
      ["timeout"],
    );
  },
);

scene(
  "processor: named sessions locked elsewhere are retried with backoff and taken when free",
  async ({ peer, driver }) => {
    peer.hooks.ask = (ask) => ask.refuse("com.microsoft:session-cannot-be-locked");
    await driver.do("start", { entity, sessions: ["a", "b"] });
    await sleep(2500);
    assert.ok(peer.asks.length >= 6 && peer.asks.length <= 18, `${peer.asks.length}`);
    peer.hooks.ask = undefined;
    peer.put(entity, "a", "one");
    peer.put(entity, "b", "two");
    await completes(peer, driver, 2, 20000);
  },
);

scene("R3: processor: a message that crosses the drain is handled", async ({ peer, driver }) => {
  peer.put(entity, "a", "first");
  let crossed = false;
  peer.hooks.drain = (held) => {
    if (!crossed) {
      crossed = true;
      peer.put(entity, "a", "crossed");
    }
    held.drained();
  };
  await driver.do("start", { entity, idle: 100 });
  await completes(peer, driver, 2);
  assert.deepEqual(handled(driver), ["first", "crossed"]);
  assert.deepEqual(
    peer.settled.map((each) => [each.body, each.outcome]),
    [
      ["first", "accepted"],
      ["crossed", "accepted"],
    ],
  );
});

scene(
  "R3: processor: a late answer to a drain does not delay other sessions",
  async ({ peer, driver }) => {
    peer.hooks.drain = (held) => setTimeout(() => held.drained(), held.session === "s0" ? 1500 : 0);
    const count = fill(peer);
    await driver.do("start", { entity, idle: 50 });
    await completes(peer, driver, count);
    assert.deepEqual(driver.told("error"), []);
  },
);

scene(
  "R15: processor: after an unanswered drain the session is left and accepted again without loss",
  async ({ peer, driver }) => {
    let silent = true;
    peer.hooks.drain = (held) => (silent ? undefined : held.drained());
    peer.put(entity, "a", "one");
    await driver.do("start", { entity, idle: 50, slots: 1 });
    await until("it is left", () => driver.told("closed").length === 1, 12000);
    await until("the broker has it back", () => peer.held.length === 0, 3000);
    silent = false;
    peer.put(entity, "a", "two");
    await completes(peer, driver, 2, 10000);
    assert.deepEqual(handled(driver), ["one", "two"]);
  },
);

scene(
  "processor: a renewal refused as lost ends the session, which is then accepted again",
  async ({ peer, driver }) => {
    peer.lock = 2000;
    let refusals = 1;
    peer.hooks.manage = (request) =>
      request.operation.endsWith("renew-session-lock") && refusals-- > 0
        ? { status: 410, description: "gone", errorCondition: "com.microsoft:session-lock-lost" }
        : undefined;
    peer.put(entity, "a", "one");
    await driver.do("start", { entity, takes: 3000, slots: 1 });
    await until("it is lost", () => driver.told("closed").length >= 1, 9000);
    assert.equal(driver.told("closed")[0].why, "lock_lost");
    await completes(peer, driver, 1, 12000);
  },
);

scene(
  "R18: processor: stops in bounded time while accepts and drains are unanswered",
  async ({ peer, driver }) => {
    peer.hooks.ask = (ask) => peer.asks.length === 1;
    peer.hooks.drain = () => {};
    peer.put(entity, "a", "one");
    await driver.do("start", { entity, slots: 3, idle: 60000 });
    await until("handled", () => peer.completed(entity).length === 1);
    const stop = await driver.ask("stop", { of: "p", timeout: 2000 });
    assert.ok(stop.ms < 3000, `${stop.ms}`);
    await until(
      "the broker has all back",
      () => peer.held.length === 0 && peer.asks.slice(1).every((ask) => ask.left),
      4000,
    );
  },
);

scene(
  "processor: a failing handler releases later messages before its own",
  async ({ peer, driver }) => {
    peer.put(entity, "a", "throw-0", "a-1", "a-2");
    let throws = 0;
    peer.on("settled", (entry) => {
      if (entry.outcome === "modified") ++throws;
      if (throws === 2) peer.messages[0].body = "ok-0";
    });
    await driver.do("start", { entity, prefetch: 3, slots: 1 });
    await completes(peer, driver, 3);
    const order = handled(driver).map((body) => body.replace(/^(throw|ok)-0$/, "a-0"));
    assert.deepEqual(
      order.filter((body, index) => order.indexOf(body) === index),
      ["a-0", "a-1", "a-2"],
    );
    assert.equal(order.indexOf("a-1"), order.lastIndexOf("a-0") + 1);
  },
);
