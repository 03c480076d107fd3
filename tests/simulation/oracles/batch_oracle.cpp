// SPDX-License-Identifier: MIT
#include <set>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// A batch has messages of one session, in order, and not too many. What a failed batch gives back
/// is not settled as if it had been handled. The order among batches, and that nothing is lost or
/// handled twice, is for the oracles (b) and (c).
class BatchOracle final : public Oracle {
public:
    BatchOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void batch_started(const std::vector<DeliveryRecord*>& batch) override {
        if (batch.empty() || batch.size() > expectations_.batch) {
            report("of " + std::to_string(batch.size()) + " messages, at most " +
                   std::to_string(expectations_.batch) + " may be");
        }
        for (std::size_t i = 1; i < batch.size(); ++i) {
            const DeliveryRecord& before = *batch[i - 1];
            const DeliveryRecord& each = *batch[i];
            if (before.link != each.link) {
                report("of several sessions: " + name(before) + ", " + name(each));
            }
            if (is_strict() && before.message->sequence >= each.message->sequence) {
                report("not in order: " + name(before) + ", " + name(each));
            }
        }
        for (const DeliveryRecord* each : batch) {
            given_back_.erase(each);
        }
    }

    void handler_finished(const DeliveryRecord& delivery, bool threw) override {
        if (!threw && delivery.returned == 0 && delivery.given_back != 0) {
            given_back_.insert(&delivery);
        }
    }

    void settle_asked(const DeliveryRecord& delivery, ports::Outcome outcome) override {
        const bool of_session = outcome == ports::Outcome::dead_letter &&
                                expectations_.options.failure_policy.action ==
                                    FailurePolicy::Action::dead_letter_session;
        if (given_back_.erase(&delivery) != 0 && outcome != ports::Outcome::release &&
            !of_session) {
            report("that failed before " + name(delivery) + ": settled as " +
                   std::string{ports::to_string(outcome)});
        }
    }

private:
    [[nodiscard]] bool is_strict() const {
        return expectations_.highest(&Expectations::Limits::max_concurrent_calls_per_session,
                                     environment_.scheduler.now()) == 1 &&
               !expectations_.limits_change;
    }

    static std::string name(const DeliveryRecord& delivery) {
        return delivery.message->session + " #" + std::to_string(delivery.message->sequence) +
               " on link" + std::to_string(delivery.link->id);
    }

    void report(const std::string& what) {
        environment_.verdict.report("(q) batches", "a batch " + what);
    }

    Environment& environment_;
    const Expectations& expectations_;
    std::set<const DeliveryRecord*> given_back_{};
};

} // namespace

std::unique_ptr<Oracle> make_batch_oracle(Environment& environment,
                                          const Expectations& expectations) {
    return std::make_unique<BatchOracle>(environment, expectations);
}

} // namespace sessionq::simulation
