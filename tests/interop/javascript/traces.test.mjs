// SPDX-License-Identifier: MIT
// Azure's JavaScript client traces by itself, here with an instrumenter that counts spans. Its
// trace goes on in a sessionq handler (trace_relay) and from there back to the client.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, describe, test } from "node:test";
import { useInstrumenter } from "@azure/core-tracing";
import { ServiceBusClient } from "@azure/service-bus";

const connection = process.env.SESSIONQ_CONNECTION;
const client = new ServiceBusClient(connection);
const traceId = "0af7651916cd43dd8448eb211c80319c";
const parsed = []; // what the client found in messages
let spans = 0;

class Context {
  constructor(values = new Map()) {
    this.values = values;
  }
  getValue(key) {
    return this.values.get(key);
  }
  setValue(key, value) {
    return new Context(new Map(this.values).set(key, value));
  }
  deleteValue(key) {
    const values = new Map(this.values);
    values.delete(key);
    return new Context(values);
  }
}
const header = Symbol("traceparent");
useInstrumenter({
  startSpan: (name, { tracingContext }) => {
    const id = String(++spans).padStart(16, "0");
    const span = {
      isRecording: () => true,
      setAttribute: () => {},
      setStatus: () => {},
      recordException: () => {},
      addEvent: () => {},
      end: () => {},
    };
    const context = tracingContext ?? new Context();
    return { span, tracingContext: context.setValue(header, `00-${traceId}-${id}-01`) };
  },
  withContext: (context, callback, ...rest) => callback(...rest),
  parseTraceparentHeader: (traceparent) => {
    parsed.push(traceparent);
    return undefined;
  },
  createRequestHeaders: (context) => ({ traceparent: context?.getValue(header) }),
});

after(async () => {
  await Promise.race([client.close(), new Promise((done) => setTimeout(done, 3000).unref())]);
  setTimeout(() => process.exit(), 500).unref();
});

async function startRelay(from, to) {
  const relay = spawn(process.env.SESSIONQ_TRACE_RELAY, [from, to], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: relay.stdout });
  const [first] = await once(lines, "line");
  assert.equal(first, "ready");
  return relay;
}

describe("@azure/service-bus, traces", () => {
  test("a trace of the client goes through a handler of sessionq and back", async () => {
    const [from, to] = ["s79", "s78"];
    const relay = await startRelay(from, to);
    const sender = client.createSender(from);
    // Its own tracing writes Diagnostic-Id. OpenTelemetry's instrumentations write traceparent.
    await sender.sendMessages({ sessionId: "own", body: "own" });
    const w3c = `00-${traceId}-b7ad6b7169203331-01`;
    await sender.sendMessages({
      sessionId: "w3c",
      body: "w3c",
      applicationProperties: { traceparent: w3c, tracestate: "a=1", "Diagnostic-Id": w3c },
    });
    const got = {};
    for (const session of ["own", "w3c"]) {
      const receiver = await client.acceptSession(to, session);
      const processed = new Promise((done, failed) =>
        receiver.subscribe(
          { processMessage: async (message) => done(message), processError: failed },
          { autoCompleteMessages: true },
        ),
      );
      const message = await processed;
      got[session] = { ...message.applicationProperties, ...message.body }; // it parses JSON
      await receiver.close();
    }
    relay.stdin.end();
    const [status] = await once(relay, "exit");
    assert.equal(status, 0);
    assert.ok(spans > 0);
    assert.equal(got.own.body, JSON.stringify("own"));
    assert.match(got.own.sent, new RegExp(`^00-${traceId}-0{8}[0-9]{8}-01$`));
    assert.equal(got.w3c.sent, w3c);
    assert.equal(got.w3c.tracestate, "a=1");
    for (const each of Object.values(got)) {
      const { sent, handler, traceparent } = each;
      const diagnosticId = each["Diagnostic-Id"];
      assert.equal(handler.slice(3, 35), traceId); // a span of the same trace
      assert.notEqual(handler, sent);
      assert.equal(traceparent.slice(3, 35), traceId); // and what it sent, another one
      assert.notEqual(traceparent, handler);
      assert.equal(diagnosticId, traceparent);
      assert.ok(parsed.includes(diagnosticId)); // the client's own tracing read it
    }
  });
});
