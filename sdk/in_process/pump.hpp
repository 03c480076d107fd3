#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "broker/delivered.hpp"
#include "broker/instant.hpp"
#include "broker/settlement.hpp"
#include "core/event_loop.hpp"
#include "core/inbox.hpp"
#include "core/mpsc_queue.hpp"

namespace sessionq::in_process {

/// Something that has work to do on a loop now and then.
class Pumped : public core::MpscNode, public std::enable_shared_from_this<Pumped> {
public:
    virtual ~Pumped() = default;

    /// Does what there is to do; on the loop.
    virtual void turn() = 0;

private:
    friend class Pump;

    std::atomic<bool> is_stirred_{false}; // it is in the crossing queue, or about to be
    std::shared_ptr<Pumped> stirred_{};   // itself, while it is
    bool is_scheduled_{false};
};

/// Brings the links of one loop their turns: whatever stirs them, on the loop or off it, is one
/// turn each and one wake-up for all.
///
/// Bound to the loop's thread, but for `stir`. Serves until its last user lets go.
class Pump final : public core::Inbox, public std::enable_shared_from_this<Pump> {
public:
    explicit Pump(core::EventLoop& loop) : loop_{&loop} { loop.attach(*this); }

    void retain() noexcept { ++users_; }
    void release() noexcept;

    [[nodiscard]] core::EventLoop& loop() noexcept { return *loop_; }
    [[nodiscard]] broker::Instant now() const noexcept { return {loop_->now(), loop_->wall_now()}; }

    /// A turn for `item`, later. Already due: no effect.
    void schedule(Pumped& item);

    /// The same from any thread; the turn sees what this thread wrote before.
    void stir(Pumped& item) noexcept;

    void drain() noexcept override;

    /// Memory for one turn at a time, kept for the next.
    struct Scratch {
        std::vector<broker::Delivered> delivered{};
        std::vector<broker::SettleOrder> orders{};
    };
    [[nodiscard]] Scratch& scratch() noexcept { return scratch_; }

private:
    void take_stirred(std::vector<std::shared_ptr<Pumped>>& to);

    core::EventLoop* loop_; // written under mutex_
    std::mutex mutex_;      // for those who stir while the pump stops
    core::MpscQueue<Pumped> crossing_;
    std::vector<std::shared_ptr<Pumped>> due_;
    std::vector<std::shared_ptr<Pumped>> round_;
    std::size_t users_{0};
    bool is_woken_{false};
    Scratch scratch_;
};

} // namespace sessionq::in_process
