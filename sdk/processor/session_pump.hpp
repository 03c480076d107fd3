#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <sessionq/processor_report.hpp>
#include <sessionq/session_context.hpp>

#include "core/event_loop.hpp"
#include "core/intrusive_list.hpp"
#include "dispatch/dispatcher.hpp"
#include "ports/session_link.hpp"
#include "processor/answer_bounds.hpp"
#include "processor/failure_decision.hpp"
#include "processor/lease.hpp"
#include "processor/message_call.hpp"
#include "processor/session_call.hpp"
#include "processor/session_machine.hpp"
#include "timing/session_idle_timer.hpp"
#include "timing/timer.hpp"

namespace sessionq::processor {

class Shard;

/// Performs what `SessionMachine`, `Lease` and the failure policy decide for one held session: the
/// link on one side, the lane on the other. Lives on its shard's loop; the members under "any
/// thread" are what handlers on workers touch.
class SessionPump final : public ports::LinkEvents,
                          public std::enable_shared_from_this<SessionPump> {
public:
    SessionPump(Shard& shard, std::size_t slot, std::size_t target, ports::SessionLinkPtr link,
                TimePoint asked_at);
    ~SessionPump() override;

    using Place = std::list<std::shared_ptr<SessionPump>>::iterator;
    Place place{}; ///< in its shard's list

    // On the loop
    void open();
    void leave(CloseReason reason);
    /// Gives the session up although handlers run: their settlements fail from now on. What `stop`
    /// does at its deadline.
    void abandon_running();
    void fire_stop();
    void set_max_calls(std::uint32_t calls);
    void settle_requested(MessageCall& call); ///< the handler settled and still runs
    void call_finished(MessageCall& call);
    void session_call_finished(const SessionCall& call);
    ports::RequestId get_state(Deadline deadline, ports::SessionLink::StateHandler handler);
    ports::RequestId set_state(std::optional<std::string> state, Deadline deadline,
                               ports::SessionLink::DoneHandler handler);
    void give_up(ports::RequestId id);
    [[nodiscard]] SlotDescription describe(TimePoint now) const;
    [[nodiscard]] const SessionMachine& machine() const noexcept { return machine_; }
    /// Handlers that have started and not told their end, on_session_open and on_session_close
    /// among them.
    [[nodiscard]] std::uint32_t running() const noexcept {
        return unfinished_ - static_cast<std::uint32_t>(lane_->waiting()) +
               (session_call_ ? 1U : 0U);
    }
    [[nodiscard]] std::size_t slot() const noexcept { return slot_; }
    [[nodiscard]] std::size_t target() const noexcept { return target_; }
    [[nodiscard]] bool is_slow(TimePoint now) const noexcept;

    // Any thread, while a handler of the session runs
    [[nodiscard]] Shard& shard() const noexcept { return shard_; }
    [[nodiscard]] const std::string& session_id() const noexcept { return session_id_; }
    [[nodiscard]] const std::string& entity() const noexcept;
    [[nodiscard]] Deadline lease_expires() const noexcept;
    [[nodiscard]] TimePoint last_start() const noexcept {
        return TimePoint{Duration{last_start_.load(std::memory_order_acquire)}};
    }
    [[nodiscard]] std::stop_token stop_token() const noexcept { return stop_.get_token(); }
    [[nodiscard]] bool lease_over(TimePoint now) const noexcept {
        return last_start() == TimePoint::min() || lease_expires().passed(now);
    }
    [[nodiscard]] bool strict() const noexcept { return strict_.load(std::memory_order_relaxed); }
    [[nodiscard]] dispatch::Lane& lane() const noexcept { return *lane_; }
    void request_release();

private:
    // LinkEvents
    [[nodiscard]] ports::DeliveryPtr new_delivery() override;
    void on_delivery(ports::DeliveryPtr delivery) override;
    void on_settled(ports::Delivery& delivery, const Failure* failure) override;
    void on_drained() override;
    void on_lease_doubted() override;
    void on_lost(const Failure& reason) override;

    void begin();
    void apply(const SessionActions& actions);
    void lose(CloseReason reason);
    void give_up(CloseReason reason);
    void give_credit_back();
    void call_failed(MessageCall& call);
    void retry(MessageCall& call, Duration delay);
    void rewind(MessageCall& call);
    void dead_letter_rest(MessageCall& call);
    void settle(MessageCall& call, ports::Settlement settlement);
    void send_settlement(MessageCall& call);
    void dispose(MessageCall& call);
    void release_waiting();
    void discard_waiting();
    void settle_failed();
    void release_lane(MessageCall& call);
    void release_hold();
    void settle_as_decided(MessageCall& call);
    void lose_later(CloseReason reason);
    void forget_link();
    void count_turn();
    void start_drain();
    void commit_idle();
    void close_link();
    void finish();
    void run_session_call(SessionCall::Kind kind);
    void renew_lock();
    /// A handler that told its end in the very tick in which the lease ends may still be settled:
    /// the broker then decides.
    void drive_lease();
    void grant_credit();
    void restart_idle_clock();
    void put_first(MessageCall& call);
    void arm_retry_timer();
    void arm_guard();
    [[nodiscard]] AnswerBounds::Outstanding outstanding() const noexcept;
    template <typename Visit>
    void take_waiting(Visit visit);
    [[nodiscard]] bool usable() const noexcept { return link_ != nullptr && !machine_.is_lost(); }
    [[nodiscard]] bool may_wait() const noexcept {
        return !machine_.is_leaving() && !lease_.warned();
    }
    void report(ErrorSource source, Failure failure) const;

    void on_idle_due();
    void on_retry_due();
    void on_hold_due() { leave(CloseReason::max_hold); }
    void on_guard_due();

    Shard& shard_;
    const std::size_t slot_;
    const std::size_t target_;
    const std::string session_id_;
    const TimePoint asked_at_;
    ports::SessionLinkPtr link_;
    dispatch::LanePtr lane_;
    SessionMachine machine_;
    Lease lease_{};
    timing::SessionIdleTimer idle_;
    std::optional<timing::SessionIdleTimer::Arming> arming_{};
    std::uint32_t due_epoch_{0};
    std::stop_source stop_{};
    std::atomic<Duration::rep> last_start_;
    std::atomic<Duration::rep> lease_expires_;
    std::atomic<bool> strict_;

    core::IntrusiveList<dispatch::Call, dispatch::Lane>
        retrying_{}; ///< finished tries that wait for the next one
    core::IntrusiveList<dispatch::Call, dispatch::Lane> unanswered_{}; ///< settlements on their way
    core::IntrusiveList<dispatch::Call, dispatch::Lane>
        failed_{}; ///< to be abandoned once what is behind it went back
    std::unique_ptr<SessionCall> session_call_{};
    bool stop_fired_{false};
    bool parked_{false};
    bool came_{false}; ///< a message came
    TimePoint parked_until_{};
    bool given_back_{false};      ///< the slot was told that the session is left
    bool begun_{false};           ///< no earlier lease is in the way
    std::uint32_t unfinished_{0}; ///< in the lane or running
    std::uint32_t holds_{0};      ///< calls that said hold, told here and not released
    std::uint32_t handled_{0};
    TimePoint progress_at_;
    AnswerBounds bounds_;

    timing::Timer idle_timer_{timing::Timer::calling<&SessionPump::on_idle_due>(this)};
    timing::Timer lease_timer_{timing::Timer::calling<&SessionPump::drive_lease>(this)};
    timing::Timer retry_timer_{timing::Timer::calling<&SessionPump::on_retry_due>(this)};
    timing::Timer hold_timer_{timing::Timer::calling<&SessionPump::on_hold_due>(this)};
    timing::Timer guard_timer_{timing::Timer::calling<&SessionPump::on_guard_due>(this)};
};

} // namespace sessionq::processor
