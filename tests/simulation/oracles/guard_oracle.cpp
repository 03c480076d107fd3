// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// The promises of `CrashGuard`. A message that kills its consumers is handled until it has killed
/// as many as the guard says, and then it is out. No message is out for less, or for what another
/// suspect did. What is suspicious is alone in its batch. Nothing suspicious costs nothing.
class GuardOracle final : public Oracle {
public:
    GuardOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment},
          expectations_{expectations},
          guard_{expectations.options.crash_guard} {}

    void batch_started(const std::vector<DeliveryRecord*>& batch) override {
        const auto suspect = std::ranges::find_if(batch, is_suspect);
        if (guard_ && batch.size() > 1 && suspect != batch.end()) {
            report(*(*suspect)->message, "is a suspect and not alone in its batch");
        }
    }

    void handler_started(const DeliveryRecord& delivery) override {
        const LinkRecord& link = *delivery.link;
        const bool is_noted = link.state_written && link.state_asks == 0;
        const bool must_be_noted = is_suspect(&delivery) || (guard_ && guard_->every_session &&
                                                             link.deliveries.front() == &delivery);
        if (guard_ && expectations_.states_for_suspects && delivery.starts == 1 && must_be_noted &&
            !is_noted) {
            report(*delivery.message, "is handled before its attempt is noted");
        }
        const auto found = known_.find(delivery.message);
        if (!guard_ || found == known_.end()) {
            return;
        }
        // One that was not the first of its session kills once before it is noted.
        const std::uint32_t most = guard_->deaths + (guard_->every_session ? 1 : 0);
        if (found->second.kills >= most) {
            report(*delivery.message, "is handled though it has killed " +
                                          std::to_string(found->second.kills) + " consumers");
        } else if (found->second.is_out) {
            report(*delivery.message, "is handled though the guard had decided against it");
        }
    }

    void consumer_dies(const MessageRecord* killer) override {
        const bool was_suspect = killer != nullptr && known_[killer].kills++ != 0;
        for (const LinkRecord& link : environment_.links) {
            if (link.held) {
                note_deaths(link, killer, was_suspect);
            }
        }
    }
    void lost(const LinkRecord& link) override {
        if (!link.killed) {
            note_deaths(link, nullptr, false);
        }
    }

    void settle_asked(const DeliveryRecord& delivery, ports::Outcome outcome) override {
        const bool by_guard = guard_ && delivery.starts == 0 && !delivery.explicitly;
        if (by_guard && outcome == ports::Outcome::dead_letter &&
            expectations_.options.failure_policy.action !=
                FailurePolicy::Action::dead_letter_session) {
            decided(delivery, CrashGuard::Action::dead_letter);
        } else if (by_guard && outcome == ports::Outcome::abandon) {
            decided(delivery, CrashGuard::Action::park_session);
            const bool leaves_early = std::ranges::any_of( // a settlement failed
                delivery.link->deliveries,
                [](const DeliveryRecord* each) { return each->refused; });
            if (environment_.scheduler.now() < delivery.arrived + guard_->park_for &&
                !leaves_early && expectations_.stop_asked == TimePoint::max()) {
                report(*delivery.message, "is given back before its session was parked for long");
            }
        }
    }

    void state_asked(const LinkRecord& link) override {
        const bool is_suspicious =
            std::ranges::any_of(link.deliveries, [](const DeliveryRecord* each) {
                return is_suspect(each) || each->thrown != 0;
            });
        if (guard_ && expectations_.states_for_suspects && !guard_->every_session &&
            !is_suspicious) {
            environment_.verdict.report("(r) crash guard",
                                        "link" + std::to_string(link.id) + " of " + link.session +
                                            " asks for the state though nothing is suspicious");
        }
    }

    void at_end() override {
        for (const auto& [message, known] : known_) {
            if (guard_ && known.kills >= guard_->deaths &&
                expectations_.calm_since != TimePoint::max() &&
                message->state != MessageState::dead_lettered) {
                report(*message, "has killed " + std::to_string(known.kills) +
                                     " consumers and is no dead letter");
            }
        }
    }

private:
    struct Known {
        std::uint32_t kills{0};               ///< consumers that its handler killed
        bool is_out{false};                   ///< the guard has decided
        const MessageRecord* killer{nullptr}; ///< that ended its last handler; null: nobody did
        bool killer_was_suspect{false};
    };

    static bool is_suspect(const DeliveryRecord* delivery) {
        return delivery->delivery_count != 0 || delivery->holder_lost;
    }

    /// Whether the next holder may find a note of the delivery: its handler has started, or was
    /// about to, and the broker may not know how it ended.
    static bool is_open(const DeliveryRecord& delivery) {
        const auto is_settled = [](const DeliveryRecord& each) {
            return each.answered && !each.refused;
        };
        if (is_settled(delivery)) {
            return delivery.link->state_failed && is_suspect(&delivery); // its note may have stayed
        }
        const LinkRecord& link = *delivery.link;
        const auto first = std::ranges::find_if(
            link.deliveries, [&](const DeliveryRecord* each) { return !is_settled(*each); });
        const bool may_be_noted =
            link.state_written && first != link.deliveries.end() && *first == &delivery;
        return delivery.starts != 0 || may_be_noted;
    }

    void note_deaths(const LinkRecord& link, const MessageRecord* killer, bool was_suspect) {
        for (const DeliveryRecord* each : link.deliveries) {
            if (is_open(*each)) {
                Known& known = known_[each->message];
                known.killer = killer;
                known.killer_was_suspect = was_suspect;
            }
        }
    }

    /// Holders that were lost while they handled the message, and one more if the broker told of a
    /// holder that had not handled it.
    [[nodiscard]] std::uint32_t deaths(const DeliveryRecord& now) const {
        std::uint32_t handled = 0;
        bool is_presumed = false;
        for (const DeliveryRecord& each : environment_.deliveries) {
            if (each.message == now.message) {
                is_presumed = is_presumed || (each.holder_lost && handled == 0);
                handled += each.link != now.link && is_open(each) ? 1 : 0;
            }
        }
        return handled + (is_presumed ? 1 : 0);
    }

    void decided(const DeliveryRecord& delivery, CrashGuard::Action action) {
        const MessageRecord& message = *delivery.message;
        Known& known = known_[&message];
        known.is_out = true;
        if (guard_->then != action) {
            report(message, "is not treated as the guard says");
        } else if (const std::uint32_t found = deaths(delivery); found < guard_->deaths) {
            report(message, "is out after " + std::to_string(found) + " deaths, not " +
                                std::to_string(guard_->deaths));
        } else if (known.killer != nullptr && known.killer != &message &&
                   known.killer_was_suspect) {
            report(message, "is out for what #" + std::to_string(known.killer->sequence) +
                                " did, which was a suspect");
        }
    }

    void report(const MessageRecord& message, const std::string& text) {
        environment_.verdict.report("(r) crash guard", message.session + " #" +
                                                           std::to_string(message.sequence) + " " +
                                                           text);
    }

    Environment& environment_;
    const Expectations& expectations_;
    const std::optional<CrashGuard> guard_;
    std::map<const MessageRecord*, Known> known_{};
};

} // namespace

std::unique_ptr<Oracle> make_guard_oracle(Environment& environment,
                                          const Expectations& expectations) {
    return std::make_unique<GuardOracle>(environment, expectations);
}

} // namespace sessionq::simulation
