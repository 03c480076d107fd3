// SPDX-License-Identifier: MIT
#include "simulation/scheduling_client.hpp"

#include <algorithm>

#include "simulation/sim_pending.hpp"

namespace sessionq::simulation {

using Numbers = std::vector<std::int64_t>;

void SchedulingClient::schedule(const std::string& entity, const std::string& session,
                                const std::string& id, Duration from_now) {
    ScheduledRecord& record = environment_->scheduled[id];
    record.id = id;
    record.entity = entity;
    record.session = session;
    record.due = environment_->scheduler.wall_now() +
                 std::chrono::duration_cast<WallTime::duration>(from_now);
    attempt(record);
}

bool SchedulingClient::is_done() const {
    return std::ranges::all_of(environment_->scheduled, [](const auto& each) {
        return each.second.is_settled &&
               std::ranges::all_of(each.second.copies, &ScheduledRecord::Copy::is_over);
    });
}

void SchedulingClient::later(std::function<void()> what) {
    environment_->scheduler.after(
        environment_->scheduler.between(milliseconds{1}, milliseconds{500}),
        [this, here = here_, what = std::move(what)] {
            if (*here && endpoint_ != nullptr) {
                what();
            }
        });
}

void SchedulingClient::attempt(ScheduledRecord& record) {
    record.is_under_way = true;
    environment_->scheduler.trace("schedule '", record.id, "'");
    Message message;
    message.session_id = record.session;
    message.message_id = record.id;
    message.body = environment_->body_of(record.id);
    message.scheduled_enqueue_time = record.due;
    begin_operation<Numbers>(
        *loop_, Deadline::after(timeout_, environment_->scheduler.now()), {},
        [this, here = here_,
         request = ports::SendRequest{.entity = record.entity, .messages = {message}}](
            const detail::client::PendingPtr<Numbers>& pending) {
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
        [this, here = here_, &record](const core::Result<Numbers>& answer) {
            if (!*here) {
                return;
            }
            record.is_under_way = false;
            environment_->scheduler.trace("schedule '", record.id, "' ",
                                          answer ? "confirmed" : to_string(answer.failure().code));
            if (answer) {
                confirmed(record, answer.value().front());
                return;
            }
            record.unknown += answer.failure().outcome_unknown ? 1 : 0;
            later([this, &record] { attempt(record); });
        });
}

void SchedulingClient::confirmed(ScheduledRecord& record, std::int64_t sequence) {
    record.is_confirmed = true;
    environment_->tell(&Oracle::schedule_confirmed, record, sequence);
    const Duration left = record.due - environment_->scheduler.wall_now();
    if (!environment_->chance(50) || left < Duration::zero()) {
        record.is_settled = true;
        return;
    }
    const Duration when = environment_->scheduler.between(
        milliseconds{0}, left + milliseconds{50}); // sometimes too late
    environment_->scheduler.after(when, [this, here = here_, &record, sequence] {
        if (*here && endpoint_ != nullptr) {
            cancel(record, sequence);
        }
    });
}

void SchedulingClient::cancel(ScheduledRecord& record, std::int64_t sequence) {
    environment_->scheduler.trace("cancel '", record.id, "' #", sequence);
    begin_operation<core::Done>(
        *loop_, Deadline::after(timeout_, environment_->scheduler.now()), {},
        [this, here = here_, entity = record.entity,
         sequence](const detail::client::PendingPtr<core::Done>& pending) {
            if (*here && endpoint_ != nullptr) {
                endpoint_->cancel_scheduled(entity, {sequence}, Deadline::never(),
                                            detail::client::AnswerTo<core::Done>{pending});
            } else {
                pending->give_up(Errc::cancelled);
            }
        },
        [this, here = here_, &record, sequence](const core::Result<core::Done>& answer) {
            if (!*here) {
                return;
            }
            environment_->scheduler.trace("cancel '", record.id, "' ",
                                          answer ? "confirmed" : to_string(answer.failure().code));
            if (answer || answer.failure().code == Errc::message_not_found) {
                record.is_settled = true;
                environment_->tell(&Oracle::cancel_answered, record, sequence, answer.ok());
                for (ScheduledRecord::Copy& copy : record.copies) {
                    copy.is_cancelled =
                        copy.is_cancelled || (answer.ok() && copy.sequence == sequence);
                }
            } else {
                later([this, &record, sequence] { cancel(record, sequence); });
            }
        });
}

} // namespace sessionq::simulation
