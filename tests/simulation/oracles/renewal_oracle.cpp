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
                environment_.verdict.report(
                    "(d) renewal (R11)",
                    "link" + std::to_string(link.id) + " of " + link.session +
                        " comes to the end of its lease and no renewal was asked for");
            }
        }
    }

private:
    Environment& environment_;
    const Expectations& expectations_;
};

} // namespace

std::unique_ptr<Oracle> make_renewal_oracle(Environment& environment,
                                            const Expectations& expectations) {
    return std::make_unique<RenewalOracle>(environment, expectations);
}

} // namespace sessionq::simulation
