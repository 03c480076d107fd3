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

/// A connection without sockets: two streams on two loops, each what the other writes. What is
/// written travels in pieces, in order. Behaves as TCP does where the seed makes something go
/// wrong: the byte at which it is cut is anybody's guess, who does not learn of it goes on writing
/// for as long as there is room, and to write to whoever has closed is an error.
class Wire final : public std::enable_shared_from_this<Wire> {
public:
    enum class Side : std::uint8_t { client, server };

    /// `server_over` is called once, when the server's end is of no more use to the server.
    Wire(Environment& environment, const NetworkFaults& faults, std::uint32_t number,
         std::size_t endpoint, std::function<void()> server_over);
    Wire(const Wire&) = delete;
    Wire& operator=(const Wire&) = delete;

    /// An end. Once each; closing it, or letting it go, closes that end.
    [[nodiscard]] amqp::StreamPtr open(Side side, core::EventLoop& loop);

    /// What one side writes is on its way for so much longer.
    void stall(Side writer, Duration length) noexcept {
        stalled_until_[index(writer)] = environment_->scheduler.now() + length;
    }
    /// What is under way is lost, and each end learns of it after a while; Duration::max(): never.
    void cut(Duration client_learns, Duration server_learns);

    /// Who has the server's end has died: nothing follows from it.
    void server_dies() { closed(Side::server); }

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
    std::function<void()> server_over_;
    std::array<std::weak_ptr<End>, 2> ends_{};
    std::array<std::unique_ptr<Channel>, 2> channels_{}; // by who writes
    std::array<std::size_t, 2> unread_{};                // bytes written, and not read by the other
    std::array<TimePoint, 2> stalled_until_{};
    std::array<bool, 2> ended_{}; // nothing follows from this side
    std::array<bool, 2> closed_{};
    bool cut_{false};
};

} // namespace sessionq::simulation
