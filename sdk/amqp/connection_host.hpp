// SPDX-License-Identifier: MIT
#pragma once

#include "amqp/connect_line.hpp"
#include "core/event_loop.hpp"
#include "core/turn_line.hpp"
#include "timing/idle_index.hpp"
#include "timing/timer.hpp"

namespace asio {
class io_context;
}

namespace sessionq::amqp {

/// Something that may be idle too long.
class Watched : public timing::IdleEntry {
public:
    Watched() noexcept : IdleEntry{Duration::zero(), Duration::zero()} {}
    virtual void on_idle(timing::IdleKind kind) = 0;

protected:
    ~Watched() = default;
};

/// The parts that the connections of one receive thread share: its loop, its reactor, the idle
/// watch, the line for long work, and that of connections to be made. Bound to that thread. It
/// outlives the connections, and the loop outlives it. Only sockets use the reactor; with other
/// streams nobody needs to run it.
class ConnectionHost {
public:
    ConnectionHost(core::EventLoop& loop, asio::io_context& io);
    ConnectionHost(const ConnectionHost&) = delete;
    ConnectionHost& operator=(const ConnectionHost&) = delete;
    ~ConnectionHost();

    [[nodiscard]] core::EventLoop& loop() noexcept { return loop_; }
    [[nodiscard]] asio::io_context& io() noexcept { return io_; }
    [[nodiscard]] core::TurnLine& turns() noexcept { return turns_; }
    [[nodiscard]] ConnectLine& connects() noexcept { return connects_; }

    void watch(Watched& watched);
    void forget(Watched& watched) noexcept { idle_.remove(watched); }
    /// Sets how long `watched` may be idle. Zero: forever.
    void set_idle(Watched& watched, timing::IdleKind kind, Duration idle);
    void on_read(Watched& watched) noexcept { idle_.on_read(watched, loop_.now()); }
    void on_write(Watched& watched) noexcept { idle_.on_write(watched, loop_.now()); }

    /// Whether a connection that has more to read may read on at once. Otherwise it waits for a
    /// turn in the line: there is long work, or another connection has had such a turn since.
    [[nodiscard]] bool may_read_on(const Watched& watched) const noexcept {
        return last_in_turn_ == &watched && turns_.is_empty();
    }
    /// A connection that has more to read has its turn.
    void on_turn(const Watched& watched) noexcept { last_in_turn_ = &watched; }

private:
    void arm();
    void look();

    core::EventLoop& loop_;
    asio::io_context& io_;
    core::TurnLine turns_;
    ConnectLine connects_;
    const Watched* last_in_turn_{nullptr}; // for comparison only
    timing::IdleIndex idle_;
    timing::Timer timer_;
};

} // namespace sessionq::amqp
