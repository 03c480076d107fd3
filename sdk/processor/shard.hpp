#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <sessionq/processor_options.hpp>
#include <sessionq/processor_report.hpp>

#include "core/event_loop.hpp"
#include "core/mpsc_queue.hpp"
#include "core/random.hpp"
#include "core/recycler.hpp"
#include "ports/endpoint.hpp"
#include "processor/accept_targets.hpp"
#include "processor/credit_policy.hpp"
#include "processor/late_sessions.hpp"
#include "processor/message_call.hpp"
#include "processor/pump_call.hpp"
#include "processor/session_pump.hpp"
#include "processor/shared_state.hpp"
#include "processor/slot_machine.hpp"

namespace sessionq::processor {

/// The slots of a processor that live on one receive thread, performed: accepts, rolls, stopping,
/// the watchdog. All on its loop, but for `notify`.
class Shard final : public core::Inbox, public std::enable_shared_from_this<Shard> {
public:
    Shard(std::shared_ptr<SharedState> shared, ports::Endpoint& endpoint, std::uint64_t seed,
          std::size_t budget);
    ~Shard() = default;
    Shard(const Shard&) = delete;
    Shard& operator=(const Shard&) = delete;

    /// `slots` of the processor's `all_slots` are here.
    void start(std::uint32_t slots, std::uint32_t all_slots);
    void set_limits(std::uint32_t slots, std::uint32_t all_slots, std::uint32_t calls_per_session);
    /// Named sessions: one that became free may be what a vacant slot waits for.
    void start_starved();

    using Stopped = std::function<void(const StopReport&)>;
    /// Once. `stopped` runs on the loop, by the deadline.
    void stop(Deadline deadline, Stopped stopped);
    /// While it stops: an earlier deadline counts from now on.
    void shorten_stop(Deadline deadline);

    void describe(ProcessorDescription& into) const;

    /// A call has something to tell. Any thread.
    void notify(PumpCall& call) noexcept {
        core::EventLoop& loop = endpoint_.loop();
        if (notices_.push(call)) {
            loop.wake();
        }
    }

    // For the pumps
    [[nodiscard]] SharedState& shared() const noexcept { return *shared_; }
    [[nodiscard]] const ProcessorOptions& options() const noexcept { return shared_->options; }
    [[nodiscard]] core::EventLoop& loop() const noexcept { return endpoint_.loop(); }
    [[nodiscard]] timing::TimerService& timers() const noexcept {
        return endpoint_.loop().timers();
    }
    [[nodiscard]] ports::Endpoint& endpoint() const noexcept { return endpoint_; }
    [[nodiscard]] CreditPolicy& credit() noexcept { return credit_; }
    [[nodiscard]] core::Random& random() noexcept { return random_; }
    [[nodiscard]] core::Recycler& call_memory() noexcept { return call_memory_; }
    [[nodiscard]] const AcceptTarget& target(std::size_t index) const noexcept {
        return targets_[index];
    }
    [[nodiscard]] std::uint32_t calls_per_session() const noexcept { return calls_per_session_; }
    [[nodiscard]] bool keeps_idle_sessions() const noexcept {
        return targets_.named() && targets_.size() <= all_slots_;
    }
    [[nodiscard]] bool stopping() const noexcept { return stopping_; }
    /// Its slot may accept the next one. `fruitless_for`: no message came since it was asked for,
    /// so long ago.
    void session_left(SessionPump& pump, CloseReason reason, std::optional<Duration> fruitless_for);
    void pump_finished(SessionPump& pump);
    void count_released() noexcept { report_.released += stopping_ ? 1 : 0; }
    void count_drained() noexcept { ++report_.drained; }
    void touched(); ///< work became ready: the workers are told, once a turn

private:
    struct Accept {
        std::size_t slot;
        std::size_t target;
        ports::RequestId id{0};
        TimePoint asked_at{};
        bool given_up{false};
    };
    struct Slot {
        Slot(Shard& owner, std::size_t number, BackoffOptions backoff)
            : shard{&owner},
              index{number},
              machine{backoff},
              timer{timing::Timer::calling<&Slot::on_timer>(this)} {}
        void on_timer() { shard->on_slot_timer(*this); }

        Shard* shard;
        std::size_t index;
        SlotMachine machine;
        timing::Timer timer;
        std::shared_ptr<Accept> accept{};
        SessionPump* pump{nullptr};
        TimePoint since{};
        std::string last_failure{};
    };
    enum class StopStep : std::uint8_t { none, waiting, told };

    void drain() noexcept override;
    void apply(Slot& slot, const SlotActions& actions);
    void start_accept(Slot& slot);
    void cancel_accept(Slot& slot);
    void accept_answered(const std::shared_ptr<Accept>& accept,
                         core::Result<ports::SessionLinkPtr> answer);
    void open_session(Slot& slot, const Accept& accept, ports::SessionLinkPtr link);
    void release_late(ports::SessionLinkPtr link);
    void sweep_late();
    void on_slot_timer(Slot& slot);
    void on_watchdog();
    void arm_stop(Deadline deadline);
    void on_stop_warning();
    void on_stop_deadline();
    void finish_stop_if_done();
    void finish_stop();
    void let_go();
    [[nodiscard]] SlotDescription describe(const Slot& slot, TimePoint now) const;

    std::shared_ptr<SharedState> shared_;
    ports::Endpoint& endpoint_;
    core::Random random_;
    CreditPolicy credit_;
    core::Recycler call_memory_{sizeof(MessageCall),
                                512}; // what arrives and is done within a few turns
    AcceptTargets targets_;
    core::MpscQueue<PumpCall> notices_{};
    std::deque<Slot> slots_{};
    std::list<std::shared_ptr<SessionPump>> pumps_{};
    LateSessions late_;
    std::uint32_t active_slots_{0};
    std::uint32_t all_slots_{0}; ///< of all shards
    std::uint32_t calls_per_session_;
    std::uint32_t orphans_{0}; ///< accepts given up and not answered yet
    bool stopping_{false};
    StopStep stop_step_{StopStep::none};
    bool flush_posted_{false};
    Stopped stopped_{};
    StopReport report_{};
    std::vector<std::string> degraded_{};
    std::shared_ptr<Shard> retain_{}; ///< itself, while handlers outlive `stop`

    timing::Timer watchdog_{timing::Timer::calling<&Shard::on_watchdog>(this)};
    timing::Timer stop_warning_{timing::Timer::calling<&Shard::on_stop_warning>(this)};
    timing::Timer stop_timer_{timing::Timer::calling<&Shard::on_stop_deadline>(this)};
};

} // namespace sessionq::processor
