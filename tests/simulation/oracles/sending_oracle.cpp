// SPDX-License-Identifier: MIT
#include <algorithm>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// A confirmed message is there and stays, at most once for every attempt that may have had an
/// effect. One that failed for certain is not there. A batch is there as a whole or not at all. A
/// message sent after the confirmation of another stands behind it.
class SendingOracle final : public Oracle {
public:
    explicit SendingOracle(Environment& environment) : environment_{environment} {}

    void message_taken(const SentRecord& sent) override {
        const std::uint32_t may = sent.unknown + (sent.is_under_way || sent.is_confirmed ? 1 : 0);
        if (sent.taken > may) {
            report(sent, "is there " + std::to_string(sent.taken) + " times, though at most " +
                             std::to_string(may) + " attempts can have had an effect");
        }
        if (sent.before != nullptr &&
            (sent.before->copies.empty() ||
             sent.before->copies.front().sequence >= sent.copies.back().sequence)) {
            report(sent, "stands before '" + sent.before->id + "', which was sent before it");
        }
    }

    void send_confirmed(const SentRecord& sent) override {
        if (std::ranges::none_of(sent.copies, &SentRecord::Copy::is_kept)) {
            report(sent, "is confirmed, and the broker does not have it for good");
        }
    }

    void send_failed(const SentRecord& sent) override {
        if (sent.taken > sent.unknown) {
            report(sent, "failed for certain, and the broker had taken it");
        }
    }

    void message_vanished(const SentRecord& sent) override {
        if (sent.is_confirmed && sent.copies.empty()) {
            report(sent, "was confirmed, and the broker has it no more");
        }
    }

    void at_end() override {
        for (const auto& [id, sent] : environment_.sent) {
            if (sent.is_under_way) {
                report(sent, "was sent, and its sender has no answer (R15)");
            }
            if (sent.first_of_batch != nullptr && sent.taken != sent.first_of_batch->taken) {
                report(sent, "was taken " + std::to_string(sent.taken) + " times, and '" +
                                 sent.first_of_batch->id + "', which was sent with it, " +
                                 std::to_string(sent.first_of_batch->taken) + " times");
            }
        }
    }

private:
    void report(const SentRecord& sent, const std::string& text) {
        environment_.verdict.report("(j) sending",
                                    "message '" + sent.id + "' for " + sent.session + " " + text);
    }

    Environment& environment_;
};

} // namespace

std::unique_ptr<Oracle> make_sending_oracle(Environment& environment, const Expectations&) {
    return std::make_unique<SendingOracle>(environment);
}

} // namespace sessionq::simulation
