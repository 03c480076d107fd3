#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "amqp/condition.hpp"
#include "amqp/frame_shim.hpp"
#include "amqp/sasl.hpp"
#include "amqp/session.hpp"

struct pn_collector_t;
struct pn_connection_t;
struct pn_event_t;
struct pn_transport_t;

namespace sessionq::amqp {

/// What an open says.
struct Open {
    std::string container{};
    std::string hostname{};
    std::string properties{}; ///< an encoded map, or empty
    std::uint32_t idle_time_out{
        0}; ///< milliseconds after which the sender of it gives up on a silent peer; zero: never
    std::uint32_t max_frame_size{0}; ///< zero: not limited
    std::uint16_t channel_max{65535};
};

struct EngineOptions {
    bool is_server{false};
    Open open{.max_frame_size = 65536};
    /// Client: how to authenticate. Server: who may. Null: no SASL layer.
    std::unique_ptr<SaslExchange> sasl{};
    /// Server: message formats of what arrives are told (`ReceiverLink::message_format`).
    bool read_message_formats{false};
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
    /// There is something to send, for the first time since `take`. Called from whatever call
    /// caused it, never from `input` and `process`.
    virtual void on_output() = 0;
};

/// One side of an AMQP connection: bytes in, bytes out, and listeners told. No I/O, no clock, no
/// thread of its own; used from one thread.
///
/// Whoever feeds it calls `process` after input, which tells the listeners, and then takes what is
/// to be sent. Listeners may call anything here but destroy the engine.
class Engine {
public:
    Engine(EngineOptions options, ConnectionListener& listener);
    Engine(const Engine&) = delete;
    Engine& operator=(const Engine&) = delete;
    /// Tells nobody anything: sessions and links that are left are gone.
    ~Engine();

    /// Feeds what arrived, all of it; may tell the listeners. What comes after an error is dropped.
    void input(std::string_view bytes);
    /// The peer will send no more, or is lost.
    void input_closed(const Condition& why);
    /// Tells the listeners what has happened.
    void process();

    void set_driver(EngineDriver* driver) noexcept { driver_ = driver; }
    /// Puts what is to be sent, complete as of now, into `to`, in place of what it held. The engine
    /// goes on with its memory.
    void take(std::string& to);
    /// What was said so far goes out before what is said from now on: within one turn a detach
    /// would otherwise follow a later attach.
    void commit();
    /// Bytes of messages given to senders since the last `take`.
    [[nodiscard]] std::size_t unsent() const noexcept { return unsent_; }
    /// Has an empty frame sent if nothing else is to be.
    void heartbeat();

    /// Null if there is none left, or the connection is over.
    [[nodiscard]] SessionPtr begin_session();
    /// Sessions that may still be begun under the peer's channel-max; one that has ended counts
    /// until the peer has ended it too.
    [[nodiscard]] std::size_t sessions_left() const noexcept;

    /// Closes in order: the peer's close is awaited, or the input's end.
    void close(const Condition& condition = {});
    /// Nothing more will happen: both sides closed, or it broke.
    [[nodiscard]] bool is_closed() const noexcept { return closed_; }
    /// The peer has opened and the end has not begun, so what is asked for now can be answered.
    [[nodiscard]] bool is_open() const noexcept { return open_ && !failed_ && !closed_; }

private:
    friend class DeliveryHandle;
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
    void attached();
    void feed_sasl(std::string_view& bytes);
    void feed_transport(std::string_view bytes);
    void push(std::string_view bytes);
    void collect_output();
    void release_memory_of_rush(std::size_t used);
    void break_off(Errc found, std::string_view name, std::string text);
    void bury();
    void handle(pn_event_t* event);
    void on_remote_open();
    void on_session_event(pn_session_t* session, bool opened);
    void on_link_event(pn_link_t* link, bool opened, bool closed);
    void on_flow(Link& link);
    void look_drained(ReceiverLink& link);
    static bool is_too_large(Link& link, pn_delivery_t* delivery);
    void on_delivery(pn_delivery_t* delivery);
    void finish(const Condition& why);
    static void forget_links(Session& session) noexcept;
    void lose_links(Session& session, const Condition& why);

    ConnectionListener& listener_;
    std::unique_ptr<SaslExchange> sasl_;
    const bool is_server_;
    const bool reads_message_formats_;
    pn_connection_t* connection_;
    pn_transport_t* transport_;
    pn_collector_t* collector_;
    FrameShim shim_;
    EngineDriver* driver_{nullptr};
    std::string output_;
    std::size_t unsent_{0};
    unsigned idle_takes_{0}; // one after the other, of much less than the output has room for
    std::size_t unwritten_attaches_{0};
    std::string rewritten_;  // of the input, as it came through the shim
    std::string sasl_input_; // of the exchange, not understood yet
    std::vector<Session*> sessions_;
    std::size_t channels_{0};       // theirs, and those of sessions that are gone and not buried
    std::vector<Link*> lost_links_; // to be told
    std::vector<pn_link_t*> dead_links_; // to be freed once what they had to say is on its way
    std::vector<pn_session_t*> dead_sessions_; // the same
    Condition failure_;                        // of this side's finding
    bool open_{false};
    bool failed_{false}; // nothing that arrives counts any more
    bool broken_{false}; // nothing the engine writes can be sent any more
    bool closed_{false};
    bool processing_{false};
    bool touched_{false};
};

} // namespace sessionq::amqp
