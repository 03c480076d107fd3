// SPDX-License-Identifier: MIT
#include "processor/slots/accept_table.hpp"

#include <utility>

#include "processor/slots/ready_sessions.hpp"

namespace sessionq::detail::processor {
namespace {

TargetBook targets_of(const Workplace& workplace) {
    TargetBook targets{workplace.shared->entities, workplace.options().session_ids,
                       workplace.shared->claims.get()};
    if (workplace.endpoint.capabilities().has(ports::Capability::accept_any_entity)) {
        targets.join();
    }
    return targets;
}

/// Whether a single entity may have caused the failure of an accept of several entities.
bool is_of_one_entity(Errc code) noexcept {
    return code != Errc::no_session_available && code != Errc::cancelled;
}

void tell(Workplace& workplace, const AcceptTarget& target, const Failure& failure) {
    workplace.meters.counters.accept_failures.add();
    workplace.shared->report({.source = ErrorSource::accept,
                              .failure = failure,
                              .entity = target.entity,
                              .session_id = target.session_id.value_or("")});
}

} // namespace

AcceptTable::AcceptTable(AcceptOwner& owner, Workplace& workplace)
    : owner_{owner},
      workplace_{workplace},
      targets_{targets_of(workplace)},
      machine_{std::in_place, targets_, workplace.options().error_backoff, workplace.random},
      refusals_{targets_.size()} {}

/// The targets have changed: the accepts under way are given up.
void AcceptTable::ask_anew() {
    const std::uint32_t free = machine_->free();
    need_at_once(0);
    machine_.emplace(targets_, workplace_.options().error_backoff, workplace_.random);
    refusals_.resize(targets_.size());
    need(free);
}

void AcceptTable::need(std::uint32_t free) {
    machine_->need(free, now());
    look();
}

void AcceptTable::need_at_once(std::uint32_t free) {
    machine_->need(free, now());
    machine_->hurry(now());
    look();
}

void AcceptTable::look() {
    while (Ask* const given_up = machine_->surplus(now())) {
        give_up(*given_up);
    }
    while (const auto target = machine_->next_target(now())) {
        ask(*target);
    }
    workplace_.loop().timers().set_due(timer_, machine_->next(now()));
}

void AcceptTable::on_timer() {
    machine_->due(now());
    while (Ask* const given_up = machine_->overdue(now())) {
        const Failure failure{.code = Errc::timeout, .detail = "an accept was not answered"};
        refusals_.unanswered(given_up->target, failure, now());
        tell(workplace_, targets_[given_up->target], failure);
        give_up(*given_up);
    }
    look();
}

/// Gives an accept up. The claim of its target is released when the accept is answered.
void AcceptTable::give_up(Ask& ask) { workplace_.endpoint.give_up(static_cast<Accept&>(ask).id); }

void AcceptTable::ask(std::size_t target) {
    const SessionProcessorOptions& options = workplace_.options();
    const Tuning& tuning = workplace_.shared->environment.tuning;
    const Duration wait = targets_.wait(options.accept_wait, tuning.rotate_wait);
    const auto accept = accepts_.emplace(accepts_.end());
    const ports::FirstCredit first = owner_.first_credit();
    accept->expected = first.count;
    workplace_.budget.expect(first.count);
    machine_->asked(*accept, target, now(), now() + wait + tuning.accept_grace);
    accept->id = workplace_.endpoint.accept(
        {.entity = targets_[target].entity,
         .scope = workplace_.shared->scope,
         .further_entities = targets_[target].further_entities,
         .session_id = targets_[target].session_id,
         .mode = options.receive_and_delete ? ports::ReceiveMode::receive_and_delete
                                            : ports::ReceiveMode::peek_lock,
         .wait = wait,
         .priority = options.priority,
         .buffer_bytes = workplace_.budget.budget_bytes(),
         .first = first},
        [this, weak = workplace_.life, accept](core::Result<ports::SessionLinkPtr> answer) {
            if (const auto alive = weak.lock()) { // else dropping the link gives the session back
                answered(accept, std::move(answer));
            }
        });
}

void AcceptTable::answered(Accepts::iterator accept, core::Result<ports::SessionLinkPtr> answer) {
    workplace_.budget.unexpect(accept->expected); // from now on the session counts its messages
    if (!accept->is_linked()) {                   // the accept was given up
        give_back(accept, std::move(answer), workplace_.meters.counters.late_accepts);
        return;
    }
    const std::size_t target = accept->target;
    if (!answer.ok()) {
        const bool is_news = machine_->failed(*accept, answer.failure().code, now());
        accepts_.erase(accept);
        targets_.release(target);
        if (is_of_one_entity(answer.failure().code) && targets_.split()) { // asked one by one now
            ask_anew();
            return;
        }
        failed(target, answer.failure(), is_news);
        look();
    } else if (machine_->granted(*accept, now())) {
        const TimePoint asked_at = accept->asked_at;
        accepts_.erase(accept);
        workplace_.meters.accepted(now() - asked_at);
        refusals_.answered(target);
        owner_.granted(target, asked_at, std::move(answer).value());
    } else {
        look(); // gives up other accepts that would bring the session again
        give_back(accept, std::move(answer), workplace_.meters.counters.surplus_accepts);
    }
}

/// Takes the answer to an accept that nobody needs any more (R19). Closes the session, if the
/// answer is one.
void AcceptTable::give_back(Accepts::iterator accept, core::Result<ports::SessionLinkPtr> answer,
                            Counters::Count& sessions) {
    const auto end = [this, accept, asked = now()](const auto& result) {
        if (accept->late != nullptr && result.ok()) {
            closed_in(now() - asked);
        }
        core::EventLoop& loop = workplace_.loop();
        accepts_.erase(accept); // may destroy this lambda, with the link that holds it
        loop.wake();
    };
    targets_.release(accept->target);
    if (answer.ok()) {
        Counters::add(sessions);
        accept->late_until = now() + workplace_.shared->environment.tuning.close_timeout;
        accept->late = std::move(answer).value();
        accept->late->close(end);
    } else {
        end(answer);
    }
    look();
}

void AcceptTable::drop_late(TimePoint now) {
    accepts_.remove_if(
        [now](const Accept& each) { return each.late != nullptr && now >= each.late_until; });
}

void AcceptTable::failed(std::size_t target, const Failure& failure, bool is_news) {
    if (failure.code == Errc::no_session_available) {
        workplace_.meters.counters.empty_accepts.add();
        refusals_.answered(target);
    } else if (failure.code != Errc::cancelled) {
        refusals_.failed(target, failure, now());
    }
    if (is_news) {
        tell(workplace_, targets_[target], failure);
    }
}

void AcceptTable::show(HealthMachine& health) {
    for (std::size_t i = 0; i < targets_.size(); ++i) {
        const Refusal* refusal = refusals_.at(i);
        if (refusal != nullptr) {
            refusal = refusals_.look(i, machine_->asked_at(i), now());
        }
        health.target(targets_[i].entity, refusal);
    }
    if (const auto sessions = ready_sessions(targets_, workplace_.endpoint)) {
        health.ready(targets_.only_entity(), *sessions);
    }
}

} // namespace sessionq::detail::processor
