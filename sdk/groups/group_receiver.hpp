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

/// A receiver link and the groups that share it. Messages are kept until the sessions of their
/// groups want them; groups that no session holds wait to be accepted. Performs the decisions of
/// its `ReceiverMachine`. Bound to the loop.
class GroupReceiver final : private ReceiverEvents {
public:
    GroupReceiver(ReceiverContext& context, ReceiverTerms terms);
    ~GroupReceiver();
    GroupReceiver(const GroupReceiver&) = delete;
    GroupReceiver& operator=(const GroupReceiver&) = delete;

    /// The accept is in the context's book already.
    void accept(ports::RequestId id, const ports::AcceptRequest& request);
    [[nodiscard]] bool is_finished() const noexcept;
    [[nodiscard]] GroupTable& table() noexcept { return table_; }

    // For the links.
    /// Gives the broker as much credit as may be given now.
    void top_up();
    /// False: the link may be told at once that nothing more comes. A message that comes later to a
    /// shared receiver opens the session anew.
    [[nodiscard]] bool drain_for_link();
    void want_drain();
    /// True: answered already, and `held` is gone. Else the settler is told.
    [[nodiscard]] bool settle(Held& held, core::WeakHandle<GroupLink> settler,
                              amqp::OutcomeKind kind);
    /// The link is done. `waiting` is told when the broker knows all that it must.
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
    /// Looks anew, by a later turn, at the purposes of the link.
    void review_later();
    void review();
    [[nodiscard]] ReceiverMachine::Use use() const noexcept;

    ReceiverContext& context_;
    const ReceiverTerms terms_;
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
