#pragma once

#include <cstddef>
#include <string>

#include <sessionq/time.hpp>

#include "amqp/connection_host.hpp"
#include "amqp/engine.hpp"
#include "amqp/stream.hpp"

namespace sessionq::amqp {

struct ConnectionOptions {
    EngineOptions engine{};
    Duration open_time_out{std::chrono::seconds{30}}; ///< from the start to the peer's open
    Duration close_time_out{std::chrono::seconds{
        5}}; ///< what an end in order may take, from `close` or the peer's last word on
    /// Bytes given to senders and not yet on their way, beyond which a connection is congested and
    /// reads no more. Enough for the peer never to wait, and little enough that they pass through
    /// the processor's caches.
    std::size_t most_unsent{std::size_t{256} << 10U};
};

class ConnectionOwner {
public:
    virtual ~ConnectionOwner() = default;
    /// The peer opened; the connection is authenticated.
    virtual void on_open(const Open& peer) = 0;
    /// The peer began a session. A client refuses: that is the default.
    virtual void on_session(SessionPtr session);
    /// After congestion: there is room again.
    virtual void on_writable() {}
    /// The connection is over and its stream closed. Sessions and links were told before. Last, and
    /// once. `condition` says why; empty after an orderly close. The owner may destroy the
    /// connection in it.
    virtual void on_closed(const Condition& condition) = 0;
};

/// An engine on a stream: carries bytes between the two, sends heartbeats, notices a dead peer, and
/// ends in bounded time.
///
/// Who says something to the engine from a task of the loop need do no more: what was said in one
/// turn of the loop goes out together, soon after it. Everything told comes from the loop and never
/// from within a call. Bound to the thread of its host. Destroying it, but for `on_closed` not from
/// what it or its links tell, closes the stream at once and tells nothing; its sessions and links
/// are gone then.
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
    /// Closes without a word to the peer. `on_closed` follows.
    void abort(const Condition& condition);

    /// Too much waits to be sent: give senders no more until `on_writable`. What a session's window
    /// holds back is not counted here (`SenderLink::buffered`).
    [[nodiscard]] bool is_congested() noexcept;

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

    void on_time_out();
    void lose(const Condition& why);
    void read_on();
    void flush();
    void turn();
    void finish();
    void end_in(Duration time);

    struct Alive {
        Connection* connection;
    };

    ConnectionHost& host_;
    StreamPtr stream_;
    ConnectionOwner& owner_;
    const Duration close_time_out_;
    const Duration read_idle_;
    const std::size_t most_unsent_;
    Engine engine_;
    std::string output_;
    std::size_t in_flight_{0}; // bytes the stream was given and has not written yet
    Phase phase_{Phase::opening};
    Condition why_{};
    std::shared_ptr<Alive> alive_; // what posted turns see of it
    bool reading_{false};
    bool input_over_{false};
    bool turn_posted_{false};
    bool is_owner_waiting_{false};
    bool shut_{false};
    timing::Timer timer_; // until it must be open, and later until it must be over
};

} // namespace sessionq::amqp
