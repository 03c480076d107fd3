// SPDX-License-Identifier: MIT
#include <algorithm>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

class ExpiryOracle final : public Oracle {
public:
    ExpiryOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void handler_started(const DeliveryRecord& delivery) override {
        const LinkRecord& link = *delivery.link;
        const TimePoint now = environment_.scheduler.now();
        running_.push_back(&delivery);
        if (link.lost || link.closed) {
            report("starts", delivery,
                   link.lost ? "its lease is lost" : "its session was given back");
        } else if (link.lease_until != TimePoint::max() &&
                   now > link.lease_until + link.lease_doubt - margin(link)) {
            report("starts", delivery, "its lease ends within the margin");
        }
        if (expectations_.stop_answered) {
            report("starts", delivery, "stop has returned");
        }
    }

    void handler_finished(const DeliveryRecord& delivery, bool) override {
        std::erase(running_, &delivery);
    }

    void consumer_killed() override { running_.clear(); }

    /// The stop token must fire before the end of the lock, and at once when the lock is lost.
    void before_advance(TimePoint next) override {
        if (expectations_.stalls_possible) {
            return;
        }
        for (const DeliveryRecord* delivery : running_) {
            const LinkRecord& link = *delivery->link;
            const bool over =
                link.lost || (!link.closed && link.lease_until != TimePoint::max() &&
                              next > link.lease_until - margin(link) / 2 + slack(link));
            if (over && !delivery->stop.stop_requested()) {
                report("runs", *delivery,
                       link.lost ? "its lease is lost and its stop token has not fired"
                                 : "its lock ends and its stop token has not fired");
            }
        }
    }

private:
    /// Unless the answer took longer than the margin, the token fires before the true end of the
    /// lock.
    [[nodiscard]] Duration slack(const LinkRecord& link) const {
        return link.lease_doubt < margin(link) ? Duration::zero() : link.lease_doubt;
    }

    /// A port may report what is left of the lock when the answer arrives. That is less for a slow
    /// answer, and the margin is a share of it.
    [[nodiscard]] Duration margin(const LinkRecord& link) const {
        return link.granted == Duration::zero()
                   ? environment_.margin()
                   : std::min<Duration>(link.granted / 10, environment_.margin());
    }

    void report(const char* what, const DeliveryRecord& delivery, const char* why) {
        environment_.verdict.report("(d) lease end (R2, R13)",
                                    "handler of " + delivery.message->session + " #" +
                                        std::to_string(delivery.message->sequence) + " on link" +
                                        std::to_string(delivery.link->id) + " " + what +
                                        " though " + why);
    }

    Environment& environment_;
    const Expectations& expectations_;
    std::vector<const DeliveryRecord*> running_;
};

} // namespace

std::unique_ptr<Oracle> make_expiry_oracle(Environment& environment,
                                           const Expectations& expectations) {
    return std::make_unique<ExpiryOracle>(environment, expectations);
}

} // namespace sessionq::simulation
