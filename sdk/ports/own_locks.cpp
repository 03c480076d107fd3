// SPDX-License-Identifier: MIT
#include "ports/own_locks.hpp"

#include <utility>

#include "timing/timer_service.hpp"

namespace sessionq::ports {

OwnLocks::OwnLocks(core::EventLoop& loop, core::Executor& notifier, MessageLocks& port,
                   Settings settings)
    : loop_{loop},
      notifier_{notifier},
      port_{port},
      settings_{std::move(settings)},
      keeper_{settings_.renewal} {}

OwnLocks::~OwnLocks() {
    while (MessageLock* lock = keeper_.any()) {
        const auto last_owner = std::move(static_cast<OwnLock::Kept&>(*lock).owner);
        keeper_.remove(*lock);
        last_owner->phase_.store(OwnLock::Phase::lost);
        warn(*last_owner);
    }
}

std::shared_ptr<OwnLock> OwnLocks::add(const Delivery& delivery, Delivery* held) {
    if (!delivery.lock) {
        return nullptr;
    }
    const auto lock = std::make_shared<OwnLock>(delivery.port_tag);
    lock->kept_.owner = lock;
    lock->kept_.held = held;
    keeper_.add(lock->kept_, loop_.now(), *delivery.lock);
    restart(*lock);
    lock->show();
    arm();
    return lock;
}

void OwnLocks::restart(OwnLock& lock) noexcept { keeper_.renew_until(lock.kept_, renewal_end()); }

void OwnLocks::remove(OwnLock* lock) noexcept {
    if (lock != nullptr) {
        keeper_.remove(lock->kept_);
        const auto last_owner = std::move(lock->kept_.owner);
    }
}

void OwnLocks::became_uncertain() {
    keeper_.became_uncertain(loop_.now());
    arm();
}

void OwnLocks::request_stop() {
    for (MessageLock* lock : keeper_.all()) {
        warn(*static_cast<OwnLock::Kept&>(*lock).owner);
    }
}

void OwnLocks::look() {
    const MessageLockActions actions = keeper_.look(loop_.now());
    for (MessageLock* lock : actions.lost) {
        lose(*lock);
    }
    for (MessageLock* lock : actions.warn) {
        warn(*static_cast<OwnLock::Kept&>(*lock).owner);
    }
    renew(actions.renew);
    arm();
}

void OwnLocks::arm() { loop_.timers().set_due(timer_, keeper_.next()); }

void OwnLocks::warn(OwnLock& lock) {
    notifier_.post([bound = lock.bound_] { bound->request_stop(); });
}

/// Renews locks. The lock of a dropped message is left to expire, because the broker then counts
/// the delivery.
void OwnLocks::renew(const std::vector<MessageLock*>& due) {
    Batch batch;
    std::vector<std::uint64_t> tags;
    Deadline deadline;
    for (MessageLock* each : due) {
        OwnLock& lock = *static_cast<OwnLock::Kept&>(*each).owner;
        if (lock.phase() == OwnLock::Phase::dropped) {
            remove(&lock);
        } else {
            deadline = deadline.sooner(each->expires());
            tags.push_back(lock.port_tag());
            batch.push_back(lock.kept_.owner);
        }
    }
    if (!batch.empty()) {
        port_.renew(std::move(tags), deadline,
                    [this, batch = std::move(batch), asked = loop_.now()](const Answers& answers) {
                        take(batch, asked, answers);
                    });
    }
}

RequestId OwnLocks::renew(const std::shared_ptr<OwnLock>& lock, Deadline deadline,
                          Renewed renewed) {
    if (!lock->kept_.is_kept()) {
        renewed(Failure{.code = Errc::lock_lost, .detail = "the message's lock ended"});
        return 0;
    }
    return port_.renew(
        {lock->port_tag()}, deadline,
        [this, lock, asked = loop_.now(), renewed = std::move(renewed)](const Answers& answers) {
            take({lock}, asked, answers);
            const auto& answer = answers.front();
            renewed(answer ? core::Result<Deadline>{lock->kept_.expires()}
                           : core::Result<Deadline>{answer.failure()});
        });
}

void OwnLocks::take(const Batch& batch, TimePoint asked, const Answers& answers) {
    if (settings_.renewed && !answers.empty()) { // the broker answered all locks at once
        settings_.renewed(loop_.now() - asked, answers.front());
    }
    for (std::size_t at = 0; at < batch.size(); ++at) {
        OwnLock& lock = *batch[at];
        if (keeper_.answered(lock.kept_, asked, loop_.now(), answers[at])) {
            lose(lock.kept_);
        } else {
            lock.show();
        }
    }
    arm();
}

void OwnLocks::lose(MessageLock& lock) {
    const auto last_owner = std::move(static_cast<OwnLock::Kept&>(lock).owner);
    const bool was_held = last_owner->phase() == OwnLock::Phase::held;
    last_owner->phase_.store(OwnLock::Phase::lost);
    warn(*last_owner);
    if (was_held && settings_.lost) {
        settings_.lost(last_owner->kept_.held);
    }
}

TimePoint OwnLocks::renewal_end() const noexcept {
    return settings_.max_renewal == Duration::zero()
               ? TimePoint::max()
               : Deadline::after(settings_.max_renewal, loop_.now()).time();
}

} // namespace sessionq::ports
