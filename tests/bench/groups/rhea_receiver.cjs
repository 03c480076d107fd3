// npm's rhea: one receiver that accepts each message.
//   node rhea_receiver.cjs PORT USER PASSWORD QUEUE MESSAGES CREDIT
const rhea = require("rhea");
const [port, username, password, queue, messages, credit] = process.argv.slice(2);
const connection = rhea.connect({ host: "127.0.0.1", port, username, password, reconnect: false });
connection.open_receiver({ source: queue, credit_window: Number(credit), autoaccept: true });
let count = 0;
let first;
connection.on("message", () => {
  if (count++ === 0) first = process.hrtime.bigint();
  if (count === Number(messages)) {
    console.log((Number(process.hrtime.bigint() - first) / 1e9).toFixed(6));
    setTimeout(() => process.exit(0), 200);
  }
});
