// SPDX-License-Identifier: MIT
// The WebSocket gateway in front of the service, with a library that is not ours. It passes bytes
// to and from a peer's TCP port, in messages and fragments as a case demands.
import { EventEmitter, once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { key, keyName } from "./peer.mjs";

const { WebSocketServer } = await import("ws").catch(() => ({}));

export const unavailable = WebSocketServer === undefined && "npm could not install ws";
export const path = "/$servicebus/websocket";
export const protocol = "AMQPWSB10";

const pieces = (bytes, size) =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    bytes.subarray(i * size, (i + 1) * size),
  );

// How the peer's bytes are sent. Message bounds have no meaning for AMQP.
export const shapes = {
  "as it comes": (socket, bytes) => socket.send(bytes),
  "messages of three bytes": (socket, bytes) =>
    pieces(bytes, 3).forEach((piece) => socket.send(piece)),
  "a message in fragments, pings among them": (socket, bytes) => {
    const cut = pieces(bytes, 7);
    cut.forEach((piece, i) => {
      socket.send(piece, { binary: true, fin: i === cut.length - 1 });
      if (i === 1) socket.ping("between");
    });
  },
  "many frames in one message": (socket, bytes) => {
    socket.kept = Buffer.concat([socket.kept ?? Buffer.alloc(0), bytes]);
    socket.sending ??= setTimeout(() => {
      socket.send(socket.kept);
      socket.kept = socket.sending = undefined;
    }, 20);
  },
};

export class Gateway extends EventEmitter {
  static async start(peer) {
    const gateway = Object.assign(new Gateway(), {
      peer,
      shape: shapes["as it comes"],
      requests: [],
      texts: 0,
      pongs: [],
      closes: [],
      refusal: undefined,
      answers: protocol,
    });
    gateway.sockets = new WebSocketServer({
      noServer: true,
      handleProtocols: () => gateway.answers,
    });
    gateway.server = createServer((request, response) => response.writeHead(426).end());
    gateway.server.on("upgrade", (request, socket, head) => gateway.asked(request, socket, head));
    gateway.server.listen(0, "127.0.0.1");
    await once(gateway.server, "listening");
    gateway.place =
      `Endpoint=sb://127.0.0.1:${gateway.server.address().port};` +
      `SharedAccessKeyName=${keyName};SharedAccessKey=${key};UseDevelopmentEmulator=true`;
    return gateway;
  }

  asked(request, socket, head) {
    this.requests.push(request);
    if (this.refusal || request.url !== path) {
      socket.end(
        `HTTP/1.1 ${this.refusal ?? "404 Not Found"}\r\n` +
          "Connection: close\r\nContent-Length: 0\r\n\r\n",
      );
      return;
    }
    this.sockets.handleUpgrade(request, socket, head, (opened) => this.bridge(opened));
  }

  bridge(socket) {
    const inner = connect(this.peer.port, "127.0.0.1");
    socket.on("message", (bytes, isBinary) => {
      if (!isBinary) ++this.texts;
      inner.write(bytes);
    });
    socket.on("pong", (bytes) => this.pongs.push(String(bytes)));
    socket.on("close", (code) => {
      this.closes.push(code);
      inner.destroy();
    });
    socket.on("error", () => inner.destroy());
    inner.on("data", (bytes) => socket.readyState === socket.OPEN && this.shape(socket, bytes));
    inner.on("close", () => socket.close());
    inner.on("error", () => {});
  }

  // Ends open connections: abruptly, or with a close code.
  cut(code) {
    for (const socket of this.sockets.clients)
      code ? socket.close(code, "as the script says") : socket.terminate();
  }
  ping(text) {
    for (const socket of this.sockets.clients) socket.ping(text);
  }

  async stop() {
    this.cut();
    const closed = once(this.server, "close");
    this.server.close();
    await closed;
  }
}
