// SPDX-License-Identifier: MIT
#include "amqp/proxy_tunnel.hpp"

#include <utility>

#include <asio/write.hpp>

namespace sessionq::amqp {

void ProxyTunnel::open(asio::ip::tcp::socket& socket, std::shared_ptr<const Proxy> proxy,
                       const core::HostPort& target, Done done) {
    const std::shared_ptr<ProxyTunnel> made{
        new ProxyTunnel{socket, std::move(proxy), target, std::move(done)}};
    made->write();
}

ProxyTunnel::ProxyTunnel(asio::ip::tcp::socket& socket, std::shared_ptr<const Proxy> proxy,
                         const core::HostPort& target, Done done)
    : socket_{socket},
      proxy_{std::move(proxy)},
      exchange_{*proxy_, target},
      done_{std::move(done)},
      request_{exchange_.request()} {}

void ProxyTunnel::write() {
    asio::async_write(socket_, asio::buffer(request_),
                      [self = shared_from_this()](const asio::error_code& error, std::size_t) {
                          if (error) {
                              self->lost(error);
                          } else {
                              self->read();
                          }
                      });
}

void ProxyTunnel::read() {
    socket_.async_read_some(
        asio::buffer(bytes_),
        [self = shared_from_this()](const asio::error_code& error, std::size_t count) {
            if (error) {
                self->lost(error);
            } else {
                self->on_read(count);
            }
        });
}

void ProxyTunnel::on_read(std::size_t count) {
    const auto answer = exchange_.input({bytes_.data(), count});
    if (!answer) {
        read();
    } else if (answer->ok()) {
        done_(std::nullopt);
    } else {
        done_(answer->failure());
    }
}

void ProxyTunnel::lost(const asio::error_code& error) {
    Failure failure = exchange_.ended();
    if (error != asio::error::eof) {
        failure.detail += " (" + error.message() + ")";
    }
    done_(failure);
}

} // namespace sessionq::amqp
