// SPDX-License-Identifier: MIT
#include <deque>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// Repeated failures must get slower, whatever the fault. Slots space their own failures. The port
/// spaces failed connections and starts again with every connection that breaks. A broker that says
/// "nothing" at once is not asked without pause.
class AttemptsOracle final : public Oracle {
public:
    AttemptsOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void accept_failed(const AcceptRecord& accept, const Failure& failure) override {
        // An accept that waited until its connection was lost shows that the connection lasted. The
        // port then starts a new count with the same backoff.
        const bool had_lasted = expectations_.connects && failure.code == Errc::connection_lost &&
                                environment_.scheduler.now() - accept.asked >=
                                    expectations_.options.error_backoff.min * 10;
        if (failure.code == Errc::no_session_available || had_lasted) {
            forget_failures(); // the broker works
        }
        if (failure.code == Errc::cancelled || accept.cancelled) {
            return;
        }
        switch (failure.code) {
        case Errc::no_session_available: count(empty_, spaced_in_window()); break;
        case Errc::connection_refused: count(refused_, failures_in_window()); break;
        default: count(failed_, failures_in_window()); break;
        }
    }
    void lost(const LinkRecord&) override { forget_failures(); }
    void accepted(const AcceptRecord&, const LinkRecord&) override { forget_failures(); }
    void consumer_killed() override {
        forget_failures();
        empty_.clear();
    }

private:
    static constexpr Duration window = std::chrono::seconds{10};

    void forget_failures() {
        failed_.clear();
        refused_.clear();
    }

    void count(std::deque<TimePoint>& times, std::size_t slot_may) {
        const TimePoint now = environment_.scheduler.now();
        times.push_back(now);
        while (times.front() + window < now) {
            times.pop_front();
        }
        // When limits change, a slot may be retired and used again. It then starts a new count.
        const std::size_t bound = (expectations_.highest_sessions() + expectations_.entities) *
                                  (expectations_.limits_change ? 2 : 1) * slot_may;
        if (times.size() > bound) {
            environment_.verdict.report("(g) attempts (R17)",
                                        std::to_string(times.size()) + " accepts failed within " +
                                            std::to_string(window / std::chrono::seconds{1}) +
                                            " s, at most " + std::to_string(bound) + " may");
        }
    }

    /// How often a new slot can fail, with the shortest delays that its backoff may choose.
    [[nodiscard]] std::size_t failures_in_window() const {
        const BackoffOptions& backoff = expectations_.options.error_backoff;
        std::size_t count = 2; // the failure before the first delay and the one under way
        Duration full = backoff.min;
        for (Duration spent = full / 2; spent <= window; spent += full / 2) {
            ++count;
            full = std::min(full * 2, backoff.max);
        }
        return count;
    }

    [[nodiscard]] static std::size_t spaced_in_window() {
        return static_cast<std::size_t>(window / std::chrono::milliseconds{100}) + 2;
    }

    Environment& environment_;
    const Expectations& expectations_;
    std::deque<TimePoint> failed_;
    std::deque<TimePoint> refused_;
    std::deque<TimePoint> empty_;
};

} // namespace

std::unique_ptr<Oracle> make_attempts_oracle(Environment& environment,
                                             const Expectations& expectations) {
    return std::make_unique<AttemptsOracle>(environment, expectations);
}

} // namespace sessionq::simulation
