#pragma once

#include <list>
#include <memory>

#include <sessionq/processor_report.hpp>

#include "ports/lock_keeper.hpp"
#include "processor/message_call.hpp"
#include "processor/session_call.hpp"
#include "processor/session_machine.hpp"
#include "processor/session_view.hpp"
#include "timing/timer.hpp"
#include "timing/timer_service.hpp"

namespace sessionq::processor {

class Shard;

/// Where a session sits.
struct SessionSeat {
    std::size_t slot;
    std::size_t target;
    TimePoint asked_at; ///< when the accept was
};

/// Performs what `SessionMachine` and `LockKeeper` decide for one held session: the link on one
/// side, the lane on the other, one timer. Lives on its shard's loop and is owned by the shard.
class SessionDriver final : public ports::LinkEvents,
                            public std::enable_shared_from_this<SessionDriver> {
public:
    SessionDriver(Shard& shard, const SessionSeat& seat, ports::SessionLinkPtr link);
    ~SessionDriver() override;

    /// The session was accepted.
    void open();

    /// Gives the machine an input, `input(machine, now, actions)`, and performs its actions in
    /// their order. An input that comes meanwhile appends its own.
    template <typename Input>
    void feed(Input input);

    void ended(MessageCall& call); ///< its handler has returned, or will not run
    void session_call_ended();

    /// Null once the lock is lost.
    [[nodiscard]] ports::SessionLink* usable_link() const noexcept {
        return machine_.usable() ? link_.get() : nullptr;
    }
    void give_up(ports::RequestId id) {
        if (link_ != nullptr) {
            link_->give_up(id);
        }
    }
    [[nodiscard]] SlotDescription describe(TimePoint now) const;

    /// Any thread, while a handler of the session runs.
    [[nodiscard]] SessionView& view() noexcept { return view_; }

    std::list<std::shared_ptr<SessionDriver>>::iterator place{}; ///< in its shard's list

private:
    [[nodiscard]] ports::DeliveryPtr new_delivery() override { return MessageCall::make(*this); }
    void on_delivery(ports::DeliveryPtr delivery) override;
    void on_settled(ports::Delivery& delivery, const Failure* failure) override;
    void on_drained() override;
    void on_lock_uncertain() override;
    void on_lost(const Failure& reason) override;

    void on_due();
    void look_at_lock();
    void renew();
    void perform(const SessionAction& action);
    void take_back();
    void arm();

    Shard& shard_;
    const SessionSeat seat_;
    ports::SessionLinkPtr link_;
    SessionView view_;
    SessionMachine machine_;
    ports::LockKeeper lock_{};
    std::unique_ptr<SessionCall> session_call_{};
    timing::Timer timer_{timing::Timer::calling<&SessionDriver::on_due>(this)};
};

template <typename Input>
void SessionDriver::feed(Input input) {
    SessionActions& actions = view_.workplace().actions;
    const bool runs = !actions.empty(); // and takes these along
    input(machine_, view_.workplace().loop().now(), actions);
    if (runs) {
        return;
    }
    for (std::size_t i = 0; i < actions.size(); ++i) {
        perform(SessionAction{actions[i]});
    }
    actions.clear();
    arm();
}

} // namespace sessionq::processor
