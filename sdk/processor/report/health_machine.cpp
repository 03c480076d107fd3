// SPDX-License-Identifier: MIT
#include "processor/report/health_machine.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "core/peer_words.hpp"
#include "processor/report/health_board.hpp"

namespace sessionq::detail::processor {

void HealthMachine::connections(const std::vector<core::ConnectionStatus>& all) {
    heard_.resize(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        const core::ConnectionStatus& status = all[i];
        Heard& heard = heard_[i];
        const bool is_new = heard.at == TimePoint{} || status.received != heard.received;
        if (status.open ? is_new : !heard.is_silent) {
            heard.received = status.received;
            heard.at = now_;
            heard.is_silent = false;
        }
        heard.is_silent = heard.is_silent || (status.open && now_ - heard.at >= silence_);
        clock(status, heard.differs_since);
        if (status.open && heard.is_silent) {
            add_reason(reasons_, {.cause = HealthCause::broker_silent,
                                  .detail = "'" + status.broker + "' sends nothing",
                                  .since = now_ - heard.at});
        } else if (status.down_since &&
                   (heard.is_silent || now_ - *status.down_since >= bounds_.not_connected)) {
            add_reason(reasons_,
                       {.cause = HealthCause::not_connected,
                        .detail = "no connection to '" + status.broker + "'" +
                                  (status.last_failure.empty() ? "" : ": " + status.last_failure),
                        .since = now_ - std::min(*status.down_since, heard.at)});
        }
    }
}

void HealthMachine::clock(const core::ConnectionStatus& status, TimePoint& differs_since) {
    const Duration ahead = status.broker_ahead;
    if (!status.open || (ahead < difference_to_tell && -ahead < difference_to_tell)) {
        differs_since = TimePoint::max();
        return;
    }
    differs_since = std::min(differs_since, now_);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
    add_reason(reasons_, {.cause = HealthCause::clocks_differ,
                          .detail = "the clock of '" + status.broker + "' is at least " +
                                    std::to_string(std::abs(seconds)) + " s " +
                                    (seconds > 0 ? "ahead of" : "behind") + " this host's",
                          .since = now_ - differs_since});
}

void HealthMachine::target(const std::string& entity, const Refusal* refusal) {
    ++targets_;
    if (refusal == nullptr || refusal->failure.code == Errc::session_locked_elsewhere) {
        return;
    }
    const Duration since = now_ - refusal->since;
    if (refusal->unanswered) {
        add_reason(reasons_, {.cause = HealthCause::accept_unanswered,
                              .entity = entity,
                              .detail = refusal->failure.to_string(),
                              .since = since});
    } else if (refusal->is_final() || since >= bounds_.accept_failing) {
        final_ += refusal->is_final() ? 1 : 0;
        add_reason(reasons_, {.cause = HealthCause::accept_refused,
                              .entity = entity,
                              .detail = refusal->failure.to_string(),
                              .since = since});
    }
}

void HealthMachine::slot(const SlotSnapshot& slot) {
    if (slot.failures >= failures_to_tell && (slot.rests || now_ - slot.since < recovery)) {
        add_reason(reasons_, {.cause = HealthCause::sessions_lost,
                              .detail = "a fault ended " + std::to_string(slot.failures) +
                                        " sessions in a row of slot " + std::to_string(slot.index),
                              .since = now_ - slot.since});
    }
    if (slot.status.waits_for.empty()) { // R16
        add_reason(reasons_, {.cause = HealthCause::internal_error,
                              .detail = "slot " + std::to_string(slot.index) + " waits for nothing",
                              .since = now_ - slot.since});
    }
}

void HealthMachine::session(const SessionSnapshot& session) {
    const auto name = [&session] {
        return session.session_id.empty()
                   ? std::string{"the entity"}
                   : "session '" + core::peer_words(session.session_id) + "'";
    };
    const auto found = [&](HealthCause cause, TimePoint since, std::string detail) {
        add_reason(reasons_, {.cause = cause,
                              .entity = session.entity,
                              .session_id = session.session_id,
                              .detail = std::move(detail),
                              .since = now_ - since});
    };
    if (session.running != 0 && now_ - session.progress_at >= bounds_.handler_slow) {
        found(HealthCause::handler_slow, session.progress_at,
              "no handler of " + name() + " has finished");
    }
    if (session.awaits_worker && now_ - session.progress_at >= bounds_.workers_busy) {
        found(HealthCause::workers_busy, session.progress_at,
              "no worker takes the messages of " + name());
    }
    if (session.unanswered_since != TimePoint::max() &&
        now_ - session.unanswered_since >= bounds_.settlement_unanswered) {
        found(HealthCause::settlement_unanswered, session.unanswered_since,
              "no settlement of " + name() + " is answered");
    }
    if (session.renewal_late) {
        found(HealthCause::renewal_late, now_,
              "the renewal of the lock of " + name() + " is not answered");
    }
    if (session.status.waits_for.empty()) { // R16
        found(HealthCause::internal_error, session.progress_at, name() + " waits for nothing");
    }
    if (session.parked && now_ - session.progress_at >= bounds_.sessions_parked) {
        found(HealthCause::sessions_parked, session.progress_at,
              name() + " is parked" + (session.open_failed ? ": on_session_open threw" : ""));
    }
}

void HealthMachine::ready(const std::string& entity, const ports::ReadySessions& sessions) {
    if (sessions.count != 0 && now_ - sessions.since >= waiting_) {
        add_reason(reasons_, {.cause = HealthCause::sessions_waiting,
                              .entity = entity,
                              .detail = "sessions are ready and wait for a slot",
                              .count = sessions.count,
                              .since = now_ - sessions.since});
    }
}

void HealthMachine::buffer(std::size_t bytes, std::size_t most) {
    full_since_ = bytes < most ? TimePoint::max() : std::min(full_since_, now_);
    if (full_since_ != TimePoint::max() && now_ - full_since_ >= bounds_.buffer_full) {
        add_reason(reasons_, {.cause = HealthCause::buffer_full,
                              .detail = std::to_string(bytes) + " of " + std::to_string(most) +
                                        " bytes are buffered",
                              .since = now_ - full_since_});
    }
}

void HealthMachine::handlers(std::uint64_t dropped, std::uint64_t repeated) {
    if (dropped + repeated != misuse_.times) {
        const bool goes_on = misuse_.times != 0 && now_ - misuse_.last < misuse_to_tell;
        misuse_.first = goes_on ? misuse_.first : now_;
        misuse_.last = now_;
        misuse_.times = dropped + repeated;
    }
    if (misuse_.times != 0 && now_ - misuse_.last < misuse_to_tell) {
        add_reason(reasons_, {.cause = HealthCause::handler_misused,
                              .detail = std::to_string(dropped) + " handlers never ended, " +
                                        std::to_string(repeated) + " ended again",
                              .since = now_ - misuse_.first});
    }
}

Health HealthMachine::end() {
    const bool is_down =
        std::any_of(reasons_.begin(), reasons_.end(), [](const HealthReason& each) {
            return each.cause == HealthCause::not_connected;
        });
    if (is_down) { // the missing connection explains why accepts fail
        std::erase_if(reasons_, [](const HealthReason& each) {
            return each.cause == HealthCause::accept_refused ||
                   each.cause == HealthCause::accept_unanswered;
        });
    }
    Health health{.state = reasons_.empty() ? Health::State::healthy : Health::State::degraded,
                  .reasons = std::move(reasons_)};
    reasons_.clear();
    if (targets_ != 0 && final_ == targets_) {
        health.state = Health::State::failed;
    }
    return health;
}

} // namespace sessionq::detail::processor
