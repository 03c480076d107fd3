// SPDX-License-Identifier: MIT
#include <algorithm>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// The promises of `redrive`. A dead letter goes only after the broker has confirmed its copy. It
/// is sent twice only if a call died between the two and a consumer has handled the copy meanwhile;
/// never if the broker detects duplicates. A session's letters are sent in the order of their
/// numbers, while the call holds the session, and nobody handles a message of it meanwhile.
class RedriveOracle final : public Oracle {
public:
    RedriveOracle(Environment& environment, const Expectations& expectations)
        : environment_{environment}, expectations_{expectations} {}

    void copy_asked(const LetterRecord& letter) override {
        if (letter.is_known) {
            report(letter, "is sent again by a call that knows of its copy");
        }
        if (letter.is_removed) {
            report(letter, "is sent though it is no dead letter any more");
        }
        for (const auto& [key, earlier] : environment_.letters) {
            if (earlier.entity == letter.entity && earlier.session == letter.session &&
                earlier.number < letter.number && earlier.is_planned && !earlier.is_asked &&
                !earlier.is_known && !earlier.is_removed) {
                report(letter, "is sent before " + std::to_string(earlier.number));
            }
        }
        if (expectations_.redrives_hold && environment_.redrive_holds != letter.session) {
            report(letter, "is sent and its session is not held");
        }
    }

    void copy_taken(const LetterRecord& letter) override {
        if (letter.copy == nullptr) {
            return;
        }
        if (expectations_.detects_duplicates) {
            report(letter, "is there again though the broker detects duplicates");
        } else if (!letter.copy->done()) {
            report(letter, "is sent twice, and its first copy #" +
                               std::to_string(letter.copy->sequence) + " is still there");
        }
    }

    void removal_asked(const LetterRecord& letter) override {
        if (!letter.is_known) {
            report(letter, "is completed before its copy was confirmed");
        }
    }
    void letter_gone(const LetterRecord& letter) override {
        if (letter.copy == nullptr) {
            report(letter, "is gone and was never sent");
        }
    }

    void handler_started(const DeliveryRecord& delivery) override {
        if (environment_.redrive_holds == delivery.message->session &&
            delivery.link->accepted > environment_.redrive_holds_since &&
            environment_.scheduler.now() < environment_.redrive_holds_until) {
            environment_.verdict.report("(s) redrive",
                                        delivery.message->session + " #" +
                                            std::to_string(delivery.message->sequence) +
                                            " is handled while a redrive holds its session");
        }
    }

    void redrive_leaves(const std::string& session) override {
        for (const auto& [key, letter] : environment_.letters) {
            if (letter.session != session || !letter.is_planned || letter.is_removed) {
                continue;
            }
            if (!letter.is_in_hand) {
                return; // the later ones wait for it
            }
            report(letter, "is in hand, and its session is given back");
        }
    }

    void redrive_done(const RedriveReport& report_of) override {
        std::uint64_t removed = 0;
        std::uint64_t planned = 0;
        for (const auto& [key, letter] : environment_.letters) {
            planned += letter.is_planned ? 1 : 0;
            removed += letter.is_planned && letter.is_removed ? 1 : 0;
        }
        const std::uint64_t through = report_of.sent + report_of.already_sent;
        if (report_of.selected != planned || through > removed ||
            report_of.selected != through + report_of.left) {
            environment_.verdict.report(
                "(s) redrive", "a report says " + std::to_string(report_of.selected) +
                                   " selected, " + std::to_string(through) + " through, " +
                                   std::to_string(report_of.left) + " left, of " +
                                   std::to_string(planned) + " and " + std::to_string(removed));
        }
    }

private:
    void report(const LetterRecord& letter, const std::string& text) {
        environment_.verdict.report("(s) redrive", "dead letter " + std::to_string(letter.number) +
                                                       " of " + letter.session + " " + text);
    }

    Environment& environment_;
    const Expectations& expectations_;
};

} // namespace

std::unique_ptr<Oracle> make_redrive_oracle(Environment& environment,
                                            const Expectations& expectations) {
    return std::make_unique<RedriveOracle>(environment, expectations);
}

} // namespace sessionq::simulation
