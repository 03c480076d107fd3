#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "groups/group_table.hpp"
#include "ports/capabilities.hpp"
#include "ports/session_link.hpp"

namespace sessionq::groups {

class Receiver;

/// A message group that is held as a session: what its owner asked for, and what it is still to be
/// told. The receiver does the rest. Bound to the loop.
class GroupSession final : public std::enable_shared_from_this<GroupSession> {
public:
    explicit GroupSession(std::shared_ptr<Receiver> receiver) noexcept
        : receiver_{std::move(receiver)} {}
    GroupSession(const GroupSession&) = delete;
    GroupSession& operator=(const GroupSession&) = delete;
    ~GroupSession() { destroy(); }

    // for the owner
    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    void set_events(ports::LinkEvents& events) noexcept { events_ = &events; }
    void add_credit(std::uint32_t count);
    void drain();
    void settle(ports::Delivery& delivery, const ports::Settlement& settlement);
    void close(ports::SessionLink::DoneHandler handler);
    void destroy() noexcept;
    /// Of what these brokers cannot do: answers with not_supported, by a later turn.
    template <typename T>
    ports::RequestId refuse(ports::Capability capability,
                            std::function<void(core::Result<T>)> handler);

    // for the receiver
    void begin(Group& group);
    [[nodiscard]] std::uint32_t credit() const noexcept { return credit_; }
    [[nodiscard]] bool is_draining() const noexcept { return draining_; }
    [[nodiscard]] Group* group() const noexcept { return group_; }
    /// Gives the owner what waits, within its credit.
    void give();
    /// No more comes before credit is added.
    void drained();
    /// The settlement of this delivery has its answer; told by a later turn.
    void answer(ports::Delivery& delivery, std::optional<Failure> failure = std::nullopt);
    void tell_answers();
    /// The broker has answered; told at once. Not from within a call of the owner.
    void answered(const Held& held, ports::Delivery& delivery);
    /// What failed is back at the broker.
    void returned();
    void lose(const Failure& why);

private:
    enum class Phase : std::uint8_t { idle, held, closing, over };
    struct Answer {
        ports::Delivery* delivery;
        std::optional<Failure> failure;
    };

    void give_later();
    void look_closed();
    [[nodiscard]] std::string name() const { return "session '" + id_ + "'"; }

    std::shared_ptr<Receiver> receiver_;
    Phase phase_{Phase::idle};
    std::string id_{};
    Group* group_{nullptr};
    ports::LinkEvents* events_{nullptr};
    std::uint32_t credit_{0};
    bool draining_{false};
    bool give_posted_{false};
    std::vector<Answer> answers_{};             // to be told
    std::vector<Held*> settling_{};             // the broker will answer
    std::vector<ports::Delivery*> returning_{}; // answered once they are back at the broker
    ports::SessionLink::DoneHandler close_handler_{};
};

/// The same as its owner sees it.
class GroupSessionLink final : public ports::SessionLink {
public:
    explicit GroupSessionLink(std::shared_ptr<GroupSession> session) noexcept
        : session_{std::move(session)} {}
    ~GroupSessionLink() override { session_->destroy(); }

    [[nodiscard]] const std::string& session_id() const noexcept override { return session_->id(); }
    /// A group is held until it is given back: it does not expire.
    [[nodiscard]] ports::LockGrant initial_lock() const noexcept override { return {}; }
    void set_events(ports::LinkEvents& events) override { session_->set_events(events); }
    void add_credit(std::uint32_t count) override { session_->add_credit(count); }
    void drain() override { session_->drain(); }
    void settle(ports::Delivery& delivery, ports::Settlement settlement) override {
        session_->settle(delivery, settlement);
    }
    ports::RequestId renew_lock(Deadline deadline, LockHandler handler) override;
    ports::RequestId get_state(Deadline deadline, StateHandler handler) override;
    ports::RequestId set_state(std::optional<std::string> state, Deadline deadline,
                               DoneHandler handler) override;
    ports::RequestId receive_deferred(std::vector<std::int64_t> sequence_numbers, Deadline deadline,
                                      DeliveriesHandler handler) override;
    /// Every request is refused: its answer is on the way.
    void give_up(ports::RequestId) override {}
    void close(DoneHandler handler) override { session_->close(std::move(handler)); }

private:
    const std::shared_ptr<GroupSession> session_;
};

} // namespace sessionq::groups
