// SPDX-License-Identifier: MIT
// This version takes no port and connects to 5671, or to 443 over WebSockets. Here those
// connections go to the broker's ports, so that no run needs a port of its own.
const net = require("node:net");
const ports = {
  5671: Number(process.env.SESSIONQ_TLS_PORT),
  443: Number(process.env.SESSIONQ_WEB_SOCKET_PORT),
};
const { connect } = net.Socket.prototype;
net.Socket.prototype.connect = function (to, ...rest) {
  const port = ports[to.port];
  return connect.call(this, port === undefined ? to : { ...to, port }, ...rest);
};
