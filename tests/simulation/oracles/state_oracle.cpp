// SPDX-License-Identifier: MIT
#include <algorithm>

#include "simulation/oracles/oracles.hpp"

namespace sessionq::simulation {
namespace {

/// A confirmed state stays. A read returns a state that the session had during the read. A former
/// holder does not change the state under its successor.
class StateOracle final : public Oracle {
public:
    explicit StateOracle(Environment& environment) : environment_{environment} {}

    void state_taken(const StateRecord& write) override {
        const LinkRecord& writer = *write.link;
        for (const LinkRecord& other : environment_.links) {
            if (other.id > writer.id && other.session == writer.session &&
                other.entity == writer.entity && other.asked >= writer.accepted) {
                report(write, "is written although link" + std::to_string(other.id) +
                                  " has got the session since");
            }
        }
    }

    void state_answered(const StateRecord& asked, const Failure* failure) override {
        if (failure != nullptr) {
            return;
        }
        const std::vector<StateValue>& values =
            environment_.states_of(asked.link->entity, asked.link->session);
        if (asked.writes) {
            const auto kept = [&](const StateValue& each) {
                return each.is_kept && each.value == asked.value;
            };
            if (std::none_of(values.begin() + static_cast<std::ptrdiff_t>(asked.known),
                             values.end(), kept)) {
                report(asked, "is confirmed, and the broker does not have it for good");
            }
        } else {
            const auto same = [&](const StateValue& each) { return each.value == asked.value; };
            if (std::none_of(values.begin() + static_cast<std::ptrdiff_t>(asked.known) - 1,
                             values.end(), same)) {
                report(asked, "is read, and was not the state at any time since it was asked for");
            }
        }
    }

private:
    void report(const StateRecord& state, const std::string& text) {
        environment_.verdict.report("(k) session state",
                                    "'" + state.value.value_or("(none)") + "' of " +
                                        state.link->session + " on link" +
                                        std::to_string(state.link->id) + " " + text);
    }

    Environment& environment_;
};

} // namespace

std::unique_ptr<Oracle> make_state_oracle(Environment& environment, const Expectations&) {
    return std::make_unique<StateOracle>(environment);
}

} // namespace sessionq::simulation
