// SPDX-License-Identifier: MIT
#pragma once

#include <list>
#include <memory>
#include <utility>

#include <sessionq/processor_report.hpp>

#include "ports/held_link.hpp"
#include "processor/message/message_call.hpp"
#include "processor/report/session_snapshot.hpp"
#include "processor/session/handled_session.hpp"
#include "processor/session/record_keeper.hpp"
#include "processor/session/session_call.hpp"
#include "processor/session/session_machine.hpp"
#include "processor/session/session_view.hpp"

namespace sessionq::detail::processor {

/// The messages that a handler asked for and settles by itself. The session's machine does not know
/// them. The client implements the class. An object is destroyed after the link. It then fails the
/// settlements that the broker has not answered.
class AskedMessages {
public:
    virtual ~AskedMessages() = default;
    virtual void settled(ports::Delivery& delivery, const Failure* failure) = 0;
};

/// The session of a `SessionDriver`, as its handlers see it. A `SessionContext` refers to it.
class DrivenSession final : public HandledSession {
public:
    explicit DrivenSession(SessionDriver& driver) noexcept : driver_{driver} {}

    [[nodiscard]] const std::string& session_id() const noexcept override;
    [[nodiscard]] const std::string& entity() const noexcept override;
    [[nodiscard]] Deadline lock_expires() const noexcept override;
    [[nodiscard]] std::stop_token stop_token() const noexcept override;
    void release() noexcept override;
    [[nodiscard]] dispatch::CoroutineHost& coroutines() override;
    [[nodiscard]] SessionDriver* driver() const noexcept override { return &driver_; }

private:
    SessionDriver& driver_;
};

/// The slot and the target that an accepted session belongs to, and the instants of its accept.
/// `SlotTable` makes it and gets it back when the session leaves.
struct SessionGrant {
    std::size_t slot;
    std::size_t target;
    TimePoint asked_at;     ///< when the accept was sent
    TimePoint granted_at{}; ///< when the session came
    TimePoint left_at{};    ///< when the slot left the session before; unset: there was none
};

class SessionDriver;

/// Owns the driver of a session and hears from it. The shard implements it. On the loop.
class SessionOwner {
public:
    /// A lane has work. The owner wakes the workers at the end of the turn.
    virtual void lane_ready() = 0;
    /// The slot may take the next session.
    virtual void slot_free(const SessionGrant& grant, CloseReason reason, bool had_messages) = 0;
    /// The session is no longer ours.
    virtual void let_go(const SessionGrant& grant) = 0;
    /// The broker answered the close of a session after `taken`.
    virtual void closed_in(Duration taken) = 0;
    /// Nothing of the session is left. The driver is in the middle of a call.
    virtual void session_ended(SessionDriver& session) = 0;

protected:
    ~SessionOwner() = default;
};

/// Performs the decisions of `SessionMachine` for one held session. The link brings messages to the
/// driver. The driver puts them into the lane, and workers take them from the lane. The shard owns
/// the driver. The driver lives on the shard's loop, and has one timer there.
class SessionDriver final : public ports::LinkEvents,
                            public std::enable_shared_from_this<SessionDriver> {
public:
    SessionDriver(SessionOwner& owner, Workplace& workplace, const SessionGrant& grant,
                  const std::string& entity, const SessionSettings& settings, SessionStart start,
                  ports::SessionLinkPtr link);

    /// The session was accepted.
    void open();

    /// Gives the machine an input, and performs the actions that follow from it in order. If
    /// another input comes meanwhile, its actions are performed after these.
    template <typename... Wants, typename... Gives>
    void feed(void (SessionMachine::*input)(Wants...), Gives&&... gives) {
        (machine_.at(view_.loop().now()).*input)(std::forward<Gives>(gives)...);
        if (perform()) {
            view_.workplace().timers.changed(timer_);
        }
    }

    void ended(MessageCall& call); ///< its handler has returned, or will not run
    void session_call_ended();

    /// Fires the stop tokens of the handlers: the processor stops.
    void request_stop() {
        view_.fire_stop();
        link_.request_stop();
    }

    // For the requests of the session's handlers, on the loop
    /// Returns the link of the session; null: the session is not held any more.
    [[nodiscard]] ports::HeldLink* held_link() noexcept {
        return machine_.keeps_lock() && link_.is_there() ? &link_ : nullptr;
    }
    [[nodiscard]] std::unique_ptr<AskedMessages>& asked() noexcept { return asked_; }
    [[nodiscard]] const SessionMachine& machine() const noexcept { return machine_; }
    /// Returns the state of the session now. The running handlers are counted only if the session
    /// has made no progress since `quiet_since`.
    [[nodiscard]] SessionSnapshot snapshot(TimePoint quiet_since) const;

    /// Any thread, while a handler of the session runs.
    [[nodiscard]] SessionView& view() noexcept { return view_; }
    [[nodiscard]] HandledSession& handled() noexcept { return handled_; }

    std::list<std::shared_ptr<SessionDriver>>::iterator place{}; ///< in its shard's list

private:
    [[nodiscard]] ports::DeliveryPtr new_delivery() override { return MessageCall::make(*this); }
    void on_delivery(ports::DeliveryPtr delivery) override;
    void on_settled(ports::Delivery& delivery, const Failure* failure) override;
    void on_drained() override { feed(&SessionMachine::drained); }
    void on_lock_uncertain() override { feed(&SessionMachine::lock_uncertain); }
    void on_lost(const Failure& reason) override;

    struct Steps; ///< one overload for each action

    bool perform(); ///< false: an outer call does
    void drop_link();
    void take_back();
    void renew_lock();
    void run_call(std::optional<CloseReason> closes);
    void settle(MessageCall& call, const Resolution& resolution);

    SessionOwner& owner_;
    const SessionGrant grant_;
    std::unique_ptr<AskedMessages> asked_{}; ///< null: none was settled. Outlives the link
    ports::HeldLink link_;
    SessionView view_;
    DrivenSession handled_{*this};
    RecordKeeper record_;
    SessionMachine machine_;
    std::unique_ptr<SessionCall> session_call_{};
    SessionTimer timer_{machine_, this, [](void* self) {
                            static_cast<SessionDriver*>(self)->feed(&SessionMachine::due);
                        }};
};

} // namespace sessionq::detail::processor
