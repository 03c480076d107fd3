// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include <sessionq/time.hpp>

#include "amqp/connection_host.hpp"
#include "amqp/engine/engine.hpp"
#include "amqp/idleness.hpp"
#include "amqp/stream.hpp"
#include "core/connection_counts.hpp"

namespace sessionq::amqp {

struct ConnectionOptions {
    EngineOptions engine{};
    Duration open_time_out{std::chrono::seconds{30}}; ///< from the start to the peer's open
    /// Bounds an orderly close, from `close` or the peer's close.
    Duration close_time_out{std::chrono::seconds{5}};
    /// After an error of the peer, how long its end is awaited, so that it can read why. Otherwise
    /// our end could discard our close. At most `close_time_out`. Small for a client: its report of
    /// the end waits, and a peer that talks nonsense does not answer.
    Duration linger_time_out{std::chrono::seconds{5}};
    /// The limit of unsent bytes, beyond which the connection is congested. It is large enough that
    /// the peer never waits, and small enough for the processor's caches.
    std::size_t most_unsent{std::size_t{256} << 10U};
    /// Reading stops while more bytes than this are unsent. For servers only: if both sides stopped
    /// reading, both would wait for ever.
    std::size_t most_unsent_while_reading{std::numeric_limits<std::size_t>::max()};
    /// Bytes of messages on their way, beyond which the connection ends. Service Bus's largest
    /// message has 100 MiB.
    std::size_t most_arriving{std::size_t{112} << 20U};
    /// A heartbeat is sent when nothing was sent for so long. Zero: only as the peer's
    /// idle-time-out requires, which always holds.
    Duration write_idle{};
    core::ConnectionCountsPtr counts{}; ///< of bytes; null: nobody asks
};

class ConnectionOwner {
public:
    virtual ~ConnectionOwner() = default;
    /// The peer opened and is authenticated.
    virtual void on_open(const Open& peer) = 0;
    /// The peer began a session. The default refuses it, as a client must.
    virtual void on_session(SessionPtr session);
    /// A congested connection has room again.
    virtual void on_writable() {}
    /// Bytes came or left, and all that follows from them has been done.
    virtual void on_turn() {}
    /// The open connection has received or sent nothing for `idle`. `read`: once, when the
    /// connection begins to end and its engine is not open any more. `write`: before each
    /// heartbeat, which does not count as sent.
    virtual void on_idle(timing::IdleKind kind, Duration idle);
    /// The last event, once: the connection has ended and its stream is closed. Sessions and links
    /// were told before. `condition` says why, and is empty after an orderly close. The owner may
    /// destroy the connection here.
    virtual void on_closed(const Condition& condition) = 0;
};

/// An engine on a stream. Moves bytes between the two, sends heartbeats, detects a dead peer, and
/// ends in bounded time.
///
/// Calls to the engine in one turn of the loop are sent together soon after. All events come from
/// the loop, never within a call. Bound to the thread of its host.
///
/// Destroying the connection closes the stream at once, without events, and its sessions and links
/// are gone. It must not be destroyed in an event other than `on_closed`.
class Connection final : private StreamListener,
                         private ConnectionListener,
                         private EngineDriver,
                         private Watched {
public:
    Connection(ConnectionHost& host, StreamPtr stream, ConnectionOptions options,
               ConnectionOwner& owner);
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    ~Connection() override;

    [[nodiscard]] Engine& engine() noexcept { return engine_; }
    [[nodiscard]] std::string peer() const { return stream_->peer(); }

    /// Closes in order, within `close_time_out`. `on_closed` follows.
    void close(const Condition& condition = {});
    /// Ends the connection without notice to the peer. `on_closed` follows.
    void abort(const Condition& condition);

    /// Sends nothing, and handles nothing that comes, for so long: a peer that guesses keys gets
    /// slow. No effect during a pause. The connection may be lost meanwhile.
    void pause(Duration time);

    /// Returns true while too many bytes wait to be sent. Senders should then wait for
    /// `on_writable`. Bytes that wait for a session's window are not counted; see
    /// `SenderLink::buffered`.
    [[nodiscard]] bool is_congested() noexcept;
    /// `on_writable` follows after the next bytes that came or left, also where it is not
    /// congested: they may have made room in a session's window.
    void await_writable() noexcept { is_owner_waiting_ = true; }

    /// `on_turn` follows soon.
    void turn_again() { on_output(); }

    /// Bytes that have come.
    [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
    /// The memory, in bytes, that is kept for the peer: in buffers, and in messages on their way.
    [[nodiscard]] std::size_t memory() const noexcept {
        return engine_.memory() + output_.capacity() + stream_->held();
    }
    /// Releases memory that is kept for traffic to come.
    void trim() noexcept;

private:
    enum class Phase { opening, open, closing, lingering, over };

    void on_read(std::string_view bytes) override;
    void on_written() override;
    void on_failed(const Failure& failure) override;

    void on_open(const Open& peer) override;
    void on_session(SessionPtr session) override;
    void on_closed(const Condition& condition) override;

    void on_output() override;
    void on_idle(timing::IdleKind kind) override;

    void tell_write_idle();
    void on_time_out();
    void lose(const Condition& why);
    void read_on();
    void look_at_arriving();
    void flush();
    void go_on_in_turn();
    void go_on();
    void end_pause();
    void turn();
    void finish();
    void end_in(Duration time);

    struct Alive {
        Connection* connection;
    };

    ConnectionHost& host_;
    StreamPtr stream_;
    ConnectionOwner& owner_;
    const core::ConnectionCountsPtr counts_;
    const Duration close_time_out_;
    const Duration linger_time_out_;
    const Duration read_idle_;
    const Duration write_idle_;
    const std::size_t most_unsent_;
    const std::size_t most_unsent_while_reading_;
    const std::size_t most_arriving_;
    Engine engine_;
    Idleness idleness_;
    std::string output_;
    std::uint64_t received_{0};
    std::size_t in_flight_{0}; // bytes that the stream has not written yet
    Phase phase_{Phase::opening};
    Condition why_{};
    std::shared_ptr<Alive> alive_; // the handle that posted turns check
    bool reading_{false};
    bool input_over_{false};
    bool turn_posted_{false};
    bool is_in_line_{false}; // among the host's connections with more to tell or to read
    bool has_more_{false};   // the last read was full, and the next one has not begun
    bool is_owner_waiting_{false};
    bool shut_{false};
    bool is_lost_{false};       // the stream is unusable
    timing::Timer pause_timer_; // armed: the connection pauses
    Duration heartbeat_every_{};
    timing::Timer timer_; // limits the opening and the closing; heartbeats between them, if short
};

} // namespace sessionq::amqp
