#pragma once

#include <memory>
#include <vector>

#include "client/held_delivery.hpp"
#include "client/receiver_terms.hpp"
#include "ports/session_link.hpp"
#include "timing/timer.hpp"

namespace sessionq::client {

/// The locks that deliveries of a receiver have of their own: renews and ends them as a
/// `MessageLockKeeper` says. On the receiver's loop. Outlives the link's answers.
class HeldLocks {
public:
    /// `locks` is null if deliveries have none.
    HeldLocks(core::EventLoop& loop, ports::MessageLocks* locks, const ReceiverTerms& terms);
    ~HeldLocks();
    HeldLocks(const HeldLocks&) = delete;
    HeldLocks& operator=(const HeldLocks&) = delete;

    /// The delivery came.
    void add(HeldDelivery& delivery);
    /// The application gets them: from now on counts how long they may be renewed.
    void hand_out(const std::vector<ports::DeliveryPtr>& deliveries);
    /// The application settles it.
    void settle(const HeldDelivery& delivery) noexcept;
    /// All may end sooner than was granted.
    void became_uncertain();
    /// Renews now. Returns the id of the request.
    ports::RequestId renew(const PendingPtr<Deadline>& pending, std::shared_ptr<HeldLock> lock);

private:
    using Batch = std::vector<std::shared_ptr<HeldLock>>;
    using Answers = std::vector<core::Result<ports::LockGrant>>;

    void look();
    void arm();
    void renew(const std::vector<ports::MessageLock*>& due);
    void take(const Batch& batch, TimePoint asked, const Answers& answers);
    void publish(HeldLock& lock) noexcept;
    /// The keeper does not have it any more.
    static void lose(ports::MessageLock& lock) noexcept;
    [[nodiscard]] TimePoint renewal_end() const noexcept;

    core::EventLoop& loop_;
    ports::MessageLocks* const locks_;
    const Duration max_renewal_;
    ports::MessageLockKeeper keeper_;
    timing::Timer timer_{timing::Timer::calling<&HeldLocks::look>(this)};
};

} // namespace sessionq::client
