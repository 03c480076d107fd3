// SPDX-License-Identifier: MIT
#include "faults/proxied_connection.hpp"

#include <utility>

#include <asio/write.hpp>

#include "faults/now.hpp"

namespace sessionq::faults {
namespace {

using asio::ip::tcp;

constexpr std::chrono::seconds after_fin{2}; // for the peers to close too

asio::io_context& reactor(tcp::socket& socket) {
    return static_cast<asio::io_context&>(socket.get_executor().context());
}

} // namespace

ProxiedConnection::ProxiedConnection(tcp::socket client, std::uint64_t seed, Ended ended)
    : client_{std::move(client)},
      broker_{reactor(client_)},
      up_{reactor(client_), client_, broker_, seed},
      down_{reactor(client_), broker_, client_, ~seed},
      grace_{reactor(client_)},
      ended_{std::move(ended)} {}

void ProxiedConnection::connect(const tcp::endpoint& broker) {
    broker_.async_connect(broker, [self = shared_from_this()](const asio::error_code& error) {
        if (error) {
            self->reset();
            return;
        }
        asio::error_code ignored;
        self->client_.set_option(tcp::no_delay{true}, ignored);
        self->broker_.set_option(tcp::no_delay{true}, ignored);
        self->is_connected_ = true;
        self->pump(self->up_);
        self->pump(self->down_);
    });
}

void ProxiedConnection::be_black_hole() {
    up_.conduit.swallow();
    down_.conduit.swallow();
}

void ProxiedConnection::apply(const AppliedFault& applied) {
    const Fault& fault = applied.fault;
    switch (fault.kind) {
    case FaultKind::reset: reset(); return;
    case FaultKind::finish:
        cut(up_);
        cut(down_);
        return;
    case FaultKind::half_close: each(fault.way, [this](Half& half) { cut(half); }); return;
    case FaultKind::stall:
        each(fault.way, [&](Half& half) { half.conduit.stall(applied.until); });
        break;
    case FaultKind::delay:
        each(fault.way,
             [&](Half& half) { half.conduit.delay(fault.delay, fault.jitter, applied.until); });
        break;
    case FaultKind::throttle:
        each(fault.way, [&](Half& half) { half.conduit.throttle(fault.rate, applied.until); });
        break;
    case FaultKind::trickle:
        each(fault.way, [&](Half& half) { half.conduit.trickle(applied.until); });
        break;
    case FaultKind::black_hole: be_black_hole(); break;
    default: break;
    }
}

void ProxiedConnection::heal() {
    for (Half* half : {&up_, &down_}) {
        half->conduit.heal();
        pump(*half);
    }
}

void ProxiedConnection::reset() {
    asio::error_code ignored;
    for (tcp::socket* socket : {&client_, &broker_}) {
        socket->set_option(asio::socket_base::linger{true, 0}, ignored);
    }
    end();
}

/// Sends FIN now. Later bytes of this direction are read and dropped.
void ProxiedConnection::cut(Half& half) {
    if (!is_connected_ || half.discards || half.conduit.is_black_hole()) {
        return;
    }
    half.discards = true;
    half.is_done = true;
    half.held.clear();
    asio::error_code ignored;
    half.to.shutdown(tcp::socket::shutdown_send, ignored);
    finish_if_done();
}

void ProxiedConnection::pump(Half& half) {
    if (is_connected_ && client_.is_open()) {
        read(half);
        write(half);
    }
}

void ProxiedConnection::read(Half& half) {
    if (half.reading || half.input_over || (!half.discards && !half.conduit.wants_more())) {
        return;
    }
    half.reading = true;
    half.from.async_read_some(
        asio::buffer(half.read),
        [self = shared_from_this(), &half](const asio::error_code& error, std::size_t bytes) {
            half.reading = false;
            self->on_read(half, error, bytes);
        });
}

void ProxiedConnection::on_read(Half& half, const asio::error_code& error, std::size_t bytes) {
    if (!client_.is_open()) {
        return;
    }
    if (error) {
        half.input_over = true;
        if (half.conduit.is_black_hole()) {
            return; // a black hole forwards no end
        }
        if (error != asio::error::eof) {
            reset();
            return;
        }
        half.conduit.ended();
    } else if (!half.discards) {
        half.held.append(half.read.data(), bytes);
        half.conduit.arrived(bytes, now());
    }
    pump(half);
    finish_if_done();
}

void ProxiedConnection::write(Half& half) {
    if (half.writing || half.is_done) {
        return;
    }
    const Conduit::Next next = half.conduit.next(now());
    if (next.end) {
        half.is_done = true;
        asio::error_code ignored;
        half.to.shutdown(tcp::socket::shutdown_send, ignored);
        finish_if_done();
        return;
    }
    if (next.bytes == 0) {
        if (next.at != TimePoint::max()) {
            half.timer.expires_at(next.at);
            half.timer.async_wait(
                [self = shared_from_this(), &half](const asio::error_code& error) {
                    if (!error) {
                        self->pump(half);
                    }
                });
        }
        return;
    }
    half.written.assign(half.held, 0, next.bytes);
    half.held.erase(0, next.bytes);
    half.writing = true;
    asio::async_write(
        half.to, asio::buffer(half.written),
        [self = shared_from_this(), &half](const asio::error_code& error, std::size_t bytes) {
            half.writing = false;
            if (error || half.discards) {
                if (error && !half.discards && !half.conduit.is_black_hole()) {
                    self->reset();
                }
                return;
            }
            half.conduit.gone(bytes, now());
            self->pump(half);
        });
}

void ProxiedConnection::finish_if_done() {
    if (!up_.is_done || !down_.is_done) {
        return;
    }
    if (up_.input_over && down_.input_over) {
        end();
        return;
    }
    grace_.expires_after(after_fin);
    grace_.async_wait([self = shared_from_this()](const asio::error_code& error) {
        if (!error) {
            self->end();
        }
    });
}

void ProxiedConnection::end() {
    asio::error_code ignored;
    client_.close(ignored);
    broker_.close(ignored);
    for (asio::steady_timer* timer : {&up_.timer, &down_.timer, &grace_}) {
        timer->cancel();
    }
    if (const Ended ended = std::exchange(ended_, nullptr)) {
        ended();
    }
}

} // namespace sessionq::faults
