// SPDX-License-Identifier: MIT
// Runs the cases of the suite javascript, without those that version 7.0 cannot do.
import { test as run } from "node:test";

const skips = {
  "accept times out if there is no session":
    "does not send its timeout, so the broker waits a minute",
  "accepting a session of a queue without sessions says so": "loses the broker's reason",
  "a scheduled message has its state": "its messages have no state",
  "a redriven message is received as it was sent": "sends and shows no sections",
  "rules are listed, added and removed, and apply from then on": "has no rule manager",
};

export const test = (name, body) => run(name, { skip: skips[name] ?? false }, body);
