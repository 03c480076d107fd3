// SPDX-License-Identifier: MIT
#include "simulation/deferred_use.hpp"

#include <utility>

#include "client/processors/session_deferred.hpp"
#include "client/receiving/session_receiver_operations.hpp"
#include "simulation/sim_pending.hpp"

namespace sessionq::simulation {

void DeferredUse::go_on() {
    if (!std::exchange(was_asked_, true)) {
        ask();
    } else if (next_ < messages_.size()) {
        settle(messages_[next_++]);
    }
}

void DeferredUse::ask() {
    constexpr std::size_t most = 3;
    std::vector<std::int64_t> numbers;
    for (MessageRecord& each : environment_->broker.messages()) {
        if (each.state == MessageState::deferred && !each.deferred_gone &&
            each.entity == link_->entity && each.session == link_->session &&
            each.deferred_link != link_->id && numbers.size() < most) {
            each.deferred_link = link_->id;
            wanted_.push_back(&each);
            numbers.push_back(each.sequence);
        }
    }
    if (numbers.empty()) {
        return;
    }
    environment_->scheduler.trace("link", link_->id, " receives ", numbers.size(), " deferred");
    asked();
    auto call = std::make_shared<
        detail::client::PublicCall<detail::client::Deliveries, std::vector<SessionMessage>>>(
        detail::client::receive_deferred(call_->session(), std::move(numbers),
                                         {.context = context_}));
    auto& operation = *call->operation;
    begin_operation<detail::client::Deliveries>(
        operation.loop, operation.deadline, operation.context.stop(), std::move(operation.start),
        [self = shared_from_this(), call](core::Result<detail::client::Deliveries> answer) {
            self->answered();
            try {
                self->received(call->finish(std::move(answer)));
            } catch (const Error& error) {
                self->environment_->scheduler.trace("no deferred messages: ", error.what());
                self->environment_->tell(&Oracle::deferred_refused, *self->link_, self->wanted_,
                                         error.failure());
            }
        });
}

void DeferredUse::received(std::vector<SessionMessage> messages) {
    std::vector<const ReceivedMessage*> got;
    for (const SessionMessage& each : messages) {
        got.push_back(&each.message());
    }
    environment_->tell(&Oracle::deferred_received, *link_, wanted_, got);
    messages_ = std::move(messages);
}

void DeferredUse::settle(SessionMessage& message) {
    MessageRecord& record = *wanted_[next_ - 1];
    const auto draw = environment_->scheduler.random().below(10);
    if (draw == 0) {
        return; // it stays deferred
    }
    const auto outcome = draw < 8 ? ports::Outcome::complete : ports::Outcome::defer;
    record.deferred_asked = record.deferred_asked || outcome == ports::Outcome::complete;
    environment_->scheduler.trace("link", link_->id, " settles deferred #", record.sequence, " ",
                                  ports::to_string(outcome));
    try {
        auto call = detail::client::settle(message, outcome, {.context = context_});
        if (!call.operation) {
            return;
        }
        asked();
        begin_operation<core::Done>(
            call.operation->loop, call.operation->deadline, call.operation->context.stop(),
            std::move(call.operation->start),
            [self = shared_from_this(), &record, outcome](const core::Result<core::Done>& answer) {
                self->answered();
                if (answer) {
                    self->environment_->tell(&Oracle::deferred_settled, record, outcome);
                }
            });
    } catch (const Error& error) {
        if (!lease_ending(*link_, environment_->scheduler.now(), environment_->margin()) &&
            link_->held) {
            environment_->broken(std::string{"a deferred message cannot be settled: "} +
                                 error.what());
        }
    }
}

} // namespace sessionq::simulation
