// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/condition.hpp"
#include "amqp/engine/channels.hpp"
#include "amqp/engine/frame.hpp"
#include "amqp/engine/open.hpp"
#include "amqp/engine/output.hpp"
#include "amqp/engine/sasl_layer.hpp"
#include "amqp/engine/session.hpp"
#include "amqp/engine/waiting_input.hpp"
#include "core/recycler.hpp"

namespace sessionq::amqp {

class Fields;

struct EngineOptions {
    static constexpr std::size_t all_at_once = std::numeric_limits<std::size_t>::max();

    bool is_server{false};
    /// False: an AMQP session ends when the peer attaches a link, because a peer that goes on would
    /// be answered for ever.
    bool accepts_links{true};
    Open open{.max_frame_size = 65536};
    /// Deliveries that one disposition names, or links of an end, that are told in one go; fewer
    /// deliveries if the outcome is long (DispositionRun). If it is set, an end is told by `go_on`
    /// only: those of many connections would add up.
    std::size_t most_at_once{all_at_once};
    /// Client: how to authenticate. Server: who may. Null: no SASL layer.
    std::unique_ptr<SaslExchange> sasl{};
};

class ConnectionListener {
public:
    virtual ~ConnectionListener() = default;
    virtual void on_open(const Open& peer) = 0;
    /// The peer began a session, which has been answered; who does not want it destroys it.
    virtual void on_session(SessionPtr session) = 0;
    /// The connection is over: closed by the peer, refused, or broken. Its sessions and links were
    /// told before. Last, and once. `condition` says why; empty after an orderly close.
    virtual void on_closed(const Condition& condition) = 0;
};

/// Who drives an engine.
class EngineDriver {
public:
    virtual ~EngineDriver() = default;
    /// There is something to send, for the first time since `take`. Called from the call that
    /// caused it, never from `input` and `process`.
    virtual void on_output() = 0;
};

/// One side of an AMQP connection: bytes in, bytes out, and listeners told. No I/O, no clock, no
/// thread of its own; used from one thread.
///
/// Its user calls `process` after `input`, and then takes the bytes to send. Listeners may call
/// anything here but destroy the engine. Outcomes and credit wait until the bytes are taken, and
/// are then written together: outcomes as ranges of deliveries, and the credit of a link once.
class Engine {
public:
    Engine(EngineOptions options, ConnectionListener& listener);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    /// Tells nobody anything: sessions and links that are left are gone.
    ~Engine();

    /// Feeds all bytes that arrived; tells the listeners. Bytes after an error are dropped.
    void input(std::string_view bytes);
    /// The peer will send no more, or is lost.
    void input_closed(const Condition& why);
    /// Tells the listeners of an end, and of links that could not be attached.
    void process();
    /// There is more to be told. No input may be read before `go_on` has told it all.
    [[nodiscard]] bool is_busy() const noexcept {
        return is_ending_ || (!failed_ && !closed_ && waiting_input_.is_due());
    }
    /// Tells the next of it.
    void go_on();
    /// A listener needs time for its last event: the next frame waits until it lets go.
    void hold() noexcept { waiting_input_.hold(); }
    void let_go();
    [[nodiscard]] bool is_held() const noexcept { return waiting_input_.is_held(); }

    void set_driver(EngineDriver* driver) noexcept { driver_ = driver; }
    /// Puts the bytes to send, complete as of now, into `to`, in place of the bytes that it held.
    /// The engine goes on with its memory.
    void take(std::string& to);
    /// Bytes written since the last `take`.
    [[nodiscard]] std::size_t unsent() const noexcept { return output_.size(); }
    /// Bytes kept for the peer: output that is not taken, messages that wait for its credit or
    /// room, and the bytes that it has sent of frames and messages whose end has not come.
    [[nodiscard]] std::size_t held() const noexcept {
        return held_ + arriving_ + output_.held() + reader_.held() + waiting_input_.size() +
               sasl_.held();
    }
    /// Bytes of messages that have not come in whole.
    [[nodiscard]] std::size_t arriving() const noexcept { return arriving_; }
    /// The memory, in bytes, that the connection's buffers and waiting messages take here.
    [[nodiscard]] std::size_t memory() const noexcept {
        constexpr std::size_t beside_message = 256; // of one that waits
        return held_ + arriving_ + waiting_ * beside_message + output_.memory() + reader_.memory() +
               waiting_input_.memory() + sasl_.held() + deliveries_.cached_bytes();
    }
    /// Releases memory that is kept for traffic to come.
    void trim() noexcept {
        output_.trim();
        deliveries_.trim();
    }
    /// Has an empty frame sent if nothing else is to be.
    void heartbeat();

    /// Null if there is none left, or the connection is over. `room`: as `Session` has it.
    [[nodiscard]] SessionPtr begin_session(core::ReceiveRoomPtr room = {});
    /// Sessions that may still be begun under the peer's channel-max; one that has ended counts
    /// until the peer has ended it too.
    [[nodiscard]] std::size_t sessions_left() const noexcept;

    /// Closes in order: the peer's close is awaited, or the input's end.
    void close(const Condition& condition = {});
    /// Nothing more will happen: both sides closed, or it broke.
    [[nodiscard]] bool is_closed() const noexcept { return closed_; }
    /// The peer has opened and the end has not begun, so a request made now can be answered.
    [[nodiscard]] bool is_open() const noexcept { return open_ && !failed_ && !closed_; }
    /// How the peer refused the connection; it may only close. Empty if it did not.
    [[nodiscard]] std::string_view refusal() const noexcept { return refusal_; }

private:
    friend class Link;
    friend class ReceiverLink;
    friend class SenderLink;
    friend class Session;

    /// Something is to be sent.
    void touch() {
        if (!touched_) {
            touched_ = true;
            if (driver_ != nullptr && !processing_) {
                driver_->on_output();
            }
        }
    }
    [[nodiscard]] std::string& out() noexcept { return output_.amqp(); }
    /// The largest condition that fits into a frame of the peer's.
    [[nodiscard]] std::size_t most_of_condition() const noexcept {
        constexpr std::size_t beside_it = 96;
        return remote_max_frame_size_ - beside_it;
    }
    [[nodiscard]] Session* session_of(std::uint16_t remote_channel) noexcept;
    /// The session's object goes.
    void forget(Session& session) noexcept;
    void end_session(std::uint16_t channel, const Condition& condition);
    void write_end(std::uint16_t channel, const Condition& condition);
    void tell_open(std::uint16_t channel, std::uint32_t remote, Link& link, std::string_view body);

    void feed_sasl(std::string_view bytes);
    void feed(std::string_view bytes);
    void write_header();
    void open();
    void on_frame(const Frame& frame);
    void on_open(const Fields& open);
    void on_begin(std::uint16_t channel, const Fields& begin);
    void on_end(std::uint16_t channel, const Fields& end);
    void on_session_frame(std::uint16_t channel, const Fields& fields, std::string_view body);
    void tell_disposition();
    void flush();
    void break_off(std::string_view name, std::string text);
    void lose(Session& session, const Condition& why);
    void finish(const Condition& why);
    void tell_end();

    ConnectionListener& listener_;
    const bool is_server_;
    const bool accepts_links_;
    const std::size_t most_at_once_;
    const Open local_;
    SaslLayer sasl_;
    FrameReader reader_;
    EngineDriver* driver_{nullptr};
    Output output_;
    std::size_t held_{0};     // of messages
    std::size_t waiting_{0};  // messages for credit or room
    std::size_t arriving_{0}; // bytes of messages that have not come in whole
    std::uint32_t remote_max_frame_size_{smallest_max_frame_size};
    std::uint16_t remote_channel_max_{65535};
    Channels channels_{};
    std::vector<Session*> due_{};
    UnattachedLinks unattached_{};
    core::IntrusiveList<Link> lost_links_{}; // to be told; each may take others with it
    WaitingInput waiting_input_{};
    core::Recycler deliveries_;
    Condition failure_{}; // of this side's finding
    Condition end_{};
    std::string_view refusal_{}; // in the peer's open; only its close may follow
    bool header_sent_{false};
    bool open_sent_{false};
    bool close_sent_{false};
    bool open_seen_{false};
    bool open_{false};
    bool failed_{false}; // nothing that arrives counts any more
    bool closed_{false};
    bool is_ending_{false}; // closed, and not all have been told
    bool processing_{false};
    bool touched_{false};
};

} // namespace sessionq::amqp
