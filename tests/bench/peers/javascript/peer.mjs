// SPDX-License-Identifier: MIT
// Azure's JavaScript client at the same work. Prints one line of JSON.
//   node peer.mjs steady QUEUE SESSIONS WARM MESSAGES   SESSIONS receivers at once
//   node peer.mjs rolling QUEUE SLOTS WARM SESSIONS     SLOTS loops: accept the next session,
//                                                       receive and complete its message, close
//   node peer.mjs latency QUEUE MESSAGES                one session; each body is the send time in
//                                                       microseconds of Unix time
//   node peer.mjs waiting QUEUE SESSIONS                holds SESSIONS sessions without messages
//                                                       and prints their cost
// The first WARM messages or sessions are not timed. Messages are received by subscribing, as the
// client's documentation recommends. Batches of receiveMessages were not faster.
import { ServiceBusClient } from "@azure/service-bus";

const [mode, queue, ...counts] = process.argv.slice(2);
const client = new ServiceBusClient(process.env.SESSIONQ_CONNECTION);
const seconds = () => performance.now() / 1000;
const microseconds = () => (performance.timeOrigin + performance.now()) * 1000;
const percentile = (sorted, share) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

function say(figures) {
  console.log(JSON.stringify(figures));
  process.exit(0);
}

// Counts work. The clock runs from the last warm-up item to the last item. `figures` are printed
// with the result.
function counter(warm, timed, figures = () => ({})) {
  let done = 0;
  let began;
  return () => {
    if (++done === warm) began = seconds();
    else if (done === warm + timed) say({ seconds: seconds() - began, ...figures() });
  };
}

async function steady(sessions, warm, messages) {
  const one = counter(warm, messages);
  const receivers = await Promise.all(
    Array.from({ length: sessions }, () => client.acceptNextSession(queue)),
  );
  for (const receiver of receivers) {
    receiver.subscribe(
      {
        processMessage: async (message) => {
          await receiver.completeMessage(message);
          one();
        },
        processError: async (args) => {
          console.error(args.error.message);
          process.exit(1);
        },
      },
      { autoCompleteMessages: false, maxConcurrentCalls: 1 },
    );
  }
}

async function rolling(slots, warm, sessions) {
  const gaps = [];
  const one = counter(warm, sessions, () => {
    gaps.sort((a, b) => a - b);
    return {
      p50: percentile(gaps, 0.5),
      p99: percentile(gaps, 0.99),
      p999: percentile(gaps, 0.999),
    };
  });
  const slot = async () => {
    for (let ended; ;) {
      const receiver = await client.acceptNextSession(queue);
      const [message] = await receiver.receiveMessages(1);
      if (ended !== undefined) gaps.push((seconds() - ended) * 1e6);
      ended = seconds();
      await receiver.completeMessage(message);
      await receiver.close();
      one();
    }
  };
  await Promise.all(Array.from({ length: slots }, slot));
}

async function latency(messages) {
  const receiver = await client.acceptSession(queue, "one");
  const taken = [];
  receiver.subscribe(
    {
      processMessage: async (message) => {
        taken.push(microseconds() - Number(message.body.toString()));
        if (taken.length === messages) {
          taken.sort((a, b) => a - b);
          say({
            p50: percentile(taken, 0.5),
            p99: percentile(taken, 0.99),
            p999: percentile(taken, 0.999),
          });
        }
      },
      processError: async (args) => {
        console.error(args.error.message);
        process.exit(1);
      },
    },
    { autoCompleteMessages: true, maxConcurrentCalls: 1 },
  );
}

async function waiting(sessions) {
  global.gc?.();
  const before = process.memoryUsage().rss;
  const held = [];
  for (let i = 0; i < sessions; ++i) held.push(await client.acceptNextSession(queue));
  global.gc?.();
  say({ bytes: (process.memoryUsage().rss - before) / sessions });
}

await { steady, rolling, latency, waiting }[mode](...counts.map(Number));
