#include "client/held_locks.hpp"

#include <utility>

#include "timing/timer_service.hpp"

namespace sessionq::client {
namespace {

using Renewal = ports::MessageLockKeeper::Renewal;

HeldLock& of(ports::MessageLock& lock) noexcept {
    return *static_cast<HeldLock::Kept&>(lock).owner;
}

} // namespace

HeldLocks::HeldLocks(core::EventLoop& loop, ports::MessageLocks* locks, const ReceiverTerms& terms)
    : loop_{loop},
      locks_{locks},
      max_renewal_{terms.max_lock_renewal},
      keeper_{terms.renews ? Renewal::automatic : Renewal::by_hand} {}

HeldLocks::~HeldLocks() {
    while (ports::MessageLock* lock = keeper_.any()) {
        keeper_.remove(*lock);
        lose(*lock);
    }
}

void HeldLocks::add(HeldDelivery& delivery) {
    if (locks_ == nullptr || !delivery.lock) {
        return;
    }
    const auto lock = std::make_shared<HeldLock>(delivery.port_tag);
    delivery.own_lock = lock;
    lock->kept.owner = lock;
    keeper_.add(lock->kept, loop_.now(), *delivery.lock);
    keeper_.renew_until(lock->kept, renewal_end());
    publish(*lock);
    arm();
}

void HeldLocks::hand_out(const std::vector<ports::DeliveryPtr>& deliveries) {
    for (const ports::DeliveryPtr& each : deliveries) {
        if (const auto& lock = static_cast<const HeldDelivery&>(*each).own_lock) {
            keeper_.renew_until(lock->kept, renewal_end());
        }
    }
}

void HeldLocks::settle(const HeldDelivery& delivery) noexcept {
    if (delivery.own_lock != nullptr) {
        keeper_.remove(delivery.own_lock->kept);
        delivery.own_lock->kept.owner.reset();
    }
}

void HeldLocks::became_uncertain() {
    keeper_.became_uncertain(loop_.now());
    arm();
}

void HeldLocks::look() {
    const ports::MessageLockActions actions = keeper_.look(loop_.now());
    for (ports::MessageLock* lock : actions.lost) {
        lose(*lock);
    }
    renew(actions.renew);
    arm();
}

void HeldLocks::arm() { loop_.timers().set_due(timer_, keeper_.next()); }

/// A message that the application dropped is left to its broker, which counts the delivery.
void HeldLocks::renew(const std::vector<ports::MessageLock*>& due) {
    Batch batch;
    std::vector<std::uint64_t> tags;
    Deadline deadline;
    for (ports::MessageLock* each : due) {
        HeldLock& lock = of(*each);
        if (lock.phase.load() == HeldLock::Phase::dropped) {
            keeper_.remove(*each);
            lock.kept.owner.reset();
        } else {
            deadline = deadline.sooner(each->expires());
            tags.push_back(lock.port_tag);
            batch.push_back(lock.kept.owner);
        }
    }
    if (!batch.empty()) {
        locks_->renew(std::move(tags), deadline,
                      [this, batch = std::move(batch), asked = loop_.now()](
                          const Answers& answers) { take(batch, asked, answers); });
    }
}

ports::RequestId HeldLocks::renew(const PendingPtr<Deadline>& pending,
                                  std::shared_ptr<HeldLock> lock) {
    if (!lock->kept.is_kept()) {
        pending->complete(Failure{.code = Errc::lock_lost, .detail = "the message's lock ended"});
        return 0;
    }
    const std::uint64_t tag = lock->port_tag;
    return locks_->renew(
        {tag}, pending->deadline(),
        [this, lock = std::move(lock), asked = loop_.now(),
         answer_to = AnswerTo<Deadline>{pending, Errc::lock_lost}](const Answers& answers) {
            take({lock}, asked, answers);
            answer_to(answers.front() ? core::Result<Deadline>{lock->kept.expires()}
                                      : core::Result<Deadline>{answers.front().failure()});
        });
}

void HeldLocks::take(const Batch& batch, TimePoint asked, const Answers& answers) {
    for (std::size_t at = 0; at < batch.size(); ++at) {
        HeldLock& lock = *batch[at];
        if (keeper_.answered(lock.kept, asked, loop_.now(), answers[at])) {
            lose(lock.kept);
        } else {
            publish(lock);
        }
    }
    arm();
}

void HeldLocks::publish(HeldLock& lock) noexcept {
    lock.expires.store(lock.kept.expires().time().time_since_epoch().count(),
                       std::memory_order_release);
}

void HeldLocks::lose(ports::MessageLock& lock) noexcept {
    const auto last_owner = std::move(static_cast<HeldLock::Kept&>(lock).owner);
    last_owner->phase.store(HeldLock::Phase::lost);
}

TimePoint HeldLocks::renewal_end() const noexcept {
    return max_renewal_ == Duration::zero() ? TimePoint::max()
                                            : Deadline::after(max_renewal_, loop_.now()).time();
}

} // namespace sessionq::client
