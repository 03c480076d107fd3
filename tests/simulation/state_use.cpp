// SPDX-License-Identifier: MIT
#include "simulation/state_use.hpp"

#include "client/processors/session_state.hpp"
#include "simulation/sim_pending.hpp"

namespace sessionq::simulation {

void StateUse::go_on() {
    if (left_ == 0) {
        return;
    }
    --left_;
    core::Random& random = environment_->scheduler.random();
    if (random.below(2) == 0) {
        read();
    } else {
        const std::string value =
            link_->session + "=" + std::to_string(environment_->state_asks.size());
        write(random.below(10) != 0 ? std::optional{value} : std::nullopt);
    }
}

StateRecord& StateUse::begin(bool writes, std::optional<std::string> value) {
    asked();
    environment_->scheduler.trace("link", link_->id,
                                  writes ? " sets the state to '" : " reads the state",
                                  value.value_or(""), writes ? "'" : "");
    const std::size_t known = environment_->states_of(link_->entity, link_->session).size();
    return environment_->state_asks.emplace_back(
        StateRecord{.link = link_, .writes = writes, .value = std::move(value), .known = known});
}

void StateUse::read() {
    using State = std::optional<std::string>;
    StateRecord& record = begin(false, {});
    detail::client::Operation<State> operation =
        detail::client::get_state(call_->session(), {.context = context_});
    begin_operation<State>(operation.loop, operation.deadline, operation.context.stop(),
                           std::move(operation.start),
                           [self = shared_from_this(), &record](const core::Result<State>& answer) {
                               record.value = answer ? answer.value() : std::nullopt;
                               self->told(record, answer ? nullptr : &answer.failure());
                           });
}

void StateUse::write(std::optional<std::string> value) {
    StateRecord& record = begin(true, value);
    detail::client::Operation<core::Done> operation =
        detail::client::set_state(call_->session(), std::move(value), {.context = context_});
    begin_operation<core::Done>(
        operation.loop, operation.deadline, operation.context.stop(), std::move(operation.start),
        [self = shared_from_this(), &record](const core::Result<core::Done>& answer) {
            self->told(record, answer ? nullptr : &answer.failure());
        });
}

void StateUse::told(const StateRecord& record, const Failure* failure) {
    answered();
    environment_->scheduler.trace("link", link_->id, record.writes ? " has set" : " has read",
                                  " the state '", record.value.value_or(""), "' ",
                                  failure != nullptr ? to_string(failure->code) : "");
    environment_->tell(&Oracle::state_answered, record, failure);
}

} // namespace sessionq::simulation
