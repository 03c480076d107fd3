// SPDX-License-Identifier: MIT
// The same over WebSockets. The other side's AMQP and WebSocket libraries are not ours.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Gateway, path, protocol, shapes, unavailable } from "./gateway.mjs";
import { entity, scene, sleep, until } from "./scene.mjs";

// A scene whose driver connects through a gateway with `connection`.
function through(title, play, { connects = true, ...options } = {}) {
  if (unavailable) {
    test(title, { skip: unavailable }, () => {});
    return;
  }
  scene(
    `web socket: ${title}`,
    async ({ peer, driver }) => {
      const gateway = await Gateway.start(peer);
      try {
        if (connects)
          await driver.do("connect", {
            connection: `${gateway.place};TransportType=AmqpWebSockets`,
            operation_timeout: 5000,
          });
        await play({ peer, driver, gateway });
        assert.equal(gateway.texts, 0, "text messages");
        await driver.do("disconnect");
      } finally {
        await gateway.stop();
      }
    },
    { ...options, connects: false },
  );
}

const bodiesOf = (count, start = 0) => Array.from({ length: count }, (_, i) => `m${start + i}`);

through(
  "the client's request is the one the service expects",
  async ({ peer, driver, gateway }) => {
    const [request] = gateway.requests;
    assert.equal(request.url, path);
    assert.equal(request.headers["sec-websocket-protocol"], `amqp, ${protocol}`);
    assert.equal(request.headers["sec-websocket-version"], "13");
    assert.equal(request.headers.host, `127.0.0.1:${gateway.server.address().port}`);
    await driver.do("accept", { entity, session: "a" });
    await driver.do("connect", {
      connection: gateway.place,
      transport: "web_sockets",
      operation_timeout: 5000,
    });
    await driver.do("accept", { entity, session: "b", as: "other" });
    assert.equal(gateway.requests.length, 2);
    assert.equal(peer.held.length, 2);
    await driver.do("close", { of: "other" });
  },
);

for (const [name, shape] of Object.entries(shapes)) {
  through(`a session is consumed, settled and kept: ${name}`, async ({ peer, driver, gateway }) => {
    gateway.shape = shape;
    peer.put(entity, "a", ...bodiesOf(30));
    await driver.do("accept", { entity });
    const messages = await driver.take(30);
    assert.deepEqual(
      messages.map((each) => each.body),
      bodiesOf(30),
    );
    for (const message of messages.slice(0, 28))
      await driver.do("settle", { message: message.handle, how: "complete" });
    await driver.do("settle", { message: messages[28].handle, how: "abandon" });
    await driver.do("settle", { message: messages[29].handle, how: "dead_letter", reason: "no" });
    assert.deepEqual(peer.completed(entity), bodiesOf(28));
    const [again] = await driver.take(1);
    assert.deepEqual([again.body, again.count], ["m28", 1]);
    await driver.do("set_state", { of: "r", value: "half done" });
    assert.equal(await driver.do("state", { of: "r" }), "half done");
    await driver.do("renew", { of: "r" });
    await driver.do("close", { of: "r" });
    assert.equal(peer.held.length, 0);
    assert.equal(peer.connectionCount, 1);
    if (name.includes("pings"))
      await until(
        "pongs",
        () => gateway.pongs.length > 30 && gateway.pongs.every((text) => text === "between"),
      );
  });
}

through("messages larger than any buffer pass both ways", async ({ peer, driver }) => {
  const large = "x".repeat(200_000);
  await driver.do("send", { entity, session: "a", bodies: [large] });
  assert.ok(peer.sent[0].bytes.length > large.length);
  peer.put(entity, "a", large);
  await driver.do("accept", { entity });
  const [message] = await driver.take(1);
  assert.equal(message.body, large);
  await driver.do("settle", { message: message.handle, how: "complete" });
});

through(
  "pings are answered with their own bytes while messages arrive",
  async ({ peer, driver, gateway }) => {
    await driver.do("accept", { entity, session: "a" });
    for (let i = 0; i < 5; ++i) {
      gateway.ping(`ping ${i}`);
      peer.put(entity, "a", `m${i}`);
    }
    assert.deepEqual(
      (await driver.take(5)).map((each) => each.body),
      bodiesOf(5),
    );
    await until("pongs", () => gateway.pongs.length === 5);
    assert.deepEqual(gateway.pongs, ["ping 0", "ping 1", "ping 2", "ping 3", "ping 4"]);
  },
);

for (const [name, code] of [
  ["without a close", undefined],
  ["with a normal close", 1001],
  ["with an error close", 1011],
]) {
  through(
    `its end ${name} under a lock: the loss is reported, and the next accept reconnects`,
    async ({ peer, driver, gateway }) => {
      peer.put(entity, "a", "one", "two");
      await driver.do("accept", { entity });
      const [one] = await driver.take(2);
      await driver.do("settle", { message: one.handle, how: "complete" });
      const waiting = driver.fails("receive", { of: "r", wait: 10000 });
      await sleep(50);
      gateway.cut(code);
      const loss = await waiting;
      assert.equal(loss.error, "connection_lost");
      assert.ok(loss.ms < 3000, `${loss.ms}`);
      await until("the session is free", () => peer.held.length === 0);
      await driver.do("accept", { entity });
      const [two] = await driver.take(1);
      assert.equal(two.body, "two");
      await driver.do("settle", { message: two.handle, how: "complete" });
      assert.deepEqual(peer.completed(entity), ["one", "two"]);
      assert.equal(gateway.requests.length, 2);
    },
    { complaints: true },
  );

  through(
    `the end of it ${name}, under a processor: it comes back and handles every message, in order`,
    async ({ peer, driver, gateway }) => {
      for (const session of ["a", "b"]) peer.put(entity, session, ...bodiesOf(20));
      await driver.do("start", { entity, takes: 10 });
      for (const enough of [5, 15]) {
        await until(`${enough} are done`, () => peer.settled.length >= enough);
        gateway.cut(code);
      }
      await until("all are completed", () => peer.completed(entity).length === 40);
      for (const session of ["a", "b"]) {
        const done = peer.settled
          .filter((each) => each.session === session && each.outcome === "accepted")
          .map((each) => each.body);
        assert.deepEqual(done, bodiesOf(20));
      }
      await driver.do("stop", { of: "p" });
      assert.ok(gateway.requests.length >= 3);
    },
    { complaints: true },
  );
}

through(
  "an HTTP refusal and an invalid answer are clear errors, in time",
  async ({ driver, gateway }) => {
    const connection = `${gateway.place};TransportType=AmqpWebSockets`;
    for (const refusal of ["401 Unauthorized", "404 Not Found", "503 Service Unavailable"]) {
      gateway.refusal = refusal;
      const error = await driver.fails("connect", { connection, operation_timeout: 3000 });
      assert.equal(error.error, "connection_refused");
      assert.ok(error.detail.includes(refusal), error.detail);
      assert.ok(error.ms < 5000, `${error.ms}`);
    }
    gateway.refusal = undefined;
    gateway.answers = false; // accepts no subprotocol
    const error = await driver.fails("connect", { connection, operation_timeout: 3000 });
    assert.ok(error.detail.includes(protocol), error.detail);
    gateway.answers = protocol;
    const contradicted = await driver.fails("connect", {
      connection: `${gateway.place};TransportType=Amqp`,
      transport: "web_sockets",
    });
    assert.equal(contradicted.error, "invalid_option");
    await driver.do("connect", { connection, operation_timeout: 3000 });
  },
  { connects: false },
);
