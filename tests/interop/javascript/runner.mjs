// SPDX-License-Identifier: MIT
// The suite javascript7 replaces this file with one that skips cases.
export { test } from "node:test";
