// SPDX-License-Identifier: MIT
#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// A message does not return after its final settlement was confirmed. A message that was abandoned
/// returns with its count, whatever happened to the broker.
class ReturnOracle final : public Oracle {
public:
    explicit ReturnOracle(Environment& environment) : environment_{environment} {}

    void settle_answered(const DeliveryRecord& delivery, const Failure* failure) override {
        if (failure != nullptr || !delivery.asked) {
            return;
        }
        MessageRecord& message = *delivery.message;
        switch (*delivery.asked) {
        case ports::Outcome::abandon:
            ++message.abandons;
            message.given_back = environment_.scheduler.now();
            break;
        case ports::Outcome::complete:
        case ports::Outcome::dead_letter:
        case ports::Outcome::defer: message.settled = environment_.scheduler.now(); break;
        case ports::Outcome::release: break;
        }
    }

    void delivered(const DeliveryRecord& delivery) override {
        const MessageRecord& message = *delivery.message;
        const TimePoint sent = sent_from(*delivery.link);
        if (message.settled && sent > *message.settled) {
            report(delivery, "comes again after its settlement was confirmed");
        }
        if (delivery.delivery_count < message.abandons && sent > *message.given_back) {
            report(delivery, "comes as delivered " + std::to_string(delivery.delivery_count) +
                                 " times before, and was given back " +
                                 std::to_string(message.abandons) + " times");
        }
    }

private:
    void report(const DeliveryRecord& delivery, const std::string& text) {
        environment_.verdict.report("(l) return",
                                    delivery.message->session + " #" +
                                        std::to_string(delivery.message->sequence) + " on link" +
                                        std::to_string(delivery.link->id) + " " + text);
    }

    Environment& environment_;
};

} // namespace

std::unique_ptr<Oracle> make_return_oracle(Environment& environment, const Expectations&) {
    return std::make_unique<ReturnOracle>(environment);
}

} // namespace sessionq::simulation
