// SPDX-License-Identifier: MIT
#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// A lock that may be renewed is renewed before its holder has to leave.
class RenewalOracle final : public Oracle {
public:
    RenewalOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void before_advance(TimePoint next) override {
        if (expectations_.stalls_possible ||
            expectations_.options.max_lock_renewal > Duration::zero()) {
            return; // the loop may be late, or the application wants to end
        }
        for (const LinkRecord& link : environment_.links) {
            if (link.held && !link.lease_wavered && !link.renewal_asked &&
                lease_ending(link, next, environment_.margin())) {
                report(link, "comes to the end of its lease and no renewal was asked for");
            }
        }
    }

    /// A lock that is renewed without faults stays, and so does the stop token, however long its
    /// handlers run.
    void lost(const LinkRecord& link) override {
        if (renewal_is_enough()) {
            report(link, "is lost although its lock was renewed and nothing was wrong");
        }
    }

    void handler_finished(const DeliveryRecord& delivery, bool) override {
        const LinkRecord& link = *delivery.link;
        if (renewal_is_enough() && link.held && delivery.stop.stop_requested() &&
            !expectations_.voluntary_leave &&
            environment_.scheduler.now() < expectations_.stop_asked) {
            report(link, "has fired a handler's stop token although its lock was renewed and "
                         "nothing was wrong");
        }
    }

private:
    [[nodiscard]] bool renewal_is_enough() const {
        return expectations_.locks_last &&
               expectations_.options.max_lock_renewal == Duration::zero();
    }

    void report(const LinkRecord& link, const char* what) {
        environment_.verdict.report("(d) renewal (R11)", "link" + std::to_string(link.id) + " of " +
                                                             link.session + " " + what);
    }

    Environment& environment_;
    const Expectations& expectations_;
};

} // namespace

std::unique_ptr<Oracle> make_renewal_oracle(Environment& environment,
                                            const Expectations& expectations) {
    return std::make_unique<RenewalOracle>(environment, expectations);
}

} // namespace sessionq::simulation
