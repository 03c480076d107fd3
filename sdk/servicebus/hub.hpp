#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "amqp/codec/encoded_content.hpp"
#include "amqp/connection.hpp"
#include "amqp/connector.hpp"
#include "core/random.hpp"
#include "servicebus/claim.hpp"
#include "servicebus/lock_clock.hpp"
#include "servicebus/reconnect_policy.hpp"
#include "servicebus/request_channel.hpp"
#include "servicebus/shared_session.hpp"
#include "servicebus/token_source.hpp"

namespace sessionq::servicebus {

struct HubSettings {
    amqp::Target target{};
    TokenSourcePtr tokens{};                              ///< null: nothing is put to $cbs
    Duration operation_timeout{std::chrono::seconds{60}}; ///< for what has no deadline of its own
    Duration idle_timeout{std::chrono::seconds{120}};     ///< without a sign of the peer's life
    BackoffOptions backoff{};                             ///< between attempts to connect
    std::uint64_t seed{0};
    amqp::Dial dial{amqp::dial_socket}; ///< where its connections' streams come from
};

/// The connection of an endpoint and what all its links share: made when first needed and anew
/// after a loss, with a backoff between failures (R17); the tokens of the entities in use, renewed
/// before they expire; and requests to $management. Bound to the loop; kept alive by links.
class Hub final : public std::enable_shared_from_this<Hub>, private amqp::ConnectionOwner {
public:
    Hub(std::shared_ptr<amqp::ConnectionHost> host, HubSettings settings);
    ~Hub() override;
    Hub(const Hub&) = delete;
    Hub& operator=(const Hub&) = delete;

    using ReadyHandler = std::function<void(core::Result<amqp::Engine*>)>;
    /// Connected, and entitled to `node` (empty: connected will do). The handler runs now or by a
    /// later turn; the engine is for use at once. After `close`: cancelled.
    void ready(const std::string& node, ReadyHandler handler);

    /// A request to the $management of an entity. Answered once, by a later turn.
    void manage(const std::string& entity, Request request, Deadline deadline,
                RequestChannel::Handler handler);

    /// The broker refused, or took away, what the right to `node` should give: a token is put anew
    /// when it is needed next.
    void doubt(const std::string& node);

    /// Ends the connection; what waits is answered with `cancelled`.
    void close();

    /// One with room for a session's link, of the connection as it is now. Null: the peer allows no
    /// more channels.
    [[nodiscard]] std::shared_ptr<SharedSession> session_for_link();

    /// Names links; no other of this connection's has the same.
    [[nodiscard]] std::uint64_t next_link_number() noexcept { return ++last_link_number_; }

    /// Sessions held or asked for here. Whoever comes counts itself.
    void enter() noexcept { ++sessions_; }
    void leave() noexcept { --sessions_; }
    [[nodiscard]] bool is_unused() const noexcept { return sessions_ == 0; }
    /// Whether the peer's channels do for one more.
    [[nodiscard]] bool has_room() const noexcept { return sessions_ < capacity_; }
    /// The peer takes no more than the others that are here.
    void note_full() noexcept { capacity_ = sessions_ > 1 ? sessions_ - 1 : 1; }

    [[nodiscard]] core::EventLoop& loop() noexcept { return loop_; }
    [[nodiscard]] amqp::ClockReading reading() const noexcept {
        return {.now = loop_.now(), .wall = loop_.wall_now()};
    }
    [[nodiscard]] LockClock& locks() noexcept { return locks_; }
    [[nodiscard]] Deadline default_deadline() const noexcept {
        return Deadline::after(settings_.operation_timeout, loop_.now());
    }
    [[nodiscard]] const std::string& host() const noexcept { return settings_.target.host; }

private:
    struct Right {
        Claim claim{};
        std::uint64_t attempt{0}; // which answers count
        Deadline token_due{};     // by when its source must have given the token
        std::vector<ReadyHandler> waiting{};
    };
    struct Waiting {
        std::string node;
        ReadyHandler handler;
    };

    void on_open(const amqp::Open& peer) override;
    void on_closed(const amqp::Condition& condition) override;

    /// False also while a connection that broke off still says why.
    [[nodiscard]] bool is_usable() const noexcept {
        return open_ && connection_->engine().is_open();
    }
    void connect();
    void connected(core::Result<amqp::StreamPtr> stream);
    void failed(const Failure& why);
    void claim(const std::string& node, ReadyHandler handler);
    void ask_token(const std::string& node);
    void token_given(const std::string& node, std::uint64_t attempt, core::Result<Token> token,
                     Deadline deadline);
    void token_answered(const std::string& node, std::uint64_t attempt,
                        const std::optional<Failure>& refusal, Duration life);
    [[nodiscard]] RequestChannel& cbs();
    void on_time();
    void arm();

    const std::shared_ptr<amqp::ConnectionHost> host_;
    core::EventLoop& loop_;
    HubSettings settings_;
    core::Random random_;
    ReconnectPolicy reconnects_;
    LockClock locks_{};
    std::unique_ptr<amqp::Dialing> dialing_{};
    std::unique_ptr<amqp::Connection> connection_{};
    std::unique_ptr<RequestChannel> cbs_{};
    std::map<std::string, Right> rights_{};
    std::uint64_t last_attempt_{0};
    std::map<std::string, std::unique_ptr<RequestChannel>> management_{};
    std::vector<Waiting> waiting_{};
    std::vector<std::weak_ptr<SharedSession>> shared_sessions_{};
    std::uint64_t last_link_number_{0};
    std::size_t sessions_{0};
    std::size_t capacity_;
    TimePoint next_attempt_{};
    bool open_{false};
    bool closed_{false};
    timing::Timer timer_{timing::Timer::calling<&Hub::on_time>(this)};
};

} // namespace sessionq::servicebus
