// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "amqp/stream.hpp"
#include "core/event_loop.hpp"
#include "simulation/channel.hpp"
#include "simulation/environment.hpp"
#include "simulation/network_faults.hpp"

namespace sessionq::simulation {

/// A connection without sockets: two streams on two loops. Each reads what the other writes. Bytes
/// travel in pieces and in order. Faults look like those of TCP: the seed chooses the byte of a
/// cut, an end that does not learn of it goes on writing while there is room, and writing to a
/// closed end is an error.
class Wire final : public std::enable_shared_from_this<Wire> {
public:
    enum class Side : std::uint8_t { client, server };

    struct Watcher {
        std::function<void()> server_over;  ///< called once, when the server is done with its end
        std::function<void()> client_reads; ///< called before the client gets bytes
    };

    Wire(Environment& environment, const NetworkFaults& faults, std::uint32_t number,
         std::size_t endpoint, Watcher watcher);
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    /// Opens an end; call it once a side. Closing or destroying the stream closes the end.
    [[nodiscard]] amqp::StreamPtr open(Side side, core::EventLoop& loop);

    /// Delays what this side writes by `length`.
    void stall(Side writer, Duration length) noexcept {
        stalled_until_[index(writer)] = environment_->scheduler.now() + length;
    }
    /// Loses what is under way. Each end learns of it after its delay; Duration::max() is never.
    void cut(Duration client_learns, Duration server_learns);

    /// The server has died and writes nothing more.
    void server_dies() { closed(Side::server); }
    void client_dies() { closed(Side::client); }

    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    [[nodiscard]] std::size_t endpoint() const noexcept { return endpoint_; }
    [[nodiscard]] bool is_whole() const noexcept { return !cut_ && !closed_[0] && !closed_[1]; }

private:
    class End;

    static std::size_t index(Side side) noexcept { return static_cast<std::size_t>(side); }
    static Side other(Side side) noexcept {
        return side == Side::client ? Side::server : Side::client;
    }
    [[nodiscard]] const char* arrow(Side writer) const noexcept {
        return writer == Side::client ? " > " : " < ";
    }

    void carry(Side writer, std::string bytes);
    void carry_end(Side writer);
    void travel(Side writer, std::function<void()> arrival);
    void taken(Side reader, std::size_t count);
    void closed(Side side);
    void fail_later(Side side, Duration after, const char* why);
    [[nodiscard]] bool has_room(Side writer) const noexcept;

    Environment* environment_;
    const NetworkFaults* faults_;
    std::uint32_t number_;
    std::size_t endpoint_;
    Watcher watcher_;
    std::array<std::weak_ptr<End>, 2> ends_{};
    std::array<std::unique_ptr<Channel>, 2> channels_{}; // by who writes
    std::array<std::size_t, 2> unread_{};                // bytes written but not yet read
    std::array<TimePoint, 2> stalled_until_{};
    std::array<bool, 2> ended_{}; // this side writes nothing more
    std::array<bool, 2> closed_{};
    bool cut_{false};
};

} // namespace sessionq::simulation
