// SPDX-License-Identifier: MIT
#include "simulation/handler_sends.hpp"

#include <iterator>
#include <string>

#include "client/calls/call_scope.hpp"
#include "simulation/sim_pending.hpp"

namespace sessionq::simulation {

using Numbers = std::vector<std::int64_t>;

void HandlerSends::go_on() {
    if (terms_.count == 0) {
        return;
    }
    --terms_.count;
    const TimePoint now = environment_->scheduler.now();
    Deadline deadline =
        detail::client::CallScope{terms_.context, terms_.context.deadline()}.deadline_or(
            terms_.timeout, now);
    if (environment_->chance(20)) {
        deadline = deadline.sooner(Deadline::after(
            environment_->scheduler.between(milliseconds{0}, milliseconds{300}), now));
    }
    send(some_session(), deadline);
}

/// One that exists is served by the consumer, whatever its options are.
const BrokerSession& HandlerSends::some_session() {
    const auto& sessions = environment_->broker.sessions();
    const auto which = environment_->scheduler.random().below(sessions.size());
    return std::next(sessions.begin(), static_cast<std::ptrdiff_t>(which))->second;
}

void HandlerSends::send(const BrokerSession& to, Deadline deadline) {
    const std::string id = "h" + std::to_string(environment_->sent.size());
    SentRecord& record = environment_->sent[id];
    record.id = id;
    record.session = to.id;
    record.first_of_batch = &record;
    record.tries = 1;
    record.is_under_way = true;
    ++environment_->handler_sends;
    asked();
    environment_->scheduler.trace("link", link_, " sends '", id, "' to ", to.id);
    Message message;
    message.session_id = to.id;
    message.message_id = id;
    message.body = environment_->body_of(id);
    const std::size_t index = environment_->scheduler.random().below(endpoints_().size());
    begin_operation<Numbers>(
        endpoints_()[index]->loop(), deadline, terms_.context.stop(),
        [endpoints = endpoints_, index,
         request = ports::SendRequest{.entity = to.entity, .messages = {std::move(message)}}](
            const detail::client::PendingPtr<Numbers>& pending) mutable {
            ports::Endpoint* const endpoint = endpoints()[index];
            if (endpoint == nullptr) {
                pending->give_up(Errc::cancelled);
                return;
            }
            request.deadline = pending->deadline();
            const auto asked =
                endpoint->send(std::move(request), detail::client::AnswerTo<Numbers>{pending});
            pending->ask_port([endpoint, asked] { endpoint->give_up(asked); });
        },
        [self = shared_from_this(), &record](const core::Result<Numbers>& answer) {
            self->told(record, answer);
        });
}

void HandlerSends::told(SentRecord& record, const core::Result<Numbers>& answer) {
    answered();
    record.is_under_way = false;
    --environment_->handler_sends;
    environment_->scheduler.trace("link", link_, " '", record.id, "' ",
                                  answer ? "confirmed" : to_string(answer.failure().code),
                                  answer || !answer.failure().outcome_unknown ? "" : ", unknown");
    if (answer) {
        record.is_confirmed = true;
        environment_->tell(&Oracle::send_confirmed, record);
        return;
    }
    record.unknown += answer.failure().outcome_unknown ? 1 : 0;
    environment_->tell(&Oracle::send_failed, record);
}

} // namespace sessionq::simulation
