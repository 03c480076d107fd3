// SPDX-License-Identifier: MIT
// A scripted broker, and a sessionq application that follows a case's commands.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { Peer } from "./peer.mjs";

export const entity = "orders";

// A driver's answer with an error, as sessionq reported it.
export class Refused extends Error {
  constructor(answer) {
    super(`${answer.error}: ${answer.detail}`);
    Object.assign(this, answer);
  }
}

class Driver extends EventEmitter {
  constructor(program) {
    super();
    this.events = [];
    this.pending = new Map();
    this.last = 0;
    this.process = spawn(program, { stdio: ["pipe", "pipe", "inherit"] });
    this.ended = new Promise((resolve) =>
      this.process.on("exit", (code, signal) => resolve({ code, signal })),
    );
    this.ended.then(({ code, signal }) => {
      for (const { reject } of this.pending.values())
        reject(new Error(`the driver ended with ${code ?? signal}`));
      this.pending.clear();
    });
    createInterface(this.process.stdout).on("line", (line) => this.said(JSON.parse(line)));
  }
  said(what) {
    if (what.event) {
      this.events.push({ ...what, at: Date.now() });
      this.emit("event", what);
      return;
    }
    const { resolve, reject } = this.pending.get(what.id);
    this.pending.delete(what.id);
    "error" in what
      ? reject(new Refused(what))
      : resolve(Object.assign(new Answer(), { value: what.ok, ms: what.ms }));
  }
  // Returns the whole answer: {value, ms}.
  ask(what, data = {}) {
    const id = ++this.last;
    const answer = new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
    this.process.stdin.write(`${JSON.stringify({ id, do: what, with: data })}\n`);
    return answer;
  }
  async do(what, data) {
    return (await this.ask(what, data)).value;
  }
  // Returns the error of a call that must fail, and its duration.
  async fails(what, data) {
    try {
      await this.ask(what, data);
    } catch (error) {
      if (error instanceof Refused) return error;
      throw error;
    }
    assert.fail(`${what} did not fail`);
  }
  // Receives the given number of messages in any number of calls.
  async take(count, data = {}) {
    const taken = [];
    while (taken.length < count) {
      const more = await this.do("receive", {
        of: "r",
        max: count - taken.length,
        wait: 2000,
        ...data,
      });
      if (more.length === 0) assert.fail(`${taken.length} of ${count} messages came`);
      taken.push(...more);
    }
    return taken;
  }
  told(event) {
    return this.events.filter((each) => each.event === event);
  }
  async quit() {
    this.process.stdin.end();
    const late = setTimeout(() => this.process.kill("SIGKILL"), 15000);
    const how = await this.ended;
    clearTimeout(late);
    return how;
  }
}
class Answer {}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export async function until(what, holds, ms = 8000) {
  const end = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > end) assert.fail(`never came: ${what}`);
    await sleep(5);
  }
}

// ends the process despite timers of former peers
after(() => setTimeout(() => process.exit(), 300).unref());

// One case. `play` gets a peer, helpers, and a driver, which is connected to the peer unless
// `connects` is false. Both must end well, and the peer must have no complaint about a frame.
export function scene(
  title,
  play,
  { connects = true, peerOptions, connect = {}, complaints = false } = {},
) {
  test(title, { timeout: 60000 }, async () => {
    const peer = await Peer.start(peerOptions);
    const driver = new Driver(process.env.SESSIONQ_RHEA_DRIVER);
    try {
      if (connects)
        await driver.do("connect", {
          connection: peer.connection,
          operation_timeout: 5000,
          ...connect,
        });
      await play({ peer, driver });
      const how = await driver.quit();
      assert.deepEqual(how, { code: 0, signal: null }, "the driver's end");
      if (!complaints) assert.deepEqual(peer.errors.map(String), [], "the peer's complaints");
    } finally {
      driver.process.kill("SIGKILL");
      await peer.stop();
    }
  });
}
