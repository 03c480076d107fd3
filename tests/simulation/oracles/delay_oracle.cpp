// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// After a message was given back to be retried later, no handler of its session starts before the
/// delay is over, whoever holds the session by then.
class DelayOracle final : public Oracle {
public:
    DelayOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, policy_{expectations.options.failure_policy} {}

    void handler_finished(const DeliveryRecord& delivery, bool threw) override {
        if (threw && !delivery.explicitly && policy_.action == FailurePolicy::Action::retry_later) {
            const std::size_t last = policy_.retry_delays.size() - 1;
            failed_[&delivery] =
                environment_.scheduler.now() +
                policy_.retry_delays[std::min<std::size_t>(delivery.delivery_count, last)];
        }
    }

    void settle_answered(const DeliveryRecord& delivery, const Failure* failure) override {
        const auto failed = failed_.extract(&delivery);
        if (!failed.empty() && failure == nullptr && delivery.asked == ports::Outcome::abandon) {
            TimePoint& until = not_before_[delivery.message->session];
            until = std::max(until, failed.mapped());
        }
    }

    void handler_started(const DeliveryRecord& delivery) override {
        const auto found = not_before_.find(delivery.message->session);
        if (found != not_before_.end() && environment_.scheduler.now() < found->second) {
            environment_.verdict.report("(o) delay (R9)",
                                        delivery.message->session + " #" +
                                            std::to_string(delivery.message->sequence) +
                                            " is handled before its session's delay is over");
        }
    }

private:
    Environment& environment_;
    const FailurePolicy& policy_;
    std::map<const DeliveryRecord*, TimePoint> failed_{};
    std::map<std::string, TimePoint> not_before_{};
};

} // namespace

std::unique_ptr<Oracle> make_delay_oracle(Environment& environment,
                                          const Expectations& expectations) {
    return std::make_unique<DelayOracle>(environment, expectations);
}

} // namespace sessionq::simulation
