// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "groups/accept_queue.hpp"
#include "groups/group_table.hpp"
#include "groups/receiver_channel.hpp"
#include "groups/receiver_context.hpp"
#include "groups/receiver_machine.hpp"
#include "timing/timer.hpp"

namespace sessionq::groups {

class GroupLink;

/// Receives the messages of an entity's groups over one receiver link, and answers accepts with
/// these groups. `Endpoint` makes a receiver for each set of `ReceiverSettings` at the first
/// accept. It keeps the receiver while an accept waits or a session is open.
///
/// A message stays in the group table until the session of its group wants it. A group without a
/// session waits for an accept. Performs the decisions of its `ReceiverMachine`. Bound to the loop.
class GroupReceiver final : private ReceiverEvents {
public:
    GroupReceiver(ReceiverContext& context, ReceiverSettings terms);
    ~GroupReceiver();
    GroupReceiver(const GroupReceiver&) = delete;
    GroupReceiver& operator=(const GroupReceiver&) = delete;

    /// Adds an accept. It is in the context's book already.
    void accept(ports::RequestId id, const ports::AcceptRequest& request);
    [[nodiscard]] bool is_finished() const noexcept;
    [[nodiscard]] GroupTable& table() noexcept { return table_; }

    // For the links.
    /// Gives the broker as much credit as the machine and the window allow.
    void top_up();
    /// Starts a drain for a link. Returns false if the receiver is shared or not attached. Then
    /// tell the link at once that no more messages come. If a message comes to a shared receiver
    /// later, that message opens the session anew.
    [[nodiscard]] bool drain_for_link();
    void want_drain();
    /// Settles a message. Returns true if the settlement is answered, and `held` is gone. Otherwise
    /// the settler is told later.
    [[nodiscard]] bool settle(Held& held, core::WeakHandle<GroupLink> settler,
                              amqp::OutcomeKind kind);
    /// The link is closed. `waiting` hears of the end once `ReceiverMachine::has_left` allows it.
    void leave(GroupLink& link, core::WeakHandle<GroupLink> waiting = {});

private:
    void on_attached() override;
    void on_delivery(amqp::DeliveryHandle delivery, std::string_view encoded) override;
    void on_settled_by_broker(amqp::DeliveryHandle delivery) override;
    void on_drained() override;
    void on_lost(const amqp::Condition& condition) override;

    void perform(ReceiverMachine::Action action);
    void on_time();
    void on_engine(const core::Result<amqp::Engine*>& engine);
    void serve();
    /// Calls `serve`, `top_up` and `review` in a later turn of the loop.
    void review_later();
    /// Attaches the link if an accept waits, and gives the link up if nobody needs it. Tells the
    /// closed sessions once they have left.
    void review();
    [[nodiscard]] ReceiverMachine::Use use() const noexcept;

    ReceiverContext& context_;
    const ReceiverSettings terms_;
    ReceiverMachine machine_{};
    GroupTable table_{};
    AcceptQueue accepts_;
    std::vector<GroupLink*> links_{};
    std::vector<core::WeakHandle<GroupLink>> leaving_{};
    std::unique_ptr<ReceiverChannel> channel_{};
    timing::Timer timer_{timing::Timer::calling<&GroupReceiver::on_time>(this)};
    const core::Anchor<GroupReceiver> anchor_{*this};
};

} // namespace sessionq::groups
