// SPDX-License-Identifier: MIT
#include "amqp/connector.hpp"

#include <utility>

#include <asio/connect.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include "amqp/proxy_tunnel.hpp"
#include "amqp/socket_stream.hpp"
#include "amqp/web_socket_stream.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::amqp {

using asio::ip::tcp;

class Connector::Attempt : public std::enable_shared_from_this<Attempt> {
public:
    Attempt(ConnectionHost& host, Target target, Dialed done)
        : host_{host},
          target_{std::move(target)},
          name_{core::to_string({target_.host, target_.port})},
          place_{target_.at.value_or(core::HostPort{target_.host, target_.port})},
          where_{target_.at ? name_ + " at " + core::to_string(place_) : name_},
          has_proxy_{target_.proxy && target_.proxy->serves(place_.host)},
          first_{has_proxy_ ? target_.proxy->at : place_},
          done_{std::move(done)},
          resolver_{host.io()},
          socket_{host.io()},
          timer_{timing::Timer::calling<&Attempt::on_time_out>(this)} {}

    void start(TimePoint deadline) {
        host_.loop().timers().arm(timer_, deadline);
        stage_ = "resolving the host name";
        resolver_.async_resolve(
            first_.host, std::to_string(first_.port), tcp::resolver::numeric_service,
            [self = shared_from_this()](const asio::error_code& error,
                                        const tcp::resolver::results_type& found) {
                self->on_resolved(error, found);
            });
    }

    void drop() noexcept {
        done_ = nullptr;
        host_.loop().timers().cancel(timer_);
        resolver_.cancel();
        asio::error_code ignored;
        socket_.close(ignored);
        if (handshake_) {
            handshake_->cancel();
        }
    }

private:
    void on_resolved(const asio::error_code& error, const tcp::resolver::results_type& found) {
        if (!done_) {
            return;
        }
        if (error) {
            fail({.code = Errc::connection_refused,
                  .detail = std::string{"cannot resolve "} + (has_proxy_ ? "proxy" : "host") +
                            " '" + first_.host + "': " + error.message()});
            return;
        }
        stage_ = "connecting";
        asio::async_connect(
            socket_, found,
            [self = shared_from_this()](const asio::error_code& failed, const tcp::endpoint&) {
                self->on_connected(failed);
            });
    }

    void on_connected(const asio::error_code& error) {
        if (!done_) {
            return;
        }
        if (error) {
            const std::string what = has_proxy_ ? "proxy " + core::to_string(first_) : where_;
            fail({.code = Errc::connection_refused, .detail = what + ": " + error.message()});
            return;
        }
        if (!has_proxy_) {
            secure();
            return;
        }
        stage_ = "asking the proxy for a tunnel";
        ProxyTunnel::open(socket_, target_.proxy, place_,
                          [self = shared_from_this()](const std::optional<Failure>& failure) {
                              self->on_tunnel(failure);
                          });
    }

    void on_tunnel(const std::optional<Failure>& failure) {
        if (!done_) {
            return;
        }
        if (failure) {
            fail(*failure);
            return;
        }
        secure();
    }

    void secure() {
        if (!target_.tls) {
            on_secured(make_tcp_stream(std::move(socket_)), {});
            return;
        }
        stage_ = "in the TLS handshake";
        handshake_ =
            start_tls_client(std::move(socket_), target_.tls, target_.host,
                             [self = shared_from_this()](StreamPtr stream, const Failure& failure) {
                                 self->on_secured(std::move(stream), failure);
                             });
    }

    void on_secured(StreamPtr stream, const Failure& failure) {
        if (!stream || target_.web_socket_path.empty()) {
            on_stream(std::move(stream), failure);
            return;
        }
        stage_ = "in the WebSocket handshake";
        handshake_ = start_web_socket_client(
            host_, std::move(stream), name_, target_.web_socket_path,
            [self = shared_from_this()](StreamPtr made, const Failure& failed) {
                self->on_stream(std::move(made), failed);
            });
    }

    void on_stream(StreamPtr stream, const Failure& failure) {
        if (stream) {
            finish(std::move(stream));
        } else {
            finish(failure);
        }
    }

    void on_time_out() {
        const auto self = shared_from_this();
        const Dialed done = std::exchange(done_, nullptr);
        drop();
        done(Failure{.code = Errc::timeout,
                     .detail = where_ + ": connecting timed out while " + stage_});
    }

    void finish(core::Result<StreamPtr> result) {
        host_.loop().timers().cancel(timer_);
        handshake_.reset();
        std::exchange(done_, nullptr)(std::move(result));
    }
    void fail(Failure failure) { finish(std::move(failure)); }

    ConnectionHost& host_;
    const Target target_;
    const std::string name_;     // the peer's name
    const core::HostPort place_; // where it is
    const std::string where_;    // both, for errors
    const bool has_proxy_;
    const core::HostPort first_; // where to connect: the peer or the proxy
    Dialed done_;                // null once called or dropped
    const char* stage_{""};
    tcp::resolver resolver_;
    tcp::socket socket_;
    HandshakePtr handshake_{};
    timing::Timer timer_;
};

Connector::Connector(ConnectionHost& host, Target target, TimePoint deadline, Dialed done)
    : attempt_{std::make_shared<Attempt>(host, std::move(target), std::move(done))} {
    attempt_->start(deadline);
}

Connector::~Connector() { attempt_->drop(); }

std::unique_ptr<Dialing> dial_socket(ConnectionHost& host, const Target& target, TimePoint deadline,
                                     Dialed dialed) {
    return std::make_unique<Connector>(host, target, deadline, std::move(dialed));
}

} // namespace sessionq::amqp
