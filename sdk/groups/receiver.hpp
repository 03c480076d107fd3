#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "amqp/codec/delivery_codec.hpp"
#include "amqp/session.hpp"
#include "groups/group_session.hpp"
#include "groups/group_table.hpp"
#include "groups/hub.hpp"
#include "groups/link_window.hpp"
#include "groups/unanswered_ids.hpp"
#include "groups/waiters.hpp"
#include "ports/endpoint.hpp"
#include "timing/timer.hpp"

namespace sessionq::groups {

/// What distinguishes the receiver links of an endpoint.
struct ReceiverTerms {
    std::string entity{};
    std::optional<std::string> session_id{}; ///< set: only this group, by a selector
    ports::ReceiveMode mode{ports::ReceiveMode::peek_lock};
    int priority{0};

    friend bool operator<(const ReceiverTerms& left, const ReceiverTerms& right) {
        return std::tie(left.entity, left.session_id, left.mode, left.priority) <
               std::tie(right.entity, right.session_id, right.mode, right.priority);
    }
};

/// A receiver link and the groups that share it: messages are kept until the sessions of their
/// groups want them, sessions that nobody holds wait to be accepted.
///
/// The link is attached while it is of use: while something is held or waited for. Whatever must
/// not cross with messages under way — messages that go back, the answer "none available", giving
/// the link up — is done at the answer to a drain. Bound to the loop.
class Receiver final : public std::enable_shared_from_this<Receiver>,
                       private amqp::SessionListener,
                       private amqp::LinkListener {
public:
    using Answer = Waiters::Answer;
    using Over = std::function<void()>;

    Receiver(std::shared_ptr<Hub> hub, std::shared_ptr<UnansweredIds> unanswered,
             ReceiverTerms terms);
    ~Receiver() override;
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    /// `over` is told each time the link has been given up and nothing is waited for.
    void set_over(Over over) { over_ = std::move(over); }
    /// The answer comes by a later turn, unless the asking is cancelled.
    void accept(ports::RequestId id, Duration wait, std::size_t budget, Answer answer);
    void cancel(ports::RequestId id);
    /// Whether the group is here: held, or waiting to be.
    [[nodiscard]] bool has(std::string_view group) const { return table_.has(group); }
    [[nodiscard]] bool is_held() const noexcept { return named_session() != nullptr; }
    /// The endpoint goes: nothing is told any more.
    void shut();

    // For sessions
    [[nodiscard]] core::EventLoop& loop() noexcept { return hub_->loop(); }
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept;
    [[nodiscard]] GroupTable& table() noexcept { return table_; }
    [[nodiscard]] bool removes() const noexcept {
        return terms_.mode == ports::ReceiveMode::receive_and_delete;
    }
    /// The credit of a session has changed, or what waits for it.
    void touched(GroupSession& session);
    /// False: the owner may be told at once that nothing more comes.
    bool drain_for(GroupSession& session);
    /// Done with it; true: answered already, and `held` is no more.
    bool settle(Held& held, GroupSession& session, const amqp::Outcome& outcome);
    /// Has the session's answers told, by a later turn.
    void tell_later(GroupSession& session);
    /// Has what failed brought back to the broker.
    void return_failed() { want_drain(); }
    /// The session is no more; `done` is called when the broker knows what it must.
    void left(GroupSession& session, std::function<void()> done);

private:
    enum class State : std::uint8_t { detached, waiting, attaching, attached, closing };
    void on_sender(amqp::SenderLinkPtr link) override;
    void on_receiver(amqp::ReceiverLinkPtr link) override;
    void on_session_ended(const amqp::Condition& condition) override;
    void on_link_open() override;
    void on_link_closed(const amqp::Condition& condition, bool closed) override;
    void on_link_gone(const amqp::Condition&) override {} // the session tells
    void on_drained() override;
    void on_delivery(amqp::DeliveryHandle delivery) override;
    void on_disposition(amqp::DeliveryHandle delivery) override;

    // receiver.cpp
    void serve();
    void top_up();
    [[nodiscard]] bool is_first(const amqp::ReceivedDelivery& received) const;
    void end_session_of(std::string_view group);

    // receiver_drains.cpp
    void want_drain();
    void on_drain_overdue();
    void return_messages();

    // receiver_link.cpp
    void want_link();
    void attach(amqp::Engine& engine);
    void look_unused();
    void look_unused_later();
    void look_idle();
    void on_idle();
    void give_link_up();
    void link_over(const amqp::Condition& condition);
    void tell_left();
    /// The one that has not been closed.
    [[nodiscard]] GroupSession* named_session() const noexcept {
        const auto found =
            std::find_if(sessions_.begin(), sessions_.end(),
                         [](const GroupSession* each) { return each->group() != nullptr; });
        return found != sessions_.end() ? *found : nullptr;
    }
    [[nodiscard]] bool is_unused() const noexcept { return waiters_.empty() && sessions_.empty(); }
    [[nodiscard]] const Dialect& dialect() const noexcept { return *hub_->dialect(); }

    const std::shared_ptr<Hub> hub_;
    const std::shared_ptr<UnansweredIds> unanswered_;
    const ReceiverTerms terms_;
    Over over_{};
    GroupTable table_{};
    LinkWindow window_{};
    Waiters waiters_;
    std::vector<GroupSession*> sessions_{};
    std::vector<std::weak_ptr<GroupSession>> telling_{};
    std::vector<std::function<void()>>
        left_{}; // told once the broker has the link back, or it is of use again
    State state_{State::detached};
    amqp::SessionPtr session_{};
    amqp::ReceiverLinkPtr link_{};
    std::uint64_t came_{0}; // since the link was attached
    std::int64_t last_number_{0};
    bool draining_{false};
    TimePoint drain_until_{};
    bool drain_again_{false};
    bool recycles_{false};
    bool marks_first_{false}; // the queue marks the first of a group
    bool shut_{false};
    timing::Timer drain_guard_{timing::Timer::calling<&Receiver::on_drain_overdue>(this)};
    timing::Timer idle_{timing::Timer::calling<&Receiver::on_idle>(this)};
};

} // namespace sessionq::groups
