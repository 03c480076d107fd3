// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>

#include "core/backoff.hpp"
#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// While a session waits for a message that failed, no handler of it starts. After a message was
/// given back to be retried later, that holds until the delay is over, whoever holds the session by
/// then.
class DelayOracle final : public Oracle {
public:
    DelayOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment},
          policy_{expectations.options.failure_policy},
          removes_{expectations.options.receive_and_delete},
          expectations_{expectations} {}

    void handler_finished(const DeliveryRecord& delivery, bool threw) override {
        if (const Duration least = least_wait(delivery, threw);
            !expectations_.limits_change && least != Duration::zero()) {
            waits_[&delivery] = {.call = delivery.call,
                                 .ended = environment_.taken_calls.count(),
                                 .until = least == Duration::max()
                                              ? TimePoint::max()
                                              : environment_.scheduler.now() + least};
        }
        if (threw && !delivery.explicitly && policy_.action == FailurePolicy::Action::retry_later) {
            const std::size_t last = policy_.retry_delays.size() - 1;
            failed_[&delivery] =
                environment_.scheduler.now() +
                policy_.retry_delays[std::min<std::size_t>(delivery.delivery_count, last)];
        }
    }

    /// Else it was not tried again: it goes back to the broker, or has left.
    void settle_asked(const DeliveryRecord& delivery, ports::Outcome) override {
        const auto found = waits_.find(&delivery);
        if (found != waits_.end() && found->second.until != TimePoint::max()) {
            waits_.erase(found);
        }
    }
    void closing(const LinkRecord& link) override { forget(link); }
    void lost(const LinkRecord& link) override { forget(link); }

    void settle_answered(const DeliveryRecord& delivery, const Failure* failure) override {
        const auto failed = failed_.extract(&delivery);
        if (!failed.empty() && failure == nullptr && delivery.asked == ports::Outcome::abandon) {
            TimePoint& until = not_before_[delivery.message->session];
            until = std::max(until, failed.mapped());
        }
    }

    void handler_started(const DeliveryRecord& delivery) override {
        for (const auto& [failed, wait] : waits_) {
            const bool was_known = wait.ended < delivery.call &&
                                   environment_.taken_calls.was_back(wait.call, delivery.call);
            const bool waits = failed->present || wait.until == TimePoint::max();
            if (was_known && waits && failed->link == delivery.link &&
                environment_.scheduler.now() < wait.until) {
                environment_.verdict.report("(o) waiting (R6)",
                                            delivery.message->session + " #" +
                                                std::to_string(delivery.message->sequence) +
                                                " starts while the session waits for #" +
                                                std::to_string(failed->message->sequence));
            }
        }
        waits_.erase(&delivery);
        const auto found = not_before_.find(delivery.message->session);
        if (found != not_before_.end() && environment_.scheduler.now() < found->second) {
            environment_.verdict.report("(o) delay (R9)",
                                        delivery.message->session + " #" +
                                            std::to_string(delivery.message->sequence) +
                                            " is handled before its session's delay is over");
        }
    }

private:
    struct Wait {
        std::uint64_t call;  ///< that failed
        std::uint64_t ended; ///< how many calls had been taken when its handler ended
        TimePoint until;
    };

    /// How long nothing of the session starts on this link, at least: delays are cut by up to half.
    /// Duration::max(): the session is left then.
    [[nodiscard]] Duration least_wait(const DeliveryRecord& delivery, bool threw) const {
        const bool released = delivery.explicitly == ports::Outcome::release;
        if ((!threw || delivery.explicitly) && !released) {
            return Duration::zero();
        }
        if (!released && delivery.thrown < policy_.max_attempts) {
            return core::Backoff::at(policy_.retry_delay, delivery.thrown - 1) / 2;
        }
        if (removes_) {
            return Duration::zero();
        }
        using Action = FailurePolicy::Action;
        const bool abandons = released || policy_.action == Action::abandon;
        const bool parks = abandons ? policy_.abandon_delay.min > Duration::zero()
                                    : policy_.action == Action::park_session ||
                                          policy_.action == Action::retry_later;
        return parks ? Duration::max() : Duration::zero();
    }

    void forget(const LinkRecord& link) {
        std::erase_if(waits_, [&link](const auto& each) { return each.first->link == &link; });
    }

    Environment& environment_;
    const FailurePolicy& policy_;
    const bool removes_;
    const Expectations& expectations_;
    std::map<const DeliveryRecord*, Wait> waits_{};
    std::map<const DeliveryRecord*, TimePoint> failed_{};
    std::map<std::string, TimePoint> not_before_{};
};

} // namespace

std::unique_ptr<Oracle> make_delay_oracle(Environment& environment,
                                          const Expectations& expectations) {
    return std::make_unique<DelayOracle>(environment, expectations);
}

} // namespace sessionq::simulation
