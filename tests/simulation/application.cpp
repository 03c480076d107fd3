// SPDX-License-Identifier: MIT
#include "simulation/application.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "core/backoff.hpp"
#include "simulation/deferred_use.hpp"
#include "simulation/state_use.hpp"
#include "simulation/virtual_worker.hpp"
#include "support/handler_end.hpp"

namespace sessionq::simulation {
namespace {

// Times that a message kills the consumer. Few: every other time.
constexpr std::uint32_t now_and_then = 5;
constexpr std::uint32_t always = 1'000'000;

} // namespace

/// A message of a handler that runs.
struct Application::Member {
    MessageContext* context;
    DeliveryRecord* record;
    std::optional<ports::Outcome> settles; ///< what the handler settles half way
    bool settles_again;
};

struct Application::Call {
    std::vector<Member> members{};
    Script script{};
    TimePoint until{};
    OperationContext under{};
    bool middle_done{false};
    Completion completion{};
    std::vector<std::shared_ptr<HandlerCalls>> calls{}; ///< that it makes, in order

    [[nodiscard]] LinkRecord& link() const { return *members.front().record->link; }
    [[nodiscard]] bool waits() const {
        return std::ranges::any_of(calls, [](const auto& each) { return each->is_asked(); });
    }
    /// Returns true while it waits for an answer.
    bool makes_calls() {
        for (const auto& each : calls) {
            if (!waits()) {
                each->go_on();
            }
        }
        return waits();
    }
};

detail::processor::Handlers Application::handlers(const Wanted& wanted) {
    detail::processor::Handlers handlers;
    batches_ = wanted.batches.has_value();
    handlers.batch = wanted.batches.value_or(handlers.batch);
    if (batches_ && wanted.coroutines) {
        handlers.start_messages = [this](Batch batch, Completion completion) {
            start(batch, std::move(completion));
        };
    } else if (batches_) {
        handlers.messages = [this](Batch batch) { run(batch); };
    } else if (wanted.coroutines) {
        handlers.start_message = [this](MessageContext& context, Completion completion) {
            start({&context, 1}, std::move(completion));
        };
    } else {
        handlers.message = [this](MessageContext& context) { run({&context, 1}); };
    }
    if (wanted.open) {
        handlers.session_open = [this](SessionContext& session) {
            const std::string key = session.entity() + "/" + session.session_id();
            check_open(key);
            opening_.insert(key);
            pass_time(milliseconds{environment_.scheduler.random().below(20)}, {});
            opening_.erase(key);
            if (environment_.chance(open_throws)) {
                expectations_.voluntary_leave = true;
                const Duration least = core::Backoff::at(expectations_.options.error_backoff,
                                                         failed_opens_[key].times++) /
                                       2;
                failed_opens_[key].not_before = environment_.scheduler.now() + least;
                throw std::runtime_error{"open"};
            }
            failed_opens_.erase(key);
        };
    }
    if (wanted.close) {
        handlers.session_close = [this](SessionContext& session, CloseReason why) {
            environment_.scheduler.trace("on_session_close ", session.session_id(), " ",
                                         to_string(why));
            pass_time(milliseconds{environment_.scheduler.random().below(20)}, {});
        };
    }
    handlers.error = [this](const ErrorContext& error) {
        ++errors_;
        environment_.scheduler.trace("on_error ", to_string(error.source), " ", error.session_id,
                                     " ", to_string(error.failure.code), " ", error.failure.detail);
    };
    return handlers;
}

/// A session that failed to open waits by itself, whichever slot has it next. Whoever gives it up
/// earlier, because of a fault or a pause, ends that.
void Application::check_open(const std::string& key) {
    const auto found = failed_opens_.find(key);
    const bool must_wait =
        expectations_.locks_last && !expectations_.pauses && !expectations_.limits_change;
    if (found != failed_opens_.end() && must_wait &&
        environment_.scheduler.now() < found->second.not_before) {
        environment_.verdict.report("(g) attempts (R17)",
                                    key + " is opened again before its delay is over, after " +
                                        std::to_string(found->second.times) + " failures");
    }
}

std::shared_ptr<Application::Call> Application::begin(Batch batch) {
    const auto draw = [this] {
        return draw_script(mix,
                           {.idle_timeout = expectations_.options.session_idle_timeout,
                            .lock_length = environment_.lock_length},
                           environment_.scheduler.random());
    };
    auto call = std::make_shared<Call>();
    call->script = draw();
    call->until = environment_.scheduler.now() + call->script.takes;
    call->under = OperationContext::current();
    batch_ += batches_ ? 1 : 0;
    std::vector<DeliveryRecord*> records;
    for (MessageContext& context : batch) {
        call->members.push_back(begin_message(context, records.empty() ? call->script : draw()));
        records.push_back(call->members.back().record);
        records.back()->leads = records.size() == 1;
    }
    LinkRecord& link = call->link();
    if (batches_) {
        environment_.tell(&Oracle::batch_started, records);
        choose_failure(*call);
    }
    if (opening_.contains(link.entity + "/" + link.session)) {
        environment_.verdict.report("(b) order", "a handler of " + link.session +
                                                     " starts before on_session_open has returned");
    }
    ++link.running;
    ++running_;
    for (DeliveryRecord* record : records) {
        environment_.scheduler.trace("handler begins ", link.session, " #",
                                     record->message->sequence, " link", link.id);
        environment_.tell(&Oracle::handler_started, *record);
    }
    return call;
}

Application::Member Application::begin_message(MessageContext& context, const Script& script) {
    DeliveryRecord& record = SimMessage::record_of(context.message());
    Member member{&context, &record, script.settles, script.settles_again};
    const bool completes = !expectations_.options.auto_complete && !script.settles;
    if (completes && environment_.scheduler.chance(80)) { // else it forgets to
        member.settles = ports::Outcome::complete;
    }
    if (!record.message->kills) {
        record.message->kills = environment_.chance(mix.kills)
                                    ? environment_.chance(30) ? now_and_then - 1 : always
                                : environment_.chance(mix.kills_once) ? 1U
                                                                      : 0U;
    }
    record.stop = context.stop_token();
    record.batch = batch_;
    ++record.starts;
    record.call = VirtualWorker::current()->call();
    ++record.running;
    ++record.link->started;
    ++environment_.handler_starts;
    return member;
}

/// A batch that fails has settled what comes before the message at which it fails, or some of it,
/// and seldom something behind that.
void Application::choose_failure(Call& call) {
    if (call.script.ending != Script::Ending::throws) {
        return;
    }
    const std::size_t at = environment_.scheduler.random().below(call.members.size() + 1);
    for (std::size_t i = 0; i < call.members.size(); ++i) {
        if (i < at && !call.members[i].settles && environment_.scheduler.chance(80)) {
            call.members[i].settles = ports::Outcome::complete;
        } else if (i >= at && environment_.scheduler.chance(90)) {
            call.members[i].settles.reset();
        }
    }
}

std::exception_ptr Application::finish(Call& call) {
    const bool threw = call.script.ending == Script::Ending::throws;
    const auto open = std::ranges::find_if(
        call.members, [](const Member& each) { return !each.record->explicitly.has_value(); });
    const bool failed = threw || (!expectations_.options.auto_complete &&
                                  open != call.members.end()); // as if it threw
    // The first that it did not settle has failed. The last, if it settled all.
    const DeliveryRecord* const failure = !failed                      ? nullptr
                                          : open != call.members.end() ? open->record
                                                                       : call.members.back().record;
    --call.link().running;
    --running_;
    for (const Member& each : call.members) {
        DeliveryRecord& record = *each.record;
        --record.running;
        if (&record == failure) {
            ++record.thrown;
            ++record.message->failed;
        } else if (failed && !record.explicitly) {
            ++record.given_back;
        } else {
            ++record.returned;
            if (!record.explicitly) {
                ++record.message->handled;
            }
        }
        environment_.scheduler.trace(
            "handler ends ", record.link->session, " #", record.message->sequence,
            &record != failure ? (failed && !record.explicitly ? " gives it back" : "")
            : threw            ? " throws"
                               : " and settled nothing");
        environment_.tell(&Oracle::handler_finished, record, &record == failure);
    }
    if (after_handler) {
        after_handler(*call.members.back().record);
    }
    if (!threw) {
        return nullptr;
    }
    const auto failing = std::ranges::find(call.members, failure, &Member::record);
    if (failure->message->sequence % 2 == 0) { // half of them say so instead of throwing
        failing->context->fail({.code = Errc::handler_failed, .detail = "scripted"});
        return nullptr;
    }
    return std::make_exception_ptr(std::runtime_error{"scripted"});
}

void Application::pass_time(Duration length, std::function<bool()> until) {
    if (length > Duration::zero() || until) {
        VirtualWorker::current()->wait(environment_.scheduler.now() + length, std::move(until));
    }
}

bool Application::ended_early(const Call& call) const {
    return let_go_ ||
           (call.script.until_stopped && call.members.front().record->stop.stop_requested());
}

void Application::run(Batch batch) {
    const auto call = begin(batch);
    const bool waits = call->script.hangs || call->script.until_stopped;
    pass_time(call->script.takes / 2, {});
    if (kills(*call)) {
        pass_time(std::chrono::hours{24}, [this] { return let_go_; });
    }
    middle(*call);
    while (!let_go_ && call->makes_calls()) {
        pass_time(std::chrono::hours{24}, [this, call] { return let_go_ || !call->waits(); });
    }
    if (waits) {
        pass_time(std::chrono::hours{24}, [this, call] { return ended_early(*call); });
    } else if (call->until > environment_.scheduler.now()) {
        pass_time(call->until - environment_.scheduler.now(), {});
    }
    if (const std::exception_ptr error = finish(*call)) {
        std::rethrow_exception(error);
    }
}

bool Application::kills(const Call& call) {
    for (const Member& each : call.members) {
        MessageRecord& message = *each.record->message;
        const bool is_its_time =
            *message.kills != 0 && (*message.kills >= now_and_then || environment_.chance(50));
        if (is_its_time && kill(message)) {
            --*message.kills;
            return true;
        }
    }
    return false;
}

void Application::wind_up() {
    let_go_ = true;
    dead_ = false;
    for (const auto& call : std::exchange(cut_off_, {})) {
        poll_end(call);
    }
}

void Application::start(Batch batch, Completion completion) {
    const auto call = begin(batch);
    call->completion = std::move(completion);
    if (call->script.takes == Duration::zero() && kills(*call)) {
        cut_off_.push_back(call);
        return;
    }
    if (call->script.takes == Duration::zero() && call->script.state_calls == 0 &&
        call->script.sends == 0 && !call->script.takes_deferred && !call->script.hangs &&
        !call->script.until_stopped) {
        middle(*call);
        test::end_handler(call->completion, finish(*call)); // before start_message returns
        return;
    }
    poll_end(call);
}

/// Resumes coroutines, as a thread that is neither a loop nor a worker.
void Application::poll_end(std::shared_ptr<Call> call) {
    if (dead_) {
        cut_off_.push_back(std::move(call));
        return;
    }
    const bool waits = call->script.hangs || call->script.until_stopped;
    const TimePoint now = environment_.scheduler.now();
    const TimePoint half = call->until - call->script.takes / 2;
    if (!call->middle_done && now >= half) {
        if (kills(*call)) {
            cut_off_.push_back(std::move(call));
            return;
        }
        middle(*call);
    }
    const bool calling = call->middle_done && !let_go_ && call->makes_calls();
    if (call->middle_done && !calling && (waits ? ended_early(*call) : now >= call->until)) {
        const Completion completion = std::move(call->completion);
        test::end_handler(completion, finish(*call));
        return;
    }
    const TimePoint next = !call->middle_done ? half
                           : calling || waits ? now + milliseconds{calling ? 1 : 5}
                                              : call->until;
    environment_.scheduler.at(next, [this, call] { poll_end(call); });
}

void Application::middle(Call& call) {
    call.middle_done = true;
    switch (call.script.side) {
    case Script::Side::none: break;
    case Script::Side::stop: stop_from_inside(); break;
    case Script::Side::release:
        expectations_.voluntary_leave = true;
        call.members.front().context->session().release();
        break;
    case Script::Side::change_limits: change_limits(); break;
    case Script::Side::pause: switch_pause(); break;
    }
    if (call.script.state_calls != 0 && !let_go_) {
        call.calls.push_back(std::make_shared<StateUse>(environment_, *call.members.front().context,
                                                        call.link(), call.under,
                                                        call.script.state_calls));
    }
    if (call.script.takes_deferred && !let_go_) {
        call.calls.push_back(std::make_shared<DeferredUse>(
            environment_, *call.members.front().context, call.link(), call.under));
    }
    if (call.script.sends != 0 && !let_go_ && environment_.broker.messages().size() < 400) {
        call.calls.push_back(std::make_shared<HandlerSends>(
            environment_, endpoints, call.link().id,
            HandlerSends::Terms{
                .context = call.under, .timeout = send_timeout, .count = call.script.sends}));
    }
    for (Member& each : call.members) {
        if (each.settles && !expectations_.options.receive_and_delete) {
            settle(each, *each.settles);
            if (each.settles_again) {
                settle(each, ports::Outcome::complete);
            }
        }
    }
}

void Application::settle(Member& member, ports::Outcome outcome) {
    DeliveryRecord& record = *member.record;
    const bool first = !record.explicitly;
    if (first) {
        record.explicitly = outcome;
    }
    try {
        switch (outcome) {
        case ports::Outcome::abandon: member.context->abandon(); break;
        case ports::Outcome::dead_letter: member.context->dead_letter("scripted"); break;
        case ports::Outcome::defer: member.context->defer(); break;
        case ports::Outcome::release:
            member.context->release();
            expectations_.voluntary_leave = true; // its session is parked first
            break;
        default: member.context->complete(); break;
        }
        if (!first) {
            environment_.verdict.report("(c) settlement (R8)",
                                        "a second settlement was not refused");
        } else if (outcome == ports::Outcome::complete) {
            ++record.message->handled;
        }
    } catch (const Error& error) {
        if (first) {
            record.explicitly.reset();
            if (error.code() != make_error_code(Errc::lock_lost)) {
                environment_.verdict.report("(c) settlement (R8)",
                                            std::string{"a first settlement was refused: "} +
                                                error.what());
            }
        }
    }
}

} // namespace sessionq::simulation
