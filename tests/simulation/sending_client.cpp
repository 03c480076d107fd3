// SPDX-License-Identifier: MIT
#include "simulation/sending_client.hpp"

#include <algorithm>

#include "simulation/sim_pending.hpp"

namespace sessionq::simulation {

using Numbers = std::vector<std::int64_t>;

SendingClient::SendingClient(Environment& environment, const Sending& sending,
                             ports::EndpointPtr endpoint)
    : environment_{&environment},
      sending_{sending},
      loop_{&endpoint->loop()},
      endpoint_{std::move(endpoint)} {}

void SendingClient::send(const std::string& entity, const std::string& session,
                         const std::string& id) {
    Outbox& outbox = outboxes_[{entity, session}];
    outbox.entity = entity;
    SentRecord& record = environment_->sent[id];
    record.id = id;
    record.session = session;
    record.before = std::exchange(outbox.last, &record);
    outbox.waiting.push_back(&record);
    next(outbox);
}

bool SendingClient::is_done() const {
    return std::ranges::all_of(outboxes_, [](const auto& each) {
        return each.second.batch.empty() && each.second.waiting.empty();
    });
}

void SendingClient::close() { endpoint_.reset(); }

void SendingClient::check_answered() const {
    for (const auto& [key, outbox] : outboxes_) {
        if (outbox.is_asked) {
            environment_->broken("a send to session " + key.second + " was never answered (R15)");
        }
    }
}

void SendingClient::next(Outbox& outbox) {
    if (!outbox.batch.empty() || outbox.waiting.empty()) {
        return;
    }
    const std::size_t most = std::min(outbox.waiting.size(), sending_.batch);
    const std::size_t count = 1 + environment_->scheduler.random().below(most);
    for (std::size_t i = 0; i < count; ++i) {
        outbox.batch.push_back(outbox.waiting.front());
        outbox.batch.back()->first_of_batch = outbox.batch.front();
        outbox.waiting.pop_front();
    }
    attempt(outbox);
}

void SendingClient::attempt(Outbox& outbox) {
    ports::SendRequest request{.entity = outbox.entity};
    for (SentRecord* record : outbox.batch) {
        ++record->tries;
        record->is_under_way = true;
        Message message;
        message.session_id = record->session;
        message.message_id = record->id;
        message.body = environment_->body_of(record->id);
        request.messages.push_back(std::move(message));
    }
    outbox.is_asked = true;
    environment_->scheduler.trace("send ", outbox.batch.front()->session, " '",
                                  outbox.batch.front()->id, "' and ", outbox.batch.size() - 1,
                                  " more");
    const Deadline deadline = Deadline::after(sending_.timeout, environment_->scheduler.now());
    begin_operation<Numbers>(
        *loop_, deadline, {},
        [this, here = here_,
         request = std::move(request)](const detail::client::PendingPtr<Numbers>& pending) {
            if (*here && endpoint_ != nullptr) {
                const auto id =
                    endpoint_->send(request, detail::client::AnswerTo<Numbers>{pending});
                pending->ask_port([this, here, id] { // it knows whether the request was sent
                    if (*here && endpoint_ != nullptr) {
                        endpoint_->give_up(id);
                    }
                });
            } else {
                pending->give_up(Errc::cancelled);
            }
        },
        [this, here = here_, &outbox](const core::Result<Numbers>& answer) {
            if (*here) {
                answered(outbox, answer);
            }
        });
}

void SendingClient::answered(Outbox& outbox, const core::Result<Numbers>& answer) {
    outbox.is_asked = false;
    environment_->scheduler.trace("send ", outbox.batch.front()->session, " '",
                                  outbox.batch.front()->id, "' ",
                                  answer ? "confirmed" : to_string(answer.failure().code));
    for (SentRecord* record : outbox.batch) {
        record->is_under_way = false;
        if (answer) {
            record->is_confirmed = true;
            environment_->tell(&Oracle::send_confirmed, *record);
        } else if (answer.failure().outcome_unknown) {
            ++record->unknown;
        }
    }
    if (answer) {
        outbox.batch.clear();
        next(outbox);
    } else if (endpoint_ != nullptr) {
        environment_->scheduler.after(
            environment_->scheduler.between(milliseconds{1}, milliseconds{500}),
            [this, here = here_, &outbox] {
                if (*here && endpoint_ != nullptr) {
                    attempt(outbox);
                }
            });
    }
}

} // namespace sessionq::simulation
