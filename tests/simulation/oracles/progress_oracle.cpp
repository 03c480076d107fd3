// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <utility>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// In calm times a free slot soon takes a session that has a message and no holder. A message that
/// waits only for a worker gets one.
class ProgressOracle final : public Oracle {
public:
    ProgressOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void accepted(const AcceptRecord& accept, const LinkRecord&) override {
        if (!accept.cancelled) {
            ++held_;
        }
    }
    void closing(const LinkRecord& link) override {
        let_go(link);
        if (link.taken && link.deliveries.empty()) {
            count_fruitless(link);
        }
    }
    void delivered(const DeliveryRecord& delivery) override {
        fruitless_.erase({delivery.link->entity, delivery.link->session});
    }
    void lost(const LinkRecord& link) override { let_go(link); }

    void before_advance(TimePoint next) override {
        const TimePoint now = environment_.scheduler.now();
        // A slot whose lock was lost waits for its handlers and backs off.
        if (held_ - expectations_.without_slot() >=
                expectations_.limits.back().max_concurrent_sessions ||
            !expectations_.looks_for_session()) {
            vacant_since_ = TimePoint::max();
        } else if (vacant_since_ == TimePoint::max()) {
            vacant_since_ = now;
        }
        if (vacant_since_ == TimePoint::max() || expectations_.calm_since == TimePoint::max() ||
            next >= expectations_.stop_asked || !expectations_.options.session_ids.empty()) {
            return;
        }
        for (const auto& [key, session] : environment_.broker.sessions()) {
            if (session.ready_since && next - std::max({*session.ready_since, vacant_since_,
                                                        expectations_.calm_since + recovery()}) >
                                           patience()) {
                environment_.verdict.report("(f) progress (R14, R16)",
                                            "session " + session.id + " of " + session.entity +
                                                " has been ready for " +
                                                std::to_string((next - *session.ready_since) /
                                                               std::chrono::milliseconds{1}) +
                                                " ms while a slot is vacant");
            }
        }
    }

private:
    void let_go(const LinkRecord& link) {
        if (!link.late) {
            --held_;
        }
    }

    /// Messages of a session may come just too late, but not again and again.
    void count_fruitless(const LinkRecord& link) {
        const BrokerSession* truth = environment_.broker.find(link.entity, link.session);
        const bool in_calm_times = expectations_.calm_since != TimePoint::max() &&
                                   link.accepted > expectations_.calm_since + recovery() &&
                                   environment_.scheduler.now() < expectations_.stop_asked;
        if (in_calm_times && !truth->pending.empty() &&
            ++fruitless_[{link.entity, link.session}] == most_fruitless) {
            environment_.verdict.report("(f) progress (R3)",
                                        "session " + link.session + " of " + link.entity +
                                            " is left again and again without its messages");
        }
    }

    /// How long a fault may have effects after its end: a backoff that began just before, or an
    /// accept that hangs.
    [[nodiscard]] Duration recovery() const {
        const SessionProcessorOptions& options = expectations_.options;
        return expectations_.faults_possible
                   ? options.error_backoff.max + options.accept_wait + expectations_.aftermath +
                         std::chrono::seconds{12}
                   : Duration::zero();
    }

    /// R25: within one round trip. A slot whose session brought nothing is spaced before it.
    [[nodiscard]] Duration patience() const {
        return std::chrono::seconds{1} + 4 * environment_.faults.latency_high;
    }

    Environment& environment_;
    const Expectations& expectations_;
    static constexpr unsigned most_fruitless = 10;

    std::size_t held_{0};
    std::map<std::pair<std::string, std::string>, unsigned> fruitless_{}; ///< in a row
    TimePoint vacant_since_{TimePoint::max()};
};

} // namespace

std::unique_ptr<Oracle> make_progress_oracle(Environment& environment,
                                             const Expectations& expectations) {
    return std::make_unique<ProgressOracle>(environment, expectations);
}

} // namespace sessionq::simulation
