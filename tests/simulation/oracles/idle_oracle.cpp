// SPDX-License-Identifier: MIT
#include <algorithm>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

class IdleOracle final : public Oracle {
public:
    IdleOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void before_advance(TimePoint next) override {
        for (const LinkRecord& link : environment_.links) {
            if (link.held && link.draining && next >= *link.draining + expectations_.drain_bound &&
                !is_overdue(link)) {
                overdue_.push_back(&link);
            }
        }
    }

    void closing(const LinkRecord& link) override {
        const TimePoint now = environment_.scheduler.now();
        if (link.late || !link.taken || now >= expectations_.stop_deadline ||
            lease_ending(link, now, environment_.margin())) {
            return;
        }
        const bool drain_unanswered =
            link.draining &&
            (is_overdue(link) || now >= *link.draining + expectations_.drain_bound);
        if (link.credit != 0 && !drain_unanswered) {
            environment_.verdict.report(
                "(e) leaving (R3)",
                name(link) + (link.draining ? " is left before its drain was answered"
                                            : " is left with credit and without a drain"));
        }
        if (left_for_other_reasons(link, now)) {
            return;
        }
        if (link.in_flight != 0) {
            environment_.verdict.report("(e) idle (R1)", name(link) + " is left with " +
                                                             std::to_string(link.in_flight) +
                                                             " in flight");
        } else if (now - link.idle_since < expectations_.options.session_idle_timeout) {
            environment_.verdict.report(
                "(e) idle (R1)",
                name(link) + " is left after " +
                    std::to_string((now - link.idle_since) / std::chrono::microseconds{1}) +
                    " us of idleness");
        } else if (!expectations_.close_handler &&
                   expectations_.options.session_idle_timeout != Duration::zero() &&
                   now - link.drained > most_ahead && link.shown_empty) {
            environment_.verdict.report("(e) leaving (R3)",
                                        name(link) + " got no credit for long before it is left");
        }
    }

private:
    [[nodiscard]] bool is_overdue(const LinkRecord& link) const {
        return std::find(overdue_.begin(), overdue_.end(), &link) != overdue_.end();
    }

    [[nodiscard]] bool left_for_other_reasons(const LinkRecord& link, TimePoint now) const {
        const bool settlement_unanswered = std::any_of(
            link.deliveries.begin(), link.deliveries.end(),
            [](const DeliveryRecord* d) { return d->refused || (d->asked && !d->answered); });
        return expectations_.leaves_for_more_than_idleness(now) || is_overdue(link) ||
               settlement_unanswered;
    }

    static std::string name(const LinkRecord& link) {
        return "link" + std::to_string(link.id) + " of " + link.session;
    }

    /// A drain may go out so long before the session has been idle for the whole timeout.
    static constexpr Duration most_ahead = std::chrono::seconds{1};

    Environment& environment_;
    const Expectations& expectations_;
    std::vector<const LinkRecord*>
        overdue_; ///< a drain was not answered in time: the consumer may distrust the link, and an
                  ///< answer may cross its leaving
};

} // namespace

std::unique_ptr<Oracle> make_idle_oracle(Environment& environment,
                                         const Expectations& expectations) {
    return std::make_unique<IdleOracle>(environment, expectations);
}

} // namespace sessionq::simulation
