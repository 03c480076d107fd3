// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// A paused processor starts no handler and asks for no session. Once its handlers have returned,
/// it holds no session.
class PauseOracle final : public Oracle {
public:
    PauseOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void accept_asked(const AcceptRecord& accept) override {
        if (is_paused() && environment_.scheduler.now() > *expectations_.paused &&
            !expectations_.stalls_possible) {
            report("accept " + std::to_string(accept.id) + " is asked for");
        }
    }

    void handler_started(const DeliveryRecord& delivery) override {
        ++running_;
        if (is_paused() && environment_.scheduler.now() > *expectations_.paused + taken &&
            !expectations_.stalls_possible && !expectations_.options.receive_and_delete) {
            report("a handler of #" + std::to_string(delivery.message->sequence) + " of " +
                   delivery.message->session + " starts");
        }
    }

    void handler_finished(const DeliveryRecord& delivery, bool) override {
        --running_;
        quiet_since_ = last_end_[delivery.link] = environment_.scheduler.now();
    }

    void consumer_killed() override { running_ = 0; }

    void before_advance(TimePoint next) override {
        if (!is_paused()) {
            return;
        }
        for (const AcceptRecord& accept : environment_.accepts) {
            if (!accept.answered && !accept.cancelled && !expectations_.stalls_possible) {
                report("accept " + std::to_string(accept.id) + " waits");
            }
        }
        for (const LinkRecord& link : environment_.links) {
            const auto bound = left_by(link);
            if (link.held && next > bound) {
                report("link" + std::to_string(link.id) + " of " + link.session + " is held");
            }
        }
    }

private:
    [[nodiscard]] bool is_paused() const {
        return expectations_.paused && expectations_.stop_asked == TimePoint::max();
    }

    /// on_session_close waits for a worker.
    [[nodiscard]] TimePoint left_by(const LinkRecord& link) const {
        if (link.running != 0 || (expectations_.close_handler && running_ != 0)) {
            return TimePoint::max();
        }
        const auto ended = last_end_.find(&link);
        const TimePoint last = expectations_.close_handler ? quiet_since_
                               : ended != last_end_.end()  ? ended->second
                                                           : TimePoint{};
        return std::max(*expectations_.paused, last) + expectations_.pause_bound();
    }

    void report(const std::string& what) {
        environment_.verdict.report("(p) pause", what + " though the processor is paused");
    }

    /// A worker that has taken a call may be preempted before it runs the call.
    static constexpr Duration taken = std::chrono::milliseconds{25};

    Environment& environment_;
    const Expectations& expectations_;
    std::uint64_t running_{0};
    TimePoint quiet_since_{};
    std::map<const LinkRecord*, TimePoint> last_end_{};
};

} // namespace

std::unique_ptr<Oracle> make_pause_oracle(Environment& environment,
                                          const Expectations& expectations) {
    return std::make_unique<PauseOracle>(environment, expectations);
}

} // namespace sessionq::simulation
