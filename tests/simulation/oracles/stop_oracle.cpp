// SPDX-License-Identifier: MIT
#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

class StopOracle final : public Oracle {
public:
    StopOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void handler_started(const DeliveryRecord&) override { ++running_; }
    void handler_finished(const DeliveryRecord&, bool) override {
        --running_;
        quiet_since_ = environment_.scheduler.now();
    }

    void consumer_killed() override { running_ = 0; }

    void before_advance(TimePoint next) override {
        // Not in the answer itself, because a loop may drop a link in its next turn.
        if (expectations_.stop_answered) {
            check_links();
        }
        const bool is_quiet = expectations_.locks_last && running_ == 0 &&
                              expectations_.stop_asked != TimePoint::max() &&
                              next > std::max(quiet_since_, expectations_.stop_asked) + seconds{3};
        if (is_quiet && !expectations_.stop_answered) {
            report("stop takes 3 s more though no handler runs and nothing is wrong");
        }
        const bool late = expectations_.stop_deadline != TimePoint::max() &&
                          next > expectations_.stop_deadline + tick;
        if (expectations_.stop_is_quick && expectations_.stop_asked != TimePoint::max() &&
            !expectations_.stop_answered && next > expectations_.stop_asked + seconds{3}) {
            report("stop takes more than 3 s though nothing keeps it");
        }
        if (late && !expectations_.stop_answered && !expectations_.stalls_possible) {
            report("stop has not returned by its deadline");
        }
        if (expectations_.stop_asked != TimePoint::max() &&
            !expectations_.options.receive_and_delete) {
            check_unstarted();
        }
    }

    void stop_answered() override {
        for (const AcceptRecord& accept : environment_.accepts) {
            if (!accept.answered && !accept.cancelled) {
                report("accept " + std::to_string(accept.id) +
                       " is neither answered nor given up when stop returns");
            }
        }
        if (expectations_.handlers_left < running_ ||
            expectations_.handlers_left >
                running_ +
                    expectations_.workers * expectations_.batch) { // open and close handlers, too
            report("stop says " + std::to_string(expectations_.handlers_left) +
                   " handlers are left, " + std::to_string(running_) + " run");
        }
    }

private:
    /// Messages that never started are released as soon as the credit is back, and what is kept
    /// with the session is in order. Other consumers need not wait for handlers here.
    void check_unstarted() {
        const TimePoint now = environment_.scheduler.now();
        for (const LinkRecord& link : environment_.links) {
            if (!link.held || link.draining || link.credit != 0 || link.state_asks != 0 ||
                now < std::max(link.drained, expectations_.stop_asked) + grace) {
                continue;
            }
            for (const DeliveryRecord* delivery : link.deliveries) {
                if (delivery->present && delivery->starts == 0 && !delivery->asked) {
                    report("#" + std::to_string(delivery->message->sequence) + " of " +
                           link.session + " never started and is kept on link" +
                           std::to_string(link.id));
                }
            }
        }
    }

    void check_links() {
        for (const LinkRecord& link : environment_.links) {
            if (link.held) {
                report("link" + std::to_string(link.id) + " of " + link.session +
                       " is held after stop returned");
            }
        }
    }

    static constexpr Duration tick = std::chrono::milliseconds{1};
    static constexpr Duration grace = std::chrono::milliseconds{
        500}; // on_session_open may run, or a worker may have taken the call

    void report(std::string text) {
        environment_.verdict.report("(h) stop (R18)", std::move(text));
    }

    Environment& environment_;
    const Expectations& expectations_;
    std::uint64_t running_{0};
    TimePoint quiet_since_{};
};

} // namespace

std::unique_ptr<Oracle> make_stop_oracle(Environment& environment,
                                         const Expectations& expectations) {
    return std::make_unique<StopOracle>(environment, expectations);
}

} // namespace sessionq::simulation
