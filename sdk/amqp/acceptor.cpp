// SPDX-License-Identifier: MIT
#include "amqp/acceptor.hpp"

#include <algorithm>
#include <iterator>
#include <list>
#include <utility>

#include <sys/socket.h>

#include <asio/detail/socket_option.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include "amqp/socket_stream.hpp"
#include "amqp/web_socket_stream.hpp"
#include "core/log.hpp"
#include "core/log_events.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::amqp {

using asio::ip::tcp;
using std::chrono::milliseconds;

namespace {

constexpr Duration shortest_wait = milliseconds{10};
constexpr Duration longest_wait = milliseconds{1000};

} // namespace

class Acceptor::Listening : public std::enable_shared_from_this<Listening> {
public:
    Listening(ConnectionHost& host, Admission& admission, OnStream on_stream)
        : host_{host},
          admission_{admission},
          on_stream_{std::move(on_stream)},
          acceptor_{host.io()},
          timer_{timing::Timer::calling<&Listening::accept>(this)} {}

    core::Result<std::uint16_t> listen(const ListenSettings& settings) {
        settings_ = settings;
        const std::string where = settings.address + ":" + std::to_string(settings.port);
        asio::error_code error;
        const auto address = asio::ip::make_address(settings.address, error);
        if (error) {
            return Failure{.code = Errc::invalid_option,
                           .detail = "cannot listen on " + where + ": invalid address"};
        }
        const tcp::endpoint endpoint{address, settings.port};
        const auto step = [&](auto&& action) {
            if (!error) {
                action();
            }
        };
        step([&] { acceptor_.open(endpoint.protocol(), error); });
        step([&] { acceptor_.set_option(tcp::acceptor::reuse_address{true}, error); });
        step([&] {
            if (settings.share_port) {
                acceptor_.set_option(
                    asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT>{true}, error);
            }
        });
        step([&] { acceptor_.bind(endpoint, error); });
        step([&] { acceptor_.listen(tcp::acceptor::max_listen_connections, error); });
        if (error) {
            const bool is_taken = error == asio::error::address_in_use;
            return Failure{.code = is_taken ? Errc::invalid_state : Errc::resource_exhausted,
                           .detail = "cannot listen on " + where + ": " +
                                     (is_taken ? "the port is in use" : error.message())};
        }
        accept();
        return acceptor_.local_endpoint().port();
    }

    void stop() noexcept {
        on_stream_ = nullptr;
        host_.loop().timers().cancel(timer_);
        asio::error_code ignored;
        acceptor_.close(ignored);
        for (Pending& pending : pending_) {
            pending.handshake->cancel();
        }
        pending_.clear();
    }

private:
    struct Pending final : Admission::Guest {
        explicit Pending(Listening& owner) noexcept
            : listening{owner}, timer{timing::Timer::calling<&Pending::drop>(this)} {}

        void drop() {
            handshake->cancel();
            listening.forget(*this);
        }
        void give_way() override { drop(); }

        Listening& listening;
        HandshakePtr handshake{};
        std::list<Pending>::iterator place{};
        timing::Timer timer;
    };

    void accept() {
        acceptor_.async_accept(
            [self = shared_from_this()](const asio::error_code& error, tcp::socket socket) {
                self->on_accepted(error, std::move(socket));
            });
    }

    void on_accepted(const asio::error_code& error, tcp::socket socket) {
        if (!on_stream_) {
            return;
        }
        if (error == asio::error::connection_aborted) { // the peer left before it was accepted
            accept();
            return;
        }
        if (error) { // out of file descriptors or memory
            wait_ = std::clamp(wait_ * 2, shortest_wait, longest_wait);
            tell_waiting(error.message());
            accept_in(wait_);
            return;
        }
        wait_ = Duration::zero();
        welcome(std::move(socket));
        if (!on_stream_) {
            return;
        }
        if (admission_.is_crowded()) {
            tell_waiting(std::to_string(admission_.leaving()) + " connections are being closed");
            accept_in(shortest_wait);
        } else {
            accept();
        }
    }

    void accept_in(Duration wait) { host_.loop().timers().arm(timer_, host_.loop().now() + wait); }

    static void tell_waiting(const std::string& why) {
        core::log_event(LogLevel::warning, "amqp", core::events::listener_waits, {},
                        "new connections wait to be accepted: ", why);
    }

    void welcome(tcp::socket socket) {
        if (settings_.tls || !settings_.web_socket_path.empty()) {
            shake_hands(std::move(socket));
        } else {
            tell(make_tcp_stream(std::move(socket)));
        }
    }

    void shake_hands(tcp::socket socket) {
        asio::error_code gone; // an empty address then; its handshake fails
        Pending& pending = pending_.emplace_back(*this);
        if (admission_.enter(pending, socket.remote_endpoint(gone).address().to_string()) !=
            Admission::Answer::welcome) {
            pending_.pop_back();
            return;
        }
        pending.place = std::prev(pending_.end());
        host_.loop().timers().arm(pending.timer, host_.loop().now() + settings_.handshake_time_out);
        if (settings_.tls) {
            pending.handshake =
                start_tls_server(std::move(socket), settings_.tls,
                                 [this, &pending](StreamPtr stream, const Failure& failure) {
                                     on_secured(pending, std::move(stream), failure);
                                 });
        } else {
            on_secured(pending, make_tcp_stream(std::move(socket)), {});
        }
    }

    void on_secured(Pending& pending, StreamPtr stream, const Failure& failure) {
        if (!stream || settings_.web_socket_path.empty()) {
            on_stream(pending, std::move(stream), failure);
            return;
        }
        admission_.step(pending);
        pending.handshake = start_web_socket_server(
            host_, std::move(stream), settings_.web_socket_path, settings_.web_socket_origins,
            settings_.tls != nullptr, [this, &pending](StreamPtr made, const Failure& failed) {
                on_stream(pending, std::move(made), failed);
            });
    }

    void on_stream(Pending& pending, StreamPtr stream, const Failure& failure) {
        const auto self = shared_from_this();
        forget(pending);
        if (stream) {
            tell(std::move(stream));
        } else {
            const bool has_left = failure.code == Errc::connection_lost; // as health checks do
            core::log_event(has_left ? LogLevel::info : LogLevel::warning, "amqp",
                            core::events::peer_refused, {{"code", to_string(failure.code)}},
                            failure.detail);
        }
    }

    void forget(Pending& pending) { pending_.erase(pending.place); }

    void tell(StreamPtr stream) {
        const OnStream on_stream = on_stream_; // a copy, because the call may destroy this object
        on_stream(std::move(stream));
    }

    ConnectionHost& host_;
    Admission& admission_;
    OnStream on_stream_; // null once stopped
    tcp::acceptor acceptor_;
    ListenSettings settings_{};
    std::list<Pending> pending_{};
    Duration wait_{Duration::zero()};
    timing::Timer timer_; // the wait before accepting again
};

Acceptor::Acceptor(ConnectionHost& host, Admission& admission, OnStream on_stream)
    : listening_{std::make_shared<Listening>(host, admission, std::move(on_stream))} {}

Acceptor::~Acceptor() { listening_->stop(); }

core::Result<std::uint16_t> Acceptor::listen(const ListenSettings& settings) {
    return listening_->listen(settings);
}

} // namespace sessionq::amqp
