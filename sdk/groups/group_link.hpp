#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/reply_queue.hpp"
#include "groups/group_link_machine.hpp"
#include "groups/group_table.hpp"
#include "ports/capabilities.hpp"
#include "ports/session_link.hpp"

namespace sessionq::groups {

class GroupReceiver;

/// A message group that is held as a session. It does not expire. May outlive its receiver. Bound
/// to the loop.
class GroupLink final : public ports::SessionLink {
public:
    explicit GroupLink(core::EventLoop& loop) : replies_{loop} {}
    ~GroupLink() override;
    GroupLink(const GroupLink&) = delete;
    GroupLink& operator=(const GroupLink&) = delete;

    [[nodiscard]] const std::string& session_id() const noexcept override { return id_; }
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override { return {}; }
    void set_events(ports::LinkEvents& events) override;
    void add_credit(std::uint32_t count) override;
    void drain() override;
    void settle(ports::Delivery& delivery, ports::Settlement settlement) override;
    ports::RequestId renew_lock(Deadline deadline, LockHandler handler) override;
    ports::RequestId get_state(Deadline deadline, StateHandler handler) override;
    ports::RequestId set_state(std::optional<std::string> state, Deadline deadline,
                               DoneHandler handler) override;
    ports::RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      DeliveriesHandler handler) override;
    void give_up(ports::RequestId) override {} // every answer is on the way
    void close(DoneHandler handler) override;

    // For the receiver. What follows may run events, and an event may destroy the link.
    void begin(GroupReceiver& receiver, Group& group);
    [[nodiscard]] const GroupLinkMachine& machine() const noexcept { return machine_; }
    /// Null once the group is given back or lost.
    [[nodiscard]] Group* group() const noexcept { return group_; }
    /// Gives the owner what waits, within its credit.
    void give();
    /// Nothing more comes before credit is added.
    void on_drained();
    /// The broker has answered the settlement.
    void on_settled(const Held& held, ports::Delivery& delivery);
    /// The messages that failed are back at the broker.
    void on_returned();
    void lose(const Failure& why);
    /// The receiver goes. The owner is told nothing.
    void forget_receiver() noexcept;

private:
    void give_later();
    void answer(ports::Delivery& delivery, std::optional<Failure> failure = std::nullopt);
    void tell(ports::Delivery& delivery, const Failure* failure);
    void settle_at_broker(Held& held, ports::Delivery& delivery, amqp::OutcomeKind kind);
    void leave_if_answered();
    [[nodiscard]] Failure not_supported(ports::Capability capability) const;
    /// For requests that these brokers do not have.
    template <typename T>
    ports::RequestId refuse(ports::Capability capability,
                            std::function<void(core::Result<T>)> handler);

    core::ReplyQueue replies_;
    GroupReceiver* receiver_{nullptr};
    std::string id_{};
    Group* group_{nullptr};
    GroupLinkMachine machine_{};
    ports::LinkEvents* events_{nullptr};
    std::vector<Held*> settling_{};             // the broker will answer
    std::vector<ports::Delivery*> returning_{}; // answered once they are back at the broker
    DoneHandler close_handler_{};
    std::unique_ptr<Failure> untold_loss_{}; // before there were events
    const core::Anchor<GroupLink> anchor_{*this};
};

} // namespace sessionq::groups
