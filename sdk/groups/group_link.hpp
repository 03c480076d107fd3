// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/weak_handle.hpp"
#include "groups/group_link_machine.hpp"
#include "groups/group_table.hpp"
#include "groups/plain_link.hpp"
#include "ports/endpoint.hpp"

namespace sessionq::groups {

class GroupReceiver;
struct ReceiverSettings;

/// Holds a message group as a session. It takes the group's messages from the table of its
/// `GroupReceiver`, and settles them through that receiver. An accept is answered with a
/// `GroupLink`. A slot of a processor, or a session receiver, owns the link. Performs the decisions
/// of its `GroupLinkMachine`.
///
/// The session does not expire. The link may outlive its receiver. Bound to the loop.
class GroupLink final : public PlainLink {
public:
    /// Takes the group that the terms name. If they name none, takes the group that has been ready
    /// longest.
    GroupLink(core::EventLoop& loop, const Dialect& dialect, const ReceiverSettings& terms,
              GroupReceiver& receiver);
    ~GroupLink() override;

    [[nodiscard]] const std::string& session_id() const noexcept override { return id_; }
    void add_credit(std::uint32_t count) override;
    void drain() override;
    void settle(ports::Delivery& delivery, ports::Settlement&& settlement) override;
    void close(DoneHandler handler) override;

    // For the receiver. These functions may run events, and an event may destroy the link.
    /// Returns the credit to ask for: the owner's credit, less the messages that wait here, less
    /// `outstanding` messages that are on their way.
    [[nodiscard]] std::uint32_t missing_credit(std::uint32_t outstanding) const noexcept;
    /// Gives the waiting messages to the owner, within its credit.
    void give();
    /// No more messages come until credit is added.
    void on_drained();
    using PlainLink::answer;
    using PlainLink::tell;
    void on_left() { end_wait(core::Done{}); }
    void lose(const Failure& why);
    /// The receiver is destroyed. The owner is told nothing.
    void forget_receiver() noexcept;

private:
    void give_back();
    void give_later();
    void settle_at_broker(Held& held, ports::Delivery& delivery, amqp::OutcomeKind kind);
    void answered() override;

    GroupReceiver* receiver_;
    Group* group_; // null once the group is given back or lost
    const std::string id_;
    const ports::ReceiveMode mode_;
    GroupLinkMachine machine_{};
    const core::Anchor<GroupLink> anchor_{*this};
};

} // namespace sessionq::groups
