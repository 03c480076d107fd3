// SPDX-License-Identifier: MIT
// Rights: rejected, unanswered, expiring, revoked.
import assert from "node:assert/strict";
import { entity, scene, sleep, until } from "./scene.mjs";

const refused = {
  status: 401,
  description: "InvalidSignature: The token has an invalid signature.",
  errorCondition: "amqp:unauthorized-access",
};

scene(
  "a rejected token makes calls unauthorized, and the next call requests a new one",
  async ({ peer, driver }) => {
    peer.hooks.token = () => refused;
    for (const [what, data] of [
      ["accept", { entity }],
      ["send", { entity, bodies: ["x"], session: "a" }],
      ["peek", { entity }],
      ["sessions", { entity }],
    ]) {
      const error = await driver.fails(what, data);
      assert.equal(error.error, "unauthorized", what);
      assert.equal(error.text, refused.description);
      assert.ok(!JSON.stringify(error).includes("sig="));
      assert.ok(error.ms < 2000);
    }
    peer.hooks.token = undefined;
    await driver.do("send", { entity, bodies: ["x"], session: "a" });
    assert.equal(peer.connectionCount, 1);
  },
);

scene(
  "with the entity in the connection string, connect itself reports a wrong key",
  async ({ peer, driver }) => {
    peer.hooks.token = () => refused;
    const error = await driver.fails("connect", {
      connection: `${peer.connection};EntityPath=${entity}`,
      operation_timeout: 5000,
    });
    assert.equal(error.error, "unauthorized");
    assert.ok(error.ms < 2000);
  },
  { connects: false },
);

scene(
  "an unanswered put-token ends at the deadline",
  async ({ peer, driver }) => {
    peer.hooks.token = () => false;
    const error = await driver.fails("connect", {
      connection: `${peer.connection};EntityPath=${entity}`,
      operation_timeout: 700,
    });
    assert.equal(error.error, "timeout");
    assert.ok(error.ms >= 600 && error.ms < 2000, `${error.ms}`);
  },
  { connects: false },
);

scene("a closed $cbs link is reopened", async ({ peer, driver }) => {
  let link;
  peer.on("sender", (receiver) => {
    if (receiver.remote.attach.target.address === "$cbs") link = receiver;
  });
  peer.hooks.token = () => {
    peer.hooks.token = undefined;
    link.close({ condition: "amqp:link:detach-forced", description: "idle" });
    return false;
  };
  const error = await driver.fails("accept", { entity, session: "a" });
  assert.equal(error.error, "connection_lost");
  await driver.do("accept", { entity, session: "a" });
  assert.equal(peer.connectionCount, 1);
});

scene(
  "rights that end under a lock: the loss is unauthorized, the next accept sends a new token",
  async ({ peer, driver }) => {
    await driver.do("accept", { entity, session: "a" });
    assert.equal(peer.tokens.length, 1);
    const waiting = driver.fails("receive", { of: "r", wait: 10000 });
    await sleep(50);
    peer
      .holder(entity, "a")
      .detach("amqp:unauthorized-access", "ExpiredToken: The token is expired.");
    assert.equal((await waiting).error, "unauthorized");
    await driver.do("accept", { entity, session: "a" });
    assert.equal(peer.tokens.length, 2);
  },
);

scene(
  "a processor without rights for a while reports it, retries at intervals, and goes on",
  async ({ peer, driver }) => {
    peer.hooks.token = () => refused;
    await driver.do("start", { entity, slots: 4 });
    await sleep(3000);
    assert.ok(
      peer.tokens.length >= 3 && peer.tokens.length <= 4 * 9,
      `${peer.tokens.length} tokens in three seconds`,
    );
    assert.ok(driver.told("error").every((each) => each.failure.error === "unauthorized"));
    await until("degraded", async () =>
      (await driver.do("describe", { of: "p" })).degraded.some((each) => each.includes("rejected")),
    );
    peer.hooks.token = undefined;
    peer.put(entity, "a", "one");
    await until("handled", () => peer.completed(entity).length === 1, 20000);
  },
);

const credential = (with_) => ({ connect: { credential: with_ }, connects: false });
const signIn = (peer, driver, with_) =>
  driver.do("connect", {
    connection: `Endpoint=sb://127.0.0.1:${peer.port};UseDevelopmentEmulator=true`,
    operation_timeout: 3000,
    credential: with_,
  });

scene(
  "a credential's token is sent as jwt; one serves the entity and its $management",
  async ({ peer, driver }) => {
    await signIn(peer, driver, { lasts: 3_600_000 });
    peer.put(entity, "a", "one");
    await driver.do("accept", { entity });
    await driver.do("renew", { of: "r" });
    assert.deepEqual(
      peer.tokens.map((each) => [each.properties.type, each.body]),
      Array(2).fill([
        ["string", "jwt"],
        ["string", "token-1"],
      ]),
    );
    assert.deepEqual(
      driver.told("token_asked").map((each) => each.scope),
      ["https://servicebus.azure.net/.default"],
    );
  },
  credential(),
);

scene(
  "a credential's token is renewed before it expires, and the session stays locked",
  async ({ peer, driver }) => {
    await signIn(peer, driver, { lasts: 3000 });
    await driver.do("accept", { entity, session: "a" });
    await sleep(5500);
    const put = peer.tokens.map((each) => each.at);
    assert.ok(put.length >= 3, `${put.length}`);
    for (let i = 1; i < put.length; ++i)
      assert.ok(
        put[i] - put[i - 1] < 3000,
        `${put[i] - put[i - 1]} ms between tokens that last 3000`,
      );
    assert.equal(await driver.do("loss", { of: "r" }), null);
  },
  credential(),
);

scene(
  "a credential that fails for a while is retried with backoff while the old token is valid",
  async ({ peer, driver }) => {
    await signIn(peer, driver, { lasts: 8000, fails_from: 2, fails_to: 3 });
    await driver.do("accept", { entity, session: "a" });
    await until("a new token", () => peer.tokens.length >= 2, 10000);
    assert.ok(peer.tokens[1].at - peer.tokens[0].at < 9500);
    assert.equal(await driver.do("loss", { of: "r" }), null);
    assert.ok(driver.told("token_asked").length >= 4 && driver.told("token_asked").length <= 6);
  },
  credential(),
);

scene(
  "a credential without a token is unauthorized, with its own error text",
  async ({ peer, driver }) => {
    await signIn(peer, driver, { fails_from: 1, fails_to: 1 });
    const error = await driver.fails("accept", { entity, session: "a" });
    assert.equal(error.error, "unauthorized");
    assert.match(error.detail, /no token today/);
    await driver.do("accept", { entity, session: "a" });
  },
  credential(),
);

scene(
  "a slow credential delays nobody else and is called by one call at a time",
  async ({ peer, driver }) => {
    await signIn(peer, driver, { delay: 6000 });
    const [first, second] = await Promise.all([
      driver.fails("accept", { entity, session: "a" }),
      driver.fails("accept", { entity, session: "b" }),
    ]);
    for (const error of [first, second]) {
      assert.equal(error.error, "timeout");
      assert.ok(error.ms >= 2500 && error.ms < 4500, `${error.ms}`);
    }
    assert.equal(driver.told("token_asked").length, 1);
    await until(
      "the token is used in the end",
      async () =>
        !(await driver.ask("accept", { entity, session: "a" }).catch(() => null))?.value
          ? false
          : true,
      12000,
    );
  },
  credential(),
);
