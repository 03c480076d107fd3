// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <vector>

#include <sessionq/processor_report.hpp>

#include "core/inbox.hpp"
#include "processor/slots/slot_table.hpp"
#include "processor/stop_machine.hpp"
#include "processor/workplace.hpp"

namespace sessionq::detail::processor {

/// The part of a processor on one receive thread. It owns the sessions and the slots of that
/// thread. At the end of a turn of the loop it takes the workers' notices, sets timers and wakes
/// workers. It stops the sessions and watches the health. It runs on its loop only. The processor
/// owns it, and callbacks hold it weakly.
class Shard final : public core::Inbox,
                    SlotOwner,
                    SessionOwner,
                    public std::enable_shared_from_this<Shard> {
public:
    /// `number`: the index of the shard in its processor. `budget`: the bytes that its messages may
    /// take.
    Shard(std::shared_ptr<SharedState> shared, std::size_t number, ports::Endpoint& endpoint,
          std::uint64_t seed, std::size_t budget);
    ~Shard() = default;
    Shard(const Shard&) = delete;
    Shard& operator=(const Shard&) = delete;

    /// `slots` of the processor's `all_slots` are here.
    void start(std::uint32_t slots, std::uint32_t all_slots);
    void set_limits(std::uint32_t slots, std::uint32_t all_slots,
                    const SessionProcessorLimits& limits);

    /// Leaves all sessions, and accepts none until `resume`.
    void pause();
    void resume() { slots_.resume(); }
    /// A named session became free on another thread.
    void look_again() { slots_.look_again(); }

    using Stopped = std::function<void(const StopReport&)>;
    /// Stops the shard. `stopped` is called by the deadline. `gone` is called when the last handler
    /// has returned. Each is called once, in a later turn of the loop. After `gone`, nothing of the
    /// shard is left on the loop. In a further call of `stop`, only an earlier deadline has an
    /// effect.
    void stop(const StopTerms& terms, Stopped stopped, std::function<void()> gone);

    /// Adds the shard's part to the description, and appends its health to `healths`.
    void describe(ProcessorDescription& into, std::vector<Health>& healths);

    [[nodiscard]] Workplace& workplace() noexcept { return workplace_; }
    /// Any thread.
    [[nodiscard]] const Meters& meters() const noexcept { return workplace_.meters; }
    [[nodiscard]] core::EventLoop& loop() const noexcept { return workplace_.loop(); }

private:
    // Calls of the slots
    [[nodiscard]] ports::FirstCredit first_credit() override;
    [[nodiscard]] SessionDriver& add_session(const SessionGrant& grant,
                                             ports::SessionLinkPtr link) override;

    // Calls of the sessions
    void lane_ready() override;
    void slot_free(const SessionGrant& grant, CloseReason reason, bool had_messages) override;
    void let_go(const SessionGrant& grant) override { slots_.let_go(grant.target); }
    void closed_in(Duration taken) override { slots_.closed_in(taken); }
    void session_ended(SessionDriver& session) override;

    struct HealthWatch {
        std::size_t shard;
        HealthMachine machine;
        HealthNews news{};
    };
    using Sessions = std::list<std::shared_ptr<SessionDriver>>;

    void drain() noexcept override;
    void take_notices();
    void free_ended();
    void apply(const StopActions& actions);
    /// Gives an input to the machine of every session, with or without a slot.
    template <typename... Wants, typename... Gives>
    void feed_sessions(void (SessionMachine::*input)(Wants...), Gives... gives);
    [[nodiscard]] Health health();
    void on_watchdog();
    void on_stop_due();

    Workplace workplace_;
    SlotTable slots_;
    SessionLimits limits_;
    const SessionSettings settings_; ///< of all sessions
    Sessions sessions_{};
    Sessions ended_{};           ///< destroyed at the end of the turn
    Sessions spare_{};           ///< empty places, for later sessions
    std::size_t ready_lanes_{0}; ///< lanes that became ready in this turn
    StopMachine stop_{};
    Stopped stopped_{};
    std::function<void()> gone_{};
    HealthWatch health_;
    timing::Timer watchdog_{timing::Timer::calling<&Shard::on_watchdog>(this)};
    timing::Timer stop_timer_{timing::Timer::calling<&Shard::on_stop_due>(this)};
};

} // namespace sessionq::detail::processor
