// SPDX-License-Identifier: MIT
// A scripted broker on an AMQP library that is not ours. It records the client's frames as they
// were on the wire, answers like Azure Service Bus, and departs from that where a case sets a hook.
import { EventEmitter, once } from "node:events";
import { createRequire } from "node:module";
import { randomBytes } from "node:crypto";

const rhea = createRequire(import.meta.url)("rhea");
const { types, message: codec } = rhea;

export const batchFormat = 0x80013700;
export const keyName = "RootManageSharedAccessKey";
export const key = "SAS_KEY_VALUE";

// Messages keep their bytes, because the library does not distinguish all types.
const decode = codec.decode;
codec.decode = (buffer) => Object.assign(decode(buffer), { bytes: buffer });

const widths = {
  0x40: "null",
  0x41: "boolean",
  0x42: "boolean",
  0x56: "boolean",
  0x50: "ubyte",
  0x60: "ushort",
  0x70: "uint",
  0x52: "uint",
  0x43: "uint",
  0x80: "ulong",
  0x53: "ulong",
  0x44: "ulong",
  0x51: "byte",
  0x61: "short",
  0x71: "int",
  0x54: "int",
  0x81: "long",
  0x55: "long",
  0x83: "timestamp",
  0x98: "uuid",
  0xa0: "binary",
  0xb0: "binary",
  0xa1: "string",
  0xb1: "string",
  0xa3: "symbol",
  0xb3: "symbol",
  0x45: "list",
  0xc0: "list",
  0xd0: "list",
  0xc1: "map",
  0xd1: "map",
  0xe0: "array",
  0xf0: "array",
  0x82: "double",
};

// A value with its types: [type, value]. A map becomes an array of [key, value], both with types.
export function typed(value) {
  if (value === undefined || value === null || value.type === undefined) return ["null", null];
  const type = widths[value.type.typecode];
  let plain = value.value;
  if (type === "map") {
    plain = [];
    for (let i = 0; i + 1 < value.value.length; i += 2)
      plain.push([typed(value.value[i]), typed(value.value[i + 1])]);
  } else if (type === "list") {
    plain = value.value.map(typed);
  } else if (type === "array") {
    plain = {
      of: widths[value.array_constructor.typecode],
      items: value.value.map((item) => item.value),
    };
  } else if (type === "timestamp") {
    plain = Number(value.value);
  }
  return value.descriptor
    ? ["described", Number(value.descriptor.value), [type, plain]]
    : [type, plain];
}

// The sections of an encoded message by the last byte of their descriptors, with types.
export function sectionsOf(bytes) {
  const reader = new types.Reader(bytes);
  const sections = {};
  while (reader.remaining() > 0) {
    const section = reader.read();
    const code = Number(section.descriptor.value);
    const [, , held] = typed(section);
    (sections[code] ??= []).push(held);
  }
  return sections;
}

// Converts a typed map with string or symbol keys to {name: [type, value]}. `keys` says which of
// the two.
export function fieldsOf([type, entries], keys = "string") {
  if (type !== "map") throw new Error(`a ${type} in place of a map`);
  const fields = {};
  for (const [[keyType, name], value] of entries) {
    if (keyType !== keys) throw new Error(`the key '${name}' is a ${keyType}`);
    fields[name] = value;
  }
  return fields;
}

const uuidText = (bytes) =>
  bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
const ticksOf = (ms) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(ms) * 10000n + 621355968000000000n);
  return types.wrap_long(bytes);
};
const long = (value) => types.Long(value);
const condition = (name, description = "as the script says") => ({ condition: name, description });

// One message of an entity.
class Stored {
  constructor(session, body, sequence, enqueued) {
    Object.assign(this, { session, body, sequence, enqueued, count: 0, state: "waiting" });
  }
  encoded(lockToken) {
    const made = {
      durable: true,
      delivery_count: this.count,
      message_annotations: {
        "x-opt-sequence-number": long(this.sequence),
        "x-opt-enqueued-time": types.wrap_timestamp(this.enqueued),
        "x-opt-locked-until": types.wrap_timestamp(Date.now() + 30000),
      },
      message_id: `m${this.sequence}`,
      group_id: this.session,
      body: codec.data_section(Buffer.from(this.body)),
    };
    if (lockToken) made.delivery_annotations = { "x-opt-lock-token": types.wrap_uuid(lockToken) };
    return codec.encode(made);
  }
}

// A client's request for a session. One of the functions answers it, now or later.
class Ask {
  constructor(peer, link) {
    const { source, properties } = link.remote.attach;
    Object.assign(this, { peer, link, at: Date.now(), answered: false, left: false });
    this.entity = source.address;
    this.filter = fieldsOf(typed(source.value[7]), "symbol")["com.microsoft:session-filter"];
    this.named = this.filter?.[0] === "string" ? this.filter[1] : null;
    this.wait = properties?.["com.microsoft:timeout"];
    this.raw = link.remote.attach;
  }

  // Grants the session. Fields of `other` replace those of the attach; undefined ones are left out.
  grant(session, other = {}) {
    const { link } = this;
    const asked = link.remote.attach;
    this.answered = true;
    this.session = session;
    const filter = { "com.microsoft:session-filter": other.filter ?? types.wrap_string(session) };
    link.set_source({ address: asked.source.address, filter });
    link.set_target({ address: asked.target.address });
    link.local.attach.snd_settle_mode = asked.snd_settle_mode;
    link.local.attach.rcv_settle_mode = asked.rcv_settle_mode;
    link.local.attach.max_message_size = 262144;
    link.local.attach.initial_delivery_count = 0;
    if (!("properties" in other)) {
      link.local.attach.properties = {
        "com.microsoft:locked-until-utc": ticksOf(this.peer.now() + this.peer.lock),
      };
    }
    link.open();
    const held = new Held(this.peer, link, session, asked.snd_settle_mode === 1);
    this.peer.held.push(held);
    this.peer.emit("held", held);
    return held;
  }

  // Refuses like a broker: an attach without termini, then a detach.
  refuse(name, description) {
    this.answered = true;
    this.link.open();
    this.link.close(name ? condition(name, description) : undefined);
  }
}

// A session that a client holds.
class Held {
  constructor(peer, link, session, removes) {
    Object.assign(this, {
      peer,
      link,
      session,
      removes,
      entity: link.remote.attach.source.address,
      out: new Map(),
      over: false,
      drains: 0,
      at: Date.now(),
    });
    link.on("sender_flow", () => this.deliver());
    link.on("sender_draining", () => {
      ++this.drains;
      peer.hooks.drain ? peer.hooks.drain(this) : this.drained();
    });
    for (const name of ["accepted", "rejected", "released", "modified"]) {
      link.on(name, ({ delivery }) => this.settled(name, delivery));
    }
    link.on("settled", ({ delivery }) => this.done(delivery));
    const leave = () => this.leave();
    link.on("sender_close", leave);
    link.session.on("session_close", leave);
    link.connection.on("disconnected", leave);
    link.connection.on("connection_close", leave);
  }
  deliver() {
    if (this.over || this.peer.hooks.deliver?.(this) === false) return;
    for (const message of this.peer.messages) {
      if (this.link.credit - this.unsent() <= 0) return;
      if (
        message.state === "waiting" &&
        message.entity === this.entity &&
        message.session === this.session
      )
        this.send(message);
    }
  }
  unsent() {
    return (
      this.link.session.outgoing.next_delivery_id - this.link.session.outgoing.next_pending_delivery
    );
  }
  send(message) {
    const tag = randomBytes(16);
    message.state = this.removes ? "completed" : "locked";
    if (this.removes)
      this.peer.settled.push({ outcome: "removed", body: message.body, session: message.session });
    const delivery = this.link.send(message.encoded(), tag, 0);
    if (this.removes) delivery.settled = true;
    else this.out.set(delivery.id, message);
  }
  drained() {
    this.link.set_drained(true);
    this.link.connection._register();
  }
  settled(name, delivery) {
    const message = this.out.get(delivery.id);
    if (!message) return;
    const entry = {
      outcome: name,
      body: message.body,
      session: this.session,
      count: message.count,
      at: Date.now(),
      settledByClient: Boolean(delivery.remote_settled),
      raw: delivery.remote_state,
    };
    this.peer.settled.push(entry);
    this.peer.emit("settled", entry, this);
    if (this.peer.hooks.settle?.(entry, delivery, this) === false) return;
    this.carryOut(name, message, delivery.remote_state);
    this.out.delete(delivery.id);
    const answers = {
      accepted: codec.accepted(),
      rejected: codec.rejected({}),
      released: codec.released(),
      modified: codec.modified({}),
    };
    delivery.update(true, answers[name].described());
    this.deliver();
  }
  carryOut(name, message, state) {
    if (name === "accepted" || name === "rejected")
      message.state = name === "accepted" ? "completed" : "dead";
    else if (name === "modified" && state.undeliverable_here) message.state = "deferred";
    else {
      message.state = "waiting";
      message.count += name === "modified" ? 1 : 0;
    }
  }
  refuseSettlement(delivery, name) {
    this.out.delete(delivery.id);
    delivery.update(
      true,
      codec.rejected({ error: condition(name, "The lock supplied is invalid.") }).described(),
    );
  }
  done() {}
  // Makes unsettled messages available again.
  leave() {
    if (this.over) return;
    this.over = true;
    this.leftAt = Date.now();
    for (const message of this.out.values())
      if (message.state === "locked") message.state = "waiting";
    this.out.clear();
    this.peer.held = this.peer.held.filter((each) => each !== this);
    this.peer.emit("left", this);
    this.peer.serveWaiting();
  }
  // Ends the link as the broker does after a lost lock, or with the error `name`; without a name
  // there is no error.
  detach(name, description) {
    this.link.close(name ? condition(name, description) : undefined);
    this.leave();
  }
}

export class Peer extends EventEmitter {
  static async start(options = {}) {
    const peer = new Peer();
    Object.assign(peer, {
      hooks: {},
      messages: [],
      held: [],
      asks: [],
      waiting: [],
      settled: [],
      sent: [],
      tokens: [],
      requests: [],
      connections: [],
      states: new Map(),
      lock: 30000,
      ahead: 0,
      lastSequence: 0,
      connectionCount: 0,
      errors: [],
    });
    peer.container = rhea.create_container({ id: "scripted-peer", non_fatal_errors: [] });
    peer.container.sasl_server_mechanisms.enable_anonymous();
    peer.listen(options);
    peer.server = peer.container.listen({
      port: options.port ?? 0,
      host: "127.0.0.1",
      max_frame_size: 65536,
      channel_max: 4999,
      idle_time_out: options.idleTimeOut,
      sender_options: { autosettle: false, treat_modified_as_released: false },
      receiver_options: { autoaccept: false, credit_window: 0 },
    });
    peer.server.on("connection", (socket) => {
      ++peer.connectionCount;
      peer.emit("socket", socket);
    });
    await once(peer.server, "listening");
    peer.port = peer.server.address().port;
    peer.connection =
      `Endpoint=sb://127.0.0.1:${peer.port};` +
      `SharedAccessKeyName=${keyName};SharedAccessKey=${key};UseDevelopmentEmulator=true`;
    return peer;
  }

  // Ends a connection abruptly.
  cut(connection) {
    connection.socket.destroy();
    connection.dispatch("disconnected", connection._context());
  }

  // The broker's clock, which may be ahead of the client's.
  now() {
    return Date.now() + this.ahead;
  }

  async stop() {
    this.stopping = true;
    const closed = once(this.server, "close");
    this.server.close();
    for (const connection of this.connections) connection.socket?.destroy();
    await closed;
  }

  listen() {
    const { container } = this;
    container.on("connection_open", ({ connection }) => {
      this.connections.push(connection);
      this.emit("open", connection);
    });
    const gone = ({ connection }) => {
      this.connections = this.connections.filter((each) => each !== connection);
      this.emit("gone", connection);
    };
    container.on("disconnected", gone);
    container.on("connection_close", gone);
    container.on("error", (error) => this.errors.push(error));
    container.on("protocol_error", (error) => this.errors.push(error));
    for (const name of [
      "connection_error",
      "session_error",
      "sender_error",
      "receiver_error",
      "session_open",
      "session_close",
      "sender_close",
      "receiver_close",
      "settled",
      "accepted",
      "released",
      "rejected",
      "modified",
      "sender_flow",
      "receiver_flow",
      "sendable",
      "sender_draining",
    ]) {
      container.on(name, () => {});
    }
    container.on("sender_open", ({ sender }) => this.openedForReceiver(sender));
    container.on("receiver_open", ({ receiver }) => this.openedForSender(receiver));
    container.on("message", (context) => this.arrived(context));
  }

  // rhea has recorded its answer to the attach but not sent it. This takes it back until it is
  // wanted.
  withhold(link) {
    link.state.local_open = false;
    link.state.open_requests = 0;
  }

  openedForReceiver(link) {
    const address = link.remote.attach.source?.address;
    if (address === "$cbs" || address?.endsWith("/$management")) {
      link.set_source({ address });
      link.set_target({ address: link.remote.attach.target.address });
      if (this.hooks.openNode?.(address, link) === false) this.withhold(link);
      return;
    }
    this.withhold(link);
    const ask = new Ask(this, link);
    this.asks.push(ask);
    const left = () => {
      ask.left = true;
      this.waiting = this.waiting.filter((each) => each !== ask);
      this.emit("gaveUp", ask);
    };
    link.once("sender_close", left);
    link.session.once("session_close", left);
    this.emit("ask", ask);
    if (this.hooks.ask && this.hooks.ask(ask) !== true) return; // true: use the default after all
    this.serve(ask);
  }

  // The default: a named session if it is free, else one with messages, else a wait.
  serve(ask) {
    if (ask.named !== null) {
      if (this.holder(ask.entity, ask.named))
        ask.refuse(
          "com.microsoft:session-cannot-be-locked",
          `The requested session '${ask.named}' cannot be accepted.`,
        );
      else ask.grant(ask.named);
      return;
    }
    const session = this.nextSession(ask.entity);
    if (session !== undefined) {
      ask.grant(session);
      return;
    }
    this.waiting.push(ask);
    setTimeout(() => {
      if (ask.answered || ask.left || this.stopping) return;
      this.waiting = this.waiting.filter((each) => each !== ask);
      ask.refuse(
        "com.microsoft:timeout",
        "The operation did not complete within the allotted timeout.",
      );
    }, ask.wait ?? 65000);
  }
  serveWaiting() {
    for (const ask of [...this.waiting]) {
      const session = this.nextSession(ask.entity);
      if (session === undefined || ask.answered || ask.left) continue;
      this.waiting = this.waiting.filter((each) => each !== ask);
      ask.grant(session);
    }
  }
  holder(entity, session) {
    return this.held.find((each) => each.entity === entity && each.session === session);
  }
  nextSession(entity) {
    return this.messages.find(
      (each) =>
        each.entity === entity && each.state === "waiting" && !this.holder(entity, each.session),
    )?.session;
  }

  put(entity, session, ...bodies) {
    for (const body of bodies) {
      this.messages.push(
        Object.assign(new Stored(session, body, ++this.lastSequence, this.now()), { entity }),
      );
    }
    const holder = this.holder(entity, session);
    if (holder) holder.deliver();
    this.serveWaiting();
  }
  completed(entity) {
    return this.messages
      .filter((each) => each.entity === entity && each.state === "completed")
      .map((each) => each.body);
  }

  openedForSender(receiver) {
    const address = receiver.remote.attach.target?.address;
    receiver.set_source({ address: receiver.remote.attach.source?.address });
    receiver.set_target({ address });
    receiver.local.attach.max_message_size = this.maxMessageSize ?? 262144;
    receiver.local.attach.snd_settle_mode = receiver.remote.attach.snd_settle_mode;
    receiver.local.attach.rcv_settle_mode = receiver.remote.attach.rcv_settle_mode;
    this.emit("sender", receiver);
    if (this.hooks.openSender?.(address, receiver) === false) return;
    receiver.add_credit(100);
  }

  arrived({ message, delivery, format, receiver, connection }) {
    const address = receiver.remote.attach.target.address;
    receiver.add_credit(1);
    if (address === "$cbs" || address.endsWith("/$management")) {
      this.request(address, message, connection);
      return;
    }
    const sent = {
      address,
      format: format ?? 0,
      bytes: format ? message : message.bytes,
      message,
      settledByClient: Boolean(delivery.remote_settled),
    };
    this.sent.push(sent);
    if (this.hooks.sent?.(sent, delivery, receiver) === false) return;
    delivery.update(true, codec.accepted().described());
  }

  request(address, message, connection) {
    const sections = sectionsOf(message.bytes);
    const request = {
      address,
      at: Date.now(),
      id: message.message_id,
      replyTo: message.reply_to,
      to: message.to,
      message,
      connection,
      properties: fieldsOf(sections[0x74][0]),
      body: sections[0x77][0],
    };
    request.operation = request.properties.operation[1];
    (address === "$cbs" ? this.tokens : this.requests).push(request);
    this.emit("request", request);
    const hook = this.hooks[address === "$cbs" ? "token" : "manage"];
    const answer =
      hook?.(request) ??
      (address === "$cbs" ? { status: 202, description: "Accepted" } : this.managed(request));
    if (answer === false) return;
    this.answer(request, answer);
  }
  answer(request, { status = 200, description = "OK", errorCondition, body }) {
    const properties =
      request.address === "$cbs"
        ? { "status-code": types.Int(status), "status-description": description }
        : { statusCode: types.Int(status), statusDescription: description };
    if (errorCondition)
      properties[request.address === "$cbs" ? "error-condition" : "errorCondition"] =
        types.wrap_symbol(errorCondition);
    const link = request.connection.find_sender(
      (each) => each.remote.attach?.target?.address === request.replyTo,
    );
    link?.send({
      correlation_id: request.id,
      application_properties: properties,
      body: body ?? null,
    });
  }

  // What $management does without a hook.
  managed(request) {
    const body = request.body[0] === "map" ? fieldsOf(request.body) : {};
    const entity = request.address.replace(/\/\$management$/, "");
    const session = body["session-id"]?.[1];
    switch (request.operation) {
      case "com.microsoft:renew-session-lock":
        return { body: { expiration: types.wrap_timestamp(this.now() + this.lock) } };
      case "com.microsoft:get-session-state":
        return { body: { "session-state": this.states.get(session) ?? types.Null() } };
      case "com.microsoft:set-session-state":
        body["session-state"][1] === null
          ? this.states.delete(session)
          : this.states.set(session, body["session-state"][1]);
        return {};
      case "com.microsoft:peek-message": {
        const from = body["from-sequence-number"][1];
        const seen = this.messages
          .filter(
            (each) =>
              each.entity === entity &&
              each.sequence >= from &&
              ["waiting", "locked", "deferred"].includes(each.state) &&
              (session === undefined || each.session === session),
          )
          .slice(0, body["message-count"][1]);
        if (seen.length === 0)
          return {
            status: 204,
            description: "none",
            errorCondition: "com.microsoft:message-not-found",
          };
        return { body: { messages: seen.map((each) => ({ message: each.encoded() })) } };
      }
      case "com.microsoft:schedule-message": {
        const numbers = body.messages[1].map(() => ++this.lastSequence);
        return { body: { "sequence-numbers": types.wrap_array(numbers, 0x81) } };
      }
      case "com.microsoft:cancel-scheduled-message":
      case "com.microsoft:update-disposition":
        return {};
      case "com.microsoft:receive-by-sequence-number": {
        const found = this.messages.filter(
          (each) =>
            each.entity === entity &&
            each.state === "deferred" &&
            body["sequence-numbers"][1].items.includes(each.sequence),
        );
        if (found.length === 0)
          return {
            status: 404,
            description: "none",
            errorCondition: "com.microsoft:message-not-found",
          };
        return {
          body: {
            messages: found.map((each) => {
              each.token = randomBytes(16);
              return {
                message: each.encoded(each.token),
                "lock-token": types.wrap_uuid(each.token),
              };
            }),
          },
        };
      }
      case "com.microsoft:get-message-sessions": {
        const ids = [
          ...new Set(
            this.messages.filter((each) => each.entity === entity).map((each) => each.session),
          ),
        ];
        const page = ids.slice(body.skip[1], body.skip[1] + body.top[1]);
        if (page.length === 0) return { status: 204, description: "none" };
        return {
          body: { skip: types.Int(page.length), "sessions-ids": types.wrap_array(page, 0xa1) },
        };
      }
      default:
        return { status: 501, description: "not known", errorCondition: "amqp:not-implemented" };
    }
  }
}

export { types, codec, condition, uuidText };
