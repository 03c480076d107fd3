// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// Whether the requested outcome takes the message out of the way of the session.
bool terminal(const std::optional<ports::Outcome>& outcome) {
    return outcome &&
           (*outcome == ports::Outcome::complete || *outcome == ports::Outcome::dead_letter ||
            *outcome == ports::Outcome::defer);
}

/// Whether its handler has ended with an outcome that takes the message out of the way.
bool decided(const DeliveryRecord& delivery) {
    return delivery.running == 0 &&
           (delivery.explicitly ? terminal(delivery.explicitly) : delivery.returned != 0);
}

class OrderOracle final : public Oracle {
public:
    OrderOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void handler_started(const DeliveryRecord& delivery) override {
        running_ += delivery.leads ? 1 : 0; // a batch is one handler
        const TimePoint now = environment_.scheduler.now();
        const LinkRecord& link = *delivery.link;
        const std::uint32_t per_session =
            expectations_.highest(&Expectations::Limits::max_concurrent_calls_per_session, now);
        if (link.running > per_session) {
            report("(b) calls per session (R7)", delivery,
                   std::to_string(link.running) + " handlers of the session run");
        }
        const std::uint32_t cap =
            expectations_.highest(&Expectations::Limits::max_concurrent_calls, now);
        if (cap != 0 && running_ > cap) {
            report("(b) concurrent calls (R7)", delivery,
                   std::to_string(running_) + " handlers run, the cap is " + std::to_string(cap));
        }
        Starts& starts = starts_[{link.id, delivery.message->sequence}];
        starts.push_back({.call = delivery.call});
        judge_overtaken(delivery);
        if (!expectations_.limits_change) {
            check_before(delivery, per_session == 1);
        }
    }

    /// A worker that has taken a call may be preempted before it runs the call.
    void before_advance(TimePoint next) override {
        constexpr Duration preempted = std::chrono::milliseconds{25};
        std::erase_if(overtaken_, [&](const Overtaken& each) {
            if (next > each.at + preempted) {
                environment_.verdict.report("(b) order of starts (R6)", each.text);
            }
            return next > each.at + preempted;
        });
    }

    void handler_finished(const DeliveryRecord& delivery, bool) override {
        running_ -= delivery.leads ? 1 : 0;
        starts_[{delivery.link->id, delivery.message->sequence}].back().ended =
            environment_.taken_calls.count();
    }

    void consumer_killed() override {
        running_ = 0;
        overtaken_.clear();
    }

private:
    struct Start {
        std::uint64_t call;
        std::optional<std::uint64_t> ended{}; ///< how many calls had been taken then
    };
    using Starts = std::vector<Start>;

    /// A handler that began before the one of an earlier message, which may have been taken first.
    struct Overtaken {
        std::int64_t earlier;
        std::uint64_t link;
        std::uint64_t call;
        TimePoint at;
        std::string text;
    };

    /// The broker must have settled every earlier message. Without confirmation a decided message
    /// counts as settled, because its settlement is under way and in order. If not `strict`, the
    /// handler of an earlier one may also have been running when this one's call was taken.
    void check_before(const DeliveryRecord& delivery, bool strict) {
        const BrokerSession* session =
            environment_.broker.find(delivery.message->entity, delivery.message->session);
        for (const auto& [sequence, earlier] : session->pending) {
            if (sequence >= delivery.message->sequence) {
                break;
            }
            const DeliveryRecord* here = latest_on(*delivery.link, *earlier);
            const bool together = here != nullptr && here->running != 0 && here->batch != 0 &&
                                  here->batch == delivery.batch;
            const bool settled =
                here != nullptr && (expectations_.options.confirm_settlements
                                        ? terminal(here->asked) && here->answered && !here->refused
                                        : terminal(here->asked) || decided(*here));
            if (settled || together) {
                continue;
            }
            if (strict) {
                report("(b) order (R6)", delivery,
                       "before it #" + std::to_string(sequence) + " is unsettled");
            } else if (!ran_when_taken(starts_[{delivery.link->id, sequence}], delivery.call)) {
                overtaken_.push_back(
                    {.earlier = sequence,
                     .link = delivery.link->id,
                     .call = delivery.call,
                     .at = environment_.scheduler.now(),
                     .text = text(delivery, "before it #" + std::to_string(sequence) +
                                                " has not started, or has to start again")});
            }
        }
    }

    [[nodiscard]] bool ran_when_taken(const Starts& starts, std::uint64_t call) const {
        return std::ranges::any_of(starts, [&](const Start& start) {
            const bool over = start.ended && *start.ended < call &&
                              environment_.taken_calls.was_back(start.call, call);
            return start.call < call && !over;
        });
    }

    /// The handler of an earlier message begins: its call was taken first, or it was overtaken.
    void judge_overtaken(const DeliveryRecord& delivery) {
        std::erase_if(overtaken_, [&](const Overtaken& each) {
            const bool is_it =
                each.earlier == delivery.message->sequence && each.link == delivery.link->id;
            if (is_it && delivery.call > each.call) {
                environment_.verdict.report("(b) order of starts (R6)", each.text);
            }
            return is_it;
        });
    }

    static const DeliveryRecord* latest_on(const LinkRecord& link, const MessageRecord& message) {
        for (auto at = link.deliveries.rbegin(); at != link.deliveries.rend(); ++at) {
            if ((*at)->message == &message) {
                return *at;
            }
        }
        return nullptr;
    }

    void report(std::string_view oracle, const DeliveryRecord& delivery, const std::string& what) {
        environment_.verdict.report(oracle, text(delivery, what));
    }
    static std::string text(const DeliveryRecord& delivery, const std::string& what) {
        return "handler of " + delivery.message->session + " #" +
               std::to_string(delivery.message->sequence) + " starts on link" +
               std::to_string(delivery.link->id) + ": " + what;
    }

    Environment& environment_;
    const Expectations& expectations_;
    std::uint32_t running_{0};
    std::vector<Overtaken> overtaken_{};                                ///< a moment ago
    std::map<std::pair<std::uint64_t, std::int64_t>, Starts> starts_{}; ///< by link and message
};

} // namespace

std::unique_ptr<Oracle> make_order_oracle(Environment& environment,
                                          const Expectations& expectations) {
    return std::make_unique<OrderOracle>(environment, expectations);
}

} // namespace sessionq::simulation
