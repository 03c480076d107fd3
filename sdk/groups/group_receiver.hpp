#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "groups/accept_queue.hpp"
#include "groups/dialect_connection.hpp"
#include "groups/group_table.hpp"
#include "groups/link_window.hpp"
#include "groups/receiver_channel.hpp"
#include "groups/receiver_machine.hpp"
#include "groups/unanswered_ids.hpp"

namespace sessionq::groups {

class GroupLink;

/// What the receivers of an endpoint share.
struct ReceiverContext {
    DialectConnection& connection;
    core::ReplyQueue& replies;
    UnansweredIds& unanswered;
    /// A receiver is of no more use. It is destroyed by a later turn, unless it is used again.
    std::function<void(const ReceiverTerms&)> finished;
};

/// A receiver link and the groups that share it. Messages are kept until the sessions of their
/// groups want them; groups that no session holds wait to be accepted. Performs what its
/// `ReceiverMachine` decides. Bound to the loop.
class GroupReceiver final : private ReceiverChannelEvents, private AcceptQueue::Owner {
public:
    GroupReceiver(ReceiverContext& context, ReceiverTerms terms);
    ~GroupReceiver();
    GroupReceiver(const GroupReceiver&) = delete;
    GroupReceiver& operator=(const GroupReceiver&) = delete;

    void accept(ports::RequestId id, ports::AcceptRequest request, ports::AcceptHandler handler);
    [[nodiscard]] AcceptQueue& accepts() noexcept { return accepts_; }
    /// Whether a session of the group is held, or for a shared receiver: whether the group is here.
    [[nodiscard]] bool has(std::string_view group) const;
    [[nodiscard]] bool is_finished() const noexcept;

    // For the links.
    [[nodiscard]] const ports::Capabilities& capabilities() const noexcept {
        return context_.connection.capabilities();
    }
    [[nodiscard]] GroupTable& table() noexcept { return table_; }
    [[nodiscard]] bool removes() const noexcept {
        return terms_.mode == ports::ReceiveMode::receive_and_delete;
    }
    /// Gives the broker as much credit as may be given now.
    void top_up();
    /// False: the link may be told at once that nothing more comes. What comes later to a shared
    /// receiver opens the session anew.
    [[nodiscard]] bool drain_for_link();
    void want_drain();
    /// True: answered already, and `held` is gone.
    [[nodiscard]] bool settle(Held& held, GroupLink& link, const amqp::Outcome& outcome);
    /// The link is done. `done` runs when the broker knows what it must; null: nobody asks.
    void leave(GroupLink& link, std::function<void()> done);

private:
    void on_attached() override;
    void on_delivery(amqp::DeliveryHandle delivery, amqp::EncodedContent::Blank bytes) override;
    void on_settled_by_broker(amqp::DeliveryHandle delivery) override;
    void on_drained() override;
    void on_lost(const amqp::Condition& condition) override;
    void on_accept_ended() override { review_later(); }

    void perform(ReceiverMachine::Action action);
    void on_time();
    void on_engine(const core::Result<amqp::Engine*>& engine);
    void serve();
    /// Looks anew, by a later turn, at what the link is used for.
    void review_later();
    void review();
    [[nodiscard]] GroupLink* named_link() const;
    void end_session_of(std::string_view group);
    void release(Held& held, bool counted);
    [[nodiscard]] ReceiverMachine::Use use() const noexcept;
    [[nodiscard]] const Dialect& dialect() const noexcept { return *context_.connection.dialect(); }
    [[nodiscard]] core::EventLoop& loop() const noexcept { return context_.connection.loop(); }

    ReceiverContext& context_;
    const ReceiverTerms terms_;
    ReceiverMachine machine_{};
    GroupTable table_{};
    LinkWindow window_{};
    AcceptQueue accepts_;
    std::vector<GroupLink*> links_{};
    std::vector<std::function<void()>> leaving_{};
    std::unique_ptr<ReceiverChannel> channel_{};
    timing::Timer timer_{timing::Timer::calling<&GroupReceiver::on_time>(this)};
    const core::Anchor<GroupReceiver> anchor_{*this};
};

} // namespace sessionq::groups
