#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "client/pending.hpp"
#include "ports/delivery.hpp"

namespace sessionq::client {

using Deliveries = std::vector<ports::DeliveryPtr>;

/// Brings those who wait for messages and the messages that come together, and decides how much
/// credit that takes. What comes when nobody waits is kept for the next who does. Tells the link
/// nothing itself; bound to its thread.
class ReceiveQueue {
public:
    /// What to tell the link now: credit first, then the drain.
    struct Flow {
        std::uint32_t credit{0};
        bool drain{false};
    };

    /// `reclaim`: credit that a caller left unused is taken back at once, else it stays out for the
    /// next one.
    explicit ReceiveQueue(bool reclaim) noexcept : reclaim_{reclaim} {}

    /// Somebody waits for up to `max` messages; with `present_only`, for those the broker has now.
    void want(PendingPtr<Deliveries> pending, std::size_t max, bool present_only);

    /// They gave up.
    void forget(const PendingBase& pending);

    /// One credit was used.
    void delivered(ports::DeliveryPtr delivery);

    /// All credit is used up or taken back.
    void drained() noexcept;

    /// Hands out what may be handed out; how many.
    std::size_t serve();

    /// What the link must be told; taken as told.
    [[nodiscard]] Flow next_flow();

    /// Asks for the one drain before leaving; false when there is no credit out, and thus nothing
    /// to wait for.
    [[nodiscard]] Flow last_flow();

    /// Nobody gets anything any more.
    void fail_all(const Failure& why);

    [[nodiscard]] bool is_draining() const noexcept { return draining_; }
    [[nodiscard]] bool has_work() const noexcept { return !wants_.empty() && !ready_.empty(); }

private:
    struct Want {
        PendingPtr<Deliveries> pending;
        std::size_t max;
        bool present_only;
        bool in_drain{false}; ///< the drain under way tells all that is present for it
        bool final{false};    ///< it is known that no more is present
    };

    [[nodiscard]] bool may_answer(const Want& want) const noexcept;
    std::size_t answer(const Want& want);

    const bool reclaim_;
    std::deque<Want> wants_;
    std::deque<ports::DeliveryPtr> ready_;
    std::size_t credit_{0};
    bool draining_{false};
};

} // namespace sessionq::client
