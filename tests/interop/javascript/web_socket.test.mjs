// SPDX-License-Identifier: MIT
// The same client over WebSockets with TLS, as Service Bus serves them.
// SESSIONQ_WEB_SOCKET_CONNECTION names the broker.
import assert from "node:assert/strict";
import { describe } from "node:test";
import { ServiceBusClient } from "@azure/service-bus";
import WebSocket from "ws";
import { test } from "./runner.mjs";

const connection = process.env.SESSIONQ_WEB_SOCKET_CONNECTION;

describe(
  "@azure/service-bus over WebSockets",
  { skip: connection === undefined && "only beside TLS" },
  () => {
    test("send, accept the next session, renew, set state, complete; a large message", async () => {
      const client = new ServiceBusClient(connection, {
        webSocketOptions: { webSocket: WebSocket },
      });
      const sender = client.createSender("s79");
      const large = "x".repeat(200000);
      await sender.sendMessages([{ sessionId: "a", body: "one" }]);
      await sender.sendMessages({ sessionId: "a", body: large });
      const receiver = await client.acceptNextSession("s79");
      assert.equal(receiver.sessionId, "a");
      assert.ok((await receiver.renewSessionLock()) > new Date());
      await receiver.setSessionState("step");
      assert.equal(String(await receiver.getSessionState()), "step");
      const bodies = [];
      while (bodies.length < 2) {
        for (const message of await receiver.receiveMessages(2)) {
          bodies.push(message.body);
          await receiver.completeMessage(message);
        }
      }
      assert.deepEqual(bodies, ["one", large]);
      await receiver.close();
      await client.close();
    });
  },
);
