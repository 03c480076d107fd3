// Azure's JavaScript client at the same work. Prints one line of JSON.
//   node peer.mjs steady QUEUE SESSIONS MESSAGES     SESSIONS receivers at once, each with a handler that does nothing
//   node peer.mjs rolling QUEUE SLOTS SESSIONS       SLOTS loops: accept the next session, receive its one message, complete, close
//   node peer.mjs latency QUEUE MESSAGES             one session; each message's body is the instant of its sending in microseconds of Unix time
//   node peer.mjs waiting QUEUE SESSIONS             holds SESSIONS sessions with nothing to do and says what that took
import { ServiceBusClient } from "@azure/service-bus";

const [mode, queue, ...counts] = process.argv.slice(2);
const [first, second] = counts.map(Number);
const client = new ServiceBusClient(process.env.SESSIONQ_CONNECTION);
const seconds = () => performance.now() / 1000;
const microseconds = () => (performance.timeOrigin + performance.now()) * 1000;
const percentile = (sorted, share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];

function say(figures) {
  console.log(JSON.stringify(figures));
  process.exit(0);
}

async function steady(sessions, messages) {
  let left = messages;
  let began;
  const receivers = await Promise.all(Array.from({ length: sessions }, () => client.acceptNextSession(queue)));
  await new Promise((done) => {
    for (const receiver of receivers) {
      receiver.subscribe(
        {
          processMessage: async (message) => {
            began ??= seconds();
            await receiver.completeMessage(message);
            if (--left === 0) done();
          },
          processError: async (args) => { console.error(args.error.message); process.exit(1); },
        },
        { autoCompleteMessages: false, maxConcurrentCalls: 1 },
      );
    }
  });
  say({ seconds: seconds() - began });
}

async function rolling(slots, sessions) {
  let left = sessions;
  let began;
  const gaps = [];
  const slot = async () => {
    let ended;
    while (left > 0) {
      const receiver = await client.acceptNextSession(queue);
      const [message] = await receiver.receiveMessages(1);
      const now = seconds();
      began ??= now;
      if (ended !== undefined) gaps.push((now - ended) * 1e6);
      ended = seconds();
      await receiver.completeMessage(message);
      await receiver.close();
      if (--left === 0) {
        gaps.sort((a, b) => a - b);
        say({ seconds: seconds() - began, p50: percentile(gaps, 0.5), p99: percentile(gaps, 0.99) });
      }
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
          say({ p50: percentile(taken, 0.5), p99: percentile(taken, 0.99), p999: percentile(taken, 0.999) });
        }
      },
      processError: async (args) => { console.error(args.error.message); process.exit(1); },
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

await { steady, rolling, latency, waiting }[mode](first, second);
