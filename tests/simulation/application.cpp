// SPDX-License-Identifier: MIT
#include "simulation/application.hpp"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "simulation/state_use.hpp"
#include "simulation/virtual_worker.hpp"

namespace sessionq::simulation {

struct Application::Call {
    MessageContext* context;
    DeliveryRecord* record;
    Script script;
    TimePoint until;
    OperationContext under{};
    bool middle_done{false};
    processor::HandlerDone done{};
    std::vector<std::shared_ptr<HandlerCalls>> calls{}; ///< that it makes, in order

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

processor::Handlers Application::handlers(bool coroutines, bool open, bool close) {
    processor::Handlers handlers;
    if (coroutines) {
        handlers.start_message = [this](MessageContext& context,
                                        const processor::HandlerDone& done) {
            start(context, done);
        };
    } else {
        handlers.message = [this](MessageContext& context) { run(context); };
    }
    if (open) {
        handlers.session_open = [this](SessionContext& session) {
            opening_.insert(session.entity() + "/" + session.session_id());
            pass_time(milliseconds{environment_.scheduler.random().below(20)}, {});
            opening_.erase(session.entity() + "/" + session.session_id());
            if (environment_.chance(open_throws)) {
                expectations_.voluntary_leave = true;
                throw std::runtime_error{"open"};
            }
        };
    }
    if (close) {
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

std::shared_ptr<Application::Call> Application::begin(MessageContext& context) {
    DeliveryRecord& record = SimMessage::record_of(context.message());
    LinkRecord& link = *record.link;
    auto call = std::make_shared<Call>();
    call->context = &context;
    call->record = &record;
    call->script = draw_script(mix,
                               {.idle_timeout = expectations_.options.session_idle_timeout,
                                .lock_length = environment_.lock_length},
                               environment_.scheduler.random());
    call->until = environment_.scheduler.now() + call->script.takes;
    const bool completes = !expectations_.options.auto_complete && !call->script.settles;
    if (completes && environment_.scheduler.chance(80)) { // else it forgets to
        call->script.settles = ports::Outcome::complete;
    }
    call->under = OperationContext::current();
    record.stop = context.stop_token();
    if (opening_.contains(link.entity + "/" + link.session)) {
        environment_.verdict.report("(b) order", "a handler of " + link.session +
                                                     " starts before on_session_open has returned");
    }
    ++record.starts;
    ++record.running;
    ++link.running;
    ++link.started;
    ++environment_.handler_starts;
    ++running_;
    environment_.scheduler.trace("handler begins ", link.session, " #", record.message->sequence,
                                 " link", link.id);
    environment_.tell(&Oracle::handler_started, record);
    return call;
}

std::exception_ptr Application::finish(Call& call) {
    DeliveryRecord& record = *call.record;
    const bool threw = call.script.ending == Script::Ending::throws;
    const bool failed =
        threw || (!expectations_.options.auto_complete && !record.explicitly); // as if it threw
    --record.running;
    --record.link->running;
    --running_;
    if (failed) {
        ++record.thrown;
        ++record.message->failed;
    } else {
        ++record.returned;
        if (!record.explicitly) {
            ++record.message->handled;
        }
    }
    environment_.scheduler.trace("handler ends ", record.link->session, " #",
                                 record.message->sequence,
                                 threw    ? " throws"
                                 : failed ? " and settled nothing"
                                          : "");
    environment_.tell(&Oracle::handler_finished, record, failed);
    if (after_handler) {
        after_handler(record);
    }
    return threw ? std::make_exception_ptr(std::runtime_error{"scripted"}) : nullptr;
}

void Application::pass_time(Duration length, std::function<bool()> until) {
    if (length > Duration::zero() || until) {
        VirtualWorker::current()->wait(environment_.scheduler.now() + length, std::move(until));
    }
}

bool Application::ended_early(const Call& call) const {
    return let_go_ || (call.script.until_stopped && call.record->stop.stop_requested());
}

void Application::run(MessageContext& context) {
    const auto call = begin(context);
    const bool waits = call->script.hangs || call->script.until_stopped;
    pass_time(call->script.takes / 2, {});
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

void Application::start(MessageContext& context, const processor::HandlerDone& done) {
    const auto call = begin(context);
    call->done = done;
    if (call->script.takes == Duration::zero() && call->script.state_calls == 0 &&
        call->script.sends == 0 && !call->script.hangs && !call->script.until_stopped) {
        middle(*call);
        done(finish(*call)); // before start_message returns
        return;
    }
    poll_end(call);
}

/// Resumes coroutines, as a thread that is neither a loop nor a worker.
void Application::poll_end(std::shared_ptr<Call> call) {
    const bool waits = call->script.hangs || call->script.until_stopped;
    const TimePoint now = environment_.scheduler.now();
    const TimePoint half = call->until - call->script.takes / 2;
    if (!call->middle_done && now >= half) {
        middle(*call);
    }
    const bool calling = call->middle_done && !let_go_ && call->makes_calls();
    if (call->middle_done && !calling && (waits ? ended_early(*call) : now >= call->until)) {
        const processor::HandlerDone done = std::move(call->done);
        const std::exception_ptr error = finish(*call);
        done(error);
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
        call.context->session().release();
        break;
    case Script::Side::change_limits: change_limits(); break;
    case Script::Side::pause: switch_pause(); break;
    }
    if (call.script.state_calls != 0 && !let_go_) {
        call.calls.push_back(std::make_shared<StateUse>(
            environment_, *call.context, *call.record->link, call.under, call.script.state_calls));
    }
    if (call.script.sends != 0 && !let_go_ && environment_.broker.messages().size() < 400) {
        call.calls.push_back(std::make_shared<HandlerSends>(
            environment_, endpoints, call.record->link->id,
            HandlerSends::Terms{
                .context = call.under, .timeout = send_timeout, .count = call.script.sends}));
    }
    if (call.script.settles && !expectations_.options.receive_and_delete) {
        settle(call, *call.script.settles);
        if (call.script.settles_again) {
            settle(call, ports::Outcome::complete);
        }
    }
}

void Application::settle(Call& call, ports::Outcome outcome) {
    DeliveryRecord& record = *call.record;
    const bool first = !record.explicitly;
    if (first) {
        record.explicitly = outcome;
    }
    try {
        switch (outcome) {
        case ports::Outcome::abandon: call.context->abandon(); break;
        case ports::Outcome::dead_letter: call.context->dead_letter("scripted"); break;
        case ports::Outcome::defer: call.context->defer(); break;
        case ports::Outcome::release:
            call.context->release();
            expectations_.voluntary_leave = true; // its session is parked first
            break;
        default: call.context->complete(); break;
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
