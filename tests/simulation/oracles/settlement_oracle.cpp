// SPDX-License-Identifier: MIT
#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

class SettlementOracle final : public Oracle {
public:
    SettlementOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void settle_asked(const DeliveryRecord& delivery, ports::Outcome outcome) override {
        using Action = FailurePolicy::Action;
        const Action policy = expectations_.options.failure_policy.action;
        const bool by_handler = delivery.explicitly == outcome;
        // A settlement may still leave in the tick in which the lock ends. The broker decides then.
        if (environment_.scheduler.now() >
            delivery.link->lease_until + delivery.link->lease_doubt) {
            report("settled after the lease was over (R8)", delivery, outcome);
        }
        if (delivery.running != 0 && !delivery.explicitly) {
            report("settled while its handler runs (R10)", delivery, outcome);
        }
        switch (outcome) {
        case ports::Outcome::complete:
            if (delivery.explicitly ? !by_handler : delivery.returned == 0) {
                report("completed though no handler finished it (R10)", delivery, outcome);
            }
            break;
        case ports::Outcome::abandon:
            if (!by_handler && delivery.thrown == 0 && !by_guard(delivery)) {
                report("abandoned though no handler of it failed", delivery, outcome);
            }
            break;
        case ports::Outcome::dead_letter:
            if (!by_handler && policy != Action::dead_letter_session &&
                (delivery.thrown == 0 || policy != Action::dead_letter) && !by_guard(delivery)) {
                report("dead-lettered against the policy (R9)", delivery, outcome);
            }
            break;
        case ports::Outcome::release:
            if (!by_handler && (delivery.returned != 0 || delivery.running != 0)) {
                report("released though its handler had started (R3)", delivery, outcome);
            }
            break;
        case ports::Outcome::defer:
            if (!by_handler) {
                report("deferred though nobody asked", delivery, outcome);
            }
            break;
        }
    }

    void handler_finished(const DeliveryRecord& delivery, bool threw) override {
        if (!threw && delivery.message->handled > 1 && !delivery.message->excused) {
            environment_.verdict.report("(c) once (R8)",
                                        name(delivery) + " was handled " +
                                            std::to_string(delivery.message->handled) +
                                            " times without a lease lost");
        }
    }

    void closing(const LinkRecord& link) override {
        const TimePoint now = environment_.scheduler.now();
        if (expectations_.options.receive_and_delete && !link.taken && link.credit != 0) {
            environment_.verdict.report("(c) loss (R10)",
                                        "link" + std::to_string(link.id) + " of " + link.session +
                                            " is given back unused, and what it deletes is lost");
        }
        for (const DeliveryRecord* delivery : link.deliveries) {
            if (delivery->returned != 0 && !delivery->asked &&
                delivery->message->state == MessageState::locked &&
                !lease_ending(link, now, environment_.margin()) &&
                now < expectations_.stop_deadline) {
                environment_.verdict.report(
                    "(c) settlement",
                    name(*delivery) +
                        " was handled and its session is given back without settling it");
            }
            if (!delivery->answered) {
                delivery->message->excused =
                    true; // from here on the broker has it, whatever was requested
            }
        }
    }

    void settle_answered(const DeliveryRecord& delivery, const Failure* failure) override {
        if (failure != nullptr) {
            delivery.message->excused = true;
        }
    }

    void at_end() override {
        for (const MessageRecord& message : environment_.broker.messages()) {
            if (message.state == MessageState::completed && message.handled == 0) {
                environment_.verdict.report(
                    "(c) loss (R10)", message.session + " #" + std::to_string(message.sequence) +
                                          " is gone from the broker and was never handled");
            }
        }
    }

private:
    /// Another oracle judges whether it may.
    [[nodiscard]] bool by_guard(const DeliveryRecord& delivery) const {
        return expectations_.options.crash_guard && delivery.starts == 0;
    }

    static std::string name(const DeliveryRecord& delivery) {
        return delivery.message->session + " #" + std::to_string(delivery.message->sequence) +
               " on link" + std::to_string(delivery.link->id);
    }

    void report(const char* what, const DeliveryRecord& delivery, ports::Outcome outcome) {
        environment_.verdict.report("(c) settlement", name(delivery) + " (" +
                                                          std::string{ports::to_string(outcome)} +
                                                          "): " + what);
    }

    Environment& environment_;
    const Expectations& expectations_;
};

} // namespace

std::unique_ptr<Oracle> make_settlement_oracle(Environment& environment,
                                               const Expectations& expectations) {
    return std::make_unique<SettlementOracle>(environment, expectations);
}

} // namespace sessionq::simulation
